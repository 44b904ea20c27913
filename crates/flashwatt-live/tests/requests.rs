//! Loads on a real file of this machine, by both engines.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use flashwatt_live::{Access, Error, Load, Operation, Order, Span, Target, measure};

/// A file in the build's directory, which is on a disk; removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: u64) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        File::create(&path).unwrap().set_len(bytes).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const MIB: u64 = 1 << 20;

fn load(operation: Operation, queue_depth: u32) -> Load {
    let span = Span { bytes: MIB, align_bytes: 4096 };
    let order = Order::Random { seed: 5 };
    Load { operation, order, span, request_bytes: 4096, requests: 300, time_limit_ns: u64::MAX, queue_depth }
}

/// Direct if the file system of the build allows it.
fn open(path: &PathBuf, access: Access) -> Target {
    match Target::open(path, access) {
        Err(Error::NoDirect { .. }) => Target::open(path, Access { buffered: true, ..access }).unwrap(),
        opened => opened.unwrap(),
    }
}

#[test]
fn every_request_ends_once_and_in_order_of_ends() {
    let file = Scratch::new("reads", MIB);
    for (threads, queue_depth) in [(true, 1), (true, 4), (false, 1), (false, 4)] {
        let target = open(&file.0, Access { threads, ..Access::default() });
        let mut told = 0;
        let measured = measure(&target, &load(Operation::Read, queue_depth), &mut |ended| {
            told = ended;
            true
        });
        let measured = measured.unwrap();
        assert_eq!((measured.requests.len(), measured.stopped), (300, false));
        assert!(measured.requests.is_sorted() && told <= 300);
        assert!(measured.requests.iter().all(|one| one.start_ns <= one.end_ns));
        if queue_depth == 1 {
            assert!(measured.requests.windows(2).all(|two| two[0].end_ns <= two[1].start_ns), "one at a time");
        }
    }
}

#[test]
fn writes_lie_where_the_offsets_say_and_the_size_stays() {
    for threads in [true, false] {
        let file = Scratch::new("writes", 2 * MIB + 512);
        let target = open(&file.0, Access { threads, write: true, ..Access::default() });
        let load = Load { order: Order::Sequential, requests: 256, ..load(Operation::Write, 3) };
        measure(&target, &load, &mut |_| true).unwrap();
        target.flush().unwrap();
        let (mut inside, mut behind) = ([0; 4096], [0; 4096]);
        let plain = File::open(&file.0).unwrap();
        plain.read_exact_at(&mut inside, MIB - 4096).unwrap();
        plain.read_exact_at(&mut behind, MIB).unwrap();
        assert!(inside.iter().filter(|&&byte| byte == 0).count() < 64, "random bytes up to the end of the span");
        assert_eq!(behind, [0; 4096], "nothing behind it");
        assert_eq!(plain.metadata().unwrap().size(), 2 * MIB + 512);
    }
}

#[test]
fn a_target_that_is_open_for_reading_cannot_be_written_to() {
    let file = Scratch::new("guarded", MIB);
    let target = open(&file.0, Access::default());
    let refused = measure(&target, &load(Operation::Write, 1), &mut |_| true).unwrap_err().to_string();
    assert!(refused.contains("a write to a target that is open for reading"), "{refused}");
    let mode = fs::read_to_string(format!("/proc/self/fdinfo/{}", target_fd(&file.0))).unwrap();
    let flags = mode.lines().find_map(|line| line.strip_prefix("flags:\t")).unwrap();
    assert_eq!(u32::from_str_radix(flags, 8).unwrap() & 3, 0, "O_RDONLY, so that the kernel refuses writes as well");
}

/// The number under which this process has the file open.
fn target_fd(path: &PathBuf) -> String {
    let mut open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let found = open.find(|one| fs::read_link(one.path()).is_ok_and(|to| &to == path)).unwrap();
    found.file_name().into_string().unwrap()
}

#[test]
fn a_load_ends_at_its_time_limit_and_when_it_is_stopped() {
    let file = Scratch::new("limits", MIB);
    for threads in [true, false] {
        let target = open(&file.0, Access { threads, ..Access::default() });
        let endless = Load { requests: u64::MAX, ..load(Operation::Read, 2) };
        let measured = measure(&target, &Load { time_limit_ns: 200_000_000, ..endless }, &mut |_| true).unwrap();
        assert!(!measured.stopped && !measured.requests.is_empty());
        assert!(measured.requests.iter().all(|one| one.start_ns <= 200_000_000));
        let mut calls = 0;
        let measured = measure(&target, &endless, &mut |_| {
            calls += 1;
            calls < 3
        });
        assert!(measured.unwrap().stopped && calls == 3);
    }
}

#[test]
fn loads_that_do_not_fit_are_refused_before_the_first_request() {
    let file = Scratch::new("misfits", MIB);
    let target = open(&file.0, Access { write: true, ..Access::default() });
    let good = load(Operation::Write, 1);
    let beyond = Span { bytes: 2 * MIB, align_bytes: 4096 };
    for (wrong, said) in [
        (Load { request_bytes: 4000, ..good }, "off its sectors"),
        (Load { span: beyond, ..good }, "a span of 2097152 bytes; expected 1048576 at most"),
        (Load { request_bytes: 2 * MIB, ..good }, "no request fits"),
        (Load { queue_depth: 0, ..good }, "a queue depth of 0"),
    ] {
        let refused = measure(&target, &wrong, &mut |_| true).unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
    assert_eq!(fs::metadata(&file.0).unwrap().blocks(), 0, "nothing was written");
}

#[test]
fn what_is_no_target_is_refused_by_name() {
    let empty = Scratch::new("empty", 0);
    for (path, said) in [
        (empty.0.clone(), "found 0 bytes"),
        (PathBuf::from("/dev/null"), "expected a regular file or a block device"),
        (PathBuf::from("/nowhere"), "cannot be opened"),
    ] {
        let refused = Target::open(&path, Access { buffered: true, ..Access::default() }).unwrap_err().to_string();
        assert!(refused.contains(said) && refused.starts_with(&path.display().to_string()), "{refused}");
    }
}
