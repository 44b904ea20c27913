//! What every part of FlashWatt stands on.
//!
//! This crate is internal to [FlashWatt](https://docs.rs/flashwatt): it has no promise of stability. Use the crate `flashwatt`, whose
//! interface is kept.
//!
//! Without the feature `checked` (a default one), release builds index the engine's tables unchecked, and a wrong number given to a function of this
//! crate may read out of bounds. The crate `flashwatt` goes without it, because it checks what enters.

mod files;
mod messages;
mod numbers;
pub mod settings;
mod tables;

pub use files::{output, persist};
pub use messages::{error, progress};
pub use numbers::{halves, rng, stats, units};
pub use settings::registry;
pub use tables::{hash, lane, list, mem, shared};
