//! What every simulation has, whatever is simulated: the loop, its stages and budget, and the agenda, which is also the clock.

mod budget;
mod by_origin;
mod driven;
mod faults;
mod outcome;
pub mod sim;
mod stages;

pub use by_origin::{ByOrigin, ORIGINS_MAX};
pub use outcome::{Completed, End, Outcome};
pub use sim::Sim;
