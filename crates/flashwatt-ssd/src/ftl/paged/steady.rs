//! The steady state of a page-mapped drive under uniform random writes of single pages and greedy collection, drawn from
//! theory instead of simulated.
//!
//! Mean-field greedy: victims have j valid pages. A block of b pages is filled, loses pages one by one and is collected at
//! j. In the steady state a block has i valid pages with probability b·ρ / (i·(b − j)) for j < i ≤ b, ρ being the share of
//! the programmed pages that are valid; and b·ρ·(H_b − H_j) / (b − j) = 1 gives j. Within 0.1 % of brute force in
//! write amplification at 128 pages per block (Van Houdt 2013; Desnoyers 2012). What is not closed (frontiers, victims, free blocks)
//! is that of a drive in full work: [`super::phases`].

use super::Allocation;
use super::pages::{BlockRole, Pages};
use super::phases::{DiePhase, PhaseRules, Phases, Victim, WAVES};
use crate::blocks::{BlockTable, Scatter};
use crate::ftl::flat_map::FlatMap;
use crate::nand::{Array, Geometry, Pace};
use flashwatt_base::error::Error;
use flashwatt_base::mem::prefetch;
use flashwatt_base::progress::Watch;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::{DieId, Lpn};

/// Valid pages of a victim under greedy collection of uniform writes: `b` pages per block, `rho` valid / programmed.
///
/// Solves b·ρ·(H_b − H_j) / (b − j) = 1 for a real j by bisection, H interpolated linearly between whole numbers.
/// The write amplification is then b / (b − j).
pub fn greedy_victim_valid(b: u32, rho: f64) -> f64 {
    let b = f64::from(b);
    let top = harmonic(b);
    let (mut low, mut high) = (0.0, b - 1.0);
    for _ in 0..60 {
        let j = 0.5 * (low + high);
        if b * rho * (top - harmonic(j)) / (b - j) > 1.0 { low = j } else { high = j }
    }
    low
}

fn harmonic(x: f64) -> f64 {
    let whole = x.floor();
    let sum: f64 = (1..=whole as u64).map(|i| 1.0 / i as f64).sum();
    sum + (x - whole) / (whole + 1.0)
}

/// The parts of a fresh drive that the steady state fills, and the drive's random numbers.
pub(in crate::ftl) struct FreshDrive<'a> {
    pub map: &'a mut FlatMap,
    pub blocks: &'a mut BlockTable,
    pub array: &'a mut Array,
    pub rng: &'a mut Rng,
}

/// Lays the steady state down on a fresh drive and fills its map. Frontiers, free blocks and victims are those of a drive in the middle of
/// endless writes at this pace ([`Phases`]). `watch` counts the pages and may end the work. `by_formula`: the map and the table of blocks
/// know the pages by a formula. It takes no time and memory for each page, but each first look-up of a page takes longer. The state
/// is the same.
pub(in crate::ftl) fn lay_down(
    geometry: &Geometry,
    pages: &mut Pages,
    drive: FreshDrive,
    pace: Pace,
    by_formula: bool,
    watch: &mut Watch,
) -> Result<(), Error> {
    let FreshDrive { map, blocks, array, rng } = drive;
    let (allocation, logical) = (pages.allocation(), u64::from(geometry.logical_units));
    let Shares { dies, victim_valid, next_die } = shares(geometry, pages.rules(pace), rng);
    let mut lpns = Scattered::new(logical);
    let mut scatters = Vec::new();
    for (die, share) in (0..geometry.dies).map(DieId).zip(&dies) {
        let (first, stride) = match allocation {
            Allocation::Dynamic => (0, 1),
            Allocation::Static => (die.0, geometry.dies),
        };
        if allocation == Allocation::Static {
            lpns = Scattered::new(share.valid);
        }
        if allocation == Allocation::Static || die.0 == 0 {
            scatters.push(Scatter { n: lpns.n as u32, step: lpns.step as u32 });
        }
        let contents = share.contents(geometry.pages_per_block, victim_valid, rng);
        let mut own = geometry.blocks_of(die);
        for content in contents {
            let Some(block) = own.next() else { break };
            let BlockFill { programmed, valid, .. } = content;
            array.lay_down(block, programmed);
            let mut picks = Picks::new(&content, rng);
            if by_formula {
                blocks.lay_down_valid(block, programmed, |_| picks.is_valid());
            } else {
                let map = map.entries();
                blocks.lay_down(block, programmed, |ppn| {
                    picks.is_valid().then(|| {
                        prefetch(map, (first + stride * lpns.ahead()) as usize);
                        let lpn = Lpn(first + stride * lpns.next());
                        map[lpn.idx()] = ppn.0 + 1;
                        lpn
                    })
                });
            }
            pages.take_over(die, block, programmed, content.role, blocks);
            watch.step(u64::from(programmed - valid))?;
            watch.done(u64::from(valid))?;
        }
    }
    pages.begin_with(DieId(next_die));
    if by_formula {
        map.start(blocks.start_scattered(scatters));
    }
    Ok(())
}

