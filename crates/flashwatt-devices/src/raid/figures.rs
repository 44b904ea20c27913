//! An array's figures of a window of the run.

use flashwatt_base::stats::Histogram;
use flashwatt_core::connector::{Figures, Window};

/// An array's figures of a window.
#[derive(Clone, Debug, Default)]
pub struct RaidFigures<F> {
    /// Counts of the array itself.
    pub counts: RaidCounts,
    /// The members in order; none for one that has failed and has no spare in its place.
    pub members: Vec<Option<MemberFigures<F>>>,
}

/// A member's figures of a window.
#[derive(Clone, Debug, Default)]
pub struct MemberFigures<F> {
    /// The drive's own window.
    pub window: Window<F>,
    /// Latencies of its reads and writes in ns: from the array's order to the end, with the time that it waited for room.
    pub latency: [Histogram; 2],
}

/// Counts of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RaidCounts {
    /// Reads given to members for the host's reads, and to compute parity.
    pub reads: u64,
    /// Writes given to members for the host's writes, with those of parity and copies.
    pub writes: u64,
    /// Rows written after their old data and parity were read, or their other chunks.
    pub rows_read_first: u64,
    /// Rows written without a read.
    pub rows_written_whole: u64,
    /// Parts of chunks that were missing and were computed from the others.
    pub reconstructed: u64,
    /// Jobs that had to wait because another had their row.
    pub row_waits: u64,
    /// Rows written to the spare.
    pub rebuilt_rows: u64,
}

impl RaidCounts {
    /// The sum of both.
    #[must_use]
    pub fn plus(&self, next: &RaidCounts) -> RaidCounts {
        RaidCounts {
            reads: self.reads + next.reads,
            writes: self.writes + next.writes,
            rows_read_first: self.rows_read_first + next.rows_read_first,
            rows_written_whole: self.rows_written_whole + next.rows_written_whole,
            reconstructed: self.reconstructed + next.reconstructed,
            row_waits: self.row_waits + next.row_waits,
            rebuilt_rows: self.rebuilt_rows + next.rebuilt_rows,
        }
    }
}

impl<F: Figures> MemberFigures<F> {
    fn plus(&self, next: &Self) -> Self {
        let latency = [0, 1].map(|kind| self.latency[kind].plus(&next.latency[kind]));
        MemberFigures { window: self.window.plus(&next.window), latency }
    }
}

impl<F: Figures> Figures for RaidFigures<F> {
    fn plus(&self, next: &Self) -> Self {
        let both = self.members.iter().zip(&next.members);
        let members = both.map(|(this, next)| Some(this.as_ref()?.plus(next.as_ref()?))).collect();
        RaidFigures { counts: self.counts.plus(&next.counts), members }
    }

    fn operations(&self) -> u64 {
        self.members.iter().flatten().map(|member| member.window.figures.operations()).sum()
    }
}
