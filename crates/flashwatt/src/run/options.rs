//! What a run records and checks besides its figures.

use std::path::PathBuf;

use super::Partner;
use crate::config::{Config, Span};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::units::Nanos;
use flashwatt_core::energy::Series;
use flashwatt_core::energy::bins::{BINS_MAX, Bins};
use flashwatt_core::energy::edges::{CurrentEdges, EDGES_MAX, Edges};
use flashwatt_host::Depths;

/// Options of a run besides its configuration. None of them changes a figure.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The file for the operation log, by the rules of [`flashwatt_base::output`].
    pub op_log: Option<PathBuf>,
    /// The file for the log of the host's requests, by the same rules.
    pub request_log: Option<PathBuf>,
    /// The file for the requests as the workload sends them, as a trace of the format `csv`; by the same rules.
    pub capture: Option<PathBuf>,
    /// The file for the requests as the host's block layer gave them to the drive, as a trace of the format `csv`; by the same
    /// rules.
    pub dispatch_log: Option<PathBuf>,
    /// Let a log replace a file that is not such a log.
    pub force: bool,
    /// Record power over time in bins of this length in ns; 0: a length that gives 1,000 to 2,000 bins.
    pub series_interval_ns: Option<Nanos>,
    /// Record every edge of the drive's current in the measured window, from the first of these simulated times (in ns)
    /// to before the second.
    pub edges_ns: Option<(Nanos, Nanos)>,
    /// Report the histogram of latencies as well.
    pub latency_histogram: bool,
    /// A file with the start state of this configuration, as [`crate::age()`] saves it ([`crate::shared_start()`] says for whom). The
    /// report is that of a run which lays down its own; so does a run that cannot read the file.
    pub start_state: Option<PathBuf>,
    /// Keep a second account of the content of every page, and stop at the first difference ([`flashwatt_ssd::observe::check`]). Slow.
    pub check: bool,
    /// Another run in step with this one ([`super::run_against`] ties them).
    pub partner: Option<Partner>,
}

impl RunOptions {
    /// The recording over time that the options ask for, if any.
    pub fn series(&self) -> Option<Box<Series>> {
        let bins = self.series_interval_ns.map(|ns| match ns {
            0 => Bins::new(AUTOMATIC_START_NS, Some(AUTOMATIC_BINS)),
            ns => Bins::new(ns, None),
        });
        let edges = self.edges_ns.map(|(from, until)| Edges::new(from, until));
        (bins.is_some() || edges.is_some()).then(|| Box::new(Series::new(bins, edges)))
    }

    /// The recording of the host's queue over time that the options ask for, if any.
    pub(super) fn depths(&self) -> Option<Depths> {
        self.series_interval_ns.map(|ns| match ns {
            0 => Depths::new(AUTOMATIC_START_NS, Some(AUTOMATIC_BINS)),
            ns => Depths::new(ns, None),
        })
    }

