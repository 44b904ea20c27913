//! The translation layers against hand-worked sequences, the papers' studies of them, and theory. (What all of them must
//! keep is in `contracts.rs`.)

mod block_mapped;
mod demand;
mod dftl_studies;
mod log_blocks;
mod mapped_start;
mod phases;
mod rftl_studies;
mod superblock;
mod theory;
