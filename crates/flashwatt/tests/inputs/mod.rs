//! Inputs from outside: configurations, traces and workloads, valid and broken.

use crate::common::fates;

mod broken_configs;
mod fitting;
#[path = "../../../../fuzz/src/targets.rs"]
mod fuzz;
mod fuzz_targets;
mod trace_changes;
mod trace_docs;
mod trace_mutations;
mod trace_samples;
mod workload_configs;
mod workload_speed;
mod workload_standins;
