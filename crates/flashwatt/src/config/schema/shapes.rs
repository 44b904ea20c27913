//! Schemas of the values that [`super::super::raw`] reads by hand.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::super::raw::{
    Chosen, Common, FileSystemKind, Files, Fio, Flashsim, Paths, Precondition, Replay, Scalar, SchedulerKind, Sizes,
    Standin, Trace, TransferCurrent, VictimPolicy, Workload,
};
use flashwatt_base::registry::{Entry, Named, Param, find};
use flashwatt_files::systems;
use flashwatt_host::sched;
use flashwatt_ssd::ftl;
use flashwatt_ssd::gc;
use flashwatt_workload::synthetic::model;

/// Writes a [`JsonSchema`] that is put in place wherever its type stands.
macro_rules! shape {
    ($type:ty, $generator:ident => $schema:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

shape!(TransferCurrent, _generator => json_schema!({
    "anyOf": [
        { "type": "number" },
        { "type": "string", "const": "operation", "description": "That of the operation that the transfer belongs to." },
    ]
}));

shape!(Paths, _generator => json_schema!({
    "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
}));

shape!(Sizes, _generator => json_schema!({
    "anyOf": [
        { "type": "integer" },
        {
            "type": "array",
            "items": { "type": "array", "items": { "type": ["number", "string"] }, "minItems": 2, "maxItems": 2 },
        },
    ]
}));

shape!(Chosen<VictimPolicy>, _generator => chosen("gc", gc::REGISTRY));

shape!(Chosen<SchedulerKind>, _generator => chosen("schedulers", sched::REGISTRY));

shape!(Chosen<FileSystemKind>, _generator => chosen("filesystems", systems::REGISTRY));

shape!(Scalar, _generator => json_schema!({ "type": ["string", "number", "boolean"] }));

fn chosen<B>(kind: &str, registry: &'static [Entry<B>]) -> Schema {
    of_kind(
        kind,
        tagged(
            registry
                .iter()
                .map(|entry| (entry.name, entry.doc.into(), json!({ "properties": parameters(entry.params) }))),
        ),
    )
}

shape!(Workload, generator => of_kind("workloads", tagged(workloads(generator).into_iter())));

shape!(Precondition, generator => {
    let states = [
        ("filled", "Every logical page holds data, as after one sequential write of the whole drive."),
        ("empty", "Nothing was ever written."),
        ("mapped", "Every logical page has a place, and nothing was ever written: a read of a page is a read of flash."),
        ("steady", "What endless random writes of single pages lead to."),
        ("image", "What the file system of the workload `files` holds was written once, and nothing else."),
    ];
    debug_assert!(states.iter().map(|(name, _)| *name).eq(Precondition::STATES));
    let states = states.into_iter().map(|(name, doc)| (name, doc.into(), json!({})));
    let mut schema = tagged(states.chain(workloads(generator)));
    snapshot(&mut schema);
    schema
});

shape!(Replay, generator => {
    let rules = [
        ("timed", "In simulated time.", json!({})),
        (
            "flashsim",
            "One after another and without a clock, by FlashSim's rules: figures of flash and wear, none of time or energy.",
            Flashsim::json_schema(generator).into(),
        ),
    ];
    tagged(rules.into_iter().map(|(name, doc, table)| (name, doc.into(), table)))
});

/// The one name of a start state that takes a file: `{ snapshot = "FILE" }`, and not the name alone.
fn snapshot(schema: &mut Schema) {
    const DOC: &str = "A drive that was saved by `flashwatt age`: the name of the file.";
    let tables = schema.get_mut("anyOf").and_then(|any| any.get_mut(1)).and_then(|tables| tables.get_mut("properties"));
    if let Some(tables) = tables.and_then(Value::as_object_mut) {
        tables.insert(Precondition::SNAPSHOT.into(), json!({ "type": "string", "description": DOC }));
    }
    if let Some(names) = schema.get_mut("x-names").and_then(Value::as_object_mut) {
        names.insert(
            Precondition::SNAPSHOT.into(),
            "a drive that `flashwatt age` has saved, by the name of its file".into(),
        );
    }
}

fn workloads(generator: &mut SchemaGenerator) -> Vec<(&'static str, Cow<'static, str>, Value)> {
    let table = |entry: &'static dyn Named| {
        let schema = match entry.name() {
            "trace" => Trace::json_schema(generator).into(),
            "fio" => Fio::json_schema(generator).into(),
            "files" => Files::json_schema(generator).into(),
            "standin" => Standin::json_schema(generator).into(),
            name => synthetic(name, Common::json_schema(generator).into()),
        };
        (entry.name(), entry.doc(), schema)
    };
    flashwatt_workload::registry().map(table).collect()
}

/// The keys of all models, and the parameters of one.
fn synthetic(name: &str, mut common: Value) -> Value {
    if let (Some(keys), Some(model)) = (common["properties"].as_object_mut(), model(name)) {
        keys.extend(parameters(model.params));
    }
    common
}

fn parameters(params: &[Param]) -> Map<String, Value> {
    params.iter().map(|param| (param.name.to_string(), parameter(param))).collect()
}

fn parameter(param: &Param) -> Value {
    json!({ "type": if param.integer { "integer" } else { "number" }, "description": sentence(param.doc) })
}

fn sentence(doc: &str) -> String {
    let mut letters = doc.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// A name, or a table of that name: `ftl = "page"` or `[ftl.page]`.
fn tagged<'a>(named: impl Iterator<Item = (&'a str, Cow<'a, str>, Value)>) -> Schema {
    let (mut docs, mut tables) = (Map::new(), Map::new());
    for (name, doc, mut table) in named {
        table["type"] = "object".into();
        table["description"] = sentence(doc.trim_end_matches('.')).into();
        table["additionalProperties"] = false.into();
        docs.insert(name.to_string(), doc.into_owned().into());
        tables.insert(name.to_string(), table);
    }
    let names: Vec<_> = docs.keys().cloned().collect();
    json_schema!({
        "anyOf": [
            { "type": "string", "enum": names },
            { "type": "object", "properties": tables, "additionalProperties": false, "minProperties": 1, "maxProperties": 1 },
        ],
        "x-names": docs,
    })
}

/// A schema whose names are registered. `kind` is what `flashwatt list` calls them.
fn of_kind(kind: &str, mut schema: Schema) -> Schema {
    schema.insert("x-kind".into(), kind.into());
    schema
}

/// Serde's enum of tables in the same form. Of enums of tables there is that of the translation layers alone.
pub(super) fn tagged_tables(variants: &[Value]) -> Option<Value> {
    let table = |variant: &Value| Some(variant.get("properties")?.as_object()?.iter().next()?.1.clone());
    let name = |variant: &'_ Value| Some(variant.get("properties")?.as_object()?.keys().next()?.clone());
    let named: Option<Vec<_>> = variants.iter().map(|variant| Some((name(variant)?, table(variant)?))).collect();
    let named = named?;
    let doc = |name: &str| find(ftl::REGISTRY, name).map(Named::doc).unwrap_or_default();
    let schema = tagged(named.iter().map(|(name, table)| (name.as_str(), doc(name), table.clone())));
    Some(of_kind("ftls", schema).into())
}
