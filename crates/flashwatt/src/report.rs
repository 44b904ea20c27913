//! The result of a run: what `report.json` holds. Versioned; the engine prints nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::books::{BufferCounts, Window, Written};
use crate::brain::Brain;
use crate::config::Config;
use crate::connector::{SourceKind, Workload};
use crate::device::Array;
use crate::energy::bins::PowerSeries;
use crate::energy::edges::CurrentEdges;
use crate::energy::ledger::{Ledger, Phase};
use crate::energy::meter::WINDOWS_NS;
use crate::energy::price::{self, ByCause, Energies, MapEnergy, Priced};
use crate::energy::{DieState, Table};
use crate::ftl::{Cause, Mapping, Merges, OpKind};
use crate::kernel::{Completed, End, Outcome};
use crate::models::mapping_memory;
use crate::stats::{Bars, Latency};
use crate::units::Nanos;

mod outside;

pub(crate) use outside::{OUTSIDE, outside};

/// The version of this format. It grows when a key's meaning changes or a key goes; new keys alone do not raise it.
///
/// 2: `flash.write_amplification` counts bytes of the host; currents are stated at one voltage; a counted drain belongs to all figures.
pub const SCHEMA: u32 = 2;

/// A report. Times in ns unless the key says otherwise, energies in J, powers in W, currents in mA.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of FlashWatt.
    pub version: &'static str,
    /// `complete`, `interrupted`, `stopped: ` and which budget was reached, or `failed: ` and why.
    pub status: String,
    /// What the user should know: records skipped or folded, figures that do not apply.
    pub warnings: Vec<String>,
    /// The whole configuration, every default filled in.
    pub config: Config,
    /// SHA-256 of the configuration.
    pub config_sha256: String,
    /// Seed of every random draw.
    pub seed: u64,
    /// What was asked of the drive in the measured window.
    pub workload: WorkloadReport,
    /// What was measured.
    pub window: WindowReport,
    /// From a request's arrival to its completion.
    pub latency_ns: LatencyReport,
    /// Requests over time.
    pub throughput: Throughput,
    /// Flash operations.
    pub flash: Flash,
    /// Wear since the start of the run.
    pub wear: Wear,
    /// The translation layer.
    pub ftl: FtlReport,
    /// Garbage collection.
    pub gc: GcReport,
    /// The write buffer; none without one.
    pub write_buffer: Option<WriteBufferReport>,
    /// Energy in J, by component.
    pub energy_j: Energies,
    /// Energy in J, by cause; what no single operation causes is shared.
    pub energy_by_cause_j: ByCause,
    /// Total energy in J under each idle accounting.
    pub energy_total_j: AccountingTotals,
    /// Work per energy.
    pub efficiency: Efficiency,
    /// Power in W.
    pub power_w: Power,
    /// Current in mA.
    pub current_ma: Current,
    /// Dies at work at the same time.
    pub parallelism: Parallelism,
    /// Total energy in J by integrating the drive's power as it changed: a second path to `energy_j.total`.
    pub energy_integral_j: f64,
    /// The books in integer nanoseconds and counts, which another price table can be applied to.
    pub ledger: LedgerReport,
    /// The same of the drain alone, which is part of `ledger` where it is counted; none if the run did not come so far.
    pub drain_ledger: Option<LedgerReport>,
    /// Power over time, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<PowerSeries>,
    /// Every edge of the current in a window of time, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<CurrentEdges>,
    /// How latencies are spread, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_histogram: Option<LatencyHistogram>,
}

/// What was asked of the drive.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct WorkloadReport {
    pub name: String,
    pub kind: SourceKind,
    pub input_sha256: Option<String>,
    pub requests: u64,
    pub reads: u64,
    pub writes: u64,
    pub trims: u64,
    pub flushes: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct WindowReport {
    /// Requests that completed before the counters started.
    pub warmup: u64,
    /// Requests that completed in the window.
    pub measured: u64,
    /// Simulated seconds that the drive went on after it.
    pub drain_s: f64,
    /// Requests that completed then.
    pub drained: u64,
    /// Does the drain belong to the window? If so all other sections cover both as one.
    pub drain_counted: bool,
    /// Energy of the drain in J.
    pub drain_energy_j: f64,
    /// Pages read and programmed and blocks erased in the whole run: warm-up, window and drain.
    pub flash_ops: u64,
}

