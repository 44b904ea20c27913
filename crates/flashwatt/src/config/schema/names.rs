//! Keys whose values are names out of a registry.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::config::described;
use crate::workload::standin::STANDINS;

/// A string that is one of these names.
fn one_of(names: impl Iterator<Item = (String, String)>) -> Schema {
    let names: Map<String, Value> = names.map(|(name, doc)| (name, doc.into())).collect();
    let list: Vec<_> = names.keys().cloned().collect();
    json_schema!({ "type": "string", "enum": list, "x-names": names })
}

/// `device.preset`
pub(in crate::config) fn presets(_: &mut SchemaGenerator) -> Schema {
    one_of(described().map(|(name, doc)| (name.to_string(), doc)))
}

/// `wear.policy`
pub(in crate::config) fn wear(_: &mut SchemaGenerator) -> Schema {
    one_of(crate::wear::REGISTRY.iter().map(|entry| (entry.name.to_string(), entry.doc.to_string())))
}

/// `workload.standin.name`
pub(in crate::config) fn standins(_: &mut SchemaGenerator) -> Schema {
    one_of(STANDINS.iter().map(|standin| (standin.name.to_string(), standin.data.description.clone())))
}
