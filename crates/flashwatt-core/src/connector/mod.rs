//! The connector: the interface between a host and a device.
//!
//! A [`Workload`] stands on one side, a device on the other. A host gives a request a [`Tag`] and an [`Origin`]; the
//! device returns the tag with the [`Completion`]. Neither side knows anything else of the other.

mod agenda;
mod device;
mod extent;
mod request;
mod sink;
mod versions;
mod workload;

pub use crate::energy::window::{AtEnd, Figures, Window};
pub use agenda::{Agenda, EventKind, Seats};
pub use device::{Cx, Device, FlashCounts};
pub use extent::Extent;
pub use request::{Completion, Origin, Priority, PriorityClass, Request, RequestKind, Status, Tag};
pub use sink::RequestSink;
pub use versions::VersionClock;
pub use workload::says_what_inner_says;
pub use workload::{Next, OriginKind, OriginName, SourceKind, Upcoming, Workload};
