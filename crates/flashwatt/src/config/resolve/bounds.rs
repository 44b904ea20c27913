//! What the drive leaves to a workload.

/// What a workload must keep within.
pub(super) struct Bounds {
    pub logical_bytes: u64,
    pub queue_depth: u32,
    /// Whether the requests go to a scheduler.
    pub has_scheduler: bool,
}
