//! The configuration language, independent of the drive's keys: trees that record where each key was written, their
//! conversion to structs, and checks whose faults know their place.

mod check;
mod de;
mod layers;
mod node;
mod quantity;
pub mod registry;
mod rules;
mod syntax;

pub use check::{Checker, Field, field};
pub use de::{WHOLE, unknown_name};
pub use layers::{Rivals, drop_rivals, merge};
pub use node::{KeySource, Node, Table, Value, join, parse_set};
pub use quantity::{Unit, convert};
pub use rules::Rules;
