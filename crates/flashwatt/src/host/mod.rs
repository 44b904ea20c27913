//! The host's side: its link.

pub mod link;