/// Latencies in ns.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct LatencyReport {
    pub all: Latency,
    pub read: Latency,
    pub write: Latency,
}

/// How latencies are spread: what the quantiles of [`LatencyReport`] and [`MapLatencyReport`] are read from. Nothing is in the
/// bins of a kind that did not occur.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LatencyHistogram {
    /// Reads of the host …
    pub read: Bars,
    /// … and its writes, from arrival to completion.
    pub write: Bars,
    /// Reads of the map, from planning to end.
    pub map_read: Bars,
    /// Writes of all copies of a page of the map, from planning to the end of the first …
    pub map_write_first: Bars,
    /// … and of the last.
    pub map_write_last: Bars,
}

impl LatencyHistogram {
    fn new(done: &Completed, counted: &Window) -> Self {
        let host = LatencyHistogram { read: done.reads.bars(), write: done.writes.bars(), ..Self::default() };
        match &counted.map_latency {
            None => host,
            Some(map) => LatencyHistogram {
                map_read: map.read.bars(),
                map_write_first: map.write_first.bars(),
                map_write_last: map.write_last.bars(),
                ..host
            },
        }
    }
}

/// Requests over time; megabytes are 10^6 bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Throughput {
    pub simulated_s: f64,
    pub iops: f64,
    pub read_mb_s: f64,
    pub write_mb_s: f64,
}

/// Counts of flash operations: pages read, pages programmed, blocks erased. A copyback is a read and a program.
#[derive(Clone, Debug, Serialize)]
pub struct Flash {
    /// Pages read.
    pub reads: Counts,
    /// Pages programmed.
    pub programs: Counts,
    /// Blocks erased.
    pub erases: Counts,
    /// Logical pages read that were never written.
    pub unwritten_reads: u64,
    /// Bytes programmed per byte that the host wrote: the product of the factors below. None if it wrote nothing.
    pub write_amplification: Option<f64>,
    /// Bytes of the map units that the host's writes touch, per byte that it wrote: what writing parts of units costs.
    pub rmw_factor: Option<f64>,
    /// Bytes that leave the write buffer, per byte of the map units written into it: what coalescing saves. None without a
    /// write buffer.
    pub buffer_factor: Option<f64>,
    /// Bytes programmed per byte that the translation layer is given to write, in whole map units: what collection, merges,
    /// the map, wear levelling and pages that are not filled add. None if it is given nothing.
    pub gc_factor: Option<f64>,
}

/// Counts by cause.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub host: u64,
    pub gc: u64,
    pub merge: u64,
    pub map: u64,
    pub wear: u64,
    pub total: u64,
}

/// Wear since the start of the run.
#[derive(Clone, Debug, Serialize)]
pub struct Wear {
    /// Erases per block.
    pub erase_count: Spread,
}

/// How values are spread.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Spread {
    pub min: u32,
    pub max: u32,
    pub mean: f64,
    pub stddev: f64,
}

/// The translation layer.
#[derive(Clone, Debug, Serialize)]
pub struct FtlReport {
    /// Its registered name.
    pub name: &'static str,
    /// Bytes that an entry of its map covers.
    pub map_unit_bytes: u32,
    /// Share of map look-ups that found their entry in memory; none where the whole map is.
    pub map_hit_ratio: Option<f64>,
    /// Bytes that the map takes in the drive's memory.
    pub mapping_bytes: u64,
    /// The same by the formula of Park et al. 2011 (SPEC A9); none where that has none for the scheme.
    pub mapping_model_bytes: Option<u64>,
    /// How long operations of the map took, from their planning to their ends; none where there were none.
    pub map_latency_ns: Option<MapLatencyReport>,
    /// Energy in J that the map costs, in DRAM and on flash.
    pub map_energy_j: MapEnergy,
    /// Merges by kind; none where the scheme does not merge.
    pub merges: Option<Merges>,
}

/// Latencies of operations of the map (SPEC E18). Those of its collection do not count.
#[derive(Clone, Debug, Serialize)]
pub struct MapLatencyReport {
    /// Reads.
    pub read: Latency,
    /// Writes of all copies of a page, to the end of the first …
    pub write_first: Latency,
    /// … and of the last.
    pub write_last: Latency,
}

/// Garbage collection.
#[derive(Clone, Debug, Serialize)]
pub struct GcReport {
    /// Victims chosen.
    pub victims: u64,
    /// Candidates examined to choose them.
    pub searches: u64,
    /// Valid share of the programmed pages, averaged over the moments at which a victim was chosen: the ρ of theory.
    pub mean_valid_fraction: Option<f64>,
    /// Valid share of the victims' pages.
    pub mean_victim_valid_fraction: Option<f64>,
}

