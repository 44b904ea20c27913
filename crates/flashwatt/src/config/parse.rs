//! From text to [`Config`]: the preset, the user's file over it, the command line over both.

use serde::Deserialize;

use super::Config;
use super::de::one_of;
use super::node::{Node, Origin, lay, lay_without_rivals, parse_set};
use super::presets::{DEFAULT_PRESET, PRESETS, preset};
use super::raw::Raw;
use super::resolve::resolve;
use crate::error::{Error, Fault, nearest};

/// Faults of one text are given all at once, up to so many.
const FAULTS_MAX: usize = 100;

/// Reads a configuration.
///
/// `text` is the user's TOML and `file_name` what messages call it; `sets` are overrides `KEY=VALUE` with dotted keys,
/// where a value that is no TOML stands for itself as a string (`ftl=page`). The text is laid key by key over the
/// preset that `device.preset` names — `x25m` if it names none — and the overrides over both. A value tagged from
/// outside (`ftl`, `workload`, `gc.policy`, `run.precondition`) merges with the one below it if both have the same
/// name, and replaces it otherwise. Giving one of several keys that exclude each other drops the others of the layers
/// below.
///
/// # Errors
/// [`Error::Config`] with every fault that can be told apart at once: file (`--set` for an override), line, key, what
/// was found, what was expected, the nearest valid name.
pub fn load(text: &str, file_name: &str, sets: &[String]) -> Result<Config, Error> {
    let mut faults = Vec::new();
    let file = layer(Node::parse(text, file_name, Origin::File), Origin::File, &mut faults);
    let set = overrides(sets, &mut faults);
    let mut tree = base(&file, &set, &mut faults);
    lay(&mut tree, file);
    lay(&mut tree, set);
    let config = match Raw::deserialize(&tree) {
        Ok(raw) => resolve(&raw, &tree, file_name, &mut faults),
        Err(error) => {
            faults.push(error.into_parts().0);
            None
        }
    };
    match config {
        Some(config) if faults.is_empty() => Ok(config),
        _ => Err(Error::Config(in_order(faults))),
    }
}

/// One layer without the keys that are wrong by themselves: those are faults.
fn layer(parsed: Result<Node, Vec<Fault>>, origin: Origin, faults: &mut Vec<Fault>) -> Node {
    match parsed {
        Ok(mut node) => {
            prune_faults(&mut node, faults);
            node
        }
        Err(found) => {
            faults.extend(found);
            Node::empty(origin)
        }
    }
}

fn overrides(sets: &[String], faults: &mut Vec<Fault>) -> Node {
    let mut all = Node::empty(Origin::Set);
    for set in sets {
        let one = layer(parse_set(set), Origin::Set, faults);
        lay_without_rivals(&mut all, one);
    }
    all
}

/// Serde stops at the first fault: so that fault is taken out, and serde asked again.
fn prune_faults(node: &mut Node, faults: &mut Vec<Fault>) {
    while let Err(error) = Raw::deserialize(&*node) {
        let (fault, path) = error.into_parts();
        faults.push(fault);
        if faults.len() >= FAULTS_MAX || !node.prune(&path) {
            *node = Node::empty(node.origin);
        }
    }
}

/// The preset that the user's layers ask for.
fn base(file: &Node, set: &Node, faults: &mut Vec<Fault>) -> Node {
    const KEY: &str = "device.preset";
    let asked = set.get(KEY).or(file.get(KEY));
    let name = set.string(KEY).or(file.string(KEY)).unwrap_or(DEFAULT_PRESET);
    let text = preset(name).or_else(|| {
        faults.push(unknown_preset(name, asked));
        preset(DEFAULT_PRESET)
    });
    layer(Node::parse(text.unwrap_or_default(), &format!("preset {name}"), Origin::Preset), Origin::Preset, faults)
}

fn unknown_preset(name: &str, asked: Option<&Node>) -> Fault {
    let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
    let place = asked.map(|node| node.place.clone()).unwrap_or_default();
    let fault = Fault::at(place, "unknown preset").found(format!("{name:?}")).expected(one_of(&names));
    fault.nearest(nearest(name, names))
}

/// In the order in which a reader meets them: the file by lines, then the overrides.
fn in_order(mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.sort_by_key(|fault| (fault.place.file.as_deref() == Some("--set"), fault.place.line));
    faults.dedup();
    faults
}
