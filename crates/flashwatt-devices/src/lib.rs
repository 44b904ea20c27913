//! Devices other than SSDs: a hard disk, and an array of any devices.
//!
//! This crate is internal to [FlashWatt](https://docs.rs/flashwatt): it has no promise of stability. Use the crate `flashwatt`, whose
//! interface is kept.
//!
//! Without the feature `checked` (a default one), release builds index the engine's tables unchecked, and a wrong number given to a function of this
//! crate may read out of bounds. The crate `flashwatt` goes without it, because it checks what enters.

pub mod hdd;
pub mod raid;
