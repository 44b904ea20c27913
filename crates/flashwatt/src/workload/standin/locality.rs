//! Places of a stand-in's requests: where the last request ended, in fresh pages, or where an earlier request started.

use super::data::{StandinModel, Tagged, list};
use super::popularity::Popularity;
use crate::connector::RequestKind;
use crate::rng::Rng;
use crate::workload::synthetic::{Lengths, Permutation, Places};

/// Page size of the published statistics.
const PAGE_BYTES: u64 = 4096;

/// Chooses places with locality.
#[derive(Clone, Debug)]
pub(super) struct Locality {
    span_bytes: u64,
    reads: OfKind,
    writes: OfKind,
    fresh: UntouchedPages,
    /// Chance threshold: an earlier request is of the other kind.
    crossing: u64,
    /// End of the last request in bytes.
    end: u64,
}

/// What differs between reads and writes.
#[derive(Clone, Debug)]
struct OfKind {
    /// Chance thresholds: with a draw below `continue_below` a request continues the last one, below `fresh_below` it goes
    /// to a fresh page, below `revisit_below` into the chunk of an earlier one.
    continue_below: u64,
    fresh_below: u64,
    revisit_below: u64,
    /// First bytes in their pages.
    shift: Lengths,
    /// The set of open chunks.
    open: usize,
    /// Earlier requests, by their lengths.
    former: Vec<Former>,
}

impl OfKind {
    fn former(&self, bytes: u64) -> Option<&Former> {
        self.former.iter().find(|former| former.bytes == bytes)
    }
}

impl Locality {
    /// Places of this model at this scale, within the first `drive_bytes` bytes of a drive.
    pub fn new(model: &StandinModel, scale: f64, drive_bytes: u64, seed: u64) -> Self {
        let scaled = (model.span_bytes.value as f64 * scale) as u64;
        let chunk_bytes = model.chunk_bytes.value;
        let chunks = (scaled.min(drive_bytes) / chunk_bytes).max(1);
        let former = |sizes: &Tagged<_>| list(sizes).iter().map(|size| Former::new(size.bytes, model)).collect();
        let of_kind = |[goes_on, fresh, revisits]: [&Tagged<f64>; 3], shift, open, sizes| OfKind {
            continue_below: Rng::threshold(goes_on.value),
            fresh_below: Rng::threshold((goes_on.value + fresh.value).min(1.0)),
            revisit_below: Rng::threshold((goes_on.value + fresh.value + revisits.value).min(1.0)),
            shift: Lengths::new(&list(shift)),
            open,
            former: former(sizes),
        };
        let reads = [&model.read_continue_fraction, &model.read_fresh_fraction, &model.read_revisit_fraction];
        let writes = [&model.write_continue_fraction, &model.write_fresh_fraction, &model.write_revisit_fraction];
        Locality {
            span_bytes: (chunks * chunk_bytes).min(drive_bytes),
            reads: of_kind(reads, &model.read_shift_bytes, 0, &model.read_bytes),
            writes: of_kind(writes, &model.write_shift_bytes, 1, &model.write_bytes),
            fresh: UntouchedPages::new(chunks, chunk_bytes / PAGE_BYTES, model.open_chunks.value as usize, seed),
            crossing: Rng::threshold(model.crossing_fraction.value),
            end: 0,
        }
    }

    fn of(&self, kind: RequestKind) -> &OfKind {
        if kind == RequestKind::Read { &self.reads } else { &self.writes }
    }

