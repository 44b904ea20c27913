//! What is on its way from the write buffer to flash: which entries leave together, and which next.

use std::collections::VecDeque;

use crate::cache::WriteBuffer;
use crate::cache::settings;
use crate::cache::write_buffer::{DestagedEntry, NextEntry};
use crate::ftl::{Ftl, Grain, PlanNumber};
use crate::nand::Geometry;
use flashwatt_base::units::{EntryId, Lpn, Nanos, RequestId};
use flashwatt_core::connector::Extent;

/// Batches for each die that may be under way, for each page of a row.
const BATCHES_PER_DIE: u32 = 2;

/// The buffer, what waits for it, and what is on its way from it to flash.
pub(super) struct Buffered {
    pub buffer: WriteBuffer,
    units_per_page: u32,
    grain: Grain,
    pub lines: Vec<LineState>,
    /// What may be under way in a line, as [`LineState::under_way`] counts it, before nothing more begins.
    under_way_max: u32,
    /// From this number of dirty entries on, entries leave.
    threshold: u32,
    pub idle_ns: Nanos,
    /// Requests that had been completed when the idle timer was set, if it is.
    pub idle_since: Option<u64>,
    /// Requests that have ended.
    pub requests_done: u64,
    /// Writes that wait for room.
    pub waiting: VecDeque<RequestId>,
    /// Whether its content outlives a power cut: then nobody waits for it to be on flash.
    pub is_protected: bool,
    /// Everything made before this is to be destaged: see [`WriteBuffer::made`].
    pub forced_before: u64,
    pub batches: Vec<Batch>,
    free_batches: Vec<u32>,
    /// The request id of the first batch.
    pub first_id: u32,
    /// Kept for their memory.
    pub extents: Vec<Extent>,
    pub released: Vec<RequestId>,
}

/// What is known of a line of the buffer's entries.
#[derive(Clone, Default)]
pub(super) struct LineState {
    /// Batches under way that began with an entry of this line; of a layer that takes runs ([`Grain::Run`]) the line's entries
    /// that are under way, as each is a page.
    under_way: u32,
    /// No die had a page to give: nothing leaves until a block has been erased.
    pub no_space: bool,
}

/// Entries that are written to flash together.
#[derive(Clone, Default)]
pub(super) struct Batch {
    line: u32,
    pub entries: Vec<EntryId>,
    /// For each entry the number of the program after which it is on flash.
    pub programs: Vec<PlanNumber>,
    /// Operations that have not ended.
    pub remaining: u32,
}

impl Buffered {
    /// The buffer of a configuration, if it has one, in front of a translation layer. Request ids below `requests` are the
    /// host's.
    pub fn new(settings: &settings::WriteBuffer, geometry: &Geometry, ftl: &dyn Ftl, requests: u32) -> Option<Self> {
        let capacity = u32::try_from(settings.bytes / u64::from(geometry.unit_bytes)).unwrap_or(u32::MAX);
        if capacity == 0 {
            return None;
        }
        let batches = BATCHES_PER_DIE * geometry.dies * geometry.row_pages;
        let lines = if ftl.home(Lpn(0)).is_some() { geometry.dies } else { 1 };
        let threshold = (f64::from(capacity) * settings.destage_fraction).ceil() as u32;
        Some(Buffered {
            buffer: WriteBuffer::new(capacity, geometry.unit_bytes, geometry.logical_units, lines),
            units_per_page: geometry.units_per_page,
            grain: ftl.grain(),
            lines: vec![LineState::default(); lines as usize],
            under_way_max: batches / lines,
            threshold: threshold.max(geometry.units_per_page),
            idle_ns: settings.idle_ns,
            idle_since: None,
            requests_done: 0,
            waiting: VecDeque::new(),
            is_protected: settings.is_protected(),
            forced_before: 0,
            batches: vec![Batch::default(); batches as usize],
            free_batches: (0..batches).rev().collect(),
            first_id: requests,
            extents: Vec::new(),
            released: Vec::new(),
        })
    }

    /// Does it hold nothing?
    pub fn is_empty(&self) -> bool {
        self.buffer.occupied() == 0
    }

    /// Does it wait for a block to be erased?
    pub fn has_no_room(&self) -> bool {
        self.lines.iter().any(|line| line.no_space)
    }

