//! Settings of the write buffer.

use serde::Serialize;

use crate::units::Nanos;

/// Settings of the drive's write buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WriteBuffer {
    /// Size in bytes. A size below one map unit means no buffer.
    pub bytes: u64,
    /// Destaging starts when dirty entries fill this fraction of the buffer, 0 to 1.
    pub destage_fraction: f64,
    /// Everything is destaged after this time without a request in the drive, ≥ 1.
    pub idle_ns: Nanos,
}
