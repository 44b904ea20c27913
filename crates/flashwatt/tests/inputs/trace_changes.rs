//! A run fails with a reason if its trace changes during the replay.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config;
use flashwatt::run;

/// A trace of 60,000 lines of 23 bytes, longer than the read-ahead.
fn content() -> Vec<u8> {
    let line = |i: u64| format!("{:09} 0 {:06} 8 {}\n", i * 1000, i * 8 % 8000, i % 2);
    (0..60_000).map(line).collect::<String>().into_bytes()
}

/// The report of a run of the trace. `meddle` is called when the simulation begins.
fn report(path: &Path, requests: u64, mut meddle: impl FnMut()) -> Report {
    let path = format!("workload.trace.path={}", path.display());
    let measured = format!("run.measure.requests={requests}");
    let sets = [path, "workload.trace.closed_loop=true".into(), "device.blocks_per_plane=64".into(), measured];
    let config = config::load("[device]\npreset = \"limit\"\n", "t.toml", &sets).unwrap_or_else(|e| panic!("{e}"));
    let mut begun = false;
    let mut progress = |told: &flashwatt::Progress| {
        if told.preparing.is_none() && !begun {
            begun = true;
            meddle();
        }
        true
    };
    run(&config, &RunOptions::default(), &mut progress).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_run_whose_trace_changes_fails() {
    let path = std::env::temp_dir().join(format!("flashwatt-changes-{}", std::process::id()));
    fs::write(&path, content()).expect("a temporary file");
    let same = report(&path, 60_000, || {});
    let grown = report(&path, 60_000, || {
        let mut file = OpenOptions::new().append(true).open(&path).expect("the file");
        file.write_all(b"900000000 0 000008 8 1\n").expect("writing");
    });
    fs::write(&path, content()).expect("a temporary file");
    let other = report(&path, 60_000, || {
        let mut changed = content();
        changed[50_000 * 23] = b'1';
        fs::write(&path, changed).expect("writing");
    });
    fs::write(&path, content()).expect("a temporary file");
    // A change after the part of the file that the run reads does not matter.
    let early = report(&path, 100, || {
        OpenOptions::new().append(true).open(&path).and_then(|mut file| file.write_all(b"#")).expect("writing");
    });
    fs::remove_file(&path).expect("the file");
    assert_eq!((same.status.as_str(), early.status.as_str()), ("complete", "complete"));
    for failed in [grown, other] {
        let told = format!("{} {:?}", failed.status, failed.warnings);
        assert!(told.starts_with("failed") && told.contains("the trace changed while it was read"), "{told}");
    }
}
