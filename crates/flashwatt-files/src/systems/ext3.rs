//! ext3: [`super::ext2`] with a journal.

/// The registry line.
pub const ENTRY: super::Registered = super::ext2::EXT3;
