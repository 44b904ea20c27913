//! Backups of lower pages: what the drive copies before it programs an upper page (`device.nand.paired_pages = "backup"`).
//!
//! A multi-level cell holds a bit of a lower page and one of an upper page. A power cut during the program of the upper page spoils
//! both. So the drive first copies the lower page to a block that is kept for that. The controller lets no program of an upper page
//! start before this module has looked at it; no translation layer knows of it.
//!
//! Each die has a few such blocks. One takes backups until it is full. It is erased when the upper page of each of them is on flash.
//!
//! What needs no backup: a lower page in which nothing counts any more, since newer data of each unit is on flash; and pages of the
//! map, which a recovery writes anew.

use std::collections::VecDeque;

use crate::controller::{Controller, EndedOp, Upper};
use crate::drive::service::Service;
use crate::drive::settings::Settings;
use crate::drive::{NO_SEAT, Ssd};
use crate::firmware::Firmware;
use crate::nand::{Array, FlashAddress, Geometry, Reserve};
use crate::observe::probe::{Probe, Purpose};
use crate::operation::{Cause, OpKind};
use crate::recovery::backups::{BackedUp, pages};
use flashwatt_base::units::{BlockId, DieId, Nanos, Ppn, RequestId};
use flashwatt_core::connector::{Cx, Extent};

/// The backups of a drive.
pub(in crate::drive) struct Backups {
    /// By die.
    rings: Vec<Ring>,
    /// The dies whose rings must be looked at.
    active: Vec<DieId>,
    /// How a page is copied.
    copy: OpKind,
    /// Kept for its memory.
    noted: Vec<Upper>,
    /// Whether acknowledgements are held instead, for a time.
    holds: bool,
    /// The end of that time.
    seat: u32,
}

/// The blocks of a die that take backups.
struct Ring {
    blocks: Vec<BackupBlock>,
    /// The block that is taken next if it is erased: they take turns, and so wear evenly.
    next: usize,
    is_active: bool,
    /// Programs of upper pages that have no backup yet, in the order of their planning.
    waiting: VecDeque<Upper>,
}

/// A block that takes backups.
struct BackupBlock {
    block: BlockId,
    state: State,
    /// The upper pages for which its backups were made, and which are not on flash.
    open: Vec<FlashAddress>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Erased.
    Clean,
    /// This number of its pages have been taken, 1 or more.
    InUse(usize),
    /// It holds what a recovery from a power cut has yet to bring back.
    Pinned,
    /// Its erase is planned or under way.
    Erasing,
}

impl Backups {
    /// Goes on after a power cut: these units come back from their backups. Returns the blocks to erase at once.
    pub fn resume(&mut self, units: &[BackedUp], array: &Array) -> Vec<BlockId> {
        let mut void = Vec::new();
        for die in (0..self.rings.len() as u32).map(DieId) {
            for kept in &mut self.rings[die.idx()].blocks {
                let is_needed = |unit: &BackedUp| array.geometry().block_of(unit.page) == kept.block;
                kept.state = match array.planned_pages(kept.block) {
                    0 => State::Clean,
                    _ if units.iter().any(is_needed) => State::Pinned,
                    _ => State::Erasing,
                };
                if kept.state == State::Erasing {
                    void.push(kept.block);
                }
            }
            self.activate(die);
        }
        void
    }

    /// Has this die looked at.
    fn activate(&mut self, die: DieId) {
        let ring = &mut self.rings[die.idx()];
        if !std::mem::replace(&mut ring.is_active, true) {
            self.active.push(die);
        }
    }

