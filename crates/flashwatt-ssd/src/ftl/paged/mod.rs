//! Data pages anywhere on flash: the core of page mapping and of the demand-paged layers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) mod frontier;
pub(super) mod pages;
mod phases;
mod slc;
pub(super) mod steady;

/// Which die a page is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Allocation {
    /// Round robin, channels first; a die without room is passed over.
    Dynamic,
    /// Logical page modulo dies.
    Static,
}

/// Write frontiers in a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Frontiers {
    /// The host and garbage collection write to separate blocks.
    Separate,
    /// The host and garbage collection write to the same block.
    Shared,
}
