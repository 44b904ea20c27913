//! Power and current in time: the published staircase and energies of EnergySim's X25-M (X13, X14), its studies of
//! channels, ways and switch delays (X21–X24), of page sizes (X26), series, edges, and the power budget. Numbers are
//! published ones or of hand arithmetic, never of the engine.

use crate::common::{
    PAGE, PRESETS, US, assert_close, assert_within, mixed, play, preset, run_own, run_plain, tier, write,
};
use flashwatt::Error;
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::{self, Config};
use flashwatt_base::units::Nanos;
use flashwatt_core::energy::bins::BINS_MAX;
use flashwatt_core::energy::edges::CurrentEdges;
use flashwatt_ssd::controller::policies;
use flashwatt_ssd::ftl::OpKind;

/// The four layouts of 16 dies.
const LAYOUTS: [(u32, u32); 4] = [(2, 8), (4, 4), (8, 2), (16, 1)];

/// Sizes of Table IV in pages of 4 KB, …
const PAGES: [u64; 5] = [1, 10, 20, 30, 40];
/// … and the energies in mJ that it gives for the simulator.
const PUBLISHED_MJ: [f64; 5] = [1.2, 2.4, 3.7, 6.7, 8.2];

fn energysim(channels: u32, ways: u32, more: &[&str]) -> Config {
    let layout = [format!("device.channels={channels}"), format!("device.ways={ways}")];
    let mut sets = vec![&*layout[0], &*layout[1], "device.blocks_per_plane=64"];
    sets.extend(more);
    preset("energysim", &sets)
}

/// The X25-M, small, with one write of a given number of pages onto erased blocks.
fn x25m_write(pages: u64, sets: &[&str]) -> Config {
    let bytes = format!("workload.uniform.request_bytes={}", pages * PAGE);
    let workload = ["workload.uniform.requests=1", "workload.uniform.sequential=true", &bytes];
    let start = ["device.logical_bytes=1000000000", "run.precondition=\"empty\""];
    preset("x25m", &[&start[..], &workload, sets].concat())
}

/// A run with all edges of its current.
fn with_edges(config: &Config) -> (Report, CurrentEdges) {
    let options = RunOptions { edges_ns: Some((0, Nanos::MAX)), ..RunOptions::default() };
    let mut report = flashwatt::run(config, &options, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.status, "complete");
    let edges = report.edges.take().expect("they were asked for");
    (report, edges)
}

/// When the drive's current changes, and to what.
fn steps(edges: &CurrentEdges) -> Vec<(Nanos, f64)> {
    let mut steps: Vec<(Nanos, f64)> = edges.time_ns.iter().copied().zip(edges.total_ma.iter().copied()).collect();
    steps.dedup_by_key(|(_, ma)| *ma);
    steps
}

/// ∫ current dt in mA·ns.
fn charge(edges: &CurrentEdges, ma: &[f64]) -> f64 {
    let ends = edges.time_ns[1..].iter().chain([&edges.until_ns]);
    edges.time_ns.iter().zip(ends).zip(ma).map(|((from, to), ma)| (to - from) as f64 * ma).sum()
}

// ---------------------------------------------------------------- X13: the staircase

/// The currents of the published staircase: 180 mA and 17 more for each die at work: a calibration.
const BASE_180: &str = "energy.dram.active_ma=90";

/// X13: one write of n pages makes min(n, 20) steps of exactly 17 mA, step k at 30·(k − 1) µs, from the base on
/// which the table settles: 190 mA on `x25m`, the published 180 with the calibrated one.
#[test]
fn x13_staircase() {
    for (base, sets) in [(190.0, &[][..]), (180.0, &[BASE_180][..])] {
        for pages in 1..=40 {
            let (report, edges) = with_edges(&x25m_write(pages, sets));
            let dies = pages.min(20);
            let up: Vec<(Nanos, f64)> = (1..=dies).map(|k| (30 * (k - 1) * US, base + 17.0 * k as f64)).collect();
            let steps = steps(&edges);
            assert_eq!(steps[..dies as usize], up, "{pages} pages on {base} mA");
            let next = steps.get(dies as usize);
            assert!(next.is_none_or(|(_, ma)| *ma < base + 17.0 * dies as f64), "{pages} pages: then it goes down");
            assert!(next.is_some() || pages == 1, "{pages} pages: the last to end ends the run, the others before it");
            assert_eq!(report.current_ma.peak, Some(base + 17.0 * dies as f64), "{pages} pages");
        }
        let peak = |pages| with_edges(&x25m_write(pages, sets)).0.current_ma.peak.expect("a run has a peak");
        assert_within(peak(20), 520.0, 0.03, "80 KB");
        assert_eq!(peak(20), peak(40), "160 KB draws as much as 80 KB");
    }
    assert_eq!(with_edges(&x25m_write(20, &[BASE_180])).0.current_ma.peak, Some(520.0), "exact where calibrated");
}

/// X13: beyond 80 KB a page waits for die 0; it takes over at the very instant, which is no edge.
#[test]
fn x13_the_21st_page_waits() {
    let (_, edges) = with_edges(&x25m_write(21, &[]));
    let done = 982 * US; // 82 µs of transfer, 900 of program
    let first_down = steps(&edges).into_iter().find(|(at, _)| *at > 570 * US);
    assert_eq!(first_down, Some((done + 30 * US, 190.0 + 17.0 * 19.0)), "die 1 is the first to rest, not die 0");
    let begins =
        edges.time_ns.iter().position(|at| *at == done).expect("its transfer begins, which is another component's");
    assert_eq!(edges.total_ma[begins], 530.0);
}

