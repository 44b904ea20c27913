//! Appending pages to the log.

use super::log::{self, LogId, fit};
use super::meta::Meta;
use super::segments::Frontier;
use super::settings::TRANSLATIONS_PER_BLOCK;
use super::tree::is_block;
use super::{Lfs, Style};
use crate::system::{Block, Cx, PageKey, Tried};
use flashwatt_base::units::Nanos;

/// A part of a log that is in one segment.
struct Partial {
    begin: Block,
    summaries: u32,
    pages: usize,
}

impl Lfs {
    /// A page of metadata is in memory, or is read. One without a place is in memory.
    fn ask(&self, meta: Meta, cx: &mut Cx) -> Tried<()> {
        let place = self.tree.place(meta.key());
        if is_block(place) { cx.read_meta(meta.index(), place) } else { Ok(()) }
    }

    /// Pages of metadata are in memory, or are read at the same time.
    pub(super) fn ask_all(&self, metas: impl Iterator<Item = Meta>, cx: &mut Cx) -> Tried<()> {
        let mut tried = Ok(());
        for meta in metas {
            tried = self.ask(meta, cx).and(tried);
        }
        tried
    }

    /// Waits for pages that are on their way from or to the disk: a page is in one request at a time.
    pub(super) fn wait_at_rest(pages: impl Iterator<Item = PageKey>, cx: &mut Cx) -> Tried<()> {
        for key in pages {
            cx.wait_page_read(key);
            cx.wait_page_written(key);
        }
        cx.wait()
    }

    /// Pages will move: the metadata that points to them changes.
    pub(super) fn change_parents(&self, pages: &[PageKey], cx: &mut Cx) {
        for &key in pages {
            self.tree.parents(key).for_each(|meta| cx.dirty_meta(meta.index()));
        }
    }

    /// Appends pages to the log, each with its newest content, and sends them. Blocks at the cleaner's frontier count as written at
    /// `written_ns`.
    pub(super) fn append(&mut self, pages: &[PageKey], frontier: Frontier, written_ns: Nanos, cx: &mut Cx) {
        let mut rest = pages;
        let id = if rest.is_empty() { 0 } else { self.log.begin() };
        cx.log_begins(id);
        while !rest.is_empty() {
            let partial = self.put(rest, frontier, (id, written_ns), fit);
            let (now, later) = rest.split_at(partial.pages);
            self.touched.drain(..).for_each(|table| cx.dirty_meta(Meta::Table(table).index()));
            self.send(now, &partial, cx);
            rest = later;
        }
        if self.wants_cleaning(cx.now) {
            cx.start_work();
        }
    }

    /// Lays pages down without a clock. The summary of a whole segment is at its begin.
    pub(super) fn lay_down(&mut self, pages: &[PageKey]) {
        let mut rest = pages;
        let summaries = log::summaries(self.layout.segment_blocks);
        let blocks = self.layout.segment_blocks;
        while !rest.is_empty() {
            let partial = self.put(rest, Frontier::Writer, (0, 0), |pages, left| {
                let summaries = if left == blocks { summaries } else { 0 };
                (pages.len().min((left - summaries) as usize), summaries)
            });
            rest = &rest[partial.pages..];
            self.touched.clear();
        }
    }

    /// Gives as many pages a place as there is room for in one segment.
    fn put(
        &mut self,
        pages: &[PageKey],
        frontier: Frontier,
        (id, written_ns): (LogId, Nanos),
        fit: impl Fn(&[PageKey], u32) -> (usize, u32),
    ) -> Partial {
        let begin = self.segments.next_block(frontier);
        let left = self.segments.left(frontier);
        if left == self.layout.segment_blocks {
            self.touched.push(self.layout.usage_of(self.segments.of(begin)));
        }
        let (count, summaries) = fit(pages, left);
        self.segments.fill(frontier, summaries, id, written_ns);
        for &key in &pages[..count] {
            let block = self.segments.put(frontier, key);
            let old = self.tree.set_place(key, block);
            if is_block(old) {
                self.segments.kill(old);
            }
            if self.style == Style::Nilfs2 && !matches!(meta_of(key), Some(Meta::Table(_))) {
                [old, block].into_iter().for_each(|block| touch_translation(&mut self.touched, block));
            }
        }
        Partial { begin, summaries, pages: count }
    }

    /// Sends a partial segment in as few requests as there can be.
    fn send(&mut self, pages: &[PageKey], partial: &Partial, cx: &mut Cx) {
        let summaries = (0..partial.summaries).map(|at| Meta::Summary(partial.begin + at));
        self.request.clear();
        self.request.extend(summaries.clone().map(Meta::key));
        self.request.extend_from_slice(pages);
        let mut block = partial.begin;
        for request in self.request.chunks(cx.longest_blocks() as usize) {
            self.log.add(cx.write(request, block));
            block += request.len() as u32;
        }
        summaries.for_each(|summary| cx.forget_meta(summary.index()));
    }
}

/// What a page of metadata is; none for a file's page.
fn meta_of(key: PageKey) -> Option<Meta> {
    key.owner.file().is_none().then(|| Meta::of(key.index))
}

/// The translation of a block changes, if the place is one. Neighbours share a table.
pub(super) fn touch_translation(touched: &mut Vec<u32>, place: Block) {
    let table = place / TRANSLATIONS_PER_BLOCK;
    // Old and new places of pages that follow on each other come by turns.
    if is_block(place) && !touched[touched.len().saturating_sub(2)..].contains(&table) {
        touched.push(table);
    }
}
