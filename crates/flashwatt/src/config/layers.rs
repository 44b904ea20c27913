//! How one tree is laid over another: the user's file over a preset, the command line over both.

use flashwatt_base::settings::{Node, Rivals, Table, drop_rivals, merge};
use flashwatt_workload::synthetic::MODELS;

/// Values that are tagged from outside (`ftl = "page"` or `[ftl.page]`).
pub(super) const TAGGED: [&str; 6] =
    ["ftl", "gc.policy", "host.scheduler", "workload", "run.precondition", "run.replay"];

/// The size of the cached mapping table, of every layer that has one.
const TABLE: Rivals = &[&["cmt_bytes"], &["cmt_entries"], &["cmt_fraction"]];

/// The ways to state a disk's zones.
const ZONES: Rivals = &[&["zones"], &["zone_count", "outer_sectors_per_track", "inner_sectors_per_track"], &["layout"]];

const RIVALS: [(&str, Rivals); 9] = [
    ("device", &[&["op_ratio"], &["spare_fraction"]]),
    ("gc", &[&["low_watermark_blocks"], &["low_watermark_fraction"]]),
    ("hdd.geometry", ZONES),
    ("hdd.seek", &[&["points"], &["single_cylinder_ns", "mean_ns", "full_stroke_ns", "joint_fraction"]]),
    ("controller", &[&["power_budget_ma"], &["power_budget_w"]]),
    ("run.power_cuts", &[&["cuts"], &["at_ns"], &["at_operation"]]),
    ("ftl.dftl", TABLE),
    ("ftl.rftl", TABLE),
    ("ftl.tpftl", TABLE),
];

/// Of every synthetic model, as a workload or as what runs before.
const ARRIVALS: Rivals = &[
    &["queue_depth"],
    &["rate_per_s", "gaps", "burst_mean", "on_ns", "off_ns", "tick_ns"],
    &["burst_gap_ns", "burst_requests"],
];

fn rivals() -> impl Iterator<Item = (String, Rivals)> {
    let models = ["workload", "run.precondition"]
        .into_iter()
        .flat_map(|table| MODELS.iter().map(move |model| (format!("{table}.{}", model.name), ARRIVALS)));
    RIVALS.iter().map(|(path, groups)| (path.to_string(), *groups)).chain(models)
}

/// Lays `over` on `base`, key by key. Tables that are tagged from outside merge if the tags are equal and replace one
/// another otherwise; a key drops its rivals of the layer below.
pub(super) fn lay(base: &mut Node, over: Node) {
    for (path, groups) in rivals() {
        if let (Some(base), Some(over)) = (base.table_mut(&path), over.table(&path)) {
            drop_rivals(base, over, groups);
        }
    }
    if let (Some(base), Some(over)) = (base.table_mut("device"), over.table("device")) {
        drop_capacity(base, over);
    }
    lay_without_rivals(base, over);
}

/// As [`lay`], but keeps rivals: for overrides on one command line, where two rivals are a contradiction.
pub(super) fn lay_without_rivals(base: &mut Node, over: Node) {
    merge(base, over, &TAGGED);
}

/// Blocks, logical size, over-provisioning: two determine the third. An override of one of them means this:
/// blocks or the logical size — a drive of another size with the same over-provisioning; the over-provisioning — the
/// same flash (or, where the preset states no flash size, the same logical size) with another share of spare.
fn drop_capacity(base: &mut Table, over: &Table) {
    const OP: [&str; 2] = ["op_ratio", "spare_fraction"];
    let has = |table: &Table, keys: &[&str]| keys.iter().any(|&key| table.contains_key(key));
    let blocks = has(over, &["blocks_per_plane"]);
    let logical = has(over, &["logical_bytes"]);
    let op = has(over, &OP);
    let dropped: &[&str] = match (blocks, logical, op) {
        (false, false, false) => &[],
        (true, false, false) if has(base, &OP) => &["logical_bytes"],
        (false, true, false) if has(base, &OP) => &["blocks_per_plane"],
        (false, false, true) if has(base, &["blocks_per_plane"]) => &["logical_bytes"],
        (true, false, false) | (false, true, false) | (false, false, true) => &[],
        _ => &["blocks_per_plane", "logical_bytes", "op_ratio", "spare_fraction"],
    };
    dropped.iter().for_each(|&key| drop(base.remove(key)));
}
