//! A run audits itself at its end: two independent accounts of one quantity must agree. If they disagree, the run has
//! failed.
//!
//! Each check costs a few sums over existing counters. Only the number of arrived requests is counted for the audit
//! alone.

use crate::config::Config;
use crate::report::Reported;
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::units::Nanos;
use flashwatt_core::energy::bins::PowerSeries;
use flashwatt_core::energy::meter::Reading;
use flashwatt_core::energy::window::{Figures, Window};
use flashwatt_core::kernel::{Completed, End, Outcome};
use flashwatt_host::{HostFigures, Hosted, KindFigures};
use flashwatt_ssd::energy::activity::ActivitySeries;
use flashwatt_ssd::energy::ledger::{Ledger, Phase};
use flashwatt_ssd::energy::price::{Priced, price};
use flashwatt_ssd::energy::{DieState, ExtraState, PriceTable};
use flashwatt_ssd::observe::accounts::{BufferCounts, SsdFigures};
use flashwatt_ssd::operation::{Cause, OpKind};

/// Largest relative difference between two sums of one energy. Both are sums of integers until the last step.
const TOLERANCE: f64 = 1e-9;

/// Two accounts of one quantity that disagree: the name of the quantity and both figures.
struct Disagreement {
    what: &'static str,
    found: String,
    expected: String,
}

type Check = Result<(), Disagreement>;

/// Compares the accounts that a run of every device has. `series` is the power over time, if it was recorded.
///
/// # Errors
/// If two of them disagree.
pub(crate) fn audit<D: Reported>(
    device: &D,
    config: &Config,
    outcome: &Outcome<D::Figures>,
    series: Option<&PowerSeries<ActivitySeries>>,
) -> Result<(), Error> {
    energy(device, config, outcome)?;
    let windows = [Some(&outcome.measured), outcome.drain.as_ref()].into_iter().flatten();
    let peak_w = windows.filter_map(|window| window.reading.as_ref()).next().and_then(Reading::peak_w);
    let last = [&outcome.warmed, &outcome.measured].into_iter().chain(&outcome.drain).map(|window| window.end_ns).max();
    series.map_or(Ok(()), |series| check_series(series, peak_w))?;
    let stages = [&outcome.warmup, &outcome.completed, &outcome.drained];
    check_requests(stages, last.unwrap_or(0))?;
    if matches!(outcome.end, End::Complete) {
        let ended = stages.iter().map(|done| done.requests()).sum::<u64>() + outcome.lost;
        equal("requests that completed, or were lost with the power", ended, outcome.taken)?;
    }
    Ok(())
}

/// Compares the accounts of energy, and those that only this kind of device has.
///
/// # Errors
/// If two of them disagree.
pub(crate) fn energy<D: Reported>(device: &D, config: &Config, outcome: &Outcome<D::Figures>) -> Result<(), Error> {
    device.audit(config, outcome)?;
    for window in read_windows(outcome) {
        let Some(reading) = &window.reading else { continue };
        check_energy(reading, device.energy_j(config, &window.figures))?;
        check_power(reading, window.elapsed_ns())?;
    }
    Ok(())
}

/// Compares the accounts of an SSD. `erases` is the number that the array counted.
///
/// # Errors
/// If two of them disagree, or if the energy table's rates make a part work longer than the run lasted.
pub(crate) fn ssd(outcome: &Outcome<SsdFigures>, table: &PriceTable, erases: u64) -> Result<(), Error> {
    let windows = read_windows(outcome);
    check_rates(&windows)?;
    let each = windows.iter().try_for_each(|window| check_window(window, table));
    each.and_then(|()| check_flash(outcome, &windows, erases)).map_err(Error::from)
}

/// Compares the accounts of a drive without a clock. `erases` is the number that the array counted.
///
/// # Errors
/// If two of them disagree.
pub(crate) fn untimed(outcome: &Outcome<SsdFigures>, erases: u64) -> Result<(), Error> {
    check_flash(outcome, &read_windows(outcome), erases).map_err(Error::from)
}

