//! The connector between workloads and devices, the loop, and the energy of devices that declare their parts.
//!
//! Nothing here knows NAND, disks or files. [`kernel::sim`] is the file to read first.
//!
//! This crate is internal to [FlashWatt](https://docs.rs/flashwatt): it has no promise of stability. Use the crate `flashwatt`, whose
//! interface is kept.
//!
//! Without the feature `checked` (a default one), release builds index the engine's tables unchecked, and a wrong number given to a function of this
//! crate may read out of bounds. The crate `flashwatt` goes without it, because it checks what enters.

#[doc(hidden)] // for macros of this crate
pub use flashwatt_base as base;

pub mod connector;
pub mod energy;
pub mod kernel;
