//! The schema and the reference of configurations, made from the parser's own structs, names and doc comments
//! of [`super::raw`], registries, and the rules that the checks record ([`Rules`]). Nothing is listed a second time.

use std::sync::OnceLock;

use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value};

use super::parse;
use super::presets::PRESETS;
use super::raw::Raw;
use flashwatt_base::error::Error;
use flashwatt_base::settings::{Rules, Unit};
use flashwatt_host::sched;
use flashwatt_ssd::ftl;
use flashwatt_ssd::gc;
use flashwatt_workload as workload;

pub(super) mod names;
mod shapes;
mod tidy;

/// The JSON schema (draft 7) of a configuration file, for editors. `x-unit` is the unit of a number, `x-names` describes each
/// name that a key takes, `x-kind` is the kind of [`flashwatt_base::list`] that they are registered under. A number may stand in quotes
/// with a unit.
pub fn schema() -> Value {
    let mut schema = of_numbers();
    quoted_numbers(&mut schema, "");
    schema
}

/// The schema in which a number is just a number.
fn of_numbers() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<Raw>());
    tidy::tidy(&mut schema);
    for (key, rule) in &rules().0 {
        let Some(node) = at(&mut schema, key) else { continue };
        if let Some([least, greatest]) = rule.range() {
            node.insert("minimum".into(), least.clone());
            node.insert("maximum".into(), greatest.clone());
        }
        if let Some(default) = rule.default() {
            node.insert("default".into(), default.clone());
        }
        if rule.required {
            node.insert("x-required".into(), true.into());
        }
    }
    units(&mut schema);
    schema
}

/// Lets each number stand in quotes with a unit; `key` is the name of the nearest key.
fn quoted_numbers(node: &mut Value, key: &str) {
    for (name, child) in properties_mut(node).into_iter().flatten() {
        quoted_numbers(child, name);
    }
    let kind = node.get("type").and_then(Value::as_str).unwrap_or_default().to_string();
    if kind == "integer" || kind == "number" {
        node["pattern"] = Unit::quoted(key, kind == "integer").pattern().into();
        node["type"] = serde_json::json!([kind, "string"]);
    }
    if let Some(items) = node.get_mut("items") {
        quoted_numbers(items, key);
    }
    let several = node.get_mut("anyOf").and_then(Value::as_array_mut);
    for one in several.into_iter().flatten().filter(|one| one.get("properties").is_none()) {
        quoted_numbers(one, key);
    }
}

/// The number that a text stands for as the value of a key, in that key's unit: `"10k"`, `"64GB"`, `"550us"`.
///
/// # Errors
/// A text that is no number, or has a unit of another kind.
pub fn number(key: &str, text: &str) -> Result<Value, Error> {
    let whole = reference().iter().any(|known| known.key == key && known.types == ["integer"]);
    let number = Unit::quoted(key, whole).read(text).map_err(|fault| *fault)?;
    Ok(number.to_json())
}

/// Least and greatest value of a key that is checked to be between them, whatever other keys say.
pub(super) fn range(key: &str) -> Option<[Value; 2]> {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(rules).0.get(key)?.range().cloned()
}

/// Every rule, recorded while configurations that reach all of them are checked.
fn rules() -> Rules {
    let mut all = Rules::default();
    for sets in probes() {
        all.merge(parse::rules(&sets));
    }
    let workloads: Vec<_> = all.0.iter().filter(|(key, _)| key.starts_with("workload.")).collect();
    let before = workloads.into_iter().map(|(key, rule)| (format!("run.precondition{}", &key[8..]), rule.clone()));
    let before = Rules(before.collect());
    all.merge(before);
    all
}

/// Every preset, translation layer, policy, scheduler and workload, tables that are absent unless they are given, and lengths of requests of
/// two kinds, on which other defaults depend.
fn probes() -> Vec<Vec<String>> {
    let presets = PRESETS.iter().map(|(name, _)| vec![format!("device.preset={name}")]);
    let policies = gc::REGISTRY.iter().map(|entry| vec![format!("gc.policy={}", entry.name)]);
    let workloads = workload::registry().map(|entry| vec![format!("workload={}", entry.name())]);
    let models = workload::synthetic::MODELS.iter();
    let longer = models.map(|model| vec![format!("workload.{}.request_bytes=8192", model.name)]);
    let ftls = ftl::REGISTRY.iter().map(|entry| vec![format!("ftl={}", entry.name)]);
    let schedulers = sched::REGISTRY.iter().map(|entry| vec![format!("host.scheduler={}", entry.name)]);
    let tables = ["run.replay=flashsim", "workload.files.aged.churn=1", "run.power_cuts.cuts=1"]
        .map(|set| vec![set.to_string()]);
    presets.chain(ftls).chain(policies).chain(schedulers).chain(workloads).chain(tables).chain(longer).collect()
}

