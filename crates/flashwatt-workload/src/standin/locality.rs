//! Places of a stand-in's requests: where the last request ended, in fresh pages, or where an earlier request started.

use super::data::{Resumes, StandinModel, Tagged, list};
use super::ends::{RunEnd, RunEnds};
use super::limits::PAGE_BYTES;
use super::popularity::Popularity;
use crate::settings::Size;
use crate::synthetic::{Lengths, Permutation, Places};
use flashwatt_base::rng::Rng;
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_core::connector::RequestKind;

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
    /// Chance thresholds: with a draw below `continue_below` a request continues the last one, below `resume_below` an earlier run, below
    /// `fresh_below` it goes to a fresh page, below `revisit_below` into the chunk of an earlier one.
    continue_below: u64,
    resume_below: u64,
    fresh_below: u64,
    revisit_below: u64,
    /// First bytes in their pages.
    shift: Lengths,
    /// The set of open chunks.
    open: usize,
    /// Earlier requests, by their lengths.
    former: Vec<Former>,
    /// Earlier runs, if requests go on from them.
    resume: Option<Resume>,
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
        let of_kind = |kind, [goes_on, fresh, revisits]: [&Tagged<f64>; 3], shift, sizes| {
            let goes_on_or_resumes = goes_on.value + model.resume_fraction(kind);
            OfKind {
                continue_below: Rng::threshold(goes_on.value),
                resume_below: Rng::threshold(goes_on_or_resumes.min(1.0)),
                fresh_below: Rng::threshold((goes_on_or_resumes + fresh.value).min(1.0)),
                revisit_below: Rng::threshold((goes_on_or_resumes + fresh.value + revisits.value).min(1.0)),
                shift: Lengths::new(&list(shift)),
                open: usize::from(kind == RequestKind::Write),
                former: former(sizes),
                resume: model.resumes(kind).map(Resume::new),
            }
        };
        let reads = [&model.read_continue_fraction, &model.read_fresh_fraction, &model.read_revisit_fraction];
        let writes = [&model.write_continue_fraction, &model.write_fresh_fraction, &model.write_revisit_fraction];
        Locality {
            span_bytes: (chunks * chunk_bytes).min(drive_bytes),
            reads: of_kind(RequestKind::Read, reads, &model.read_shift_bytes, &model.read_bytes),
            writes: of_kind(RequestKind::Write, writes, &model.write_shift_bytes, &model.write_bytes),
            fresh: UntouchedPages::new(chunks, chunk_bytes / PAGE_BYTES, model.open_chunks.value as usize, seed),
            crossing: Rng::threshold(model.crossing_fraction.value),
            end: 0,
        }
    }

    fn of(&self, kind: RequestKind) -> &OfKind {
        if kind == RequestKind::Read { &self.reads } else { &self.writes }
    }

    fn of_mut(&mut self, kind: RequestKind) -> &mut OfKind {
        if kind == RequestKind::Read { &mut self.reads } else { &mut self.writes }
    }

    /// A place at the end of an earlier run or near it, and whether no request is known to have started there; none if no run fits.
    fn resumed(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> Option<(u64, bool)> {
        let of_kind = if kind == RequestKind::Read { &mut self.reads } else { &mut self.writes };
        let resume = of_kind.resume.as_mut()?;
        let (run, gap) = resume.draw(self.end, &self.fresh, rng)?;
        resume.from = Some(run.byte);
        let start = run.byte.saturating_add_signed(gap);
        let is_fresh = self.fresh.return_to(run.byte, run.of_run);
        self.fresh.goes_on((start + bytes).div_ceil(PAGE_BYTES));
        Some((start, gap != 0 || is_fresh))
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
        let &OfKind { continue_below, resume_below, fresh_below, revisit_below, .. } = self.of(kind);
        if draw < continue_below {
            return (self.end, self.fresh.goes_on((self.end + bytes).div_ceil(PAGE_BYTES)));
        }
        let found = if draw < resume_below {
            self.resumed(kind, bytes, rng)
        } else if draw < fresh_below {
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
        let of_run = self.fresh.last_chunk();
        let of_kind = self.of_mut(kind);
        if let Some(resume) = &mut of_kind.resume {
            let from = resume.from.take().unwrap_or(start);
            resume.ends.go_on(from, start + bytes, of_run);
        }
        if let Some(former) = of_kind.former.iter_mut().find(|former| former.bytes == bytes) {
            former.note(start, is_new, rng);
        }
        self.end = start + bytes;
        start
    }
}

/// Earlier runs of one kind, for requests that go on from one of them.
#[derive(Clone, Debug)]
struct Resume {
    /// Least depths of classes, each of which reaches to twice that (exclusive).
    depths: Lengths,
    /// Numbers of `gaps`, which are least distances of classes.
    gap: Lengths,
    gaps: Vec<i64>,
    /// Chance thresholds: the run ends before fresh pages; it has more than one request.
    fresh_below: u64,
    grown_below: u64,
    ends: RunEnds<Option<OpenChunk>>,
    /// The end of the run that the request to be noted goes on from, if it was drawn here.
    from: Option<u64>,
}

impl Resume {
    fn new(Resumes { depths, gaps, fresh_fraction, grown_fraction }: Resumes) -> Self {
        let size = |bytes, share| Size { bytes, share };
        let depths: Vec<Size> = depths.iter().map(|&(depth, share)| size(depth, share)).collect();
        let numbers: Vec<Size> = gaps.iter().zip(0..).map(|(&(_, share), number)| size(number, share)).collect();
        Resume {
            depths: Lengths::new(&depths),
            gap: Lengths::new(&numbers),
            gaps: gaps.iter().map(|(gap, _)| *gap).collect(),
            fresh_below: Rng::threshold(fresh_fraction),
            grown_below: Rng::threshold(grown_fraction),
            ends: RunEnds::default(),
            from: None,
        }
    }

    /// Draws a run's end and the bytes from there to the start of the request. Without a gap the end is not `last`. If no run has the drawn
    /// number of requests, one with another does. None if there is no end, or if no run ends before fresh pages and one should.
    fn draw(&self, last: u64, pages: &UntouchedPages, rng: &mut Rng) -> Option<(RunEnd<Option<OpenChunk>>, i64)> {
        let gap = self.gaps[self.gap.draw(rng) as usize];
        let least = self.depths.draw(rng);
        let (depth, but) = ((least + rng.below(least)) as usize, (gap == 0).then_some(last));
        let (is_fresh, is_grown) = (rng.chance(self.fresh_below), rng.chance(self.grown_below));
        let fits = |run: &RunEnd<Option<OpenChunk>>| pages.are_after(run.byte, run.of_run) == is_fresh;
        let run = self.ends.near(depth, |run| run.is_grown == is_grown && fits(run), but);
        let run = run.or_else(|| self.ends.near(depth, fits, but));
        let run = if is_fresh { run } else { run.or_else(|| self.ends.near(depth, |_| true, but)) }?;
        let least = gap.unsigned_abs();
        let more = if least == 0 { 0 } else { rng.below(least / SECTOR_BYTES) * SECTOR_BYTES };
        Some((run, gap + gap.signum() * more as i64))
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

/// An open chunk, and the page after its last one.
#[derive(Clone, Copy, Debug)]
struct OpenChunk {
    at: usize,
    end: u64,
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

    /// The open chunk of the last request, if that request was in fresh pages.
    fn last_chunk(&self) -> Option<OpenChunk> {
        self.last.map(|at| OpenChunk { at, end: self.open[at].end })
    }

    /// Whether the pages after a run that ends at this byte of an open chunk are fresh.
    fn are_after(&self, byte: u64, chunk: Option<OpenChunk>) -> bool {
        chunk.map(|chunk| (chunk, self.open[chunk.at])).is_some_and(|(chunk, open)| {
            // Another chunk in its place has another end.
            open.end == chunk.end && open.next <= byte.div_ceil(PAGE_BYTES)
        })
    }

    /// Notes that the next request goes on from a run that ends there. Gives whether fresh pages follow.
    fn return_to(&mut self, byte: u64, chunk: Option<OpenChunk>) -> bool {
        let is_fresh = self.are_after(byte, chunk);
        self.last = chunk.filter(|_| is_fresh).map(|chunk| chunk.at);
        is_fresh
    }

    /// Notes that the next request does not continue a fresh one.
    fn leave(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standin::ends::Resumed;
    use crate::standin::{STANDINS, StandinData, find};

    const DRIVE_BYTES: u64 = 1 << 40;

    /// A model of writes of 4 KiB that go on from earlier runs with this probability and the last request with another; the others are
    /// in fresh pages.
    fn model(resume: f64, goes_on: f64, more: &str) -> StandinModel {
        let text = find("gimp").expect("it is registered").data.to_toml();
        let keys = format!(
            "[model]\nwrite_resume_fraction = {{ value = {resume}, tag = \"chosen\", source = \"a test\" }}\n{more}"
        );
        let data: StandinData = toml::from_str(&text.replace("[model]\n", &keys)).expect("it is valid");
        let mut model = data.model;
        model.write_bytes.value = vec![(4096, 1.0)];
        model.write_shift_bytes.value = vec![(512, 1.0)];
        model.write_continue_fraction.value = goes_on;
        model.write_fresh_fraction.value = (1.0 - resume - goes_on).max(0.0);
        // Each fresh write lies in a chunk of its own, far from the others.
        model.chunk_bytes.value = 8192;
        model.span_bytes.value = DRIVE_BYTES;
        model
    }

    fn keys(depths: &str, gaps: &str, grown: f64) -> String {
        let key = |name: &str, value: &str| {
            format!("write_resume_{name} = {{ value = {value}, tag = \"chosen\", source = \"a test\" }}\n")
        };
        key("depths", depths)
            + &key("gaps", gaps)
            + &key("fresh_fraction", "0")
            + &key("grown_fraction", &grown.to_string())
    }

    /// The writes that go on from an earlier run, by a list of ends that notes the places alone, and the number that go on from the last
    /// one.
    fn drawn(model: &StandinModel, requests: usize) -> (Vec<Option<Resumed>>, usize) {
        let (mut places, mut rng) = (Locality::new(model, 1.0, DRIVE_BYTES, 7), Rng::new(3));
        let (mut ends, mut last, mut continued) = (RunEnds::default(), None, 0);
        let mut next = |_| {
            let start = places.place(RequestKind::Write, 4096, &mut rng);
            continued += usize::from(last == Some(start));
            let resumed = ends.note(start, start + 4096, last, true, ());
            last = Some(start + 4096);
            resumed
        };
        let all = (0..requests).map(&mut next).collect();
        (all, continued)
    }

    /// A share lies within four standard deviations of a probability; beyond that in 6 of 100,000 samples.
    fn assert_share(found: usize, of: usize, wanted: f64) {
        let share = found as f64 / of as f64;
        let deviation = (wanted * (1.0 - wanted) / of as f64).sqrt();
        assert!((share - wanted).abs() <= 4.0 * deviation, "{share} for {wanted}");
    }

    /// Without the keys, and with a probability of 0, a stand-in has the same places as ever.
    #[test]
    fn a_fraction_of_0_changes_nothing() {
        let described = keys("[[1, 1.0]]", "[[0, 1.0]]", 0.5);
        for standin in STANDINS.iter() {
            let with_keys = standin.data.to_toml().replace(
                "[model]\n",
                &format!("[model]\nwrite_resume_fraction = {{ value = 0, tag = \"chosen\", source = \"a test\" }}\n{described}"),
            );
            let other: StandinData = toml::from_str(&with_keys).expect("it is valid");
            assert_eq!(other.check(), Ok(()), "{}", standin.name);
            let mut both = [&standin.data.model, &other.model]
                .map(|model| (Locality::new(model, 1.0, DRIVE_BYTES, 7), Rng::new(3), model.write_bytes.value[0].0));
            for number in 0..5000 {
                let kind = if number % 3 == 0 { RequestKind::Read } else { RequestKind::Write };
                let [one, two] = both.each_mut().map(|(places, rng, bytes)| places.place(kind, *bytes, rng));
                assert_eq!(one, two, "{}", standin.name);
            }
        }
    }

    /// The first two writes have no earlier run to go on from. All others do.
    #[test]
    fn with_a_fraction_of_1_every_write_goes_on_from_an_earlier_run() {
        let (found, continued) = drawn(&model(1.0, 0.0, &keys("[[1, 0.5], [4, 0.5]]", "[[0, 1.0]]", 0.5)), 2000);
        assert_eq!((&found[..2], continued), (&[None, None][..], 0));
        assert!(found[2..].iter().all(|resumed| resumed.is_some_and(|resumed| resumed.gap_bytes == 0)));
    }

    /// The shares of a drawn stream are the parameters, within their binomial intervals.
    #[test]
    fn shares_of_a_stream_are_the_parameters() {
        let requests = 40_000;
        let (found, continued) =
            drawn(&model(0.3, 0.1, &keys("[[1, 0.6], [8, 0.4]]", "[[0, 0.7], [1024, 0.3]]", 0.5)), requests);
        let resumed: Vec<Resumed> = found.into_iter().flatten().collect();
        assert_share(continued, requests, 0.1);
        assert_share(resumed.len(), requests, 0.3);
        let count = |is: &dyn Fn(&Resumed) -> bool| resumed.iter().filter(|resumed| is(resumed)).count();
        assert_share(count(&|resumed| resumed.gap_bytes == 1024 || resumed.gap_bytes == 1536), resumed.len(), 0.3);
        assert_share(count(&|resumed| resumed.is_grown), resumed.len(), 0.5);
    }

    /// With runs of both kinds at every depth, depths are those of the classes: grown runs are as near as others.
    #[test]
    fn depths_of_a_stream_are_those_of_the_classes() {
        let (found, _) = drawn(&model(0.3, 0.0, &keys("[[4, 0.5], [64, 0.5]]", "[[0, 1.0]]", 0.25)), 40_000);
        // The first writes find fewer runs than the classes reach to.
        let resumed: Vec<usize> = found.into_iter().skip(1000).flatten().map(|resumed| resumed.depth).collect();
        let within = |low: usize, high: usize| resumed.iter().filter(|depth| (low..high).contains(*depth)).count();
        // The nearest grown run lies up to some runs away from the depth that was drawn.
        let (short, long) = (within(1, 24), within(32, 192));
        assert_share(short, resumed.len(), 0.5);
        let outside = resumed.len() - short - long;
        assert!(outside * 100 < resumed.len(), "{outside} of {}", resumed.len());
    }
}
