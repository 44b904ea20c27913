//! Maps of whole blocks: the cores of the block-mapped and log-block layers.

pub(super) mod data_blocks;
pub(super) mod log_blocks;
pub(super) mod log_size;
pub(super) mod own_logs;
pub(super) mod pairs;
