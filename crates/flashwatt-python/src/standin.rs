//! STAND-IN for the engine until `flashwatt::run` is there: the same signatures, a canned report, no simulation.
//! Nothing else in this crate knows that it is not the real thing; this file goes away with one `use` in lib.rs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use flashwatt::config::{Config, Workload};
use serde_json::{Value, json};

pub(crate) struct RunOptions {
    #[allow(dead_code)]
    pub(crate) op_log: Option<PathBuf>,
    pub(crate) series_interval_ns: Option<u64>,
    #[allow(dead_code)]
    pub(crate) check: bool,
}

pub(crate) struct Progress {
    pub(crate) requests_done: u64,
    pub(crate) requests_total: Option<u64>,
    pub(crate) now_ns: u64,
}

fn requests(config: &Config) -> u64 {
    config.run.measure.requests.unwrap_or(match &config.workload {
        Workload::Uniform(uniform) => uniform.requests,
        Workload::Trace(trace) => trace.max_requests.unwrap_or(100_000),
    })
}

pub(crate) fn run(
    config: &Config,
    options: &RunOptions,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Value, flashwatt::Error> {
    let mut report: Value =
        serde_json::from_str(include_str!("../../../tests/python/data/report.json")).unwrap_or_default();
    let (total, mut done, mut complete) = (requests(config), 0, true);
    while done < total && complete {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(5) {}
        done += 10_000.min(total - done);
        complete = progress(&Progress { requests_done: done, requests_total: Some(total), now_ns: done * 10_000 });
    }
    report["status"] = json!(if complete { "complete" } else { "interrupted" });
    report["workload"]["requests"] = json!(done);
    if options.series_interval_ns.is_none()
        && let Some(fields) = report.as_object_mut()
    {
        fields.remove("series");
    }
    Ok(report)
}

pub(crate) fn reprice(report_json: &str, table_toml: &str) -> Result<String, String> {
    if !table_toml.contains('=') {
        return Err("the power table is empty".to_string());
    }
    let mut report: Value = serde_json::from_str(report_json).map_err(|e| format!("not a report: {e}"))?;
    report["power_w"]["peak"] = Value::Null;
    Ok(report.to_string())
}

pub(crate) fn list(kind: &str) -> Option<Vec<(String, String)>> {
    let name = match kind {
        "ftls" => "page",
        "gc" => "greedy",
        "presets" => "x25m",
        "workloads" => "uniform",
        _ => return None,
    };
    Some(vec![(name.to_string(), "a stand-in".to_string())])
}