/// The write buffer. Counts are of map units unless they say otherwise, in the same window as flash operations.
#[derive(Clone, Debug, Serialize)]
pub struct WriteBufferReport {
    /// Its size.
    pub capacity_bytes: u64,
    /// Written into it.
    pub writes: u64,
    /// Writes that went into an entry that was there, and so need no program of their own.
    pub writes_coalesced: u64,
    /// Requests that had to wait for room.
    pub writes_delayed: u64,
    /// Read from it, wholly or in part, instead of from flash.
    pub read_hits: u64,
    /// Trimmed before they were written to flash.
    pub trimmed: u64,
    /// Written to flash. In the end writes = writes_coalesced + trimmed + destaged.
    pub destaged: u64,
}

/// Total energy in J under each idle accounting (SPEC E7).
#[derive(Clone, Debug, Serialize)]
pub struct AccountingTotals {
    /// (i) Everything on for the whole time.
    pub always_on: f64,
    /// (ii) Flash off while nothing is outstanding.
    pub flash_off: f64,
    /// (iii) Everything charged only while at least one die is busy.
    pub busy_only: f64,
}

/// Work per energy.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Efficiency {
    pub mb_per_j: Option<f64>,
    pub j_per_gb: Option<f64>,
    pub iops_per_w: Option<f64>,
}

/// Power in W. A window's figure is the greatest mean over windows of that length laid end to end from the start of what
/// is measured; none if that is shorter. Those that depend on overlaps are none after repricing.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Power {
    pub mean: f64,
    pub peak: Option<f64>,
    pub max_100us: Option<f64>,
    pub max_1s: Option<f64>,
}

/// The drive's current in mA: its power over one voltage. Currents of parts at different voltages do not add up.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Current {
    /// That voltage: the supply of `energy.mode = "terminal"`, else the highest of a part that draws something.
    pub supply_v: f64,
    pub mean: f64,
    pub peak: Option<f64>,
    /// Time at the peak, in ns.
    pub time_at_peak_ns: Option<Nanos>,
}

/// Dies at work at the same time.
#[derive(Clone, Debug, Serialize)]
pub struct Parallelism {
    /// Mean number of busy dies while at least one is.
    pub mean_active_dies: f64,
    /// The greatest number of dies that were busy at the same time …
    pub max_active_dies: u32,
    /// … and the share of the busy time in which so many were.
    pub time_at_max_fraction: f64,
    /// Seconds with n dies busy, n = 0, 1, …
    pub active_dies_s: Vec<f64>,
}

/// The books: integers only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LedgerReport {
    /// Dies in the drive.
    pub dies: u32,
    /// Die-nanoseconds by state and cause.
    pub die_ns: BTreeMap<String, BTreeMap<String, u64>>,
    /// Elapsed time by what the drive was doing.
    pub elapsed_ns: Elapsed,
    /// Time that DRAM operations took (rule `per_op`).
    pub dram_op_ns: u64,
    /// Map look-ups and updates in DRAM.
    pub map_accesses: u64,
    /// Time that data moved over the host interface.
    pub host_interface_ns: u64,
}

/// Elapsed time by what the drive was doing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Elapsed {
    /// At least one die busy.
    pub busy: u64,
    /// A request in the device, no die busy.
    pub outstanding: u64,
    /// Neither.
    pub quiet: u64,
}

/// What a report is made of.
pub(crate) struct Parts<'a> {
    pub config: &'a Config,
    pub workload: &'a dyn Workload,
    pub outcome: Outcome,
    pub brain: &'a Brain,
    pub array: &'a Array,
    pub series: Option<PowerSeries>,
    pub edges: Option<CurrentEdges>,
    pub latency_histogram: bool,
    pub warnings: Vec<String>,
}

