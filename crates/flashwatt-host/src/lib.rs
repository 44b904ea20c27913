//! The host's block layer: what stands between processes and a device.
//!
//! ```text
//! process -> merge or queue -> Scheduler::{add, next} -> device            layer.rs: a Device in front of a Device
//!            wait if full       sched/NAME.rs: the order
//! ```
//!
//! [`BlockLayer`] is a [`Device`](flashwatt_core::connector::Device) that holds another one. The simulation, its stages and its
//! latencies see the requests of the processes; the device sees what is dispatched. Without `[host]` there is no layer.

mod counters;
mod depths;
mod figures;
mod fullness;
mod layer;
mod merging;
mod pool;
mod queue;
pub mod sched;
pub mod settings;

pub use depths::{DepthSeries, Depths};
pub use figures::{HostFigures, Hosted, KindFigures};
pub use layer::{BlockLayer, ROOM};
