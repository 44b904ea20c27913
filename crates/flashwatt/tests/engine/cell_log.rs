//! The operation log of a drive with rows and cells, and what the script that prices logs makes of it.

use flashwatt_ssd::energy::ledger::OpTimes;
use flashwatt_ssd::nand::FlashAddress;
use flashwatt_ssd::observe::probe::{CellFacts, OpFacts, OpLog, OpRecord, Probe, is_op_log};
use flashwatt_ssd::operation::{Cause, CellMode, OpKind, PageType};

use super::energy_laws::{Prices, Scratch, run_script};
use crate::common::assert_close;
use flashwatt_base::units::{BlockId, DieId, Nanos, RequestId};
use serde_json::{Value, json};

/// One operation of die 0.
fn op(kind: OpKind, cause: Cause, page: u32) -> OpFacts {
    let at = FlashAddress { die: DieId(0), block: BlockId(7), page };
    let none = FlashAddress::NONE;
    OpFacts { seq: 0, kind, cause, at, other: none, request: RequestId::NONE, replaces: BlockId::NONE }
}

fn cells(in_end: Nanos, row_pages: u32, planes: u32, page: PageType) -> CellFacts<'static> {
    CellFacts { in_end, row_pages, planes, page, mode: CellMode::Native, suspensions: &[], earlier_moves: &[] }
}

/// A log of 100 ns. A row of two pages on two planes; a row of two pages in single-level mode on three planes, of which one is loaded beside
/// the first row's array, and which is suspended for a read of four planes.
fn log(window_start: Nanos) -> String {
    let mut out = Vec::new();
    let mut log = OpLog::with_cells(&mut out);
    log.restarted(window_start);
    let mut record = |kind, cause, page, times: [Nanos; 5], cells: CellFacts| {
        let [start, array_start, array_end, out_start, end] = times;
        let times = &OpTimes { start, array_start, array_end, out_start, end };
        log.op_ended(&OpRecord { op: op(kind, cause, page), times, cells: Some(cells) });
    };
    let row = |start| [start, 20, 50, 50, 50];
    record(OpKind::Program, Cause::Host, 0, row(0), cells(10, 2, 2, PageType::Any));
    record(OpKind::Program, Cause::Pad, 1, row(10), cells(20, 2, 2, PageType::Second));
    for out in 0..4u8 {
        let times = [75, 76, 86, 86 + Nanos::from(out), 87 + Nanos::from(out)];
        record(OpKind::Read, Cause::Host, 4 + u32::from(out), times, cells(76, 4, 4, PageType::Any));
    }
    let slc =
        |in_end| CellFacts { mode: CellMode::Slc, suspensions: &[(70, 92)], ..cells(in_end, 2, 3, PageType::Any) };
    record(OpKind::Program, Cause::Fold, 2, [30, 60, 100, 100, 100], slc(40));
    record(OpKind::Program, Cause::Fold, 3, [50, 60, 100, 100, 100], slc(60));
    log.drains(100);
    log.finish(100);
    drop(log);
    String::from_utf8(out).expect("a log is text")
}

/// A report's tables that the script reads. Currents at 1 V, three dies.
fn report(accounting: &str) -> Value {
    let part = |ua: u32| json!({ "active_ua": ua, "idle_ua": 0, "millivolts": 1000 });
    let nand = json!({
        "read_ua": 25_000, "program_ua": 30_000, "erase_ua": 35_000, "transfer_ua": 7_000, "transfer": null, "idle_ua": 2_000,
        "slc_program_ua": 22_000, "extra_plane_read_ua": 4_000, "extra_plane_program_ua": 5_000,
        "slc_extra_plane_program_ua": 3_000, "millivolts": 1_000,
    });
    let energy = json!({
        "mode": "component", "idle_accounting": accounting, "dram_rule": "per_op", "controller": part(90_000),
        "dram": { "part": part(0), "map_access_ns": 0, "page_data_ns": 0 }, "nand": nand,
        "host_interface": { "active_ua": 0, "millivolts": 1000, "bandwidth_mb_s": 1000.0 },
    });
    let device = json!({ "channels": 3, "ways": 1, "page_bytes": 4096 });
    json!({ "config": { "energy": energy, "device": device, "run": { "count_drain": false } } })
}

fn priced(log: &str, accounting: &str) -> Prices {
    let scratch = Scratch::new();
    let files = ["log.csv", "report.json"].map(|name| scratch.0.join(name));
    std::fs::write(&files[0], log).expect("a scratch file");
    std::fs::write(&files[1], report(accounting).to_string()).expect("a scratch file");
    assert!(is_op_log(&files[0]), "it is known by its first line");
    run_script(&[files]).remove(0)
}

/// The same operations as in the accounts' own test, by hand, in mA · V · ns.
#[test]
fn a_log_with_rows_is_priced_by_hand() {
    for (accounting, charged_ns) in
        [("always_on", 100.0), ("flash_off", 100.0), ("busy_or_loading", 100.0), ("busy_only", 58.0)]
    {
        let found = priced(&log(0), accounting);
        let near =
            |key: &str, expected: f64| assert_close(found[key], expected * 1e-12, &format!("{accounting}: {key}"));
        near("nand.program", 30.0 * (30.0 + 5.0) + 18.0 * (22.0 + 2.0 * 3.0));
        near("nand.read", 10.0 * (25.0 + 3.0 * 4.0));
        near("nand.transfer", 35.0 * 7.0 + 7.0 * 2.0 + 10.0 * (7.0 - 2.0));
        near("nand.idle", 2.0 * 2.0 * charged_ns);
        near("controller", 90.0 * charged_ns);
        // Half of the first row and a load; the read, its command and its data.
        near("cause.host", 15.0 * 35.0 + 10.0 * 7.0 + 370.0 + 5.0 * 7.0);
        near("cause.pad", 15.0 * 35.0 + 10.0 * 7.0);
        near("cause.fold", 18.0 * 28.0 + 10.0 * 5.0 + 10.0 * 7.0 + 7.0 * 2.0);
    }
}

/// The window begins within the first row, and the log ends as before.
#[test]
fn a_log_is_priced_from_the_start_of_its_window() {
    let found = priced(&log(45), "always_on");
    assert_close(found["nand.program"], (5.0 * 35.0 + 18.0 * 28.0) * 1e-12, "programs");
    assert_close(found["nand.transfer"], (15.0 * 7.0 + 7.0 * 2.0) * 1e-12, "transfers");
    assert_close(found["cause.host"], (3.0 * 35.0 + 370.0 + 5.0 * 7.0) * 1e-12, "of 5 ns the first line has 3");
    assert_close(found["cause.pad"], 2.0 * 35.0 * 1e-12, "and the second has 2");
}

#[test]
fn a_log_with_rows_has_columns_of_its_own() {
    let log = log(0);
    let lines: Vec<&str> = log.lines().collect();
    assert!(
        lines[0].ends_with(",map_accesses,bytes,in_end_ns,row_pages,planes,page_type,mode,suspensions,earlier_moves"),
        "{}",
        lines[0]
    );
    assert_eq!(lines[2], "program,host,0,7,0,0,20,50,50,50,,,10,2,2,first,native,,");
    assert_eq!(lines[3], "program,pad,0,7,1,10,20,50,50,50,,,20,2,2,second,native,,");
    assert_eq!(lines[9], "program,fold,0,7,3,50,60,100,100,100,,,60,2,3,first,slc,70-92,");
    let columns = |line: &&str| line.matches(',').count();
    assert!(lines.iter().all(|line| columns(line) == columns(&lines[0])), "{log}");
}
