//! Sources of requests: models, fio jobs, stand-ins and traces, each a [`Workload`](flashwatt_core::connector::Workload).
//!
//! The rooms, each of which imports only from those before it: [`synthetic`] (models), [`settings`], [`fio`] (job files), [`trace`]
//! (recorded requests), [`standin`] (models fitted to traces), `sources` (every workload by its name).

pub mod fio;
pub mod settings;
mod sources;
pub mod standin;
pub mod synthetic;
pub mod trace;

pub use sources::{Joined, open, open_files, open_watched, registry};
