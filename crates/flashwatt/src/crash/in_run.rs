//! A run with power cuts of its own (`[run.power_cuts]`).
//!
//! The cuts are made after the run, of a second run of the same workload, which [`crash`] cuts. So the run pays nothing for them, and
//! every other figure is that of the run without them, byte for byte: the drive of the second run may differ from that of the first
//! one in the blocks that it keeps for its recovery.

use serde_json::{Map, Value};

use super::campaign::{Cut, crash, idle, logical_units, unit_bytes};
use crate::config::{Config, PowerCuts};
use crate::report::{CutSpread, PowerCutsReport, Report};
use crate::run::footprint;
use crate::run::{RunOptions, run_uncut};
use flashwatt_base::error::Error;
use flashwatt_base::progress::{Preparation, Progress};

/// Runs a configuration, and cuts the power of copies of its drive if it asks for that. `progress` is called from time to time with
/// the progress; if it returns `false`, the run stops and the report says `interrupted`.
///
/// # Errors
/// Any fault that prevents the start of the run. [`Error::Interrupted`] while a start state is laid down,
/// [`Error::InterruptedReading`] while a trace is read before its replay. A later fault (such as a trace that changed
/// meanwhile) ends the run; [`Report::status`] then names it, and the simulated part is kept. So does a fault of the power cuts, which
/// come after the run.
pub fn run(
    config: &Config,
    options: &RunOptions,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Report, Error> {
    let Some(cuts) = &config.run.power_cuts else { return run_uncut(config, options, progress) };
    config.check_seal()?;
    footprint::check_cuts(config, cuts.twice)?; // before the run, not after it
    let mut report = run_uncut(&config.without_power_cuts(), options, progress)?;
    (report.config, report.config_sha256) = (config.clone(), config.sha256());
    if report.status == "complete" {
        cut(&mut report, config, cuts, progress);
    } else {
        report.warnings.push("run.power_cuts: the power was not cut, as the run is not complete".to_string());
    }
    Ok(report)
}

/// Cuts the power, and adds what came of it to the report.
fn cut(report: &mut Report, config: &Config, cuts: &PowerCuts, progress: &mut dyn FnMut(&Progress) -> bool) {
    let mut cutting =
        |told: &Progress| progress(&Progress { preparing: told.preparing.or(Some(Preparation::PowerCuts)), ..*told });
    let begins = Progress { preparing: None, requests_done: 0, requests_total: None, now_ns: 0 };
    if !cutting(&begins) {
        report.status = "interrupted".to_string();
        return;
    }
    match crash(config, cuts, &mut cutting) {
        Ok(crash) => {
            report.warnings.extend(losses(&crash.cuts));
            if crash.status == "interrupted" {
                report.status = crash.status.to_string();
            }
            report.power_cuts = Some(Box::new(summed_up(config, crash.status, &crash.cuts)));
        }
        Err(Error::Interrupted { .. } | Error::InterruptedReading { .. }) => report.status = "interrupted".to_string(),
        Err(error) => report.fail(&format!("run.power_cuts: {error}")),
    }
}

/// Warnings about durable data that is lost.
pub(crate) fn losses(cuts: &[Cut]) -> Vec<String> {
    let outcomes = || cuts.iter().flat_map(|cut| [Some(&cut.outcome), cut.again.as_ref().map(|again| &again.outcome)]);
    let lost: u64 = outcomes().flatten().map(|outcome| u64::from(outcome.lost_units)).sum();
    let by_pairs: u64 = outcomes().flatten().map(|outcome| u64::from(outcome.pair_lost_units)).sum();
    let warning = |units: u64, how: &str| {
        (units > 0).then(|| format!("run.power_cuts: {units} units of durable data are lost{how}"))
    };
    let pairs = " with pages spoilt by torn ones (device.nand.paired_pages)";
    let of_host: u64 = cuts.iter().filter_map(|cut| cut.host).map(|host| u64::from(host.host_lost_units)).sum();
    let files = || cuts.iter().filter_map(|cut| cut.files);
    let of_files = |number: u32, how: &str| {
        (number > 0).then(|| format!("run.power_cuts: fsynced data of {number} files is lost{how}"))
    };
    let in_hole: u64 = cuts.iter().filter_map(|cut| cut.array).map(|array| array.hole_lost_bytes).sum();
    let hole = (in_hole > 0).then(|| {
        format!("run.power_cuts: {in_hole} bytes of the failed member's data are lost with rows that were being written (write hole)")
    });
    let blocks: u64 = files().map(|of| u64::from(of.files_exposed_blocks)).sum();
    let exposed = (blocks > 0).then(|| {
        format!("run.power_cuts: {blocks} blocks that committed metadata gives to files do not hold their data")
    });
    let all = [
        hole,
        of_files(files().map(|of| of.files_lost).sum(), ""),
        of_files(files().map(|of| of.files_pair_lost).sum(), pairs),
        exposed,
        warning(lost, ": a fault of the translation layer"),
        warning(by_pairs, pairs),
        warning(of_host, " to the processes: a fault of the block layer"),
    ];
    all.into_iter().flatten().collect()
}

/// How each figure of the cuts is distributed. Every number that a cut has in JSON is one.
pub(crate) fn summed_up(config: &Config, status: &'static str, cuts: &[Cut]) -> PowerCutsReport {
    let rows: Vec<Map<String, Value>> = cuts.iter().filter_map(|cut| as_table(serde_json::to_value(cut))).collect();
    let second: Vec<Map<String, Value>> =
        rows.iter().filter_map(|cut| cut.get("again")?.as_object().cloned()).collect();
    let ssds = config.ssds();
    PowerCutsReport {
        status,
        cuts: cuts.len() as u64,
        idle_cuts: idle(cuts),
        has_volatile_buffer: config.has_volatile_buffer(),
        has_paired_pages: ssds.iter().any(|ssd| ssd.device.nand.paired_pages.is_some()),
        logical_units: logical_units(&ssds),
        unit_bytes: unit_bytes(&ssds),
        figures: CutSpread::of_columns(&rows),
        second: (!second.is_empty()).then(|| CutSpread::of_columns(&second)),
    }
}

fn as_table(value: serde_json::Result<Value>) -> Option<Map<String, Value>> {
    match value {
        Ok(Value::Object(table)) => Some(table),
        _ => None,
    }
}