impl Report {
    pub(crate) fn new(parts: Parts) -> Report {
        let Parts { config, workload, outcome, brain, array, series, edges, latency_histogram, mut warnings } = parts;
        let table = Table::new(&config.energy);
        let (counted, done) = outcome.counted(config.run.count_drain);
        let priced = price::price(&counted.ledger, &table);
        let window = window_report(&outcome, &table, config.run.count_drain);
        warnings.extend(workload.warnings());
        warnings.extend(warnings_of(config, &counted, &outcome, brain.blocks.geometry().pages_per_block));
        warnings.extend(outside(priced.energy_j.total, window.drain_energy_j, window.drain_counted));
        let throughput = throughput(&counted, &done);
        let reading = counted.reading.clone().unwrap_or_default();
        Report {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            status: status(&outcome.end),
            warnings,
            config_sha256: config.sha256(),
            seed: config.run.seed,
            workload: workload_report(workload, &done),
            window,
            latency_ns: LatencyReport {
                all: done.all().summary(),
                read: done.reads.summary(),
                write: done.writes.summary(),
            },
            flash: flash(&counted, brain, config),
            wear: wear(array),
            ftl: ftl(&counted, brain, config, priced.map_j.clone()),
            gc: gc(&counted),
            write_buffer: write_buffer(config, &counted.buffered),
            efficiency: Efficiency::new(done.read_bytes + done.write_bytes, &priced, &throughput),
            power_w: Power {
                mean: priced.mean_w,
                peak: Some(reading.peak.nw as f64 * 1e-9),
                max_100us: reading.window_w[0],
                max_1s: reading.window_w[1],
            },
            current_ma: Current {
                supply_v: supply_v(&table),
                mean: priced.mean_ma,
                peak: Some(table.ma(reading.peak.nw.into())),
                time_at_peak_ns: Some(reading.at_peak_ns),
            },
            parallelism: parallelism(&counted.ledger),
            energy_total_j: AccountingTotals::new(&priced),
            energy_j: priced.energy_j,
            energy_by_cause_j: priced.by_cause,
            energy_integral_j: reading.energy_j,
            ledger: ledger_report(&counted.ledger),
            drain_ledger: outcome.drain.as_ref().map(|drain| ledger_report(&drain.ledger)),
            throughput,
            series,
            edges,
            latency_histogram: latency_histogram.then(|| LatencyHistogram::new(&done, &counted)),
            config: config.clone(),
        }
    }
}

impl Report {
    /// Says that something besides the figures went wrong: a complete run has failed, another one warns.
    pub(crate) fn fail(&mut self, what: &str) {
        if self.status == "complete" {
            self.status = format!("failed: {what}");
        } else {
            self.warnings.push(what.to_string());
        }
    }
}

/// The voltage in V that currents are stated at.
pub(crate) fn supply_v(table: &Table) -> f64 {
    f64::from(table.supply_mv) / 1e3
}

fn status(end: &End) -> String {
    match end {
        End::Complete => "complete".into(),
        End::Interrupted => "interrupted".into(),
        End::OutOfBudget(operations) => format!("stopped: operation budget of {operations} reached"),
        End::Failed(error) => format!("failed: {error}"),
    }
}

fn warnings_of(config: &Config, counted: &Window, outcome: &Outcome, pages_per_block: u32) -> Vec<String> {
    let mut warnings = Vec::new();
    let total = counted.ledger.total_ns();
    if counted.ledger.dram_op_ns > total {
        warnings.push(format!(
            "DRAM operations took {} ns of a run of {total} ns: more than there was; energy.dram.map_access_ns or \
             data_mb_s is too slow for this workload",
            counted.ledger.dram_op_ns
        ));
    }
    if counted.unwritten_reads > 0 {
        warnings.push(format!(
            "{} page reads found a page that was never written: they took no flash operation (run.precondition = \
             \"filled\" writes every page first)",
            counted.unwritten_reads
        ));
    }
    warnings.extend(fewer_than_asked(config, outcome));
    warnings.extend(collection_debt(counted, pages_per_block));
    warnings
}

/// The workload ended before all requests that were to be measured.
fn fewer_than_asked(config: &Config, outcome: &Outcome) -> Option<String> {
    let (asked, measured) = (config.run.measure.requests?, outcome.completed.requests());
    let ended_early = matches!(outcome.end, End::Complete) && measured < asked && config.run.measure.ns.is_none();
    ended_early.then(|| format!("the workload ended after {measured} of the {asked} requests that were to be measured"))
}

/// Share of the blocks filled in the window that collection may owe at its end without a word.
const DEBT_MAX: f64 = 0.1;

