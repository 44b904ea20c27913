use std::collections::BTreeSet;

use super::*;
use crate::config::{load, settings};

/// The names that the parser offers instead of a key (or a table) that does not exist; `None` where there are no keys.
fn offered(table: &str) -> Option<Vec<String>> {
    let path = if table.is_empty() { "nonsense".to_string() } else { format!("{table}.nonsense") };
    [format!("{path}=1"), format!("{path}.nonsense=1")].iter().find_map(|set| offered_instead(set))
}

fn offered_instead(set: &str) -> Option<Vec<String>> {
    let Err(crate::Error::Config(faults)) = load("", "test", &[set.to_string()]) else { return None };
    let fault = faults.iter().find(|fault| fault.what.starts_with("unknown"))?;
    let expected = fault.expected.as_deref()?;
    let names = expected.strip_prefix("one of ").unwrap_or(expected).split(", ");
    Some(names.filter(|name| *name != "nothing").map(|name| name.trim_matches('`').to_string()).collect())
}

/// Names that stand for themselves, with no table of their own.
fn states(table: &str) -> &'static [&'static str] {
    match table {
        "run.precondition" => &super::super::raw::Precondition::STATES,
        "run.replay" => &["timed"],
        _ => &[],
    }
}

fn parsed(table: &str, schema: &mut Value, keys: &mut BTreeSet<String>) {
    for name in offered(table).unwrap_or_default() {
        let key = if table.is_empty() { name.clone() } else { format!("{table}.{name}") };
        keys.insert(key.clone());
        let is_state = states(table).contains(&name.as_str());
        if !is_state && node(schema, &key).is_some_and(|node| properties(&node).is_some()) {
            parsed(&key, schema, keys);
        }
    }
}

fn node(schema: &mut Value, key: &str) -> Option<Value> {
    at(schema, key).map(|node| Value::Object(node.clone()))
}

/// The parser is asked for its keys by giving it wrong ones; the schema has those, and no other.
#[test]
fn the_schema_has_every_key_that_the_parser_takes_and_no_other() {
    let mut taken = BTreeSet::new();
    parsed("", &mut schema(), &mut taken);
    let described: BTreeSet<String> = reference().into_iter().map(|key| key.key).collect();
    assert!(taken.len() > 300, "{}", taken.len());
    assert_eq!(taken.difference(&described).collect::<Vec<_>>(), Vec::<&String>::new(), "not in the schema");
    assert_eq!(described.difference(&taken).collect::<Vec<_>>(), Vec::<&String>::new(), "not in the parser");
}

#[test]
fn every_key_says_what_it_is() {
    for key in reference() {
        assert!(!key.doc.is_empty() && !key.types.is_empty(), "{key:?}");
        assert!(key.choices.iter().all(|choice| !choice.doc.is_empty()), "{key:?}");
        assert!(!(key.required && key.default.is_some()), "{key:?}");
    }
}

