//! What a mount finds in a journal: which transactions it replays, what these bring back, and what their metadata points to.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::disk::{Block, PageKey};

/// The number of a transaction, from 1.
type TransactionId = u32;

/// No transaction: the superblock of an empty journal says that nothing is replayed.
pub const EMPTY: TransactionId = u32::MAX;

/// What the account has to know of a journal beside the blocks that are sent.
#[derive(Clone, Debug)]
pub enum Note {
    /// The block that ends a transaction has been sent: all others were sent before.
    Ends(TransactionId),
    /// A mount that replays the transaction does not bring back this block from one before it, or from itself.
    Revokes(TransactionId, Block),
    /// Metadata of the transaction says that a page lies in the first of these blocks, and those behind it in the others.
    Points(TransactionId, PageKey, Range<Block>),
    /// It no longer says so.
    Frees(TransactionId, Range<Block>),
}

/// A transaction in the journal.
#[derive(Debug, Default)]
struct Transaction {
    /// Blocks without which it is not replayed: descriptors, revoke blocks and the commit block.
    control: Vec<Block>,
    /// Copies of blocks: where each belongs, and where it lies in the journal.
    copies: Vec<(Block, Block)>,
    revokes: Vec<Block>,
    is_ended: bool,
}

/// What metadata says of a block in transactions from `since` on, up to before `until`.
#[derive(Clone, Copy, Debug)]
struct Pointer {
    page: PageKey,
    since: TransactionId,
    until: TransactionId,
}

/// The account of a journal.
#[derive(Debug, Default)]
pub struct Journaled {
    transactions: BTreeMap<TransactionId, Transaction>,
    /// The block of the journal's superblock, once it was sent.
    pub superblock: Option<Block>,
    pointers: HashMap<Block, Vec<Pointer>>,
}

/// What a mount replays.
#[derive(Debug, Default)]
pub struct Replay {
    /// The last transaction; 0: none.
    pub last: TransactionId,
    /// By block that it writes: the transaction, and the block of the journal that has the copy.
    pub copies: HashMap<Block, (TransactionId, Block)>,
}

impl Journaled {
    fn of(&mut self, transaction: TransactionId) -> &mut Transaction {
        self.transactions.entry(transaction).or_default()
    }

    /// A block of a transaction is sent: the copy of the block of metadata of this number, or none.
    pub fn sent(&mut self, transaction: TransactionId, block: Block, copy_of: Option<Block>) {
        let of = self.of(transaction);
        match copy_of {
            Some(home) => of.copies.push((home, block)),
            None => of.control.push(block),
        }
    }

    /// Takes a note.
    pub fn note(&mut self, note: Note) {
        match note {
            Note::Ends(transaction) => self.of(transaction).is_ended = true,
            Note::Revokes(transaction, block) => self.of(transaction).revokes.push(block),
            Note::Points(since, first, blocks) => {
                for (index, block) in (first.index..).zip(blocks) {
                    let page = PageKey { index, ..first };
                    self.pointers.entry(block).or_default().push(Pointer { page, since, until: EMPTY });
                }
            }
            Note::Frees(until, blocks) => {
                for block in blocks {
                    if let Some(last) = self.pointers.get_mut(&block).and_then(|all| all.last_mut()) {
                        last.until = until.min(last.until);
                    }
                }
            }
        }
    }

    /// What a mount replays whose superblock says where it begins, if `holds` tells whether a block holds what a transaction sent there.
    pub fn replay(&self, begins: TransactionId, holds: impl Fn(Block, TransactionId) -> bool) -> Replay {
        let is_whole = |&(&id, transaction): &(&TransactionId, &Transaction)| {
            transaction.is_ended && transaction.control.iter().all(|&block| holds(block, id))
        };
        let mut whole = Vec::new();
        for (&id, transaction) in self.transactions.range(begins..).take_while(is_whole) {
            if id != begins + whole.len() as u32 {
                break;
            }
            whole.push((id, transaction));
        }
        let mut revoked: HashMap<Block, TransactionId> = HashMap::new();
        for &(id, transaction) in &whole {
            revoked.extend(transaction.revokes.iter().map(|&block| (block, id)));
        }
        let mut replay = Replay { last: begins.saturating_sub(1), ..Replay::default() };
        for (id, transaction) in whole {
            replay.last = id;
            let counts = |&&(home, _): &&(Block, Block)| revoked.get(&home).is_none_or(|&by| by < id);
            replay.copies.extend(transaction.copies.iter().filter(counts).map(|&(home, at)| (home, (id, at))));
        }
        replay
    }

    /// Pages and the blocks where metadata has them after a mount that has come to this transaction.
    pub fn pointed(&self, last: TransactionId) -> impl Iterator<Item = (PageKey, Block)> {
        let holds = move |pointer: &&Pointer| pointer.since <= last && last < pointer.until;
        self.pointers.iter().flat_map(move |(&block, all)| all.iter().filter(holds).map(move |one| (one.page, block)))
    }
}
