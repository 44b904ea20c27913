//! The lists of all names that a configuration can use, by kind.

use crate::registry::{Entry, Param};
use crate::workload::trace;
use crate::{config, ftl, gc, wear, workload};

/// The names registered under a kind (`ftls`, `gc`, `wear`, `dispatch`, `presets`, `workloads`, `standins`, `formats`),
/// each with a description of one line. `None` for a kind that this version does not have.
pub fn list(kind: &str) -> Option<Vec<(String, String)>> {
    let own = |(name, doc): (&str, &str)| (name.to_string(), doc.to_string());
    Some(match kind {
        "ftls" => ftl::NAMES.iter().copied().map(own).collect(),
        "gc" => gc::REGISTRY.iter().map(|entry| (entry.name.to_string(), with_params(entry))).collect(),
        "wear" => wear::REGISTRY.iter().map(|entry| own((entry.name, entry.doc))).collect(),
        "dispatch" => config::DISPATCH.iter().copied().map(own).collect(),
        "presets" => config::described().map(|(name, doc)| own((name, &doc))).collect(),
        "workloads" => workload::NAMES.iter().copied().map(own).collect(),
        "formats" => trace::FORMATS.iter().map(|format| own((format.name, &format.line()))).collect(),
        "standins" => workload::standin::STANDINS.iter().map(|s| own((s.name, &s.data.description))).collect(),
        _ => return None,
    })
}

/// The description of an entry, with the syntax of its parameters.
fn with_params(entry: &Entry<dyn gc::VictimPolicy>) -> String {
    let param = |param: &Param| {
        let Param { name, doc, default, min, max, .. } = param;
        format!("; [gc.policy.{}] {name} = {default}: {doc} ({min} to {max})", entry.name)
    };
    entry.params.iter().fold(entry.doc.to_string(), |text, next| text + &param(next))
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
            "workloads" if name == "trace" || name == "fio" => vec![format!("workload.{name}.path=a")],
            "workloads" if name == "standin" => vec!["workload.standin.name=gimp".into()],
            "standins" => vec![format!("workload.standin.name={name}")],
            "workloads" => vec![format!("workload={name}")],
            "formats" => vec!["workload.trace.path=a".into(), format!("workload.trace.format={name}")],
            _ => panic!("{kind}"),
        }
    }

    #[test]
    fn every_listed_name_is_valid_and_described_in_one_line() {
        for kind in ["ftls", "gc", "wear", "dispatch", "presets", "workloads", "standins", "formats"] {
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

    /// A name on no list is refused with a message that shows the whole list: so the lists are complete.
    #[test]
    fn every_valid_name_is_listed() {
        for kind in ["ftls", "gc", "wear", "dispatch", "presets", "workloads", "standins", "formats"] {
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
