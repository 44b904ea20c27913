//! Statistics of a trace as it is: nothing folded, nothing laid out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::super::layout::{Extent, Layout, sectors};
use super::super::read::meter::Meter;
use super::super::read::seal::{Seal, seal};
use super::super::read::traces::Traces;
use super::super::replay::{names, no_request};
use super::super::{DeviceId, Record};
use super::activity::{Arrivals, Streams};
use super::footprint::{PAGE_BYTES, Pages, Sectors};
use crate::connector::RequestKind;
use crate::error::Error;
use crate::progress::Progress;
use crate::workload::settings;

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
    /// Requests a second over the whole duration; none if that is 0.
    pub iops: Option<f64>,
    /// The most requests that arrive in one second, counted from the first request. One whose time goes back arrives with
    /// the one before it, as in a replay.
    pub peak_requests_per_s: u64,
    /// Requests with an earlier time than the one directly before them.
    pub time_steps_back: u64,
    /// Requests with an earlier time than the latest before them: what a replay delays, and sorting moves.
    pub requests_back: u64,
    /// The largest step back from one request to the next.
    pub largest_step_back_ns: u64,
    /// Share of reads in reads and writes, by count.
    pub read_percent: Option<f64>,
    /// Share of reads in reads and writes, by bytes.
    pub read_bytes_percent: Option<f64>,
    /// Requests (flushes aside) that start where the one before on the same device ended.
    pub sequential_percent: Option<f64>,
    /// The same with the one before in the whole trace, whatever its device.
    pub sequential_device_blind_percent: Option<f64>,
    /// Requests (flushes aside) that continue one of the last 64 sequential streams on the same device: that start where one
    /// of them ended.
    pub sequential_streams_percent: Option<f64>,
    /// Such streams of two requests or more.
    pub streams: u64,
    /// Requests in one of them, on average.
    pub stream_mean_requests: Option<f64>,
    /// Requests (flushes aside) whose offset and length are multiples of 4 KiB.
    pub aligned_percent: Option<f64>,
    /// The least offset of a request on its device.
    pub least_offset_bytes: Option<u64>,
    /// Mean size of a read.
    pub mean_read_kib: Option<f64>,
    /// Mean size of a write.
    pub mean_write_kib: Option<f64>,
    /// Distinct 4-KiB pages that were read.
    pub footprint_read_mib: f64,
    /// Distinct 4-KiB pages that were written.
    pub footprint_written_mib: f64,
    /// Bytes written, in whole sectors of 512 bytes, divided by those of them that are distinct.
    pub overwrite_factor: Option<f64>,
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
pub fn info(cfg: &settings::Trace, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<TraceInfo, Error> {
    survey(cfg, progress).map(|survey| survey.info)
}

/// The statistics, and what a second reading needs.
pub(super) struct Survey {
    pub info: TraceInfo,
    /// Where the devices lie.
    pub layout: Layout,
    /// What the files were.
    pub seals: Vec<Arc<Seal>>,
}

/// As [`info`], for a second reading.
pub(super) fn survey(cfg: &settings::Trace, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Survey, Error> {
    let mut meter = Meter::new(progress);
    // Opened first: that refuses what is no file.
    Traces::open(cfg)?;
    let (sha256, seals) = seal(&cfg.paths, &mut || meter.look(None))?;
    let mut traces = Traces::open_sealed(cfg, &seals)?;
    let mut sums = Sums::default();
    let layout = Layout::of(&mut traces, &mut meter, |record, id| sums.add(record, id))?;
    traces.verify()?;
    if layout.requests() == 0 {
        return Err(no_request(&traces));
    }
    let info = sums.info(names(cfg), sha256, &layout, &traces);
    Ok(Survey { info, layout, seals })
}

/// Sums over the records of a trace.
#[derive(Default)]
struct Sums {
    arrivals: Arrivals,
    streams: Streams,
    aligned: u64,
    least_offset: Option<u64>,
    /// Written, in whole sectors: all bytes, and which.
    written_bytes: u64,
    written: Sectors,
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
        self.arrivals.add(record.time_ns);
        match record.kind {
            RequestKind::Read => self.reads.add(record, id),
            RequestKind::Write => {
                self.writes.add(record, id);
                let (start, end) = sectors(record);
                self.written_bytes += end - start;
                self.written.add(record, id);
            }
            RequestKind::Trim => {
                self.trims.count += 1;
                self.trims.bytes += record.bytes;
            }
            RequestKind::Flush => {
                self.flushes += 1;
                return;
            }
        }
        self.place(record, id);
    }

    fn place(&mut self, record: &Record, id: DeviceId) {
        self.streams.add(record, id);
        let Record { offset_bytes, bytes, .. } = *record;
        self.aligned += u64::from((offset_bytes | bytes).is_multiple_of(PAGE_BYTES));
        self.least_offset = Some(self.least_offset.map_or(offset_bytes, |least| least.min(offset_bytes)));
        let end = offset_bytes + bytes;
        self.sequential += u64::from(self.ends.insert(id, end) == Some(offset_bytes));
        self.sequential_blind += u64::from(self.end.replace(end) == Some(offset_bytes));
    }

    fn info(&self, file: String, sha256: String, layout: &Layout, traces: &Traces) -> TraceInfo {
        let (reads, writes) = (&self.reads, &self.writes);
        let moving = reads.count + writes.count + self.trims.count;
        let (arrivals, disorder, streams) = (&self.arrivals, self.arrivals.disorder, &self.streams);
        let duration_ns = arrivals.duration_ns();
        let duration_s = duration_ns as f64 / 1e9;
        let distinct = self.written.bytes();
        TraceInfo {
            file,
            sha256,
            format: traces.format_names(),
            requests: layout.requests(),
            reads: reads.count,
            writes: writes.count,
            trims: self.trims.count,
            flushes: self.flushes,
            start_ns: arrivals.start_ns(),
            duration_ns,
            duration_s,
            iops: (duration_ns > 0).then(|| layout.requests() as f64 / duration_s),
            peak_requests_per_s: arrivals.peak,
            time_steps_back: disorder.steps,
            requests_back: disorder.records,
            largest_step_back_ns: disorder.largest_ns,
            read_percent: percent(reads.count, reads.count + writes.count),
            read_bytes_percent: percent(reads.bytes, reads.bytes + writes.bytes),
            sequential_percent: percent(self.sequential, moving),
            sequential_device_blind_percent: percent(self.sequential_blind, moving),
            sequential_streams_percent: percent(streams.continued, moving),
            streams: streams.count,
            stream_mean_requests: streams.mean_requests(),
            aligned_percent: percent(self.aligned, moving),
            least_offset_bytes: self.least_offset,
            mean_read_kib: reads.mean_kib(),
            mean_write_kib: writes.mean_kib(),
            footprint_read_mib: reads.pages.mib(),
            footprint_written_mib: writes.pages.mib(),
            overwrite_factor: (distinct > 0).then(|| self.written_bytes as f64 / distinct as f64),
            span_bytes: layout.span(),
            devices: layout.extents().iter().map(DeviceInfo::of).collect(),
            bad_records: traces.bad_records(),
            other_records: traces.other_records(),
            warnings: traces.warnings().into_iter().chain(traces.doubts()).collect(),
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
