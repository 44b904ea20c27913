//! Everything that a user can name, by kind.
//!
//! A kind is a key of the configuration that takes registered names. Kinds, names, docs and options are read from the schema of
//! the configuration, which is made of the registries; so there is no second list, and no kind without a name.

use serde::Serialize;

use crate::config::{self, Key};
use flashwatt_files::program::PERSONALITIES;
use flashwatt_workload::trace::{FORMATS, Format};

/// A registered thing: `flashwatt list KIND NAME`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Registered {
    /// Its name.
    pub name: String,
    /// One line about it.
    pub doc: String,
    /// The dotted key that takes the name.
    pub key: String,
    /// The keys of its table `[KEY.NAME]`, with types, units, ranges and defaults; empty if it has no table.
    pub options: Vec<Key>,
    /// The files of a built-in program: the program, then other values of its variables, if it has some. Empty for all else.
    pub files: Vec<SourceFile>,
    /// What the records of a trace format look like. None for all else.
    pub layout: Option<Layout>,
}

/// The records of a trace format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Its columns with their units.
    pub columns: &'static str,
    /// Events that may stand for a request, the usual one first; empty where there is no choice.
    pub events: &'static [&'static str],
    /// A few records; none for a binary format.
    pub example: Option<&'static str>,
}

/// A file of a built-in program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceFile {
    /// Its name, without a directory.
    pub name: &'static str,
    /// Its text, in filebench's language.
    pub text: &'static str,
}

/// Every kind, in the order of the keys in a configuration.
pub fn kinds() -> Vec<String> {
    let mut kinds = Vec::new();
    for kind in config::reference().into_iter().filter_map(|key| key.kind) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The names that are registered under a kind, each with one line about it. `None` for a kind that this version does not
/// have.
pub fn list(kind: &str) -> Option<Vec<(String, String)>> {
    let key = key_of(&config::reference(), kind)?;
    Some(key.choices.into_iter().map(|choice| (choice.name, choice.doc)).collect())
}

/// Everything that is registered under a kind, with its options. `None` for a kind that this version does not have.
pub fn registered(kind: &str) -> Option<Vec<Registered>> {
    let keys = config::reference();
    let Key { key, choices, .. } = key_of(&keys, kind)?;
    let described = |choice: config::OneOf| {
        let table = format!("{key}.{}.", choice.name);
        let options = keys.iter().filter(|option| option.key.starts_with(&table)).cloned().collect();
        let files = if kind == "personalities" { program(&choice.name) } else { Vec::new() };
        let layout = if kind == "formats" { layout(&choice.name) } else { None };
        Registered { name: choice.name, doc: choice.doc, key: key.clone(), options, files, layout }
    };
    Some(choices.into_iter().map(described).collect())
}

/// The files of a built-in program.
fn program(name: &str) -> Vec<SourceFile> {
    let texts = flashwatt_base::registry::find(PERSONALITIES, name).into_iter().flat_map(|one| one.build.files());
    texts.map(|(name, text)| SourceFile { name, text }).collect()
}

/// The records of a trace format.
fn layout(name: &str) -> Option<Layout> {
    let Format { aliases, columns, events, example, units, .. } = *flashwatt_base::registry::find(FORMATS, name)?;
    let example = units.and_then(|_| std::str::from_utf8(example).ok());
    Some(Layout { aliases, columns, events, example })
}

/// The first key that takes names of a kind.
fn key_of(keys: &[Key], kind: &str) -> Option<Key> {
    keys.iter().find(|key| key.kind.as_deref() == Some(kind)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The overrides that choose a name, and what else has to be given with it.
    fn choice(key: &str, name: &str) -> Vec<String> {
        let with = match (key, name) {
            ("workload", "trace" | "fio") => Some(format!("workload.{name}.path=a")),
            ("workload", "standin") => Some("workload.standin.name=gimp".into()),
            ("workload.trace.format", _) => Some("workload.trace.path=a".into()),
            _ => None,
        };
        with.into_iter().chain([format!("{key}={name}")]).collect()
    }

    #[test]
    fn every_registered_name_is_valid_and_described_in_one_line() {
        let kinds = kinds();
        for kind in ["ftls", "gc", "wear", "dispatch", "presets", "workloads", "standins", "formats", "schedulers"] {
            assert!(kinds.iter().any(|known| known == kind), "{kind} is not among {kinds:?}");
        }
        for kind in kinds {
            let entries = registered(&kind).unwrap_or_default();
            assert!(!entries.is_empty(), "{kind}");
            for Registered { name, doc, key, .. } in entries {
                assert!(!doc.is_empty() && !doc.contains('\n'), "{kind} {name}: {doc}");
                let config = config::load("", "test.toml", &choice(&key, &name));
                assert!(config.is_ok(), "{kind} {name}: {config:?}");
            }
        }
        assert!(list("nonsense").is_none() && registered("nonsense").is_none());
    }

    #[test]
    fn a_program_has_its_text_and_its_values() {
        let files = |kind: &str, name: &str| {
            let entry = registered(kind).unwrap_or_default().into_iter().find(|entry| entry.name == name).expect(name);
            entry.files.into_iter().map(|file| (file.name, file.text.contains("define"))).collect::<Vec<_>>()
        };
        assert_eq!(files("personalities", "varmail"), [("varmail.f", true)]);
        let of_another = [("varmail.f", true), ("pardispatcher-varmail.f", false)];
        assert_eq!(files("personalities", "pardispatcher-varmail"), of_another);
        assert_eq!(files("filesystems", "ext2"), []);
    }

    /// The parser refuses a name that is not registered and says which are: the same, in the same order.
    #[test]
    fn messages_offer_the_registered_names() {
        for kind in kinds() {
            let entries = registered(&kind).unwrap_or_default();
            let Err(error) = config::load("", "test.toml", &choice(&entries[0].key, "nonsense")) else {
                panic!("{kind}")
            };
            let message = error.to_string();
            let valid = message.split("expected ").nth(1).unwrap_or_default().split("; ").next().unwrap_or_default();
            let valid: Vec<_> =
                valid.trim_start_matches("one of ").split(", ").map(|name| name.trim_matches('`')).collect();
            assert_eq!(valid, entries.iter().map(|entry| &entry.name).collect::<Vec<_>>(), "{kind}: {message}");
        }
    }

    #[test]
    fn options_are_those_of_the_configuration() {
        let options = |kind: &str, name: &str| {
            let entries = registered(kind).unwrap_or_default();
            let entry = entries.into_iter().find(|entry| entry.name == name).expect(name);
            entry.options.into_iter().map(|option| (option.key, option.default)).collect::<Vec<_>>()
        };
        assert_eq!(options("gc", "d_choices"), [("gc.policy.d_choices.d".to_string(), Some(10.0.into()))]);
        assert_eq!(options("gc", "greedy"), []);
        assert_eq!(options("ftls", "dftl")[0].0.rsplit_once('.').map(|(table, _)| table), Some("ftl.dftl"));
        assert!(options("workloads", "zipf").contains(&("workload.zipf.theta".to_string(), Some(0.99.into()))));
    }
}
