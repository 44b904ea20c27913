//! The simulation kernel, independent of the device: the loop, its stages and budget, and the outcome of a run.

mod budget;
mod by_origin;
mod driven;
mod faults;
mod outcome;
mod power;
pub mod settings;
pub mod sim;
mod stages;
pub mod stop;

pub use by_origin::{ByOrigin, ORIGINS_MAX};
pub use outcome::{Completed, End, Outcome};
pub use sim::Sim;
