//! The segments of the log: which are clean, what lies in the others, and which of them is worth cleaning.

use std::collections::BTreeSet;
use std::ops::Range;

use super::log::LogId;
use crate::system::{Block, PageKey};
use flashwatt_base::units::Nanos;

/// Where new blocks go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frontier {
    /// What threads and the flusher write.
    Writer,
    /// What the cleaner moves.
    Cleaner,
}

/// Consecutive pages of an owner, as the summary of a partial segment lists them.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// The block of the first page, counted from the begin of the segment.
    at: u32,
    first: PageKey,
    pages: u32,
}

#[derive(Clone, Debug, Default)]
struct Segment {
    /// Blocks that a file or a table of metadata uses.
    live: u32,
    /// Blocks written, summaries included. 0: clean.
    used: u32,
    /// When the youngest of its blocks was written by a thread or by the flusher.
    written_ns: Nanos,
    /// The last log that has blocks in it.
    last_log: LogId,
    pieces: Vec<Piece>,
}

/// All segments.
#[derive(Clone, Debug)]
pub struct Segments {
    first: Block,
    /// Blocks of a segment.
    pub blocks: u32,
    table: Vec<Segment>,
    clean: BTreeSet<u32>,
    /// The segments that are being written, by [`Frontier`].
    heads: [Option<u32>; 2],
    /// Segments without live blocks that no checkpoint has released.
    emptied: Vec<u32>,
    /// Live blocks of all segments.
    pub live: u64,
}

impl Segments {
    /// This number of clean segments from a block on.
    pub fn new(first: Block, blocks: u32, count: u32) -> Self {
        Segments {
            first,
            blocks,
            table: vec![Segment::default(); count as usize],
            clean: (0..count).collect(),
            heads: [None; 2],
            emptied: Vec::new(),
            live: 0,
        }
    }

    /// Number of segments.
    pub fn count(&self) -> u32 {
        self.table.len() as u32
    }

    /// Number of clean ones.
    pub fn clean(&self) -> u32 {
        self.clean.len() as u32
    }

    /// Whether segments wait for a checkpoint to become clean.
    pub fn has_emptied(&self) -> bool {
        !self.emptied.is_empty()
    }

    /// The segment of a block.
    pub fn of(&self, block: Block) -> u32 {
        (block - self.first) / self.blocks
    }

    /// The first block of a segment.
    pub fn begin(&self, segment: u32) -> Block {
        self.first + segment * self.blocks
    }

    /// Blocks written in a segment.
    pub fn used_blocks(&self, segment: u32) -> u32 {
        self.table[segment as usize].used
    }

    /// Blocks left in the segment that a frontier is in.
    pub fn left(&self, frontier: Frontier) -> u32 {
        self.heads[frontier as usize].map_or(0, |head| self.blocks - self.used_blocks(head))
    }

    /// The next block of a frontier. Fewer than two blocks are no room for a summary and a page: it moves to the next clean segment
    /// then, in the order of the disk.
    pub fn next_block(&mut self, frontier: Frontier) -> Block {
        let at = frontier as usize;
        let head = match self.heads[at] {
            Some(head) if self.left(frontier) >= 2 => head,
            full => {
                self.heads[at] = None;
                full.into_iter().for_each(|head| self.note_if_empty(head));
                let after = full.unwrap_or(self.count());
                let next = self.clean.range(after..).next().or(self.clean.first()).copied();
                let next = next
                    .unwrap_or_else(|| unreachable!("the reserve of clean segments covers what is written from it"));
                self.clean.remove(&next);
                self.heads[at] = Some(next);
                next
            }
        };
        self.begin(head) + self.used_blocks(head)
    }

    /// Blocks at a frontier are written by a log. Of them `summaries` come first.
    pub fn fill(&mut self, frontier: Frontier, summaries: u32, log: LogId, written_ns: Nanos) {
        let Some(head) = self.heads[frontier as usize] else { return };
        let segment = &mut self.table[head as usize];
        segment.used += summaries;
        segment.last_log = log;
        segment.written_ns = segment.written_ns.max(written_ns);
    }

