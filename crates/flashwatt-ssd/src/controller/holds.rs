//! What the end of a program of a lower page sets free, held back until the upper page of the same cells is programmed as well.
//!
//! The program of the upper page may spoil the lower one. So a request whose data goes to a lower page does not end with that program,
//! and the blocks with the data that it replaces are not erased. Both go on when the program of the upper page has ended. If none is
//! planned, they go on after a time, or at once if an erase waits for them; the lower page is backed up then before its upper page is
//! programmed (`guards.rs`).
//!
//! Only operations that read the lower page go on at once, and so does background work.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::op::Op;
use super::{Controller, EndedOp, MeteredFlash};
use crate::nand::{Array, FlashAddress};
use crate::observe::probe::Probe;
use crate::operation::{Cause, OpKind};
use flashwatt_base::units::{BlockId, Nanos, OpId, RequestId};

/// A page by its block and its number in that.
type Key = (u32, u32);

/// What is held back.
#[derive(Clone)]
pub(super) struct Holds {
    max_ns: Nanos,
    pages_per_block: u32,
    /// By lower page.
    held: BTreeMap<Key, HeldEnd>,
    /// Lower pages whose programs have not ended, and whose upper pages are programmed without a backup: they will be held.
    bound: BTreeSet<Key>,
    /// Times at which pages are let go, and these, in their order. Some have been let go by then.
    deadlines: VecDeque<(Nanos, Key)>,
    /// Ends of operations that have been let go.
    released: Vec<EndedOp>,
    /// Whether nothing is held in spite of all: a fault on purpose.
    is_off: bool,
}

/// The end of a program of a lower page that is held back.
#[derive(Clone)]
struct HeldEnd {
    /// The end of the operation, if a request waits for it.
    ended: Option<EndedOp>,
    /// The blocks with the data that it replaces.
    blocks: Vec<BlockId>,
    /// Whether the program of the upper page is planned and has no backup.
    is_bound: bool,
}

impl Controller {
    /// From now on the ends of programs of lower pages are held back, for this time in ns if nothing happens before.
    pub fn hold_ends(&mut self, max_ns: Nanos) {
        self.holds = Some(Box::new(Holds {
            max_ns,
            pages_per_block: self.geometry.pages_per_block,
            held: BTreeMap::new(),
            bound: BTreeSet::new(),
            deadlines: VecDeque::new(),
            released: Vec::new(),
            is_off: false,
        }));
    }

    /// Whether ends are held back.
    pub fn has_holds(&self) -> bool {
        self.holds.is_some()
    }

    /// Holds nothing back, although upper pages are programmed as if it were. A fault on purpose.
    pub fn hold_nothing(&mut self) {
        if let Some(holds) = &mut self.holds {
            holds.is_off = true;
        }
    }

    /// Whether the end of the program of this lower page is held back.
    pub fn is_held(&self, lower: FlashAddress) -> bool {
        self.holds.as_ref().is_some_and(|holds| holds.held.contains_key(&key(lower)))
    }

    /// Binds the end of the program of a lower page to that of its upper page, which needs no backup then. Returns false if
    /// nothing holds it back.
    ///
    /// Where a queue is worked off as planned, the upper page may be behind an erase that waits for a block that the lower page holds:
    /// then it is not bound, so that the block is let go.
    pub fn bind(&mut self, lower: FlashAddress, array: &Array) -> bool {
        if self.has_order() && self.is_awaited(lower, array) {
            return false;
        }
        let Some(holds) = &mut self.holds else { return false };
        if let Some(held) = holds.held.get_mut(&key(lower)) {
            held.is_bound = true;
            return true;
        }
        let is_to_be_held = array.pending_program(lower).is_some_and(|op| holds.is_of_interest(&self.ops[op]));
        if is_to_be_held {
            holds.bound.insert(key(lower));
        }
        is_to_be_held
    }

    /// Whether an erase waits for a block that the end of the program of a lower page lets go.
    fn is_awaited(&self, lower: FlashAddress, array: &Array) -> bool {
        let of_held = self.holds.as_ref().and_then(|holds| holds.held.get(&key(lower))).map(|held| &held.blocks[..]);
        let of_planned = array.pending_program(lower).into_iter().flat_map(|op| self.ops.replaced(op));
        let blocks: Vec<BlockId> = of_held.unwrap_or_default().iter().copied().chain(of_planned).collect();
        array.waiting_erases().any(|block| blocks.contains(&block))
    }