/// Compares the accounts of a block layer: what came in has gone out, and the parts of the latencies add up.
///
/// # Errors
/// If two of them disagree.
pub(crate) fn host<F: Figures>(outcome: &Outcome<Hosted<F>>) -> Result<(), Error> {
    let windows = [Some(&outcome.warmed), Some(&outcome.measured), outcome.drain.as_ref()];
    let hosts = windows.into_iter().flatten().map(|window| &window.figures.host);
    let all = hosts.fold(HostFigures::default(), |sum, next| sum.plus(next));
    check_host(outcome, &all).map_err(Error::from)
}

fn check_host<F>(outcome: &Outcome<Hosted<F>>, all: &HostFigures) -> Check {
    let stages = [&outcome.warmup, &outcome.completed, &outcome.drained];
    let sum = |of: fn(&Completed) -> u128| stages.iter().map(|done| of(done)).sum::<u128>();
    let latencies = [sum(|done| done.reads.sum()), sum(|done| done.writes.sum()), sum(|done| done.others.sum())];
    for (kind, latency) in all.kinds.iter().zip(latencies) {
        equal_sums("the time of requests in the host and in the device", kind.slat.sum() + kind.clat.sum(), latency)?;
        equal_sums("the parts of clat", kind.queue.sum() + kind.device.sum(), kind.clat.sum())?;
    }
    if !matches!(outcome.end, End::Complete) {
        return Ok(());
    }
    let total = |of: fn(&KindFigures) -> u64| all.kinds.iter().map(of).sum::<u64>();
    let merged = all.back_merges + all.front_merges + all.joined;
    equal("requests dispatched and merged", total(|kind| kind.dispatched) + merged, total(|kind| kind.pieces))?;
    equal("sectors dispatched", total(|kind| kind.dispatched_sectors), total(|kind| kind.came_sectors))?;
    equal("requests of processes that ended", total(|kind| kind.clat.count()), total(|kind| kind.came))
}

fn equal_sums(what: &'static str, found: u128, expected: u128) -> Check {
    if found == expected {
        return Ok(());
    }
    Err(Disagreement { what, found: found.to_string(), expected: expected.to_string() })
}

impl From<Disagreement> for Error {
    fn from(Disagreement { what, found, expected }: Disagreement) -> Self {
        let fault = Fault::key("run", format!("the run's own accounts disagree: {what}"));
        Error::from(fault.found(found).expected(expected).help("this is a fault of the simulator: please report it"))
    }
}

/// The windows at whose end the meter was read. If the meter read on through the drain, the measured window and the
/// drain are one.
fn read_windows<F: Figures>(outcome: &Outcome<F>) -> Vec<Window<F>> {
    let drain = outcome.drain.iter();
    match &outcome.drain {
        Some(drain) if outcome.measured.reading.is_none() => vec![outcome.warmed.clone(), outcome.measured.plus(drain)],
        _ => [&outcome.warmed, &outcome.measured].into_iter().chain(drain).cloned().collect(),
    }
}

fn equal(what: &'static str, found: u64, expected: u64) -> Check {
    if found == expected {
        return Ok(());
    }
    Err(Disagreement { what, found: found.to_string(), expected: expected.to_string() })
}

fn at_most(what: &'static str, found: f64, most: f64) -> Check {
    if found <= most * (1.0 + TOLERANCE) {
        return Ok(());
    }
    Err(Disagreement { what, found: found.to_string(), expected: format!("at most {most}") })
}

/// The figures of one window of the run.
fn check_window(window: &Window<SsdFigures>, table: &PriceTable) -> Check {
    check_times(window)?;
    check_shares(&price(&window.figures.ledger, table))
}

