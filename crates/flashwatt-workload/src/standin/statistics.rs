//! Statistics of a stand-in's requests, for comparison with the published ones.

use super::Standin;
use flashwatt_base::error::Error;
use flashwatt_base::list::{Links, List};
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, Workload};

/// Statistics of a stream of requests, as the papers of the traces define them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub write_bytes: u64,
    /// Requests that start where the request before ended; both of any kind.
    pub sequential: u64,
    /// Accesses to pages of 4 KiB: every page of every request counts.
    pub page_accesses: u64,
    /// Accesses to pages that the cache held.
    pub hits: u64,
    /// Pages of 4 KiB that were written, each counted once.
    pub written_pages: u64,
    /// Blocks of [`BLOCK_PAGES`] consecutive pages with such a page.
    pub written_blocks: u64,
    /// Time from the arrival of the first request to that of the last.
    pub duration_ns: u64,
}

impl Statistics {
    /// Number of requests.
    pub fn requests(&self) -> u64 {
        self.reads + self.writes
    }

    /// Share of reads by bytes, in percent.
    pub fn read_bytes_percent(&self) -> f64 {
        percent(self.read_bytes, self.read_bytes + self.write_bytes)
    }

    /// Share of reads by count, in percent.
    pub fn read_percent(&self) -> f64 {
        percent(self.reads, self.requests())
    }

    /// Share of sequential requests, in percent.
    pub fn sequential_percent(&self) -> f64 {
        percent(self.sequential, self.requests())
    }

    /// Hit ratio of the cache, in percent.
    pub fn hit_percent(&self) -> f64 {
        percent(self.hits, self.page_accesses)
    }

    /// Density of the footprint of writes: the share of the pages of written blocks that were written, in percent.
    pub fn written_density_percent(&self) -> f64 {
        percent(self.written_pages, self.written_blocks * BLOCK_PAGES)
    }

    /// Mean length of reads in KiB.
    pub fn read_kib(&self) -> f64 {
        self.read_bytes as f64 / self.reads.max(1) as f64 / 1024.0
    }

