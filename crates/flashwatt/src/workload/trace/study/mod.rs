//! What a trace looks like: figures and pictures of it, for a user to read.

pub(super) mod activity;
pub(super) mod footprint;
pub(super) mod info;
pub(super) mod profile;
pub(super) mod reuse;