/// Did the host write into blocks that collection has yet to win back?
fn collection_debt(window: &Window, pages_per_block: u32) -> Option<String> {
    let owed = window.free_blocks_start.saturating_sub(window.free_blocks_end);
    let programs: u64 = Cause::ALL.iter().map(|&cause| window.ledger.pages(OpKind::Program, cause)).sum();
    let filled = programs as f64 / f64::from(pages_per_block);
    let is_notable = window.collection.victims > 0 && owed > 1 && owed as f64 > DEBT_MAX * filled;
    is_notable.then(|| {
        format!(
            "collection fell behind: the drive had {owed} erased blocks fewer at the end of the measured window than at its \
             start, {:.0} % of what was filled in it; a longer run has a higher write amplification (measure after a longer \
             run.warmup)",
            100.0 * owed as f64 / filled
        )
    })
}

fn workload_report(workload: &dyn Workload, done: &Completed) -> WorkloadReport {
    WorkloadReport {
        name: workload.name().to_string(),
        kind: workload.kind(),
        input_sha256: workload.input_sha256(),
        requests: done.requests(),
        reads: done.reads.count(),
        writes: done.writes.count(),
        trims: done.trims,
        flushes: done.flushes,
        read_bytes: done.read_bytes,
        write_bytes: done.write_bytes,
    }
}

fn window_report(outcome: &Outcome, table: &Table, drain_counted: bool) -> WindowReport {
    WindowReport {
        warmup: outcome.warmup.requests(),
        measured: outcome.completed.requests(),
        drain_s: outcome.drain.as_ref().map_or(0.0, |drain| seconds(drain.ledger.total_ns())),
        drained: outcome.drained.requests(),
        drain_counted,
        drain_energy_j: outcome.drain.as_ref().map_or(0.0, |drain| price::price(&drain.ledger, table).energy_j.total),
        flash_ops: outcome.flash_operations,
    }
}

fn throughput(counted: &Window, done: &Completed) -> Throughput {
    let simulated_s = seconds(counted.ledger.total_ns());
    let per_s = |x: f64| if simulated_s > 0.0 { x / simulated_s } else { 0.0 };
    Throughput {
        simulated_s,
        iops: per_s(done.requests() as f64),
        read_mb_s: per_s(done.read_bytes as f64 * 1e-6),
        write_mb_s: per_s(done.write_bytes as f64 * 1e-6),
    }
}

fn flash(window: &Window, brain: &Brain, config: &Config) -> Flash {
    let programs = counts(&window.ledger, OpKind::Program);
    let unit_bytes = f64::from(brain.blocks.geometry().unit_bytes);
    let Written { host_bytes, host_units, destaged_units } = window.written;
    let has_buffer = config.write_buffer.bytes > 0;
    let (asked, touched) = (host_bytes as f64, host_units as f64 * unit_bytes);
    let given = if has_buffer { destaged_units as f64 * unit_bytes } else { touched };
    let programmed = programs.total as f64 * f64::from(config.device.page_bytes);
    let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
    Flash {
        reads: counts(&window.ledger, OpKind::Read),
        erases: counts(&window.ledger, OpKind::Erase),
        unwritten_reads: window.unwritten_reads,
        write_amplification: ratio(programmed, asked),
        rmw_factor: ratio(touched, asked),
        buffer_factor: ratio(given, touched).filter(|_| has_buffer),
        gc_factor: ratio(programmed, given),
        programs,
    }
}

fn counts(ledger: &Ledger, kind: OpKind) -> Counts {
    let [host, gc, merge, map, wear] = Cause::ALL.map(|cause| ledger.pages(kind, cause));
    Counts { host, gc, merge, map, wear, total: host + gc + merge + map + wear }
}

fn wear(array: &Array) -> Wear {
    let (mut min, mut max, mut blocks, mut sum, mut squares) = (u32::MAX, 0, 0u64, 0u64, 0u128);
    for count in array.erase_counts() {
        (min, max) = (min.min(count), max.max(count));
        blocks += 1;
        sum += u64::from(count);
        squares += u128::from(count) * u128::from(count);
    }
    let mean = sum as f64 / blocks as f64;
    let variance = (squares as f64 / blocks as f64 - mean * mean).max(0.0);
    Wear { erase_count: Spread { min, max, mean, stddev: variance.sqrt() } }
}

