//! Where the joules go: EnergySim's equations on hand numbers, the X25-M's staircase, and law 3:
//! three independent paths to the same energies, to 1e-9 — the priced ledger, the integral of the meter, and the dumped
//! operation log priced by a short script outside the engine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::traces::{real_traces, say};
use crate::common::{
    self, PAGE, PRESETS, US, assert_close, briefly_mixed, mixed, play, preset, read, run_plain, tier, write,
};
use crate::contracts::schemes::ROWS;
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::{Config, Precondition};
use flashwatt_base::units::Nanos;
use flashwatt_core::energy::Series;
use flashwatt_core::energy::meter::Reading;
use flashwatt_core::kernel::Sim;
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::energy::ledger::{Ledger, OpTimes};
use flashwatt_ssd::energy::price::{ByCause, price};
use flashwatt_ssd::energy::{DieState, Phase, PriceTable};
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::{Cause, OpKind};
use flashwatt_ssd::nand::{Array, Geometry};

const ACCOUNTINGS: [&str; 4] = ["always_on", "flash_off", "busy_only", "busy_or_loading"];

/// EnergySim's drive, small.
fn energysim(sets: &[&str]) -> Config {
    preset("energysim", &[&["device.blocks_per_plane=32"], sets].concat())
}

// ---------------------------------------------------------------- single operations

/// One read costs 3.30 µJ, one write 59.40 (900 µs) or 33.00 (500 µs), one erase 132.00.
#[test]
fn f1_energy_of_single_operations() {
    let (report, _) = play(&energysim(&[]), &[read(0, 0, 1)]);
    let read_j = report.ssd().energy_j.nand.read;
    assert_close(read_j, 3.30e-6, "read");
    let (report, _) = play(&energysim(&[]), &[write(0, 0, 1)]);
    let write_j = report.ssd().energy_j.nand.program;
    assert_close(write_j, 59.40e-6, "write");
    let (report, _) = play(&energysim(&["device.timing.program_ns=500000"]), &[write(0, 0, 1)]);
    assert_close(report.ssd().energy_j.nand.program, 33.00e-6, "write of 500 µs");
    let erase_j = energy_of_an_erase();
    assert_close(erase_j, 132.00e-6, "erase");
    assert_close(write_j / read_j, 18.0, "write / read");
    assert_close(erase_j / write_j, 2000.0 / 900.0, "erase / write");
    assert_close(erase_j / read_j, 40.0, "erase / read");
}

/// Of a run that erases blocks.
fn energy_of_an_erase() -> f64 {
    let config = energysim(&["workload.uniform.requests=20000", "device.channels=1", "device.ways=1"]);
    let report = run_plain(&config);
    let erases = report.ssd().flash.erases.total;
    assert!(erases > 10, "collection is needed: {erases}");
    report.ssd().energy_j.nand.erase / erases as f64
}

/// The energy of k operations: they cost k times as much, summed exactly, beside any other work.
#[test]
fn f4_energies_are_counts_times_prices() {
    for requests in [1, 7, 1000, 20_000] {
        let requests = format!("workload.uniform.requests={requests}");
        let config = energysim(&[&requests, "workload.uniform.read_fraction=0.4", "run.count_drain=true"]);
        let report = run_plain(&config);
        let (flash, nand) = (&report.ssd().flash, &report.ssd().energy_j.nand);
        assert_close(nand.read, flash.reads.total as f64 * 3.30e-6, "reads");
        assert_close(nand.program, flash.programs.total as f64 * 59.40e-6, "programs");
        assert_close(nand.erase, flash.erases.total as f64 * 132.00e-6, "erases");
    }
}

// ---------------------------------------------------------------- the equations on hand numbers

/// Two dies for 10 ms: 3.6 with an array at work, 0.4 with a die on its bus alone, 1 with a request only, 5 quiet. Three
/// reads, two writes, an erase. For 10 of the 400 µs both dies are with their buses.
fn hand_ledger() -> Ledger {
    let mut ledger = Ledger::new(2);
    ledger.elapsed_ns = [3_600_000, 400_000, 1_000_000, 5_000_000];
    ledger.transfer_die_ns = 410_000;
    let mut book = |state: DieState, cause: Cause, us: u64| ledger.die_ns[state as usize][cause as usize] = us * US;
    book(DieState::Read, Cause::Host, 3 * 50);
    book(DieState::ReadBus, Cause::Host, 3 * 82);
    book(DieState::DataWait, Cause::Host, 10);
    book(DieState::Program, Cause::Host, 900);
    book(DieState::Program, Cause::Gc, 900);
    book(DieState::ProgramBus, Cause::Host, 82);
    book(DieState::ProgramBus, Cause::Gc, 82);
    book(DieState::Erase, Cause::Gc, 2000);
    ledger.map_accesses = 40;
    ledger.dram_op_ns = 40 * 50 + 5 * 2560;
    ledger.host_interface_ns = 5 * 13_654;
    ledger
}

/// EnergySim's equations (1)–(14): each term by hand from EnergySim's PriceTable III, at 3.3 V.
#[test]
fn f6_equations_on_hand_numbers() {
    let priced = price(&hand_ledger(), &PriceTable::new(&energysim(&[]).ssd().energy));
    let e = &priced.energy_j;
    let v = 3.3;
    let controller = [30e-3 * v * 5e-3, 15e-3 * v * 5e-3];
    assert_close(e.controller.active, controller[0], "(1)");
    assert_close(e.controller.idle, controller[1], "(2)");
    let t_dram = 40.0 * 50e-9 + 5.0 * 2560e-9; // (4), (5): N_OP · T_OP for map accesses, and pages of data
    let dram = [100e-3 * v * t_dram, 20e-3 * v * (10e-3 - t_dram)];
    assert_close(e.dram.active, dram[0], "(5)");
    assert_close(e.dram.idle, dram[1], "(6)");
    let (reads, writes, erases) = (3.0 * 3.3e-6, 2.0 * 59.4e-6, 132e-6);
    assert_close(e.nand.read, reads, "(8)");
    assert_close(e.nand.program, writes, "(9)");
    assert_close(e.nand.erase, erases, "(10)");
    assert_close(e.nand.read + e.nand.program + e.nand.erase, 260.7e-6, "(11)");
    // (12): this table draws the idle current during transfers, so the two together are EnergySim's idle time of all dies.
    let t_idle = 2.0 * 10e-3 - (150e-6 + 1800e-6 + 2000e-6);
    assert_close(e.nand.idle + e.nand.transfer, 3e-3 * v * t_idle, "(12)");
    assert_close(e.nand.transfer, 3e-3 * v * (5.0 * 82e-6 + 10e-6), "transfers and waits for the bus");
    let flash = reads + writes + erases + 3e-3 * v * t_idle;
    assert_close(e.nand.total, flash, "(13)");
    let bus = 9e-3 * v * 5.0 * 13.654e-6;
    assert_close(e.host_interface, bus, "(14)");
    assert_close(e.total, controller[0] + controller[1] + dram[0] + dram[1] + flash + bus, "(3) + (7) + (13) + (14)");
    assert_close(priced.mean_w, e.total / 10e-3, "mean power");
    assert_close(priced.mean_ma, e.total / 10e-3 / v * 1e3, "mean current: every part is at 3.3 V");
    assert_close(priced.by_cause.host, reads + 59.4e-6 + 3e-3 * v * (4.0 * 82e-6 + 10e-6), "caused by the host");
    assert_close(priced.by_cause.gc, 59.4e-6 + erases + 3e-3 * v * 82e-6, "caused by collection");
}