/// Compares elapsed time by phase with elapsed time by busy dies, and the time of the dies by state with that by busy
/// dies.
fn check_times(window: &Window<SsdFigures>) -> Check {
    let ledger = &window.figures.ledger;
    let (busy_dies_ns, elapsed) = (&ledger.busy_dies_ns, ledger.total_ns());
    equal("elapsed time by what the drive was doing, in ns", elapsed, window.end_ns.wrapping_sub(window.start_ns))?;
    equal("elapsed time by busy dies, in ns", busy_dies_ns.iter().sum(), elapsed)?;
    equal("time with dies busy, in ns", busy_dies_ns.iter().skip(1).sum(), ledger.busy_ns())?;
    let by_count = (0..).zip(busy_dies_ns).fold(0, |sum: u64, (n, &ns): (u64, _)| sum.wrapping_add(n.wrapping_mul(ns)));
    let by_state = DieState::ALL.iter().fold(0, |sum: u64, &state| sum.wrapping_add(ledger.state_ns(state)));
    equal("the dies' work by state, in die-ns", by_state, by_count)?;
    let (array, transfer) = (DieState::ALL.iter().filter(|state| state.is_of_array()), ledger.transfer_die_ns);
    let array = array.map(|&state| ledger.state_ns(state)).sum();
    check_covered("array work in the time with arrays at work", array, ledger, Phase::Array)?;
    check_covered("dies' work in the time with no array at work", transfer, ledger, Phase::Transfer)?;
    at_most("dies' work in the time with no array at work", transfer as f64, (by_state - array) as f64)?;
    ExtraState::ALL.into_iter().try_for_each(|state| check_beside(state, ledger))
}

/// What works beside a die does so while the die's array works: one bus at most, and further planes only of an array in the same operation.
fn check_beside(state: ExtraState, ledger: &Ledger) -> Check {
    let (found, beside) = (ledger.extra_state_ns(state), state.beside().map(|die| ledger.state_ns(die)).sum::<u64>());
    let is_within = if state.is_bus() { found <= beside } else { found == 0 || beside > 0 };
    if is_within {
        return Ok(());
    }
    let (found, expected) = (format!("{found} ns of {}", state.name()), format!("as {beside} ns of arrays allow"));
    Err(Disagreement { what: "work beside a die", found, expected })
}

/// Die-nanoseconds that belong to a phase: at each of its times one die at least, and all dies at most.
fn check_covered(what: &'static str, die_ns: u64, ledger: &Ledger, phase: Phase) -> Check {
    let elapsed = ledger.elapsed_ns[phase as usize];
    let most = elapsed.saturating_mul(ledger.dies.into());
    if (elapsed..=most).contains(&die_ns) {
        return Ok(());
    }
    Err(Disagreement { what, found: format!("{die_ns} die-ns"), expected: format!("{elapsed} to {most}") })
}

/// The sum of the energies by cause does not exceed the total.
fn check_shares(priced: &Priced) -> Check {
    let (total, shared) = (priced.energy_j.total, priced.by_cause.shared);
    if shared < -TOLERANCE * total - 1e-15 {
        let expected = format!("at most the total of {total} J");
        return Err(Disagreement { what: "energy by cause", found: format!("{} J", total - shared), expected });
    }
    Ok(())
}

/// The priced energy of a window and the integral of power over time agree.
fn check_energy(reading: &Reading, total: f64) -> Check {
    let integral = reading.energy_j;
    if (total - integral).abs() <= TOLERANCE * total.abs().max(integral.abs()) + 1e-15 && total.is_finite() {
        return Ok(());
    }
    let (found, expected) = (format!("{total} J"), format!("{integral} J, the integral of power over time"));
    Err(Disagreement { what: "the priced total", found, expected })
}

/// No mean power exceeds the peak.
fn check_power(reading: &Reading, elapsed_ns: u64) -> Check {
    let (Some(peak_w), seconds) = (reading.peak_w(), elapsed_ns as f64 * 1e-9) else { return Ok(()) };
    if seconds > 0.0 {
        at_most("mean power in W", reading.energy_j / seconds, peak_w)?;
    }
    let greatest = reading.window_w.iter().flatten().fold(0.0, |most: f64, &w| most.max(w));
    at_most("the greatest mean power of a stretch in W", greatest, peak_w)
}

