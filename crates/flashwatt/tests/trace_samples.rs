//! Reads every real trace of `../shared/traces` (beside the repository) and compares its statistics with figures that
//! were computed independently and stand in that folder's README. Without the folder it says so and tests nothing.

use std::path::{Path, PathBuf};

use flashwatt::workload::trace::{TraceInfo, info};

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

/// Equal to the digits that the README gives: one after the point, or two.
fn agree(expected: Option<f64>, found: Option<f64>) -> bool {
    match (expected, found) {
        (Some(expected), Some(found)) => {
            let one_digit = (expected * 10.0 - (expected * 10.0).round()).abs() < 1e-9;
            let digit = if one_digit { 0.1 } else { 0.01 };
            (expected - found).abs() <= 0.5001 * digit
        }
        (expected, found) => expected == found,
    }
}
