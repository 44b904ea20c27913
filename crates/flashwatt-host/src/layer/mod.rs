//! The block layer itself: a device in front of a device, the queue in it, the places of the queue, and its settings.

mod device;
mod fullness;
mod queue;
pub mod settings;

pub use device::{BlockLayer, ROOM};
