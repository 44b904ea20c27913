//! How far apart the requests of a queue of CFQ lie (cfq_update_io_seektime).

use super::fading::FadingMean;
use crate::pool::Rq;

/// A queue whose mean distance between requests is longer is seeky; two requests are close within it (CFQQ_SEEK_THR).
const SEEKY_SECTORS: u64 = 8 * 1024;
/// A distance counts as at most four times the mean and this, with so few samples and with more.
const FEW_SAMPLES: u64 = 60;
const MORE_SECTORS: [u64; 2] = [2 * 1024 * 1024, 2 * 1024 * 64];

/// Distances between the requests of a queue in sectors and their mean, and where the last one ended.
#[derive(Debug, Default)]
pub struct Distances {
    samples: FadingMean,
    mean: u64,
    position: u64,
}

impl Distances {
    /// A request comes: a sample of the distance from the last one.
    pub fn sample(&mut self, rq: &Rq) {
        let distance = if self.position == 0 { 0 } else { self.position.abs_diff(rq.first) };
        let more = MORE_SECTORS[usize::from(self.samples.samples() > FEW_SAMPLES)];
        self.samples.add(distance.min(4 * self.mean + more));
        self.mean = self.samples.mean(self.samples.samples() / 2);
        self.position = rq.end();
    }

    /// Whether the requests lie far from each other.
    pub fn are_seeky(&self) -> bool {
        self.mean > SEEKY_SECTORS
    }

    /// The same, if enough is known of them.
    pub fn are_surely_seeky(&self) -> bool {
        self.samples.is_valid() && self.are_seeky()
    }

    /// How many sectors away another request is as good as one of the queue (cfq_rq_close).
    pub fn close_sectors(&self) -> u64 {
        if self.samples.is_valid() { self.mean } else { SEEKY_SECTORS }
    }
}
