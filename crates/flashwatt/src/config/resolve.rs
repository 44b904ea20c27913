//! From what the user wrote to what the engine runs on: defaults, ranges, and what must fit together.

use std::collections::BTreeMap;

use super::raw::{self, Raw};
use super::{Config, Drive, Precondition, Replay, Run, Span, Workload};
use flashwatt_base::error::Fault;
use flashwatt_base::registry::{self, Entry, Named, Param};
use flashwatt_base::settings::{Checker, Field, KeySource, Node, field, unknown_name};
use flashwatt_base::units::Nanos;
use flashwatt_ssd::ftl;
use flashwatt_workload::synthetic::MODELS;

mod array;
mod bounds;
mod budget;
mod cells;
mod energy;
mod files;
mod hdd;
mod host;
mod power_cuts;
mod precision;
mod replay;
mod ssd;
mod workload;

pub(super) use array::MemberOf;
use bounds::Bounds;
pub(super) use energy::{check_extra, energy, host_memory_price};
use workload::workload;

/// No phase, delay or gap lasts longer: 1000 s.
const NS_MAX: u64 = 1_000_000_000_000;
/// No run is bounded by more simulated time: a leap year. The agenda of a drive with thousands of dies ends earlier, after 26
/// days; a run that reaches its end fails and says so.
const SECONDS_MAX: f64 = 366.0 * 86_400.0;
/// No count of requests or bytes is larger: 10^15.
const COUNT_MAX: u64 = 1_000_000_000_000_000;
const QUEUE_DEPTH_MAX: u32 = 65_536;
/// Rates in 10^6 bytes/s.
const MB_S: std::ops::RangeInclusive<f64> = 0.001..=1e6;

/// A drive as far as it could be resolved.
struct Resolved {
    /// None with faults.
    drive: Option<Drive>,
    /// Bytes that the host sees; more than any drive has, with faults.
    logical_bytes: u64,
    /// Requests that it accepts at a time.
    queue_depth: u32,
}

/// Checks everything and fills in what was left out. `None` only with faults; rules over several keys are left to the
/// next attempt if single keys are wrong. `member_of` gives the drive of a preset, for the members of an array.
pub(super) fn resolve(c: &mut Checker, raw: &Raw, member_of: &mut MemberOf) -> Option<Config> {
    let one = if hdd::is_one(c) { hdd::hdd(c, raw) } else { ssd::ssd(c, raw) };
    let Resolved { drive, logical_bytes, queue_depth } = array::array(c, &raw.array, one, member_of);
    let bounds = Bounds { logical_bytes, queue_depth, has_scheduler: false };
    c.rules.default_is("workload", MODELS[0].name);
    let host = host::host(c, &raw.host, &bounds, drive.as_ref().is_some_and(Drive::is_rotational));
    let replay = replay::replay(c, raw, logical_bytes);
    let before_bytes = host.as_ref().map_or(0, |host| host.partition_offset_bytes()) + replay.offset_bytes();
    let partition_bytes = logical_bytes.saturating_sub(before_bytes);
    let partition = Bounds { logical_bytes: partition_bytes, has_scheduler: host.is_some(), ..bounds };
    let workload = workload(c, "workload", raw.workload.as_ref(), &partition);
    let run = Run { replay, ..run(c, &raw.run, &workload, &bounds) };
    has_image(c, &run.precondition, &workload);
    let drive = drive?;
    match &drive {
        Drive::Ssd(ssd) => can_start(c, &run.precondition, &ssd.ftl),
        Drive::Hdd(_) => hdd::can_start(c, &run),
        Drive::Array(table) => array::can_start(c, &run, &table.array),
    }
    let config = Config { drive, host, workload, run, seal: String::new() }.sealed();
    power_cuts::can_be_cut(c, &config);
    precision::can_be_judged(c, &config);
    Some(config)
}

/// What makes it impossible to end a run by the precision of its figures.
pub(super) fn faults_of_precision(config: &Config) -> Vec<Fault> {
    let (tree, mut faults) = (Node::empty(KeySource::File), Vec::new());
    precision::can_be_judged(&mut Checker::new(&tree, "the configuration to compare with", &mut faults), config);
    faults
}

/// A rate in 10^6 bytes/s, where 0 or nothing stands for "takes no time".
fn rate_or_none(c: &mut Checker, field: Field<f64>) -> Option<f64> {
    c.rules.range(&field.key, &(0.0..=*MB_S.end()));
    c.rules.default_is(&field.key, &0.0);
    match field.value {
        None | Some(0.0) => None,
        Some(rate) => Some(c.within(&field.key, rate, MB_S)),
    }
}

/// A registered thing with numeric parameters: the first of the registry unless one is given.
fn chosen<K, B>(
    c: &mut Checker,
    key: &str,
    raw: Option<&raw::Chosen<K>>,
    fault: &str,
    registry: &'static [Entry<B>],
) -> (&'static Entry<B>, BTreeMap<String, f64>) {
    let default = &registry[0];
    c.rules.default_is(key, default.name);
    let none = BTreeMap::new();
    let (name, given) = raw.map_or((default.name, &none), |raw| (&raw.name, &raw.parameters));
    let table = format!("{key}.{name}");
    let Some(entry) = registry::find(registry, name) else {
        let key = if c.tree.get(&table).is_some() { &table } else { key };
        c.push(registry::unknown(c.fault(key, fault), name, registry));
        return (default, BTreeMap::new());
    };
    (entry, parameters(c, &table, entry.params, given))
}