// ---------------------------------------------------------------- X14: the energies of Table IV

/// E = 5 V · (base · d + 17 mA · Σ active), in mJ.
fn closed_form_mj(base_ma: f64, duration_us: u64, active_us: u64) -> f64 {
    5.0 * (base_ma * duration_us as f64 + 17.0 * active_us as f64) * 1e-6
}

fn energy_mj(config: &Config) -> f64 {
    run_plain(config).ssd().energy_j.total * 1e3
}

/// The default reading (all currents at 5 V, 900 µs, transfer active) is its closed form: 1.02, 2.02, 3.14, 4.63, 5.75
/// mJ.
#[test]
fn d4_default_reading() {
    #[allow(clippy::approx_constant)] // as printed: no π
    const PRINTED: [f64; 5] = [1.02, 2.02, 3.14, 4.63, 5.75];
    for (pages, printed) in PAGES.into_iter().zip(PRINTED) {
        // The last of a round of 20 starts 30 µs after the one before; a second round starts where the first ended.
        let (rounds, last) = ((pages - 1) / 20, (pages - 1) % 20);
        let duration = (rounds + 1) * 982 + 30 * last;
        let expected = closed_form_mj(190.0, duration, 982 * pages);
        let found = energy_mj(&x25m_write(pages, &[]));
        assert_close(found, expected, &format!("{pages} pages"));
        assert!((found - printed).abs() < 0.0051, "{pages} pages: {found}, not {printed}");
    }
}

/// X14: of the default reading 4, 40 and 80 KB are within 16 % of Table IV, energy grows with size, and a page
/// beyond 80 KB costs more than one below.
#[test]
fn x14_table_iv_default_reading() {
    let energies = PAGES.map(|pages| energy_mj(&x25m_write(pages, &[])));
    for ((pages, found), published) in PAGES.into_iter().zip(energies).zip(PUBLISHED_MJ).take(3) {
        assert!((found / published - 1.0).abs() <= 0.16, "{pages} pages: {found} mJ, published {published}");
    }
    assert!(energies.is_sorted(), "monotone: {energies:?}");
    let slope = |from: usize, to: usize| (energies[to] - energies[from]) / (PAGES[to] - PAGES[from]) as f64;
    assert!(slope(2, 3) > slope(1, 2), "{} after 80 KB, {} before", slope(2, 3), slope(1, 2));
    let [at_80, at_84] = [20, 21].map(|pages| energy_mj(&x25m_write(pages, &[])));
    assert!(at_84 - at_80 > 2.0 * slope(1, 2), "the break lies between 80 and 84 KB");
}

/// The calibrated profile, 1150 µs for the first page on a die and 1700 for the second. Three numbers fitted to the
/// five that they are compared with: a calibration, no validation.
const CALIBRATED: [&str; 3] = [BASE_180, "device.timing.program_ns=1150000", "device.timing.program_upper_ns=1700000"];

/// X14: calibrated, all five sizes are within 8 % of Table IV (2.0 % at the most), and the closed form to the last
/// digit.
#[test]
fn x14_table_iv_calibrated() {
    for ((pages, published), printed) in PAGES.into_iter().zip(PUBLISHED_MJ).zip([1.21, 2.40, 3.72, 6.56, 8.35]) {
        let (lower, upper) = (pages.min(20), pages.saturating_sub(20));
        let last_end = if upper > 0 { 1232 + 1782 + 30 * (upper - 1) } else { 1232 + 30 * (lower - 1) };
        let found = energy_mj(&x25m_write(pages, &CALIBRATED));
        assert_close(found, closed_form_mj(180.0, last_end, 1232 * lower + 1782 * upper), &format!("{pages} pages"));
        assert!((found - printed).abs() < 0.0051, "{pages} pages: {found}, not {printed}");
        assert!((found / published - 1.0).abs() < 0.0205, "{pages} pages: {found} mJ, published {published}");
    }
}

/// Only upper pages take longer, for every cause; the ledger counts all of it as programming.
#[test]
fn upper_pages_take_longer() {
    let sets = ["device.timing.program_upper_ns=1300000", "run.precondition=\"empty\""];
    let (report, log) = play(&energysim(1, 1, &sets), &[write(0, 0, 5)]);
    let lengths: Vec<Nanos> = log.ops.iter().map(|done| (done.t.end - done.t.array_start) / US).collect();
    assert_eq!(lengths, [900, 1300, 900, 1300, 900]);
    assert_close(report.ssd().energy_j.nand.program, 20e-3 * 3.3 * 5300e-6, "programs");
    for copyback in [false, true] {
        let copyback = format!("device.nand.copyback={copyback}");
        let config = mixed("limit", &["device.timing.program_upper_ns=1100000", &copyback, "run.count_drain=true"]);
        let (report, log) = run_own(&config);
        assert_close(report.energy_integral_j, report.ssd().energy_j.total, "ledger and meter");
        let programs = log.ops.iter().filter(|done| matches!(done.op.kind, OpKind::Program | OpKind::Copyback));
        let mut seen = [0, 0];
        for done in programs {
            let since = if done.op.kind == OpKind::Program { done.t.array_start } else { done.t.array_end };
            let upper = done.op.at.page & 1 == 1;
            assert_eq!(done.t.end - since, if upper { 1_100_000 } else { 600_000 });
            seen[usize::from(upper)] += 1;
        }
        assert!(seen[0] > 100 && seen[1] > 100);
    }
    let refused = config::load("", "t.toml", &["device.timing.program_upper_ns=5".into()]).expect_err("too short");
    assert!(refused.to_string().contains("program_upper_ns"), "{refused}");
}

