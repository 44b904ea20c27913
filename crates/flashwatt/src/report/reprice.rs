//! Applies another price table to a finished run: its ledger holds integers that depend on no price.
//!
//! Figures that are linear in the ledger are priced anew, bit for bit as in a run with that table: energies by
//! component and by cause, all idle accountings, means, efficiency. Figures that depend on overlaps (peaks, windows,
//! the series, the integral) are not in the ledger and become null.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::config::{Has, prices};
use crate::report::ssd::{AccountingTotals, Elapsed, LedgerReport};
use crate::report::{Efficiency, OUTSIDE, SCHEMA, Throughput, outside, supply_v};
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_ssd::energy::ledger::PerCause;
use flashwatt_ssd::energy::price::{Priced, host_memory_j, price};
use flashwatt_ssd::energy::settings::Energy;
use flashwatt_ssd::energy::{DieState, ExtraState, Ledger, Phase, PriceTable};
use flashwatt_ssd::nand::settings::Timing;
use flashwatt_ssd::operation::Cause;

/// Figures of a report that cannot be computed from its ledger.
const OVERLAP: &[&[&str]] = &[
    &["power_w", "peak"],
    &["power_w", "max_100us"],
    &["power_w", "max_1s"],
    &["current_ma", "peak"],
    &["current_ma", "time_at_peak_ns"],
    &["energy_integral_j"],
    &["series"],
    &["edges"],
];

const REASON: &str = "peaks, windows and the series depend on what happened at the same time, and the report holds sums; \
                      those of power cuts are of other drives, which came back; for these figures run the configuration with \
                      this table";

/// Largest number of planes that work beside the first one of a die; a report with more is invalid.
const PLANES_MAX: u32 = 1 << 16;

/// Times by state and cause, as a report names them.
type Times = BTreeMap<String, BTreeMap<String, u64>>;

/// Largest number of dies of a drive; a report with more is invalid.
const DIES_MAX: u32 = 1 << 16;

/// The parts of a report that repricing reads.
#[derive(Deserialize)]
struct PricedRun {
    config: RunConfig,
    ledger: LedgerReport,
    drain_ledger: Option<LedgerReport>,
    warnings: Vec<String>,
    workload: RunWorkload,
    throughput: Throughput,
    window: RunWindow,
}

#[derive(Deserialize)]
struct RunConfig {
    device: RunDevice,
    energy: Energy,
}

#[derive(Deserialize)]
struct RunDevice {
    page_bytes: u32,
    timing: Timing,
}

#[derive(Deserialize)]
struct RunWorkload {
    read_bytes: u64,
    write_bytes: u64,
}

#[derive(Deserialize)]
struct RunWindow {
    drain_counted: bool,
}

/// Prices the run of a report with another table: the report's JSON in, the repriced report's JSON out.
///
/// `table_toml` holds `[energy]` tables as a configuration does; they are laid over the report's own, so a single key
/// suffices. `table_name` is the name of the table in messages. The result describes the change under `repriced`.
///
/// # Errors
/// [`Error::Config`] if the table is wrong; [`Error::Report`] for a report that cannot be priced: one of another
/// schema, or of a run under a power budget, where currents decided the times of operations.
pub fn reprice(report_json: &str, table_toml: &str, table_name: &str) -> Result<String, Error> {
    let report_json = report_json.strip_prefix('\u{feff}').unwrap_or(report_json);
    let mut report = read(report_json)?;
    let run: PricedRun = parse(report_json)?;
    let drain = run.drain_ledger.as_ref().map(|ledger| accounts("drain_ledger", ledger)).transpose()?;
    let accounts = accounts("ledger", &run.ledger)?;
    let RunConfig { device, energy } = &run.config;
    let has = has_extra(&[Some(&accounts), drain.as_ref()], energy);
    let energy = prices(energy, &device.timing, device.page_bytes, table_toml, table_name, has)?;
    let priced = price(&accounts, &PriceTable::new(&energy));
    rewrite(&mut report, &run, &priced, &energy);
    set(&mut report, &["host_memory", "energy_j"], &host_memory_j(&accounts, &energy));
    rewrite_drain(&mut report, &run, &priced, drain.map(|drain| price(&drain, &PriceTable::new(&energy))));
    note(&mut report, table_name);
    Ok(Value::Object(report).to_string())
}

