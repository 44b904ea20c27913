//! The drive as hardware: how it is laid out, how long things take, what its flash holds.

pub mod array;
pub mod geometry;
pub mod phases;
pub mod settings;

pub use array::Array;
pub use geometry::{Geometry, Place};
