//! TPFTL: DFTL with cached entries grouped by translation page.
//!
//! Source: Zhou, Wu, Huang, He, Xie, "An efficient page-level FTL to optimize address translation in flash memory", EuroSys
//! 2015, built from public summaries. Recency has two levels: each translation page with cached entries is a node with a list of
//! them, the least recently used first. The coldest node, by the mean of its entries' last uses, gives the next victim. Four
//! techniques can be switched off one by one:
//!
//! - request-level prefetching: a miss fetches the entries for the rest of its request;
//! - selective prefetching: while the number of nodes falls, as it does under sequential access, a miss fetches as many entries as
//!   are cached directly before it. This starts when the number has fallen by the threshold, and ends when it has risen by it;
//! - batch update: the write of a translation page includes all its dirty entries, which stay cached, clean;
//! - clean first: within the node the least recently used clean entry is evicted; a dirty one only if there is no clean one.
//!
//! Prefetched entries lie in the translation page that is read anyway, and evict entries of one node at most. A cached entry takes
//! 6 bytes, its offset in the page and its address; the node holds the rest.
//!
//! Deviations: the 8 bytes of a node are not counted. The coldest node is found exactly, by a tournament. Collection, trims and
//! translation pages are those of [`crate::ftl::demand`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ftl::demand::Demand;
use crate::ftl::demand::cmt::{Cmt, EvictionOrder};
use crate::ftl::demand::mapping::DemandMap;
use crate::ftl::demand::options::{self, Defaults};
use crate::ftl::{Allocation, DriveSize, Room, Scheme, Setup};
use crate::nand::Geometry;
use flashwatt_base::list::{Links, List};
use flashwatt_base::mem::FlatTable;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::Lpn;

/// Bytes of a cached entry (Zhou et al. 2015, section 4.2).
const CACHED_ENTRY_BYTES: u32 = 6;

/// Largest clock in a snapshot: the sum over the entries of a translation page stays below 2^64.
const CLOCK_MAX: u64 = 1 << 43;

options::options! {
    /// `[ftl.tpftl]`
    {
        /// Whether a miss fetches the entries for the rest of its request, within the same translation page.
        request_prefetch: Option<bool>,
        /// Whether, under sequential access, a miss fetches as many entries as are cached directly before it.
        selective_prefetch: Option<bool>,
        /// Access counts as sequential once the number of translation pages with cached entries has fallen by this number, until it
        /// has risen by it.
        selective_threshold: Option<u32>,
        /// Whether the write of a translation page includes all its dirty cached entries, which stay cached, clean.
        batch_update: Option<bool>,
        /// Whether clean entries of the coldest translation page are evicted before dirty ones.
        clean_first: Option<bool>,
    }
}

/// The options, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The options shared by the demand-paged schemes.
    #[serde(flatten)]
    pub common: options::Settings,
    /// Whether a miss fetches the entries for the rest of its request.
    pub request_prefetch: bool,
    /// Whether, under sequential access, a miss fetches as many entries as are cached before it.
    pub selective_prefetch: bool,
    /// Change of the number of nodes that starts or ends this.
    pub selective_threshold: u32,
    /// Whether clean entries are evicted first.
    pub clean_first: bool,
}

/// TPFTL.
pub type Tpftl = Demand<TwoLevel, Clustered>;

/// Marks a table with entries grouped by translation page.
pub struct Clustered;

impl Scheme for Tpftl {
    const DOC: &'static str =
        "DFTL with entries clustered by translation page, prefetching and batches (Zhou et al. 2015)";
    const COLLECTS: bool = true;
    const HAS_ROWS: bool = true;
    const STARTS_MAPPED: bool = true;
    const BEFORE_BLOCKS: u32 = 1;
    const HAS_CHECKPOINTS: bool = true;
    type Options = Options;
    type Settings = Settings;

    fn resolve(options: Options, c: &mut Checker, page_bytes: u32) -> Settings {
        const TABLE: &str = "ftl.tpftl";
        let evict_page = c.choice(field!(TABLE, options.batch_update), true);
        let cached_entry_bytes = Some(CACHED_ENTRY_BYTES);
        let defaults = Defaults { table: TABLE, cached_entry_bytes, evict_page, gc_channels: 0 };
        Settings {
            common: options.common().resolve(&defaults, c, page_bytes),
            request_prefetch: c.choice(field!(TABLE, options.request_prefetch), true),
            selective_prefetch: c.choice(field!(TABLE, options.selective_prefetch), true),
            selective_threshold: c.number(field!(TABLE, options.selective_threshold), 3, 1..=1_000_000),
            clean_first: c.choice(field!(TABLE, options.clean_first), true),
        }
    }

