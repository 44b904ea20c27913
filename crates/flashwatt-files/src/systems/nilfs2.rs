//! NILFS2, which shares everything but its rules of fsync and its tables with [`super::lfs`].

/// The registry line.
pub const ENTRY: super::Registered = super::lfs::NILFS2;
