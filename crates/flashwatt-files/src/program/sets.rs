//! File sets as a script plans them.

use super::layout::Plan;

/// A file set by name.
pub(super) struct PlannedSet<'a> {
    pub name: &'a str,
    pub line: u32,
    pub plan: Plan,
    pub readonly: bool,
    pub writeonly: bool,
}
