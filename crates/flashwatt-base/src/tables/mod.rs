//! Tables in memory: flat, linked, shared, hashed.

pub mod hash;
pub mod lane;
pub mod list;
pub mod mem;
pub mod shared;