// ---------------------------------------------------------------- X21 to X23: layouts and switch delays

/// A run of a stand-in at the drive's scale.
fn standin(name: &str, channels: u32, ways: u32, more: &[&str]) -> Report {
    let name = format!("workload.standin.name=\"{name}\"");
    let layout = [format!("device.channels={channels}"), format!("device.ways={ways}")];
    let sets = [&name, "workload.standin.scale=0.015625", "workload.standin.requests=10000", &layout[0], &layout[1]];
    run_plain(&preset("energysim", &[&sets[..], &ON_BUS, more].concat()))
}

fn spread(values: &[f64]) -> f64 {
    let (min, max) = values.iter().fold((f64::MAX, 0.0f64), |(min, max), v| (min.min(*v), max.max(*v)));
    max / min
}

/// Reads hold the bus, and energy is charged for requests: what X21 to X23 say of layouts. The preset has the rules of the released code.
const ON_BUS: [&str; 2] = ["controller.read_transfer=\"on_bus\"", "energy.host_interface.charged_data=\"host_bytes\""];

/// Every stand-in on the four layouts.
fn layouts(name: &str) -> [Report; 4] {
    LAYOUTS.map(|(channels, ways)| standin(name, channels, ways, &[]))
}

/// Joules under `busy_only` without what flash operations draw above an idle die: their number differs a little with the
/// order in which they start. A page's transfer is charged for 82 µs. Neither is what dies draw that are loaded while no
/// array works.
fn base_j(report: &Report) -> f64 {
    let (joules, ua) = (&report.ssd().energy_j.nand, &report.config.ssd().energy.nand);
    let above_idle = |joules: f64, active_ua: u32| joules * (1.0 - f64::from(ua.idle_ua) / f64::from(active_ua));
    let transfers = (report.ssd().flash.reads.total + report.ssd().flash.programs.total) as f64;
    let transfer_w = f64::from(ua.transfer_ua.unwrap_or(ua.read_ua) - ua.idle_ua) * 1e-6 * 3.3;
    report.ssd().energy_total_j.busy_only
        - above_idle(joules.read, ua.read_ua)
        - above_idle(joules.program, ua.program_ua)
        - above_idle(joules.erase, ua.erase_ua)
        - transfers * 82e-6 * transfer_w
        - report.ssd().ledger.transfer_die_ns as f64 * 1e-9 * f64::from(ua.idle_ua) * 1e-6 * 3.3
}

/// Fails unless two runs differ, but for their operations, in what the drive draws idle over the time that `busy_only`
/// charges, to this share of the difference and to 1 part in 10^5 of the whole.
#[track_caller]
fn assert_adds_base(less: &Report, more: &Report, share: f64, name: &str) {
    let array_s = |report: &Report| report.ssd().ledger.elapsed_ns.array as f64 * 1e-9;
    let (found, expected) = (base_j(more) - base_j(less), ENERGYSIM_BASE_W * (array_s(more) - array_s(less)));
    let bound = share * expected.abs() + 1e-5 * base_j(more);
    assert!((found - expected).abs() <= bound, "{name}: {found} J instead of {expected} J");
}

/// Total energy under `busy_only` and under `busy_or_loading`.
fn busy_totals(reports: &[Report; 4]) -> [[f64; 4]; 2] {
    let totals = reports.each_ref().map(|report| &report.ssd().energy_total_j);
    [totals.map(|total| total.busy_only), totals.map(|total| total.busy_or_loading)]
}

fn mean_response(report: &Report) -> f64 {
    report.latency_ns.all.mean.expect("there are requests")
}

/// Every stand-in, with the most that max/min under `busy_or_loading` may be in X22, and that the slowest of 4×4, 8×2 and 16×1
/// may take of the fastest in X21: 1.08 and 1.03 where these are met, else what was measured, rounded up
/// (docs/energy-model.md has the table and the reason).
const X22_AND_X21: [(&str, f64, f64); 9] = [
    ("homes", 1.08, 1.03),
    ("filezilla", 1.08, 1.03),
    ("torrent", 1.08, 1.03),
    ("oltp", 1.08, 1.03),
    ("financial1", 1.08, 1.04),
    ("msnfs", 1.08, 1.05),
    ("gimp", 1.09, 1.03),
    ("financial2", 1.10, 1.07),
    ("olap", 1.10, 1.03),
];

