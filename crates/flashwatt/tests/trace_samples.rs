//! Reads every real trace of `../shared/traces` (beside the repository) and compares its statistics with figures that
//! were computed independently and stand in that folder's README. Without the folder it says so and tests nothing.

use std::path::{Path, PathBuf};

use flashwatt::config::{self, Beyond};
use flashwatt::workload::trace::{TraceInfo, TraceWorkload, info};
use flashwatt::workload::{Next, Workload};

/// A row of the README: what `trace info` must say, to the digits given there.
struct Sample {
    file: &'static str,
    format: &'static str,
    skip_bad: bool,
    requests: u64,
    duration_s: f64,
    /// By count, by bytes.
    reads: [f64; 2],
    /// Per device, device-blind.
    sequential: [f64; 2],
    /// Mean KiB read, written.
    mean: [Option<f64>; 2],
    /// MiB read, written.
    footprint: [f64; 2],
}

const SAMPLES: &[Sample] = &[
    Sample {
        file: "financial1-10k.ssdsim.gz",
        format: "ssdsim",
        skip_bad: false,
        requests: 10_000,
        duration_s: 259.6,
        reads: [40.8, 46.0],
        sequential: [45.2, 3.5],
        mean: [Some(6.1), Some(4.9)],
        footprint: [15.2, 14.6],
    },
    Sample {
        file: "financial1-949.spc.gz",
        format: "spc",
        skip_bad: false,
        requests: 949,
        duration_s: 28.4,
        reads: [19.3, 11.8],
        sequential: [25.6, 1.7],
        mean: [Some(1.6), Some(2.9)],
        footprint: [0.5, 1.7],
    },
    Sample {
        file: "websearch1-25k.mqsim.gz",
        format: "ssdsim",
        skip_bad: false,
        requests: 24_783,
        duration_s: 60.1,
        reads: [100.0, 100.0],
        sequential: [9.6, 5.8],
        mean: [Some(15.1), Some(8.0)],
        footprint: [363.4, 0.02],
    },
    Sample {
        file: "tpcc-7k.mqsim.gz",
        format: "ssdsim",
        skip_bad: false,
        requests: 6_999,
        duration_s: 0.14,
        reads: [62.6, 60.8],
        sequential: [1.2, 0.1],
        mean: [Some(8.1), Some(8.7)],
        footprint: [49.5, 30.8],
    },
    Sample {
        file: "prxy0-20k.msr.csv.gz",
        format: "msr",
        skip_bad: false,
        requests: 20_000,
        duration_s: 938.8,
        reads: [1.7, 11.6],
        sequential: [70.0, 70.0],
        mean: [Some(17.7), Some(2.3)],
        footprint: [5.4, 6.3],
    },
    Sample {
        file: "financial1-50k.csv.gz",
        format: "csv",
        skip_bad: false,
        requests: 50_000,
        duration_s: 853.4,
        reads: [58.4, 62.2],
        sequential: [0.6, 0.6],
        mean: [Some(7.5), Some(6.4)],
        footprint: [108.4, 34.7],
    },
    Sample {
        file: "msnfs-150k.disksim.gz",
        format: "disksim",
        skip_bad: false,
        requests: 149_999,
        duration_s: 143.1,
        reads: [87.0, 93.0],
        sequential: [1.3, 1.3],
        mean: [Some(18.2), Some(9.2)],
        footprint: [2005.5, 170.0],
    },
    Sample {
        file: "cloudphysics-114k.vscsi.gz",
        format: "vscsi",
        skip_bad: false,
        requests: 113_872,
        duration_s: 7_200.0,
        reads: [41.3, 42.7],
        sequential: [26.0, 26.0],
        mean: [Some(37.4), Some(35.2)],
        footprint: [820.3, 815.2],
    },
    Sample {
        file: "desktop-87k.diskmon.gz",
        format: "diskmon",
        skip_bad: false,
        requests: 87_160,
        duration_s: 11_719.8,
        reads: [42.1, 46.3],
        sequential: [16.6, 16.6],
        mean: [Some(21.7), Some(18.3)],
        footprint: [340.3, 522.2],
    },
    Sample {
        file: "p2pdownload-11k.diskmon.gz",
        format: "diskmon",
        skip_bad: true,
        requests: 11_053,
        duration_s: 1_144.8,
        reads: [2.4, 2.7],
        sequential: [3.0, 3.0],
        mean: [Some(16.2), Some(14.4)],
        footprint: [4.7, 68.5],
    },
    Sample {
        file: "homes-1k.fiu.gz",
        format: "fiu",
        skip_bad: false,
        requests: 1_000,
        duration_s: 46.7,
        reads: [0.0, 0.0],
        sequential: [44.7, 44.7],
        mean: [None, Some(4.0)],
        footprint: [0.0, 3.4],
    },
    Sample {
        file: "ycsb-rocksdb.blkparse.gz",
        format: "blkparse",
        skip_bad: false,
        requests: 1_694,
        duration_s: 0.7,
        reads: [100.0, 100.0],
        sequential: [1.6, 1.6],
        mean: [Some(114.0), None],
        footprint: [188.9, 0.0],
    },
    Sample {
        file: "java-ext4.blkparse.gz",
        format: "blkparse",
        skip_bad: true,
        requests: 9_886,
        duration_s: 810.4,
        reads: [91.4, 80.6],
        sequential: [42.5, 42.5],
        mean: [Some(113.0), Some(290.0)],
        footprint: [999.0, 239.8],
    },
];

