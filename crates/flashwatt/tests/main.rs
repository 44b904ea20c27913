//! The engine's tests from outside its modules, in one program: the compiler makes each generic function of the engine once for all of
//! them. `cargo test -p flashwatt --features internals --test all contracts::` runs one folder.
//!
//! `tier.rs` says how much they try. What has to be alone in its process, or to do without the engine's insides, is a program of its
//! own beside this file.

mod common;
mod contracts;
mod cuts;
mod engine;
mod files;
mod ftl;
mod hdd;
mod host;
mod inputs;
