//! What each die of a drive does at an instant of endless random writes: how full its frontiers are, how many of its blocks are
//! free, how far the collection of its victim is.
//!
//! A die fills a block for the host, and then collects until it may open another one. If all dies did that in step, the drive would
//! write without collecting and collect without writing, in waves of dies × pages per block requests. Where a die without room is
//! passed over the dies fall out of step within some dozen waves; where the address gives the die, all requests wait for
//! the slowest one, and a part of the wave stays. So the phases are not drawn: the dies are run for some waves from random
//! ones, with counters in place of pages. A write of the host takes its turn on a die before the next step of collection, as in
//! the controller. The last wave ends at a random request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Allocation;
use crate::nand::{DieSet, Pace};
use crate::operation::OpKind;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::{DieId, Nanos};

/// Waves after which the phases are those of a long run.
pub(super) const WAVES: u64 = 24;
/// Steps of collection for each write of the host on average, beyond which the run ends: a drive that has almost no spare blocks.
const STEPS_PER_WRITE_MAX: u64 = 64;

/// What the counters depend on.
#[derive(Clone)]
pub(in crate::ftl) struct PhaseRules {
    pub dies: u32,
    pub pages_per_block: u32,
    /// Pages that are programmed at once: open blocks end with whole rows.
    pub row_pages: u32,
    /// Blocks of each die that only data in SLC mode takes.
    pub static_blocks: u32,
    pub low_watermark: u32,
    pub reserved: u32,
    pub separate_frontiers: bool,
    pub allocation: Allocation,
    /// Valid pages of the whole drive.
    pub valid: u64,
    pub pace: Pace,
    /// Valid pages of a victim, on average.
    pub victim_valid: f64,
    /// How much that rises with each valid page that a die has more than others.
    pub rise: f64,
}

/// A victim under collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Victim {
    /// Valid pages when it was chosen.
    pub valid: u32,
    /// Of these, the ones that are not copied yet.
    pub left: u32,
}

/// What a die does.
#[derive(Clone, Copy, Debug)]
pub(super) struct DiePhase {
    /// Pages left in the block for the host, or in the one for both.
    pub host_left: u32,
    /// Pages left in the block for copies.
    pub gc_left: u32,
    /// Erased blocks.
    pub free: u32,
    /// The running collection.
    pub victim: Option<Victim>,
    /// Valid pages that it has more than the mean of all dies.
    pub surplus: f64,
    erasing: bool,
    /// The end of its last operation.
    free_at: Nanos,
    /// Writes of the whole drive up to which `surplus` is counted.
    counted_at: u64,
}

/// What all dies do, and the die that takes the next page.
pub(super) struct Phases {
    pub dies: Vec<DiePhase>,
    pub next_die: u32,
}

/// The event of a write's end. Dies have the numbers below.
const WRITTEN: u32 = u32::MAX;

/// A run of the dies, with counters in place of pages.
struct PhaseRun<'a> {
    rules: &'a PhaseRules,
    rng: &'a mut Rng,
    dies: Vec<DiePhase>,
    roomy: DieSet,
    next_die: u32,
    /// The die of the write that waits, where the address gives it.
    home: Option<u32>,
    events: BinaryHeap<Reverse<(Nanos, u32)>>,
    now: Nanos,
    under_way: u32,
    written: u64,
    steps: u64,
}

impl Phases {
    /// Runs the dies from random phases for this number of waves and a part of one more.
    pub fn after(waves: u64, rules: &PhaseRules, rng: &mut Rng) -> Phases {
        let wave = u64::from(rules.dies) * u64::from(rules.pages_per_block);
        let writes = waves * wave + rng.below(wave);
        let mut drive = PhaseRun::new(rules, rng);
        while drive.written < writes && drive.steps < STEPS_PER_WRITE_MAX * writes {
            drive.write_all(writes);
            if !drive.next_event() {
                break;
            }
        }
        drive.end()
    }
}

impl<'a> PhaseRun<'a> {
    fn new(rules: &'a PhaseRules, rng: &'a mut Rng) -> Self {
        let each = u64::from(rules.pages_per_block) + 1;
        let dies = (0..rules.dies).map(|_| DiePhase {
            host_left: rng.below(each) as u32,
            gc_left: if rules.separate_frontiers { rng.below(each) as u32 } else { 0 },
            free: rules.reserved,
            victim: None,
            surplus: 0.0,
            erasing: false,
            free_at: 0,
            counted_at: 0,
        });
        PhaseRun {
            dies: dies.collect(),
            roomy: DieSet::all(rules.dies),
            next_die: rng.below(u64::from(rules.dies)) as u32,
            home: None,
            events: (0..rules.dies).map(|die| Reverse((0, die))).collect(),
            now: 0,
            under_way: 0,
            written: 0,
            steps: 0,
            rules,
            rng,
        }
    }