/// The parameters of a registered thing: what was given, checked, and the defaults of the rest.
fn parameters(c: &mut Checker, table: &str, params: &[Param], given: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let names: Vec<_> = params.iter().map(|param| param.name).collect();
    for key in given.keys().filter(|key| !names.contains(&key.as_str())) {
        c.push(unknown_name(c.fault(&format!("{table}.{key}"), "unknown parameter"), key, &names));
    }
    let mut checked = |param: &Param| {
        let key = format!("{table}.{}", param.name);
        let field = Field { key, value: given.get(param.name).copied() };
        let range = param.min..=param.max;
        let value =
            if param.integer { c.whole(field, param.default, range) } else { c.number(field, param.default, range) };
        (param.name.to_string(), value)
    };
    params.iter().map(&mut checked).collect()
}

/// What a name stands for: the first of the registry unless one is given.
fn registered<T: Named>(c: &mut Checker, name: Field<String>, fault: &str, registry: &'static [T]) -> &'static T {
    let key = name.key.clone();
    let name = c.choice(name, registry[0].name().to_string());
    registry::find(registry, &name).unwrap_or_else(|| {
        c.push(registry::unknown(c.fault(&key, fault), &name, registry));
        &registry[0]
    })
}

fn run(c: &mut Checker, raw: &raw::Run, workload: &Workload, bounds: &Bounds) -> Run {
    let run = Run {
        seed: c.choice(field!("run", raw.seed), 1),
        precondition: precondition(c, raw.precondition.as_ref(), bounds),
        warmup: span(c, "run.warmup", &raw.warmup, 0),
        measure: precision::measure(c, &raw.measure),
        replay: Replay::Timed,
        count_drain: c.choice(field!("run", raw.count_drain), false),
        max_flash_ops: c.optional(field!("run", raw.max_flash_ops), 1..=COUNT_MAX),
        power_cuts: power_cuts::power_cuts(c, &raw.power_cuts),
    };
    if let (true, Some(all), Some(warmup)) =
        (c.clean("run") && c.clean("workload"), workload.requests(), run.warmup.requests)
        && warmup >= all
    {
        let fault = c.fault("run.warmup.requests", "the warm-up takes every request").found(warmup);
        c.push(fault.expected(format!("less than the {all} requests of the workload")));
    }
    run
}

fn precondition(c: &mut Checker, raw: Option<&raw::Precondition>, bounds: &Bounds) -> Precondition {
    c.rules.default_is("run.precondition", "filled");
    match raw {
        None | Some(raw::Precondition::Filled) => Precondition::Filled,
        Some(raw::Precondition::Empty) => Precondition::Empty,
        Some(raw::Precondition::Mapped) => Precondition::Mapped,
        Some(raw::Precondition::Steady) => Precondition::Steady,
        Some(raw::Precondition::Image) => Precondition::Image,
        Some(raw::Precondition::Snapshot(path)) => snapshot(c, path),
        Some(raw::Precondition::Workload(raw)) => {
            Precondition::Workload(Box::new(workload(c, "run.precondition", Some(raw), bounds)))
        }
    }
}

/// Every layer that comes with the simulator can start so; one that a user adds may not.
fn can_start(c: &mut Checker, precondition: &Precondition, ftl: &ftl::Settings) {
    if *precondition == Precondition::Mapped && !ftl.starts_mapped() {
        let what = "this layer has no place for a page before its first write";
        let fault = c.fault("run.precondition", what).found(format!("\"mapped\" with ftl = {:?}", ftl.name()));
        c.push(fault.expected("\"filled\", \"empty\" or \"steady\"; or another layer"));
    }
}

/// Only files have an image.
fn has_image(c: &mut Checker, precondition: &Precondition, workload: &Workload) {
    if *precondition == Precondition::Image && !matches!(workload, Workload::Files(_)) {
        let fault = c.fault("run.precondition", "this workload has no file system");
        let fault = fault.found(format!("\"image\" with workload = {:?}", workload.name()));
        c.push(fault.expected("workload = \"files\", or another start state"));
    }
}

fn snapshot(c: &mut Checker, path: &str) -> Precondition {
    if path.is_empty() {
        let fault = c.fault("run.precondition.snapshot", "no file is named").found("\"\"");
        c.push(fault.expected("the name of a file that `flashwatt age` has written"));
    }
    Precondition::Snapshot(path.into())
}

/// A warm-up of nothing is none.
fn span(c: &mut Checker, table: &str, raw: &raw::Span, least_ns: u64) -> Span {
    let seconds = c.optional(field!(table, raw.seconds), least_ns as f64 * 1e-9..=SECONDS_MAX);
    Span {
        requests: c.optional(field!(table, raw.requests), least_ns..=COUNT_MAX).filter(|&requests| requests > 0),
        ns: seconds.map(|seconds| (seconds * 1e9).round() as Nanos).filter(|&ns| ns > 0),
    }
}
