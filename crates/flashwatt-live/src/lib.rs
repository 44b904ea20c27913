//! Requests to real files and block devices, and readings of real power meters.
//!
//! This crate reads the wall clock and makes system calls; the engine (`flashwatt`) does neither. A [`Target`] is opened
//! for reading only unless the caller asks for writing, and no call of this crate changes a file's size: a request that does
//! not lie within the size that was found at opening is refused before it is sent.
//!
//! That is so on Linux. On other systems the crate compiles, [`Offsets`] work, and [`Target::open`] and [`Meter::start`] refuse.
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

#[cfg(target_os = "linux")]
mod buffer;
#[cfg(any(not(target_os = "linux"), test))]
mod elsewhere;
mod error;
mod load;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod meter;
mod offsets;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(target_os = "linux")]
mod target;
#[cfg(target_os = "linux")]
mod threads;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Meter, Target, measure};
pub use error::Error;
pub use load::{Access, Engine, Load, Measured, Operation, Reading, Timing};
#[cfg(target_os = "linux")]
pub use measure::measure;
#[cfg(target_os = "linux")]
pub use meter::Meter;
pub use offsets::{Offsets, Order, Span};
#[cfg(target_os = "linux")]
pub use target::Target;
