//! Requests to real files and block devices, and readings of real power meters.
//!
//! This crate reads the wall clock and makes system calls; the engine (`flashwatt`) does neither. A [`Target`] is opened
//! for reading only unless the caller asks for writing, and no call of this crate changes a file's size: a request that does
//! not lie within the size that was found at opening is refused before it is sent.
//!
//! ```no_run
//! use flashwatt_live::{Access, Load, Operation, Order, Span, Target, measure};
//!
//! let target = Target::open("/dev/sdx", Access::default())?;
//! let span = Span { bytes: target.size_bytes(), align_bytes: 4096 };
//! let load = Load { operation: Operation::Read, order: Order::Random { seed: 1 }, span, request_bytes: 4096,
//!     requests: 10_000, time_limit_ns: 10_000_000_000, queue_depth: 1 };
//! let measured = measure(&target, &load, &mut |_| true)?;
//! println!("{} requests", measured.requests.len());
//! # Ok::<(), flashwatt_live::Error>(())
//! ```

mod buffer;
mod error;
mod load;
mod meter;
mod offsets;
mod ring;
mod target;
mod threads;

pub use error::Error;
pub use load::{Load, Measured, Operation, Timing, measure};
pub use meter::{Meter, Reading};
pub use offsets::{Offsets, Order, Span};
pub use target::{Access, Engine, Target};