/// X22: energy hardly depends on channels × ways: max/min ≤ 1.05 with everything on, ≤ 1.08 under `busy_only`; under
/// `busy_or_loading` six of nine stand-ins meet that. X21: on 2×8 requests take longest, and on the three others about as
/// long.
///
/// More channels cost no energy (within 0.1 %), and what fewer cost is the base draw for as long as it takes longer.
#[test]
fn x22_energy_and_x21_response_of_layouts() {
    for (name, energy_limit, response_limit) in X22_AND_X21 {
        let reports = layouts(name);
        let always_on = reports.each_ref().map(|report| report.ssd().energy_total_j.always_on);
        assert!(spread(&always_on) <= 1.05, "{name}, always_on: {always_on:?}");
        let [busy_only, busy_or_loading] = busy_totals(&reports);
        assert!(spread(&busy_only) <= 1.08, "{name}, busy_only: {busy_only:?}");
        assert!(spread(&busy_or_loading) <= energy_limit, "{name}, busy_or_loading: {busy_or_loading:?}");
        for totals in [busy_only, busy_or_loading] {
            assert!(totals.windows(2).all(|pair| pair[1] <= 1.001 * pair[0]), "{name}: {totals:?}");
        }
        assert_adds_base(&reports[3], &reports[0], 0.01, name);
        let response = reports.each_ref().map(mean_response);
        assert!(response[1..].iter().all(|others| *others < response[0]), "{name}: {response:?}");
        assert!(spread(&response[1..]) <= response_limit, "{name}: {response:?}");
    }
}

/// X21, why the three layouts are alike: writes find their bus free again by the time that they come round to it, on four
/// channels as on sixteen. Data of reads leaves when it is ready, and waits for the others' of its channel. By the rule of the released
/// code it waits for none, and the four layouts agree within 1 %.
#[test]
fn x21_layouts_differ_by_reads_alone() {
    let response = |read_fraction: u32, more: &[&str]| {
        let reads = format!("workload.uniform.read_fraction={read_fraction}");
        let load =
            ["workload.uniform.requests=20000", "workload.uniform.rate_per_s=122", "workload.uniform.burst_mean=7.5"];
        LAYOUTS.map(|(channels, ways)| {
            let layout = [format!("device.channels={channels}"), format!("device.ways={ways}"), reads.clone()];
            let layout = layout.iter().map(String::as_str);
            let sets: Vec<&str> = load.into_iter().chain(layout).chain(more.iter().copied()).collect();
            mean_response(&run_plain(&preset("energysim", &sets)))
        })
    };
    let writes = response(0, &ON_BUS);
    assert!(spread(&writes[1..]) <= 1.0001 && writes[0] > 1.02 * writes[1], "writes: {writes:?}");
    let reads = response(1, &ON_BUS);
    assert!(reads[0] > reads[1] && reads[1] > 1.03 * reads[3], "reads: {reads:?}");
    let free = response(1, &["controller.read_transfer=\"free\""]);
    assert!(spread(&free) <= 1.01, "reads whose data is free: {free:?}");
}

/// Every stand-in, with the most that max/min under `busy_only` and under `busy_or_loading` may be in X23: 1.15 where it is
/// met, else what was measured, rounded up (docs/energy-model.md has the table and the reason).
const X23_LIMITS: [(&str, [f64; 2]); 9] = [
    ("homes", [1.15, 1.15]),
    ("filezilla", [1.15, 1.15]),
    ("torrent", [1.15, 1.15]),
    ("oltp", [1.15, 1.15]),
    ("gimp", [1.15, 1.19]),
    ("financial1", [1.15, 1.20]),
    ("msnfs", [1.15, 1.23]),
    ("financial2", [1.15, 1.44]),
    ("olap", [1.24, 1.73]),
];
/// What the preset `energysim` draws while a die works besides its operation: controller, DRAM idle, 16 dies idle.
const ENERGYSIM_BASE_W: f64 = (30.0 + 20.0 + 16.0 * 3.0) * 1e-3 * 3.3;

/// X23: with slower switching response times grow and energy stays: ± 1 % with everything on, with the transfer charged for
/// its 82 µs whatever the switch takes, be its current the idle one or an operation's. On 4×4.
///
/// Under `busy_only` max/min ≤ 1.15 is met by eight of nine stand-ins, under `busy_or_loading` by four. What they add is the base
/// draw for as long as an array works, or a die is busy, and nothing else: a read takes 91 to 214 µs in this sweep, so
/// the more of the busy time reads make up, the more.
#[test]
fn x23_energy_of_switch_delays() {
    let every = if tier::soak().is_some() { 1 } else { 4 };
    let cases = X23_LIMITS.into_iter().step_by(every);
    for ((name, limits), transfer) in cases.flat_map(|case| [(case, "3"), (case, "\"operation\"")]) {
        let transfer_ma = format!("energy.nand.transfer_ma={transfer}");
        let reports = [(15, 41), (30, 82), (30, 123), (30, 164)].map(|(cs, ws)| {
            let delays =
                [format!("device.timing.channel_switch_ns={cs}000"), format!("device.timing.page_transfer_ns={ws}000")];
            standin(name, 4, 4, &[&delays[0], &delays[1], "energy.nand.transfer_ns=82000", &transfer_ma])
        });
        let always_on = reports.each_ref().map(|report| report.ssd().energy_total_j.always_on);
        let reference = always_on[1];
        assert!(
            always_on.iter().all(|total| (total / reference - 1.0).abs() <= 0.01),
            "{name}, always_on: {always_on:?}"
        );
        for (totals, limit) in busy_totals(&reports).into_iter().zip(limits) {
            assert!(spread(&totals) <= limit, "{name}: {totals:?}");
        }
        assert_adds_base(&reports[0], &reports[3], 0.005, name);
        let response = reports.each_ref().map(mean_response);
        assert!(response.is_sorted(), "{name}, response times: {response:?}");
    }
}

