//! What can go wrong with a real target.

use std::io;

/// A fault of a real target or of a power meter, as one line: place, what was found, what was expected.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system or the device refuses requests that bypass the page cache.
    #[error(
        "{name}: requests cannot bypass the page cache; found a file system that refuses O_DIRECT ({source}); expected a file on \
         another one (tmpfs refuses it), or --buffered, which measures the page cache too"
    )]
    NoDirect {
        /// The target.
        name: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A system call failed.
    #[error("{name}: {what}: {source}")]
    Io {
        /// The target.
        name: String,
        /// What failed.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The target or the load cannot be used.
    #[error("{name}: {fault}")]
    Refused {
        /// The target.
        name: String,
        /// What is wrong, what was found and what was expected.
        fault: String,
    },
}
