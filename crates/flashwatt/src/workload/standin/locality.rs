//! Places of a stand-in's requests: where the last request ended, in fresh pages, or where an earlier request started.

use super::data::{StandinModel, list};
use crate::connector::RequestKind;
use crate::rng::Rng;
use crate::workload::synthetic::{Lengths, Permutation, Places};

/// Page size of the published statistics.
const PAGE_BYTES: u64 = 4096;
/// Least number of earlier requests that are remembered for reuse, at any scale.
const REUSE_MIN: f64 = 16.0;

/// Chooses places with locality.
#[derive(Clone, Debug)]
pub(super) struct Locality {
    span_bytes: u64,
    /// Chance thresholds: with a draw below `continue_below` a request continues the last one, below `fresh_below` it
    /// goes to a fresh page.
    continue_below: u64,
    fresh_below: u64,
    read_shift: Lengths,
    write_shift: Lengths,
    fresh: UntouchedPages,
    former: Vec<Former>,
    /// End of the last request in bytes.
    end: u64,
}

impl Locality {
    /// Places of this model at this scale, within the first `drive_bytes` bytes of a drive.
    pub fn new(model: &StandinModel, scale: f64, drive_bytes: u64, seed: u64) -> Self {
        let scaled = (model.span_bytes.value as f64 * scale) as u64;
        let chunk_bytes = model.chunk_bytes.value;
        let chunks = (scaled.min(drive_bytes) / chunk_bytes).max(1);
        let (goes_on, fresh) = (model.continue_fraction.value, model.fresh_fraction.value);
        let depth = (model.reuse_requests.value * scale).max(REUSE_MIN) as usize;
        let mut lengths: Vec<u64> = model.sizes().iter().collect();
        lengths.sort_unstable();
        lengths.dedup();
        Locality {
            span_bytes: (chunks * chunk_bytes).min(drive_bytes),
            continue_below: Rng::threshold(goes_on),
            fresh_below: Rng::threshold((goes_on + fresh).min(1.0)),
            read_shift: Lengths::new(&list(&model.read_shift_bytes)),
            write_shift: Lengths::new(&list(&model.write_shift_bytes)),
            fresh: UntouchedPages::new(chunks, chunk_bytes / PAGE_BYTES, model.open_chunks.value as usize, seed),
            former: lengths.into_iter().map(|bytes| Former::new(bytes, depth)).collect(),
            end: 0,
        }
    }

    fn fresh(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> u64 {
        let shift = if kind == RequestKind::Read { &self.read_shift } else { &self.write_shift }.draw(rng);
        let pages = (shift + bytes).div_ceil(PAGE_BYTES);
        self.fresh.take(pages, rng) * PAGE_BYTES + shift
    }
}

impl Places for Locality {
    fn place(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> u64 {
        let draw = rng.bits() >> 11;
        let of_this_length = self.former.iter().position(|former| former.bytes == bytes);
        let former = of_this_length.and_then(|at| self.former[at].draw(rng));
        let start = match former {
            _ if draw < self.continue_below => {
                self.fresh.goes_on((self.end + bytes).div_ceil(PAGE_BYTES));
                self.end
            }
            Some(start) if draw >= self.fresh_below => {
                self.fresh.leave();
                start
            }
            _ => self.fresh(kind, bytes, rng),
        };
        let start = if start + bytes <= self.span_bytes { start } else { self.span_bytes.saturating_sub(bytes) };
        if let Some(at) = of_this_length {
            self.former[at].push(start);
        }
        self.end = start + bytes;
        start
    }
}

/// First bytes of the earlier requests of one length.
#[derive(Clone, Debug)]
struct Former {
    bytes: u64,
    /// A ring of the last `depth` requests.
    starts: Vec<u64>,
    depth: usize,
    next: usize,
    /// Natural logarithm of the number of `starts`.
    ln_len: f64,
}

impl Former {
    fn new(bytes: u64, depth: usize) -> Self {
        Former { bytes, starts: Vec::new(), depth, next: 0, ln_len: 0.0 }
    }

    fn push(&mut self, start: u64) {
        if self.starts.len() < self.depth {
            self.starts.push(start);
            self.ln_len = libm::log(self.starts.len() as f64);
        } else {
            self.starts[self.next] = start;
        }
        self.next = (self.next + 1) % self.depth;
    }

    /// Draws the start of an earlier request; none if there is none. Its distance back is log-uniform: each doubling of
    /// the distance is as likely as any other.
    fn draw(&self, rng: &mut Rng) -> Option<u64> {
        let len = self.starts.len();
        if len == 0 {
            return None;
        }
        let back = (libm::exp(rng.f64() * self.ln_len) as usize).clamp(1, len);
        Some(self.starts[(self.next + self.depth - back) % self.depth])
    }
}

/// Hands out fresh pages: the pages of some open chunks, each chunk in sequence. The chunks lie scattered over the
/// span.
#[derive(Clone, Debug)]
struct UntouchedPages {
    chunk_pages: u64,
    chunks: Permutation,
    chunks_len: u64,
    opened: u64,
    open: Vec<Chunk>,
    /// The open chunk of the last request, if that request went to fresh pages or continued one that did.
    last: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Chunk {
    next: u64,
    end: u64,
}

impl UntouchedPages {
    fn new(chunks: u64, chunk_pages: u64, open: usize, seed: u64) -> Self {
        UntouchedPages {
            chunk_pages: chunk_pages.max(1),
            chunks: Permutation::new(chunks, seed),
            chunks_len: chunks,
            opened: 0,
            open: vec![Chunk::default(); open.max(1)],
            last: None,
        }
    }

    /// The first of `pages` fresh pages in sequence. After the last chunk of the span the first one is used again.
    fn take(&mut self, pages: u64, rng: &mut Rng) -> u64 {
        let at = rng.below(self.open.len() as u64) as usize;
        if self.open[at].next + pages > self.open[at].end {
            let first = self.chunks.of(self.opened % self.chunks_len) * self.chunk_pages;
            self.opened += 1;
            self.open[at] = Chunk { next: first, end: first + self.chunk_pages };
        }
        let chunk = &mut self.open[at];
        let first = chunk.next;
        chunk.next += pages;
        self.last = Some(at);
        first
    }

    /// Notes that the next request continues the last one up to page `end` (exclusive), so that these pages are fresh
    /// no longer.
    fn goes_on(&mut self, end: u64) {
        if let Some(at) = self.last {
            self.open[at].next = self.open[at].next.max(end);
        }
    }

    /// Notes that the next request does not continue a fresh one.
    fn leave(&mut self) {
        self.last = None;
    }
}