/// DRAM with the controller (EnergySim, equations (4)–(7)): it is active for as long as the controller is.
#[test]
fn dram_with_the_controller() {
    let table = PriceTable::new(&energysim(&["energy.dram_rule=\"with_controller\""]).ssd().energy);
    let e = price(&hand_ledger(), &table).energy_j;
    assert_close(e.dram.active, 100e-3 * 3.3 * 5e-3, "active");
    assert_close(e.dram.idle, 20e-3 * 3.3 * 5e-3, "idle");
}

/// In terminal mode every current is drawn from the drive's supply.
#[test]
fn terminal_mode() {
    let component = price(&hand_ledger(), &PriceTable::new(&energysim(&[]).ssd().energy));
    let sets = ["energy.mode=\"terminal\"", "energy.terminal_v=5.0"];
    let terminal = price(&hand_ledger(), &PriceTable::new(&energysim(&sets).ssd().energy));
    assert_close(terminal.energy_j.total, component.energy_j.total * 5.0 / 3.3, "total: everything was at 3.3 V");
    assert_close(terminal.energy_j.nand.erase, 200e-6, "an erase at 5 V");
    assert_close(terminal.mean_ma, component.mean_ma, "the currents are the same");
}

/// The idle accountings by hand; flash that is off saves 9.9 mW a die.
#[test]
fn f10_idle_accountings_by_hand() {
    let total = |accounting: &str| {
        let table = PriceTable::new(&energysim(&[&format!("energy.idle_accounting=\"{accounting}\"")]).ssd().energy);
        let priced = price(&hand_ledger(), &table);
        let at = ACCOUNTINGS.iter().position(|a| *a == accounting).expect("one of them");
        assert_close(priced.totals_j[at], priced.energy_j.total, "the total of its own accounting");
        assert_close(
            priced.totals_j.iter().sum(),
            price(&hand_ledger(), &PriceTable::new(&energysim(&[]).ssd().energy)).totals_j.iter().sum(),
            "the others do not depend on it",
        );
        priced.energy_j.total
    };
    let [always, off, array, busy] = ACCOUNTINGS.map(total);
    assert_close(always - off, 2.0 * 9.9e-3 * 5e-3, "(ii): two dies off for 5 ms");
    // (iv): 4 ms of controller, DRAM idle and dies; operations as before.
    let saved = 3.3 * (30e-3 * 1e-3 + 15e-3 * 5e-3 + 20e-3 * 6e-3 + 2.0 * 3e-3 * 6e-3);
    assert_close(always - busy, saved, "(iv): nothing but operations is charged for 6 ms");
    // (iii): the same for 3.6 ms. Of the 800 µs that the dies spend in the other 400, they idle for 390.
    let saved = 3.3 * (50e-3 * 400e-6 + 3e-3 * 390e-6);
    assert_close(busy - array, saved, "(iii): nor for 400 µs of transfers alone");
    assert!(array < busy && busy < off && off < always);
}

/// A slot of 100 µs at 800 mA and 5 V is 0.4 mJ.
#[test]
fn f12_energy_of_a_slot() {
    let sets = [
        "energy.mode=\"terminal\"",
        "energy.controller.idle_ma=800",
        "energy.controller.active_ma=800",
        "energy.dram.idle_ma=0",
        "energy.nand.idle_ma=0",
    ];
    let ledger = Ledger { elapsed_ns: [0, 0, 0, 100_000], ..Ledger::new(16) };
    assert_close(price(&ledger, &PriceTable::new(&energysim(&sets).ssd().energy)).energy_j.total, 0.4e-3, "slot");
}

// ---------------------------------------------------------------- runs

/// A tiny run by hand: one die, a host link of 10^9 bytes/s, two writes 5 ms apart. Every phase has a known length.
#[test]
fn a_tiny_run_by_hand() {
    for accounting in ACCOUNTINGS {
        let accounting_set = format!("energy.idle_accounting=\"{accounting}\"");
        let layout = ["device.channels=1", "device.ways=1", "device.host_link.bandwidth_mb_s=1000"];
        let config = energysim(&[layout[0], layout[1], layout[2], &accounting_set]);
        let (report, _) = play(&config, &[write(0, 0, 1), write(5_000_000, 1, 1)]);
        let (link, busy, whole): (f64, f64, f64) = (4.096e-6, 982e-6, 5e-3 + 4.096e-6 + 982e-6);
        let (active, busy, array) = (2.0 * (link + busy), 2.0 * busy, 2.0 * 900e-6);
        let (rest_on, flash_on) = match accounting {
            "always_on" => (whole, whole),
            "flash_off" => (whole, active),
            "busy_only" => (array, busy), // the one die: its transfers are work of its own
            _ => (busy, busy),
        };
        let controller_on = active.min(rest_on);
        let v = 3.3;
        let controller = v * (30e-3 * controller_on + 15e-3 * (rest_on - controller_on));
        let dram_ops = 2.0 * (50e-9 + 2560e-9);
        let dram = v * (20e-3 * rest_on + 80e-3 * dram_ops);
        let nand = v * (20e-3 * 2.0 * 900e-6 + 3e-3 * (flash_on - 2.0 * 900e-6));
        let interface = v * 9e-3 * 2.0 * 13.654e-6;
        let e = &report.ssd().energy_j;
        assert_close(e.controller.active + e.controller.idle, controller, accounting);
        assert_close(e.dram.active + e.dram.idle, dram, accounting);
        assert_close(e.nand.total, nand, accounting);
        assert_close(e.host_interface, interface, accounting);
        assert_close(e.total, controller + dram + nand + interface, accounting);
        assert_close(report.throughput.simulated_s, whole, "simulated time");
    }
}