/// The node of a dotted key.
fn at<'a>(schema: &'a mut Value, key: &str) -> Option<&'a mut Map<String, Value>> {
    key.split('.').try_fold(schema, |node, name| properties_mut(node)?.get_mut(name))?.as_object_mut()
}

fn properties_mut(node: &mut Value) -> Option<&mut Map<String, Value>> {
    if node.get("properties").is_some() {
        return node.get_mut("properties")?.as_object_mut();
    }
    node.get_mut("anyOf")?.as_array_mut()?.iter_mut().find_map(|one| one.get_mut("properties"))?.as_object_mut()
}

fn properties(node: &Value) -> Option<&Map<String, Value>> {
    let own = node.get("properties");
    let one = || node.get("anyOf")?.as_array()?.iter().find_map(|one| one.get("properties"));
    own.or_else(one)?.as_object()
}

fn units(node: &mut Value) {
    for (name, child) in properties_mut(node).into_iter().flatten() {
        if let (Some(unit), Some(child)) = (Unit::of_key(name), child.as_object_mut()) {
            child.insert("x-unit".into(), unit.name.into());
        }
        units(child);
    }
}

/// What the reference says of one key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Key {
    /// The dotted key.
    pub key: String,
    /// What it means; the same words as in the source.
    pub doc: String,
    /// Of a value: `integer`, `number`, `boolean`, `string`, `array` (one of several is possible); of a table: `object`.
    pub types: Vec<String>,
    /// Its unit, if it has one.
    pub unit: Option<String>,
    /// Least valid value.
    pub minimum: Option<Value>,
    /// Greatest valid value.
    pub maximum: Option<Value>,
    /// The value that counts if neither the preset nor the user gives one; none if that depends on other keys.
    pub default: Option<Value>,
    /// A preset or the user must give it.
    pub required: bool,
    /// The names that it can have, if it is one of several.
    pub choices: Vec<OneOf>,
    /// The kind of [`flashwatt_base::list`] that these names are registered under, if they are.
    pub kind: Option<String>,
}

/// One of several names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OneOf {
    /// As it is written.
    pub name: String,
    /// What it stands for.
    pub doc: String,
}

/// Every key that a configuration can have, tables included, each before what it holds.
pub fn reference() -> Vec<Key> {
    static KEYS: OnceLock<Vec<Key>> = OnceLock::new();
    let collected = || {
        let mut keys = Vec::new();
        collect(&of_numbers(), "", &mut keys);
        keys
    };
    KEYS.get_or_init(collected).clone()
}

fn collect(node: &Value, path: &str, keys: &mut Vec<Key>) {
    for (name, child) in properties(node).into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        keys.push(described(&path, child));
        collect(child, &path, keys);
    }
}

fn described(key: &str, node: &Value) -> Key {
    let text = |name: &str| node.get(name).and_then(Value::as_str).map(str::to_string);
    Key {
        key: key.to_string(),
        doc: text("description").unwrap_or_default(),
        types: types(node),
        unit: text("x-unit"),
        minimum: node.get("minimum").cloned(),
        maximum: node.get("maximum").cloned(),
        default: node.get("default").cloned(),
        required: node.get("x-required").is_some(),
        choices: choices(node),
        kind: text("x-kind"),
    }
}

fn types(node: &Value) -> Vec<String> {
    let own = node.get("type").and_then(Value::as_str).map(str::to_string);
    let mut types: Vec<_> = own.into_iter().collect();
    for one in ["anyOf", "oneOf"].iter().filter_map(|of| node.get(of)?.as_array()).flatten() {
        types.extend(self::types(one));
    }
    types.dedup();
    types
}

fn choices(node: &Value) -> Vec<OneOf> {
    let choice = |name: &str, doc: &Value| OneOf { name: name.into(), doc: doc.as_str().unwrap_or_default().into() };
    if let Some(names) = node.get("x-names").and_then(Value::as_object) {
        return names.iter().map(|(name, doc)| choice(name, doc)).collect();
    }
    let several = ["oneOf", "anyOf"].iter().filter_map(|of| node.get(of)?.as_array()).flatten();
    several.filter_map(|one| Some(choice(one.get("const")?.as_str()?, &one["description"]))).collect()
}

#[cfg(test)]
mod tests;
