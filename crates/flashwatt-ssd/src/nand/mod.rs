//! The flash of a drive as hardware: how it is laid out, how long things take, what it holds, and what it forbids.

pub mod array;
mod die_set;
pub mod geometry;
mod pace;
pub mod phases;
pub mod reserve;
pub mod settings;
mod wear_view;

pub use array::Array;
pub use die_set::DieSet;
pub use geometry::{FlashAddress, Geometry};
pub use pace::Pace;
pub use reserve::{Reserve, ReservedBlocks, Reserves};
pub use wear_view::WearView;