/// One write of a page by hand: the data takes 82 µs to the die, the program 900 µs, before them the host link 4.096 µs.
/// How long the other 15 dies idle, and how long the die at work idles before, is what the accountings differ in.
#[test]
fn idle_dies_of_one_write_by_hand() {
    for (accounting, idle_us) in [
        ("always_on", 16.0 * (4.096 + 82.0 + 900.0) - 982.0),
        ("flash_off", 16.0 * (4.096 + 82.0 + 900.0) - 982.0),
        ("busy_or_loading", 15.0 * (82.0 + 900.0)),
        ("busy_only", 15.0 * 900.0),
    ] {
        let sets = [format!("energy.idle_accounting=\"{accounting}\""), "device.host_link.bandwidth_mb_s=1000".into()];
        let (report, _) = play(&energysim(&sets.each_ref().map(String::as_str)), &[write(0, 0, 1)]);
        let (e, ledger) = (&report.ssd().energy_j, &report.ssd().ledger);
        assert_close(e.nand.idle, 9.9e-3 * idle_us * 1e-6, accounting);
        assert_close(e.nand.transfer, 9.9e-3 * 82e-6, "the transfer is work at all times");
        assert_close(e.nand.program, 59.4e-6, "so is the program");
        assert_eq!((ledger.elapsed_ns.busy, ledger.elapsed_ns.array), (982_000, 900_000));
        assert_eq!(ledger.transfer_die_ns, 82_000);
    }
}

/// Two writes that start together, on two channels of a die each, and a third that follows on the first: the 82 µs of
/// its transfer fall into the last 30 µs of the second program and the gap after it.
#[test]
fn a_gap_between_programs_by_hand() {
    let sets = ["device.channels=2", "device.ways=1", "energy.idle_accounting=\"busy_only\""];
    let config = energysim(&sets);
    let (report, log) = play(&config, &[write(0, 0, 2), write(0, 2, 1)]);
    let mut times: Vec<_> = log.ops.iter().map(|done| (done.t.start / US, done.t.array_start / US)).collect();
    times.sort_unstable();
    assert_eq!(times, [(0, 82), (30, 112), (982, 1064)], "a switch of channels takes 30 µs");
    let ledger = &report.ssd().ledger;
    // The arrays work from 82 to 1012 and from 1064 to 1964 µs.
    assert_eq!((ledger.elapsed_ns.busy, ledger.elapsed_ns.array), (1_964_000, 930_000 + 900_000));
    // Two dies are loaded from 30 to 82 µs, and one before; one from 1012 to 1064 µs.
    assert_eq!(ledger.transfer_die_ns, (30 + 2 * 52 + 52) * US);
    // In the time with arrays at work the first die is loaded for 30 µs, and the second for 30.
    let idle_us = 2.0 * 1830.0 - 3.0 * 900.0 - 60.0;
    assert_close(report.ssd().energy_j.nand.idle, 9.9e-3 * idle_us * 1e-6, "idle dies");
    assert_close(report.ssd().energy_j.controller.active, 99e-3 * 1830e-6, "the controller");
}

/// What the parts cost is the total; what dies did and idled is the time that passed; so by cause.
#[test]
fn f7_conservation() {
    for name in PRESETS {
        let config = mixed(name, &["run.count_drain=true"]);
        let report = run_plain(&config);
        let e = &report.ssd().energy_j;
        let nand = e.nand.read + e.nand.program + e.nand.erase + e.nand.transfer + e.nand.idle;
        assert_close(nand, e.nand.total, "flash");
        let parts = e.controller.active + e.controller.idle + e.dram.active + e.dram.idle + nand + e.host_interface;
        assert_close(parts, e.total, "parts");
        let c = &report.ssd().energy_by_cause_j;
        let of_cells = c.pad + c.fold;
        assert_close(c.host + c.gc + c.merge + c.map + c.wear + of_cells + c.shared, e.total, "causes");
        assert!(c.gc + c.merge > 0.0 && c.host > 0.0, "{name}: there is collection");
        let totals = &report.ssd().energy_total_j;
        assert_eq!(totals.always_on, e.total);
        let draws_when_idle = config.ssd().energy.nand.idle_ua > 0;
        assert!(
            (totals.busy_only < totals.busy_or_loading
                && totals.busy_or_loading < totals.flash_off
                && totals.flash_off < totals.always_on)
                == draws_when_idle,
            "{name}: {totals:?}, {:?}",
            report.ssd().ledger.elapsed_ns
        );
        let elapsed = &report.ssd().ledger.elapsed_ns;
        let total_ns = elapsed.busy + elapsed.outstanding + elapsed.quiet;
        let dies = u64::from(report.ssd().ledger.dies);
        let by_busy: Vec<u64> =
            report.ssd().parallelism.active_dies_s.iter().map(|s| (s * 1e9).round() as u64).collect();
        assert_eq!(by_busy.iter().sum::<u64>(), total_ns, "time by busy dies");
        let die_ns: u64 = report.ssd().ledger.die_ns.values().flat_map(|causes| causes.values()).sum();
        assert_eq!((0..).zip(&by_busy).map(|(n, ns)| n * ns).sum::<u64>(), die_ns, "die time in operations");
        assert!(die_ns <= dies * total_ns);
        assert_close(report.power_w.mean * total_ns as f64 * 1e-9, e.total, "mean power");
    }
}

