//! The data of a trace's plots: arrivals over time, addresses over time, sizes, reuse. It takes two readings, the first
//! for the duration and the span of the trace. The memory of the second does not depend on either.

use serde::Serialize;

use super::super::layout::Layout;
use super::super::read::meter::RecordCounter;
use super::super::read::reader::Step;
use super::super::read::traces::Traces;
use super::super::{Record, trace_error};
use super::footprint::PAGE_BYTES;
use super::info::{Survey, TraceInfo, survey};
use super::reuse::{Curve, Reuse};
use crate::settings;
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::progress::Progress;
use flashwatt_core::connector::RequestKind;

/// Number of intervals of the rates over time.
const TIME_BINS: u64 = 600;
/// Columns (time) and rows (address) of the plot of addresses over time.
const COLUMNS: u64 = 240;
const ROWS: u64 = 120;

/// The data of a trace's plots. The addresses of several devices follow one another, as on a drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// Its statistics.
    pub info: TraceInfo,
    /// Rates over time.
    pub time: OverTime,
    /// Requests by address, over time.
    pub places: PlaceProfile,
    /// Requests by size, in bins that end at a power of two bytes; bins without requests are left out.
    pub sizes: Vec<SizeClass>,
    /// The hit ratio of an LRU cache of pages for reads and writes together.
    pub reuse: Reused,
}

/// Requests and bytes in equal intervals from the first request on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OverTime {
    /// Length of an interval.
    pub interval_ns: u64,
    /// Reads in each interval.
    pub reads: Vec<u64>,
    /// Writes in each interval.
    pub writes: Vec<u64>,
    /// Trims in each interval.
    pub trims: Vec<u64>,
    /// Flushes in each interval.
    pub flushes: Vec<u64>,
    /// Bytes of the reads in each interval.
    pub read_bytes: Vec<u64>,
    /// Bytes of the writes in each interval.
    pub write_bytes: Vec<u64>,
}

/// Requests in a grid of time (columns) and address (rows).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PlaceProfile {
    /// Time in ns of a column.
    pub column_ns: u64,
    /// Bytes of a row. A request counts in the row of its first byte.
    pub row_bytes: u64,
    /// The cells with requests as `[column, row, reads, writes, trims]`, ordered by column, then row.
    pub cells: Vec<[u64; 5]>,
}

/// Requests of similar size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// Greatest size in the bin, a power of two; the least is more than half of it.
    pub bytes: u64,
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Number of trims.
    pub trims: u64,
}

/// The hit ratio of an LRU cache over its size, with the page size; see [`Curve`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reused {
    /// Page size in bytes.
    pub page_bytes: u64,
    /// The curve: accesses, sampling, points.
    #[serde(flatten)]
    pub curve: Curve,
}