    /// An operation ends of a drive that holds ends back: holds that of a lower page, and lets go what waited for an upper page or
    /// lies in a block that is erased. Returns whether it is held.
    #[inline(never)]
    pub(super) fn ends_with_holds<P: Probe>(
        &mut self,
        id: OpId,
        kind: OpKind,
        at: FlashAddress,
        flash: &mut MeteredFlash<P>,
    ) -> bool {
        match kind {
            OpKind::Erase => {
                let pages = (at.block.0, 0)..(at.block.0 + 1, 0);
                let gone: Vec<Key> =
                    self.holds.iter().flat_map(|holds| holds.held.range(pages.clone()).map(|(&key, _)| key)).collect();
                gone.into_iter().for_each(|key| self.let_go_of(key, &mut flash.array));
                false
            }
            OpKind::Program | OpKind::Copyback => match at.lower() {
                Some(lower) => {
                    self.let_go_of(key(lower), &mut flash.array);
                    false
                }
                None => self.hold(id, at, flash.accounts.now()),
            },
            OpKind::Read | OpKind::SpareRead | OpKind::Copy => false,
        }
    }

    /// Holds the end of the program of a lower page. Returns false if nothing depends on it, or if it has no upper page.
    fn hold(&mut self, id: OpId, at: FlashAddress, now: Nanos) -> bool {
        let Some(holds) = &mut self.holds else { return false };
        let is_bound = holds.bound.remove(&key(at));
        let has_upper = at.page + 1 < holds.pages_per_block;
        if holds.is_off || !has_upper || !holds.is_of_interest(&self.ops[id]) {
            return false;
        }
        let mut blocks = Vec::new();
        let first = std::mem::replace(&mut self.ops[id].replaces, BlockId::NONE);
        if first.is_some() {
            blocks.push(first);
            blocks.extend(std::iter::from_fn(|| self.ops.pop_replaced(id)));
        }
        holds.held.insert(key(at), HeldEnd { ended: None, blocks, is_bound });
        holds.deadlines.push_back((now.saturating_add(holds.max_ns), key(at)));
        true
    }

    /// The end of an operation that is held: of one that a request or the write buffer waits for, it is returned later.
    pub(super) fn hold_end(&mut self, at: FlashAddress, ended: EndedOp) -> Option<EndedOp> {
        let is_of_host = ended.request.is_of_host();
        let held = self.holds.as_mut().and_then(|holds| holds.held.get_mut(&key(at)));
        match held.filter(|_| is_of_host) {
            Some(held) => {
                held.ended = Some(ended);
                None
            }
            None => Some(ended),
        }
    }

    /// Lets go what a lower page holds back.
    fn let_go_of(&mut self, lower: Key, array: &mut Array) {
        let Some(holds) = &mut self.holds else { return };
        let Some(held) = holds.held.remove(&lower) else { return };
        holds.released.extend(held.ended);
        held.blocks.into_iter().for_each(|block| self.release(block, array));
    }

    /// Lets go the lower pages whose time is over and whose upper pages are not planned, and those for which an erase waits. Returns
    /// the next time at which there may be one.
    pub fn let_go_of_late(&mut self, now: Nanos, array: &mut Array) -> Option<Nanos> {
        let holds = self.holds.as_ref()?;
        let awaited: BTreeSet<BlockId> = array.waiting_erases().collect();
        let is_awaited = |held: &HeldEnd| !held.is_bound && held.blocks.iter().any(|block| awaited.contains(block));
        let late: Vec<Key> = if awaited.is_empty() {
            Vec::new()
        } else {
            holds.held.iter().filter(|(_, held)| is_awaited(held)).map(|(&key, _)| key).collect()
        };
        late.into_iter().for_each(|key| self.let_go_of(key, array));
        loop {
            let holds = self.holds.as_mut()?;
            let &(at, key) = holds.deadlines.front()?;
            let is_free = holds.held.get(&key).is_some_and(|held| !held.is_bound);
            if is_free && at > now {
                return Some(at);
            }
            holds.deadlines.pop_front();
            if is_free {
                self.let_go_of(key, array);
            }
        }
    }

    /// Takes the ends of operations that have been let go.
    pub fn take_released(&mut self) -> Vec<EndedOp> {
        self.holds.as_mut().map(|holds| std::mem::take(&mut holds.released)).unwrap_or_default()
    }
}

impl Holds {
    /// Whether the end of a program of a lower page is held back: it brings data of the host to flash, or replaces data elsewhere. A
    /// recovery does not wait, nor do the pages of the map, which it writes anew.
    fn is_of_interest(&self, op: &Op) -> bool {
        const OWN: [RequestId; 4] =
            [RequestId::RECOVERY, RequestId::RECOVERY_LOG, RequestId::BACKUP, RequestId::JOURNAL];
        !OWN.contains(&op.request) && op.cause != Cause::Map && (op.cause == Cause::Host || op.replaces.is_some())
    }
}

fn key(at: FlashAddress) -> Key {
    (at.block.0, at.page)
}