/// The ledger's times are those of the operations and requests themselves, die by die; the controller is active
/// exactly while a request is in the device or a die is busy. Not of dies that do more than one thing at a time: there
/// [`three_paths_with_rows`] has the rules.
#[test]
fn f11_ledger_is_the_log() {
    for name in PRESETS {
        let config = briefly_mixed(name, &["run.count_drain=true"]);
        if config.ssd().device.has_cells() {
            continue;
        }
        let (report, log) = common::run_own(&config);
        let [begin, _] = log.window;
        let ends = log.ops.iter().map(|done| done.t.end).chain(log.requests.iter().map(|r| r.end_ns));
        let end = ends.max().expect("something was done");
        let clip = |from: Nanos, to: Nanos| (from.max(begin), to.max(begin));
        let ops: Vec<_> = log.ops.iter().map(|done| clip(done.t.start, done.t.end)).collect();
        let requests = log.requests.iter().map(|r| clip(r.admitted_ns, r.end_ns));
        let active: Vec<_> = ops.iter().copied().chain(requests).collect();
        let elapsed = &report.ssd().ledger.elapsed_ns;
        assert_eq!(elapsed.busy, union(&ops), "{name}: busy");
        let arrays: Vec<_> = log.ops.iter().map(|done| array_work(done.op.kind, &done.t)).collect();
        let arrays: Vec<_> = arrays.iter().map(|&(from, to)| clip(from, to)).collect();
        assert_eq!(elapsed.array, union(&arrays), "{name}: arrays at work");
        assert!(elapsed.array < elapsed.busy, "{name}: there are transfers alone");
        assert_eq!(report.ssd().ledger.transfer_die_ns, outside(&ops, &arrays), "{name}: dies at work then");
        assert_eq!(elapsed.busy + elapsed.outstanding, union(&active), "{name}: active");
        assert_eq!(elapsed.busy + elapsed.outstanding + elapsed.quiet, end - begin, "{name}: all");
        for die in 0..report.ssd().ledger.dies {
            let mine: Vec<_> = log
                .ops
                .iter()
                .filter(|done| done.op.at.die.0 == die)
                .map(|done| clip(done.t.start, done.t.end))
                .collect();
            let sum: u64 = mine.iter().map(|(from, to)| to - from).sum();
            assert_eq!(sum, union(&mine), "{name}, die {die}: one operation at a time");
        }
    }
}

/// When the array of an operation works.
fn array_work(kind: OpKind, t: &OpTimes) -> (Nanos, Nanos) {
    match kind {
        OpKind::Read | OpKind::Copy => (t.array_start, t.array_end),
        OpKind::SpareRead | OpKind::Program | OpKind::Erase | OpKind::Copyback => (t.array_start, t.end),
    }
}

/// Total length of the parts of intervals that lie in none of the others.
fn outside(intervals: &[(Nanos, Nanos)], others: &[(Nanos, Nanos)]) -> Nanos {
    let within = |&(from, to): &(Nanos, Nanos)| {
        let clipped: Vec<_> = others.iter().map(|&(a, b)| (a.clamp(from, to), b.clamp(from, to))).collect();
        union(&clipped)
    };
    intervals.iter().map(|interval| interval.1 - interval.0 - within(interval)).sum()
}

fn union(intervals: &[(Nanos, Nanos)]) -> Nanos {
    let mut sorted = intervals.to_vec();
    sorted.sort_unstable();
    let (mut length, mut reached) = (0, 0);
    for (from, to) in sorted {
        length += to.saturating_sub(from.max(reached));
        reached = reached.max(to);
    }
    length
}

/// The energies of all bins of a power series and of the work left at its end add up to the total, whatever the bins;
/// so does each component's. No bin lies above the peak.
#[test]
fn f8_series_adds_up_to_the_total() {
    for (at, name) in PRESETS.into_iter().enumerate() {
        for (of_accounting, accounting) in ACCOUNTINGS.into_iter().enumerate() {
            for (of_interval, interval) in [0, 1_000, 77_777, 1_000_000_000_000].into_iter().enumerate() {
                if !takes_its_turn(at, of_accounting + of_interval) {
                    continue;
                }
                let accounting = format!("energy.idle_accounting=\"{accounting}\"");
                let config = briefly_mixed(name, &[&accounting]);
                let options = RunOptions { series_interval_ns: Some(interval), ..RunOptions::default() };
                let report = flashwatt::run(&config, &options, &mut |_| true).expect("it runs");
                check_series(&report, &format!("{name}, {accounting}, bins of {interval} ns"));
            }
        }
    }
}

fn check_series(report: &Report, what: &str) {
    let series = report.series.as_ref().expect("it was asked for");
    let elapsed = &report.ssd().ledger.elapsed_ns;
    let total_ns = elapsed.busy + elapsed.outstanding + elapsed.quiet;
    let energy = |bins: &[f64]| -> f64 {
        assert_eq!(bins.len() as u64, total_ns.div_ceil(series.interval_ns), "{what}: every bin is there");
        let ns = |at: u64| series.interval_ns.min(total_ns - at * series.interval_ns);
        (0..).zip(bins).map(|(at, w)| w * ns(at) as f64 * 1e-9).sum()
    };
    let (p, e) = (&series.power_w, &report.ssd().energy_j);
    let parts = [
        ("controller", e.controller.active + e.controller.idle),
        ("dram", e.dram.active + e.dram.idle),
        ("nand_idle", e.nand.idle),
        ("nand_read", e.nand.read),
        ("nand_program", e.nand.program),
        ("nand_erase", e.nand.erase),
        ("nand_transfer", e.nand.transfer),
        ("host_interface", e.host_interface),
    ];
    for (name, joules) in parts {
        assert_close(energy(&p[name]), joules, &format!("{what}, {name}"));
    }
    let peak_w = report.power_w.peak.expect("a run has a peak");
    let highest_w = total_power(report).into_iter().fold(0.0, f64::max);
    assert!(highest_w <= peak_w * (1.0 + 1e-12), "{what}: a bin of {highest_w} W, a peak of {peak_w} W");
}

// ---------------------------------------------------------------- peaks

/// The X25-M draws 190 + 17·n mA with n dies at work; one write of n pages peaks there, from 30·(n − 1) µs
/// on; at most 20 dies, so that 530 mA (520 ± 3 %) is the peak of 80 KB and of 160 KB.
#[test]
fn f21_x25m_staircase() {
    for n in 1..=40 {
        let (report, series) = x25m_write(n, &[]);
        let dies = n.min(20);
        assert_eq!(report.current_ma.peak, Some(190.0 + 17.0 * dies as f64), "{n} pages");
        assert_close(report.power_w.peak.expect("a run has a peak"), (190.0 + 17.0 * dies as f64) * 5e-3, "peak power");
        let peak_w = series.iter().copied().fold(0.0, f64::max);
        let reached_us = series.iter().position(|&w| w > peak_w * (1.0 - 1e-12));
        assert_eq!(reached_us, Some(30 * (dies as usize - 1)), "{n} pages: when");
        assert!((peak_w - (190.0 + 17.0 * dies as f64) * 5e-3).abs() < 1e-12, "{n} pages: the series' peak");
    }
    let peak = x25m_write(20, &[]).0.current_ma.peak.expect("a run has a peak");
    assert!((peak / 520.0 - 1.0).abs() < 0.03, "within 3 % of the published peak");
}

