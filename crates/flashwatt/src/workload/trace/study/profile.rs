//! What the pictures of a trace are drawn from: arrivals over time, places over time, sizes, reuse. Two readings (the first
//! for the trace's length and span), in memory that does not depend on either.

use serde::Serialize;

use super::super::layout::Layout;
use super::super::read::meter::Meter;
use super::super::read::reader::Step;
use super::super::read::traces::Traces;
use super::super::{Record, trace_error};
use super::footprint::PAGE_BYTES;
use super::info::{Survey, TraceInfo, survey};
use super::reuse::{Curve, Reuse};
use crate::connector::RequestKind;
use crate::error::{Error, Fault};
use crate::progress::Progress;
use crate::workload::settings;

/// Bins of the rates over time.
const TIME_BINS: u64 = 600;
/// Columns and rows of the map of places over time.
const COLUMNS: u64 = 240;
const ROWS: u64 = 120;

/// A trace in figures that can be drawn. Devices lie one after another, as on a drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// Its statistics.
    pub info: TraceInfo,
    /// Rates over time.
    pub time: OverTime,
    /// Where requests go, over time.
    pub places: Places,
    /// Requests by size: each bin ends at a power of two bytes, its greatest size.
    pub sizes: Vec<Size>,
    /// The hit ratio of an LRU cache of pages, reads and writes alike.
    pub reuse: Reused,
}

/// Requests and bytes in equal intervals from the first request on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OverTime {
    /// The length of an interval.
    pub interval_ns: u64,
    /// Requests.
    pub reads: Vec<u64>,
    /// Requests.
    pub writes: Vec<u64>,
    /// Requests.
    pub trims: Vec<u64>,
    /// Requests.
    pub flushes: Vec<u64>,
    /// Bytes of the reads.
    pub read_bytes: Vec<u64>,
    /// Bytes of the writes.
    pub write_bytes: Vec<u64>,
}

/// Requests by time and place: `[column, row, reads, writes, trims]` where there are any, ordered by column and row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Places {
    /// Time that a column stands for.
    pub column_ns: u64,
    /// Bytes that a row stands for; a request counts where it starts.
    pub row_bytes: u64,
    /// The cells that are not empty.
    pub cells: Vec<[u64; 5]>,
}

/// Requests of similar size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// The greatest size, a power of two.
    pub bytes: u64,
    /// Reads, writes, trims.
    pub reads: u64,
    /// See `reads`.
    pub writes: u64,
    /// See `reads`.
    pub trims: u64,
}

/// See [`Curve`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reused {
    /// Bytes in a page.
    pub page_bytes: u64,
    /// Accesses, sampling, points.
    #[serde(flatten)]
    pub curve: Curve,
}

/// Reads whole traces for their pictures; what the configuration leaves out, scales or merges is done before. `progress` is
/// told how far it is, and ends it by answering `false`.
pub fn profile(cfg: &settings::Trace, progress: &mut dyn FnMut(&Progress) -> bool) -> Result<Profile, Error> {
    let Survey { info, mut layout, seals } = survey(cfg, progress)?;
    let (mut meter, mut traces) = (Meter::new(progress), Traces::open_sealed(cfg, &seals)?);
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

/// The figures as they grow.
struct Sketch {
    start_ns: u64,
    time: OverTime,
    column_ns: u64,
    row_bytes: u64,
    /// Reads, writes and trims, row by row within column by column.
    cells: Vec<[u64; 3]>,
    /// By the power of two.
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
        let sizes = sizes.map(|(power, &[reads, writes, trims])| Size { bytes: 1 << power, reads, writes, trims });
        Profile {
            info,
            time: self.time.cut(),
            places: Places { column_ns: self.column_ns, row_bytes: self.row_bytes, cells: cells.collect() },
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

    /// Without the intervals behind the last request: a trace of less than so many nanoseconds fills few.
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
