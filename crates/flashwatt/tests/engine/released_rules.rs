//! Two rules of the code that EnergySim's authors released: the data of a read takes no bus, and energy is charged for the pages that
//! cross a flash bus. Times and energies against values worked by hand.

use crate::common::delays::{COMMAND, P, PROGRAM, R, READ, TRANSFER};
use crate::common::{
    PAGE, PROBE_DRIVE, assert_close, assert_within, half_write, load, play, preset, read, run_plain, write,
};
use flashwatt::config::Config;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Request;
use flashwatt_ssd::ftl::{Cause, OpKind};

/// The probe drive with two dies on one channel.
fn probe(sets: &[&str]) -> Config {
    load(PROBE_DRIVE, &[&["device.ways=2"], sets].concat())
}

/// When requests end, in the order of their submission.
fn ends(config: &Config, requests: &[Request]) -> Vec<Nanos> {
    let (_, log) = play(config, requests);
    let mut ends: Vec<_> = log.requests.iter().map(|done| (done.id, done.end_ns)).collect();
    ends.sort_by_key(|(id, _)| id.0);
    ends.into_iter().map(|(_, end)| end).collect()
}

/// Two reads of two dies on one channel. On the bus the second one waits for the data of the first; free, it ends when its array is done.
#[test]
fn free_data_waits_for_no_bus() {
    let requests = [read(0, 0, 1), read(0, 1, 1)];
    assert_eq!(ends(&probe(&[]), &requests), [R, R + TRANSFER]);
    let free = probe(&["controller.read_transfer=\"free\""]);
    assert_eq!(ends(&free, &requests), [COMMAND + READ, 2 * COMMAND + READ]);
    let (report, _) = play(&free, &requests);
    let ns = |state: &str| report.ssd().ledger.die_ns[state].values().sum::<u64>();
    assert_eq!((ns("read"), ns("read_transfer"), ns("data_wait")), (2 * READ, 2 * COMMAND, 0));
    assert_eq!(report.energy_integral_j, report.ssd().energy_j.total);
}

/// A program of the second die begins when the read of the first one has sent its command: the data that comes out meanwhile does not
/// hold the bus. And a read ends while the bus is taken by the data of a program.
#[test]
fn free_data_leaves_the_bus_to_programs() {
    let free = probe(&["controller.read_transfer=\"free\"", "ftl.page.allocation=\"static\""]);
    let late = COMMAND + READ - 100; // the program's data is on the bus when the read's would come out
    assert_eq!(ends(&free, &[read(0, 0, 1), write(late, 1, 1)]), [COMMAND + READ, late + P]);
    let on_bus = probe(&["ftl.page.allocation=\"static\""]);
    assert_eq!(ends(&on_bus, &[read(0, 0, 1), write(late, 1, 1)])[0], late + COMMAND + TRANSFER + TRANSFER);
    // The other way round: a program that comes while the data of a read would be on the bus does not wait for it.
    let after = COMMAND + READ + 100;
    assert_eq!(ends(&free, &[read(0, 0, 1), write(after, 1, 1)])[1], after + P);
    assert_eq!(ends(&on_bus, &[read(0, 0, 1), write(after, 1, 1)])[1], R + P);
}

/// The read of a copy ends as early: its program follows at once.
#[test]
fn free_data_shortens_copies() {
    for (transfer, end) in [("free", COMMAND + READ + P), ("on_bus", R + P)] {
        let transfer = format!("controller.read_transfer=\"{transfer}\"");
        let (_, log) = play(&probe(&[&transfer]), &[half_write(0, 3)]);
        let [read, program] = &log.ops[..] else { panic!("{} operations", log.ops.len()) };
        assert_eq!((read.op.kind, program.op.kind), (OpKind::Read, OpKind::Program));
        assert_eq!((program.t.start + P, program.t.end), (end, end), "{transfer}");
        assert_eq!(program.t.end - program.t.array_start, PROGRAM);
    }
}