    fn fit_table(settings: &mut Settings, logical_pages: u64) {
        settings.common.fit_table(logical_pages);
    }

    fn table_entries(settings: &Settings) -> Option<u32> {
        Some(settings.common.cmt_entries)
    }

    fn checkpoint_bytes_max(settings: &Settings, logical_pages: u128) -> Option<u128> {
        Some(options::checkpoint_bytes_max(&settings.common, 0, logical_pages))
    }

    fn room(settings: &Settings, size: &DriveSize) -> Room {
        options::room(&settings.common, 0, size)
    }

    fn memory_bytes(settings: &Settings, geometry: &Geometry) -> u64 {
        let common = &settings.common;
        let nodes = geometry.logical_units.div_ceil(common.entries_per_page);
        let uses = 2 * size_of::<u64>() as u64 * u64::from(common.cmt_entries.min(geometry.logical_units));
        DemandMap::<TwoLevel>::memory_bytes(common, 0, geometry) + TwoLevel::memory_bytes(nodes) + uses
    }

    fn new(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Self {
        let nodes = geometry.logical_units.div_ceil(settings.common.entries_per_page);
        Demand::build(&settings.common, 0, TwoLevel::new(settings, nodes), setup, geometry)
    }
}

/// The two levels of recency.
pub struct TwoLevel {
    nodes: FlatTable<CachedPage>,
    coldest: Coldest,
    links: Vec<Links>,
    /// For each entry, its last use, on a clock that counts uses.
    used_at: Vec<u64>,
    clock: u64,
    /// Nodes added less nodes removed since access last became, or ceased to be, sequential.
    change: i64,
    is_sequential: bool,
    request_prefetch: bool,
    selective_prefetch: bool,
    threshold: i64,
    clean_first: bool,
}

/// A translation page with cached entries.
#[derive(Clone, Default)]
struct CachedPage {
    /// The entries, the least recently used first.
    entries: List,
    /// Sum of their last uses.
    used_at: u64,
}

impl TwoLevel {
    /// Bytes of memory that `nodes` nodes take, with the tournament among them.
    fn memory_bytes(nodes: u32) -> u64 {
        let leaf = (2 * size_of::<u32>() + size_of::<u64>()) as u64;
        u64::from(nodes) * size_of::<CachedPage>() as u64 + u64::from(nodes.next_power_of_two()) * leaf
    }

    fn new(settings: &Settings, nodes: u32) -> Self {
        TwoLevel {
            nodes: vec![CachedPage::default(); nodes as usize].into(),
            coldest: Coldest::new(nodes),
            links: Vec::new(),
            used_at: Vec::new(),
            clock: 0,
            change: 0,
            is_sequential: false,
            request_prefetch: settings.request_prefetch,
            selective_prefetch: settings.selective_prefetch,
            threshold: i64::from(settings.selective_threshold),
            clean_first: settings.clean_first,
        }
    }

    /// Makes an entry the most recently used of its node.
    fn put(&mut self, slot: u32, page: u32) {
        self.clock += 1;
        self.used_at[slot as usize] = self.clock;
        let node = &mut self.nodes[page as usize];
        node.entries.push_last(&mut self.links, slot);
        node.used_at += self.clock;
    }

    fn take(&mut self, slot: u32, page: u32) {
        let node = &mut self.nodes[page as usize];
        node.entries.remove(&mut self.links, slot);
        node.used_at -= self.used_at[slot as usize];
    }

    /// Updates a node's rank after its mean use has changed.
    fn rank(&mut self, page: u32) {
        let node = &self.nodes[page as usize];
        self.coldest.set(page, node.used_at.checked_div(u64::from(node.entries.len())).unwrap_or(u64::MAX));
    }

    /// Counts a change of the number of nodes by one.
    fn count(&mut self, change: i64) {
        self.change += change;
        if self.change.abs() >= self.threshold {
            self.is_sequential = self.change < 0;
            self.change = 0;
        }
    }

    /// Number of cached entries directly before that of `lpn` in its translation page.
    fn before(&self, lpn: Lpn, cmt: &Cmt) -> u32 {
        let is_there = |lpn: &u32| cmt.page_of(Lpn(*lpn)) == cmt.page_of(Lpn(lpn + 1)) && cmt.find(Lpn(*lpn)).is_some();
        (0..lpn.0).rev().take_while(is_there).count() as u32
    }
}

impl EvictionOrder for TwoLevel {
    fn used(&mut self, slot: u32, cmt: &Cmt) {
        let page = cmt.page_of(cmt.lpn(slot));
        self.take(slot, page);
        self.put(slot, page);
        self.rank(page);
    }

