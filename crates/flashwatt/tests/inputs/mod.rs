//! Inputs from outside: configurations, traces and workloads, valid and broken.

mod broken_configs;
mod fitting;
mod trace_changes;
mod trace_docs;
mod trace_mutations;
mod trace_samples;
mod workload_configs;
mod workload_speed;
mod workload_standins;
