//! The SSD as a [`Device`](flashwatt_core::connector::Device).
//!
//! ```text
//! drive/       requests, host link, write buffer      Ftl::{read, write, trim}(Extent, Context, &mut Plan)    ftl/ decides; owns the map
//!                                                       └─ asks gc/ wear/: choose(&BlockView) -> Choice
//! controller/  when: channels, dies, delays, classes; asks for background work step by step
//! nand/        the flash as it is now, and the referee of its rules
//! recovery/    what flash remembers beside data, for a drive that comes back after a power cut
//! energy/      ledger (integer ns), price table, accounts
//! ```
//!
//! This crate is internal to [FlashWatt](https://docs.rs/flashwatt): it has no promise of stability. Use the crate `flashwatt`, whose
//! interface is kept.
//!
//! Without the feature `checked` (a default one), release builds index the engine's tables unchecked, and a wrong number given to a function of this
//! crate may read out of bounds. The crate `flashwatt` goes without it, because it checks what enters.

pub mod blocks;
pub mod cache;
pub mod controller;
pub mod drive;
pub mod energy;
pub mod firmware;
pub mod ftl;
pub mod gc;
pub mod models;
pub mod nand;
pub mod observe;
pub mod operation;
pub mod recovery;
pub mod wear;