    /// Where the backups lie that a recovery gathers on one block of each die: pairs of a page and its new place. A die has none if
    /// all of its backups are on one block. The blocks that they leave are to be erased then.
    pub fn gathered(&mut self, units: &[BackedUp], geometry: &Geometry) -> (Vec<(Ppn, Ppn)>, Vec<BlockId>) {
        let (mut places, mut left): (Vec<(Ppn, Ppn)>, _) = (Vec::new(), Vec::new());
        for (ring, die) in self.rings.iter_mut().zip((0..).map(DieId)) {
            let pinned = ring.blocks.iter().filter(|kept| kept.state == State::Pinned).count();
            let Some(clean) = ring.blocks.iter().position(|kept| kept.state == State::Clean) else { continue };
            if pinned < 2 {
                continue;
            }
            let mut room = pages(ring.blocks[clean].block, geometry);
            for unit in units.iter().filter(|unit| geometry.die_of(unit.page) == die) {
                if places.iter().all(|&(from, _)| from != unit.page) {
                    let Some(page) = room.next() else { unreachable!("few pages are torn at a cut") };
                    places.push((unit.page, page));
                }
            }
            for kept in ring.blocks.iter_mut().filter(|kept| kept.state == State::Pinned) {
                kept.state = State::Erasing;
                left.push(kept.block);
            }
            ring.blocks[clean].state = State::Pinned;
        }
        (places, left)
    }

    /// The blocks that hold what has been brought back. They are to be erased.
    pub fn unpinned(&mut self) -> Vec<BlockId> {
        let kept = self.rings.iter_mut().flat_map(|ring| &mut ring.blocks);
        let pinned = kept.filter(|kept| kept.state == State::Pinned);
        let unpin = |kept: &mut BackupBlock| {
            kept.state = State::Erasing;
            kept.block
        };
        pinned.map(unpin).collect()
    }
}

impl Ring {
    /// Notes which upper pages are on flash, and which blocks have been erased.
    fn look(&mut self, array: &Array) {
        for kept in &mut self.blocks {
            kept.open.retain(|&upper| !array.is_programmed(upper));
            if kept.state == State::Erasing && array.planned_pages(kept.block) == 0 {
                kept.state = State::Clean;
            }
        }
    }

    /// Takes the page for the backup that is made for the program of an upper page, if there is one.
    fn take_page(&mut self, upper: FlashAddress, geometry: &Geometry) -> Option<Ppn> {
        let in_block = geometry.pages_per_block.div_ceil(2) as usize;
        let has_room = |kept: &BackupBlock| matches!(kept.state, State::InUse(used) if used < in_block);
        let in_use = self.blocks.iter().position(has_room);
        let number = self.blocks.len();
        let mut turns = (self.next..self.next + number).map(|turn| turn % number);
        let at = in_use.or_else(|| turns.find(|&at| self.blocks[at].state == State::Clean))?;
        let kept = &mut self.blocks[at];
        let used = if let State::InUse(used) = kept.state { used } else { 0 };
        self.next = at + 1;
        kept.state = State::InUse(used + 1);
        kept.open.push(upper);
        pages(kept.block, geometry).nth(used)
    }

    /// A full block whose backups nobody needs any more.
    fn take_void(&mut self, geometry: &Geometry) -> Option<BlockId> {
        let full = State::InUse(geometry.pages_per_block.div_ceil(2) as usize);
        let kept = self.blocks.iter_mut().find(|kept| kept.state == full && kept.open.is_empty())?;
        kept.state = State::Erasing;
        Some(kept.block)
    }

    /// Whether something may change.
    fn is_busy(&self) -> bool {
        let is_busy = |kept: &BackupBlock| kept.state == State::Erasing || !kept.open.is_empty();
        !self.waiting.is_empty() || self.blocks.iter().any(is_busy)
    }
}

impl Service for Backups {
    const REQUEST: RequestId = RequestId::BACKUP;
    const SETTLES_AGAIN: bool = true;
    const COMPLETES: bool = true;

    /// The backups of a drive, if there are blocks for them.
    fn of_drive(settings: &Settings, firmware: &Firmware, geometry: &Geometry) -> Option<Self> {
        let of_die = geometry.reserves[Reserve::Backup] as usize;
        if firmware.reserved[Reserve::Backup].is_empty() {
            return None;
        }
        let kept = |&block: &BlockId| BackupBlock { block, state: State::Clean, open: Vec::new() };
        let ring = |blocks: &[BlockId]| Ring {
            blocks: blocks.iter().map(kept).collect(),
            next: 0,
            is_active: false,
            waiting: VecDeque::new(),
        };
        Some(Backups {
            rings: firmware.reserved[Reserve::Backup].chunks(of_die).map(ring).collect(),
            active: Vec::new(),
            copy: OpKind::of_copies(settings.device.nand.copyback),
            noted: Vec::new(),
            holds: settings.device.nand.hold_ack_max_ns.is_some(),
            seat: NO_SEAT,
        })
    }

