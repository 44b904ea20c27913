//! The memory that a drive is said to take is what this process holds once the drive is in use. A binary of its own with one
//! test: others in the process would be counted as well.
#![cfg(target_os = "linux")]

use std::process::Command;

use flashwatt::Error;
use flashwatt::Watch;
use flashwatt::config::{self, Config};
use flashwatt::footprint_bytes;
use flashwatt_base::units::Lpn;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::cache::WriteBuffer;
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::firmware::clockless::Clockless;
use flashwatt_ssd::ftl;
use flashwatt_ssd::nand::{Array, Geometry};

/// Bytes that this process has in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("Linux tells it");
    let kib: Option<u64> = line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok());
    1024 * kib.expect("a number of KiB")
}

/// A drive of 2 million pages.
fn drive(sets: &[String]) -> Result<Config, Error> {
    let size =
        ["channels=2", "ways=2", "pages_per_block=256", "blocks_per_plane=2048", "op_ratio=0.3", "page_bytes=4096"];
    let size = size.iter().map(|set| format!("device.{set}"));
    config::load("device.preset = \"limit\"", "test", &size.chain(sets.iter().cloned()).collect::<Vec<_>>())
}

/// Of one request.
const WRITE_BYTES: u64 = 1 << 20;

/// How much more this process holds with a drive that is filled, and of which every page is then written to: before that, tables
/// may take no memory.
fn grown_by(config: &Config) -> u64 {
    let before = resident();
    let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
    let mut array = Array::new(geometry.clone(), config.ssd().device.nand.program_order);
    let mut firmware = Firmware::new(&config.ssd().ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry);
    let filled = firmware.ftl.fill(&mut firmware.blocks, &mut array, &mut Watch::new(&mut |_| true));
    filled.unwrap_or_else(|error| panic!("{error}"));
    let mut clockless = Clockless::new(&geometry, &mut firmware, &mut array);
    let unit_bytes = u64::from(geometry.unit_bytes);
    for offset_bytes in (0..config.logical_bytes()).step_by(WRITE_BYTES as usize) {
        let bytes = WRITE_BYTES.min(config.logical_bytes() - offset_bytes);
        assert!(clockless.request(&Request::new(0, RequestKind::Write, offset_bytes, bytes)).is_ok());
    }
    let buffered = config.ssd().write_buffer.bytes / unit_bytes;
    let mut buffer = WriteBuffer::new(buffered as u32, geometry.unit_bytes, geometry.logical_units, 1);
    for i in 0..buffered as u32 {
        assert!(buffer.put(Lpn(i * 2), &(0..geometry.unit_bytes), 1, 0).is_some(), "there is room");
    }
    let after = resident();
    drop((firmware, array, buffer));
    after - before
}

/// Names the case that a process of its own is to measure: what others have given back may still be held.
const CASE: &str = "FLASHWATT_FOOTPRINT_CASE";

fn measure(sets: &[String]) {
    let config = drive(sets).unwrap_or_else(|error| panic!("{error}"));
    let (said, held) = (footprint_bytes(&config, false), grown_by(&config));
    // Huge pages round each table up; vectors that double may hold less than they have room for.
    assert!(held < said + (6 << 20), "{sets:?}: {held} bytes are held, {said} were said");
    assert!(said < held + held / 2 + (12 << 20), "{sets:?}: {said} bytes were said, {held} are held");
}

#[test]
fn a_drive_takes_the_memory_that_it_is_said_to() {
    if let Ok(case) = std::env::var(CASE) {
        return measure(&case.split(' ').map(String::from).collect::<Vec<_>>());
    }
    // A small cache is full soon; layers that have none refuse to be told its size.
    let cached = |name: &str| format!("ftl.{name}.cmt_bytes=65536");
    let of_name = |name: &str| Some(cached(name)).filter(|set| drive(std::slice::from_ref(set)).is_ok());
    let names =
        ftl::REGISTRY.iter().map(|entry| entry.name).map(|name| of_name(name).unwrap_or_else(|| format!("ftl={name}")));
    let large = ["ftl=page write_buffer.bytes=1073741824", "ftl.dftl.cmt_bytes=16777216 ftl.dftl.evict_page=true"];
    for case in names.chain(large.map(String::from)) {
        let mut process = Command::new(std::env::current_exe().expect("this test"));
        let output = process.env(CASE, &case).output().expect("it starts");
        assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
