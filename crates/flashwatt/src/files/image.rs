//! The image of a file system, as writes.

use std::ops::Range;

use super::system::{BLOCK_BYTES, FileSystem};
use crate::connector::{Completion, Next, Request, RequestKind, SourceKind, Tag, Workload};
use crate::error::Error;
use crate::units::Nanos;

/// Longest write.
const WRITE_BYTES: u64 = 1 << 20;

/// Writes every block that a file system uses once, in the order of addresses.
pub struct Image {
    /// What is left, in bytes of the drive; the last range is next.
    left: Vec<Range<u64>>,
}

impl Image {
    /// The image of a file system as it is now, whose block 0 lies at a byte of the drive.
    pub fn new(system: &dyn FileSystem, start_bytes: u64) -> Self {
        let at = |block: u32| start_bytes + u64::from(block) * BLOCK_BYTES;
        Image { left: system.used().into_iter().rev().map(|blocks| at(blocks.start)..at(blocks.end)).collect() }
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
