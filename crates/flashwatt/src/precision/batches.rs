//! The measured window in batches of equal numbers of requests.

use super::figures::{Figure, FigureOf};
use flashwatt_base::stats::Histogram;
use flashwatt_base::units::Nanos;
use flashwatt_core::kernel::stop::Look;

/// Batches of a window that is judged: from this number on.
pub(super) const LEAST: usize = 128;
/// At this number two batches become one.
pub(super) const MOST: usize = 2 * LEAST;

/// Sums of a batch, or since the window began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    pub ns: f64,
    pub requests: f64,
    pub reads: f64,
    pub writes: f64,
    pub read_bytes: f64,
    pub write_bytes: f64,
    /// Of all requests, of reads, and of writes.
    pub latency_ns: f64,
    pub read_latency_ns: f64,
    pub write_latency_ns: f64,
    pub host_bytes: f64,
    pub programmed_bytes: f64,
    pub energy_j: f64,
}

impl Totals {
    /// What a rule sees.
    pub(super) fn new(look: &Look<'_>, page_bytes: f64) -> Self {
        let done = look.completed;
        let [reads, writes, others] = [&done.reads, &done.writes, &done.others].map(|of| of.sum() as f64);
        Totals {
            ns: (look.now_ns - look.start_ns) as f64,
            requests: done.requests() as f64,
            reads: done.reads.count() as f64,
            writes: done.writes.count() as f64,
            read_bytes: done.read_bytes as f64,
            write_bytes: done.write_bytes as f64,
            latency_ns: reads + writes + others,
            read_latency_ns: reads,
            write_latency_ns: writes,
            host_bytes: look.flash.host_bytes as f64,
            programmed_bytes: look.flash.programs as f64 * page_bytes,
            energy_j: look.energy_j,
        }
    }

    /// What was added to an earlier total.
    fn since(&self, before: &Totals) -> Totals {
        Totals {
            ns: self.ns - before.ns,
            requests: self.requests - before.requests,
            reads: self.reads - before.reads,
            writes: self.writes - before.writes,
            read_bytes: self.read_bytes - before.read_bytes,
            write_bytes: self.write_bytes - before.write_bytes,
            latency_ns: self.latency_ns - before.latency_ns,
            read_latency_ns: self.read_latency_ns - before.read_latency_ns,
            write_latency_ns: self.write_latency_ns - before.write_latency_ns,
            host_bytes: self.host_bytes - before.host_bytes,
            programmed_bytes: self.programmed_bytes - before.programmed_bytes,
            energy_j: self.energy_j - before.energy_j,
        }
    }
}

/// Totals since the window began, at the end of each batch.
pub(super) struct Batches {
    /// Requests of a batch.
    pub requests: u64,
    ends: Vec<Totals>,
    /// The latencies that each figure asked for needs, none of a ratio; at the end of each batch.
    latencies: Vec<Option<Vec<Histogram>>>,
}

impl Batches {
    pub(super) fn new(figures: &[Figure], requests: u64) -> Self {
        let latencies = figures.iter().map(|figure| figure.share().map(|_| Vec::new())).collect();
        Batches { requests, ends: Vec::new(), latencies }
    }

    /// Adds the batch that ends now. Returns true if two batches became one.
    pub(super) fn end(&mut self, figures: &[Figure], look: &Look<'_>, totals: Totals) -> bool {
        self.ends.push(totals);
        for (figure, kept) in figures.iter().zip(&mut self.latencies) {
            if let (FigureOf::Quantile(kind, _), Some(kept)) = (figure.of, kept) {
                kept.push(kind.latencies(look.completed));
            }
        }
        let is_full = self.ends.len() == MOST;
        if is_full {
            every_second(&mut self.ends);
            self.latencies.iter_mut().flatten().for_each(every_second);
            self.requests *= 2;
        }
        is_full
    }

    /// Forgets all, and goes on with batches of this many requests.
    pub(super) fn begin_anew(&mut self, requests: u64) {
        self.requests = requests;
        self.ends.clear();
        self.latencies.iter_mut().flatten().for_each(Vec::clear);
    }

    /// Number of batches.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Sums since the window began.
    pub(super) fn totals(&self) -> Totals {
        self.ends.last().copied().unwrap_or_default()
    }

    /// The sums of each batch.
    pub(super) fn each(&self) -> impl Iterator<Item = Totals> + '_ {
        let before = std::iter::once(Totals::default()).chain(self.ends.iter().copied());
        self.ends.iter().zip(before).map(|(end, before)| end.since(&before))
    }

    /// The latencies of the window for the figure at this place.
    pub(super) fn latencies(&self, place: usize) -> Option<&Histogram> {
        self.latencies[place].as_ref()?.last()
    }

    /// A figure over the second half of the batches; none without what it is made of.
    pub(super) fn second_half(&self, figure: &Figure, place: usize) -> Option<f64> {
        let middle = (self.ends.len() / 2).checked_sub(1)?;
        match figure.of {
            FigureOf::Ratio { over, under, factor } => {
                let part = self.totals().since(&self.ends[middle]);
                (under(&part) > 0.0).then(|| over(&part) * factor / under(&part))
            }
            FigureOf::Quantile(_, share) => {
                let kept = self.latencies[place].as_ref()?;
                kept.last()?.since(&kept[middle]).quantile(share).map(|ns| ns as f64)
            }
        }
    }

    /// Of each batch the number of latencies up to a value, and of all.
    pub(super) fn up_to(&self, place: usize, value: Nanos) -> Vec<(f64, f64)> {
        let (mut below, mut all) = (0, 0);
        let kept = self.latencies[place].iter().flatten();
        kept.map(|latencies| {
            let before = (below, all);
            (below, all) = (latencies.up_to(value), latencies.count());
            ((below - before.0) as f64, (all - before.1) as f64)
        })
        .collect()
    }
}

/// Keeps the second of every two.
fn every_second<T>(list: &mut Vec<T>) {
    let mut is_second = true;
    list.retain(|_| {
        is_second = !is_second;
        is_second
    });
}
