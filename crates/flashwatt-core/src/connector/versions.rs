//! The versions that a drive gives to writes, as a clock that all who keep account of durable data can read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The last version that any write of a drive has got. A drive's observer moves it on; a workload or a block layer's account notes
/// what it says when a write is sent: data of that write has a later version.
#[derive(Clone, Debug, Default)]
pub struct VersionClock(Arc<AtomicU64>);

impl VersionClock {
    /// The last version.
    pub fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// A write has got this version.
    pub fn set(&self, version: u64) {
        self.0.store(version, Ordering::Relaxed);
    }
}