/// The folder of real traces, if this machine has it.
fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    if folder.is_dir() {
        return Some(folder);
    }
    #[expect(clippy::print_stderr, reason = "a test that tests nothing has to say so")]
    {
        eprintln!("SKIPPED: {} is absent, so no real trace was read", folder.display());
    }
    None
}

#[test]
fn statistics_agree_with_the_independent_ones() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for sample in SAMPLES {
        match info(&folder.join(sample.file), None, sample.skip_bad) {
            Ok(info) => sample.compare(&info, &mut wrong),
            Err(e) => wrong.push(format!("{}: {e}", sample.file)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Requests by kind of the samples for which the README gives no statistics: counted with awk (nbd, tracefs) and a few
/// lines of Python (blktrace), independently of this program.
const COUNTS: &[(&str, &str, [u64; 4])] = &[
    ("varmail-ext2.nbdlog.csv.gz", "nbd", [6531, 11_389, 129 + 18, 6329]),
    ("varmail-nilfs2.nbdlog.csv.gz", "nbd", [74, 2634, 128, 2578]),
    ("ext2-fio.tracefs.gz", "tracefs", [1226 + 8 + 2, 2 + 2 + 1372 + 450, 0, 2557]),
    ("nilfs2-sample.blktrace.0", "blktrace", [3 + 6 + 51, 43, 3, 7]),
];

#[test]
fn requests_by_kind_agree_with_independent_counts() {
    let Some(folder) = folder() else { return };
    for (file, format, expected) in COUNTS {
        let info = info(&folder.join(file), None, false).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(info.format, *format);
        assert_eq!([info.reads, info.writes, info.trims, info.flushes], *expected, "{file}");
    }
}

#[test]
fn other_events_of_the_block_layer_can_be_chosen() {
    let Some(folder) = folder() else { return };
    // The completion and the queue events of the same files; counted with awk and Python as above.
    for (file, format, expected) in [
        ("ycsb-rocksdb.blkparse.gz", "blkparse:Q", [1695, 0, 0, 0]),
        ("ycsb-rocksdb.blkparse.gz", "blkparse:C", [1694, 0, 0, 0]),
        ("nilfs2-sample.blktrace.0", "blktrace:C", [3 + 6 + 51, 43, 3, 7]),
        ("ext2-fio.tracefs.gz", "tracefs:block_rq_complete", [1226 + 8 + 2, 2 + 2 + 1372 + 450, 0, 2557]),
        ("ext2-fio.tracefs.gz", "tracefs:block_bio_queue", [1226 + 8 + 2, 2 + 4 + 1342 + 460, 0, 2557]),
    ] {
        let info = info(&folder.join(file), Some(format), false).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!([info.reads, info.writes, info.trims, info.flushes], expected, "{file} as {format}");
    }
}

#[test]
fn damaged_records_of_real_traces_are_named() {
    let Some(folder) = folder() else { return };
    for (file, expected) in [
        (
            "p2pdownload-11k.diskmon.gz",
            "p2pdownload-11k.diskmon.gz:1: first sector: address too large; found `8486082789636758048`",
        ),
        (
            "java-ext4.blkparse.gz",
            "java-ext4.blkparse.gz:29662: time (s): a jump of the clock; found `1266874889.708668759`",
        ),
    ] {
        let message = info(&folder.join(file), None, false).err().map_or_else(String::new, |e| e.to_string());
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn every_request_is_replayed_on_a_small_drive() {
    let Some(folder) = folder() else { return };
    let drive = 256 << 20;
    for sample in SAMPLES {
        let cfg = config::Trace {
            path: folder.join(sample.file),
            format: None,
            devices: Vec::new(),
            beyond: Beyond::Fold,
            skip_bad: sample.skip_bad,
            speed: 1.0,
            closed_loop: false,
            max_requests: None,
        };
        let mut workload = TraceWorkload::open(&cfg, drive).unwrap_or_else(|e| panic!("{e}"));
        let (mut now, mut given) = (0, 0);
        loop {
            match workload.next(now).unwrap_or_else(|e| panic!("{e}")) {
                Next::Request(r) => {
                    assert!(r.arrival_ns <= now && r.offset_bytes + r.bytes <= drive, "{}", sample.file);
                    assert!(r.bytes > 0 && r.bytes % 512 == 0 && r.offset_bytes % 512 == 0, "{}", sample.file);
                    given += 1;
                }
                Next::WaitUntil(t) if t > now => now = t,
                Next::End => break,
                next => panic!("{}: {next:?} at {now}", sample.file),
            }
        }
        assert_eq!((given, workload.len_hint()), (sample.requests, Some(sample.requests)), "{}", sample.file);
        assert!((now as f64 / 1e9 - sample.duration_s).abs() < 0.1, "{}: {now} ns", sample.file);
    }
}

impl Sample {
    fn compare(&self, info: &TraceInfo, wrong: &mut Vec<String>) {
        if info.format != self.format || info.requests != self.requests {
            wrong.push(format!("{}: {} requests as {}", self.file, info.requests, info.format));
        }
        let figures = [
            ("duration", Some(self.duration_s), Some(info.duration_s)),
            ("reads by count", Some(self.reads[0]), info.read_percent),
            ("reads by bytes", Some(self.reads[1]), info.read_bytes_percent),
            ("sequential", Some(self.sequential[0]), info.sequential_percent),
            ("sequential, device-blind", Some(self.sequential[1]), info.sequential_device_blind_percent),
            ("mean read", self.mean[0], info.mean_read_kib),
            ("mean write", self.mean[1], info.mean_write_kib),
            ("footprint read", Some(self.footprint[0]), Some(info.footprint_read_mib)),
            ("footprint written", Some(self.footprint[1]), Some(info.footprint_written_mib)),
        ];
        for (what, expected, found) in figures {
            if !agree(expected, found) {
                wrong.push(format!("{}: {what}: expected {expected:?}, found {found:?}", self.file));
            }
        }
    }
}

/// Equal to the digits that the README gives: one after the point, or two, or none for whole numbers from 100 on.
fn agree(expected: Option<f64>, found: Option<f64>) -> bool {
    match (expected, found) {
        (Some(expected), Some(found)) => {
            let one_digit = (expected * 10.0 - (expected * 10.0).round()).abs() < 1e-9;
            let whole = expected >= 100.0 && expected.fract() == 0.0;
            let digit = if whole {
                1.0
            } else if one_digit {
                0.1
            } else {
                0.01
            };
            (expected - found).abs() <= 0.5001 * digit
        }
        (expected, found) => expected == found,
    }
}
