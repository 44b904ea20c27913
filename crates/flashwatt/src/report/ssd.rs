//! An SSD's part of the report: flash, wear, translation layer, garbage collection, write buffer, and energy by part
//! and cause.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::balance::Balance;
pub use super::counts::{Counts, Flash, Spread};
use super::doubts::{Doubt, ENERGY, RATES, WRITES};
use super::lifetime::{Lifetime, Worn};
use super::{DeviceReport, LatencyHistogram, Sections, SpareReport, seconds};
use crate::config::Config;
use flashwatt_base::stats::Latency;
use flashwatt_base::units::Nanos;
use flashwatt_core::kernel::Outcome;
use flashwatt_ssd::drive::settings::Settings;
use flashwatt_ssd::energy::ledger::{Ledger, PerCause, Phase};
use flashwatt_ssd::energy::price::{self, ByCause, Energies, MapEnergy, Priced};
use flashwatt_ssd::energy::settings::IdleAccounting;
use flashwatt_ssd::energy::{DieState, ExtraState, PriceTable};
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::{Mapping, Merges};
use flashwatt_ssd::models::mapping_memory;
use flashwatt_ssd::nand::Array;
use flashwatt_ssd::nand::settings::{DeviceTable, Timing};
use flashwatt_ssd::observe::accounts::{BufferCounts, HostWrites, SsdFigures};
use flashwatt_ssd::operation::{Cause, OpKind};

/// An SSD's part of a report. Energies in J.
#[derive(Clone, Debug)]
pub struct SsdReport {
    /// Flash operations.
    pub flash: Flash,
    /// Over-provisioning, and what collection can use of it.
    pub spare: SpareReport,
    /// Wear since the start of the run; and the wear in the snapshot that it began from.
    pub wear: WearReport,
    /// The life of the drive at the wear of the window.
    pub lifetime: Lifetime,
    /// The translation layer.
    pub ftl: FtlReport,
    /// Garbage collection.
    pub gc: GcReport,
    /// The write buffer; none without one.
    pub write_buffer: Option<WriteBufferReport>,
    /// The host's memory, as far as the map lies there; none if it does not.
    pub host_memory: Option<HostMemoryReport>,
    /// Energy in J, by component.
    pub energy_j: Energies,
    /// Energy in J by cause; energy without a single causing operation is `shared`.
    pub energy_by_cause_j: ByCause,
    /// Total energy in J under each idle accounting.
    pub energy_total_j: AccountingTotals,
    /// Dies busy at the same time.
    pub parallelism: Parallelism,
    /// The ledger in integer nanoseconds and counts, to which another price table can be applied.
    pub ledger: LedgerReport,
    /// The ledger of the drain alone, which is part of `ledger` if the drain is counted; none if the run did not reach
    /// the drain.
    pub drain_ledger: Option<LedgerReport>,
}

/// Wear since the start of the run.
#[derive(Clone, Debug, Serialize)]
pub struct WearReport {
    /// Erases per block.
    pub erase_count: Spread,
}

/// The translation layer.
#[derive(Clone, Debug, Serialize)]
pub struct FtlReport {
    /// The registered name.
    pub name: &'static str,
    /// Bytes covered by a mapping entry.
    pub map_unit_bytes: u32,
    /// Share of map look-ups that found their entry in memory; none if the whole map is in memory.
    pub map_hit_ratio: Option<f64>,
    /// Bytes of the map in the drive's memory.
    pub mapping_bytes: u64,
    /// Bytes of the map by the formula of Park et al. 2011, section 3.3; none for a scheme without a formula there.
    pub mapping_model_bytes: Option<u64>,
    /// Latencies of mapping operations, from planning to end; none if there were none.
    pub map_latency_ns: Option<MapLatencyReport>,
    /// Energy in J of the accesses to the map, in DRAM and on flash; none without a clock.
    pub map_energy_j: Option<MapEnergy>,
    /// Merges by kind; none where the scheme does not merge.
    pub merges: Option<Merges>,
}

