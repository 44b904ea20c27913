//! Keys whose values are names out of a registry.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::config::described;
use flashwatt_base::registry::Named;
use flashwatt_files::program::PERSONALITIES;
use flashwatt_ssd::controller::policies;
use flashwatt_ssd::wear;
use flashwatt_workload::standin::STANDINS;
use flashwatt_workload::trace::FORMATS;

/// A string that is one of these names. `kind` is what `flashwatt list` calls them.
fn one_of(kind: &str, names: impl Iterator<Item = (String, String)>) -> Schema {
    let names: Map<String, Value> = names.map(|(name, doc)| (name, doc.into())).collect();
    let list: Vec<_> = names.keys().cloned().collect();
    json_schema!({ "type": "string", "enum": list, "x-names": names, "x-kind": kind })
}

fn entries<T: Named>(registry: &[T]) -> impl Iterator<Item = (String, String)> {
    registry.iter().map(|entry| (entry.name().to_string(), entry.doc().into_owned()))
}

/// `device.preset`
pub(in crate::config) fn presets(_: &mut SchemaGenerator) -> Schema {
    one_of("presets", described().map(|(name, doc)| (name.to_string(), doc)))
}

/// `wear.policy`
pub(in crate::config) fn wear(_: &mut SchemaGenerator) -> Schema {
    one_of("wear", entries(wear::REGISTRY))
}

/// `controller.policy`
pub(in crate::config) fn dispatch(_: &mut SchemaGenerator) -> Schema {
    one_of("dispatch", entries(policies::REGISTRY))
}

/// `workload.files.personality`
pub(in crate::config) fn personalities(_: &mut SchemaGenerator) -> Schema {
    one_of("personalities", entries(PERSONALITIES))
}

/// `workload.standin.name`
pub(in crate::config) fn standins(_: &mut SchemaGenerator) -> Schema {
    one_of("standins", entries(&STANDINS))
}

/// `workload.trace.format`: a name, an alias of one, or `name:event`.
pub(in crate::config) fn formats(_: &mut SchemaGenerator) -> Schema {
    let mut schema = one_of("formats", entries(FORMATS));
    let aliases = FORMATS.iter().flat_map(|format| format.aliases);
    let events = FORMATS.iter().flat_map(|format| {
        let names = std::iter::once(&format.name).chain(format.aliases);
        names.flat_map(|name| format.events.iter().map(move |event| format!("{name}:{event}")))
    });
    let others: Vec<Value> = aliases.map(|alias| json!(alias)).chain(events.map(Value::from)).collect();
    if let Some(list) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        list.extend(others);
    }
    schema
}
