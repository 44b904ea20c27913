//! Requests that do not fit the drive: refused before the run, folded, or cut.

use super::dense::{Dense, UNIT_BYTES};
use super::layout::{Layout, sectors};
use super::read::meter::RecordCounter;
use super::read::traces::{Position, Traces};
use super::{counted, trace_error};
use crate::settings;
use crate::settings::Beyond;
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_core::connector::RequestKind;

/// Puts ranges onto the drive.
pub struct Placement {
    pub drive_bytes: u64,
    pub beyond: Beyond,
    pub counts: FitCounts,
}

/// What was done to requests so that they fit.
#[derive(Default)]
pub struct FitCounts {
    pub widened: u64,
    folded: u64,
    moved: u64,
    cut: u64,
    left_out: u64,
}

/// A request beyond the drive, where that is an error.
pub struct BeyondDrive;

impl Placement {
    /// The range that stands for this one on the drive; `None` if none does.
    #[inline]
    pub fn range(&mut self, start: u64, bytes: u64) -> Result<Option<(u64, u64)>, BeyondDrive> {
        if start.checked_add(bytes).is_some_and(|end| end <= self.drive_bytes) {
            return Ok(Some((start, bytes)));
        }
        match self.beyond {
            Beyond::Error => Err(BeyondDrive),
            Beyond::Fold => Ok(Some(self.fold(start, bytes))),
            Beyond::Clip => Ok(self.clip(start, bytes)),
        }
    }

    fn fold(&mut self, start: u64, bytes: u64) -> (u64, u64) {
        let (folded, kept) = (start % self.drive_bytes, bytes.min(self.drive_bytes));
        self.counts.folded += u64::from(folded != start);
        self.counts.cut += u64::from(kept != bytes);
        // What would straddle the drive's end is moved back to end there: requests stay whole.
        let fitting = folded.min(self.drive_bytes - kept);
        self.counts.moved += u64::from(fitting != folded);
        (fitting, kept)
    }

    fn clip(&mut self, start: u64, bytes: u64) -> Option<(u64, u64)> {
        if start >= self.drive_bytes {
            self.counts.left_out += 1;
            return None;
        }
        self.counts.cut += 1;
        Some((start, bytes.min(self.drive_bytes - start)))
    }
}

impl FitCounts {
    pub fn warnings(&self, drive_bytes: u64) -> Vec<String> {
        [
            (self.widened, "request", "widened to whole 512-byte sectors"),
            (self.folded, "request", &format!("beyond the drive folded: address modulo {drive_bytes} bytes")),
            (self.moved, "folded request", "moved back to end where the drive ends"),
            (self.cut, "request", "cut at the drive's end"),
            (self.left_out, "request", "beyond the drive left out"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, noun, what)| format!("{} {what}", counted(count, noun)))
        .collect()
    }
}

/// The whole trace is checked before the run, so that a long run does not end in an error that was there to be seen. One
/// that does not fit is read once more, to say how much of it does not.
pub fn check_fits(
    layout: &mut Layout,
    drive_bytes: u64,
    cfg: &settings::Trace,
    meter: &mut RecordCounter<'_>,
) -> Result<(), Error> {
    if layout.span() <= drive_bytes {
        return Ok(());
    }
    meter.restart();
    let (requests, mut traces, mut outside) = (layout.requests(), Traces::open(cfg)?, Outside::default());
    while let Some(record) = traces.next_record()? {
        if let Some(base) = layout.base(traces.device(&record)).filter(|_| record.kind != RequestKind::Flush) {
            outside.add(base + sectors(&record).1, drive_bytes, traces.position());
        }
        meter.record(&traces)?;
    }
    let Outside { count, end, furthest } = outside;
    let fault = Fault::at(traces.place_at(furthest, "offset"), "requests reach beyond the drive")
        .found(format!("{count} of {requests}, the furthest until byte {end}"));
    Err(too_far(fault, drive_bytes, layout.extents().len(), false))
}

/// Requests that end beyond the drive.
#[derive(Default)]
struct Outside {
    count: u64,
    /// Where the furthest of them ends, …
    end: u64,
    /// … and where it stands in its file.
    furthest: Position,
}

impl Outside {
    fn add(&mut self, end: u64, drive_bytes: u64, at: Position) {
        self.count += u64::from(end > drive_bytes);
        if end > self.end {
            (self.end, self.furthest) = (end, at);
        }
    }
}

/// The error of requests beyond the drive, with the remedies that are left.
pub fn too_far(fault: Fault, drive_bytes: u64, devices: usize, is_dense: bool) -> Error {
    let fewer = match devices {
        1 => String::new(),
        _ => format!("; --devices replays some of the {devices} devices, which are laid out one after another"),
    };
    let dense = if is_dense { "" } else { ", workload.trace.dense = true leaves no gaps between addresses" };
    let help = format!(
        "--fold takes addresses modulo the drive's size, --clip cuts there{dense}; or take a larger drive{fewer}"
    );
    trace_error(fault.expected(format!("at most {drive_bytes}, the drive's size")).help(help))
}

/// As [`check_fits`], for what a trace touches.
pub fn check_touched(dense: &Dense, drive_bytes: u64, file: &Place) -> Result<(), Error> {
    let bytes = dense.bytes();
    if bytes <= drive_bytes {
        return Ok(());
    }
    let fault = Fault::at(file.clone(), "what the trace touches does not fit the drive");
    let found = format!("{bytes} bytes in units of {UNIT_BYTES}");
    Err(too_far(fault.found(found), drive_bytes, 1, true))
}