    /// A page is put at a frontier. Returns its block.
    pub fn put(&mut self, frontier: Frontier, key: PageKey) -> Block {
        let Some(head) = self.heads[frontier as usize] else { unreachable!("a page follows its summary") };
        let begin = self.begin(head);
        let segment = &mut self.table[head as usize];
        let at = segment.used;
        segment.used += 1;
        segment.live += 1;
        self.live += 1;
        match segment.pieces.last_mut() {
            Some(Piece { at: begins, first, pages })
                if first.owner == key.owner && first.index + *pages == key.index && *begins + *pages == at =>
            {
                *pages += 1;
            }
            _ => segment.pieces.push(Piece { at, first: key, pages: 1 }),
        }
        begin + at
    }

    /// A block is not used any more.
    pub fn kill(&mut self, block: Block) {
        let of = self.of(block);
        self.table[of as usize].live -= 1;
        self.live -= 1;
        self.note_if_empty(of);
    }

    fn note_if_empty(&mut self, segment: u32) {
        if self.table[segment as usize].live == 0 && !self.heads.contains(&Some(segment)) {
            self.emptied.push(segment);
        }
    }

    /// The segments without live blocks, of which no log after this one has blocks.
    pub fn take_emptied(&mut self, until: LogId) -> Vec<u32> {
        let table = &self.table;
        self.emptied.extract_if(.., |&mut segment| table[segment as usize].last_log <= until).collect()
    }

    /// A segment is clean.
    pub fn release(&mut self, segment: u32) {
        let table = &mut self.table[segment as usize];
        debug_assert_eq!(table.live, 0, "segment {segment}");
        table.pieces.clear();
        (table.used, table.written_ns) = (0, 0);
        self.clean.insert(segment);
    }

    /// When the youngest block of a segment was written.
    pub fn written_ns(&self, segment: u32) -> Nanos {
        self.table[segment as usize].written_ns
    }

    /// Share of a segment that is live.
    pub fn utilisation(&self, segment: u32) -> f64 {
        f64::from(self.table[segment as usize].live) / f64::from(self.blocks)
    }

    /// The segment that is cleaned next: the one with the highest score, of those with the lowest number. All its blocks are on the
    /// disk (no log after `arrived`), and its live blocks with a summary of `summaries(live)` blocks are fewer than a segment.
    pub fn victim(&self, arrived: LogId, summaries: fn(u32) -> u32, score: impl Fn(f64, Nanos) -> f64) -> Option<u32> {
        let may = |&(at, segment): &(usize, &Segment)| {
            segment.live > 0
                && segment.live + summaries(segment.live) < self.blocks
                && segment.last_log <= arrived
                && !self.heads.contains(&Some(at as u32))
        };
        let scored = self.table.iter().enumerate().filter(may).map(|(at, segment)| {
            (score(f64::from(segment.live) / f64::from(self.blocks), segment.written_ns), at as u32)
        });
        scored.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, at)| at)
    }

    /// Appends the pages that were written to some of a segment's blocks, and where.
    pub fn pages_in(&self, segment: u32, blocks: Range<u32>, pages: &mut Vec<(PageKey, Block)>) {
        let pieces = &self.table[segment as usize].pieces;
        let from = pieces.partition_point(|piece| piece.at + piece.pages <= blocks.start);
        let begin = self.begin(segment);
        for piece in pieces[from..].iter().take_while(|piece| piece.at < blocks.end) {
            let within = piece.at.max(blocks.start)..(piece.at + piece.pages).min(blocks.end);
            let key = |at: u32| PageKey { index: piece.first.index + (at - piece.at), ..piece.first };
            pages.extend(within.map(|at| (key(at), begin + at)));
        }
    }

    /// The blocks that were written, by segment.
    pub fn written(&self) -> impl Iterator<Item = Range<Block>> {
        let used = self.table.iter().enumerate().filter(|(_, segment)| segment.used > 0);
        used.map(|(at, segment)| self.begin(at as u32)..self.begin(at as u32) + segment.used)
    }
}