    fn fresh(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> u64 {
        let OfKind { shift, open, .. } = self.of(kind);
        let (shift, open) = (shift.draw(rng), *open);
        self.fresh.take((shift + bytes).div_ceil(PAGE_BYTES), open, rng) * PAGE_BYTES + shift
    }

    /// The start of an earlier request of this length; none if there is none.
    fn former(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> Option<u64> {
        let kinds = if kind == RequestKind::Read { [&self.reads, &self.writes] } else { [&self.writes, &self.reads] };
        let crossed =
            if rng.chance(self.crossing) { kinds[1].former(bytes).and_then(|former| former.draw(rng)) } else { None };
        let start = crossed.or_else(|| kinds[0].former(bytes).and_then(|former| former.draw(rng)))?;
        self.fresh.leave();
        Some(start)
    }

    /// A place in the chunk of an earlier request of this kind and length, so that new places are near popular ones; none
    /// if there is no such request.
    fn near(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> Option<u64> {
        let start = self.of(kind).former(bytes)?.draw(rng)?;
        self.fresh.leave();
        Some(self.fresh.touched_near(start / PAGE_BYTES, rng) * PAGE_BYTES + self.of(kind).shift.draw(rng))
    }

    /// Where the next request starts, and whether none of its kind and length has started there.
    fn start(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> (u64, bool) {
        let draw = rng.bits() >> 11;
        let &OfKind { continue_below, fresh_below, revisit_below, .. } = self.of(kind);
        if draw < continue_below {
            return (self.end, self.fresh.goes_on((self.end + bytes).div_ceil(PAGE_BYTES)));
        }
        let found = if draw < fresh_below {
            None
        } else if draw < revisit_below {
            self.near(kind, bytes, rng).map(|start| (start, true))
        } else {
            self.former(kind, bytes, rng).map(|start| (start, false))
        };
        found.unwrap_or_else(|| (self.fresh(kind, bytes, rng), true))
    }
}

impl Places for Locality {
    fn place(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> u64 {
        let (start, is_new) = self.start(kind, bytes, rng);
        let start = if start + bytes <= self.span_bytes { start } else { self.span_bytes.saturating_sub(bytes) };
        let of_kind = if kind == RequestKind::Read { &mut self.reads } else { &mut self.writes };
        if let Some(former) = of_kind.former.iter_mut().find(|former| former.bytes == bytes) {
            former.note(start, is_new, rng);
        }
        self.end = start + bytes;
        start
    }
}

/// Starts of the earlier requests of one kind and length, for requests that go where an earlier one went.
///
/// With the probability `recent_fraction` such a request repeats one of the last `recent_starts` requests, any as likely
/// as any other. Otherwise it goes to a start by popularity: the start of rank k is drawn with a probability
/// ~ (k + shift)^−exponent. A new start gets a random rank, and the start that had this rank becomes the least popular.
/// So popularity does not depend on age. No start gains popularity by being drawn. A draw among the latest requests causes
/// `recent_fraction` < 1 further ones on average, so no start can keep the latest requests to itself.
#[derive(Clone, Debug)]
struct Former {
    bytes: u64,
    recent_below: u64,
    /// A ring of the starts of the last `depth` requests.
    recent: Vec<u64>,
    depth: usize,
    next: usize,
    /// All starts, the most popular first.
    ranked: Vec<u64>,
    popularity: Popularity,
}

impl Former {
    fn new(bytes: u64, model: &StandinModel) -> Self {
        Former {
            bytes,
            recent_below: Rng::threshold(model.recent_fraction.value),
            recent: Vec::new(),
            depth: model.recent_starts.value as usize,
            next: 0,
            ranked: Vec::new(),
            popularity: Popularity::new(model.popularity_exponent.value, model.popularity_shift.value),
        }
    }

    /// Notes a request, and whether it was the first one to its start.
    fn note(&mut self, start: u64, is_new: bool, rng: &mut Rng) {
        if self.recent.len() < self.depth {
            self.recent.push(start);
        } else {
            self.recent[self.next] = start;
        }
        self.next = (self.next + 1) % self.depth;
        if is_new {
            self.ranked.push(start);
            self.popularity.grow();
            let (last, rank) = (self.ranked.len() - 1, rng.below(self.ranked.len() as u64));
            self.ranked.swap(rank as usize, last);
        }
    }

    /// Draws the start of an earlier request; none if there is none.
    fn draw(&self, rng: &mut Rng) -> Option<u64> {
        if self.ranked.is_empty() {
            None
        } else if rng.chance(self.recent_below) {
            Some(self.recent[rng.below(self.recent.len() as u64) as usize])
        } else {
            Some(self.ranked[self.popularity.draw(rng) as usize - 1])
        }
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
    /// The open chunks of reads, then those of writes.
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
            open: vec![Chunk::default(); 2 * open.max(1)],
            last: None,
        }
    }

    /// The first of `pages` fresh pages in sequence, in the open chunks of reads (0) or of writes (1). After the last chunk of the span the first one is used again.
    fn take(&mut self, pages: u64, kind: usize, rng: &mut Rng) -> u64 {
        let open = self.open.len() / 2;
        let at = kind * open + rng.below(open as u64) as usize;
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

    /// A page that was handed out in the chunk of another, any as likely as any other.
    fn touched_near(&self, page: u64, rng: &mut Rng) -> u64 {
        let first = page - page % self.chunk_pages;
        let open = self.open.iter().find(|chunk| chunk.end == first + self.chunk_pages);
        let pages = open.map_or(self.chunk_pages, |chunk| (chunk.next - first).clamp(1, self.chunk_pages));
        first + rng.below(pages)
    }

    /// Notes that the next request continues the last one up to page `end` (exclusive), so that these pages are fresh
    /// no longer. Gives whether the last request was in fresh pages.
    fn goes_on(&mut self, end: u64) -> bool {
        if let Some(at) = self.last {
            self.open[at].next = self.open[at].next.max(end);
        }
        self.last.is_some()
    }

    /// Notes that the next request does not continue a fresh one.
    fn leave(&mut self) {
        self.last = None;
    }
}
