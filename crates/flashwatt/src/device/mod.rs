//! The drive as hardware: how it is laid out, how long things take, what its flash holds.

pub mod array;
pub mod backups;
pub mod checkpoint;
mod die_set;
pub mod dump;
pub mod geometry;
pub mod journal;
pub mod map_pages;
mod pace;
pub mod phases;
pub mod recovery_log;
pub mod reserve;
pub mod settings;
pub mod spare;
mod wear_view;

pub use array::Array;
pub use die_set::DieSet;
pub use geometry::{FlashAddress, Geometry};
pub use pace::Pace;
pub use reserve::{Reserve, ReservedBlocks, Reserves};
pub use wear_view::WearView;