    /// Mean length of writes in KiB.
    pub fn write_kib(&self) -> f64 {
        self.write_bytes as f64 / self.writes.max(1) as f64 / 1024.0
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

const PAGE_BYTES: u64 = 4096;
/// Pages of a block of EnergySim's case studies (Table V).
pub const BLOCK_PAGES: u64 = 128;

/// Runs a workload to its end and counts its requests; every request completes at once. The hit ratio is that of an LRU
/// cache of `cache_entries` pages, empty at the start. This is the ratio of a demand-paged map with one entry for each
/// page, if only host requests use the map.
///
/// # Errors
/// Any error of the workload.
pub fn statistics(workload: &mut dyn Workload, drive_bytes: u64, cache_entries: u32) -> Result<Statistics, Error> {
    let mut cache = Lru::new(drive_bytes.div_ceil(PAGE_BYTES) as usize, cache_entries);
    let mut written = Written::new(drive_bytes);
    let (mut statistics, mut now, mut first, mut end) = (Statistics::default(), 0, None, None);
    loop {
        match workload.next(now)? {
            Next::Request(tag, request) => {
                workload.completed(&Completion::done(tag), now);
                statistics.sequential += u64::from(end == Some(request.offset_bytes));
                statistics.add(&request, &mut cache);
                written.add(&request);
                end = Some(request.offset_bytes + request.bytes);
                statistics.duration_ns = request.arrival_ns - *first.get_or_insert(request.arrival_ns);
            }
            Next::WaitUntil(at) => now = at,
            Next::Measure => {}
            Next::WaitForCompletion => unreachable!("every request has completed"),
            Next::End => {
                (statistics.written_pages, statistics.written_blocks) = (written.pages.count, written.blocks.count);
                return Ok(statistics);
            }
        }
    }
}

impl Statistics {
    fn add(&mut self, request: &Request, cache: &mut Lru) {
        match request.kind {
            RequestKind::Read => {
                self.reads += 1;
                self.read_bytes += request.bytes;
            }
            _ => {
                self.writes += 1;
                self.write_bytes += request.bytes;
            }
        }
        let pages = request.offset_bytes / PAGE_BYTES..(request.offset_bytes + request.bytes).div_ceil(PAGE_BYTES);
        self.page_accesses += pages.end - pages.start;
        self.hits += pages.filter(|&page| cache.touch(page as usize)).count() as u64;
    }
}

/// The pages that were written, and the blocks of [`BLOCK_PAGES`] pages that hold them.
struct Written {
    pages: NumberSet,
    blocks: NumberSet,
}

impl Written {
    fn new(drive_bytes: u64) -> Self {
        let pages = drive_bytes.div_ceil(PAGE_BYTES);
        Written { pages: NumberSet::new(pages), blocks: NumberSet::new(pages.div_ceil(BLOCK_PAGES)) }
    }

    fn add(&mut self, request: &Request) {
        if request.kind != RequestKind::Write {
            return;
        }
        for page in request.offset_bytes / PAGE_BYTES..(request.offset_bytes + request.bytes).div_ceil(PAGE_BYTES) {
            self.pages.add(page);
            self.blocks.add(page / BLOCK_PAGES);
        }
    }
}

/// A set of numbers below a bound, and their count.
struct NumberSet {
    words: Vec<u64>,
    count: u64,
}

impl NumberSet {
    fn new(bound: u64) -> Self {
        NumberSet { words: vec![0; bound.div_ceil(64) as usize], count: 0 }
    }

    fn add(&mut self, number: u64) {
        let (word, bit) = (&mut self.words[(number / 64) as usize], 1 << (number % 64));
        self.count += u64::from(*word & bit == 0);
        *word |= bit;
    }
}

/// An LRU cache of pages.
struct Lru {
    /// For each page, the number of its entry plus 1; 0 if it has none.
    entry_of: Vec<u32>,
    page_of: Vec<usize>,
    links: Vec<Links>,
    order: List,
    capacity: u32,
}

impl Lru {
    fn new(pages: usize, capacity: u32) -> Self {
        let (page_of, links) = (Vec::new(), Vec::new());
        Lru { entry_of: vec![0; pages], page_of, links, order: List::default(), capacity: capacity.max(1) }
    }

    /// Accesses a page: brings it into the cache. Returns whether it was there before.
    fn touch(&mut self, page: usize) -> bool {
        let held = self.entry_of[page].checked_sub(1);
        let entry = held.unwrap_or_else(|| self.entry_for(page));
        if held.is_some() {
            self.order.remove(&mut self.links, entry);
        }
        self.order.push_last(&mut self.links, entry);
        held.is_some()
    }

    /// An entry for a page that was not in the cache: a new one, or that of the page evicted for it.
    fn entry_for(&mut self, page: usize) -> u32 {
        let entry = match self.order.first() {
            Some(oldest) if self.order.len() == self.capacity => {
                self.order.remove(&mut self.links, oldest);
                self.entry_of[std::mem::replace(&mut self.page_of[oldest as usize], page)] = 0;
                oldest
            }
            _ => {
                self.page_of.push(page);
                self.links.push(Links::NONE);
                self.links.len() as u32 - 1
            }
        };
        self.entry_of[page] = entry + 1;
        entry
    }
}

/// A published statistic beside that of the stand-in.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Name and unit of the statistic.
    pub name: &'static str,
    /// Published figure.
    pub published: f64,
    /// Figure of the stand-in's requests.
    pub generated: f64,
    /// Greatest permitted difference of the two figures.
    pub tolerance: f64,
}

impl Measure {
    /// Whether the two figures differ by at most the tolerance.
    pub fn holds(&self) -> bool {
        (self.generated - self.published).abs() <= self.tolerance
    }
}

/// Size of the drive of the published statistics: 460 GB (EnergySim, Table V).
const DRIVE_BYTES: f64 = 460.0 * 1e9;
/// Mapping entries in the cache of that drive: 8 MiB of 8 bytes each.
const CACHE_ENTRIES: f64 = 1_048_576.0;

/// Least number of requests for shares and means at a scale that would leave fewer, so that random variation stays
/// below the tolerances. A stand-in with a published hit ratio keeps the number of requests of the scale.
const SAMPLE_MIN: u64 = 100_000;

/// Statistics of a stand-in at this scale beside the published ones; the sizes of drive and cache are scaled too.
///
/// Tolerances: reads ± 1.5 points, lengths ± 5 %, sequential ± 3 points, hits ± 1.5 points.
///
/// # Errors
/// Those of [`statistics`]; a stand-in has none of its own.
pub fn measures(standin: &Standin, scale: f64, seed: u64) -> Result<(Statistics, Vec<Measure>), Error> {
    let drive_bytes = (DRIVE_BYTES * scale) as u64;
    let requests = standin.requests(scale);
    let enough = scale == 1.0 || standin.data.published.hit_percent.is_some();
    let requests = if enough { requests } else { requests.max(SAMPLE_MIN) };
    let mut workload = standin.open(scale, requests, drive_bytes, seed);
    let got = statistics(workload.as_mut(), drive_bytes, (CACHE_ENTRIES * scale) as u32)?;
    let published = &standin.data.published;
    let of = |name, published: f64, generated, tolerance| Measure { name, published, generated, tolerance };
    let points = [
        ("reads, % by bytes", &published.read_bytes_percent, got.read_bytes_percent(), 1.5),
        ("reads, %", &published.read_percent, got.read_percent(), 1.5),
        ("map hits, %", &published.hit_percent, got.hit_percent(), 1.5),
    ];
    let (read_kib, write_kib) = (published.read_kib.value, published.write_kib.value);
    let always = [
        of("sequential, %", published.sequential_percent.value, got.sequential_percent(), 3.0),
        of("mean read, KiB", read_kib, got.read_kib(), 0.05 * read_kib),
        of("mean write, KiB", write_kib, got.write_kib(), 0.05 * write_kib),
    ];
    let given = points.into_iter().filter_map(|(name, published, generated, tolerance)| {
        published.as_ref().map(|published| of(name, published.value, generated, tolerance))
    });
    Ok((got.clone(), given.chain(always).collect()))
}