/// What a page costs on the bus: 4,096 bytes at 300 MB/s take 13,654 ns, rounded up, at 9 mA and 3.3 V: 0.4055 uJ.
const BUS_PAGE_J: f64 = 13_654e-9 * 9e-3 * 3.3;

/// Each page that is read or programmed over a bus counts, whole. Half a page that is written reads the page first: two pages.
/// By the bytes of requests it is half a page, of 6,827 ns.
#[test]
fn pages_over_the_bus_are_charged() {
    let bus_j = |charged: &str, requests: &[Request]| {
        let charged = format!("energy.host_interface.charged_data=\"{charged}\"");
        let sets = ["device.blocks_per_plane=32", "run.count_drain=true", &charged];
        play(&preset("energysim", &sets), requests).0.ssd().energy_j.host_interface
    };
    assert_close(bus_j("flash_pages", &[read(0, 0, 3), write(0, 7, 1)]), 4.0 * BUS_PAGE_J, "3 reads and a program");
    assert_close(bus_j("flash_pages", &[half_write(0, 5)]), 2.0 * BUS_PAGE_J, "a read and a program");
    assert_close(bus_j("host_bytes", &[half_write(0, 5)]), BUS_PAGE_J / 2.0, "half a page");
    assert_within((8.45e6 + 7.44e6) * BUS_PAGE_J, 6.44, 1e-3, "the operations of Table VIII, in J");
}

/// Under collection the pages that it moves count, too; copies within a die do not.
#[test]
fn copies_over_the_bus_are_charged_and_copybacks_are_not() {
    for copyback in [false, true] {
        let copies = format!("device.nand.copyback={copyback}");
        let sets = [
            "device.channels=2",
            "device.ways=1",
            "device.blocks_per_plane=32",
            "device.pages_per_block=16",
            "workload.uniform.requests=8000",
            "workload.uniform.read_fraction=0.3",
            "run.count_drain=true",
            &copies,
        ];
        let report = run_plain(&preset("energysim", &sets));
        let flash = &report.ssd().flash;
        assert!(flash.programs.gc > 1000, "it collects");
        let moved = if copyback { 0 } else { flash.reads.gc + flash.programs.gc };
        let pages = flash.reads.host + flash.programs.host + moved;
        assert_close(report.ssd().energy_j.host_interface, pages as f64 * BUS_PAGE_J, &copies);
        assert_eq!(PAGE, 4096);
    }
}

/// What is charged is fixed by the run: prices that say otherwise are refused, with the key.
#[test]
fn the_rule_belongs_to_the_run() {
    let report = run_plain(&preset("energysim", &["device.blocks_per_plane=32", "workload.uniform.requests=10"]));
    let text = serde_json::to_string(&report).expect("a report is JSON");
    let prices = "[energy.host_interface]\ncharged_data = \"host_bytes\"\n";
    let error = flashwatt::reprice(&text, prices, "prices.toml").expect_err("it cannot be repriced");
    let message = error.to_string();
    for part in ["energy.host_interface.charged_data", "host_bytes", "flash_pages"] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

/// The preset of EnergySim's drive takes both rules, no other one does.
#[test]
fn only_the_preset_of_that_paper_has_these_rules() {
    for (name, text) in flashwatt::config::PRESETS {
        let has = |key: &str| text.contains(key);
        assert_eq!((has("read_transfer"), has("charged_data")), (*name == "energysim", *name == "energysim"), "{name}");
    }
    let (report, _) = play(&preset("energysim", &["device.blocks_per_plane=32"]), &[read(0, 0, 1)]);
    assert_eq!(report.latency_ns.read.max, Some(50_000), "no way switch delay for the data of a read");
    let programs = |log: &crate::common::Log| log.all(OpKind::Program, Cause::Host).len();
    let (_, log) = play(&preset("energysim", &["device.blocks_per_plane=32"]), &[write(0, 0, 1)]);
    assert_eq!((programs(&log), log.requests[0].end_ns), (1, 82_000 + 900_000), "that of a write stays");
}
