//! The warnings about a measured window in which garbage collection was not in balance: it made room for fewer pages than the host
//! programmed, or for more.
//!
//! A die programs a block for the host and collects until it may open another one. So the room that it owes goes up and down by one
//! block, b pages. Dies that are out of step owe b·√(D/6) pages more or less at the end of a window than at its start (a standard
//! deviation: two uniform draws for each of D dies). A difference beyond three of these is none of chance: dies collect in step,
//! and the window holds a part of a wave, or collection falls behind.

use flashwatt_ssd::nand::Geometry;
use flashwatt_ssd::observe::accounts::SsdFigures;
use flashwatt_ssd::operation::{Cause, OpKind};

/// Standard deviations up to which a difference may be chance.
const DEVIATIONS: f64 = 3.0;
/// Change of write amplification up to which a difference is no matter.
const EFFECT_MAX: f64 = 0.05;
/// Share of the blocks filled in the window that garbage collection may leave undone at its end without a warning.
const DEBT_MAX: f64 = 0.1;
/// Difference between the halves of the measured window up to which write amplification counts as settled.
const UNSETTLED_MIN: f64 = 0.05;
/// Erases without which the halves differ by chance: over 256 victims in each their mean number of valid pages moves by a few
/// percent at most.
const SETTLING_ERASES_MIN: u64 = 512;

/// The pages of a window, and the drive that they were written to.
pub(super) struct Balance<'a> {
    pub window: &'a SsdFigures,
    pub geometry: &'a Geometry,
    pub low_watermark_blocks: u32,
    /// Whether pages of data are collected by a policy.
    pub collects: bool,
}

