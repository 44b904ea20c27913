//! The result of a run: what `report.json` holds. Versioned; the engine prints nothing.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::config::Config;
use crate::precision::PrecisionReport;
use crate::snapshot::Identity;
use flashwatt_base::stats::{Bars, Latency};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{SourceKind, Workload};
use flashwatt_core::energy::Accounts;
use flashwatt_core::energy::bins::PowerSeries;
use flashwatt_core::energy::edges::CurrentEdges;
use flashwatt_core::energy::meter::WINDOWS_NS;
use flashwatt_core::energy::parts::{ComponentEnergies, PartTimes};
use flashwatt_core::energy::window::Window;
use flashwatt_core::kernel::{Completed, End, Outcome};
use flashwatt_files::FileWorkload;
use flashwatt_ssd::energy::activity::ActivitySeries;

pub mod array;
pub mod array_lifetime;
pub(crate) mod audit;
mod balance;
mod counts;
mod doubts;
pub mod files;
pub mod hdd;
pub mod host;
pub mod lifetime;
mod of_devices;
mod origins;
mod outside;
mod power_cuts;
mod replay;
mod reported;
pub(crate) mod reprice;
mod spare;
pub mod ssd;

pub use array::ArrayReport;
pub use doubts::Doubt;
pub use files::FilesReport;
pub use hdd::HddReport;
pub use host::HostReport;
pub use origins::{OriginReport, Rates};
pub(crate) use outside::{OUTSIDE, outside};
pub use power_cuts::{CutSpread, PowerCutsReport};
pub use replay::ReplayReport;
pub use reported::{Recorded, Reported};
pub use spare::SpareReport;
pub use ssd::SsdReport;

/// The version of the report format. It rises when a key changes its meaning or disappears; new keys alone do not raise
/// it.
///
/// 2: `flash.write_amplification` counts bytes of the host; currents are stated at one voltage; a counted drain belongs to all figures.
///
/// 3: `energy_total_j.busy_only` charges only time with array work; what it was is `busy_or_loading`. The ledger has
/// `transfer_die_ns` and `elapsed_ns.array`, which repricing needs.
pub const SCHEMA: u32 = 3;

/// A report. Times in ns unless the key says otherwise, energies in J, powers in W, currents in mA.
///
/// Its JSON is one table: the keys of [`Sections`] stand among the others.
#[derive(Clone, Debug)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of FlashWatt.
    pub version: &'static str,
    /// `complete`, `interrupted`, `stopped: ` with the budget that was reached, or `failed: ` with the reason.
    pub status: String,
    /// Warnings: records skipped or folded, figures that do not apply.
    pub warnings: Vec<String>,
    /// Figures that are not steady, and why.
    pub not_steady: Vec<Doubt>,
    /// The whole configuration, every default filled in.
    pub config: Config,
    /// SHA-256 of the configuration.
    pub config_sha256: String,
    /// Seed of every random draw.
    pub seed: u64,
    /// The snapshot that the drive was restored from, if any.
    pub snapshot: Option<Identity>,
    /// The requests in the measured window.
    pub workload: WorkloadReport,
    /// The measured window, warm-up and drain.
    pub window: WindowReport,
    /// Figures of a run without a clock; none for others. A report with these has no figure of time or energy: in its JSON the
    /// sections of those are null, and their fields here have no meaning.
    pub replay: Option<ReplayReport>,
    /// From a request's arrival to its completion.
    pub latency_ns: LatencyReport,
    /// Figures by origin; none if all requests had one origin.
    pub origins: Option<Vec<OriginReport>>,
    /// The file system and the operations on it; none unless the workload is `files`.
    pub files: Option<Box<FilesReport>>,
    /// The host's block layer; none without `[host]`.
    pub host: Option<Box<HostReport>>,
    /// Requests over time.
    pub throughput: Throughput,
    /// The device's own sections.
    pub device: Sections,
    /// Work per energy.
    pub efficiency: Efficiency,
    /// Power in W.
    pub power_w: Power,
    /// Current in mA.
    pub current_ma: Current,
    /// Power cuts of copies of the drive; none unless the configuration asks for them.
    pub power_cuts: Option<Box<PowerCutsReport>>,
    /// Total energy in J as the integral of the drive's power over time: a second path to `energy_j.total`.
    pub energy_integral_j: f64,
    /// How well the figures are known that `run.measure.precision` asks for; none without it.
    pub precision: Option<PrecisionReport>,
    /// Power over time, if requested.
    pub series: Option<PowerSeries<ActivitySeries>>,
    /// Every edge of the current in a window of time, if requested.
    pub edges: Option<CurrentEdges>,
    /// The histograms of latencies, if requested.
    pub latency_histogram: Option<LatencyHistogram>,
}

