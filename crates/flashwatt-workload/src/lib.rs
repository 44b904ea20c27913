//! Sources of requests: models, fio jobs, stand-ins and traces, each a [`Workload`](flashwatt_core::connector::Workload).
//!
//! The rooms, each of which imports only from those before it: [`synthetic`] (models), [`settings`], [`fio`] (job files), [`trace`]
//! (recorded requests), [`standin`] (models fitted to traces), `sources` (every workload by its name).
//!
//! This crate is internal to [FlashWatt](https://docs.rs/flashwatt): it has no promise of stability. Use the crate `flashwatt`, whose
//! interface is kept.
//!
//! The feature `checked` (a default one) is that of the crates below: without it, their release builds index tables unchecked. This crate's own
//! tables are always checked. The crate `flashwatt` goes without it, because it checks what enters.

pub mod fio;
pub mod settings;
mod sources;
pub mod standin;
pub mod synthetic;
pub mod trace;

pub use sources::{Joined, open, open_files, open_watched, registry};