/// No bin's mean power exceeds the peak of the window that the series covers.
fn check_series(series: &PowerSeries<ActivitySeries>, peak_w: Option<f64>) -> Check {
    match peak_w {
        Some(peak_w) => at_most("the power of a bin in W", series.highest_w(), peak_w),
        None => Ok(()),
    }
}

/// Every request that completed has a kind, and none took longer than the run until `last`.
fn check_requests(stages: [&Completed; 3], last: Nanos) -> Check {
    let kinds = |done: &&Completed| done.reads.count() + done.writes.count() + done.trims + done.flushes;
    let completed = stages.iter().map(|done| done.requests()).sum();
    equal("requests by kind", stages.iter().map(kinds).sum(), completed)?;
    let longest = stages.iter().filter_map(|done| done.all().summary().max).max().unwrap_or(0);
    at_most("the longest latency in ns", longest as f64, last as f64)
}

/// The counts of the array and of the write buffer agree with the ledger.
fn check_flash(outcome: &Outcome<SsdFigures>, windows: &[Window<SsdFigures>], erases: u64) -> Check {
    let ended = |ledger: &Ledger| Cause::ALL.iter().map(|&cause| ledger.pages(OpKind::Erase, cause)).sum::<u64>();
    equal("erases", windows.iter().map(|window| ended(&window.figures.ledger)).sum(), erases)?;
    if !matches!(outcome.end, End::Complete) {
        return Ok(());
    }
    let buffer = windows.iter().fold(BufferCounts::default(), |sum, window| sum.plus(&window.figures.buffered));
    let left = buffer.coalesced + buffer.trimmed + buffer.destaged + buffer.lost;
    equal("units written into the buffer", buffer.written, left)
}

