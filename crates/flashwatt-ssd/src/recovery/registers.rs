//! Registers of dies that keep a page of the map through a power cut (`recovery.die_registers = "kept"`).
//!
//! A program brings its page into the register of the die first. If the power goes while the array works, the page on flash is torn, but
//! the register still has what it was to hold. The recovery reads that and programs it elsewhere on the same die. So the version counts
//! as if its program had ended.

use super::map_pages::MapContent;
use flashwatt_base::units::{Lpn, Ppn};

/// A page of the map that a register has kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InRegister {
    /// The page whose program was cut: it stands for the register, and lies on the same die.
    pub ppn: Ppn,
    /// The copy of the page of the map, as an owner.
    pub owner: Lpn,
    /// Its version.
    pub version: u64,
    /// What it says.
    pub content: MapContent,
}

/// A copy of a page of the map that a recovery programs from a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyInRegister {
    /// The page of the map.
    pub page: u32,
    /// The number of the copy.
    pub copy: u32,
    /// The page that stands for the register.
    pub ppn: Ppn,
}
