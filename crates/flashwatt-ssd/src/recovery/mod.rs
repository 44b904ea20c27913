//! What flash remembers of a drive beside data, and what a recovery from a power cut makes of it: layouts, sizes, and what can be read.
//!
//! Translation layers rebuild their tables from this, so it stands below them. What writes it while the drive runs, and the recovery
//! itself, need the whole drive: they are in `ssd/recovery`, in files of the same names.

pub mod backups;
pub mod checkpoint;
pub mod dump;
pub mod journal;
pub mod log;
pub mod map_pages;
mod map_reading;
pub mod reads;
pub mod registers;
pub mod scan;
pub mod spare;
