//! Pages of data anywhere: what page mapping and the demand-paged layers share.

pub(super) mod frontier;
pub(super) mod pages;
pub(super) mod steady;
