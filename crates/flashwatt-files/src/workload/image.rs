//! The image of a file system, as writes.

use std::ops::Range;

use super::FileWorkload;
use crate::system::BLOCK_BYTES;
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, SourceKind, Tag, Workload};

/// Longest write.
const WRITE_BYTES: u64 = 1 << 20;

/// Writes every block that a file system uses once, in the order of addresses.
pub struct Image {
    /// What is left, in bytes of the drive; the last range is next.
    left: Vec<Range<u64>>,
}

impl Image {
    /// The image of the file system of a workload as it is now; none of a workload without one.
    pub fn of(workload: &dyn Workload) -> Option<Self> {
        let files = workload.known()?.downcast_ref::<FileWorkload>()?;
        let bytes = |block: u32| u64::from(block) * BLOCK_BYTES;
        let used = files.system().used();
        Some(Image { left: used.into_iter().rev().map(|blocks| bytes(blocks.start)..bytes(blocks.end)).collect() })
    }

    /// The same from a byte of the drive on.
    pub fn from(mut self, start_bytes: u64) -> Self {
        self.left.iter_mut().for_each(|range| *range = range.start + start_bytes..range.end + start_bytes);
        self
    }
}

impl Workload for Image {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        while let Some(range) = self.left.last_mut() {
            let bytes = WRITE_BYTES.min(range.end - range.start);
            if bytes == 0 {
                self.left.pop();
                continue;
            }
            range.start += bytes;
            let write = Request::new(now, RequestKind::Write, range.start - bytes, bytes);
            return Ok(Next::Request(Tag(0), write));
        }
        Ok(Next::End)
    }

    fn completed(&mut self, _done: &Completion, _now: Nanos) {}

    fn name(&self) -> &str {
        "image"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Filesystem
    }
}