fn ftl(window: &Window, brain: &Brain, config: &Config, map_energy_j: MapEnergy) -> FtlReport {
    let device = &config.device;
    let flash = mapping_memory::Flash {
        capacity_bytes: device.logical_bytes,
        page_bytes: u64::from(device.page_bytes),
        block_bytes: u64::from(device.page_bytes) * u64::from(device.pages_per_block),
    };
    let Mapping { lookups, hits, merges } = window.mapping;
    FtlReport {
        name: config.ftl.name(),
        map_unit_bytes: brain.blocks.geometry().unit_bytes,
        map_hit_ratio: (lookups > 0).then(|| hits as f64 / lookups as f64),
        mapping_bytes: brain.ftl.mapping_bytes(),
        mapping_model_bytes: config.ftl.model_bytes(&mapping_memory::tables(&flash)),
        map_latency_ns: window.map_latency.as_ref().map(|latency| MapLatencyReport {
            read: latency.read.summary(),
            write_first: latency.write_first.summary(),
            write_last: latency.write_last.summary(),
        }),
        map_energy_j,
        merges: brain.ftl.merges().then_some(merges),
    }
}

fn gc(window: &Window) -> GcReport {
    let gc = &window.collection;
    let mean = |sum: f64| (gc.victims > 0).then(|| sum / gc.victims as f64);
    GcReport {
        victims: gc.victims,
        searches: gc.searches,
        mean_valid_fraction: mean(gc.valid_fraction_sum),
        mean_victim_valid_fraction: mean(gc.victim_valid_fraction_sum),
    }
}

fn write_buffer(config: &Config, counts: &BufferCounts) -> Option<WriteBufferReport> {
    (config.write_buffer.bytes > 0).then_some(WriteBufferReport {
        capacity_bytes: config.write_buffer.bytes,
        writes: counts.written,
        writes_coalesced: counts.coalesced,
        writes_delayed: counts.delayed,
        read_hits: counts.read_hits,
        trimmed: counts.trimmed,
        destaged: counts.destaged,
    })
}

impl AccountingTotals {
    pub(crate) fn new(priced: &Priced) -> Self {
        let [always_on, flash_off, busy_only] = priced.totals_j;
        AccountingTotals { always_on, flash_off, busy_only }
    }
}

impl Efficiency {
    /// Of a window in which so many bytes were read and written.
    pub(crate) fn new(bytes: u64, priced: &Priced, throughput: &Throughput) -> Self {
        let mb = bytes as f64 * 1e-6;
        let joules = priced.energy_j.total;
        Efficiency {
            mb_per_j: (joules > 0.0).then(|| mb / joules),
            j_per_gb: (mb > 0.0).then(|| joules / mb * 1e3),
            iops_per_w: (priced.mean_w > 0.0).then(|| throughput.iops / priced.mean_w),
        }
    }
}

fn parallelism(ledger: &Ledger) -> Parallelism {
    let max = ledger.busy_dies_ns.iter().rposition(|&ns| ns > 0).unwrap_or(0);
    let busy: u64 = ledger.busy_dies_ns.iter().skip(1).sum();
    let share = |ns: u64| if busy > 0 { ns as f64 / busy as f64 } else { 0.0 };
    let at_max = if max > 0 { ledger.busy_dies_ns[max] } else { 0 };
    Parallelism {
        mean_active_dies: ledger.busy_dies_ns.iter().enumerate().map(|(n, &ns)| n as f64 * share(ns)).sum(),
        max_active_dies: max as u32,
        time_at_max_fraction: share(at_max),
        active_dies_s: ledger.busy_dies_ns.iter().map(|&ns| seconds(ns)).collect(),
    }
}

fn ledger_report(ledger: &Ledger) -> LedgerReport {
    let by_cause = |state: DieState| {
        let ns = |&cause: &Cause| (cause.name().to_string(), ledger.die_ns[state as usize][cause as usize]);
        Cause::ALL.iter().map(ns).collect()
    };
    LedgerReport {
        dies: ledger.dies,
        die_ns: DieState::ALL[1..].iter().map(|&state| (state.name().to_string(), by_cause(state))).collect(),
        elapsed_ns: Elapsed {
            busy: ledger.elapsed_ns[Phase::Busy as usize],
            outstanding: ledger.elapsed_ns[Phase::Outstanding as usize],
            quiet: ledger.elapsed_ns[Phase::Quiet as usize],
        },
        dram_op_ns: ledger.dram_op_ns,
        map_accesses: ledger.map_accesses,
        host_interface_ns: ledger.host_interface_ns,
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

const _: () = assert!(WINDOWS_NS[0] == 100_000 && WINDOWS_NS[1] == 1_000_000_000, "the keys of Power say so");