    fn prepare(&self, settings: &Settings, controller: &mut Controller) {
        controller.guard_pairs();
        settings.device.nand.hold_ack_max_ns.into_iter().for_each(|max_ns| controller.hold_ends(max_ns));
    }

    fn seat(&mut self) -> Option<&mut u32> {
        self.holds.then_some(&mut self.seat)
    }

    /// It looks at the flash instead.
    fn op_ended<P: Probe>(&mut self, _ended: EndedOp, _drive: &mut Ssd<P>, _cx: &mut Cx) {}

    fn settle<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) {
        self.look(drive, cx.now());
    }

    fn settle_again<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) -> bool {
        let released = self.holds && drive.settle_holds(self.seat, cx);
        self.look(drive, cx.now()) || released
    }
}

impl Backups {
    /// Looks at the programs of upper pages that have been planned: plans their backups, or lets them go. Erases blocks whose backups
    /// nobody needs any more. Returns whether operations may start that could not before.
    fn look<P: Probe>(&mut self, drive: &mut Ssd<P>, now: Nanos) -> bool {
        let mut noted = std::mem::take(&mut self.noted);
        drive.controller.take_uppers(&mut noted);
        for upper in noted.drain(..) {
            self.activate(upper.at.die);
            self.rings[upper.at.die.idx()].waiting.push_back(upper);
        }
        self.noted = noted;
        let mut active = std::mem::take(&mut self.active);
        let mut changed = false;
        active.retain(|&die| {
            let ring = &mut self.rings[die.idx()];
            changed |= drive.settle_ring(ring, self.copy, now);
            ring.is_active = ring.is_busy();
            ring.is_active
        });
        self.active = active;
        changed
    }
}

impl<P: Probe> Ssd<P> {
    fn settle_ring(&mut self, ring: &mut Ring, copy: OpKind, now: Nanos) -> bool {
        let mut changed = false;
        ring.look(&self.flash.array);
        while let Some(&upper) = ring.waiting.front() {
            let lower = upper.at.lower().filter(|&lower| self.counts(lower));
            match lower {
                None => self.controller.let_go(&upper),
                Some(lower) if self.controller.bind(lower, &self.flash.array) => self.controller.let_go(&upper),
                Some(lower) => {
                    let Some(page) = ring.take_page(upper.at, &self.geometry) else { break };
                    self.back_up(&upper, lower, page, copy, now);
                }
            }
            ring.waiting.pop_front();
            changed = true;
        }
        while let Some(block) = ring.take_void(&self.geometry) {
            self.erase_backups(block, !ring.waiting.is_empty(), now);
            changed = true;
        }
        changed
    }

    /// Whether a lower page holds data, or will, of which nothing newer is on flash.
    fn counts(&self, lower: FlashAddress) -> bool {
        let array = &self.flash.array;
        if !array.is_programmed(lower) && array.pending_program(lower).is_none() {
            return false;
        }
        let first = self.geometry.ppn_at(lower).0;
        let units = first..first + self.geometry.units_per_page;
        units.clone().map(Ppn).filter_map(|ppn| self.firmware.blocks.lpn_at(ppn)).any(|owner| {
            let is_of_host = owner.0 < self.geometry.logical_units;
            let is_newer = |ppn: Ppn| !units.contains(&ppn.0) && self.is_safe(ppn);
            is_of_host && !self.firmware.ftl.lookup(owner).is_some_and(is_newer)
        })
    }

    /// Whether what is at an address is on flash, and no torn upper page can spoil it before something older is gone.
    pub(in crate::drive) fn is_safe(&self, ppn: Ppn) -> bool {
        let place = self.geometry.place(ppn);
        self.flash.array.is_programmed(place) && !self.controller.is_held(place)
    }

    /// Holds nothing back. A fault on purpose.
    pub fn hold_nothing(&mut self) {
        self.controller.hold_nothing();
    }

