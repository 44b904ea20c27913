//! How things that a user can name are registered: one line in a list, and the configuration, the command line's lists,
//! the documentation and the contract tests find it there.

use std::collections::BTreeMap;

use crate::error::nearest;
use crate::workload::trace;
use crate::{config, ftl, gc, wear, workload};

/// The files of a folder that each hold one registered thing: declares the modules, and the list of their entries.
/// (`make lint` formats these files by name, because `cargo fmt` does not look for modules inside a macro.)
macro_rules! registry {
    ($(#[$doc:meta])* $list:ident: $entry:ty = $($file:ident),+ $(,)?) => {
        $(mod $file;)+

        $(#[$doc])*
        pub const $list: &[$entry] = &[$($file::ENTRY),+];
    };
}
pub(crate) use registry;

/// A numeric parameter of a registered thing.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// One line for the user, with the unit.
    pub doc: &'static str,
    /// Its value unless given.
    pub default: f64,
    /// Least valid value.
    pub min: f64,
    /// Greatest valid value.
    pub max: f64,
    /// Must it be a whole number?
    pub integer: bool,
}

/// Something a user can name.
pub struct Entry<T: ?Sized> {
    /// The name in configurations.
    pub name: &'static str,
    /// One line for the user: what it does and where it comes from.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Makes one. `parameters` holds a valid value for each of `params`.
    pub build: fn(parameters: &BTreeMap<String, f64>) -> Box<T>,
}

/// The entry of that name, or the nearest valid one.
pub fn find<'a, T: ?Sized>(registry: &'a [Entry<T>], name: &str) -> Result<&'a Entry<T>, Option<String>> {
    registry
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| nearest(name, registry.iter().map(|entry| entry.name)))
}

/// What is registered under a kind (`ftls`, `gc`, `wear`, `dispatch`, `presets`, `workloads`, `formats`): each name with
/// one line about it. `None` for a kind that this version does not have.
pub fn list(kind: &str) -> Option<Vec<(String, String)>> {
    let own = |(name, doc): (&str, &str)| (name.to_string(), doc.to_string());
    Some(match kind {
        "ftls" => ftl::NAMES.iter().copied().map(own).collect(),
        "gc" => gc::REGISTRY.iter().map(|entry| (entry.name.to_string(), with_params(entry))).collect(),
        "wear" => wear::REGISTRY.iter().map(|entry| own((entry.name, entry.doc))).collect(),
        "dispatch" => config::DISPATCH.iter().copied().map(own).collect(),
        "presets" => config::PRESETS.iter().map(|(name, _)| own((name, &description(name)))).collect(),
        "workloads" => workload::NAMES.iter().copied().map(own).collect(),
        "formats" => trace::FORMATS.iter().map(|format| own((format.name, format.doc))).collect(),
        _ => return None,
    })
}

/// What an entry is, and how its parameters are written.
fn with_params(entry: &Entry<dyn gc::VictimPolicy>) -> String {
    let param = |param: &Param| {
        let Param { name, doc, default, min, max, .. } = param;
        format!("; [gc.policy.{}] {name} = {default}: {doc} ({min} to {max})", entry.name)
    };
    entry.params.iter().fold(entry.doc.to_string(), |text, next| text + &param(next))
}

fn description(preset: &str) -> String {
    let text = format!("device.preset = {preset:?}");
    config::load(&text, preset, &[]).map_or_else(|error| error.to_string(), |config| config.device.description)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The overrides that choose a name of a kind.
    fn choice(kind: &str, name: &str) -> Vec<String> {
        match kind {
            "ftls" => vec![format!("ftl={name}")],
            "gc" => vec![format!("gc.policy={name}")],
            "wear" => vec![format!("wear.policy={name}")],
            "dispatch" => vec![format!("controller.policy={name}")],
            "presets" => vec![format!("device.preset={name}")],
            "workloads" if name == "trace" => vec!["workload.trace.path=a".into()],
            "workloads" => vec![format!("workload={name}")],
            "formats" => vec!["workload.trace.path=a".into(), format!("workload.trace.format={name}")],
            _ => panic!("{kind}"),
        }
    }

    #[test]
    fn every_listed_name_is_valid_and_described_in_one_line() {
        for kind in ["ftls", "gc", "wear", "dispatch", "presets", "workloads", "formats"] {
            let names = list(kind).unwrap_or_default();
            assert!(!names.is_empty(), "{kind}");
            for (name, doc) in names {
                assert!(!doc.is_empty() && !doc.contains('\n'), "{kind} {name}: {doc}");
                let config = config::load("", "test.toml", &choice(kind, &name));
                assert!(config.is_ok(), "{kind} {name}: {config:?}");
            }
        }
        assert!(list("nonsense").is_none());
    }

    /// A name that no list holds is refused with all that do: so the lists are whole.
    #[test]
    fn every_valid_name_is_listed() {
        for kind in ["ftls", "gc", "wear", "dispatch", "presets", "workloads", "formats"] {
            let Err(error) = config::load("", "test.toml", &choice(kind, "nonsense")) else { panic!("{kind}") };
            let message = error.to_string();
            let valid = message.split("expected ").nth(1).unwrap_or_default().split("; ").next().unwrap_or_default();
            let mut valid: Vec<_> =
                valid.trim_start_matches("one of ").split(", ").map(|name| name.trim_matches('`')).collect();
            let listed = list(kind).unwrap_or_default();
            let mut listed: Vec<_> = listed.iter().map(|(name, _)| name.as_str()).collect();
            valid.sort_unstable();
            listed.sort_unstable();
            assert_eq!(valid, listed, "{kind}: {message}");
        }
    }
}
