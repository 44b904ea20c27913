//! The drive's connector: what a host and a device say to each other.
//!
//! Before the connector stands a [`Workload`], behind it the device. A host gives a request a [`Tag`] and an [`Origin`]; the
//! device gives the tag back with the [`Completion`]. Neither side knows anything else of the other.

mod agenda;
mod device;
mod extent;
mod request;
mod workload;

pub use crate::energy::window::{AtEnd, Figures, Window};
pub use agenda::{Agenda, EventKind, Seats};
pub use device::{Cx, Device};
pub use extent::Extent;
pub use request::{Completion, Origin, Request, RequestKind, Status, Tag};
pub use workload::{Next, OriginKind, OriginName, SourceKind, Upcoming, Workload};
