//! The engine as a whole: time, energy, power, the write buffer, and that all of it comes out the same again.
//!
//! One binary for many files: each test binary compiles the generic core anew, which takes longer than the tests do.

mod activity;
mod array;
mod cell_log;
mod destage;
mod determinism;
mod dispatch;
mod driven;
mod driven_cuts;
#[allow(clippy::print_stderr)] // what is skipped is said aloud
mod energy_laws;
mod figures;
mod firmware;
mod flashsim;
mod hard_cases;
mod host_memory;
mod hosts;
mod many_states;
mod partial_reads;
mod passes;
mod planes;
mod power;
mod power_cuts;
mod precision;
mod progress;
mod released_rules;
mod reprice;
mod rows;
mod second_device;
mod shadow_check;
mod slc;
mod suspend;
mod timing;
mod warnings;
mod write_buffer;