/// `energy.nand.transfer_ns`: above an idle die a page costs what `transfer_ma` costs in that time, at any bus speed.
#[test]
fn a_transfer_costs_what_it_is_charged_for() {
    for ws in [41, 82, 123, 164, 1_000] {
        let timing = format!("device.timing.page_transfer_ns={ws}000");
        let sets = [&timing, "energy.nand.transfer_ns=82000", "energy.nand.transfer_ma=\"operation\""];
        let (report, _) = play(&energysim(1, 1, &sets), &[write(0, 0, 1)]);
        let idle_j = 3e-3 * 3.3 * f64::from(ws) * 1e-6;
        let above_j = report.ssd().energy_j.nand.transfer - idle_j;
        // The current is a whole number of µA: half of one over the transfer.
        let rounding_j = 0.5e-6 * 3.3 * f64::from(ws) * 1e-6;
        assert!((above_j - 17e-3 * 3.3 * 82e-6).abs() <= rounding_j * 1.000_001, "{ws} µs: {above_j}");
        let peak = report.current_ma.peak.expect("a run has a peak");
        assert!(peak > 0.0, "{ws}");
    }
    let refused =
        config::load("", "t.toml", &["device.timing.page_transfer_ns=0".into(), "energy.nand.transfer_ns=5".into()]);
    let message = refused.expect_err("there is no transfer to be charged for").to_string();
    assert!(message.contains("energy.nand.transfer_ns") && message.contains("page_transfer_ns"), "{message}");
}

// ---------------------------------------------------------------- X24: time at the peak

/// A table whose peak is 16 dies programming: DRAM with the controller, nothing on the host interface; during transfers a die
/// draws `transfer`.
fn peak_counts(transfer: &'static str) -> [&'static str; 3] {
    ["energy.dram_rule=\"with_controller\"", "energy.host_interface.active_ma=0", transfer]
}

/// X24: time at the peak of one 64 KB write, read off the current alone.
#[test]
fn x24_time_at_peak_of_64_kb() {
    let idle = peak_counts("energy.nand.transfer_ma=3");
    for ((channels, ways), at_500, at_900) in
        [((2, 8), 0, 296), ((4, 4), 50, 450), ((8, 2), 50, 450), ((16, 1), 50, 450)]
    {
        for (program, expected) in [(500, at_500), (900, at_900)] {
            let program_ns = format!("device.timing.program_ns={program}000");
            let (report, _) =
                play(&energysim(channels, ways, &[&idle[..], &[&program_ns]].concat()), &[write(0, 0, 16)]);
            let (peak, time) = (report.current_ma.peak, report.current_ma.time_at_peak_ns);
            let what = format!("{channels}x{ways}, {program} µs");
            if expected == 0 {
                assert_eq!(peak, Some(130.0 + 13.0 * 20.0 + 3.0 * 3.0), "{what}: 13 dies at most");
            } else {
                assert_eq!((peak, time), (Some(130.0 + 16.0 * 20.0), Some(expected * US)), "{what}");
            }
        }
    }
}

/// X24: a backlogged stream of 3,200 pages spends the same share of its time at the peak with 4, 8 and 16 channels:
/// within 2 % for dies at work with their transfer, within 8 % for programs alone at 500 µs; less with 2, and none for
/// 2×8 at 500 µs.
#[test]
fn x24_time_at_peak_of_a_stream() {
    for program in [500, 900] {
        let shares = |transfer: &'static str| {
            LAYOUTS.map(|(channels, ways)| {
                let program_ns = format!("device.timing.program_ns={program}000");
                let sets = [&peak_counts(transfer)[..], &[&program_ns]].concat();
                let (report, _) = play(&energysim(channels, ways, &sets), &[write(0, 0, 3200)]);
                let all = report.current_ma.peak == Some(130.0 + 16.0 * 20.0);
                let time = if all { report.current_ma.time_at_peak_ns.expect("a peak lasts") } else { 0 };
                time as f64 * 1e-9 / report.throughput.simulated_s
            })
        };
        let working = shares("energy.nand.transfer_ma=\"operation\"");
        let programming = shares("energy.nand.transfer_ma=3");
        assert!(spread(&working[1..]) <= 1.02 && working[1] > 0.95, "{program} µs, with transfers: {working:?}");
        assert!(spread(&programming[1..]) <= if program == 500 { 1.08 } else { 1.02 }, "{program} µs: {programming:?}");
        assert!(programming[0] < programming[1], "2x8 at {program} µs: {programming:?}");
        assert_eq!(programming[0] == 0.0, program == 500, "{programming:?}");
    }
}

/// Programs of 500 µs let 17 dies of the X25-M program at a time: 180 + 17 · 17 = 469 mA.
#[test]
fn f24_fast_programs_peak_at_17_dies() {
    let sets = [BASE_180, "device.timing.program_ns=500000", "energy.nand.transfer_ma=3"];
    assert_eq!(run_plain(&x25m_write(20, &sets)).current_ma.peak, Some(469.0));
}

// ---------------------------------------------------------------- X26: page size