/// What has an effect on a run's energy, or a price in its own table, though not every run has it.
fn has_extra(ledgers: &[Option<&Ledger>], own: &Energy) -> Has {
    let is_used = |row: &dyn Fn(&Ledger) -> &PerCause| {
        ledgers.iter().flatten().any(|ledger| row(ledger).iter().any(|&ns| ns > 0))
    };
    let of_planes = ExtraState::ALL.into_iter().filter(|state| !state.is_bus());
    let nand = &own.nand;
    let planes_ua = [nand.extra_plane_read_ua, nand.extra_plane_program_ua, nand.extra_plane_erase_ua];
    let slc_ua = [nand.slc_program_ua, nand.slc_extra_plane_program_ua];
    let has_planes = planes_ua.into_iter().any(|ua| ua > 0) || nand.slc_extra_plane_program_ua.is_some();
    let has_slc = slc_ua.iter().any(Option::is_some);
    let moves = |ledger: &&Ledger| ledger.host_memory_bytes.iter().any(|&bytes| bytes > 0);
    Has {
        planes: has_planes || of_planes.into_iter().any(|state| is_used(&|ledger| &ledger.extra_ns[state as usize])),
        slc: has_slc || is_used(&|ledger| &ledger.die_ns[DieState::SlcProgram as usize]),
        host_memory: own.host_memory_pj_per_bit.is_some() || ledgers.iter().flatten().any(moves),
    }
}

// ---------------------------------------------------------------- reading

fn fault(key: &str, what: &str) -> Fault {
    Fault::key(key, what)
}

fn error(fault: Fault) -> Error {
    Error::Report(Box::new(fault))
}

/// Parses the report, if it can be priced.
fn read(json: &str) -> Result<Map<String, Value>, Error> {
    let Value::Object(report) = parse(json)? else {
        return Err(error(fault("", "not a report").found("no JSON object").expected("a report.json")));
    };
    match report.get("schema") {
        Some(schema) if *schema == SCHEMA => {}
        Some(schema) => {
            let fault = fault("schema", "a report of another schema").found(schema).expected(SCHEMA);
            return Err(error(fault.help("price it with the version that made it, or run its configuration again")));
        }
        None => return Err(error(fault("schema", "not a report").found("no such key").expected("a report.json"))),
    }
    let has = |table: &&&str| report.get("config").is_some_and(|config| config.get(**table).is_some());
    if let Some(table) = ["hdd", "array"].iter().find(has) {
        let fault = fault(&format!("config.{table}"), "only a run of one SSD can be repriced");
        let fault = fault.found(if *table == "hdd" { "a hard disk" } else { "an array of drives" });
        return Err(error(
            fault.expected("a report.json of an SSD").help("run its configuration again with other powers"),
        ));
    }
    match report.get("config").and_then(|config| power_budget("config", config)) {
        Some(key) => {
            let fault = fault(&key, "a run under a power budget cannot be repriced").expected("a run without one");
            let reason = "the budget's currents decided what happened when: run the configuration with the new table";
            Err(error(fault.help(reason)))
        }
        None => Ok(report),
    }
}

fn parse<T: for<'de> Deserialize<'de>>(json: &str) -> Result<T, Error> {
    serde_json::from_str(json).map_err(|cause| {
        let place = Place { line: Some(cause.line() as u64), column: Some(cause.column() as u64), ..Place::default() };
        let text = cause.to_string();
        let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
        let what = if cause.is_data() { "not a whole report" } else { "not JSON" };
        error(Fault::at(place, format!("{what}: {text}")).expected("a report.json as `flashwatt run --out` writes it"))
    })
}

/// The host's table: its budgets are of requests, not of power.
const OF_REQUESTS: &str = "config.host";

/// The key of a power budget in a configuration, if one is set. In every version its name contains `budget`.
fn power_budget(path: &str, config: &Value) -> Option<String> {
    let Value::Object(table) = config else { return None };
    let set = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    table.iter().find_map(|(key, value)| {
        let path = format!("{path}.{key}");
        match key.contains("budget") && set(value) {
            _ if path == OF_REQUESTS => None,
            true => Some(path),
            false => power_budget(&path, value),
        }
    })
}