/// Latencies in ns of operations on translation pages, without those of garbage collection.
#[derive(Clone, Debug, Serialize)]
pub struct MapLatencyReport {
    /// Reads.
    pub read: Latency,
    /// Writes of all copies of a page, to the end of the first copy.
    pub write_first: Latency,
    /// Writes of all copies of a page, to the end of the last copy.
    pub write_last: Latency,
}

/// Garbage collection.
#[derive(Clone, Debug, Serialize)]
pub struct GcReport {
    /// Victims chosen.
    pub victims: u64,
    /// Candidates examined to choose them.
    pub searches: u64,
    /// Valid share of the programmed pages, averaged over the moments at which a victim was chosen: ρ in theory.
    pub mean_valid_fraction: Option<f64>,
    /// Valid share of the victims' pages.
    pub mean_victim_valid_fraction: Option<f64>,
}

/// The write buffer. Counts are of map units unless they say otherwise, in the same window as flash operations.
#[derive(Clone, Debug, Serialize)]
pub struct WriteBufferReport {
    /// Size in bytes.
    pub capacity_bytes: u64,
    /// Map units written into it.
    pub writes: u64,
    /// Writes into an entry that existed already, which need no program of their own.
    pub writes_coalesced: u64,
    /// Requests that had to wait for room.
    pub writes_delayed: u64,
    /// Map units read from it, wholly or in part, instead of from flash.
    pub read_hits: u64,
    /// Map units trimmed before they were written to flash.
    pub trimmed: u64,
    /// Map units written to flash. At the end of a run writes = writes_coalesced + trimmed + destaged; of a drive whose power was
    /// cut in place, and those that it held then. What capacitors brought to flash is among the writes again, when it is back.
    pub destaged: u64,
    /// Map units of writes that went to pages of the journal; none without a journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal_records: Option<u64>,
    /// Entries that were written to their place early, so that a part of the journal could be erased; none without a journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal_forced: Option<u64>,
}

/// The host's memory, in which the cached part of the map lies.
#[derive(Clone, Debug, Serialize)]
pub struct HostMemoryReport {
    /// Bytes that the drive has read there: look-ups, and entries for writes of their translation pages.
    pub read_bytes: u64,
    /// Bytes that the drive has written there: entries that changed, or were fetched from flash.
    pub written_bytes: u64,
    /// Energy in J of these accesses; none if `energy.host_memory.pj_per_bit` is not given. It is the host's: no other figure has it.
    pub energy_j: Option<f64>,
}

/// Total energy in J under each idle accounting.
#[derive(Clone, Debug, Serialize)]
pub struct AccountingTotals {
    /// (i) Everything on for the whole time.
    pub always_on: f64,
    /// (ii) Flash off while nothing is outstanding.
    pub flash_off: f64,
    /// (iii) Everything charged only while at least one die executes an array operation.
    pub busy_only: f64,
    /// (iv) Everything charged only while at least one die is busy, be it with its bus alone.
    pub busy_or_loading: f64,
}

/// Dies busy at the same time.
#[derive(Clone, Debug, Serialize)]
pub struct Parallelism {
    /// Mean number of busy dies while at least one is.
    pub mean_active_dies: f64,
    /// Largest number of dies busy at the same time.
    pub max_active_dies: u32,
    /// Share of the busy time with that number of busy dies.
    pub time_at_max_fraction: f64,
    /// Seconds with n dies busy, n = 0, 1, …
    pub active_dies_s: Vec<f64>,
}

/// The ledger: integers only.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LedgerReport {
    /// Dies in the drive.
    pub dies: u32,
    /// Die-nanoseconds by state and cause.
    pub die_ns: BTreeMap<String, BTreeMap<String, u64>>,
    /// Nanoseconds of parts of a die that work beside it, by state and cause: further planes, and a bus beside the array. States without
    /// any are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_ns: BTreeMap<String, BTreeMap<String, u64>>,
    /// Elapsed time by the state of the whole drive.
    pub elapsed_ns: Elapsed,
    /// Die-nanoseconds of operations while no die executes an array operation.
    pub transfer_die_ns: u64,
    /// Time of DRAM operations (rule `per_op`).
    pub dram_op_ns: u64,
    /// Map look-ups and updates in DRAM.
    pub map_accesses: u64,
    /// Time of data transfers over the host interface.
    pub host_interface_ns: u64,
    /// Bytes that the drive has read from the host's memory and written to it, for its map; none without any.
    #[serde(default, skip_serializing_if = "is_none")]
    pub host_memory_bytes: [u64; 2],
}