/// X26: 4 KB written to a drive of 16 KB pages (1.6 ms a program) cost 105.6 µJ of program and a read where a page is
/// mapped as a whole, 59.4 on pages of 4 KB; with sub-page mapping and a buffer four of them share a program.
#[test]
fn x26_small_writes_on_large_pages() {
    let small = run_plain(&energysim(8, 2, &["workload.uniform.requests=64", "run.count_drain=true"]));
    assert_close(small.ssd().energy_j.nand.program / 64.0, 59.4e-6, "pages of 4 KB");
    let large = ["device.page_bytes=16384", "device.timing.program_ns=1600000", "workload.uniform.request_bytes=4096"];
    let more = ["workload.uniform.requests=64", "workload.uniform.align_bytes=4096", "run.count_drain=true"];
    let whole = run_plain(&energysim(8, 2, &[&large[..], &more].concat()));
    assert_close(whole.ssd().energy_j.nand.program / 64.0, 105.6e-6, "pages of 16 KB");
    assert_close(whole.ssd().energy_j.nand.read / 64.0, 3.3e-6, "each is read before it is written");
    let mapped = ["ftl.page.map_unit_bytes=4096", "write_buffer.bytes=1048576", "workload.uniform.sequential=true"];
    let shared = run_plain(&energysim(8, 2, &[&large[..], &more, &mapped].concat()));
    assert_eq!((shared.ssd().flash.programs.host, shared.ssd().flash.reads.total), (16, 0), "four to a program");
    assert_close(shared.ssd().energy_j.nand.program / 64.0, 26.4e-6, "pages of 16 KB in four parts");
}

// ---------------------------------------------------------------- series and edges

/// The integral of all edges equals the meter's, component by component, for every preset; levels change from one edge to the
/// next, and the greatest is the peak.
#[test]
fn edges_integrate_to_the_energy() {
    for name in PRESETS {
        let rest = ["run.warmup.requests=0", "energy.mode=\"terminal\""];
        let (report, edges) = with_edges(&mixed(name, &rest));
        assert!(edges.time_ns.is_sorted_by(|a, b| a < b), "{name}: an instant has one level");
        assert_eq!((edges.from_ns, edges.until_ns), (0, (report.throughput.simulated_s * 1e9).round() as Nanos));
        let joules = |ma: &[f64]| charge(&edges, ma) * 5e-12;
        let (e, c) = (&report.ssd().energy_j, &edges.current_ma);
        assert_within(joules(&edges.total_ma), e.total, 1e-7, &format!("{name}: total"));
        for (what, found, expected) in [
            ("controller", &c["controller"], e.controller.active + e.controller.idle),
            ("idle dies", &c["nand_idle"], e.nand.idle),
            ("reads", &c["nand_read"], e.nand.read),
            ("programs", &c["nand_program"], e.nand.program),
            ("erases", &c["nand_erase"], e.nand.erase),
            ("transfers", &c["nand_transfer"], e.nand.transfer),
        ] {
            assert_close(joules(found), expected, &format!("{name}: {what}"));
        }
        let greatest = edges.total_ma.iter().copied().fold(0.0, f64::max);
        assert_close(greatest, report.current_ma.peak.unwrap_or_default(), &format!("{name}: peak"));
        let at_peak: Nanos = (0..edges.time_ns.len())
            .filter(|&i| edges.total_ma[i] == greatest)
            .map(|i| edges.time_ns.get(i + 1).unwrap_or(&edges.until_ns) - edges.time_ns[i])
            .sum();
        assert_eq!(Some(at_peak), report.current_ma.time_at_peak_ns, "{name}");
    }
}

/// A window in the middle holds what the whole recording holds there, and the level that it begins with.
#[test]
fn edges_of_a_window_are_those_of_the_whole() {
    let config = mixed("energysim", &[]);
    let (_, whole) = with_edges(&config);
    let middle = whole.time_ns[whole.time_ns.len() / 2] + 1;
    let window = (middle, middle + 3_000 * US);
    let options = RunOptions { edges_ns: Some(window), series_interval_ns: Some(0), ..RunOptions::default() };
    let report = flashwatt::run(&config, &options, &mut |_| true).expect("it runs");
    assert!(report.series.is_some(), "both can be recorded");
    let part = report.edges.expect("they were asked for");
    let inside: Vec<usize> =
        (0..whole.time_ns.len()).filter(|&i| (window.0..window.1).contains(&whole.time_ns[i])).collect();
    assert!(inside.len() > 10, "something happens there");
    assert_eq!((part.from_ns, part.until_ns), window);
    assert_eq!(part.time_ns[1..], whole.time_ns[inside[0]..=inside[inside.len() - 1]]);
    assert_eq!(part.total_ma, whole.total_ma[inside[0] - 1..=inside[inside.len() - 1]], "and the level before");
    let late = RunOptions { edges_ns: Some((Nanos::MAX - 1, Nanos::MAX)), ..RunOptions::default() };
    let none = flashwatt::run(&config, &late, &mut |_| true).expect("it runs").edges.expect("it was asked for");
    assert!(none.time_ns.is_empty(), "the run ends before");
    let empty = RunOptions { edges_ns: Some((5, 5)), ..RunOptions::default() };
    let error = flashwatt::run(&config, &empty, &mut |_| true).expect_err("an empty window");
    assert!(error.to_string().contains("edges"), "{error}");
}

