//! Statistics of traces, and the data of their plots.

pub(super) mod activity;
pub(super) mod footprint;
pub(super) mod info;
pub(super) mod profile;
pub(super) mod reuse;
