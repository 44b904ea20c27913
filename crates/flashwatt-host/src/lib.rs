//! The host's block layer: what stands between processes and a device.
//!
//! ```text
//! process -> merge or queue -> Scheduler::{add, next} -> device            layer/device.rs: a Device in front of a Device
//!            wait if full       sched/NAME.rs: the order
//! ```
//!
//! [`BlockLayer`] is a [`Device`](flashwatt_core::connector::Device) that holds another one. The simulation, its stages and its
//! latencies see the requests of the processes; the device sees what is dispatched. Without `[host]` there is no layer.
//!
//! The rooms, each of which imports only from those before it: `figures` (what is counted), `pool` (requests and lists of them),
//! [`sched`] (the order), `layer` (the queue, and the device that holds it).
//!
//! This crate is internal to [FlashWatt](https://docs.rs/flashwatt): it has no promise of stability. Use the crate `flashwatt`, whose
//! interface is kept.
//!
//! Without the feature `checked` (a default one), release builds index the tables of requests and of schedulers' queues unchecked, and a wrong
//! number given to a function of this crate may read out of bounds. The crate `flashwatt` goes without it, because it checks what enters.

mod figures;
mod layer;
mod pool;
pub mod sched;

pub use figures::{DepthSeries, Depths, HostFigures, Hosted, KindFigures};
pub use layer::{BlockLayer, ROOM, settings};