    fn added(&mut self, slot: u32, cmt: &Cmt) {
        if slot as usize == self.links.len() {
            self.links.push(Links::NONE);
            self.used_at.push(0);
        }
        let page = cmt.page_of(cmt.lpn(slot));
        if self.nodes[page as usize].entries.is_empty() {
            self.count(1);
        }
        self.put(slot, page);
        self.rank(page);
    }

    fn removed(&mut self, slot: u32, cmt: &Cmt) {
        let page = cmt.page_of(cmt.lpn(slot));
        self.take(slot, page);
        if self.nodes[page as usize].entries.is_empty() {
            self.count(-1);
        }
        self.rank(page);
    }

    fn victim(&self, cmt: &Cmt) -> Option<u32> {
        let entries = &self.nodes[self.coldest.get()? as usize].entries;
        let clean = || entries.iter(&self.links).find(|&slot| !cmt.is_dirty(slot));
        self.clean_first.then(clean).flatten().or(entries.first())
    }

    fn ahead(&mut self, lpn: Lpn, rest: u32, cmt: &Cmt) -> u32 {
        let of_request = if self.request_prefetch { rest } else { 0 };
        let is_selective = self.selective_prefetch && self.is_sequential;
        let wanted = if is_selective { of_request.max(self.before(lpn, cmt)) } else { of_request };
        let coldest = self.coldest.get().filter(|&page| page != cmt.page_of(lpn));
        let room = cmt.left() + coldest.map_or(0, |page| self.nodes[page as usize].entries.len());
        wanted.min(cmt.rest_of_page(lpn)).min(room.saturating_sub(1))
    }

    /// Writes the entries ordered by their last uses, which is their order within each node as well.
    fn save(&self, cmt: &Cmt, out: &mut StateWriter) {
        out.u64(self.clock);
        out.u32(self.change as i32 as u32);
        out.bool(self.is_sequential);
        let mut slots: Vec<u32> = self.nodes.iter().flat_map(|node| node.entries.iter(&self.links)).collect();
        slots.sort_unstable_by_key(|&slot| self.used_at[slot as usize]);
        out.u32(slots.len() as u32);
        for slot in slots {
            out.u64(self.used_at[slot as usize]);
            cmt.save_entry(slot, out);
        }
    }

    fn restore(&mut self, cmt: &mut Cmt, from: &mut StateReader) -> Result<(), Flaw> {
        let clock = from.u64()?;
        require(clock <= CLOCK_MAX, "an impossible number of uses")?;
        self.change = i64::from(from.u32()? as i32);
        require(self.change.abs() < self.threshold, "an impossible change of the number of nodes")?;
        self.is_sequential = from.bool()?;
        for _ in 0..from.len(cmt.capacity() as usize, "cached entries")? {
            let used_at = from.u64()?;
            require(self.clock < used_at && used_at <= clock, "uses that are not in their order")?;
            let slot = cmt.restore_entry(from)?;
            self.links.push(Links::NONE);
            self.used_at.push(0);
            self.clock = used_at - 1; // `put` adds 1
            self.put(slot, cmt.page_of(cmt.lpn(slot)));
        }
        self.clock = clock;
        (0..self.nodes.len() as u32).for_each(|page| self.rank(page));
        Ok(())
    }
}

/// The node with the least mean use, the first among equals: a tournament.
struct Coldest {
    means: Vec<u64>,
    /// Winners: the final's at place 1; the opponents for place i at places 2i and 2i + 1.
    winners: Vec<u32>,
}

impl Coldest {
    fn new(nodes: u32) -> Self {
        let width = nodes.next_power_of_two();
        let mut winners: Vec<u32> = vec![0; width as usize];
        winners.extend(0..width);
        let mut coldest = Coldest { means: vec![u64::MAX; width as usize], winners };
        (1..width as usize).rev().for_each(|place| coldest.play(place));
        coldest
    }

    fn play(&mut self, place: usize) {
        let (a, b) = (self.winners[2 * place], self.winners[2 * place + 1]);
        self.winners[place] = if self.means[b as usize] < self.means[a as usize] { b } else { a };
    }

    fn set(&mut self, node: u32, mean: u64) {
        self.means[node as usize] = mean;
        let mut place = (self.means.len() + node as usize) / 2;
        while place > 0 {
            self.play(place);
            place /= 2;
        }
    }

