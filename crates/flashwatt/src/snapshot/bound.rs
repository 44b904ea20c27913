//! The configuration keys that must be equal in a snapshot and a run, because the meaning of the state depends on them.
//!
//! All other keys may differ: timing, currents, the host's link, dispatch, victim policy, wear levelling, write buffer,
//! seed, workload.

use std::path::Path;

use serde_json::Value;

use super::place;
use crate::config::{self, Config};
use flashwatt_base::error::{Error, Fault};

/// The drive's layout, the program order of its pages, what is programmed at once, and which blocks may be in SLC mode.
const DEVICE: [&str; 13] = [
    "device.channels",
    "device.ways",
    "device.planes",
    "device.plane_blocks",
    "device.cells.bits",
    "device.blocks_per_plane",
    "device.pages_per_block",
    "device.page_bytes",
    "device.logical_bytes",
    "device.nand.program_order",
    "device.block_stripe",
    "slc_cache.static_blocks",
    "slc_cache.dynamic",
];
/// Number of blocks that a layer with victims keeps free.
const COLLECTION: [&str; 2] = ["gc.low_watermark_blocks", "gc.reserved_blocks"];
/// Options of translation layers that affect their behaviour but not their state.
const FREE_OPTIONS: [&str; 5] = ["fetch_on_write", "choose", "request_prefetch", "selective_prefetch", "clean_first"];

/// Largest number of characters of a value in a message, so that a damaged file cannot make messages long.
const SHOWN_CHARS_MAX: usize = 80;

/// Refuses a snapshot of another drive than that of `config`, and names every key that differs.
pub(super) fn check(path: &Path, config: &Config, saved: &Value) -> Result<(), Error> {
    let run = serde_json::to_value(config).unwrap_or_default();
    let faults: Vec<Fault> = differences(config, &run, saved).map(|key| fault(path, &key, &run, saved)).collect();
    if faults.is_empty() { Ok(()) } else { Err(Error::Snapshot(faults)) }
}

fn differences<'a>(config: &'a Config, run: &'a Value, saved: &'a Value) -> Box<dyn Iterator<Item = String> + 'a> {
    let collection = if config.ssd().ftl.collects() { &COLLECTION[..] } else { &[] };
    let keys = DEVICE.iter().chain(collection).map(ToString::to_string);
    let keys: Box<dyn Iterator<Item = String>> = match layer(saved) == layer(run) {
        true => Box::new(keys.chain(options(run))),
        false => Box::new(std::iter::once("ftl".to_string()).chain(keys)),
    };
    Box::new(keys.filter(|key| shown(key, run) != shown(key, saved)))
}

/// The name of the translation layer.
fn layer(config: &Value) -> Option<&str> {
    config["ftl"].as_object()?.keys().next().map(String::as_str)
}

/// The keys of the translation layer's options that must be equal.
fn options(config: &Value) -> impl Iterator<Item = String> {
    let name = layer(config).unwrap_or_default();
    let options = config["ftl"][name].as_object().into_iter().flatten();
    let bind = options.filter(|(key, _)| !FREE_OPTIONS.contains(&key.as_str()));
    bind.map(move |(key, _)| format!("ftl.{name}.{key}"))
}

/// The value of a key; for a translation layer, its name.
fn shown(key: &str, config: &Value) -> String {
    if key == "ftl" {
        return format!("{:?}", layer(config).unwrap_or_default());
    }
    match key.split('.').try_fold(config, |node, name| node.get(name)) {
        Some(value) => value.to_string().chars().take(SHOWN_CHARS_MAX).collect(),
        None => "nothing".to_string(),
    }
}

fn fault(path: &Path, key: &str, run: &Value, saved: &Value) -> Fault {
    let mut place = place(path);
    place.key = Some(key.to_string());
    let (run, saved) = (shown(key, run), shown(key, saved));
    let can_be_set = saved != "null" && saved != "nothing" && config::reference().iter().any(|known| known.key == key);
    let remedy = if can_be_set { format!("set {key} = {saved}") } else { format!("configure {key} as the snapshot") };
    Fault::at(place, "the snapshot is of another drive")
        .found(format!("{saved} in the snapshot"))
        .expected(format!("{run}, as in this run"))
        .help(format!("{remedy}, or prepare a snapshot of this drive: flashwatt age"))
}
