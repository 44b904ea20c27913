//! Settings of the write buffer.

use serde::Serialize;

use crate::units::Nanos;

/// The drive's write buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WriteBuffer {
    /// Size; 0 for none.
    pub bytes: u64,
    /// Share of dirty entries at which destaging starts, 0 to 1.
    pub destage_fraction: f64,
    /// Time without a request in the drive after which everything is destaged, ≥ 1.
    pub idle_ns: Nanos,
}