/// A device's part of a report.
#[derive(Clone, Debug)]
pub struct DeviceReport {
    /// The voltage in mV that currents are stated at.
    pub supply_mv: u32,
    /// Warnings about these figures.
    pub warnings: Vec<String>,
    /// Figures that are not steady, and why.
    pub not_steady: Vec<Doubt>,
    /// Its own sections.
    pub sections: Sections,
    /// The block layer before it, if there is one.
    pub host: Option<Box<HostReport>>,
    /// Its own part of the histogram of latencies.
    pub latency_histogram: LatencyHistogram,
}

/// The sections of a report that depend on the kind of the device.
#[derive(Clone, Debug)]
pub enum Sections {
    /// Of an SSD.
    Ssd(Box<SsdReport>),
    /// Of a hard disk.
    Hdd(Box<HddReport>),
    /// Of an array of drives.
    Array(Box<ArrayReport>),
    /// Of a device that declares only its parts.
    ReportInput(PartsReport),
}

/// The sections of a device that declares only its parts.
#[derive(Clone, Debug)]
pub struct PartsReport {
    /// Energy in J, by component.
    pub energy_j: ComponentEnergies,
}

impl DeviceReport {
    /// The sections of a device that keeps [`Accounts`] only.
    pub fn of_accounts(accounts: &Accounts, config: &Config, outcome: &Outcome<PartTimes>) -> Self {
        let (counted, _) = outcome.counted(config.run.count_drain);
        let energy_j = accounts.energies(&counted.figures);
        DeviceReport {
            supply_mv: accounts.parts().supply_mv(),
            warnings: Vec::new(),
            not_steady: Vec::new(),
            sections: Sections::ReportInput(PartsReport { energy_j }),
            host: None,
            latency_histogram: LatencyHistogram::default(),
        }
    }
}

/// Serializes entries of a map under the names of the fields.
macro_rules! entries {
    ($map:ident, $of:expr, $($key:ident),+ $(,)?) => { $($map.serialize_entry(stringify!($key), &$of.$key)?);+ };
}

/// As `entries!`, for figures of time and energy: a run without a clock has none.
macro_rules! timed_entries {
    ($map:ident, $is_timed:expr, $of:expr, $($key:ident),+ $(,)?) => {
        $($map.serialize_entry(stringify!($key), &$is_timed.then_some(&$of.$key))?);+
    };
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let timed = self.replay.is_none();
        entries!(map, self, schema, version, status, warnings);
        if !self.not_steady.is_empty() {
            entries!(map, self, not_steady);
        }
        entries!(map, self, config, config_sha256, seed);
        if self.snapshot.is_some() {
            entries!(map, self, snapshot);
        }
        entries!(map, self, workload, window);
        if self.replay.is_some() {
            entries!(map, self, replay);
        }
        timed_entries!(map, timed, self, latency_ns);
        if self.origins.is_some() {
            entries!(map, self, origins);
        }
        if self.files.is_some() {
            entries!(map, self, files);
        }
        if self.host.is_some() {
            entries!(map, self, host);
        }
        timed_entries!(map, timed, self, throughput);
        match &self.device {
            Sections::Ssd(ssd) => {
                entries!(map, ssd, flash, spare, wear);
                timed_entries!(map, timed, ssd, lifetime);
                entries!(map, ssd, ftl, gc, write_buffer);
                if ssd.host_memory.is_some() {
                    entries!(map, ssd, host_memory);
                }
                timed_entries!(map, timed, ssd, energy_j, energy_by_cause_j, energy_total_j);
            }
            other => other.serialize_into(&mut map)?,
        }
        timed_entries!(map, timed, self, efficiency, power_w, current_ma);
        if let Sections::Ssd(ssd) = &self.device {
            timed_entries!(map, timed, ssd, parallelism);
        }
        timed_entries!(map, timed, self, energy_integral_j);
        if let Sections::Ssd(ssd) = &self.device {
            timed_entries!(map, timed, ssd, ledger, drain_ledger);
        }
        if self.power_cuts.is_some() {
            entries!(map, self, power_cuts);
        }
        if self.precision.is_some() {
            entries!(map, self, precision);
        }
        if self.series.is_some() {
            entries!(map, self, series);
        }
        if self.edges.is_some() {
            entries!(map, self, edges);
        }
        if self.latency_histogram.is_some() {
            entries!(map, self, latency_histogram);
        }
        map.end()
    }
}

