//! `[hdd]`: the drive is a hard disk.

use super::{COUNT_MAX, Resolved};
use crate::config::drive::{HddTables, NamedDevice};
use crate::config::presets::{DEFAULT_PRESET, disks};
use crate::config::raw::Raw;
use crate::config::{Drive, Precondition, Run};
use flashwatt_base::error::Fault;
use flashwatt_base::settings::{Checker, KeySource, Node, Value, field, join};

/// The tables of an SSD, and what a disk has not that they describe.
const OF_AN_SSD: [(&str, &str); 7] = [
    ("ftl", "no flash translation layer"),
    ("gc", "no garbage collection"),
    ("wear", "no flash that wears"),
    ("write_buffer", "no such buffer (its own are hdd.buffer and hdd.write_cache)"),
    ("recovery", "no mapping to recover"),
    ("controller", "no controller of flash"),
    ("energy", "no flash to account for (hdd.energy holds its powers)"),
];
/// What the further keys of the table `device` describe.
const DEVICE: &str = "no flash (hdd.geometry holds its size)";
/// What the table `device` may say of a disk.
const OF_EVERY_DRIVE: [&str; 2] = ["preset", "description"];

/// Whether the drive is a disk.
pub(super) fn is_one(c: &Checker) -> bool {
    c.tree.get("hdd").is_some()
}

/// The disk that the configuration describes.
pub(super) fn hdd(c: &mut Checker, raw: &Raw) -> Resolved {
    without_an_ssd(c);
    let device = &raw.device;
    let named = c.choice(field!("device", device.preset), DEFAULT_PRESET.to_string());
    let preset = disks().contains(&named.as_str()).then_some(named);
    // A preset that is no disk gives nothing to this one, and its description is that of another drive.
    let is_own =
        preset.is_some() || c.tree.get("device.description").is_some_and(|node| node.origin != KeySource::Preset);
    let description = device.description.clone().filter(|_| is_own).unwrap_or_else(|| "a hard disk".to_string());
    let before = c.faults.len();
    let resolved = raw.hdd.resolve(c);
    needs_a_disk(c, before);
    let Some(hdd) = resolved else {
        return Resolved { drive: None, logical_bytes: COUNT_MAX, queue_depth: 1 };
    };
    let (logical_bytes, queue_depth) = (hdd.bytes, hdd.interface.queue_depth);
    let device = NamedDevice { preset, description, logical_bytes };
    Resolved { drive: Some(Drive::Hdd(Box::new(HddTables { device, hdd }))), logical_bytes, queue_depth }
}

/// Missing keys of `hdd` above which they are not listed: more likely the preset of a disk is missing.
const MISSING_MAX: usize = 6;

/// Keys of a disk beside a preset that is none: says so in place of each key that is missing. `before`: the faults known before.
fn needs_a_disk(c: &mut Checker, before: usize) {
    let is_missing = |fault: &Fault| fault.what == "missing";
    let missing = c.faults[before..].iter().filter(|fault| is_missing(fault)).count();
    let mut given = Vec::new();
    c.tree.get("hdd").into_iter().for_each(|node| of_the_user(node, "hdd", &mut given));
    let Some(key) = given.first().filter(|_| missing > MISSING_MAX) else { return };
    let rest: Vec<_> = c.faults.drain(before..).filter(|fault| !is_missing(fault)).collect();
    let preset = c.tree.string("device.preset").unwrap_or(DEFAULT_PRESET);
    let fault = c.fault(key, "a key of a hard disk").found(format!("device.preset = {preset:?}, which is none"));
    let fault = fault.expected(format!("device.preset = one of {}", disks().join(", ")));
    c.faults.extend(rest);
    c.push(fault.help(format!("or a whole disk: {missing} keys of hdd are missing (flashwatt explain hdd)")));
}

/// Keys of an SSD by the user must not be ignored. Those of a preset may be: without one that names a disk, the tables of the
/// default preset are there.
fn without_an_ssd(c: &mut Checker) {
    let mut found = Vec::new();
    let mut add = |node: &Node, path: &str, absent: &'static str| {
        let mut keys = Vec::new();
        of_the_user(node, path, &mut keys);
        found.extend(keys.into_iter().map(|key| (key, absent)));
    };
    for (table, absent) in OF_AN_SSD {
        c.tree.get(table).into_iter().for_each(|node| add(node, table, absent));
    }
    for (key, node) in c.tree.table("device").into_iter().flatten() {
        if !OF_EVERY_DRIVE.contains(&key.as_str()) {
            add(node, &join("device", key), DEVICE);
        }
    }
    let preset = c.tree.string("device.preset").filter(|preset| disks().iter().any(|disk| disk == preset));
    let by = preset.map_or("the table hdd".to_string(), |preset| format!("device.preset = {preset:?}"));
    for (key, absent) in found {
        let fault = c.fault(&key, "has no effect").found(format!("a hard disk, by {by}, which has {absent}"));
        c.push(fault.expected("this key for an SSD only; flashwatt explain hdd lists the keys of a disk"));
    }
}

/// The keys below a node that the user wrote.
fn of_the_user(node: &Node, path: &str, found: &mut Vec<String>) {
    match &node.value {
        Value::Table(table) if !table.is_empty() => {
            table.iter().for_each(|(key, node)| of_the_user(node, &join(path, key), found));
        }
        _ if node.origin != KeySource::Preset => found.push(path.to_string()),
        _ => {}
    }
}

/// A disk's start state is one: it turns, its buffer and its cache are empty, and what was written before changes nothing.
pub(super) fn can_start(c: &mut Checker, run: &Run) {
    let cannot = match &run.precondition {
        Precondition::Empty | Precondition::Filled => None,
        Precondition::Steady => Some("\"steady\""),
        Precondition::Mapped => Some("\"mapped\""),
        Precondition::Image => Some("\"image\""),
        Precondition::Snapshot(_) => Some("a snapshot"),
        Precondition::Workload(_) => Some("a workload"),
    };
    if let Some(found) = cannot {
        let fault = c.fault("run.precondition", "not for a hard disk").found(found);
        c.push(
            fault.expected(
                "no such key: what a disk held before changes nothing (\"filled\" and \"empty\" are the same)",
            ),
        );
    }
    if !run.replay.is_timed() {
        let fault = c.fault("run.replay", "a hard disk has a clock").found("\"flashsim\"");
        c.push(fault.expected("\"timed\", or an SSD"));
    }
}
