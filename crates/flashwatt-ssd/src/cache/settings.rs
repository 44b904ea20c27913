//! Settings of the write buffer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashwatt_base::units::Nanos;

/// Settings of the drive's write buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WriteBuffer {
    /// Size in bytes. A size below one map unit means no buffer.
    pub bytes: u64,
    /// Destaging starts when dirty entries fill this fraction of the buffer, 0 to 1.
    pub destage_fraction: f64,
    /// Everything is destaged after this time without a request in the drive, ≥ 1.
    pub idle_ns: Nanos,
    /// The capacitors that keep its content through a power cut; none for a volatile buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacitors: Option<Capacitors>,
    /// The journal on flash that keeps its content through a power cut, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal: Option<Journal>,
}

impl WriteBuffer {
    /// Whether what is in it outlives a power cut once it has been acknowledged.
    pub fn is_protected(&self) -> bool {
        self.capacitors.is_some() || self.journal.is_some()
    }
}

/// The journal of a write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Journal {
    /// Longest time in ns for which a page of it waits for more writes to share it.
    pub max_ns: Nanos,
}

/// What becomes of the content of a write buffer at a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// It is lost.
    Volatile,
    /// Capacitors hold the drive until it is on flash.
    Capacitors,
    /// A write is acknowledged when it has been appended to a journal on flash.
    Journal,
}

/// The voltages of the capacitors that hold a drive while it writes its buffer to flash after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Capacitors {
    /// Voltage in V to which they are charged.
    pub max_v: f64,
    /// Voltage in V at which the drive stops, less than `max_v`.
    pub min_v: f64,
}

impl Capacitors {
    /// The capacitance in F that gives this energy in J while the voltage falls from `max_v` to `min_v`: C = 2E / (Vmax² − Vmin²).
    pub fn farads(&self, energy_j: f64) -> f64 {
        2.0 * energy_j / (self.max_v.powi(2) - self.min_v.powi(2))
    }
}
