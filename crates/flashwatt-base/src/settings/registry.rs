//! How things that a user can name are registered: a folder holds one file for each of them, a list holds one line for each.
//! The checks, the schema, messages, `flashwatt list` and the contract tests read that list.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::error::Fault;
use crate::settings::unknown_name;
use crate::units::Nanos;

/// The files of a folder that each hold one registered thing: declares the modules, and the list of their entries.
/// (`make lint` formats these files by name, because `cargo fmt` does not look for modules inside a macro.)
#[macro_export]
macro_rules! registry {
    ($(#[$doc:meta])* $list:ident: $entry:ty = $($file:ident),+ $(,)?) => {
        $(mod $file;)+

        $(#[$doc])*
        pub const $list: &[$entry] = &[$($file::ENTRY),+];
    };
}
pub use registry;

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

/// Values of the parameters of a registered thing by name, one for each.
pub struct Parameters<'a>(pub &'a BTreeMap<String, f64>);

impl Parameters<'_> {
    /// A number.
    pub fn number(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or_else(|| unreachable!("{name} has a value: its default"))
    }

    /// A whole number.
    pub fn count(&self, name: &str) -> u64 {
        self.number(name) as u64
    }

    /// A time that is given in ms, in ns.
    pub fn ms(&self, name: &str) -> Nanos {
        (self.number(name) * 1e6).round() as Nanos
    }

    /// A switch: 0 or 1.
    pub fn is_on(&self, name: &str) -> bool {
        self.number(name) != 0.0
    }
}

/// Something that a user can name.
pub trait Named {
    /// The name in configurations.
    fn name(&self) -> &str;

    /// One line for the user: what it does and where it comes from.
    fn doc(&self) -> Cow<'_, str>;
}

/// A registered thing. `B` makes one; each kind says of what.
#[derive(Clone, Copy)]
pub struct Entry<B> {
    /// The name in configurations.
    pub name: &'static str,
    /// One line for the user: what it does and where it comes from.
    pub doc: &'static str,
    /// Its numeric parameters; none for a kind whose options are a struct.
    pub params: &'static [Param],
    /// Makes one.
    pub build: B,
}

impl<B> Named for Entry<B> {
    fn name(&self) -> &str {
        self.name
    }

    fn doc(&self) -> Cow<'_, str> {
        self.doc.into()
    }
}

/// Entries of one registry are equal if they have the same name.
impl<B> PartialEq for Entry<B> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// In reports an entry is its name.
impl<B> Serialize for Entry<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<B> fmt::Debug for Entry<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The entry of that name, if there is one.
pub fn find<'a, T: Named>(registry: &'a [T], name: &str) -> Option<&'a T> {
    registry.iter().find(|entry| entry.name() == name)
}

/// Completes a fault about a name that is not registered: what was found, the valid names, the nearest of them.
pub fn unknown<T: Named>(fault: Fault, name: &str, registry: &[T]) -> Fault {
    let names: Vec<_> = registry.iter().map(Named::name).collect();
    unknown_name(fault, name, &names)
}
