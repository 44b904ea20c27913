//! A spare drive takes the place of a member that has failed: row by row, at a limited rate, while the host goes on.

use super::settings::Rebuild as Settings;
use flashwatt_base::units::Nanos;

/// The progress of a rebuild.
#[derive(Debug)]
pub struct Rebuild {
    /// Rows in all.
    rows: u64,
    /// The first row that has not been started.
    next_row: u64,
    /// Rows that are under way, in ascending order.
    under_way: Vec<u64>,
    depth: usize,
    /// Least time between the starts of two rows.
    gap_ns: Nanos,
    /// When the next row may start.
    next_at: Nanos,
    /// When the last row ended.
    pub ended_ns: Option<Nanos>,
    /// Whether a drain waits for the end.
    pub finish: bool,
}

impl Rebuild {
    /// A rebuild that has not begun.
    pub fn new(settings: &Settings, rows: u64, chunk_bytes: u64) -> Self {
        Rebuild {
            rows,
            next_row: 0,
            under_way: Vec::new(),
            depth: settings.depth as usize,
            gap_ns: (chunk_bytes as f64 * 1e3 / settings.rate_mb_s) as Nanos,
            next_at: 0,
            ended_ns: None,
            finish: settings.finish,
        }
    }

    /// The same, whose first row starts at a time.
    #[must_use]
    pub fn starting(self, next_at: Nanos) -> Self {
        Rebuild { next_at, ..self }
    }

    /// Whether the spare holds a row.
    pub fn has(&self, row: u64) -> bool {
        row < self.next_row && !self.under_way.contains(&row)
    }

    /// Rows that the spare holds.
    pub fn done(&self) -> u64 {
        self.next_row - self.under_way.len() as u64
    }

    /// Rows in all.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether the spare holds everything.
    pub fn is_whole(&self) -> bool {
        self.done() == self.rows
    }

    /// When the next row starts, if one may: the present or a later time.
    pub fn next_at(&self, now: Nanos) -> Option<Nanos> {
        (self.next_row < self.rows && self.under_way.len() < self.depth).then(|| self.next_at.max(now))
    }

    /// Starts the next row.
    pub fn start(&mut self, now: Nanos) -> u64 {
        let row = self.next_row;
        self.next_row += 1;
        self.next_at = now + self.gap_ns;
        self.under_way.push(row);
        row
    }

    /// A row has been written to the spare.
    pub fn row_ended(&mut self, row: u64, now: Nanos) {
        self.under_way.retain(|&one| one != row);
        if self.is_whole() {
            self.ended_ns = Some(now);
        }
    }
}
