//! Damaged traces of every format, from a seeded generator. Reading from memory, from plain or packed files, and
//! conversion must not panic, hang or drop a record without a message. `make fuzz` runs the same checks for longer.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flashwatt::config;
use flashwatt_base::rng::Rng;
use flashwatt_workload::trace::{self, FORMATS, Format, Record, Target};

use crate::common::fates::{Fates, mutate, nothing_is_silent};

/// A folder that is removed when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("flashwatt-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn mutated(format: &Format, rng: &mut Rng) -> Vec<u8> {
    let mut content = format.example.repeat(1 + rng.below(3) as usize);
    mutate(&mut content, rng);
    content
}

#[test]
fn damage_is_never_silent_and_never_a_panic() {
    for (number, format) in FORMATS.iter().enumerate() {
        let mut rng = Rng::new(number as u64);
        for _ in 0..3000 {
            nothing_is_silent(format, &mutated(format, &mut rng));
        }
    }
}

#[test]
fn what_is_no_trace_at_all_is_survived() {
    let mut rng = Rng::new(99);
    for _ in 0..300 {
        let content: Vec<u8> = (0..rng.below(2000)).map(|_| rng.bits() as u8).collect();
        FORMATS.iter().for_each(|format| drop(nothing_is_silent(format, &content)));
    }
}

/// With `skip_bad`, a file gives the same counts whether it is plain or packed.
#[test]
fn records_in_are_records_out_and_counted_skips() {
    let folder = Folder::new("mutations");
    for (number, format) in FORMATS.iter().enumerate() {
        let mut rng = Rng::new(1000 + number as u64);
        for round in 0..100 {
            let content = mutated(format, &mut rng);
            let expected = nothing_is_silent(format, &content);
            let path = folder.0.join("t");
            fs::write(&path, packed(&content, rng.below(3))).expect("a temporary file");
            let cfg =
                config::Trace { format: Some(format.name.into()), skip_bad: true, ..config::Trace::of(path.clone()) };
            same_counts(&cfg, &expected, &format!("{} {round}", format.name));
            if !expected.records.is_empty() && !expected.stopped && round % 4 == 0 {
                same_records(&cfg, &folder.0, &expected.records);
            }
        }
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    for format in FORMATS {
        for first in ["", " ", " \n", "# comment\n", "# time_us,device,op,offset,bytes\n"] {
            let start = [b"\xef\xbb\xbf", first.as_bytes()].concat();
            nothing_is_silent(format, &start);
            nothing_is_silent(format, &[&start, format.example].concat());
        }
    }
}

fn packed(content: &[u8], how: u64) -> Vec<u8> {
    match how {
        0 => {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(content).expect("packing in memory");
            packer.finish().expect("packing in memory")
        }
        1 => ruzstd::encoding::compress_to_vec(content, ruzstd::encoding::CompressionLevel::Fastest),
        _ => content.to_vec(),
    }
}

fn same_counts(cfg: &config::Trace, expected: &Fates, what: &str) {
    match trace::info(cfg, &mut |_| true) {
        Ok(info) => {
            let found = (info.requests, info.bad_records, info.other_records);
            assert_eq!(found, (expected.records.len() as u64, expected.bad, expected.others), "{what}");
            assert_eq!(info.requests, info.reads + info.writes + info.trims + info.flushes, "{what}");
            assert!(expected.bad == 0 || info.warnings[0].contains("left out; the first: "), "{what}");
        }
        Err(error) => {
            let text = error.to_string();
            let none = expected.records.is_empty() && text.contains("no valid request");
            // Devices whose addresses together go beyond 64 bits cannot be laid out.
            assert!(none || expected.stopped || text.contains("64-bit"), "{what}: {text}");
        }
    }
}

/// Conversion to CSV or the binary form, plain or packed, and back keeps every record, but not who waits for a write.
fn same_records(cfg: &config::Trace, folder: &Path, expected: &[Record]) {
    for name in ["c.csv", "c.csv.gz", "c.fwt", "c.fwt.zst"] {
        let path = folder.join(name);
        let target = Target { path: path.clone(), format: None, drive_bytes: None, force: true };
        let converted = trace::convert(cfg, &target, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(converted.requests, expected.len() as u64);
        let mut traces = trace::Traces::open(&config::Trace::of(path)).unwrap_or_else(|e| panic!("{e}"));
        for record in expected {
            let expected = Record { is_sync: true, ..*record };
            assert_eq!(traces.next_record().unwrap_or_else(|e| panic!("{e}")), Some(expected), "{name}");
        }
        assert_eq!(traces.next_record().ok(), Some(None));
    }
}
