//! The hard disk against theory, by hand, and by its contract.

#![allow(clippy::print_stdout)] // figures of the presets and against theory are printed

mod by_hand;
mod common;
mod contracts;
mod measured;
mod neutral;
mod presets;
mod sleep;
mod theory;