    /// Keeps no old copies of pages of the map. A fault on purpose.
    pub fn forget_old_map(&mut self) {
        self.controller.forget_old_map();
    }

    /// Lets operations go that have been held back for long enough, and sets the event at `seat` for the next of them. Returns whether
    /// something has changed by that.
    fn settle_holds(&mut self, seat: u32, cx: &mut Cx) -> bool {
        let next = self.controller.let_go_of_late(cx.now(), &mut self.flash.array);
        match next.filter(|&at| at <= cx.agenda.horizon()) {
            Some(at) => cx.agenda.reset(seat, at),
            None => cx.agenda.cancel(seat),
        }
        let released = self.controller.take_released();
        let changed = !released.is_empty();
        released.into_iter().for_each(|ended| self.op_ended(ended, cx));
        changed
    }

    /// Plans the backup of a lower page. Until the program of the lower page has ended, its data is in memory, unless it is copied
    /// within the die.
    fn back_up(&mut self, upper: &Upper, lower: FlashAddress, page: Ppn, copy: OpKind, now: Nanos) {
        let source = self.geometry.ppn_at(lower);
        let plan = &mut self.firmware.plan;
        plan.clear();
        if self.controller.program_of(lower, &self.flash.array) == Some(true) {
            plan.program(page, Cause::Backup, None);
        } else {
            plan.copy(copy, source, page, Cause::Backup, BlockId::NONE);
        }
        self.flash.accounts.planned(now, Purpose::Backup(&[source]), &self.firmware);
        self.controller.admit_backup(upper, &self.firmware, &mut self.flash);
    }

    fn erase_backups(&mut self, block: BlockId, urgent: bool, now: Nanos) {
        self.firmware.plan.clear();
        self.firmware.plan.erase(self.geometry.first_ppn(block), Cause::Backup);
        self.begin_own(RequestId::BACKUP, Purpose::Background, urgent, now);
    }

    /// Plans the copies that bring the backups of each die that a recovery needs onto one block, and changes the places of `units`.
    /// Returns the blocks to erase then.
    pub(in crate::drive) fn plan_gathering(&mut self, units: &mut [BackedUp]) -> (Vec<Ppn>, Vec<BlockId>) {
        let Some(backups) = &mut self.services.backups else { return Default::default() };
        let (places, left) = backups.gathered(units, &self.geometry);
        let plan = &mut self.firmware.plan;
        for &(from, to) in &places {
            plan.copy(backups.copy, from, to, Cause::Backup, BlockId::NONE);
        }
        for unit in units {
            unit.page = places.iter().find(|(from, _)| *from == unit.page).map_or(unit.page, |&(_, to)| to);
        }
        (places.into_iter().map(|(from, _)| from).collect(), left)
    }

    /// Plans reads of the backups of these units.
    pub(in crate::drive) fn plan_reads_of_backups(&mut self, units: &[BackedUp]) {
        let mut pages: Vec<Ppn> = units.iter().map(|unit| unit.page).collect();
        pages.sort_unstable();
        pages.dedup();
        pages.into_iter().for_each(|page| _ = self.firmware.plan.read(page, Cause::Backup, None));
    }

    /// Writes a unit from its backup. Returns whether there was room for it, and the number of operations.
    pub(in crate::drive) fn restore(&mut self, unit: &BackedUp, now: Nanos) -> (bool, u32) {
        let extent = Extent { first: unit.owner, pages: 1, request_pages: 1, head_partial: false, tail_partial: false };
        let found = self.firmware.write(&extent, &self.flash.array);
        let purpose = if found > 0 { Purpose::Restore(unit.owner, unit.version) } else { Purpose::Background };
        self.flash.accounts.planned(now, purpose, &self.firmware);
        let operations = self.controller.admit(RequestId::RECOVERY, &self.firmware, &mut self.flash);
        (found > 0, operations)
    }

    /// The blocks whose backups have been brought back, and which are to be erased.
    pub(in crate::drive) fn unpinned_backups(&mut self) -> Vec<BlockId> {
        self.services.backups.as_mut().map(|backups| backups.unpinned()).unwrap_or_default()
    }
}