/// With a program of 500 µs 20 dies overlap for 12 µs only, through the transfer that counts as work; 17 at
/// most program at the same time.
#[test]
fn f24_x25m_with_fast_programs() {
    let (report, _) = x25m_write(20, &["device.timing.program_ns=500000"]);
    assert_eq!(report.current_ma.peak, Some(530.0));
    assert_eq!(report.current_ma.time_at_peak_ns, Some(12_000));
    let config = x25m(&["device.timing.program_ns=500000"]);
    for pages in [20, 21, 40] {
        let (_, log) = play(&config, &[write(0, 0, pages)]);
        assert_eq!(log.programming().len() - 1, 17, "{pages} pages");
    }
}

fn x25m(sets: &[&str]) -> Config {
    preset("x25m", &[&["device.logical_bytes=1000000000"], sets].concat())
}

/// One write of `pages` pages: the report, and the drive's power in W for every µs.
fn x25m_write(pages: u64, sets: &[&str]) -> (Report, Vec<f64>) {
    let sets = [sets, &["workload.uniform.requests=1", "workload.uniform.sequential=true"]].concat();
    let bytes = format!("workload.uniform.request_bytes={}", pages * PAGE);
    let config = x25m(&[&sets[..], &[&bytes]].concat());
    let options = RunOptions { series_interval_ns: Some(US), ..RunOptions::default() };
    let report = flashwatt::run(&config, &options, &mut |_| true).expect("it runs");
    let power = total_power(&report);
    (report, power)
}

fn total_power(report: &Report) -> Vec<f64> {
    let p = &report.series.as_ref().expect("it was asked for").power_w;
    let parts = [
        &p["controller"],
        &p["dram"],
        &p["nand_idle"],
        &p["nand_read"],
        &p["nand_program"],
        &p["nand_erase"],
        &p["nand_transfer"],
    ];
    let sum = |at: usize| parts.iter().map(|part| part[at]).sum::<f64>() + p["host_interface"][at];
    (0..p["controller"].len()).map(sum).collect()
}

/// With 16 dies the peak current does not depend on channels × ways, exactly: 450 mA with EnergySim's controller
/// and DRAM, and 9 more while data crosses the host interface.
#[test]
fn f30_peak_does_not_depend_on_the_layout() {
    for (channels, ways) in [(2, 8), (4, 4), (8, 2), (16, 1)] {
        for (interface_ma, more) in [(0, 0.0), (9, 9.0)] {
            let sets = [
                format!("device.channels={channels}"),
                format!("device.ways={ways}"),
                format!("energy.host_interface.active_ma={interface_ma}"),
                "energy.dram_rule=\"with_controller\"".to_string(),
                "energy.host_interface.charged_data=\"host_bytes\"".to_string(),
            ];
            let config = energysim(&sets.each_ref().map(String::as_str));
            let peak = play(&config, &[write(0, 0, 160)]).0.current_ma.peak;
            assert_eq!(peak, Some(30.0 + 100.0 + 16.0 * 20.0 + more), "{channels}x{ways}");
        }
    }
}

// ---------------------------------------------------------------- law 3: three paths

/// A directory of this test's own, removed afterwards.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("flashwatt-energy-laws-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a scratch directory");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// What the script makes of an operation log, by component and by cause.
pub(super) type Prices = std::collections::BTreeMap<String, f64>;

/// Prices operation logs by the script: each with the report of its run.
pub(super) fn run_script(files: &[[PathBuf; 2]]) -> Vec<Prices> {
    let mut command = Command::new("python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/price_op_log.py"));
    let output = command.args(files.as_flattened()).output().expect("python3 is needed to test law 3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("the script prints JSON")).collect()
}

/// Runs configurations and prices their operation logs by the script. `edit` may change the logs before.
fn price_outside(configs: &[(String, Config)], edit: impl Fn(String) -> String) -> Vec<(Report, Prices)> {
    let scratch = Scratch::new();
    let (mut files, mut reports) = (Vec::new(), Vec::new());
    for (name, config) in configs {
        let (log, json) = (scratch.0.join(format!("{name}.csv")), scratch.0.join(format!("{name}.json")));
        let options = RunOptions { op_log: Some(log.clone()), ..RunOptions::default() };
        let report = flashwatt::run(config, &options, &mut |_| true).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(report.status, "complete", "{name}");
        std::fs::write(&json, serde_json::to_vec(&report).expect("a report is JSON")).expect("a scratch file");
        let text = std::fs::read_to_string(&log).expect("the log is there");
        std::fs::write(&log, edit(text)).expect("a scratch file");
        files.push([log, json]);
        reports.push(report);
    }
    let priced: Vec<(Report, Prices)> = reports.into_iter().zip(run_script(&files)).collect();
    assert_eq!(priced.len(), configs.len(), "a line for each");
    priced
}

/// The greatest relative difference between the report's energies and the script's, and where.
fn difference(report: &Report, outside: &Prices) -> (f64, String) {
    let e = &report.ssd().energy_j;
    let inside = [
        ("controller", e.controller.active + e.controller.idle),
        ("dram", e.dram.active + e.dram.idle),
        ("nand.read", e.nand.read),
        ("nand.program", e.nand.program),
        ("nand.erase", e.nand.erase),
        ("nand.transfer", e.nand.transfer),
        ("nand.idle", e.nand.idle),
        ("host_interface", e.host_interface),
        ("total", e.total),
    ];
    let relative = inside.map(|(name, joules)| {
        let difference = (joules - outside[name]).abs();
        (if difference == 0.0 { 0.0 } else { difference / joules.abs().max(1e-15) }, name.to_string())
    });
    relative.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are components")
}

/// Fails unless all three paths agree for every configuration.
#[track_caller]
fn assert_three_paths(configs: &[(String, Config)]) -> Vec<Report> {
    let check = |((name, _), (report, outside)): (&(String, Config), (Report, Prices))| {
        assert_close(report.energy_integral_j, report.ssd().energy_j.total, &format!("{name}: the meter's integral"));
        let (relative, component) = difference(&report, &outside);
        assert!(relative <= 1e-9, "{name}: the script differs by {relative:e} in {component}");
        let memory_j = report.ssd().host_memory.as_ref().and_then(|memory| memory.energy_j).unwrap_or_default();
        assert_close(memory_j, outside["host_memory"], &format!("{name}: the host's memory"));
        let ByCause { host, gc, merge, map, wear, backup, journal, pad, fold, .. } = report.ssd().energy_by_cause_j;
        let joules = [host, gc, merge, map, wear, backup, journal, pad, fold];
        for (cause, joules) in Cause::ALL.iter().zip(joules) {
            let outside = outside.get(&format!("cause.{}", cause.name())).copied().unwrap_or_default();
            let off = (joules - outside).abs() / joules.abs().max(1e-15);
            assert!(off <= 1e-9, "{name}: energy of cause {}: {joules} instead of {outside}", cause.name());
        }
        report
    };
    configs.iter().zip(price_outside(configs, |log| log)).map(check).collect()
}

