//! What a preset says, line by line: every key with its value and the source that stands beside it.

use serde::Serialize;
use serde_json::Value as Json;

use super::presets::preset;
use flashwatt_base::settings::{KeySource, Node, Value, join};

/// One key that a preset gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The dotted key.
    pub key: String,
    /// Its value.
    pub value: Json,
    /// The comment beside it: where the value is from.
    pub source: String,
}

/// What a preset says about itself: the comment at its head, without the `#`.
pub fn about(name: &str) -> Option<String> {
    let head = preset(name)?.lines().map_while(|line| line.strip_prefix('#'));
    Some(head.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n"))
}

/// Every key that a preset gives, in the order of its lines.
pub fn settings(name: &str) -> Option<Vec<Setting>> {
    let text = preset(name)?;
    let tree = Node::parse(text, name, KeySource::Preset).ok()?;
    let mut found = Vec::new();
    leaves(&tree, "", &mut found);
    found.sort_by_key(|(line, ..)| *line);
    let lines: Vec<_> = text.lines().collect();
    let source = |line: usize| lines.get(line.wrapping_sub(1)).map(|line| comment(line)).unwrap_or_default();
    Some(found.into_iter().map(|(line, key, value)| Setting { key, value, source: source(line) }).collect())
}

fn leaves(node: &Node, path: &str, found: &mut Vec<(usize, String, Json)>) {
    match &node.value {
        Value::Table(table) => table.iter().for_each(|(key, node)| leaves(node, &join(path, key), found)),
        _ => found.push((node.place.line.unwrap_or_default() as usize, path.to_string(), node.value.to_json())),
    }
}

/// What stands behind the `#` of a line, if it is not within a string.
fn comment(line: &str) -> String {
    let mut quoted = false;
    for (at, letter) in line.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '#' if !quoted => return line[at + 1..].trim().to_string(),
            _ => {}
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::super::PRESETS;
    use super::*;

    #[test]
    fn every_number_of_every_preset_has_its_source() {
        for (name, _) in PRESETS {
            assert!(about(name).is_some_and(|about| about.len() > 80), "{name}");
            for setting in settings(name).unwrap_or_default() {
                assert!(setting.key == "device.description" || !setting.source.is_empty(), "{name}: {setting:?}");
            }
        }
        assert!(settings("nonsense").is_none() && about("nonsense").is_none());
    }

    #[test]
    fn comments_begin_outside_of_strings() {
        assert_eq!(comment("a = 1 # b # c"), "b # c");
        assert_eq!(comment("a = \"#1\" # b"), "b");
        assert_eq!(comment("a = \"#1\""), "");
    }
}
