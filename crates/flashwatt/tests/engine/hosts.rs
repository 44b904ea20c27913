//! A workload that breaks its contract ends the run as failed, in release builds, too.

use crate::common::{PROBE_DRIVE, load};
use flashwatt::Error;
use flashwatt::RunOptions;
use flashwatt::run::StartState;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, SourceKind, Tag, Workload};

/// Says what it was told to say, one word after the other.
struct Words(Vec<Next>);

impl Workload for Words {
    fn next(&mut self, _now: Nanos) -> Result<Next, Error> {
        Ok(if self.0.is_empty() { Next::End } else { self.0.remove(0) })
    }

    fn completed(&mut self, _done: &Completion, _now: Nanos) {}

    fn name(&self) -> &str {
        "words"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }
}

fn read(arrival_ns: Nanos, offset_bytes: u64, bytes: u64) -> Next {
    Next::Request(Tag(0), Request::new(arrival_ns, RequestKind::Read, offset_bytes, bytes))
}

/// One good request, then what is said.
fn status_after(said: &[Next]) -> String {
    let config = load(PROBE_DRIVE, &[]);
    let mut workload = Words([&[read(0, 0, 4096)], said].concat());
    let drive = StartState::new(&config).unwrap_or_else(|error| panic!("{error}"));
    let ended = drive.run_checked(&config, &RunOptions::default(), &mut workload, (), &mut |_| true);
    ended.map(|(report, ())| report.status).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_contract_that_is_broken_ends_the_run() {
    let end = load(PROBE_DRIVE, &[]).ssd().device.logical_bytes;
    assert_eq!(status_after(&[]), "complete");
    assert_eq!(status_after(&[read(0, end - 512, 512)]), "complete");
    let cases = [
        (read(0, end, 512), "a request that the device cannot take"),
        (read(0, u64::MAX - 511, 512), "a request that the device cannot take"),
        (read(0, 0, u64::MAX - 511), "a request that the device cannot take"),
        (read(0, 0, 0), "a request that the device cannot take"),
        (read(0, 100, 512), "a request that the device cannot take"),
        (read(0, 0, 100), "a request that the device cannot take"),
        (read(1, 0, 512), "a request that has not arrived yet"),
        (Next::WaitUntil(0), "it waits for a time that is over"),
        (Next::WaitUntil(Nanos::MAX), "the run reaches beyond the end of simulated time"),
    ];
    for (said, why) in cases {
        let status = status_after(&[said]);
        assert!(status.starts_with("failed: workload: ") && status.contains(why), "{said:?}: {status}");
    }
    let status = status_after(&[Next::WaitUntil(1_000_000_000), Next::WaitForCompletion]);
    assert!(status.starts_with("failed: workload: it waits for a completion"), "{status}");
}