/// More bins than can be stored are an error: at once where the length of the run is known, else when they are full.
#[test]
fn too_many_bins_are_an_error() {
    let series = |ns| RunOptions { series_interval_ns: Some(ns), ..RunOptions::default() };
    let run = |sets: &[&str], ns| flashwatt::run(&preset("limit", sets), &series(ns), &mut |_| true);
    let error = run(&["run.measure.seconds=1"], 99).expect_err("more than 10^7 bins");
    assert!(matches!(error, Error::Config(_)) && error.to_string().contains(&BINS_MAX.to_string()), "{error}");
    let idle = [
        "workload.uniform.requests=3",
        "workload.uniform.rate_per_s=1",
        "device.blocks_per_plane=64",
        "run.precondition=filled", // no collection, of which the run would look at its series
    ];
    let report = run(&idle, 100).expect("the run itself is sound");
    assert!(report.status.starts_with("failed: ") && report.status.contains("too many bins"), "{}", report.status);
    assert!(report.series.is_none() && report.workload.requests == 3);
    assert_eq!(run(&idle, 1_000).expect("it runs").status, "complete", "a tenth of them is no trouble");
}

/// A long warm-up fills no bins.
#[test]
fn a_warm_up_is_not_recorded() {
    let sets = ["workload.uniform.requests=52", "workload.uniform.rate_per_s=20", "run.warmup.requests=51"];
    let options = RunOptions { series_interval_ns: Some(200), ..RunOptions::default() };
    let config = preset("limit", &[&sets[..], &["device.blocks_per_plane=64"]].concat());
    let report = flashwatt::run(&config, &options, &mut |_| true).expect("it runs");
    assert_eq!(report.status, "complete");
    let elapsed = &report.ssd().ledger.elapsed_ns;
    let measured_ns = elapsed.busy + elapsed.outstanding + elapsed.quiet;
    let bins = report.series.expect("it was asked for").power_w["controller"].len() as u64;
    assert_eq!(bins, measured_ns.div_ceil(200), "those of the measured window");
}

/// Σ bins = total also where the window ends amid what DRAM and host interface have yet to do: that is `owed_j`, and belongs to the
/// drain. With 40 MB/s DRAM is behind by then.
#[test]
fn bins_add_up_to_the_total_where_work_is_left() {
    for seconds in ["0.0500011", "0.07", "0.0712345"] {
        let measure = format!("run.measure.seconds={seconds}");
        let sets =
            [&measure, "energy.dram.data_mb_s=40", "run.measure.requests=100000000", "workload.uniform.queue_depth=16"];
        let config = mixed("energysim", &sets);
        for interval in [0, 1_000, 70_000_000] {
            let options = RunOptions { series_interval_ns: Some(interval), ..RunOptions::default() };
            let report = flashwatt::run(&config, &options, &mut |_| true).expect("it runs");
            let series = report.series.as_ref().expect("it was asked for");
            let total_ns = (report.throughput.simulated_s * 1e9).round() as u64;
            let ns = |at: u64| series.interval_ns.min(total_ns - at * series.interval_ns);
            let dram: f64 = (0..).zip(&series.power_w["dram"]).map(|(at, w)| w * ns(at) as f64 * 1e-9).sum();
            let owed_j = series.owed_j.components.iter().find(|(name, _)| *name == "dram").expect("a component").1;
            assert!(owed_j > 0.0 && series.owed_j.total >= owed_j);
            assert_close(
                dram,
                report.ssd().energy_j.dram.active + report.ssd().energy_j.dram.idle,
                &format!("{seconds}, {interval}"),
            );
        }
    }
}

/// By hand: a drive that takes 4,096 bytes at 1 MB/s on its interface has work for 4.096 ms with each request. A window of one
/// request of a closed loop is shorter, and holds the interface's power over its own length only.
#[test]
fn a_short_window_holds_the_work_that_is_done_in_it() {
    let sets = ["run.warmup.requests=3", "run.measure.requests=1", "energy.host_interface.bandwidth_mb_s=1"];
    let report = flashwatt::run(&mixed("energysim", &sets), &RunOptions::default(), &mut |_| true).expect("it runs");
    let (ledger, elapsed_s) = (&report.ssd().ledger, report.throughput.simulated_s);
    assert_eq!(ledger.host_interface_ns, (elapsed_s * 1e9).round() as u64, "it works all the time");
    assert!(report.power_w.mean <= report.power_w.peak.expect("a run has a peak"));
}

// ---------------------------------------------------------------- the power budget

/// Base 15·… of EnergySim's 16 dies: 30 + 100 + 9 + 48 mA, and 17 mA an operation.
const BASE_MA: u32 = 30 + 100 + 9 + 16 * 3;

/// Under a power budget k = ⌊(budget − base)/17⌋ dies work at a time, all of them where work is waiting, and the
/// current never exceeds the budget, whatever the table and the policy.
#[test]
fn f33_power_budget() {
    for policy in policies::REGISTRY.iter().map(|policy| policy.name) {
        for k in [1, 2, 3, 7, 15, 16] {
            for slack in [0, 16] {
                let budget = BASE_MA + 17 * k + slack;
                let sets = [format!("controller.power_budget_ma={budget}"), format!("controller.policy=\"{policy}\"")];
                let load = ["workload.uniform.requests=400", "workload.uniform.read_fraction=0.3", "device.channels=8"];
                let sets = [&load[..], &sets.each_ref().map(String::as_str)].concat();
                let config = preset("energysim", &[&sets[..], &["device.blocks_per_plane=64"]].concat());
                let report = run_plain(&config);
                assert_eq!(report.ssd().parallelism.max_active_dies, k, "{policy}, {budget} mA");
                let peak = report.current_ma.peak.expect("a run has a peak");
                assert!(peak <= f64::from(budget), "{policy}: {peak} mA of {budget}");
            }
        }
    }
}