/// The ledger that a report holds under the key `name`.
fn accounts(name: &str, report: &LedgerReport) -> Result<Ledger, Error> {
    let mut ledger = Ledger { dies: report.dies, ..Ledger::default() };
    fill(&format!("{name}.die_ns"), &report.die_ns, &mut ledger.die_ns, |state| {
        DieState::ALL.into_iter().position(|one| one.name() == state && one != DieState::Idle)
    })?;
    fill(&format!("{name}.extra_ns"), &report.extra_ns, &mut ledger.extra_ns, |state| {
        ExtraState::ALL.into_iter().position(|one| one.name() == state)
    })?;
    let elapsed = &report.elapsed_ns;
    let transfer = elapsed.busy.checked_sub(elapsed.array);
    let Some(transfer) = transfer else { return Err(error(array_beyond_busy(name, elapsed))) };
    ledger.elapsed_ns = [elapsed.array, transfer, elapsed.outstanding, elapsed.quiet];
    ledger.transfer_die_ns = report.transfer_die_ns;
    ledger.dram_op_ns = report.dram_op_ns;
    ledger.map_accesses = report.map_accesses;
    ledger.host_interface_ns = report.host_interface_ns;
    ledger.host_memory_bytes = report.host_memory_bytes;
    check(name, report, &ledger)?;
    Ok(ledger)
}

/// Takes the times by state and cause that a report holds under a key. A state that it does not name has none.
fn fill(key: &str, of: &Times, rows: &mut [PerCause], place: impl Fn(&str) -> Option<usize>) -> Result<(), Error> {
    for (state_name, by_cause) in of {
        for (cause_name, &ns) in by_cause {
            let cause = Cause::ALL.iter().find(|cause| cause.name() == cause_name);
            let (Some(state), Some(&cause)) = (place(state_name), cause) else {
                let key = format!("{key}.{state_name}.{cause_name}");
                return Err(error(fault(&key, "no state and cause of a die").expected("those of this version")));
            };
            rows[state][cause as usize] = ns;
        }
    }
    Ok(())
}

fn array_beyond_busy(name: &str, elapsed: &Elapsed) -> Fault {
    let fault = fault(&format!("{name}.elapsed_ns.array"), "arrays work for longer than dies");
    fault.found(elapsed.array).expected(format!("at most the {} ns of `busy`", elapsed.busy))
}

/// Rejects a ledger that contradicts itself.
fn check(name: &str, report: &LedgerReport, ledger: &Ledger) -> Result<(), Error> {
    let sum = |values: &[u64]| values.iter().map(|&ns| u128::from(ns)).sum::<u128>();
    let cells_of = |of: &Times| of.values().map(|by_cause| by_cause.len()).sum::<usize>();
    let [cells, extra_cells] = [&report.die_ns, &report.extra_ns].map(cells_of);
    let causes = Cause::ALL.iter().filter(|&&cause| ledger.reports(cause)).count();
    let all_cells = DieState::ALL.iter().filter(|&&state| ledger.reports_state(state)).count() * causes;
    let all_extra = ExtraState::ALL.iter().filter(|&&state| sum(&ledger.extra_ns[state as usize]) > 0).count() * causes;
    let alone = ExtraState::ALL.into_iter().find(|state| {
        let beside = state.beside().map(|die| sum(&ledger.die_ns[die as usize])).sum::<u128>();
        let most = if state.is_bus() { beside } else { beside * u128::from(PLANES_MAX) };
        sum(&ledger.extra_ns[*state as usize]) > most.min(u128::from(u64::MAX))
    });
    let (active, elapsed) = (sum(ledger.die_ns.as_flattened()), sum(&ledger.elapsed_ns));
    let transfer = u128::from(ledger.elapsed_ns[Phase::Transfer as usize]);
    let wrong =
        |key: &str, what: &str| fault(&format!("{name}.{key}"), what).expected("the ledger as the run wrote it");
    let fault = if cells != all_cells {
        wrong("die_ns", "not a whole ledger").found(format!("{cells} numbers of {all_cells}"))
    } else if extra_cells != all_extra {
        wrong("extra_ns", "not a whole ledger").found(format!("{extra_cells} numbers of {all_extra}"))
    } else if let Some(state) = alone {
        let ns = sum(&ledger.extra_ns[state as usize]);
        wrong(&format!("extra_ns.{}", state.name()), "more than works beside a die").found(format!("{ns} ns"))
    } else if !(1..=DIES_MAX).contains(&ledger.dies) {
        wrong("dies", "out of range").found(ledger.dies)
    } else if elapsed > u128::from(u64::MAX >> 1) {
        wrong("elapsed_ns", "out of range").found(format!("{elapsed} ns in all"))
    } else if active > elapsed * u128::from(ledger.dies) || active > u128::from(u64::MAX) {
        let found = format!("{active} ns of {} dies in {elapsed} ns", ledger.dies);
        wrong("die_ns", "dies are busy for longer than the run").found(found)
    } else if u128::from(ledger.transfer_die_ns) > active.min(transfer * u128::from(ledger.dies)) {
        wrong("transfer_die_ns", "out of range").found(format!("{} ns", ledger.transfer_die_ns))
    } else {
        return Ok(());
    };
    Err(error(fault))
}