fn key(name: &str) -> Key {
    reference().into_iter().find(|key| key.key == name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn ranges_and_defaults_are_those_of_the_checks() {
    let read = key("device.timing.read_ns");
    assert_eq!((read.minimum, read.maximum), (Some(1.into()), Some(1_000_000_000_000_u64.into())));
    assert_eq!((read.required, read.default, read.unit.as_deref()), (true, None, Some("ns")));
    assert_eq!(key("device.preset").default, Some("x25m".into()));
    assert_eq!(key("gc.policy.d_choices.d").types, ["integer"]);
    assert!(key("gc.policy.d_choices.d").default.is_some());
    assert_eq!(key("workload.zipf.theta").default, Some(0.99.into()));
    assert_eq!(key("run.precondition.zipf.theta").default, Some(0.99.into()));
    assert_eq!(key("workload.uniform.range_bytes").default, None, "the whole drive");
    assert_eq!(key("workload.uniform.align_bytes").default, None, "depends on the lengths");
    let names: Vec<_> = key("energy.dram_rule").choices.into_iter().map(|choice| choice.name).collect();
    assert_eq!(names, ["with_controller", "per_op"]);
}

/// The settings under which a key of `[host]` means something, where it does not with all.
fn host_with(key: &str) -> Vec<String> {
    let sets: &[&str] = match key {
        "host.nr_requests" | "host.dispatch_budget" => &["scheduler=mq_deadline"],
        "host.rotational" => &["scheduler=cfq"],
        "host.plug_ns" => &["scheduler=deadline", "plug_requests=4"],
        _ => &[],
    };
    sets.iter().map(|set| format!("host.{set}")).collect()
}

#[test]
fn parameters_of_schedulers_have_ranges_and_defaults() {
    for entry in sched::REGISTRY {
        for param in entry.params {
            let key = key(&format!("host.scheduler.{}.{}", entry.name, param.name));
            let of = |value: &Option<Value>| value.as_ref().and_then(Value::as_f64);
            let found = (of(&key.minimum), of(&key.maximum), of(&key.default));
            assert_eq!(found, (Some(param.min), Some(param.max), Some(param.default)), "{}", key.key);
        }
    }
    let range = |name: &str| (key(name).minimum, key(name).maximum);
    for count in ["host.queue_depth", "host.nr_requests"] {
        assert_eq!(range(count), (Some(1.into()), Some(65_536.into())), "{count}");
    }
    assert_eq!(key("host.plug_ns").default, Some(3_000_000.into()));
    assert_eq!(key("host.dispatch_budget").default, Some(true.into()));
    assert_eq!(key("host.plug_requests").default, None, "the scheduler decides");
    assert_eq!(key("host.nr_requests").default, None, "the scheduler and the queue depth decide");
}

/// A drive of two bits a cell.
const CELLS: [&str; 4] =
    ["device.cells.bits=2", "device.cells.read_ns=[1, 1]", "device.cells.program_ns=1", "device.preset=limit"];

/// Giving a key its default changes nothing, unless the preset gives it or another way of saying the same.
#[test]
fn every_default_is_valid() {
    for key in reference() {
        let Some(default) = key.default else { continue };
        let table = key.key.rsplit_once('.').map_or("", |(table, _)| table);
        let mut sets = vec![format!("{}={default}", key.key)];
        if let Some(name) = ["trace", "fio"].iter().find(|name| table.ends_with(&format!(".{name}"))) {
            sets.push(format!("{}.path=a", table.trim_end_matches(name).to_string() + name));
        }
        if table.ends_with(".standin") {
            sets.extend([format!("{table}.name=gimp"), "device.preset=tlc-nvme-1t".into()]);
        }
        if key.key.ends_with(".gaps") {
            sets.push(format!("{table}.rate_per_s=1"));
        }
        if key.key.starts_with("hdd.") {
            sets.push("device.preset=laptop-7200".into());
        }
        if key.key == "hdd.buffer.segment_bytes" {
            sets.push("hdd.buffer.read_ahead_bytes=0".into()); // the preset's is more than a segment of this length
        }
        if key.key.contains("capacitor_") {
            sets.extend(["write_buffer.bytes=65536", "write_buffer.protection=capacitors"].map(String::from));
        }
        if key.key == "write_buffer.journal_max_ns" {
            sets.extend(["write_buffer.bytes=65536", "write_buffer.protection=journal"].map(String::from));
        }
        if key.key == "device.bus.partial_unit" {
            sets.push("device.bus.partial_pages=true".into());
        }
        if key.key == "device.bus.cache_busy_ns" {
            sets.extend(["device.bus.cache_read=true", "device.preset=limit"].map(String::from));
        }
        if key.key.starts_with("device.cells.") {
            sets.extend(CELLS.map(String::from));
        }
        if key.key == "device.cells.pass_distance" {
            sets.extend(["device.cells.passes=2", "device.cells.first_pass_ns=1"].map(String::from));
        }
        if key.key.starts_with("slc_cache.") {
            let slc = ["device.cells.slc={ read_ns = 1, program_ns = 1 }", "slc_cache.static_bytes=64e6"];
            sets.extend(CELLS.into_iter().chain(slc).map(String::from));
        }
        if key.key.starts_with("device.suspend.") {
            let suspend = ["device.suspend.program_ns=1", "device.suspend.erase_ns=1", "device.preset=limit"];
            sets.extend(suspend.map(String::from));
        }
        if key.key.starts_with("array.") {
            sets.push("array.members=2".into());
        }
        if key.key.contains("rebuild") {
            sets.extend(["array.level=raid1", "array.failed_member=0", "array.spare=limit"].map(String::from));
        }
        sets.extend(host_with(&key.key));
        assert!(load("", "test", &sets).is_ok(), "{sets:?}: {:?}", load("", "test", &sets));
    }
}

#[test]
fn what_presets_give_is_in_the_reference_and_within_its_range() {
    let keys = reference();
    for (name, _) in PRESETS {
        for setting in settings(name).unwrap_or_default() {
            let key = keys.iter().find(|key| key.key == setting.key).unwrap_or_else(|| panic!("{name}: {setting:?}"));
            let within = |bound: &Option<Value>, holds: fn(f64, f64) -> bool| {
                let numbers = setting.value.as_f64().zip(bound.as_ref().and_then(Value::as_f64));
                numbers.is_none_or(|(value, bound)| holds(value, bound))
            };
            assert!(within(&key.minimum, |value, least| value >= least), "{name}: {setting:?}");
            assert!(within(&key.maximum, |value, greatest| value <= greatest), "{name}: {setting:?}");
        }
    }
}

/// Whatever is wrong with a number, what is expected is what the reference says.
#[test]
fn messages_and_the_reference_tell_the_same_ranges() {
    let ranged = reference().into_iter().filter(|key| key.types == ["integer"]);
    let ranged: Vec<_> =
        ranged.filter_map(|key| Some((key.key, key.minimum?.as_u64()?, key.maximum?.as_u64()?))).collect();
    assert!(ranged.len() > 50, "{}", ranged.len());
    for (key, least, greatest) in ranged {
        for wrong in ["-1".to_string(), "\"many\"".into(), (u128::from(greatest) + 1).to_string()] {
            let cells = CELLS.iter().filter(|set| key.starts_with("device.cells.") && !set.starts_with(&key));
            let sets = host_with(&key).into_iter().chain(cells.map(|set| set.to_string()));
            let sets: Vec<_> = sets.chain([format!("{key}={wrong}")]).collect();
            let Err(crate::Error::Config(faults)) = load("", "test", &sets) else {
                panic!("{key}={wrong} is taken");
            };
            let said = faults.iter().find(|fault| fault.place.key.as_ref() == Some(&key));
            let expected = said.and_then(|fault| fault.expected.clone()).unwrap_or_default();
            assert!(expected.ends_with(&format!("{least} to {greatest}")), "{key}={wrong}: {faults:?}");
        }
    }
}
