//! Start states that runs share: one is laid down and saved, others begin from the file as if each had laid down its own.
//!
//! It is a snapshot like that of [`crate::age()`], but a report says nothing of it, since it is not part of the configuration. So
//! the caller answers for the file: it must be that of a configuration with the same [`shared_start`], seed and engine.

use serde_json::{Value, json};

use crate::config::{Config, Precondition, Workload};
use flashwatt_ssd::ftl::Settings;
use flashwatt_ssd::gc::{self, Steady};

/// What the start state of a configuration depends on besides its seed and the engine, as JSON, if it is worth saving: one that is
/// reached by writes to the drive, which takes long, and that depends on no file. `None` for all others.
pub fn shared_start(config: &Config) -> Option<Value> {
    let is_written = match &config.run.precondition {
        Precondition::Steady => !is_given_by_theory(config),
        Precondition::Workload(workload) => matches!(**workload, Workload::Synthetic(_)),
        _ => false,
    };
    if config.drive.ssd().is_none() || !is_written {
        return None;
    }
    let mut whole = serde_json::to_value(config).ok()?;
    let table = whole.as_object_mut()?;
    let precondition = table.remove("run")?["precondition"].take();
    for key in ["workload", "host", "energy"] {
        table.remove(key);
    }
    Some(json!({ "drive": whole, "precondition": precondition }))
}

/// Whether the steady state is laid down from theory: that of page mapping in whole pages with greedy collection.
fn is_given_by_theory(config: &Config) -> bool {
    let ssd = config.ssd();
    let is_paged = matches!(ssd.ftl, Settings::Page(_)) && config.map_unit_bytes() == ssd.device.page_bytes;
    is_paged && gc::build(&ssd.gc.policy).steady() == Steady::Known
}