/// Reads whole traces twice and returns the data of their plots. The settings that leave out, scale and merge records
/// apply first. `progress` is called from time to time and ends the reading by returning `false`.
///
/// # Errors
/// [`Error::Io`] if a file cannot be read; [`Error::Trace`] if it is damaged, changes meanwhile or has no request;
/// [`Error::InterruptedReading`] if `progress` returned `false`.
pub fn profile(cfg: &settings::Trace, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Profile, Error> {
    let Survey { info, mut layout, seals } = survey(cfg, progress)?;
    let (mut meter, mut traces) = (RecordCounter::new(progress), Traces::open_sealed(cfg, &seals)?);
    let mut sketch = Sketch::new(&info);
    loop {
        match traces.step()? {
            Step::Record(record) => {
                sketch.add(&record, base(&mut layout, &traces, &record)?);
                meter.record(&traces)?;
            }
            Step::LeftOut => meter.record(&traces)?,
            Step::Pause => meter.look(None)?,
            Step::End => break,
        }
    }
    traces.verify()?;
    Ok(sketch.finish(info))
}

fn base(layout: &mut Layout, traces: &Traces, record: &Record) -> Result<u64, Error> {
    let base = layout.base(traces.device(record));
    base.ok_or_else(|| trace_error(Fault::at(traces.place("device"), "the trace changed while it was read")))
}

/// The data of the plots during the second reading.
struct Sketch {
    start_ns: u64,
    time: OverTime,
    column_ns: u64,
    row_bytes: u64,
    /// Reads, writes and trims of each cell; cell number: column × [`ROWS`] + row.
    cells: Vec<[u64; 3]>,
    /// Reads, writes and trims by the exponent of the bin's power of two.
    sizes: [[u64; 3]; 64],
    reuse: Reuse,
}

impl Sketch {
    fn new(info: &TraceInfo) -> Self {
        let duration_ns = info.duration_ns;
        let none = || vec![0; TIME_BINS as usize];
        let time = OverTime {
            interval_ns: duration_ns / TIME_BINS + 1,
            reads: none(),
            writes: none(),
            trims: none(),
            flushes: none(),
            read_bytes: none(),
            write_bytes: none(),
        };
        Sketch {
            start_ns: info.start_ns,
            time,
            column_ns: duration_ns / COLUMNS + 1,
            row_bytes: (info.span_bytes / ROWS + 1).next_multiple_of(PAGE_BYTES),
            cells: vec![[0; 3]; (COLUMNS * ROWS) as usize],
            sizes: [[0; 3]; 64],
            reuse: Reuse::new(),
        }
    }

    fn add(&mut self, record: &Record, base: u64) {
        let elapsed = record.time_ns.saturating_sub(self.start_ns);
        self.time.add(record, (elapsed / self.time.interval_ns) as usize);
        let kind = match record.kind {
            RequestKind::Read => 0,
            RequestKind::Write => 1,
            RequestKind::Trim => 2,
            RequestKind::Flush => return,
        };
        let start = base + record.offset_bytes;
        let cell = elapsed / self.column_ns * ROWS + start / self.row_bytes;
        if let Some(cell) = self.cells.get_mut(cell as usize) {
            cell[kind] += 1;
        }
        self.sizes[record.bytes.next_power_of_two().ilog2() as usize][kind] += 1;
        if record.kind != RequestKind::Trim {
            (start / PAGE_BYTES..(start + record.bytes).div_ceil(PAGE_BYTES)).for_each(|page| self.reuse.access(page));
        }
    }

    fn finish(self, info: TraceInfo) -> Profile {
        let cells = self.cells.iter().enumerate().filter(|(_, counts)| counts.iter().any(|&count| count > 0));
        let cells = cells.map(|(at, &[reads, writes, trims])| {
            let at = at as u64;
            [at / ROWS, at % ROWS, reads, writes, trims]
        });
        let sizes = self.sizes.iter().enumerate().filter(|(_, counts)| counts.iter().any(|&count| count > 0));
        let sizes = sizes.map(|(power, &[reads, writes, trims])| SizeClass { bytes: 1 << power, reads, writes, trims });
        Profile {
            info,
            time: self.time.cut(),
            places: PlaceProfile { column_ns: self.column_ns, row_bytes: self.row_bytes, cells: cells.collect() },
            sizes: sizes.collect(),
            reuse: Reused { page_bytes: PAGE_BYTES, curve: self.reuse.curve() },
        }
    }
}

impl OverTime {
    fn add(&mut self, record: &Record, bin: usize) {
        let (requests, bytes) = match record.kind {
            RequestKind::Read => (&mut self.reads, Some(&mut self.read_bytes)),
            RequestKind::Write => (&mut self.writes, Some(&mut self.write_bytes)),
            RequestKind::Trim => (&mut self.trims, None),
            RequestKind::Flush => (&mut self.flushes, None),
        };
        requests[bin] += 1;
        if let Some(bytes) = bytes {
            bytes[bin] += record.bytes;
        }
    }

    /// Removes the intervals after the last request. There are some because the length of an interval is rounded up to
    /// whole nanoseconds, most in a trace of less than [`TIME_BINS`] ns.
    fn cut(mut self) -> Self {
        let requests = [&self.reads, &self.writes, &self.trims, &self.flushes];
        let last = requests.iter().filter_map(|bins| bins.iter().rposition(|&count| count > 0)).max();
        let length = last.map_or(0, |last| last + 1);
        for bins in [&mut self.reads, &mut self.writes, &mut self.trims, &mut self.flushes] {
            bins.truncate(length);
        }
        self.read_bytes.truncate(length);
        self.write_bytes.truncate(length);
        self
    }
}
