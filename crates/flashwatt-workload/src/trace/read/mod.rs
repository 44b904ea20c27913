//! Reading: from the bytes of files to one stream of records.

pub(super) mod census;
pub(super) mod clock_steps;
pub(super) mod column_units;
pub(super) mod doubts;
pub(super) mod header;
pub(super) mod input;
pub(super) mod meter;
pub(super) mod ratios;
pub(super) mod reader;
pub(super) mod records;
pub(super) mod seal;
pub(super) mod shape;
pub(super) mod sort;
pub(super) mod text;
pub(super) mod traces;
pub(super) mod zstd;
