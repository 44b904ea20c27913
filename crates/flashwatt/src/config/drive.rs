//! The kinds of drives that a configuration describes.

use serde::Serialize;

use super::Ssd;
use flashwatt_devices::hdd::settings::Hdd;
use flashwatt_devices::raid::settings::{Failed, Layout};

/// The settings of a drive. In JSON they are the tables of its kind, without a tag.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Drive {
    /// A flash drive.
    Ssd(Box<Ssd>),
    /// A hard disk.
    Hdd(Box<HddTables>),
    /// Several drives as one.
    Array(Box<ArrayTable>),
}

/// The tables of a hard disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HddTables {
    /// What every drive has.
    pub device: NamedDevice,
    /// The disk.
    pub hdd: Hdd,
}

/// What the table `device` says of a drive that is no SSD.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedDevice {
    /// The preset that everything else was laid over.
    pub preset: Option<String>,
    /// One line about the drive.
    pub description: String,
    /// Bytes that the host sees.
    pub logical_bytes: u64,
}

/// The table of an array.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayTable {
    /// The array.
    pub array: Array,
}

/// Several drives as one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Array {
    /// Where data lies.
    #[serde(flatten)]
    pub layout: Layout,
    /// The member that has failed, if any.
    pub failed: Option<Failed>,
    /// The members' own settings, in order.
    pub drives: Vec<Drive>,
    /// The drive in the place of the failed member, if any.
    pub spare: Option<Drive>,
}

impl Array {
    /// The drive that stands in each place: the spare in that of the failed member, or none.
    pub fn places(&self) -> impl Iterator<Item = Option<&Drive>> {
        let failed = self.failed.as_ref().map(|failed| failed.member as usize);
        self.drives.iter().enumerate().map(move |(place, drive)| match failed == Some(place) {
            true => self.spare.as_ref(),
            false => Some(drive),
        })
    }
}

impl Drive {
    /// Bytes that the host sees.
    pub fn logical_bytes(&self) -> u64 {
        match self {
            Drive::Ssd(ssd) => ssd.device.logical_bytes,
            Drive::Hdd(tables) => tables.hdd.bytes,
            Drive::Array(table) => table.array.layout.logical_bytes(),
        }
    }

    /// Requests that one drive accepts at a time. None of an array: its depth is no setting.
    pub fn queue_depth(&self) -> Option<u32> {
        match self {
            Drive::Ssd(ssd) => Some(ssd.device.host_link.queue_depth),
            Drive::Hdd(tables) => Some(tables.hdd.interface.queue_depth),
            Drive::Array(_) => None,
        }
    }

    /// One line about it.
    pub fn description(&self) -> String {
        match self {
            Drive::Ssd(ssd) => ssd.device.description.clone(),
            Drive::Hdd(tables) => tables.device.description.clone(),
            Drive::Array(table) => {
                let Layout { level, members, .. } = table.array.layout;
                format!("{} of {members} drives", level.name())
            }
        }
    }

    /// Whether it has rotating parts, as a disk has, and an array with a disk among its members.
    pub fn is_rotational(&self) -> bool {
        match self {
            Drive::Ssd(_) => false,
            Drive::Hdd(_) => true,
            Drive::Array(table) => table.array.drives.iter().any(Drive::is_rotational),
        }
    }

    /// What it is, for messages about what needs another kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Drive::Ssd(_) => "an SSD",
            Drive::Hdd(_) => "a hard disk",
            Drive::Array(_) => "an array of drives",
        }
    }

    /// The settings of an SSD, if it is one.
    pub fn ssd(&self) -> Option<&Ssd> {
        match self {
            Drive::Ssd(ssd) => Some(ssd),
            Drive::Hdd(_) | Drive::Array(_) => None,
        }
    }

    /// As [`Self::ssd`], to be changed.
    pub fn ssd_mut(&mut self) -> Option<&mut Ssd> {
        match self {
            Drive::Ssd(ssd) => Some(ssd),
            Drive::Hdd(_) | Drive::Array(_) => None,
        }
    }

    /// The settings of an array, if it is one.
    pub fn array(&self) -> Option<&Array> {
        match self {
            Drive::Ssd(_) | Drive::Hdd(_) => None,
            Drive::Array(table) => Some(&table.array),
        }
    }

    /// The settings of a disk, if it is one.
    pub fn hdd(&self) -> Option<&Hdd> {
        match self {
            Drive::Hdd(tables) => Some(&tables.hdd),
            Drive::Ssd(_) | Drive::Array(_) => None,
        }
    }
}