/// The power budget on every preset with collection, trims, copies, a warm-up and a drain; the tighter the budget, the
/// longer it takes.
#[test]
fn f33_every_edge_stays_within_the_budget() {
    for name in PRESETS {
        let unbounded = run_plain(&mixed(name, &["workload.uniform.queue_depth=32"]));
        let mut last_s = f64::MAX;
        for share in [1, 2, 4, 8] {
            let config = mixed(name, &["workload.uniform.queue_depth=32", "controller.power_budget_ma=9000"]);
            let base = config.ssd().controller.power_budget.as_ref().expect("it is set");
            let dies = config.ssd().device.channels * config.ssd().device.ways * share / 8;
            let budget_nw = base.base_nw + base.operation_nw * i64::from(dies.max(1));
            let budget = format!("controller.power_budget_w={}", budget_nw as f64 / 1e9);
            let (report, edges) = with_edges(&mixed(name, &["workload.uniform.queue_depth=32", &budget]));
            let bound = budget_nw as f64 / report.current_ma.supply_v / 1e6;
            let within = |ma: f64| ma <= bound * (1.0 + 1e-12);
            assert!(edges.total_ma.iter().all(|&ma| within(ma)), "{name}: every edge within {bound} mA");
            assert!(report.ssd().parallelism.max_active_dies <= dies.max(1), "{name}");
            assert!(report.throughput.simulated_s < last_s * 1.01, "{name}: {dies} dies are no slower than fewer");
            last_s = report.throughput.simulated_s;
            if share == 8 {
                assert_within(
                    last_s,
                    unbounded.throughput.simulated_s,
                    0.05,
                    &format!("{name}: a budget for all dies"),
                );
            }
        }
    }
}

/// By hand: four dies and a budget for two: writes start in pairs, the oldest first, at the instant that one ends.
#[test]
fn a_budget_of_two_dies_by_hand() {
    let sets = ["device.timing.channel_switch_ns=0", "device.timing.page_transfer_ns=82000"];
    let base = 30 + 100 + 9 + 4 * 3;
    let budget = format!("controller.power_budget_ma={}", base + 2 * 17);
    let (_, log) = play(&energysim(4, 1, &[sets[0], sets[1], &budget]), &[write(0, 0, 6)]);
    assert_eq!(log.program_starts(), [0, 0, 982 * US, 982 * US, 1964 * US, 1964 * US]);
    let slots = [&budget, "device.timing.channel_switch_ns=30000"];
    let (_, log) = play(&energysim(4, 1, &slots), &[write(0, 0, 6)]);
    assert_eq!(log.program_starts(), [0, 30, 982, 1012, 1964, 1994].map(|us| us * US), "one slot as well");
}

/// A budget below the base and one operation is an error that names both.
#[test]
fn a_budget_too_small_is_named() {
    let load = |ma: u32| {
        config::load("", "t.toml", &["device.preset=energysim".into(), format!("controller.power_budget_ma={ma}")])
    };
    let error = load(BASE_MA + 16).expect_err("no operation fits").to_string();
    for part in ["controller.power_budget_ma", "203.0 mA", "204.0 mA", "187.0 mA", "17.0 mA"] {
        assert!(error.contains(part), "{part} in: {error}");
    }
    assert_eq!(
        load(BASE_MA + 17).expect("one fits").ssd().controller.power_budget.as_ref().expect("set").active_dies,
        1
    );
    assert!(
        load(9_000)
            .expect("all fit")
            .ssd()
            .controller
            .power_budget
            .as_ref()
            .is_some_and(|budget| budget.active_dies == 16)
    );
}

/// Law 3: a run under a budget cannot be repriced; one without it can.
#[test]
fn a_run_under_a_budget_is_not_repriced() {
    let json = |sets: &[&str]| serde_json::to_string(&run_plain(&mixed("limit", sets))).expect("a report is JSON");
    let table = "[energy]\nnand = { program_ma = 31 }\n";
    assert!(flashwatt::reprice(&json(&[]), table, "t.toml").is_ok());
    let error = flashwatt::reprice(&json(&["controller.power_budget_ma=700"]), table, "t.toml").expect_err("refused");
    assert!(error.to_string().contains("power_budget"), "{error}");
}

/// The report's histogram of busy dies is that of the operations themselves.
#[test]
fn histogram_of_active_dies() {
    let config = mixed("energysim", &["run.warmup.requests=0", "run.count_drain=true"]);
    let (report, log) = run_own(&config);
    let from_log = log.concurrency(|done| Some((done.t.start, done.t.end)));
    let reported: Vec<Nanos> =
        report.ssd().parallelism.active_dies_s.iter().map(|s| (s * 1e9).round() as Nanos).collect();
    for dies in 1..from_log.len() {
        assert_eq!(reported[dies], from_log[dies], "{dies} dies");
    }
    assert!(reported[from_log.len()..].iter().all(|&ns| ns == 0));
    assert_eq!(report.ssd().parallelism.max_active_dies as usize, from_log.len() - 1);
}