impl Sections {
    /// Adds all entries of a timed run, one after the other.
    fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Sections::Ssd(ssd) => {
                entries!(map, ssd, flash, spare, wear, lifetime, ftl, gc, write_buffer);
                if ssd.host_memory.is_some() {
                    entries!(map, ssd, host_memory);
                }
                entries!(map, ssd, energy_j, energy_by_cause_j);
                entries!(map, ssd, energy_total_j, parallelism, ledger, drain_ledger);
            }
            Sections::Hdd(disk) => {
                entries!(map, disk, hdd, energy_j);
            }
            Sections::Array(of) => {
                entries!(map, of, array, members, energy_j);
            }
            Sections::ReportInput(parts) => {
                entries!(map, parts, energy_j);
            }
        }
        Ok(())
    }
}

/// The sections of a device alone: of a member of an array.
impl Serialize for Sections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.serialize_into(&mut map)?;
        map.end()
    }
}

/// The requests in the measured window.
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

/// The measured window, warm-up and drain.
#[derive(Clone, Debug, Serialize)]
pub struct WindowReport {
    /// Requests that completed before the counters started.
    pub warmup: u64,
    /// Requests that completed in the window.
    pub measured: u64,
    /// Simulated seconds of the drain after the window; none without a clock.
    pub drain_s: Option<f64>,
    /// Requests that completed in the drain.
    pub drained: u64,
    /// Whether the drain belongs to the window. If so, all other sections cover both as one.
    pub drain_counted: bool,
    /// Energy of the drain in J; none without a clock.
    pub drain_energy_j: Option<f64>,
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
    /// Of flushes; none if none completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<Latency>,
}

impl LatencyReport {
    fn new(done: &Completed) -> Self {
        LatencyReport {
            all: done.all().summary(),
            read: done.reads.summary(),
            write: done.writes.summary(),
            flush: (done.flushes > 0).then(|| done.flush_times.summary()),
        }
    }
}

/// Histograms of latencies, from which the quantiles of [`LatencyReport`] and [`ssd::MapLatencyReport`] are computed. The
/// bins of a kind that did not occur are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LatencyHistogram {
    /// Reads of the host, from arrival to completion.
    pub read: Bars,
    /// Writes of the host, from arrival to completion.
    pub write: Bars,
    /// Flushes of the host, from arrival to completion; none if none completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<Bars>,
    /// Reads of translation pages, from planning to end.
    pub map_read: Bars,
    /// Writes of all copies of a translation page, from planning to the end of the first copy.
    pub map_write_first: Bars,
    /// Writes of all copies of a translation page, from planning to the end of the last copy.
    pub map_write_last: Bars,
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

/// Hours of a month: a twelfth of 365.25 days.
pub const MONTH_H: f64 = 730.5;

/// Work per energy.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Efficiency {
    pub mb_per_j: Option<f64>,
    pub j_per_gb: Option<f64>,
    /// Energy in J of 10^12 bytes read and written.
    pub j_per_tb: Option<f64>,
    /// All energy in J, that of reads and of idling included, of 10^12 bytes written.
    pub j_per_tb_written: Option<f64>,
    pub iops_per_w: Option<f64>,
    /// Energy in kWh of a month of [`MONTH_H`] hours, if the window repeats without a pause.
    pub kwh_per_month: Option<f64>,
}