    /// Refuses recordings that are impossible in every run, or in this one.
    pub(super) fn check(&self, config: &Config) -> Result<(), Error> {
        if !config.run.replay.is_timed() {
            self.check_untimed()?;
        }
        if self.dispatch_log.is_some() && config.host.is_none() {
            let fault =
                Fault::key("dispatch_log", "nothing dispatches requests").found("a configuration without [host]");
            return Err(fault.expected("a block layer, or --capture: the drive takes requests as they come").into());
        }
        self.check_kind(config)?;
        if let Some((from, until)) = self.edges_ns
            && from >= until
        {
            let fault = Fault::key("edges", "an empty window").found(format!("from {from} ns until {until} ns"));
            return Err(Error::from(fault.expected("a window that ends after it begins")));
        }
        match (self.series_interval_ns, config.run.measure.span) {
            (Some(ns @ 1..), Span { requests: None, ns: Some(run_ns) }) if run_ns.div_ceil(ns) > BINS_MAX => {
                Err(too_many_bins(ns, &format!("{run_ns} ns")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what only one SSD has.
    fn check_kind(&self, config: &Config) -> Result<(), Error> {
        if config.drive.ssd().is_some() {
            return Ok(());
        }
        let edges = self.edges_ns.is_some() && config.drive.array().is_some();
        let asked = [("op_log", self.op_log.is_some()), ("check", self.check), ("edges", edges)];
        match asked.into_iter().find(|(_, is_asked)| *is_asked) {
            None => Ok(()),
            Some((what, _)) => Err(needs_an_ssd(what, config)),
        }
    }

    /// Refuses recordings of times in a run that has none.
    fn check_untimed(&self) -> Result<(), Error> {
        let asked = [
            ("series", self.series_interval_ns.is_some()),
            ("edges", self.edges_ns.is_some()),
            ("op_log", self.op_log.is_some()),
            ("request_log", self.request_log.is_some()),
            ("capture", self.capture.is_some()),
            ("check", self.check),
        ];
        match asked.into_iter().find(|(_, is_asked)| *is_asked) {
            None => Ok(()),
            Some((what, _)) => Err(needs_a_clock(what)),
        }
    }

    /// The error of a recording that exceeds its storage.
    pub(super) fn overflow(&self, series: &Series) -> Error {
        match (&series.bins, self.edges_ns) {
            (Some(bins), _) if let Some(most) = bins.full_at() => {
                let fault = Fault::key("series", "power over time needs more memory than there is");
                let fault = fault.found(format!("room for {most} bins of {} ns", bins.interval_ns()));
                fault
                    .expected("fewer bins: a longer interval, or none, which suits itself to the run; or more memory")
                    .into()
            }
            (Some(bins), _) if bins.overflowed() => {
                too_many_bins(bins.interval_ns(), &format!("more than {BINS_MAX} times that"))
            }
            (_, window) => {
                let (from, until) = window.unwrap_or_default();
                let fault = Fault::key("edges", "too many edges of the current")
                    .found(format!("more than {EDGES_MAX} {}", window_words(from, until)))
                    .expected(format!("at most {EDGES_MAX}"));
                Error::from(fault.help("record a shorter window, or bins of a series"))
            }
        }
    }
}

/// A window in words, for messages. `until` at its maximum means the end of the run.
fn window_words(from: Nanos, until: Nanos) -> String {
    match until {
        Nanos::MAX => format!("from {from} ns until the end of the run"),
        _ => format!("from {from} ns until {until} ns"),
    }
}

/// A window of edges without any measured time is an error: its times are wrong, or the run ended before it.
pub(super) fn missed(edges: &CurrentEdges, (from, until): (Nanos, Nanos), measured: (Nanos, Nanos)) -> Option<String> {
    let window = window_words(from, until);
    let what = format!(
        "edges: none were recorded {window}: what was measured lasts from {} ns until {} ns",
        measured.0, measured.1
    );
    edges.time_ns.is_empty().then_some(what)
}

/// What cannot be had of another drive than an SSD.
pub(crate) fn needs_an_ssd(what: &str, config: &Config) -> Error {
    let fault = Fault::key(what, "only of an SSD").found(config.drive.kind());
    Error::from(fault.expected("one SSD: a configuration without [hdd] and [array]"))
}

/// What ignores the power cuts of a configuration, and so refuses them.
pub(crate) fn is_not_cut(what: &str) -> Error {
    let fault = Fault::key("run.power_cuts", "its power is not cut").found(what);
    Error::from(fault.expected("a run of the configuration's own drive and workload, or no such table"))
}

/// What cannot be had in a run without a clock.
pub(crate) fn needs_a_clock(what: &str) -> Error {
    let fault = Fault::key(what, "needs a clock").found("a run with run.replay = \"flashsim\", which has none");
    Error::from(fault.expected("run.replay = \"timed\", or a run without it"))
}

fn too_many_bins(interval_ns: Nanos, run: &str) -> Error {
    let fault = Fault::key("series", "too many bins")
        .found(format!("bins of {interval_ns} ns over {run}"))
        .expected(format!("at most {BINS_MAX} bins"));
    Error::from(fault.help("record longer bins, or leave their length to the run"))
}

/// Largest number of bins of an automatic series at the end of a run; the least is half of it.
const AUTOMATIC_BINS: usize = 2_000;
/// Length of an automatic series' bins at the start of a run, in ns.
const AUTOMATIC_START_NS: Nanos = 1_000;