/// With the data of reads off the bus, and with energy for the pages over the flash buses: each alone and both, under every idle
/// accounting between them, with copies over the bus and within a die.
#[test]
fn three_paths_with_the_rules_of_the_released_code() {
    let rules = ["controller.read_transfer=\"free\"", "energy.host_interface.charged_data=\"flash_pages\""];
    let ways: [(&str, &[&str]); 4] = [
        ("free", &rules[..1]),
        ("pages", &rules[1..]),
        ("both", &rules),
        ("both_copyback", &[rules[0], rules[1], "device.nand.copyback=true", "energy.idle_accounting=\"busy_only\""]),
    ];
    let of = |(name, sets): (&str, &[&str])| {
        let price = "energy.host_interface.active_ma=9";
        (format!("rules_{name}"), common::mixed("tlc-nvme-1t", &[sets, &[price]].concat()))
    };
    assert_three_paths(&ways.map(of));
}

/// With reads of parts of pages, in windows that begin and end while some are under way.
#[test]
fn three_paths_with_parts_of_pages() {
    let parts = ["device.bus.partial_pages=true", "energy.host_interface.active_ma=9"];
    let pages = "energy.host_interface.charged_data=\"flash_pages\"";
    let sectors = "device.bus.partial_unit=\"sector\"";
    let ways: [(&str, &[&str]); 4] = [
        ("units", &["ftl.page.map_unit_bytes=2048"]),
        ("sectors", &[sectors, pages]),
        ("both", &[sectors, "ftl.page.map_unit_bytes=2048", "energy.idle_accounting=\"busy_only\""]),
        ("both_pages", &[sectors, "ftl.page.map_unit_bytes=1024", pages, "energy.idle_accounting=\"flash_off\""]),
    ];
    let of = |(name, sets): (&str, &[&str])| {
        (format!("parts_{name}"), common::mixed("tlc-nvme-1t", &[sets, &parts].concat()))
    };
    let reports = assert_three_paths(&ways.map(of));
    assert!(reports.iter().all(|report| report.window.drained > 0), "the windows end while requests are under way");
}

/// Rows of pages over several planes, joint reads, and transfers beside the array, in windows that begin and end while some are under way.
#[test]
fn three_paths_with_rows() {
    const BUFFER: [&str; 2] = ["write_buffer.bytes=524288", "device.cells.stripe=\"row\""];
    let planes = [
        "device.pages_per_block=24",
        "device.op_ratio=0.6",
        "energy.nand.extra_plane_read_ma=3",
        "energy.nand.extra_plane_program_ma=7",
        "energy.nand.extra_plane_erase_ma=5",
    ];
    let serial = ["device.bus.cache_read=false", "device.bus.cache_program=false"];
    let slc = [
        "device.cells.slc.read_ns=20011",
        "device.cells.slc.program_ns=200009",
        "energy.nand.slc_program_ma=35",
        "energy.nand.slc_extra_plane_program_ma=3",
    ];
    let dynamic = [&slc[..], &["slc_cache.dynamic=true", "slc_cache.after=\"through\""]].concat();
    let both =
        [&slc[..], &["slc_cache.dynamic=true", "slc_cache.static_bytes=400000", "slc_cache.fold=\"eager\""]].concat();
    let on_die = [&slc[..], &["slc_cache.static_bytes=400000", "slc_cache.on_die=true", BUFFER[0], BUFFER[1]]].concat();
    let in_host = [
        "ftl=\"dftl\"",
        "ftl.dftl.cmt_entries=60",
        "device.host_memory.read_ns=801",
        "energy.host_memory.pj_per_bit=22.5",
        "energy.host_interface.active_ma=9",
        "run.count_drain=true",
    ];
    let passes = ["device.cells.passes=2", "device.cells.first_pass_ns=250007", "device.pages_per_block=48"];
    let passes_slc = [&dynamic[..], &passes, &["write_buffer.bytes=1048576", BUFFER[1]]].concat();
    let ways: [(&str, &[&str]); 14] = [
        ("plain", &[]),
        ("host_memory", &in_host),
        ("passes", &passes),
        ("passes_slc", &passes_slc),
        ("slc_dynamic", &dynamic),
        ("slc_both", &both),
        ("slc_on_die", &on_die),
        ("serial", &serial),
        ("buffer", &BUFFER),
        ("dftl", &["ftl=\"dftl\"", "energy.idle_accounting=\"busy_only\""]),
        (
            "slow_bus",
            &[
                "device.timing.page_transfer_ns=82001",
                "write_buffer.bytes=1048576",
                "energy.idle_accounting=\"flash_off\"",
            ],
        ),
        ("same_row", &["device.bus.joint_reads=\"same_row\"", "ftl.page.map_unit_bytes=1024", BUFFER[0], BUFFER[1]]),
        ("parts", &["device.bus.partial_pages=true", "device.bus.partial_unit=\"sector\"", "run.count_drain=true"]),
        (
            "copyback",
            &["device.nand.copyback=true", "energy.nand.transfer_ns=1234", "energy.idle_accounting=\"busy_only\""],
        ),
    ];
    let of = |(name, sets): (&str, &[&str])| {
        (format!("rows_{name}"), briefly_mixed("limit", &[&ROWS, &planes[..], sets].concat()))
    };
    assert_three_paths(&ways.map(of));
}

