//! Memory does not depend on a trace's length.
#![cfg(target_os = "linux")]

use std::io::{BufWriter, Write};

use flashwatt::config::{self, Beyond};
use flashwatt_core::connector::{Next, Workload};
use flashwatt_workload::trace::TraceWorkload;

/// KiB that this process has had in memory at most.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("Linux tells it");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number of KiB")
}

fn replay(requests: u64) {
    let path = std::env::temp_dir().join(format!("flashwatt-memory-{}.ssdsim.gz", std::process::id()));
    let file = BufWriter::new(std::fs::File::create(&path).expect("a temporary file"));
    let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    for i in 0..requests {
        writeln!(packer, "{} {} {} 8 {}", i * 1000, i % 3, i * 7919 % 1_000_000, i % 2).expect("a temporary file");
    }
    drop(packer.finish().expect("a temporary file"));
    let cfg = config::Trace { beyond: Beyond::Fold, closed_loop: Some(true), ..config::Trace::of(path.clone()) };
    let mut workload = TraceWorkload::open(&cfg, 1 << 28).expect("a good trace");
    let mut given = 0;
    while let Ok(Next::Request(..)) = workload.next(0) {
        given += 1;
    }
    assert_eq!(given, requests);
    std::fs::remove_file(path).expect("a temporary file");
}

#[test]
fn thirty_times_the_requests_need_no_more_memory() {
    replay(10_000);
    let short = peak_kib();
    replay(300_000);
    let long = peak_kib();
    assert!(long < short + 1024, "{short} KiB, then {long} KiB");
}
