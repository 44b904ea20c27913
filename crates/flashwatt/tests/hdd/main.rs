//! The hard disk against theory, by hand, and by its contract.

mod by_hand;
mod common;
mod contracts;
mod neutral;
mod presets;
mod theory;
