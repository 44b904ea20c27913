//! Settings of an array of drives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most members of an array.
pub const MEMBERS_MAX: usize = 32;

/// How an array lays data out over its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Stripes without redundancy.
    Raid0,
    /// Every member holds everything.
    Raid1,
    /// Stripes with one chunk of parity in each row, which goes round the members.
    Raid5,
    /// Stripes over pairs of mirrors.
    Raid10,
}

impl Level {
    /// The name in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Raid0 => "raid0",
            Level::Raid1 => "raid1",
            Level::Raid5 => "raid5",
            Level::Raid10 => "raid10",
        }
    }

    /// The least number of members.
    pub const fn least_members(self) -> u32 {
        match self {
            Level::Raid0 => 1,
            Level::Raid1 => 2,
            Level::Raid5 => 3,
            Level::Raid10 => 4,
        }
    }

    /// Whether the array still holds all data without one of its members.
    pub const fn is_redundant(self) -> bool {
        !matches!(self, Level::Raid0)
    }
}

/// An array, without its members.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// How data is laid out.
    pub level: Level,
    /// Number of members, with that which has failed.
    pub members: u32,
    /// Bytes of a chunk: what lies together on one member.
    pub chunk_bytes: u64,
    /// Bytes of each member that the array uses: those of the smallest, in whole chunks.
    pub member_bytes: u64,
}

/// The member that has failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failed {
    /// Its number, from 0.
    pub member: u32,
    /// How a spare drive takes its place; none without a spare.
    pub rebuild: Option<Rebuild>,
}

/// How a spare drive takes the place of the member that has failed. It begins with the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rebuild {
    /// Bytes per second written to the spare at most, in 10^6.
    pub rate_mb_s: f64,
    /// Chunks that are rebuilt at the same time.
    pub depth: u32,
    /// Whether the drain of a run goes on until all is rebuilt.
    pub finish: bool,
}