/// DRAM and the host interface do one job after the other, at the rates of the energy table, and no request waits for
/// them. If a rate is too low for the data of the run, the part is given more work than the run lasted, and the energy of that work
/// needs more than the peak. A run of a few trims may be too short for any rate.
fn check_rates(windows: &[Window<SsdFigures>]) -> Result<(), Error> {
    let mut owed_before = 0.0;
    let mut needs_more_than_peak = |window: &Window<SsdFigures>| {
        let Some(reading) = &window.reading else { return false };
        let given_j = reading.energy_j + reading.owed_j - std::mem::replace(&mut owed_before, reading.owed_j);
        let (peak_w, seconds) = (reading.peak_w().unwrap_or(f64::INFINITY), window.elapsed_ns() as f64 * 1e-9);
        seconds > 0.0 && given_j / seconds > peak_w * (1.0 + TOLERANCE)
    };
    if !windows.iter().any(&mut needs_more_than_peak) {
        return Ok(());
    }
    let sum =
        |ns: &dyn Fn(&SsdFigures) -> u64| windows.iter().map(|window| ns(&window.figures)).fold(0, u64::saturating_add);
    let elapsed = sum(&|figures| figures.ledger.total_ns());
    let link = Some("device.host_link.bandwidth_mb_s lets requests wait for the link");
    let parts = [
        ("energy.host_interface.bandwidth_mb_s", "the host interface", link, sum(&|figures| figures.given_ns[1])),
        ("energy.dram.data_mb_s", "DRAM (by data_mb_s and map_access_ns)", None, sum(&|figures| figures.given_ns[0])),
    ];
    match parts.into_iter().max_by_key(|&(.., ns)| ns).filter(|&(.., ns)| ns > elapsed) {
        None => Ok(()),
        Some((key, part, help, ns)) => {
            let fault = Fault::key(key, "the rate is too low for what the run moved: mean power lies above the peak");
            let found = format!("{ns} ns of work for {part} in a run of {elapsed} ns");
            let fault = fault.found(found).expected("a rate at which the work fits the run, or a longer run");
            Err(Error::from(match help {
                Some(help) => fault.help(help),
                None => fault,
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, load};
    use flashwatt_base::progress::Watch;
    use flashwatt_core::energy::Draw;
    use flashwatt_core::energy::bins::Bins;
    use flashwatt_core::energy::meter::Meter;
    use flashwatt_core::energy::parts::{STATES_MAX, StateId};
    use flashwatt_core::energy::series::Series;
    use flashwatt_core::kernel::Sim;
    use flashwatt_ssd::drive::Ssd;
    use flashwatt_ssd::firmware::Firmware;
    use flashwatt_ssd::nand::{Array, Geometry};
    use flashwatt_ssd::operation::OpClass;
    use flashwatt_workload as workload;

    /// A run with a warm-up, garbage collection, reads and a write buffer; and the drive after it.
    fn run() -> (Config, Outcome<SsdFigures>, Ssd<()>) {
        let sets = [
            "device.preset=limit",
            "device.blocks_per_plane=16",
            "device.channels=2",
            "device.ways=2",
            "device.pages_per_block=16",
            "device.op_ratio=0.6",
            "write_buffer.bytes=65536",
            "workload.uniform.requests=1500",
            "workload.uniform.read_fraction=0.3",
            "run.warmup.requests=300",
            "run.measure.requests=1000",
        ];
        let config = load("", "test", &sets.map(String::from)).expect("a valid configuration");
        let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
        let mut array = Array::new(geometry.clone(), config.ssd().device.nand.program_order);
        let mut firmware = Firmware::new(&config.ssd().ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry);
        let filled = firmware.ftl.fill(&mut firmware.blocks, &mut array, &mut Watch::new(&mut |_| true));
        assert!(filled.is_ok(), "nobody ends it");
        array.reset_wear();
        let mut workload = workload::open(&config.workload, config.logical_bytes(), 1).expect("a synthetic workload");
        let sim = Sim::new(&config.run.stages(), Ssd::new(config.ssd(), firmware, array, None, ()), workload.as_mut());
        let (outcome, ssd) = sim.run(&mut |_| true);
        (config, outcome, ssd)
    }

    /// The result of the audit of a run in which one figure was changed.
    fn verdict(change: impl FnOnce(&mut Outcome<SsdFigures>)) -> Result<(), String> {
        let (config, mut outcome, device) = run();
        change(&mut outcome);
        audit(&device, &config, &outcome, None).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn caught(words: &str, change: impl FnOnce(&mut Outcome<SsdFigures>)) {
        let error = verdict(change).expect_err("the accounts disagree");
        assert!(error.contains(words), "{error}");
    }

    fn reading(outcome: &mut Outcome<SsdFigures>) -> &mut Reading {
        outcome.measured.reading.as_mut().expect("the meter is read at the end of the measured window")
    }

    #[test]
    fn a_run_that_is_right_passes() {
        assert_eq!(verdict(|_| {}), Ok(()));
    }

    #[test]
    fn a_row_of_the_ledger_that_is_withheld_is_missed() {
        caught("the dies' work by state", |outcome| {
            outcome.measured.figures.ledger.die_ns[DieState::Program as usize] = Default::default();
        });
        caught("the priced total", |outcome| reading(outcome).energy_j *= 1.0 + 1e-8);
    }

    #[test]
    fn time_is_counted_once() {
        caught("elapsed time by what", |outcome| outcome.measured.figures.ledger.elapsed_ns[2] += 1);
        caught("elapsed time by busy dies", |outcome| outcome.measured.figures.ledger.busy_dies_ns[0] += 1);
        caught("time with dies busy", |outcome| {
            let busy = &mut outcome.measured.figures.ledger.busy_dies_ns;
            let at = busy.iter().rposition(|&ns| ns > 0).expect("time passed");
            (busy[0], busy[at]) = (busy[0] + 1, busy[at] - 1);
        });
        caught("elapsed time by what", |outcome| outcome.warmed.end_ns += 1);
    }

    /// Time that moves from one phase of a busy drive to the other, and dies' work where no time passed. In this run an
    /// array works at all times.
    #[test]
    fn array_work_and_its_time_fit() {
        let to_transfer = |outcome: &mut Outcome<SsdFigures>, ns: fn(u64) -> u64| {
            let elapsed_ns = &mut outcome.measured.figures.ledger.elapsed_ns;
            let ns = ns(elapsed_ns[Phase::Array as usize]);
            elapsed_ns[Phase::Array as usize] -= ns;
            elapsed_ns[Phase::Transfer as usize] += ns;
        };
        caught("in the time with no array at work", |outcome| to_transfer(outcome, |_| 1));
        caught("in the time with arrays at work", |outcome| to_transfer(outcome, |all| all));
        caught("in the time with no array at work", |outcome| outcome.measured.figures.ledger.transfer_die_ns += 1);
    }

    /// A plane that works beside no die of its kind, and a bus that works beside arrays for longer than they do.
    #[test]
    fn what_works_beside_a_die_does_so_while_it_works() {
        let add = |outcome: &mut Outcome<SsdFigures>, state: ExtraState, ns: u64| {
            outcome.measured.figures.ledger.book_extra(state, Cause::Host, ns);
        };
        caught("work beside a die", |outcome| add(outcome, ExtraState::SlcProgram, 1));
        caught("work beside a die", |outcome| add(outcome, ExtraState::ProgramBus, 1 << 60));
        assert_eq!(verdict(|outcome| add(outcome, ExtraState::Program, 1)), Ok(()), "they draw nothing here");
        caught("the priced total", |outcome| add(outcome, ExtraState::ProgramBus, 1_000_000));
    }

    #[test]
    fn no_mean_lies_above_the_peak() {
        caught("mean power in W", |outcome| reading(outcome).peak.as_mut().expect("one meter").nw /= 10);
        caught("of a stretch", |outcome| reading(outcome).window_w[0] = Some(1e3));
    }

    /// A recording of 10 ns in which one part is in the state that draws most.
    #[test]
    fn no_bin_lies_above_the_peak() {
        let (config, mut outcome, ssd) = run();
        let parts = ssd.parts(&config);
        let states = (0..STATES_MAX).map(StateId::new);
        let state = states.max_by_key(|&state| parts.draw(state).nw).expect("it has states");
        let bins = Some(Box::new(Series::new(Some(Bins::new(100, None)), None)));
        let mut meter = Meter::<Option<Box<Series>>>::new(&parts, [state; 2], bins);
        meter.restart(0);
        meter.change(StateId::NONE, state);
        meter.advance(10);
        let bins = meter.take_series().and_then(|series| series.bins).expect("it is recorded");
        let series = bins.price(&parts).with(None);
        assert!(series.highest_w() > 0.0);
        let verdict = |outcome: &_| audit(&ssd, &config, outcome, Some(&series)).map_err(|error| error.to_string());
        assert_eq!(verdict(&outcome), Ok(()));
        reading(&mut outcome).peak = Some(Draw { nw: (series.highest_w() * 1e9) as i64 / 2 });
        let error = check_series(&series, reading(&mut outcome).peak_w()).expect_err("the bin lies above the peak");
        assert_eq!(error.what, "the power of a bin in W");
    }

    #[test]
    fn what_came_in_went_out() {
        caught("requests that completed", |outcome| outcome.taken += 1);
        caught("requests by kind", |outcome| outcome.completed.trims += 1);
        caught("erases", |outcome| {
            let erase = OpClass::plain(OpKind::Erase).index();
            outcome.measured.figures.ledger.operations[erase][1] += 1;
        });
        caught("units written into the buffer", |outcome| {
            outcome.drain.as_mut().expect("a drain").figures.buffered.destaged -= 1
        });
        caught("the longest latency", |outcome| outcome.completed.reads.add(u64::MAX - 1));
    }

    #[test]
    fn an_interrupted_run_may_leave_requests_behind() {
        let interrupted =
            |outcome: &mut Outcome<SsdFigures>| (outcome.end, outcome.taken) = (End::Interrupted, outcome.taken + 1);
        assert_eq!(verdict(interrupted), Ok(()));
    }
}