    fn get(&self) -> Option<u32> {
        let winner = self.winners[1];
        (self.means[winner as usize] < u64::MAX).then_some(winner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_tournament_finds_the_least(nodes in 1u32..40, changes in prop::collection::vec((0u32..40, 0u64..50), 1..200)) {
            let mut coldest = Coldest::new(nodes);
            let mut means = vec![u64::MAX; nodes as usize];
            for (node, mean) in changes {
                let (node, mean) = (node % nodes, if mean == 0 { u64::MAX } else { mean });
                coldest.set(node, mean);
                means[node as usize] = mean;
                let least = (0..nodes).min_by_key(|&node| means[node as usize]).filter(|&node| means[node as usize] < u64::MAX);
                prop_assert_eq!(coldest.get(), least);
            }
        }
    }

    fn two_level() -> TwoLevel {
        let common = options::Settings {
            cmt_entries: 100,
            cmt_fraction: None,
            entry_bytes: 8,
            entries_per_page: 10,
            evict_page: true,
            fetch_on_write: true,
            allocation: Allocation::Dynamic,
            separate_frontiers: true,
            map_reserved_blocks: None,
            gc_channels: 0,
        };
        let settings = Settings {
            common,
            request_prefetch: true,
            selective_prefetch: true,
            selective_threshold: 2,
            clean_first: true,
        };
        TwoLevel::new(&settings, 10)
    }

    fn come(lpns: &[u32], cmt: &mut Cmt, order: &mut TwoLevel) {
        for &lpn in lpns {
            let slot = cmt.insert(Lpn(lpn), None);
            order.added(slot, cmt);
        }
    }

    fn go(lpn: u32, cmt: &mut Cmt, order: &mut TwoLevel) {
        let slot = cmt.find(Lpn(lpn)).expect("it is there");
        order.removed(slot, cmt);
        cmt.remove(slot);
    }

    #[test]
    fn the_coldest_page_gives_its_least_recent_clean_entry() {
        let (mut cmt, mut order) = (Cmt::new(8, 100, 10, true), two_level());
        come(&[1, 2, 11, 12, 3], &mut cmt, &mut order); // mean uses (1 + 2 + 5)/3 < (3 + 4)/2
        let victim = |cmt: &Cmt, order: &TwoLevel| order.victim(cmt).map(|slot| cmt.lpn(slot).0);
        assert_eq!(victim(&cmt, &order), Some(1));
        assert!(cmt.soil(Lpn(1)));
        assert_eq!(victim(&cmt, &order), Some(2), "clean first");
        assert!(cmt.soil(Lpn(2)) && cmt.soil(Lpn(3)));
        assert_eq!(victim(&cmt, &order), Some(1), "all are dirty");
        order.used(cmt.find(Lpn(1)).expect("it is there"), &cmt); // (6 + 2 + 5)/3 > (3 + 4)/2
        assert_eq!(victim(&cmt, &order), Some(11));
    }

    #[test]
    fn a_miss_brings_the_rest_of_its_request_within_the_page() {
        let (mut cmt, mut order) = (Cmt::new(100, 100, 10, true), two_level());
        assert_eq!(order.ahead(Lpn(3), 4, &cmt), 4);
        assert_eq!(order.ahead(Lpn(8), 4, &cmt), 1, "to the end of the translation page");
        come(&(50..100).collect::<Vec<_>>(), &mut cmt, &mut order);
        come(&(11..50).collect::<Vec<_>>(), &mut cmt, &mut order);
        come(&(0..10).collect::<Vec<_>>(), &mut cmt, &mut order);
        assert_eq!(order.ahead(Lpn(10), 9, &cmt), 9, "one entry is left, and ten can go from one page");
    }

    #[test]
    fn sequential_access_brings_as_many_as_stand_before() {
        let (mut cmt, mut order) = (Cmt::new(100, 100, 10, true), two_level());
        come(&[1, 2, 3, 11, 21, 31], &mut cmt, &mut order);
        assert_eq!(order.ahead(Lpn(4), 0, &cmt), 0, "nodes have come");
        go(11, &mut cmt, &mut order);
        go(21, &mut cmt, &mut order);
        assert_eq!(order.ahead(Lpn(4), 0, &cmt), 3, "two nodes have gone");
        assert_eq!(order.ahead(Lpn(7), 0, &cmt), 0, "there is nothing right before it");
        come(&[11, 21], &mut cmt, &mut order);
        assert_eq!(order.ahead(Lpn(4), 0, &cmt), 0, "two have come again");
    }
}
