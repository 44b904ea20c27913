//! A job as its section describes it.

use super::boost::Boost;
use super::floor::FloorSpec;
use super::shape::Shape;
use super::verify::VerifySpec;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Priority;

/// A job, with values checked against the drive.
#[derive(Clone, Debug)]
pub(super) struct JobSpec {
    pub clones: u64,
    pub starts_stage: bool,
    /// Whether it begins another group of jobs, for `exitall`.
    pub starts_group: bool,
    pub shape: Shape,
    pub ends: Ends,
    pub depth: u64,
    /// A job whose queue was full issues again when this number of its requests is outstanding.
    pub refill_at: u64,
    pub fua: bool,
    pub priority: Priority,
    pub boost: Option<Boost>,
    pub flushes: Flushes,
    /// The shortest and the longest time from the stage's start to the job's.
    pub start_delay_ns: (Nanos, Nanos),
    /// Limits of reads, writes and trims.
    pub rates: [Rate; 3],
    /// Whether a rate sleeps only when all requests of the job have completed (fio's `io_submit_mode=inline`).
    pub rates_drain: bool,
    /// The least rates, below which the job ends.
    pub floor: Option<FloorSpec>,
    pub think: Option<ThinkSpec>,
    /// How what a pass wrote is read again after it, or within it.
    pub verify: Option<VerifySpec>,
    pub randseed: Option<u64>,
    pub exits: Exits,
    /// The section that this one waits for.
    pub waits_for: Option<usize>,
    /// fio's `flow_id` and `flow`.
    pub flow: Option<(u64, u64)>,
    pub warnings: Vec<String>,
}

/// When a job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    /// Bytes after which a pass ends, if its files are not used up before.
    pub pass_bytes: u64,
    /// Bytes in all, for one loop.
    pub bytes: u64,
    /// Whether `bytes` was given apart from the size.
    pub has_io_size: bool,
    pub loops: u64,
    /// Whether files that were used up are as new for a further pass.
    pub renews_files: bool,
    /// Requests, for one loop.
    pub requests: Option<u64>,
    pub runtime_ns: Option<Nanos>,
    /// Time before the runtime begins, which is not reported.
    pub ramp_ns: Nanos,
}

/// Flushes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Flushes {
    /// After this number of writes; 0 for none: fio's `fsync` and `fdatasync`.
    pub every: [u64; 2],
    /// One at the end of each pass.
    pub at_end: bool,
}

/// A limit in one direction, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rate {
    None,
    /// Bytes; `least` are those of the least request.
    Bytes {
        per_s: u64,
        least: u64,
    },
    Requests(u64),
    Poisson(u64),
}

/// fio's `thinktime` and its companions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThinkSpec {
    pub pause_ns: Nanos,
    /// Requests between pauses.
    pub every: Option<u64>,
    /// Time between pauses.
    pub run_ns: Option<Nanos>,
    /// Whether requests count when they are issued, not when they have completed.
    pub counts_issued: bool,
    pub rates_ignore: bool,
}

/// What a job's end does to the others (fio's `exitall` and `exit_what`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exits {
    pub all: bool,
    pub what: ExitWhat,
}

/// The jobs that end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitWhat {
    Group,
    Running,
    All,
}

impl JobSpec {
    /// Number of requests of a clone, if it is known in advance.
    pub fn len(&self) -> Option<u64> {
        let (ends, length) = (&self.ends, self.shape.one_length()?);
        let is_known = ends.runtime_ns.is_none()
            && self.flushes == Flushes::default()
            && self.verify.is_none()
            && !self.shape.mode.trims_first
            && self.shape.zones.is_none()
            && self.shape.order.step == 0
            && self.shape.files.bytes.len() == 1
            && self.shape.files.bytes[0].is_multiple_of(length)
            && (!ends.has_io_size || ends.loops == 1);
        let bytes = ends.bytes.checked_mul(ends.loops)?;
        let requests = bytes.div_ceil(length);
        let limit = ends.requests.map_or(u64::MAX, |requests| requests.saturating_mul(ends.loops));
        is_known.then_some(requests.min(limit))
    }
}
