//! The language of configurations: trees that know where each key was written, how they become structs, and checks whose
//! faults know their place. It knows no key of a drive.

mod check;
mod de;
mod layers;
mod node;
mod rules;

pub(crate) use check::{Checker, Field, field};
pub(crate) use de::{WHOLE, unknown_name};
pub(crate) use layers::{Rivals, drop_rivals, merge};
pub(crate) use node::{Node, Origin, Table, Value, join, parse_set};
pub(crate) use rules::Rules;