/// Power in W. The figure of a window is the greatest mean over windows of that length, laid end to end from the start
/// of the measured window; none if that is shorter. Figures that depend on overlaps are none after repricing.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Power {
    pub mean: f64,
    pub peak: Option<f64>,
    pub max_100us: Option<f64>,
    pub max_1s: Option<f64>,
}

/// The drive's current in mA: its power divided by one voltage. Currents of parts at different voltages cannot be
/// added.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Current {
    /// Voltage in V of these currents: the supply of `energy.mode = "terminal"`, else the highest voltage of a part
    /// that draws current.
    pub supply_v: f64,
    pub mean: f64,
    pub peak: Option<f64>,
    /// For how long the current was at its peak, in ns.
    pub time_at_peak_ns: Option<Nanos>,
}

/// The inputs of a report.
pub(crate) struct ReportInput<'a> {
    pub config: &'a Config,
    pub workload: &'a dyn Workload,
    pub outcome: Outcome<()>,
    /// The device's part.
    pub of_device: DeviceReport,
    /// Energy in J of the window of the figures, and of the drain.
    pub total_j: f64,
    pub drain_j: f64,
    pub series: Option<PowerSeries<ActivitySeries>>,
    pub edges: Option<CurrentEdges>,
    pub latency_histogram: bool,
    pub warnings: Vec<String>,
    pub snapshot: Option<Identity>,
    pub precision: Option<PrecisionReport>,
}

impl Report {
    pub(crate) fn new(parts: ReportInput) -> Report {
        let ReportInput { config, workload, outcome, of_device, total_j, drain_j, series, edges, .. } = parts;
        let ReportInput { latency_histogram, mut warnings, snapshot, precision, .. } = parts;
        let (counted, done) = outcome.counted(config.run.count_drain);
        let DeviceReport { supply_mv, sections, host, latency_histogram: histogram, mut not_steady, .. } = of_device;
        let replay = ReplayReport::new(config, &done, &sections);
        warnings.extend(replay.as_ref().map(ReplayReport::reason));
        let window = window_report(&outcome, drain_j, config);
        warnings.extend(workload.warnings());
        warnings.extend(of_device.warnings);
        let origins =
            origins::report(&workload.origins(), &done, seconds(counted.elapsed_ns())).filter(|_| replay.is_none());
        warnings.extend(origins.as_deref().and_then(origins::others));
        let host_settings = config.host.iter();
        warnings.extend(host_settings.flat_map(|host| origins::unused_priorities(host, &workload.origins(), &outcome)));
        let scheduled = config.host.iter().zip(&host);
        let undecided =
            scheduled.filter_map(|(host, figures)| figures.decided_nothing(host.scheduler.entry.build.decides));
        warnings.extend(undecided.filter(|_| replay.is_none()));
        warnings.extend(fewer_than_asked(config, &outcome));
        warnings.extend(deeper_than_the_drive(config));
        warnings.extend(took_no_time(&counted, &done));
        let latency_ns = LatencyReport::new(&done);
        let overload = overloaded(config, outcome.counted_ns(config.run.count_drain), &done, &latency_ns.all);
        not_steady.extend(overload.iter().map(|_| Doubt::new("requests arrived faster than served", &[&OF_QUEUES])));
        warnings.extend(overload);
        warnings.extend(outside(total_j, drain_j, window.drain_counted));
        let throughput = throughput(&counted, &done);
        let mean_w = if throughput.simulated_s > 0.0 { total_j / throughput.simulated_s } else { 0.0 };
        let reading = counted.reading.clone().unwrap_or_default();
        let flush = (done.flushes > 0).then(|| done.flush_times.bars());
        let histogram = LatencyHistogram { read: done.reads.bars(), write: done.writes.bars(), flush, ..histogram };
        Report {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            status: status(&outcome.end),
            warnings,
            not_steady,
            snapshot,
            config_sha256: config.sha256(),
            seed: config.run.seed,
            workload: workload_report(workload, &done),
            window,
            replay,
            latency_ns,
            files: files(workload, total_j),
            host,
            origins,
            device: sections,
            efficiency: Efficiency::new([done.read_bytes, done.write_bytes], total_j, mean_w, &throughput),
            power_w: Power {
                mean: mean_w,
                peak: reading.peak_w(),
                max_100us: reading.window_w[0],
                max_1s: reading.window_w[1],
            },
            current_ma: Current {
                supply_v: supply_v(supply_mv),
                mean: mean_w * 1e6 / f64::from(supply_mv),
                peak: reading.peak.map(|peak| peak.nw as f64 / f64::from(supply_mv) / 1e3),
                time_at_peak_ns: reading.at_peak_ns,
            },
            power_cuts: None,
            precision,
            energy_integral_j: reading.energy_j,
            throughput,
            series,
            edges,
            latency_histogram: latency_histogram.then_some(histogram),
            config: config.clone(),
        }
    }

