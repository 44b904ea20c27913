//! How things that a user can name are registered: one line in a list, and the configuration, the command line's lists,
//! the documentation and the contract tests find it there.

use std::collections::BTreeMap;

use crate::error::nearest;

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