/// With programs and erases that reads suspend, on dies with and without rows, in windows that begin and end while some are suspended.
#[test]
fn three_paths_with_suspension() {
    let all = [
        "run.precondition=\"filled\"",
        "device.channels=2",
        "device.ways=2",
        "device.blocks_per_plane=40",
        "device.cells.stripe=\"row\"",
        "device.suspend.program_ns=20011",
        "device.suspend.erase_ns=50021",
        "device.suspend.resume_ns=10007",
        "workload.uniform.requests=2500",
        "workload.uniform.read_fraction=0.4",
        "workload.uniform.request_bytes=8192",
        "workload.uniform.queue_depth=16",
        "run.warmup.requests=200",
        "run.measure.requests=2000",
    ];
    let beside = ["device.bus.cache_read=true", "device.bus.cache_program=true", "device.bus.cache_busy_ns=3001"];
    let planes = [
        "energy.nand.extra_plane_program_ma=4",
        "energy.nand.extra_plane_read_ma=3",
        "energy.nand.extra_plane_erase_ma=2",
    ];
    let joint = ["device.bus.joint_reads=\"any\"", "energy.idle_accounting=\"busy_only\""];
    let slow = ["device.timing.page_transfer_ns=60000", "device.suspend.max=2", "device.suspend.min_run_ns=50000"];
    let ways: [(&str, u32, u32, Vec<&str>); 5] = [
        ("pages", 1, 1, vec!["energy.idle_accounting=\"flash_off\""]),
        ("rows", 4, 3, [&planes[..], &["run.count_drain=true"]].concat()),
        ("beside", 4, 3, [&planes[..], &beside, &joint].concat()),
        ("slow", 2, 2, [&planes[..], &slow].concat()),
        ("restart", 2, 2, [&slow[..1], &beside, &["device.suspend.resume=\"restart\""]].concat()),
    ];
    let of = |(name, planes, bits, sets): (&str, u32, u32, Vec<&str>)| {
        (format!("suspend_{name}"), super::rows::die(planes, bits, &[&all[..], &sets].concat()))
    };
    let configs = ways.map(of);
    for ((name, _), (report, outside)) in configs.iter().zip(price_outside(&configs, |log| log)) {
        assert_close(report.energy_integral_j, report.ssd().energy_j.total, &format!("{name}: the meter's integral"));
        // The log does not have the pages that memory serves, which pass DRAM.
        let nand = &report.ssd().energy_j.nand;
        let inside =
            [("read", nand.read), ("program", nand.program), ("erase", nand.erase), ("transfer", nand.transfer)];
        for (component, joules) in inside.into_iter().chain([("idle", nand.idle)]) {
            assert_close(joules, outside[&format!("nand.{component}")], &format!("{name}: nand.{component}"));
        }
        let ledger = serde_json::to_value(&report).expect("a report is JSON")["ledger"].take();
        assert!(ledger["die_ns"]["suspended"].is_object(), "{name}: dies are suspended");
    }
}

/// A preset of an SSD that is not in the list of these tests fails here.
#[test]
fn every_preset_is_enrolled() {
    let is_ssd = |name: &str| common::load("", &[&format!("device.preset={name}")]).drive.ssd().is_some();
    let names = flashwatt::config::PRESETS.iter().map(|(name, _)| *name);
    let mut names: Vec<&str> = names.filter(|name| is_ssd(name)).collect();
    let mut enrolled = PRESETS.to_vec();
    names.sort_unstable();
    enrolled.sort_unstable();
    assert_eq!(enrolled, names, "common::PRESETS, and a size for common::mixed");
}

/// Whether `make test` tries a combination with this number of the preset with that number: each fourth, so that four presets try them
/// all. The soak tries each with each.
fn takes_its_turn(preset: usize, combination: usize) -> bool {
    tier::soak().is_some() || (preset + combination).is_multiple_of(4)
}

/// Law 3: synthetic runs of all presets under both DRAM rules, both modes and all accountings, with a warm-up, a bounded
/// window, and a drain that is counted or not.
#[test]
fn law_3_synthetic_runs() {
    let mut configs = Vec::new();
    for (at, name) in PRESETS.into_iter().enumerate() {
        let mut combination = 0;
        for rule in ["per_op", "with_controller"] {
            for mode in ["component", "terminal"] {
                for (accounting, drain) in ACCOUNTINGS.into_iter().zip([true, false, true, false]) {
                    combination += 1;
                    // The accountings are four: without the shift a preset would always take the same one.
                    if !takes_its_turn(at, combination + combination / 4) {
                        continue;
                    }
                    let sets = [
                        format!("energy.dram_rule=\"{rule}\""),
                        format!("energy.mode=\"{mode}\""),
                        format!("energy.idle_accounting=\"{accounting}\""),
                        format!("run.count_drain={drain}"),
                    ];
                    let config = briefly_mixed(name, &sets.each_ref().map(String::as_str));
                    configs.push((format!("{name}-{rule}-{mode}-{accounting}"), config));
                }
            }
        }
    }
    for report in assert_three_paths(&configs) {
        assert!(report.window.drained > 0 && report.window.warmup == 300, "all stages are in it");
    }
}

/// Law 3 where the rest of the engine takes part: copybacks, sub-page maps, in-order dies, a host link, wear levelling,
/// a time-bounded window, stalled writes, a write buffer, a journal.
#[test]
fn law_3_other_drives() {
    const BUFFER: &str = "write_buffer.bytes=65536";
    const JOURNAL: &str = "write_buffer.protection=\"journal\"";
    const PARTS: &str = "device.bus.partial_pages=true";
    const SECTORS: &str = "device.bus.partial_unit=\"sector\"";
    const UNITS: &str = "ftl.page.map_unit_bytes=1024";
    const HOST_MEMORY: &str = "device.host_memory.read_ns=801";
    const HOST_PJ: &str = "energy.host_memory.pj_per_bit=22.5";
    const LINK_MA: &str = "energy.host_interface.active_ma=9";
    let cases: [&[&str]; 24] = [
        &["ftl=\"dftl\"", HOST_MEMORY, HOST_PJ, LINK_MA, "ftl.dftl.cmt_entries=40", "device.op_ratio=0.6", BUFFER],
        &["ftl=\"tpftl\"", HOST_MEMORY, HOST_PJ, LINK_MA, "device.op_ratio=0.6", "device.host_link.bandwidth_mb_s=200"],
        &["ftl=\"rftl\"", HOST_MEMORY, HOST_PJ, LINK_MA, "device.op_ratio=0.6", "ftl.rftl.cmt_entries=40"],
        &[PARTS, UNITS],
        &[PARTS, SECTORS, "energy.nand.transfer_ns=1234", "controller.power_budget_ma=700"],
        &[PARTS, SECTORS, UNITS, "write_buffer.bytes=65536", "device.timing.channel_switch_ns=5000"],
        &[
            PARTS,
            SECTORS,
            "ftl=\"dftl\"",
            "device.op_ratio=0.3",
            "device.timing.page_transfer_ns=82001",
            "device.host_link.bandwidth_mb_s=200",
        ],
        &[PARTS, UNITS, "energy.host_interface.charged_data=\"flash_pages\"", "run.measure.seconds=0.123456789"],
        &["device.firmware.command_ns=3000", "device.firmware.read_ns=20000", "device.host_link.bandwidth_mb_s=200"],
        &["energy.nand.transfer_ns=1234"],
        &["energy.nand.transfer_ns=99000", "device.nand.copyback=true", "device.host_link.bandwidth_mb_s=200"],
        &["controller.power_budget_ma=700"],
        &["device.timing.program_upper_ns=1234567", "device.nand.copyback=true"],
        &["controller.power_budget_ma=660", "device.timing.channel_switch_ns=5000", "write_buffer.bytes=65536"],
        &["write_buffer.bytes=262144"],
        &["write_buffer.bytes=65536", "ftl.page.map_unit_bytes=1024", "device.host_link.bandwidth_mb_s=200"],
        &[BUFFER, JOURNAL, "device.op_ratio=0.3"],
        &[BUFFER, JOURNAL, "device.op_ratio=0.3", "ftl.page.map_unit_bytes=1024"],
        &["device.nand.copyback=true"],
        &["ftl.page.map_unit_bytes=1024"],
        &["controller.policy=\"in_order\"", "ftl.page.frontiers=\"shared\"", "gc.preemptible=false"],
        &["device.host_link.bandwidth_mb_s=200", "device.host_link.command_ns=3000"],
        &["wear.policy=\"static_swap\"", "wear.min_gap=1", "gc.policy=\"random\""],
        &["run.warmup.seconds=0.01", "run.measure.seconds=0.123456789", "device.host_link.queue_depth=1"],
    ];
    let more = ["run.count_drain=true", "energy.nand.transfer_ma=\"operation\""];
    for accounting in ["always_on", "busy_only"] {
        let accounting = format!("energy.idle_accounting=\"{accounting}\"");
        let more = [&more[..], &[&accounting]].concat();
        let case =
            |(at, sets): (usize, &[&str])| (format!("case-{at}"), briefly_mixed("limit", &[sets, &more].concat()));
        assert_three_paths(&cases.into_iter().enumerate().map(case).collect::<Vec<_>>());
    }
}

