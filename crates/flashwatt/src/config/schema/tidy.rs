//! What serde's types say beyond what TOML knows is taken out: `null`, widths of integers, Rust's names.

use serde_json::Value;

use super::shapes::tagged_tables;

/// Tidies a schema and everything in it.
pub(super) fn tidy(node: &mut Value) {
    if let Value::Array(items) = node {
        items.iter_mut().for_each(tidy);
    }
    let Value::Object(object) = node else { return };
    object.values_mut().for_each(tidy);
    if object.get("format").is_some_and(Value::is_string) {
        ["format", "minimum", "maximum"].iter().for_each(|key| drop(object.remove(*key)));
    }
    if object.get("default").is_some_and(|default| default.is_null() || default.is_object()) {
        object.remove("default");
    }
    if let Some(Value::String(doc)) = object.get_mut("description") {
        *doc = doc.split("\n\n").map(one_line).collect::<Vec<_>>().join("\n\n");
    }
    not_null(node);
    tables_by_name(node);
}

fn one_line(paragraph: &str) -> String {
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An option is a value that may be left out: TOML has no `null`.
fn not_null(node: &mut Value) {
    if let Some(Value::Array(types)) = node.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = &types[..] {
            node["type"] = only.clone();
        }
    }
    let Some(Value::Array(ones)) = node.get_mut("anyOf") else { return };
    ones.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
    if let [only] = &ones[..] {
        let only = only.clone();
        replace(node, "anyOf", only);
    }
}

/// Serde writes an enum of tables as a list of tables with one key each.
fn tables_by_name(node: &mut Value) {
    let tables = node.get("oneOf").and_then(Value::as_array).and_then(|variants| tagged_tables(variants));
    if let Some(tables) = tables {
        replace(node, "oneOf", tables);
    }
}

/// Puts what `with` says in the place of `key`; what the node says itself counts more.
fn replace(node: &mut Value, key: &str, with: Value) {
    let (Value::Object(node), Value::Object(with)) = (node, with) else { return };
    node.remove(key);
    for (key, value) in with {
        node.entry(key).or_insert(value);
    }
}
