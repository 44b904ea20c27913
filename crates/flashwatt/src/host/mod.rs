//! The host's side: requests.

pub mod request;

pub use request::{Request, RequestKind};
