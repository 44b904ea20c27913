//! Statistics of a trace as it is: nothing folded, nothing laid out.

use std::collections::BTreeMap;

use serde::Serialize;

use super::input::sha256;
use super::layout::{Extent, Layout};
use super::meter::Meter;
use super::replay::{names, no_request};
use super::traces::Traces;
use super::{DeviceId, Record};
use crate::config;
use crate::error::Error;
use crate::host::RequestKind;
use crate::progress::Progress;

/// What `trace info` tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// The file's base name; of several with ` + ` between them.
    pub file: String,
    /// SHA-256 of the file as it lies on the disk; of several, one after another.
    pub sha256: String,
    /// The format that it was read as; of several files, where they differ, with ` + ` between them.
    pub format: String,
    /// Requests of every kind.
    pub requests: u64,
    /// Requests by kind.
    pub reads: u64,
    /// See `reads`.
    pub writes: u64,
    /// See `reads`.
    pub trims: u64,
    /// See `reads`.
    pub flushes: u64,
    /// The first request's time, as the trace has it.
    pub start_ns: u64,
    /// From the first request's time to the latest one's.
    pub duration_ns: u64,
    /// The same in seconds.
    pub duration_s: f64,
    /// Share of reads in reads and writes, by count.
    pub read_percent: Option<f64>,
    /// Share of reads in reads and writes, by bytes.
    pub read_bytes_percent: Option<f64>,
    /// Requests (flushes aside) that start where the one before on the same device ended.
    pub sequential_percent: Option<f64>,
    /// The same with the one before in the whole trace, whatever its device.
    pub sequential_device_blind_percent: Option<f64>,
    /// Mean size of a read.
    pub mean_read_kib: Option<f64>,
    /// Mean size of a write.
    pub mean_write_kib: Option<f64>,
    /// Distinct 4-KiB pages that were read.
    pub footprint_read_mib: f64,
    /// Distinct 4-KiB pages that were written.
    pub footprint_written_mib: f64,
    /// Bytes that a drive needs to hold the devices one after another.
    pub span_bytes: u64,
    /// The devices, by number.
    pub devices: Vec<DeviceInfo>,
    /// Damaged records left out.
    pub bad_records: u64,
    /// Lines, records and events that are no requests.
    pub other_records: u64,
    /// What was left out or passed over, in words.
    pub warnings: Vec<String>,
}

/// One device of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// The file that it is a device of, counted from 0.
    pub trace: u32,
    /// Its number in the trace.
    pub device: u64,
    /// Requests to it.
    pub requests: u64,
    /// The end of its furthest request.
    pub end_bytes: u64,
}

