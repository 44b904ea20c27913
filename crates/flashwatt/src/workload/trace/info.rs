//! Statistics of a trace as it is: nothing folded, nothing laid out.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::Record;
use super::input::{base_name, sha256};
use super::layout::Layout;
use super::reader::Reader;
use super::replay::no_request;
use crate::error::Error;
use crate::host::RequestKind;

/// What `trace info` tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// The file's base name.
    pub file: String,
    /// SHA-256 of the file as it lies on the disk.
    pub sha256: String,
    /// The format that it was read as.
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
    /// From the first request's time to the latest one's.
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
    /// What was left out or passed over, in words.
    pub warnings: Vec<String>,
}

/// One device of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// Its number in the trace.
    pub device: u64,
    /// Requests to it.
    pub requests: u64,
    /// The end of its furthest request.
    pub end_bytes: u64,
}

/// Reads a whole trace for its statistics. The format is recognised unless given; damaged records are an error unless
/// they are to be skipped.
pub fn info(path: &Path, format: Option<&str>, skip_bad: bool) -> Result<TraceInfo, Error> {
    let mut reader = Reader::new(path, format, skip_bad)?;
    let mut sums = Sums::default();
    let layout = Layout::of_each(&mut reader, |record| sums.add(record))?;
    if layout.requests() == 0 {
        return Err(no_request(&reader));
    }
    Ok(sums.info(path, sha256(path)?, &layout, &reader))
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
    ends: BTreeMap<u64, u64>,
    end: Option<u64>,
}

#[derive(Default)]
struct Sum {
    count: u64,
    bytes: u64,
    pages: Pages,
}

impl Sums {
    fn add(&mut self, record: &Record) {
        self.first_ns.get_or_insert(record.time_ns);
        self.latest_ns = self.latest_ns.max(record.time_ns);
        match record.kind {
            RequestKind::Read => self.reads.add(record),
            RequestKind::Write => self.writes.add(record),
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
        self.sequential += u64::from(self.ends.insert(record.device, end) == Some(record.offset_bytes));
        self.sequential_blind += u64::from(self.end.replace(end) == Some(record.offset_bytes));
    }

    fn info(&self, path: &Path, sha256: String, layout: &Layout, reader: &Reader) -> TraceInfo {
        let (reads, writes) = (&self.reads, &self.writes);
        let moving = reads.count + writes.count + self.trims.count;
        let duration_ns = self.latest_ns - self.first_ns.unwrap_or(self.latest_ns);
        TraceInfo {
            file: base_name(path),
            sha256,
            format: reader.format().name.to_string(),
            requests: layout.requests(),
            reads: reads.count,
            writes: writes.count,
            trims: self.trims.count,
            flushes: self.flushes,
            duration_s: duration_ns as f64 / 1e9,
            read_percent: percent(reads.count, reads.count + writes.count),
            read_bytes_percent: percent(reads.bytes, reads.bytes + writes.bytes),
            sequential_percent: percent(self.sequential, moving),
            sequential_device_blind_percent: percent(self.sequential_blind, moving),
            mean_read_kib: reads.mean_kib(),
            mean_write_kib: writes.mean_kib(),
            footprint_read_mib: reads.pages.mib(),
            footprint_written_mib: writes.pages.mib(),
            span_bytes: layout.span(),
            devices: layout
                .extents()
                .iter()
                .map(|e| DeviceInfo { device: e.device, requests: e.requests, end_bytes: e.end })
                .collect(),
            bad_records: reader.bad_records(),
            warnings: reader.warnings(),
        }
    }
}

impl Sum {
    fn add(&mut self, record: &Record) {
        self.count += 1;
        self.bytes += record.bytes;
        self.pages.add(record);
    }

    fn mean_kib(&self) -> Option<f64> {
        (self.count > 0).then(|| self.bytes as f64 / self.count as f64 / 1024.0)
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

const PAGE_BYTES: u64 = 4096;

/// A set of 4-KiB pages: 64 of them to a map entry.
#[derive(Default)]
struct Pages {
    chunks: BTreeMap<(u64, u64), u64>,
    count: u64,
}

impl Pages {
    fn add(&mut self, record: &Record) {
        let mut page = record.offset_bytes / PAGE_BYTES;
        let end = (record.offset_bytes + record.bytes).div_ceil(PAGE_BYTES);
        while page < end {
            let chunk_end = end.min((page / 64 + 1) * 64);
            let mask = u64::MAX >> (64 - (chunk_end - page)) << (page % 64);
            let bits = self.chunks.entry((record.device, page / 64)).or_default();
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
        for (offset_bytes, bytes) in [(0, 1), (4095, 2), (63 * 4096, 2 * 4096), (0, 128 * 4096)] {
            pages.add(&Record { time_ns: 0, device: 0, offset_bytes, bytes, kind: RequestKind::Read, fua: false });
        }
        assert_eq!(pages.count, 128);
        pages.add(&Record { time_ns: 0, device: 1, offset_bytes: 0, bytes: 1, kind: RequestKind::Read, fua: false });
        assert_eq!(pages.count, 129);
    }
}