    /// Begins writes of the host while there is room for them.
    fn write_all(&mut self, writes: u64) {
        while self.under_way < self.rules.pace.requests && self.written < writes {
            let Some(die) = self.die_with_room() else { return };
            let phase = &mut self.dies[die as usize];
            phase.host_left -= 1;
            phase.surplus += 1.0;
            phase.free_at = phase.free_at.max(self.now) + self.rules.pace.of(OpKind::Program);
            self.events.push(Reverse((phase.free_at, WRITTEN)));
            self.events.push(Reverse((phase.free_at, die)));
            self.under_way += 1;
            self.written += 1;
        }
    }

    /// The die of the next write, which has a page for it.
    fn die_with_room(&mut self) -> Option<u32> {
        if self.rules.allocation == Allocation::Static {
            let (dies, rng) = (u64::from(self.rules.dies), &mut *self.rng);
            let die = *self.home.get_or_insert_with(|| rng.below(dies) as u32);
            if !self.take_room(die) {
                return None;
            }
            self.home = None;
            return Some(die);
        }
        loop {
            let DieId(die) = self.roomy.first_from(self.next_die).or_else(|| self.roomy.first_from(0))?;
            if self.take_room(die) {
                self.next_die = (die + 1) % self.rules.dies;
                return Some(die);
            }
            self.roomy.remove(DieId(die));
        }
    }

    /// Whether a die has a page for the host. Opens a block for it if need be.
    fn take_room(&mut self, die: u32) -> bool {
        let (rules, phase) = (self.rules, &mut self.dies[die as usize]);
        if phase.host_left == 0 {
            if phase.free <= rules.reserved {
                return false;
            }
            phase.free -= 1;
            phase.host_left = rules.pages_per_block;
            self.events.push(Reverse((phase.free_at.max(self.now), die)));
        }
        rules.separate_frontiers || phase.free >= rules.reserved
    }

    /// Goes to the next event. Returns false if there is none.
    fn next_event(&mut self) -> bool {
        let Some(Reverse((now, of))) = self.events.pop() else { return false };
        self.now = now;
        if of == WRITTEN {
            self.under_way -= 1;
        } else if self.dies[of as usize].free_at <= now {
            self.step(of);
        }
        true
    }

    /// The next step of a die that does nothing: a copy, an erase or its end.
    fn step(&mut self, die: u32) {
        self.count_surplus(die);
        let (rules, phase) = (self.rules, &mut self.dies[die as usize]);
        if phase.erasing {
            (phase.erasing, phase.victim) = (false, None);
            phase.free += 1;
            self.roomy.add(DieId(die));
        }
        if phase.victim.is_none() {
            if phase.free >= rules.low_watermark {
                return;
            }
            let valid = (rules.victim_valid + rules.rise * phase.surplus + self.rng.f64()).max(0.0) as u32;
            let valid = valid.min(rules.pages_per_block - 1);
            phase.victim = Some(Victim { valid, left: valid });
        }
        let Some(victim) = &mut phase.victim else { return };
        let kind = if victim.left == 0 { OpKind::Erase } else { rules.pace.copies };
        if victim.left == 0 {
            phase.erasing = true;
        } else {
            let frontier = if rules.separate_frontiers { &mut phase.gc_left } else { &mut phase.host_left };
            if *frontier == 0 {
                if phase.free == 0 {
                    return;
                }
                phase.free -= 1;
                *frontier = rules.pages_per_block;
            }
            *frontier -= 1;
            victim.left -= 1;
        }
        self.steps += 1;
        phase.free_at = self.now + rules.pace.of(kind);
        self.events.push(Reverse((phase.free_at, die)));
    }

    /// Takes off what writes to other dies have made obsolete: of each die the same share. Where the address gives the die, writes
    /// replace pages of the same die.
    fn count_surplus(&mut self, die: u32) {
        let (phase, dies) = (&mut self.dies[die as usize], f64::from(self.rules.dies));
        let writes = (self.written - phase.counted_at) as f64;
        let share = 1.0 / dies + phase.surplus / self.rules.valid.max(1) as f64;
        phase.surplus = match self.rules.allocation {
            Allocation::Dynamic => phase.surplus - writes * share,
            Allocation::Static => 0.0,
        };
        phase.counted_at = self.written;
    }

    /// The phases at present. Erases under way end.
    fn end(mut self) -> Phases {
        for die in 0..self.rules.dies {
            self.count_surplus(die);
        }
        for phase in self.dies.iter_mut().filter(|phase| phase.erasing) {
            (phase.erasing, phase.victim) = (false, None);
            phase.free += 1;
        }
        Phases { dies: self.dies, next_die: self.next_die }
    }
}
