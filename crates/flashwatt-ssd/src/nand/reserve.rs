//! Blocks of each die that a drive keeps for a purpose of its own: one table of all reserves.
//!
//! A reserve is a variant of [`Reserve`] and a row of its table. The size of the drive, the start state, the messages about spare flash
//! and the recovery from a power cut loop over the table. A new reserve needs these two here, and a count of blocks: of a number that
//! does not depend on the size of the drive in the resolution of the settings, of another one in the capacity of the drive.

use std::ops::{Index, IndexMut};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use flashwatt_base::units::BlockId;

/// What a drive keeps blocks of each die for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reserve {
    /// Erased blocks for a recovery from a power cut: the target of a merge, of a collection of pages of the map, or of what comes
    /// back from backups. The translation layer fills them in a recovery, and erases others for them.
    Recovery,
    /// The content of a write buffer with capacitors. They fill it at a power cut; the drive erases it when the content is in its place.
    Dump,
    /// The recovery log: records of trims, and checkpoints. The log appends to one of its two areas, and erases the other one.
    Log,
    /// Backups of lower pages of paired cells. A backup is made before the upper page is programmed; a block is erased when the upper
    /// page of each of its backups is on flash.
    Backup,
    /// The journal of the write buffer. Writes append to it; a row of its blocks is erased when no record in it counts.
    Journal,
    /// What was written before a run that starts `mapped`, in a layer that gives a page its place with the write: a read of a page that
    /// the run has not written is a read of an erased page here. Nothing is programmed in them.
    Before,
}

/// What is known of a reserve.
pub struct ReserveRow {
    /// The reserve.
    pub reserve: Reserve,
    /// The name of its number of blocks in a resolved configuration.
    pub name: &'static str,
    /// What its blocks are for, as messages say it.
    pub purpose: &'static str,
    /// The key that gives the drive the reserve. Messages name it.
    pub key: &'static str,
    /// Runs that have it.
    pub runs: Runs,
    /// Whether the translation layer sees its blocks, among its erased ones. The blocks of other reserves are taken from it for good.
    pub is_of_layer: bool,
    /// How a snapshot of a run that has filled it is refused; `None` if no such run is.
    pub refused: Option<Refused>,
}

/// Runs in which a drive has a reserve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runs {
    /// All.
    All,
    /// Those that can be cut.
    Cut,
    /// Those that start with a place for every page and nothing written.
    Mapped,
}

/// The words of a message: a snapshot does not hold what is in a reserve.
pub struct Refused {
    /// What it does not hold.
    pub what: &'static str,
    /// What was found.
    pub found: &'static str,
    /// What the key has to be.
    pub expected: &'static str,
}

/// The table, in the order of the enum.
const TABLE: &[ReserveRow] = &[
    ReserveRow {
        reserve: Reserve::Recovery,
        name: "recovery_blocks",
        purpose: "the recovery",
        key: "device",
        runs: Runs::Cut,
        is_of_layer: true,
        refused: None,
    },
    ReserveRow {
        reserve: Reserve::Dump,
        name: "dump_blocks",
        purpose: "the content of the write buffer",
        key: "write_buffer.protection",
        runs: Runs::Cut,
        is_of_layer: false,
        refused: None,
    },
    ReserveRow {
        reserve: Reserve::Log,
        name: "log_blocks",
        purpose: "the recovery log",
        key: "recovery",
        runs: Runs::All,
        is_of_layer: false,
        refused: Some(Refused { what: "recovery log", found: "a recovery log", expected: "no table [recovery]" }),
    },
    ReserveRow {
        reserve: Reserve::Backup,
        name: "backup_blocks",
        purpose: "backups of paired pages",
        key: "device.nand.paired_pages",
        runs: Runs::All,
        is_of_layer: false,
        refused: Some(Refused { what: "backups", found: "backups", expected: "\"unprotected\"" }),
    },
    ReserveRow {
        reserve: Reserve::Journal,
        name: "journal_blocks",
        purpose: "the journal of the write buffer",
        key: "write_buffer.protection",
        runs: Runs::All,
        is_of_layer: false,
        refused: Some(Refused { what: "journal", found: "a journal", expected: "\"volatile\" or \"capacitors\"" }),
    },
    ReserveRow {
        reserve: Reserve::Before,
        name: "before_blocks",
        purpose: "reads of what was written before the run",
        key: "run.precondition",
        runs: Runs::Mapped,
        is_of_layer: false,
        refused: Some(Refused {
            what: "place of unwritten pages",
            found: "\"mapped\"",
            expected: "\"filled\" or \"empty\"",
        }),
    },
];