/// Reads whole traces for their statistics; what the configuration leaves out, scales or merges is done before. `progress`
/// is told how far it is, and ends it by answering `false`. Memory grows with the pages that are touched, not with the
/// trace's length.
pub fn info(cfg: &config::Trace, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<TraceInfo, Error> {
    survey(cfg, progress).map(|(info, _)| info)
}

/// The same, and where the devices lie.
pub(super) fn survey(
    cfg: &config::Trace,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(TraceInfo, Layout), Error> {
    let mut meter = Meter::new(progress);
    // Opened first: that refuses what is no file.
    let mut traces = Traces::open(cfg)?;
    let sha256 = sha256(&cfg.paths, &mut || meter.look(None))?;
    let mut sums = Sums::default();
    let layout = Layout::of(&mut traces, &mut meter, |record, id| sums.add(record, id))?;
    if layout.requests() == 0 {
        return Err(no_request(&traces));
    }
    let info = sums.info(names(cfg), sha256, &layout, &traces);
    Ok((info, layout))
}

/// Sums over the records of a trace.
#[derive(Default)]
struct Sums {
    first_ns: Option<u64>,
    latest_ns: u64,
    reads: Sum,
    writes: Sum,
    trims: Sum,
    flushes: u64,
    sequential: u64,
    sequential_blind: u64,
    /// Where the last request to each device ended, and the last of all.
    ends: BTreeMap<DeviceId, u64>,
    end: Option<u64>,
}

#[derive(Default)]
struct Sum {
    count: u64,
    bytes: u64,
    pages: Pages,
}

impl Sums {
    fn add(&mut self, record: &Record, id: DeviceId) {
        self.first_ns.get_or_insert(record.time_ns);
        self.latest_ns = self.latest_ns.max(record.time_ns);
        match record.kind {
            RequestKind::Read => self.reads.add(record, id),
            RequestKind::Write => self.writes.add(record, id),
            RequestKind::Trim => {
                self.trims.count += 1;
                self.trims.bytes += record.bytes;
            }
            RequestKind::Flush => {
                self.flushes += 1;
                return;
            }
        }
        let end = record.offset_bytes + record.bytes;
        self.sequential += u64::from(self.ends.insert(id, end) == Some(record.offset_bytes));
        self.sequential_blind += u64::from(self.end.replace(end) == Some(record.offset_bytes));
    }

    fn info(&self, file: String, sha256: String, layout: &Layout, traces: &Traces) -> TraceInfo {
        let (reads, writes) = (&self.reads, &self.writes);
        let moving = reads.count + writes.count + self.trims.count;
        let start_ns = self.first_ns.unwrap_or(self.latest_ns);
        let mut formats: Vec<_> = traces.formats().map(|format| format.name).collect();
        formats.dedup();
        TraceInfo {
            file,
            sha256,
            format: formats.join(" + "),
            requests: layout.requests(),
            reads: reads.count,
            writes: writes.count,
            trims: self.trims.count,
            flushes: self.flushes,
            start_ns,
            duration_ns: self.latest_ns - start_ns,
            duration_s: (self.latest_ns - start_ns) as f64 / 1e9,
            read_percent: percent(reads.count, reads.count + writes.count),
            read_bytes_percent: percent(reads.bytes, reads.bytes + writes.bytes),
            sequential_percent: percent(self.sequential, moving),
            sequential_device_blind_percent: percent(self.sequential_blind, moving),
            mean_read_kib: reads.mean_kib(),
            mean_write_kib: writes.mean_kib(),
            footprint_read_mib: reads.pages.mib(),
            footprint_written_mib: writes.pages.mib(),
            span_bytes: layout.span(),
            devices: layout.extents().iter().map(DeviceInfo::of).collect(),
            bad_records: traces.bad_records(),
            other_records: traces.other_records(),
            warnings: traces.warnings(),
        }
    }
}

impl DeviceInfo {
    fn of(extent: &Extent) -> Self {
        let DeviceId { trace, device } = extent.id;
        DeviceInfo { trace, device, requests: extent.requests, end_bytes: extent.end }
    }
}

impl Sum {
    fn add(&mut self, record: &Record, id: DeviceId) {
        self.count += 1;
        self.bytes += record.bytes;
        self.pages.add(record, id);
    }

    fn mean_kib(&self) -> Option<f64> {
        (self.count > 0).then(|| self.bytes as f64 / self.count as f64 / 1024.0)
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// What footprints and reuse are counted in.
pub(super) const PAGE_BYTES: u64 = 4096;

/// A set of 4-KiB pages: 64 of them to a map entry.
#[derive(Default)]
struct Pages {
    chunks: BTreeMap<(DeviceId, u64), u64>,
    count: u64,
}

impl Pages {
    fn add(&mut self, record: &Record, id: DeviceId) {
        let mut page = record.offset_bytes / PAGE_BYTES;
        let end = (record.offset_bytes + record.bytes).div_ceil(PAGE_BYTES);
        while page < end {
            let chunk_end = end.min((page / 64 + 1) * 64);
            let mask = u64::MAX >> (64 - (chunk_end - page)) << (page % 64);
            let bits = self.chunks.entry((id, page / 64)).or_default();
            self.count += u64::from((mask & !*bits).count_ones());
            *bits |= mask;
            page = chunk_end;
        }
    }

    fn mib(&self) -> f64 {
        (self.count * PAGE_BYTES) as f64 / f64::from(1 << 20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_count_once() {
        let mut pages = Pages::default();
        let mut add = |device, offset_bytes, bytes| {
            let record = Record { time_ns: 0, device, offset_bytes, bytes, kind: RequestKind::Read, fua: false };
            pages.add(&record, DeviceId { trace: 0, device });
            pages.count
        };
        for (offset_bytes, bytes) in [(0, 1), (4095, 2), (63 * 4096, 2 * 4096), (0, 128 * 4096)] {
            add(0, offset_bytes, bytes);
        }
        assert_eq!(add(0, 0, 1), 128);
        assert_eq!(add(1, 0, 1), 129);
    }
}
