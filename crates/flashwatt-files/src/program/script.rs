//! What the statements of a program say, before their values are known: a later `set` also changes what stands above it.

use std::collections::BTreeMap;

use super::lexer::Token;
use super::words::Attributes;
use flashwatt_base::error::Fault;

/// An attribute as it is written: its value, unless it stands alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute<'a> {
    pub name: &'a str,
    pub line: u32,
    pub value: Option<Token<'a>>,
}

/// An entity and its attributes.
#[derive(Clone)]
pub(super) struct Block<'a> {
    /// What it is: `define fileset`, or the name of a flow operation.
    pub of: &'a str,
    pub line: u32,
    pub attributes: Vec<Attribute<'a>>,
}

impl<'a> Block<'a> {
    /// The attribute of one of these names.
    pub fn get(&self, names: &[&str]) -> Option<Attribute<'a>> {
        self.attributes.iter().copied().find(|attribute| names.contains(&attribute.name))
    }
}

/// A flow operation.
pub(super) type FlowopBlock<'a> = Block<'a>;

/// A thread and its flow operations.
pub(super) struct ThreadBlock<'a> {
    pub block: Block<'a>,
    pub flowops: Vec<FlowopBlock<'a>>,
}

/// A process and its threads.
pub(super) struct ProcessBlock<'a> {
    pub block: Block<'a>,
    pub threads: Vec<ThreadBlock<'a>>,
}

/// What a variable was set to.
#[derive(Clone)]
pub(super) enum Assigned<'a> {
    Value(Token<'a>),
    Randvar(Block<'a>),
    Cvar(Block<'a>),
}

/// When a run ends, by `set mode quit …`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Quit {
    /// When its time has passed (`timeout`), or with a warning when a flow operation finds no file. Unless said otherwise.
    #[default]
    Timeout,
    /// When a flow operation finds no file (`firstdone`).
    FirstDone,
    /// When that happened to every thread (`alldone`): each ends by itself.
    AllDone,
}

/// `run` or `psrun`.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub seconds: Option<Token<'a>>,
}

/// A whole program.
#[derive(Default)]
pub(super) struct Script<'a> {
    pub variables: BTreeMap<&'a str, Assigned<'a>>,
    pub filesets: Vec<Block<'a>>,
    pub processes: Vec<ProcessBlock<'a>>,
    pub events: Option<Block<'a>>,
    pub quit: Quit,
    pub run: Option<Run<'a>>,
}

/// Why an attribute of an entity is not valid; nothing for one that is.
pub(super) fn attribute_fault(attributes: &Attributes, name: &str, fault: Fault) -> Option<Fault> {
    if attributes.known.contains(&name) || attributes.without_effect.contains(&name) {
        return None;
    }
    if let Some((_, help)) = attributes.unsupported.iter().find(|(unsupported, _)| *unsupported == name) {
        return Some(
            Fault { what: format!("an attribute of {} that is not supported", attributes.of), ..fault }.help(*help),
        );
    }
    let valid: Vec<_> = attributes.known.iter().chain(attributes.without_effect).copied().collect();
    let fault = Fault { what: format!("unknown attribute of {}", attributes.of), ..fault };
    Some(flashwatt_base::settings::unknown_name(fault, name, &valid))
}