/// Whether no byte has moved.
fn is_none(bytes: &[u64; 2]) -> bool {
    *bytes == [0; 2]
}

/// Elapsed time by the state of the whole drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Elapsed {
    /// At least one die busy.
    pub busy: u64,
    /// Of `busy`: at least one die executes an array operation (it reads, programs or erases). In the rest commands and
    /// data move, or wait for the bus.
    pub array: u64,
    /// A request in the device, no die busy.
    pub outstanding: u64,
    /// No request in the device, no die busy.
    pub quiet: u64,
}

/// The report of an SSD with these tables and this flash.
pub(crate) fn report(
    config: &Config,
    outcome: &Outcome<SsdFigures>,
    firmware: &Firmware,
    array: &Array,
) -> DeviceReport {
    let table = PriceTable::new(&config.ssd().energy);
    let (counted, _) = outcome.counted(config.run.count_drain);
    let figures = &counted.figures;
    let drain = outcome.drain.as_ref().map(|drain| &drain.figures.ledger);
    let Priced { energy_j, by_cause, map_j, totals_j, .. } = price::price(&figures.ledger, &table);
    let (flash, wear) = (flash(figures, firmware, config), wear(array));
    let spare = SpareReport::new(config, firmware.blocks.geometry(), gc(figures).mean_valid_fraction);
    let worn = Worn {
        rated_cycles: config.ssd().device.nand.rated_cycles,
        flash: &flash,
        erase_count: &wear.erase_count,
        blocks: array.erase_counts().count() as u64,
        pages_per_block: config.ssd().device.block_pages(),
        logical_bytes: config.logical_bytes(),
        host_bytes: figures.written.host_bytes,
        window_s: seconds(counted.elapsed_ns()),
    };
    DeviceReport {
        host: None,
        supply_mv: table.supply_mv,
        warnings: warnings(figures, config, firmware, &spare),
        not_steady: doubts(figures, config, firmware),
        sections: Sections::Ssd(Box::new(SsdReport {
            lifetime: Lifetime::new(&worn),
            flash,
            spare,
            wear,
            ftl: ftl(figures, firmware, config, map_j),
            gc: gc(figures),
            write_buffer: write_buffer(config, &figures.buffered),
            host_memory: host_memory(config, &figures.ledger),
            energy_j,
            energy_by_cause_j: by_cause,
            energy_total_j: AccountingTotals::new(totals_j),
            parallelism: parallelism(&figures.ledger),
            ledger: ledger_report(&figures.ledger),
            drain_ledger: drain.map(ledger_report),
        })),
        latency_histogram: map_histogram(figures),
    }
}

/// The map's part of the histogram of latencies.
fn map_histogram(figures: &SsdFigures) -> LatencyHistogram {
    match &figures.map_latency {
        None => LatencyHistogram::default(),
        Some(map) => LatencyHistogram {
            map_read: map.read.bars(),
            map_write_first: map.write_first.bars(),
            map_write_last: map.write_last.bars(),
            ..LatencyHistogram::default()
        },
    }
}

fn warnings(figures: &SsdFigures, config: &Config, firmware: &Firmware, spare: &SpareReport) -> Vec<String> {
    let mut warnings = Vec::new();
    let ([dram_ns, link_ns], total) = (figures.given_ns, figures.ledger.total_ns());
    if total > 0 && dram_ns > total {
        warnings.push(format!(
            "DRAM operations took {dram_ns} ns of a window of {total} ns: more than there was; energy.dram.map_access_ns or \
             data_mb_s is too slow for this workload",
        ));
    }
    if total > 0 && link_ns > total {
        warnings.push(format!(
            "the host interface was given work of {link_ns} ns in a window of {total} ns: more than there was, since no request \
             waits for it (device.host_link.bandwidth_mb_s lets them wait)",
        ));
    }
    if figures.unwritten_reads > 0 {
        let reads = if figures.unwritten_reads == 1 { "read" } else { "reads" };
        warnings.push(format!(
            "{} page {reads} found no data, since the page was never written or was trimmed: no flash operation was needed \
             (run.precondition = \"filled\" writes every page first)",
            figures.unwritten_reads
        ));
    }
    warnings.extend(spare_flash(&config.ssd().device));
    if figures.collection.victims > 0 {
        warnings.extend(spare.eaten(config));
    }
    warnings.extend(short_times(&config.ssd().device.timing));
    warnings.extend(unfinished(figures, firmware, config));
    warnings.extend(balance(figures, config, firmware).warnings());
    warnings.extend(whole_map_cached(config, firmware));
    warnings
}

