//! Statistics of a trace with the addresses of its devices, which are neither folded nor laid out on a drive.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::super::dense::Touched;
use super::super::layout::{DeviceExtent, Layout, sectors};
use super::super::read::meter::RecordCounter;
use super::super::read::seal::{Seal, seal};
use super::super::read::traces::Traces;
use super::super::replay::{names, no_request};
use super::super::{DeviceId, Record};
use super::activity::{ArrivalStats, Streams};
use super::footprint::{PAGE_BYTES, Pages, Sectors};
use crate::settings;
use flashwatt_base::error::Error;
use flashwatt_base::progress::Progress;
use flashwatt_core::connector::RequestKind;

/// The statistics of `flashwatt trace info`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// The base name of the file; several names are joined by ` + `.
    pub file: String,
    /// SHA-256 of the bytes of the file (packed, if it is packed); of several files, of their bytes one after another.
    pub sha256: String,
    /// The format that the file was read as; different formats of several files are joined by ` + `.
    pub format: String,
    /// What the columns count, by the format, the file's column names or the configuration; none for a binary format.
    pub units: Option<String>,
    /// Requests of every kind.
    pub requests: u64,
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Number of trims.
    pub trims: u64,
    /// Number of flushes.
    pub flushes: u64,
    /// Time of the first request in ns, as the trace has it.
    pub start_ns: u64,
    /// Time in ns from the first request to the latest one.
    pub duration_ns: u64,
    /// Time in s from the first request to the latest one.
    pub duration_s: f64,
    /// Requests per second over the whole duration; none if the duration is 0.
    pub iops: Option<f64>,
    /// Greatest number of requests that arrive within one second, in whole seconds from the first request. A request
    /// with an earlier time than the one before it arrives together with that one, as in a replay.
    pub peak_requests_per_s: u64,
    /// Number of requests with an earlier time than the request directly before them.
    pub time_steps_back: u64,
    /// Number of requests with an earlier time than the latest request before them. A replay delays these; sorting
    /// moves them.
    pub requests_back: u64,
    /// The largest step back in time from one request to the next, in ns.
    pub largest_step_back_ns: u64,
    /// Share of reads in reads and writes by count, in percent.
    pub read_percent: Option<f64>,
    /// Share of reads in reads and writes by bytes, in percent.
    pub read_bytes_percent: Option<f64>,
    /// Share of requests, without flushes, that start where the request before on the same device ended.
    pub sequential_percent: Option<f64>,
    /// Share of requests, without flushes, whose offset is the end of the request before in the whole trace, on any
    /// device.
    pub sequential_device_blind_percent: Option<f64>,
    /// Share of requests, without flushes, that continue one of the last 64 sequential streams on the same device: they
    /// start where the stream ended.
    pub sequential_streams_percent: Option<f64>,
    /// Number of such streams with two requests or more.
    pub streams: u64,
    /// Mean number of requests in such a stream with two requests or more.
    pub stream_mean_requests: Option<f64>,
    /// Share of requests, without flushes, whose offset and length are multiples of 4 KiB.
    pub aligned_percent: Option<f64>,
    /// The least offset of a request on its device; none if all requests are flushes.
    pub least_offset_bytes: Option<u64>,
    /// Mean size of a read in KiB.
    pub mean_read_kib: Option<f64>,
    /// Mean size of a write in KiB.
    pub mean_write_kib: Option<f64>,
    /// Size of the set of 4-KiB pages that were read, in MiB.
    pub footprint_read_mib: f64,
    /// Size of the set of 4-KiB pages that were written, in MiB.
    pub footprint_written_mib: f64,
    /// Bytes written divided by distinct bytes written, both in whole sectors of 512 bytes; none without writes.
    pub overwrite_factor: Option<f64>,
    /// Size in bytes of the smallest drive that holds the devices one after another.
    pub span_bytes: u64,
    /// Size in bytes of the smallest drive that holds the trace without gaps between its addresses (`workload.trace.dense`).
    pub dense_bytes: u64,
    /// Number of processes that the trace names; 0 if its format has none. Counted up to 65,535.
    pub processes: u64,
    /// The devices, by number.
    pub devices: Vec<DeviceInfo>,
    /// Number of damaged records that were left out.
    pub bad_records: u64,
    /// Number of lines, records and events that are not requests.
    pub other_records: u64,
    /// Messages about records that were left out or passed over, and about implausible figures.
    pub warnings: Vec<String>,
}

/// One device of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// The number of its file, counted from 0.
    pub trace: u32,
    /// Its number in the trace.
    pub device: u64,
    /// Number of requests to the device.
    pub requests: u64,
    /// The end of the request that reaches furthest.
    pub end_bytes: u64,
}

/// Reads whole traces and returns their statistics. The settings that leave out, scale and merge records apply first.
/// `progress` is called from time to time and ends the reading by returning `false`. Memory grows with the number of
/// touched pages, not with the length of the trace.
///
/// # Errors
/// [`Error::Io`] if a file cannot be read; [`Error::Trace`] if it is damaged, changes meanwhile or has no request;
/// [`Error::InterruptedReading`] if `progress` returned `false`.
pub fn info(cfg: &settings::Trace, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<TraceInfo, Error> {
    survey(cfg, progress).map(|survey| survey.info)
}

/// The statistics, and the data for a second reading.
pub(super) struct Survey {
    pub info: TraceInfo,
    /// The addresses of the devices on a drive.
    pub layout: Layout,
    /// The content of the files at the first reading, to detect changes.
    pub seals: Vec<Arc<Seal>>,
}

/// As [`info`], but also returns the data for a second reading.
pub(super) fn survey(cfg: &settings::Trace, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Survey, Error> {
    let mut meter = RecordCounter::new(progress);
    // Opening comes first: it refuses paths that are not regular files.
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
    arrivals: ArrivalStats,
    streams: Streams,
    aligned: u64,
    least_offset: Option<u64>,
    /// Bytes written, in whole sectors.
    written_bytes: u64,
    /// The set of sectors written.
    written: Sectors,
    /// What requests of every kind touch.
    touched: Touched,
    reads: KindSum,
    writes: KindSum,
    trims: KindSum,
    flushes: u64,
    sequential: u64,
    sequential_blind: u64,
    /// End of the last request to each device.
    ends: BTreeMap<DeviceId, u64>,
    /// End of the last request to any device.
    end: Option<u64>,
}

#[derive(Default)]
struct KindSum {
    count: u64,
    bytes: u64,
    pages: Pages,
}

impl Sums {
    fn add(&mut self, record: &Record, id: DeviceId) {
        self.arrivals.add(record.time_ns);
        self.touched.add(record, id);
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

    fn info(&mut self, file: String, sha256: String, layout: &Layout, traces: &Traces) -> TraceInfo {
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
            units: traces.units(),
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
            dense_bytes: std::mem::take(&mut self.touched).numbered().bytes(),
            processes: layout.named_processes() as u64,
            devices: layout.extents().iter().map(DeviceInfo::of).collect(),
            bad_records: traces.bad_records(),
            other_records: traces.other_records(),
            warnings: traces.warnings().into_iter().chain(traces.doubts()).chain(arrivals.without_times()).collect(),
        }
    }
}

impl DeviceInfo {
    fn of(extent: &DeviceExtent) -> Self {
        let DeviceId { trace, device } = extent.id;
        DeviceInfo { trace, device, requests: extent.requests, end_bytes: extent.end }
    }
}

impl KindSum {
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
