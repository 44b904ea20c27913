//! A meter that the kernel would show as a file.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use flashwatt_live::Meter;

fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn readings_follow_the_file_in_the_order_of_time() {
    let path = file("power1_input", "2500000\n");
    let meter = Meter::start(&path, Duration::from_millis(1)).unwrap();
    sleep(Duration::from_millis(20));
    // Longer than the old text, of which no end is left, and over it: the file is never empty.
    fs::OpenOptions::new().write(true).open(&path).unwrap().write_all(b"0003000000\n").unwrap();
    sleep(Duration::from_millis(20));
    let readings = meter.stop().unwrap();
    assert!(readings.len() > 10 && readings.is_sorted_by_key(|one| one.unix_ns));
    assert_eq!((readings[0].value, readings[readings.len() - 1].value), (2_500_000, 3_000_000));
    fs::remove_file(path).unwrap();
}

#[test]
fn a_file_without_a_number_is_no_meter() {
    let path = file("words", "none\n");
    let refused = Meter::start(&path, Duration::from_millis(1)).unwrap_err().to_string();
    assert!(refused.contains("not a meter; found \"none\"; expected a file with one whole number"), "{refused}");
    fs::remove_file(path).unwrap();
}