/// What the dies hold.
struct Shares {
    dies: Vec<DieShare>,
    /// Valid pages of a victim, on average.
    victim_valid: f64,
    next_die: u32,
}

/// What a die holds.
#[derive(Clone, Copy)]
struct DieShare {
    /// Valid pages, in all of its blocks.
    valid: u64,
    /// Closed blocks that are no victims.
    closed: u32,
    /// Valid pages in these.
    in_closed: u64,
    /// Pages programmed in the open block for the host (or for both), and in the one for copies; 0 if there is none.
    host: u32,
    gc: u32,
    victim: Option<Victim>,
}

/// What is in a block, and the block's role.
struct BlockFill {
    programmed: u32,
    /// Valid pages before the collection of a victim has begun.
    valid_at_first: u32,
    valid: u32,
    role: BlockRole,
}

/// Draws which pages of a block are valid: selection sampling, all choices equally likely. Of a victim the first ones are copied already.
struct Picks<'a> {
    rng: &'a mut Rng,
    left: u32,
    rest: u32,
    copied: u32,
}

impl<'a> Picks<'a> {
    fn new(content: &BlockFill, rng: &'a mut Rng) -> Self {
        let BlockFill { programmed, valid_at_first, valid, .. } = *content;
        Picks { rng, left: valid_at_first, rest: programmed, copied: valid_at_first - valid }
    }

    /// Whether the next page is valid.
    fn is_valid(&mut self) -> bool {
        let was_valid = self.rng.below(u64::from(self.rest)) < u64::from(self.left);
        self.rest -= 1;
        self.left -= u32::from(was_valid);
        let is_copied = was_valid && self.copied > 0;
        self.copied -= u32::from(is_copied);
        was_valid && !is_copied
    }
}

/// Draws what the dies hold: first with the victims of a drive without open blocks, for a few waves, then with those of the closed blocks
/// that it has on average.
fn shares(geometry: &Geometry, rules: PhaseRules, rng: &mut Rng) -> Shares {
    const WAVES_AT_FIRST: u64 = 4;
    let blocks = geometry.blocks_per_die - geometry.reserves.total() - rules.static_blocks;
    let (dies, b) = (f64::from(geometry.dies), f64::from(geometry.pages_per_block));
    let mut closed = dies * f64::from(blocks - rules.low_watermark);
    let mut valid = rules.valid as f64;
    let mut shares = Vec::new();
    let mut next_die = 0;
    for waves in [WAVES_AT_FIRST, WAVES] {
        let victim_valid = |valid: f64| greedy_victim_valid(geometry.pages_per_block, valid / (closed * b));
        let (at, above) = (victim_valid(valid), victim_valid((valid + dies).min(closed * b)));
        let rules = PhaseRules { victim_valid: at, rise: above - at, ..rules.clone() };
        let phases = Phases::after(waves, &rules, rng);
        shares = DieShare::of_all(&phases.dies, &rules, blocks);
        closed = shares.iter().map(|share| f64::from(share.closed)).sum::<f64>().max(1.0);
        valid = shares.iter().map(|share| share.in_closed as f64).sum();
        next_die = phases.next_die;
    }
    let victim_valid = greedy_victim_valid(geometry.pages_per_block, (valid / (closed * b)).min(1.0));
    Shares { dies: shares, victim_valid, next_die }
}

impl DieShare {
    /// A die holds as many pages as every other one, of all or of its own (each of the drive's number of dies), and its surplus.
    fn of_all(phases: &[DiePhase], rules: &PhaseRules, blocks: u32) -> Vec<DieShare> {
        let (logical, dies) = (rules.valid, u64::from(rules.dies));
        let most = 0.9 * f64::from(rules.pages_per_block); // a die has room for a block more than its own pages
        let surplus: Vec<f64> = phases.iter().map(|phase| phase.surplus.clamp(-most, most)).collect();
        let mean = surplus.iter().sum::<f64>() / surplus.len() as f64;
        let (mut sum, mut before) = (0.0, 0);
        let valid = surplus.iter().zip(1..).map(|(surplus, die)| {
            sum += surplus - mean;
            let upto =
                if die == dies { logical } else { ((logical * die / dies) as f64 + sum.round()).max(0.0) as u64 };
            let own = upto.saturating_sub(before);
            before = upto.max(before);
            own
        });
        let of_address = |die: u64| (logical + dies - 1 - die) / dies;
        let valid: Vec<u64> = match rules.allocation {
            Allocation::Dynamic => valid.collect(),
            Allocation::Static => (0..dies).map(of_address).collect(),
        };
        phases.iter().zip(valid).map(|(phase, valid)| DieShare::new(phase, valid, rules, blocks)).collect()
    }

