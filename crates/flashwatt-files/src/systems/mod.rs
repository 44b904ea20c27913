//! File systems: one file or folder each, and one line in [`REGISTRY`].

use crate::system::FileSystem;
use flashwatt_base::error::Fault;
use flashwatt_base::registry::{Entry, Parameters, registry};

/// How a file system is made.
#[derive(Clone, Copy)]
pub struct Recipe {
    /// Lays one down on an empty disk of this size in bytes. A disk that it cannot lie on is a fault.
    pub make: fn(&Parameters, u64) -> Made,
    /// Whether it heeds [`crate::system::MountOptions`].
    pub has_options: bool,
}

/// A file system, or why a disk cannot have it.
pub type Made = Result<Box<dyn FileSystem>, Box<Fault>>;

/// The registration of a file system.
pub type Registered = Entry<Recipe>;

registry! {
    /// Every file system that a configuration can name, the default first.
    REGISTRY: Registered =
        ext2,
        ext3,
        lfs,
        nilfs2,
}
