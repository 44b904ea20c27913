//! What is registered in the engine, by the kinds that `flashwatt list` knows.

use flashwatt::{config, ftl, gc, wear, workload::trace};

/// Names and one line about each; `None` for a kind that the engine does not have (yet).
pub(crate) fn list(kind: &str) -> Option<Vec<(String, String)>> {
    let own = |(name, doc): (&str, &str)| (name.to_string(), doc.to_string());
    let names = match kind {
        "ftls" => ftl::NAMES.iter().copied().map(own).collect(),
        "gc" => gc::REGISTRY.iter().map(|entry| own((entry.name, entry.doc))).collect(),
        "wear" => wear::REGISTRY.iter().map(|entry| own((entry.name, entry.doc))).collect(),
        "presets" => config::PRESETS.iter().map(|(name, _)| own((name, &description(name)))).collect(),
        "formats" => trace::FORMATS.iter().map(|format| own((format.name, format.doc))).collect(),
        "workloads" => WORKLOADS.iter().copied().map(own).collect(),
        _ => return None,
    };
    Some(names)
}

/// The engine keeps no list of these: they are the variants of [`config::Workload`], and their lines its doc comments.
const WORKLOADS: &[(&str, &str)] =
    &[("uniform", "requests at random (or in sequence) over a range"), ("trace", "a recorded trace")];

fn description(preset: &str) -> String {
    let text = format!("device.preset = {preset:?}");
    config::load(&text, preset, &[]).map_or_else(|error| error.to_string(), |config| config.device.description)
}