/// Law 3 on every real trace that can be read (`../shared/traces`, beside the repository).
#[test]
fn law_3_real_traces() {
    let Some(folder) = real_traces() else { return };
    let entries = std::fs::read_dir(&folder).expect("the folder");
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.sort();
    let mut configs = Vec::new();
    let requests = format!("workload.trace.max_requests={}", tier::size(600, 2_000));
    for file in files.iter().filter(|file| file.file_name().is_some_and(|name| name != "README.md")) {
        let path = format!("workload.trace.path=\"{}\"", file.display());
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let sets = [&path, "workload.trace.fold=true", "workload.trace.skip_bad=true", &requests];
        let window = ["run.warmup.requests=100", "run.count_drain=true", "device.blocks_per_plane=128"];
        let config = preset("energysim", &[&sets[..], &window].concat());
        if let Err(error) = flashwatt_workload::open(&config.workload, config.logical_bytes(), 1) {
            say(&format!("{name}: {error}"));
            continue;
        }
        configs.push((name, config));
    }
    assert!(configs.len() >= 10, "most traces can be read: {} of {}", configs.len(), files.len());
    assert_three_paths(&configs);
}

/// The comparison of law 3 notices one operation that is missing from the log, whichever it is.
#[test]
fn a_withheld_operation_is_noticed_in_the_log() {
    // A request costs what its bytes cost: the preset charges pages over the bus, at the start of each operation.
    let of_requests = "energy.host_interface.charged_data=\"host_bytes\"";
    let config = mixed("energysim", &["run.count_drain=true", of_requests]);
    for kind in ["read", "program", "erase", "request,write", "map"] {
        let withhold = |log: String| {
            let lines: Vec<&str> = log.lines().collect();
            let begin = lines.iter().rposition(|line| line.starts_with("window")).expect("there is a window");
            let matching = |(at, line): &(usize, &&str)| *at > begin && line.starts_with(kind);
            let count = lines.iter().enumerate().filter(matching).count();
            let victim = lines.iter().enumerate().filter(matching).nth(count / 2).map(|(at, _)| at);
            let kept = lines.iter().enumerate().filter(|(at, _)| Some(*at) != victim);
            kept.map(|(_, line)| format!("{line}\n")).collect()
        };
        let priced = price_outside(&[("withheld".to_string(), config.clone())], withhold);
        let (relative, _) = difference(&priced[0].0, &priced[0].1);
        assert!(relative > 1e-9, "a missing {kind} went unnoticed");
    }
}

/// The comparison of law 3 notices one operation that is missing from the ledger, whichever it is.
#[test]
fn a_withheld_operation_is_noticed_in_the_ledger() {
    let config = mixed("energysim", &[]);
    let (ledger, reading) = accounts(&config);
    let table = PriceTable::new(&config.ssd().energy);
    let total = |ledger: &Ledger| price(ledger, &table).energy_j.total;
    assert_close(total(&ledger), reading.energy_j, "the untouched ledger agrees");
    let timing = &config.ssd().device.timing;
    for (state, ns) in
        [(DieState::Read, timing.read_ns), (DieState::Program, timing.program_ns), (DieState::Erase, timing.erase_ns)]
    {
        for cause in [Cause::Host, Cause::Gc] {
            let mut ledger = ledger.clone();
            let booked = &mut ledger.die_ns[state as usize][cause as usize];
            let Some(less) = booked.checked_sub(ns) else { continue };
            *booked = less;
            let off = (total(&ledger) / reading.energy_j - 1.0).abs();
            assert!(off > 1e-9, "a missing {} of {} went unnoticed", state.name(), cause.name());
        }
    }
    let mut less = ledger.clone();
    less.elapsed_ns[Phase::Quiet as usize] -= 1_000;
    assert!((total(&less) / reading.energy_j - 1.0).abs() > 1e-9, "a missing microsecond went unnoticed");
}

/// The ledger and the meter's reading of the measured window.
fn accounts(config: &Config) -> (Ledger, Reading) {
    assert_eq!(config.run.precondition, Precondition::Filled);
    let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
    let (mut firmware, mut array) = (
        Firmware::new(&config.ssd().ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry),
        Array::new(geometry.clone(), config.ssd().device.nand.program_order),
    );
    crate::common::fill(&mut firmware, &mut array);
    let mut workload = flashwatt_workload::open(&config.workload, config.logical_bytes(), config.run.seed)
        .expect("a synthetic workload");
    let sim = Sim::new(
        &config.run.stages(),
        Ssd::new(config.ssd(), firmware, array, None::<Box<Series>>, ()),
        workload.as_mut(),
    );
    let (outcome, ..) = sim.run(&mut |_| true);
    (outcome.measured.figures.ledger, outcome.measured.reading.expect("the drain is not counted"))
}
