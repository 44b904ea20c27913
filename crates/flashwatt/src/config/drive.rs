//! The kinds of drives that a configuration describes.

use serde::Serialize;

use super::Ssd;

/// The settings of a drive. In JSON they are the tables of its kind, without a tag.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Drive {
    /// A flash drive.
    Ssd(Box<Ssd>),
}

impl Drive {
    /// Bytes that the host sees.
    pub fn logical_bytes(&self) -> u64 {
        match self {
            Drive::Ssd(ssd) => ssd.device.logical_bytes,
        }
    }

    /// One line about it.
    pub fn description(&self) -> &str {
        match self {
            Drive::Ssd(ssd) => &ssd.device.description,
        }
    }

    /// The settings of an SSD, if it is one.
    pub fn ssd(&self) -> Option<&Ssd> {
        match self {
            Drive::Ssd(ssd) => Some(ssd),
        }
    }

    /// As [`Self::ssd`], to be changed.
    pub fn ssd_mut(&mut self) -> Option<&mut Ssd> {
        match self {
            Drive::Ssd(ssd) => Some(ssd),
        }
    }
}