impl Balance<'_> {
    /// The warnings.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let debt = self.debt();
        let part = if debt.is_none() { self.part_of_a_wave() } else { None };
        debt.into_iter().chain(part).chain(self.unsettled()).chain(self.left_over())
    }

    /// The warning about collections in a window without writes: they were under way when it began.
    fn left_over(&self) -> Option<String> {
        let ledger = &self.window.ledger;
        let copied = ledger.pages(OpKind::Program, Cause::Gc);
        let has_no_writes = self.window.written.host_bytes == 0 && ledger.pages(OpKind::Program, Cause::Host) == 0;
        (self.collects && has_no_writes && copied > 0).then(|| {
            format!(
                "collections from before the measured window went on in it, {copied} pages of them, and reads waited for these; the host \
                 wrote nothing (a longer run.warmup leaves them out, or run.precondition = \"filled\")"
            )
        })
    }

    /// Pages by which the room that dies out of step owe differs between the ends of a window.
    fn by_chance(&self) -> f64 {
        f64::from(self.geometry.pages_per_block) * (f64::from(self.geometry.dies) / 6.0).sqrt()
    }

    /// Whether collection works, or should: the drive began the window without more erased blocks than it keeps.
    fn is_at_work(&self) -> bool {
        let (window, kept) = (self.window, self.geometry.dies * self.low_watermark_blocks);
        let is_due =
            || window.ledger.pages(OpKind::Program, Cause::Gc) > 0 || window.free_blocks_start <= u64::from(kept);
        window.collection.victims > 0 || (self.collects && is_due())
    }

    /// Pages of the host that were programmed beyond those for which collection has made room: by the copies of the window, or by its
    /// erases where it has chosen no victim. `None` if that cannot be said.
    fn owed(&self) -> Option<f64> {
        let ledger = &self.window.ledger;
        let of = |kind, cause| ledger.pages(kind, cause) as f64;
        let (host, copied) = (of(OpKind::Program, Cause::Host), of(OpKind::Program, Cause::Gc));
        let erased = of(OpKind::Erase, Cause::Gc) * f64::from(self.geometry.pages_per_block);
        match self.copies_per_page() {
            None if self.window.collection.victims == 0 => Some(host - (erased - copied).max(0.0)),
            Some(copies) if copies > 0.0 => Some(host - copied / copies),
            _ => None,
        }
    }

    /// Copies for each page that a collection gains; none without a collection.
    fn copies_per_page(&self) -> Option<f64> {
        let counts = &self.window.collection;
        let valid = (counts.victims > 0).then(|| counts.victim_valid_fraction_sum / counts.victims as f64)?;
        (valid < 1.0).then(|| valid / (1.0 - valid))
    }

    /// The warning about blocks that the host filled and garbage collection has not yet reclaimed; none if they are few.
    pub(super) fn debt(&self) -> Option<String> {
        let window = self.window;
        let owed = window.free_blocks_start.saturating_sub(window.free_blocks_end);
        let filled = window.ledger.programs() as f64 / f64::from(self.geometry.pages_per_block);
        let is_chance = self.collects && self.owed().is_some_and(|owed| owed < DEVIATIONS * self.by_chance());
        // Dies that collect in step take one block each before the first of them chooses a victim.
        let is_behind = window.collection.victims > 0 || (self.is_at_work() && owed > u64::from(self.geometry.dies));
        let is_notable = is_behind && owed > 1 && owed as f64 > DEBT_MAX * filled && !is_chance;
        is_notable.then(|| {
            format!(
                "collection fell behind: the drive had {owed} erased blocks fewer at the end of the measured window than at its \
                 start, and {filled:.1} were filled in it; a longer run has a higher write amplification (measure after a longer \
                 run.warmup)"
            )
        })
    }

    /// The warning about a window that holds a part of a wave of collections.
    pub(super) fn part_of_a_wave(&self) -> Option<String> {
        let (window, programs) = (self.window, self.window.ledger.programs() as f64);
        let owed = self.owed().filter(|owed| owed.abs() > DEVIATIONS * self.by_chance())?;
        let host_pages = window.written.host_bytes as f64 / f64::from(self.geometry.page_bytes());
        let copies = self.copies_per_page().map(|copies| copies * owed);
        let is_little = copies.is_some_and(|copies| copies.abs() <= EFFECT_MAX * programs);
        if !self.collects || !self.is_at_work() || is_little || host_pages == 0.0 {
            return None;
        }
        let (dies, pages) = (self.geometry.dies, self.geometry.pages_per_block);
        let wave = u64::from(dies) * u64::from(pages);
        let (verb, level) = if owed > 0.0 { ("more", "low") } else { ("fewer", "high") };
        let balance = copies.map(|copies| {
            let (is, was) = ((programs + copies) / host_pages, programs / host_pages);
            format!(" ({was:.2}; with as many copies as these pages need, about {is:.2})")
        });
        Some(format!(
            "the measured window holds a part of a wave of collections: the host wrote {host_pages:.0} pages, {:.0} {verb} than \
             collection made room for, so that write amplification is too {level}{}; dies that collect in step do so in waves of \
             {dies} dies x {pages} pages per block = {wave} pages of the host (measure 10 waves, {} pages, or more)",
            owed.abs(),
            balance.unwrap_or_default(),
            10 * wave,
        ))
    }

    /// The warning about a write amplification that still changes within the measured window, by more than the phases of the dies do.
    pub(super) fn unsettled(&self) -> Option<String> {
        let (window, page_bytes) = (self.window, f64::from(self.geometry.page_bytes()));
        let [first, second] = window.settling.split(window.written.host_bytes, window.ledger.programs())?;
        let change = (second / first - 1.0).abs();
        let changes =
            change > UNSETTLED_MIN.max(self.halves_differ()) && window.settling.taken() >= SETTLING_ERASES_MIN;
        let [first, second] = [first, second].map(|pages| pages * page_bytes);
        changes.then(|| {
            format!(
                "write amplification has not settled: it was {first:.2} over the first half of the bytes written in the measured \
                 window and {second:.2} over the second (a longer run.warmup, until doubling it changes nothing; or the \
                 workload itself changes)"
            )
        })
    }

    /// The share by which the halves of a window differ because the dies are in other phases at its ends and in its middle. The middle
    /// counts in both halves: 1 + 1 + 4 of the variances of an end. The room for a page takes the copies, and the pages of a map on flash
    /// that these make necessary.
    fn halves_differ(&self) -> f64 {
        let (pages, programs) = (f64::from(self.geometry.pages_per_block), self.window.ledger.programs() as f64);
        let host = self.window.ledger.pages(OpKind::Program, Cause::Host) as f64;
        let of_a_page = self.copies_per_page().map_or(0.0, |copies| copies.max(programs / host.max(1.0) - 1.0));
        let of_a_page = if self.collects { of_a_page } else { 0.0 };
        // One more deviation than for a whole window: so short a stretch holds the rest of the wave that a long run keeps, too.
        let deviation = pages * (f64::from(self.geometry.dies) / 2.0).sqrt();
        (DEVIATIONS + 1.0) * of_a_page * deviation / (programs / 2.0).max(1.0)
    }
}
