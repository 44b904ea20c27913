//! A scrub: every row is read from all members, and what does not match is written anew.

use std::collections::HashMap;

use super::layout::Piece;
use super::rebuild::Rebuild;
use super::settings::{self, Layout};
use flashwatt_base::units::Nanos;

/// The progress of a scrub.
pub(super) struct Scrub {
    /// Which rows are under way: a scrub goes through the rows as a rebuild does.
    pub pace: Rebuild,
    /// By row: what is written anew.
    repairs: HashMap<u64, Vec<Piece>>,
}

impl Scrub {
    /// A scrub that begins at a time. `repairs`: what it will find not to match.
    pub fn new(settings: &settings::Rebuild, layout: &Layout, repairs: &[Piece], from_ns: Nanos) -> Self {
        let mut by_row: HashMap<u64, Vec<Piece>> = HashMap::new();
        for &piece in repairs {
            by_row.entry(piece.offset_bytes / layout.chunk_bytes).or_default().push(piece);
        }
        let pace = Rebuild::new(settings, layout.rows(), layout.chunk_bytes).starting(from_ns);
        Scrub { pace, repairs: by_row }
    }

    /// What is written anew of a row.
    pub fn take_repairs(&mut self, row: u64) -> Vec<Piece> {
        self.repairs.remove(&row).unwrap_or_default()
    }
}