// ---------------------------------------------------------------- writing

fn rewrite(report: &mut Map<String, Value>, run: &PricedRun, priced: &Priced, energy: &Energy) {
    let bytes = [run.workload.read_bytes, run.workload.write_bytes];
    set(report, &["config", "energy"], energy);
    set(report, &["efficiency"], &Efficiency::new(bytes, priced.energy_j.total, priced.mean_w, &run.throughput));
    set(report, &["energy_total_j"], &AccountingTotals::new(priced.totals_j));
    set(report, &["power_w", "mean"], &priced.mean_w);
    set(report, &["current_ma", "supply_v"], &supply_v(PriceTable::new(energy).supply_mv));
    set(report, &["current_ma", "mean"], &priced.mean_ma);
    set(report, &["energy_by_cause_j"], &priced.by_cause);
    set(report, &["ftl", "map_energy_j"], &priced.map_j);
    set(report, &["energy_j"], &priced.energy_j);
    let config = report.get("config").map(Value::to_string).unwrap_or_default();
    set(report, &["config_sha256"], &format!("{:x}", Sha256::digest(config)));
}

/// The energy of the drain, and the warning (the last one) if much of it is outside the figures.
fn rewrite_drain(report: &mut Map<String, Value>, run: &PricedRun, priced: &Priced, drain: Option<Priced>) {
    let drain_j = drain.map_or(0.0, |drain| drain.energy_j.total);
    set(report, &["window", "drain_energy_j"], &drain_j);
    let mut warnings: Vec<&String> = run.warnings.iter().filter(|warning| !warning.starts_with(OUTSIDE)).collect();
    let outside = outside(priced.energy_j.total, drain_j, run.window.drain_counted);
    warnings.extend(&outside);
    set(report, &["warnings"], &warnings);
}

/// Removes the figures that cannot be priced, and adds a warning that names them.
fn note(report: &mut Map<String, Value>, table_name: &str) {
    let mut nulls = Vec::new();
    for path in OVERLAP {
        if set(report, path, &Value::Null) {
            nulls.push(path.join("."));
        }
    }
    nulls.extend(take_cut_energies(report));
    report.insert("repriced".into(), json!({ "table": table_name, "null": nulls, "reason": REASON }));
}

/// Removes the energies of power cuts and the capacitances that follow from them. Returns their keys.
fn take_cut_energies(report: &mut Map<String, Value>) -> Vec<String> {
    let mut taken = Vec::new();
    for path in [vec!["power_cuts"], vec!["power_cuts", "second"]] {
        let table = path.iter().try_fold(&mut *report, |table, key| table.get_mut(*key)?.as_object_mut());
        for (key, figure) in table.into_iter().flatten().filter(|(key, _)| key.ends_with("_j") || key.ends_with("_f")) {
            *figure = Value::Null;
            taken.push(format!("{}.{key}", path.join(".")));
        }
    }
    taken
}

/// Replaces a value. Returns false if there is none at that path.
fn set(report: &mut Map<String, Value>, path: &[&str], value: &impl Serialize) -> bool {
    let Some((last, tables)) = path.split_last() else { return false };
    let table = tables.iter().try_fold(report, |table, key| table.get_mut(*key).and_then(Value::as_object_mut));
    let place = table.and_then(|table| table.get_mut(*last));
    let value = serde_json::to_value(value).ok();
    place.zip(value).map(|(place, value)| *place = value).is_some()
}