    /// The sections of an SSD.
    ///
    /// # Panics
    /// If the device is not an SSD.
    pub fn ssd(&self) -> &SsdReport {
        match &self.device {
            Sections::Ssd(ssd) => ssd,
            _ => panic!("the report of a device that is no SSD"),
        }
    }
}

impl Report {
    /// Adds a fault outside the figures: a complete run becomes failed, any other run gets a warning.
    pub(crate) fn fail(&mut self, what: &str) {
        if self.status == "complete" {
            self.status = format!("failed: {what}");
        } else {
            self.warnings.push(what.to_string());
        }
    }
}

/// The section of the file system, if the workload has one.
fn files(workload: &dyn Workload, energy_j: f64) -> Option<Box<FilesReport>> {
    let files = workload.known()?.downcast_ref::<FileWorkload>()?;
    Some(Box::new(FilesReport::new(files, energy_j)))
}

/// The voltage in V that currents are stated at.
pub(crate) fn supply_v(supply_mv: u32) -> f64 {
    f64::from(supply_mv) / 1e3
}

fn status(end: &End) -> String {
    match end {
        End::Complete => "complete".into(),
        End::Interrupted => "interrupted".into(),
        End::OutOfBudget(operations) => format!("stopped: operation budget of {operations} reached"),
        End::Failed(error) => format!("failed: {error}"),
    }
}

/// The workload ended before all requests of the measured window.
fn fewer_than_asked(config: &Config, outcome: &Outcome<()>) -> Option<String> {
    let (asked, measured) = (config.run.measure.span.requests?, outcome.completed.requests());
    let ended_early = matches!(outcome.end, End::Complete)
        && measured < asked
        && config.run.measure.span.ns.is_none()
        && config.run.measure.precision.is_none();
    let is_synthetic = matches!(config.workload, crate::config::Workload::Synthetic(_));
    let help =
        if is_synthetic { " (`requests` of its table sets their number: workload.uniform.requests, …)" } else { "" };
    ended_early
        .then(|| format!("the workload ended after {measured} of the {asked} requests that were to be measured{help}"))
}

/// A closed loop that never has as many requests under way as it asks for: the drive has no room for them. Not of an array: the
/// default depth of its workload is that of whole members of one preset, and a degraded or a mixed array has less room.
fn deeper_than_the_drive(config: &Config) -> Option<String> {
    let crate::config::Workload::Synthetic(synthetic) = &config.workload else { return None };
    let crate::config::Arrivals::Closed { queue_depth } = synthetic.arrivals else { return None };
    let room = u64::from(config.drive.queue_depth()?);
    let asked = u64::from(queue_depth) * u64::from(synthetic.processes.max(1));
    (config.host.is_none() && asked > room).then(|| {
        format!(
            "the workload asks for {asked} requests under way, and the drive accepts {room}: that many are under way (requests \
             wait in a queue of the host with [host])"
        )
    })
}

/// A window without length has no rates: the drive took requests in no time, as one without a host link does into its buffer.
fn took_no_time(counted: &Window<()>, done: &Completed) -> Option<String> {
    (counted.elapsed_ns() == 0 && done.requests() > 0).then(|| {
        "the measured window has no length: its rates, power and energy are 0 and say nothing (device.host_link.bandwidth_mb_s \
         lets requests take time, and run.count_drain = true measures until all work is done)"
            .to_string()
    })
}

/// Figures that grow with the length of a run while requests arrive faster than they are served.
const OF_QUEUES: [&str; 3] = ["latency_ns", "origins", "host"];

