//! Traces that change between the two readings.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom};

use super::*;

const LINE_BYTES: u64 = 23;

/// A trace longer than the first two marks (1 MiB and 2 MiB) and far longer than the read-ahead.
fn long() -> Temporary {
    let mut content = Vec::new();
    for i in 0..150_000 {
        writeln!(content, "{:09} 0 {:06} 8 {}", i * 1000, i * 7919 % 100_000, i % 2).expect("writing to memory");
    }
    assert_eq!(content.len() as u64, 150_000 * LINE_BYTES);
    Temporary::new("t", &content)
}

fn overwrite(file: &Temporary, at: u64, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(&file.0).expect("the file");
    file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes)).expect("writing");
}

fn append(file: &Temporary, bytes: &[u8]) {
    OpenOptions::new().append(true).open(&file.0).and_then(|mut file| file.write_all(bytes)).expect("writing");
}

fn drain(workload: &mut TraceWorkload) -> Result<u64, Error> {
    let mut requests = 0;
    while let Next::Request(..) = workload.next(u64::MAX)? {
        requests += 1;
    }
    Ok(requests)
}

const CHANGED: &str = "t: the trace changed while it was read; found";

#[test]
fn a_trace_that_grows_is_told() {
    let file = long();
    let mut workload = TraceWorkload::open(&file.cfg(), DRIVE).expect("a good trace");
    append(&file, b"200000000 0 8 8 0\n");
    let told = message(drain(&mut workload));
    let expected = "more than its 3450000 bytes; expected the bytes that the first reading found (wait until nothing writes to \
                    it, or take a copy; then start again)";
    assert_eq!(told, format!("{CHANGED} {expected}"));
}

/// A short file is read whole when it is opened. Bytes that are appended later are not read and are no change.
#[test]
fn what_was_read_before_it_grew_is_what_it_was() {
    let file = Temporary::new("t", b"0 0 8 8 0\n1 0 8 8 0\n");
    let mut workload = TraceWorkload::open(&file.cfg(), DRIVE).expect("a good trace");
    append(&file, b"2 0 8 8 0\n");
    assert_eq!((drain(&mut workload).ok(), message(workload.finish())), (Some(2), "no error".to_string()));
}

#[test]
fn a_trace_that_shrinks_or_is_another_is_told() {
    let file = long();
    let mut workload = TraceWorkload::open(&file.cfg(), DRIVE).expect("a good trace");
    // A whole number of lines, so that the last line is not a second fault.
    let length = 100_000 * LINE_BYTES;
    OpenOptions::new().write(true).open(&file.0).and_then(|file| file.set_len(length)).expect("cutting");
    let told = message(drain(&mut workload));
    assert!(told.starts_with(&format!("{CHANGED} 2300000 of its 3450000 bytes")), "{told}");
    let file = long();
    let mut workload = TraceWorkload::open(&file.cfg(), DRIVE).expect("a good trace");
    overwrite(&file, 80_000 * LINE_BYTES, b"1");
    let told = message(drain(&mut workload));
    assert!(told.starts_with(&format!("{CHANGED} other bytes before byte 2097152")), "{told}");
}

/// Packed files are compared by their packed bytes.
#[test]
fn a_packed_trace_that_changes_is_told() {
    let plain = long();
    let content = std::fs::read(&plain.0).expect("the file");
    for packed in [gzip(&content), zstd(&content)] {
        let file = Temporary::new("t", &packed);
        let mut workload = TraceWorkload::open(&file.cfg(), DRIVE).expect("a good trace");
        append(&file, &packed);
        let told = message(drain(&mut workload));
        assert!(told.starts_with(&format!("{CHANGED} more than its {} bytes", packed.len())), "{told}");
    }
}

#[test]
fn a_run_that_stops_early_compares_what_it_read() {
    let unread = long();
    let mut workload = TraceWorkload::open(&unread.cfg(), DRIVE).expect("a good trace");
    assert!(matches!(workload.next(u64::MAX), Ok(Next::Request(..))));
    overwrite(&unread, 110_000 * LINE_BYTES, b"9");
    append(&unread, b"junk");
    assert_eq!(message(workload.finish()), "no error");
    let read = long();
    let mut workload = TraceWorkload::open(&read.cfg(), DRIVE).expect("a good trace");
    overwrite(&read, 30_000 * LINE_BYTES, b"9");
    // These requests end before the mark at 1 MiB. `finish` reads on to the mark to compare.
    for _ in 0..31_000 {
        assert!(matches!(workload.next(u64::MAX), Ok(Next::Request(..))));
    }
    let told = message(workload.finish());
    assert!(told.starts_with(&format!("{CHANGED} other bytes before byte 1048576")), "{told}");
}

#[test]
fn the_same_trace_twice_is_no_change() {
    let file = long();
    let mut workload = TraceWorkload::open(&file.cfg(), DRIVE).expect("a good trace");
    assert_eq!(drain(&mut workload).ok(), Some(150_000));
    assert_eq!(message(workload.finish()), "no error");
    let several = settings::Trace { paths: vec![file.0.clone(), file.0.clone()], ..file.cfg() };
    let mut workload = TraceWorkload::open(&several, DRIVE).expect("good traces");
    assert_eq!(drain(&mut workload).ok(), Some(300_000));
}

/// Opening a FIFO would block, and its content can be read only once.
#[cfg(unix)]
#[test]
fn a_fifo_is_refused_and_not_waited_for() {
    let beside = Temporary::new("t", b"");
    let fifo = beside.0.with_file_name("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    let cfg = settings::Trace::of(&fifo);
    let expected = "fifo: not a regular file (a trace is read more than once: save it to a file first)";
    assert_eq!(message(TraceWorkload::open(&cfg, DRIVE)), expected);
    assert_eq!(message(info(&cfg, &mut |_| true)), expected);
    assert_eq!(message(profile(&cfg, &mut |_| true)), expected);
    let target = Target { path: fifo.with_file_name("out.csv"), format: None, drive_bytes: None, force: false };
    assert_eq!(message(convert(&cfg, &target, &mut |_| true)), expected);
}
