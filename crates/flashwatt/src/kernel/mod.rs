//! What every simulation has, whatever is simulated: the loop, its stages and budget, and the agenda, which is also the clock.

mod budget;
mod outcome;
pub mod sim;
mod stages;

pub use outcome::{Completed, End, Outcome};
pub use sim::Sim;