/// Nothing is said about overload of a run with fewer requests.
const OVERLOAD_REQUESTS_MIN: u64 = 100;
/// Of fewer requests than this a tenth may wait though the drive keeps up: the last one must have waited longer than the mean, too.
const OVERLOAD_MANY: u64 = 1_000;
/// A backlog that grows makes the last request wait twice as long as the mean; one that does not, as long as the mean.
const GROWING_MIN: f64 = 1.4;
/// A drive that has nothing to do for more than this share of the window works off what arrives.
const IDLE_MAX: f64 = 0.05;
/// A drive in which more than this share of the run's requests wait on average is overloaded.
const OVERLOAD_MIN: f64 = 0.1;

/// Requests that arrive at times of their own, faster than the drive serves them. By Little's law mean latency / duration is the share
/// of the run's requests that were waiting or in service on average.
fn overloaded(
    config: &Config,
    (start_ns, end_ns): (Nanos, Nanos),
    done: &Completed,
    latency: &Latency,
) -> Option<String> {
    use crate::config::{Arrivals, Workload};
    let has_own_times = match &config.workload {
        Workload::Synthetic(synthetic) => matches!(synthetic.arrivals, Arrivals::Open(_)),
        Workload::Trace(_) | Workload::Standin(_) => config.run.replay.is_timed(),
        _ => false,
    };
    let elapsed_ns = (end_ns - start_ns) as f64;
    let (mean, span) = (latency.mean?, done.span_ns);
    let share = mean / elapsed_ns;
    // Before the first arrival, between requests, and after the last completion. A request of before the window began has no idle time
    // before it.
    let idle_ns = done.idle_ns.saturating_sub(span.start.min(start_ns)) + end_ns.saturating_sub(span.end);
    let keeps_up = idle_ns as f64 > IDLE_MAX * elapsed_ns;
    let grows = latency.count >= OVERLOAD_MANY || (span.end - done.latest_ns) as f64 > GROWING_MIN * mean;
    let seen = latency.count >= OVERLOAD_REQUESTS_MIN && share > OVERLOAD_MIN && grows && !keeps_up;
    (has_own_times && seen).then(|| {
        format!(
            "requests arrived faster than the drive served them: {:.0} of {} were waiting on average, and latency is that of \
             the queue",
            share * latency.count as f64,
            latency.count
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

fn window_report(outcome: &Outcome<()>, drain_energy_j: f64, config: &Config) -> WindowReport {
    let timed = |figure: f64| config.run.replay.is_timed().then_some(figure);
    WindowReport {
        warmup: outcome.warmup.requests(),
        measured: outcome.completed.requests(),
        drain_s: timed(outcome.drain.as_ref().map_or(0.0, |drain| seconds(drain.elapsed_ns()))),
        drained: outcome.drained.requests(),
        drain_counted: config.run.count_drain,
        drain_energy_j: timed(drain_energy_j),
        flash_ops: outcome.flash_operations,
    }
}

fn throughput(counted: &Window<()>, done: &Completed) -> Throughput {
    let simulated_s = seconds(counted.elapsed_ns());
    let Rates { iops, read_mb_s, write_mb_s } = Rates::new(done, simulated_s);
    Throughput { simulated_s, iops, read_mb_s, write_mb_s }
}

impl Efficiency {
    /// The efficiency of a window, from the bytes that were read and written in it.
    pub(crate) fn new([read, written]: [u64; 2], joules: f64, mean_w: f64, throughput: &Throughput) -> Self {
        let mb = (read + written) as f64 * 1e-6;
        let has_time = throughput.simulated_s > 0.0;
        let per_tb = |bytes: u64| (has_time && bytes > 0).then(|| joules / (bytes as f64 * 1e-12));
        Efficiency {
            mb_per_j: (joules > 0.0).then(|| mb / joules),
            j_per_gb: (has_time && mb > 0.0).then(|| joules / mb * 1e3),
            j_per_tb: per_tb(read + written),
            j_per_tb_written: per_tb(written),
            iops_per_w: (mean_w > 0.0).then(|| throughput.iops / mean_w),
            kwh_per_month: (mean_w > 0.0).then_some(mean_w * 1e-3 * MONTH_H),
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

const _: () = assert!(WINDOWS_NS[0] == 100_000 && WINDOWS_NS[1] == 1_000_000_000, "the keys of Power say so");