/// Figures that a longer run would change. Each of these reasons has a warning of its own.
fn doubts(figures: &SsdFigures, config: &Config, firmware: &Firmware) -> Vec<Doubt> {
    let balance = balance(figures, config, firmware);
    let of = |is_there: bool, why: &str, lists: &[&[&'static str]]| is_there.then(|| Doubt::new(why, lists));
    let early = unfinished(figures, firmware, config).is_some();
    let owes = balance.debt().is_some();
    let is_part = !owes && balance.part_of_a_wave().is_some();
    let changes = balance.unsettled().is_some();
    let found = [
        of(early, "writes were not on flash at the end", &[&WRITES, &ENERGY]),
        of(owes, "collection fell behind", &[&WRITES, &RATES, &ENERGY]),
        of(is_part, "the window holds a part of a wave of collections", &[&WRITES, &RATES, &ENERGY]),
        of(changes, "write amplification has not settled", &[&WRITES, &RATES, &ENERGY]),
    ];
    found.into_iter().flatten().collect()
}

/// The pages that the window's collections took and gave.
fn balance<'a>(figures: &'a SsdFigures, config: &Config, firmware: &'a Firmware) -> Balance<'a> {
    Balance {
        window: figures,
        geometry: firmware.blocks.geometry(),
        low_watermark_blocks: config.ssd().gc.low_watermark_blocks,
        collects: config.ssd().ftl.collects(),
    }
}

/// An `op_ratio` from which on a per cent sign may be missing.
const RATIO_MAX: f64 = 5.0;

/// The warning about over-provisioning that is not what its number looks like.
fn spare_flash(device: &DeviceTable) -> Option<String> {
    let ratio = device.op_ratio;
    if let Some(asked) = device.asked_op_ratio {
        let planes = device.channels * device.ways * device.planes;
        let step_bytes = u64::from(planes) * u64::from(device.pages_per_block) * u64::from(device.page_bytes);
        return Some(format!(
            "device.op_ratio: {asked:.4} was asked for, and the drive has {ratio:.4}: flash grows by one block of every plane, \
             {:.1} MB",
            step_bytes as f64 / 1e6
        ));
    }
    (ratio >= RATIO_MAX).then(|| {
        let times = 1.0 + ratio;
        format!("device.op_ratio = {ratio:.4}: the flash is {times:.1} times what the host sees (\"28%\" is a ratio of 0.28)")
    })
}

/// Array time in ns below which a unit may be missing. The fastest reads of flash take 3 µs (Z-NAND), and a program or an erase takes
/// longer than a read.
const SHORT_NS: Nanos = 1_000;

/// The warnings about array times that are short for flash. 1 ns, the least that a configuration takes, stands for no time.
fn short_times(timing: &Timing) -> Vec<String> {
    let times = [("read_ns", timing.read_ns), ("program_ns", timing.program_ns), ("erase_ns", timing.erase_ns)];
    let short = times.into_iter().filter(|&(_, ns)| 1 < ns && ns < SHORT_NS);
    let warning = |(key, ns)| {
        format!("device.timing.{key} = {ns}: less than any flash takes; it is in nanoseconds (\"{ns}us\" is {ns} us)")
    };
    short.map(warning).collect()
}

/// The warning about a cached mapping table in which the whole map has room: what such a layer costs by misses does not show then.
fn whole_map_cached(config: &Config, firmware: &Firmware) -> Option<String> {
    let (entries, map) = (config.ssd().ftl.table_entries()?, firmware.blocks.geometry().logical_units);
    let name = config.ssd().ftl.name();
    (entries >= map).then(|| {
        format!(
            "the cached mapping table has room for the whole map ({entries} entries, {map} in the map): {name} reads its map once \
             only, and still writes it; ftl.{name}.cmt_fraction = 0.01 holds one entry in 100"
        )
    })
}

/// Share of the bytes given to the translation layer that may lack their program at the end of the window without a warning.
const UNFINISHED_MAX: f64 = 0.01;

/// The warning about writes whose programs end after the window: they are in the divisor of write amplification only.
fn unfinished(window: &SsdFigures, firmware: &Firmware, config: &Config) -> Option<String> {
    let WriteBytes { given, programmed, .. } = WriteBytes::of(window, firmware, config);
    let is_notable = programmed < (1.0 - UNFINISHED_MAX) * given;
    is_notable.then(|| {
        format!(
            "write amplification is too low: {given:.0} bytes were given to the translation layer in the measured window, and \
             only {programmed:.0} were programmed before its end (measure a longer run, or after a run.warmup)"
        )
    })
}

/// Bytes on their way from the host to flash, within the measured window.
struct WriteBytes {
    /// That the host wrote: in requests that were taken up, even if they had not completed at the end.
    asked: f64,
    /// Of the map units that these touch.
    touched: f64,
    /// Given to the translation layer: the same, or what left the write buffer.
    given: f64,
    /// Of pages programmed, by any cause: those whose program ended.
    programmed: f64,
}

impl WriteBytes {
    fn of(window: &SsdFigures, firmware: &Firmware, config: &Config) -> Self {
        let unit_bytes = f64::from(firmware.blocks.geometry().unit_bytes);
        let HostWrites { host_bytes, host_units, destaged_units } = window.written;
        let has_buffer = config.ssd().write_buffer.bytes > 0;
        let touched = host_units as f64 * unit_bytes;
        WriteBytes {
            asked: host_bytes as f64,
            touched,
            given: if has_buffer { destaged_units as f64 * unit_bytes } else { touched },
            programmed: window.ledger.programs() as f64 * f64::from(config.ssd().device.page_bytes),
        }
    }
}

fn flash(window: &SsdFigures, firmware: &Firmware, config: &Config) -> Flash {
    let has_buffer = config.ssd().write_buffer.bytes > 0;
    let WriteBytes { asked, touched, given, programmed } = WriteBytes::of(window, firmware, config);
    let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
    let [padded, folded] = [Cause::Pad, Cause::Fold]
        .map(|cause| window.ledger.pages(OpKind::Program, cause) as f64 * f64::from(config.ssd().device.page_bytes));
    Flash {
        reads: counts(&window.ledger, OpKind::Read),
        programs: counts(&window.ledger, OpKind::Program),
        erases: counts(&window.ledger, OpKind::Erase),
        unwritten_reads: window.unwritten_reads,
        write_amplification: ratio(programmed, asked),
        rmw_factor: ratio(touched, asked),
        buffer_factor: ratio(given, touched).filter(|_| has_buffer),
        pad_factor: ratio(given + padded, given).filter(|_| padded > 0.0),
        fold_factor: ratio(given + padded + folded, given + padded).filter(|_| folded > 0.0),
        gc_factor: ratio(programmed, given + padded + folded),
    }
}

fn counts(ledger: &Ledger, kind: OpKind) -> Counts {
    let pages = Cause::ALL.map(|cause| ledger.pages(kind, cause));
    let [host, gc, merge, map, wear, backup, journal, pad, fold] = pages;
    Counts { host, gc, merge, map, wear, backup, journal, pad, fold, total: pages.iter().sum() }
}

fn wear(array: &Array) -> WearReport {
    let (mut min, mut max, mut blocks, mut sum, mut squares) = (u32::MAX, 0, 0u64, 0u64, 0u128);
    for count in array.erase_counts() {
        (min, max) = (min.min(count), max.max(count));
        blocks += 1;
        sum += u64::from(count);
        squares += u128::from(count) * u128::from(count);
    }
    let mean = sum as f64 / blocks as f64;
    let variance = (squares as f64 / blocks as f64 - mean * mean).max(0.0);
    WearReport { erase_count: Spread { min, max, mean, stddev: variance.sqrt() } }
}

fn ftl(window: &SsdFigures, firmware: &Firmware, config: &Config, map_energy_j: MapEnergy) -> FtlReport {
    let device = &config.ssd().device;
    let flash = mapping_memory::FlashModel {
        capacity_bytes: device.logical_bytes,
        page_bytes: u64::from(device.page_bytes),
        block_bytes: u64::from(device.page_bytes) * u64::from(device.block_pages()),
    };
    let Mapping { lookups, hits, merges } = window.mapping;
    FtlReport {
        name: config.ssd().ftl.name(),
        map_unit_bytes: firmware.blocks.geometry().unit_bytes,
        map_hit_ratio: (lookups > 0).then(|| hits as f64 / lookups as f64),
        mapping_bytes: firmware.ftl.mapping_bytes(),
        mapping_model_bytes: config.ssd().ftl.model_bytes(&mapping_memory::tables(&flash)),
        map_latency_ns: window.map_latency.as_ref().map(|latency| MapLatencyReport {
            read: latency.read.summary(),
            write_first: latency.write_first.summary(),
            write_last: latency.write_last.summary(),
        }),
        map_energy_j: config.run.replay.is_timed().then_some(map_energy_j),
        merges: firmware.ftl.merges().then_some(merges),
    }
}

fn gc(window: &SsdFigures) -> GcReport {
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
    let settings = &config.ssd().write_buffer;
    let of_journal = |count: u64| settings.journal.is_some().then_some(count);
    (settings.bytes > 0).then_some(WriteBufferReport {
        capacity_bytes: settings.bytes,
        writes: counts.written,
        writes_coalesced: counts.coalesced,
        writes_delayed: counts.delayed,
        read_hits: counts.read_hits,
        trimmed: counts.trimmed,
        destaged: counts.destaged,
        journal_records: of_journal(counts.journal_records),
        journal_forced: of_journal(counts.journal_forced),
    })
}

fn host_memory(config: &Config, ledger: &Ledger) -> Option<HostMemoryReport> {
    let Settings { device, energy, .. } = config.ssd();
    let [read_bytes, written_bytes] = ledger.host_memory_bytes;
    let energy_j = price::host_memory_j(ledger, energy);
    device.host_memory.as_ref().map(|_| HostMemoryReport { read_bytes, written_bytes, energy_j })
}

impl AccountingTotals {
    pub(crate) fn new(totals_j: [f64; IdleAccounting::ALL.len()]) -> Self {
        let [always_on, flash_off, busy_only, busy_or_loading] = totals_j;
        AccountingTotals { always_on, flash_off, busy_only, busy_or_loading }
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
    let row = |name: &str, of: &PerCause| {
        let ns = |&cause: &Cause| (cause.name().to_string(), of[cause as usize]);
        (name.to_string(), Cause::ALL.iter().filter(|&&cause| ledger.reports(cause)).map(ns).collect())
    };
    let die_states = DieState::ALL.iter().filter(|&&state| ledger.reports_state(state));
    let extra_states = ExtraState::ALL.iter().filter(|&&state| ledger.extra_state_ns(state) > 0);
    LedgerReport {
        dies: ledger.dies,
        die_ns: die_states.map(|state| row(state.name(), &ledger.die_ns[*state as usize])).collect(),
        extra_ns: extra_states.map(|state| row(state.name(), &ledger.extra_ns[*state as usize])).collect(),
        elapsed_ns: Elapsed {
            busy: ledger.busy_ns(),
            array: ledger.elapsed_ns[Phase::Array as usize],
            outstanding: ledger.elapsed_ns[Phase::Outstanding as usize],
            quiet: ledger.elapsed_ns[Phase::Quiet as usize],
        },
        transfer_die_ns: ledger.transfer_die_ns,
        dram_op_ns: ledger.dram_op_ns,
        map_accesses: ledger.map_accesses,
        host_interface_ns: ledger.host_interface_ns,
        host_memory_bytes: ledger.host_memory_bytes,
    }
}
