//! Keys whose values are names out of a registry.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// A string that is one of these names.
fn one_of(names: impl Iterator<Item = (String, String)>) -> Schema {
    let names: Map<String, Value> = names.map(|(name, doc)| (name, doc.into())).collect();
    let list: Vec<_> = names.keys().cloned().collect();
    json_schema!({ "type": "string", "enum": list, "x-names": names })
}

fn listed(kind: &str) -> Schema {
    one_of(crate::registry::list(kind).unwrap_or_default().into_iter())
}

/// `device.preset`
pub(in crate::config) fn presets(_: &mut SchemaGenerator) -> Schema {
    listed("presets")
}

/// `wear.policy`
pub(in crate::config) fn wear(_: &mut SchemaGenerator) -> Schema {
    listed("wear")
}

/// `workload.standin.name`
pub(in crate::config) fn standins(_: &mut SchemaGenerator) -> Schema {
    listed("standins")
}