impl Reserve {
    /// All rows of the table, in its order.
    pub fn rows() -> impl Iterator<Item = &'static ReserveRow> {
        TABLE.iter()
    }

    /// The rows of reserves that a drive has in these runs beyond those that it has in all others.
    pub fn rows_of(runs: Runs) -> impl Iterator<Item = &'static ReserveRow> {
        Reserve::rows().filter(move |row| row.runs == runs)
    }
}

/// For each reserve its number of blocks of a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reserves([u32; TABLE.len()]);

impl Reserves {
    /// Blocks of a die that all reserves take.
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Blocks of a die that the reserves take which a drive has in these runs.
    pub fn total_of(&self, runs: Runs) -> u32 {
        Reserve::rows_of(runs).map(|row| self[row.reserve]).sum()
    }

    /// The same with this number of blocks of a reserve.
    #[must_use]
    pub fn with(mut self, reserve: Reserve, blocks: u32) -> Self {
        self[reserve] = blocks;
        self
    }
}

impl Index<Reserve> for Reserves {
    type Output = u32;

    fn index(&self, reserve: Reserve) -> &u32 {
        &self.0[reserve as usize]
    }
}

impl IndexMut<Reserve> for Reserves {
    fn index_mut(&mut self, reserve: Reserve) -> &mut u32 {
        &mut self.0[reserve as usize]
    }
}

/// By name, those that take blocks.
impl Serialize for Reserves {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for row in Reserve::rows().filter(|row| self[row.reserve] > 0) {
            map.serialize_entry(row.name, &self[row.reserve])?;
        }
        map.end()
    }
}

/// For each reserve the blocks that were taken from the translation layer for it, sorted by die.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReservedBlocks([Vec<BlockId>; TABLE.len()]);

impl ReservedBlocks {
    /// Whether a block is one of them.
    pub fn contains(&self, block: BlockId) -> bool {
        self.0.iter().any(|blocks| blocks.contains(&block))
    }

    /// The blocks of all reserves, one reserve after the other.
    pub fn all(&self) -> Vec<BlockId> {
        self.0.concat()
    }
}

impl Index<Reserve> for ReservedBlocks {
    type Output = Vec<BlockId>;

    fn index(&self, reserve: Reserve) -> &Vec<BlockId> {
        &self.0[reserve as usize]
    }
}

impl IndexMut<Reserve> for ReservedBlocks {
    fn index_mut(&mut self, reserve: Reserve) -> &mut Vec<BlockId> {
        &mut self.0[reserve as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        let places: Vec<usize> = Reserve::rows().map(|row| row.reserve as usize).collect();
        assert_eq!(places, (0..TABLE.len()).collect::<Vec<_>>());
    }

    #[test]
    fn a_configuration_names_the_reserves_that_take_blocks() {
        let reserves = Reserves::default().with(Reserve::Dump, 2).with(Reserve::Backup, 3);
        assert_eq!(serde_json::to_string(&reserves).expect("a table"), r#"{"dump_blocks":2,"backup_blocks":3}"#);
        assert_eq!((reserves.total(), reserves.total_of(Runs::All), reserves.total_of(Runs::Cut)), (5, 3, 2));
    }
}