    /// The line whose next entry must leave now, if one must and may: of those the oldest, forced ones first.
    fn next_line(&self) -> Option<u32> {
        let [dirty, urgent] = self.buffer.dirty();
        let may_matter = urgent > 0 || dirty >= self.threshold || self.forced_before > 0 || !self.waiting.is_empty();
        if dirty + urgent == 0 || !may_matter {
            return None;
        }
        let may_begin = |line: &LineState| !line.no_space && line.under_way < self.under_way_max;
        let lines = (0..).zip(&self.lines).filter(|(_, line)| may_begin(line));
        let heads = lines.filter_map(|(line, _)| self.buffer.next(line).map(|next| (line, next)));
        let (line, next) = heads.min_by_key(|(_, next)| (!next.urgent, next.age))?;
        self.must_leave(&next).then_some(line)
    }

    /// Must an entry leave now?
    fn must_leave(&self, entry: &NextEntry) -> bool {
        let [dirty, _] = self.buffer.dirty();
        let makes_room = || dirty >= self.units_per_page || self.is_nothing_under_way();
        entry.urgent
            || dirty >= self.threshold
            || entry.age < self.forced_before
            || (!self.waiting.is_empty() && makes_room())
    }

    /// Whether entries that must leave now are still in the buffer, because of the bound on those under way.
    pub fn more_must_leave(&self) -> bool {
        let [_, urgent] = self.buffer.dirty();
        let is_forced = || self.buffer.oldest_dirty().is_some_and(|age| age < self.forced_before);
        !self.has_no_room() && (urgent > 0 || is_forced())
    }

    fn is_nothing_under_way(&self) -> bool {
        self.free_batches.len() == self.batches.len()
    }

    /// Picks the entries of the next batch, if one must leave and may.
    pub fn next_batch(&mut self) -> Option<u32> {
        let line = self.next_line()?;
        let at = self.free_batches.pop()?;
        let batch = &mut self.batches[at as usize];
        batch.line = line;
        batch.entries.clear();
        match self.grain {
            Grain::Page => self.buffer.pick_oldest(line, self.units_per_page, &mut batch.entries),
            Grain::Block(pages) => self.buffer.pick_neighbours(line, pages, &mut batch.entries),
            Grain::Run(most) => {
                let has_space = |line: u32| !self.lines[line as usize].no_space;
                self.buffer.pick_run(line, most, has_space, &mut batch.entries);
            }
        }
        self.count_under_way(at);
        Some(at)
    }

    /// A batch sets out.
    fn count_under_way(&mut self, batch: u32) {
        let Batch { line, entries, .. } = &self.batches[batch as usize];
        match self.grain {
            Grain::Run(_) => entries.iter().for_each(|&of| self.lines[self.buffer.line(of) as usize].under_way += 1),
            Grain::Page | Grain::Block(_) => self.lines[*line as usize].under_way += 1,
        }
    }

    /// An entry is not under way any more.
    pub fn entry_left(&mut self, entry: EntryId) {
        if matches!(self.grain, Grain::Run(_)) {
            self.lines[self.buffer.line(entry) as usize].under_way -= 1;
        }
    }

    /// Only the first `found` entries of a batch found room; the others stay.
    pub fn keep_back(&mut self, batch: u32, found: u32) {
        let kept = self.batches[batch as usize].entries.split_off(found as usize);
        if let Some(&first) = kept.first() {
            self.lines[self.buffer.line(first) as usize].no_space = true;
            kept.iter().for_each(|&entry| self.entry_left(entry));
            self.buffer.put_back(&kept);
        }
    }

    /// A batch has come to its end.
    pub fn free_batch(&mut self, batch: u32) {
        if !matches!(self.grain, Grain::Run(_)) {
            self.lines[self.batches[batch as usize].line as usize].under_way -= 1;
        }
        self.free_batches.push(batch);
    }

    /// What a batch asks of the translation layer: extents of one unit, or runs of neighbours.
    pub fn find_extents(&mut self, batch: u32) {
        self.extents.clear();
        for &entry in &self.batches[batch as usize].entries {
            let content = self.buffer.content(entry);
            let last = self.extents.last_mut().filter(|_| self.grain != Grain::Page);
            match last.filter(|run| may_join(run, &content)) {
                Some(run) => {
                    run.pages += 1;
                    run.request_pages = run.request_pages.max(content.request_pages).max(run.pages);
                    run.tail_partial = !content.complete;
                }
                None => self.extents.push(Extent {
                    first: content.lpn,
                    pages: 1,
                    request_pages: content.request_pages,
                    head_partial: !content.complete,
                    tail_partial: false,
                }),
            }
        }
    }
}

/// Can an entry be the next unit of a run? Only the first and the last unit of a run may be partial.
fn may_join(run: &Extent, next: &DestagedEntry) -> bool {
    run.first.0 + run.pages == next.lpn.0 && !run.tail_partial
}