    fn new(phase: &DiePhase, valid: u64, rules: &PhaseRules, blocks: u32) -> DieShare {
        let written =
            |left: u32| if left == 0 { 0 } else { (rules.pages_per_block - left) / rules.row_pages * rules.row_pages };
        let (host, gc) = (written(phase.host_left), written(phase.gc_left));
        let open = u32::from(phase.host_left > 0) + u32::from(phase.gc_left > 0);
        let taken = phase.free + open + u32::from(phase.victim.is_some());
        let elsewhere = u64::from(host + gc + phase.victim.map_or(0, |victim| victim.left));
        let closed = blocks.saturating_sub(taken);
        match valid.checked_sub(elsewhere) {
            Some(in_closed) if in_closed < u64::from(closed) * u64::from(rules.pages_per_block) => {
                DieShare { valid, closed, in_closed, host, gc, victim: phase.victim }
            }
            // So few spare blocks do not allow for a drive in full work: a die at rest.
            _ => {
                let closed = blocks - rules.low_watermark;
                DieShare { valid, closed, in_closed: valid, host: 0, gc: 0, victim: None }
            }
        }
    }

    /// The contents of its blocks that are not free.
    fn contents(&self, pages_per_block: u32, victim_valid: f64, rng: &mut Rng) -> Vec<BlockFill> {
        let block = |role, programmed, valid_at_first, valid| BlockFill { programmed, valid_at_first, valid, role };
        let levels = fill_levels(pages_per_block, self.closed as usize, self.in_closed, victim_valid, rng);
        let closed = levels.into_iter().map(|valid| block(BlockRole::Closed, pages_per_block, valid, valid));
        let open = [(BlockRole::Host, self.host), (BlockRole::Gc, self.gc)].into_iter().filter(|(_, pages)| *pages > 0);
        let open = open.map(|(role, pages)| block(role, pages, pages, pages));
        let victim = self.victim.map(|Victim { valid, left }| block(BlockRole::Victim, pages_per_block, valid, left));
        closed.chain(open).chain(victim).collect()
    }
}

/// Numbers of valid pages of `blocks` blocks, in random order, with the sum `valid`. Victims have `victim_valid` on average.
fn fill_levels(b: u32, blocks: usize, valid: u64, victim_valid: f64, rng: &mut Rng) -> Vec<u32> {
    let cumulative = cumulative_shares(b, victim_valid);
    let total = cumulative[b as usize];
    let mut level = 1;
    let mut levels: Vec<u32> = (0..blocks)
        .map(|k| {
            let u = (k as f64 + 0.5) / blocks as f64 * total;
            while level < b && cumulative[level as usize] <= u {
                level += 1;
            }
            level
        })
        .collect();
    even_out(&mut levels, b, valid);
    for k in (1..levels.len()).rev() {
        levels.swap(k, rng.below(k as u64 + 1) as usize);
    }
    levels
}

/// Fraction of blocks with at most i valid pages, for i in 0..=b, up to a constant factor.
fn cumulative_shares(b: u32, j: f64) -> Vec<f64> {
    let mut sum = 0.0;
    (0..=b)
        .map(|i| {
            let weight = (f64::from(i) - j).clamp(0.0, 1.0); // the level of a fractional j counts in part
            if i > 0 {
                sum += weight / f64::from(i);
            }
            sum
        })
        .collect()
}

/// Adds or removes single pages until the levels sum to `valid`; rounding leaves a small difference.
fn even_out(levels: &mut [u32], b: u32, valid: u64) {
    let mut sum: u64 = levels.iter().map(|&level| u64::from(level)).sum();
    let mut at = 0;
    while sum != valid {
        let level = &mut levels[at];
        if sum < valid && *level < b {
            *level += 1;
            sum += 1;
        } else if sum > valid && *level > 0 {
            *level -= 1;
            sum -= 1;
        }
        at = (at + 7919) % levels.len();
        if levels.len().is_multiple_of(7919) {
            at = (at + 1) % levels.len();
        }
    }
}

/// All numbers below n, each once, in scattered order: multiples of a number that is coprime to n and near n / φ.
struct Scattered {
    n: u64,
    step: u64,
    at: u64,
    /// The number that comes [`AHEAD`] numbers later.
    ahead: u64,
}

/// Entries of the map that are fetched ahead: each lies in a cache line, and often in a memory page, of its own.
const AHEAD: u64 = 16;

impl Scattered {
    fn new(n: u64) -> Self {
        const INVERSE_GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;
        let mut step = ((n as f64 * INVERSE_GOLDEN_RATIO) as u64).max(1) % n.max(1);
        while gcd(step, n) != 1 {
            step += 1;
        }
        let ahead = (u128::from(step) * u128::from(AHEAD) % u128::from(n.max(1))) as u64;
        Scattered { n, step, at: 0, ahead }
    }

