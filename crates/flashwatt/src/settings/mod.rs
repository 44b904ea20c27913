//! The configuration language, independent of the drive's keys: trees that record where each key was written, their
//! conversion to structs, and checks whose faults know their place.

mod check;
mod de;
mod layers;
mod node;
mod quantity;
mod rules;
mod syntax;

pub(crate) use check::{Checker, Field, field};
pub(crate) use de::{WHOLE, unknown_name};
pub(crate) use layers::{Rivals, drop_rivals, merge};
pub(crate) use node::{KeySource, Node, Table, Value, join, parse_set};
pub(crate) use quantity::{Unit, convert};
pub(crate) use rules::Rules;
