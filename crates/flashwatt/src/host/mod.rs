//! The host's side: requests.

pub mod link;
pub mod request;

pub use request::{Request, RequestKind};