    fn next(&mut self) -> u32 {
        self.at = self.after(self.at);
        self.at as u32
    }

    /// The number that [`Self::next`] gives [`AHEAD`] calls after the coming one.
    fn ahead(&mut self) -> u32 {
        self.ahead = self.after(self.ahead);
        self.ahead as u32
    }

    fn after(&self, number: u64) -> u64 {
        let next = number + self.step; // less than 2 n
        next - if next < self.n { 0 } else { self.n }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::fixture::{Heeded, Shape, device};
    use crate::nand::settings::{DeviceTable, ReadTransfer};

    #[test]
    fn theory_gives_the_prototypes_write_amplification() {
        // 128 pages per block, 10 % more physical than logical pages, all programmed: 5.98 was measured.
        let j = greedy_victim_valid(128, 1.0 / 1.1 / (1.0 - 0.0));
        let waf = 128.0 / (128.0 - j);
        assert!((5.0..5.9).contains(&waf), "{waf}");
    }

    #[test]
    fn every_logical_page_comes_once() {
        let mut seen = vec![false; 1000];
        let mut lpns = Scattered::new(1000);
        for _ in 0..1000 {
            assert!(!std::mem::replace(&mut seen[lpns.next() as usize], true));
        }
    }

    #[test]
    fn what_lies_ahead_comes_later() {
        let mut lpns = Scattered::new(1000);
        let (ahead, next): (Vec<u32>, Vec<u32>) = (0..500).map(|_| (lpns.ahead(), lpns.next())).unzip();
        assert_eq!(ahead[..500 - AHEAD as usize], next[AHEAD as usize..]);
    }

    /// The start state of a small drive: its map, its blocks, and the next random number.
    fn start(
        geometry: &Geometry,
        device: &DeviceTable,
        allocation: Allocation,
        by_formula: bool,
    ) -> (FlatMap, BlockTable, u64) {
        let mut pages = Pages::new(allocation, false, &Heeded::new().setup(), geometry);
        let mut array = Array::new(geometry.clone(), device.nand.program_order);
        let (mut map, mut blocks, mut rng) = (FlatMap::new(geometry), BlockTable::new(geometry.clone()), Rng::new(7));
        let drive = FreshDrive { map: &mut map, blocks: &mut blocks, array: &mut array, rng: &mut rng };
        let mut go_on = |_: &flashwatt_base::progress::Progress| true;
        let pace = Pace::new(device, ReadTransfer::OnBus);
        let mut watch = Watch::new(&mut go_on);
        lay_down(geometry, &mut pages, drive, pace, by_formula, &mut watch).expect("nobody ends the work");
        (map, blocks, rng.bits())
    }

    #[test]
    fn a_formula_gives_the_state_of_the_tables() {
        for (channels, allocation) in [(4, Allocation::Dynamic), (4, Allocation::Static), (1, Allocation::Static)] {
            let logical_bytes = u64::from(channels) * 3_000 * 4096 + 12_288;
            let device = device(Shape { channels, ways: 1, blocks: 40, pages_per_block: 100, logical_bytes });
            let geometry = Geometry::new(&device, 4096);
            let (map, blocks, draw) = start(&geometry, &device, allocation, false);
            let (by_formula, blocks_by_formula, same_draw) = start(&geometry, &device, allocation, true);
            assert_eq!(draw, same_draw);
            for lpn in (0..geometry.logical_units).map(Lpn) {
                let ppn = map.get(lpn);
                assert_eq!(by_formula.get(lpn), ppn, "{lpn}");
                assert!(ppn.is_some_and(|ppn| blocks_by_formula.is_valid(ppn)));
            }
            for ppn in (0..geometry.physical_units()).map(flashwatt_base::units::Ppn) {
                assert_eq!(blocks_by_formula.lpn_at(ppn), blocks.lpn_at(ppn), "{ppn}");
                assert_eq!(blocks_by_formula.is_valid(ppn), blocks.is_valid(ppn), "{ppn}");
            }
        }
    }

    #[test]
    fn levels_sum_to_the_valid_pages() {
        let mut rng = Rng::new(1);
        for (blocks, valid) in [(100, 9_000), (7919, 800_000), (50, 6_400), (50, 0)] {
            let victim_valid = greedy_victim_valid(128, valid as f64 / (128 * blocks) as f64);
            let levels = fill_levels(128, blocks, valid, victim_valid, &mut rng);
            assert_eq!(levels.iter().map(|&l| u64::from(l)).sum::<u64>(), valid);
            assert!(levels.iter().all(|&l| l <= 128));
        }
    }
}
