//! A second account of what every page and every block holds, for tests and `--check`.
//!
//! Each change of a page gives it a new version. A block holds the version of the page that was sent there last. What a file
//! system reads for a page, and what lies in a page's place when it is unmounted, must be that page's last version.

use std::collections::HashMap;
use std::ops::Range;

use super::Kept;
use crate::disk::{Block, Owner, PageKey};

/// What a block holds.
type Content = (PageKey, u64);

/// The account.
#[derive(Debug, Default)]
pub struct Shadow {
    /// The last version of each page that was changed.
    pages: HashMap<PageKey, u64>,
    /// By block; none for one that holds no page.
    blocks: HashMap<Block, Option<Content>>,
    /// Blocks to which a write is on its way.
    writing: HashMap<Block, u32>,
    versions: u64,
    /// The first difference.
    fault: Option<String>,
    /// What a mount after a power cut must find, if somebody keeps account of that.
    pub kept: Option<Box<Kept>>,
}

impl Shadow {
    /// A page has changed.
    pub fn changed(&mut self, key: PageKey) {
        self.versions += 1;
        self.pages.insert(key, self.versions);
        if let Some(kept) = &mut self.kept {
            kept.changed(key, self.versions);
        }
    }

    /// A page is not used any more.
    pub fn removed(&mut self, key: PageKey) {
        self.pages.remove(&key);
        if let Some(kept) = &mut self.kept {
            kept.removed(key);
        }
    }

    /// The version of a page; 0 for one that was never changed.
    pub fn version(&self, key: PageKey) -> u64 {
        self.pages.get(&key).copied().unwrap_or_default()
    }

    /// Pages are sent to consecutive blocks.
    pub fn sent(&mut self, pages: &[PageKey], block: Block) {
        for (at, &key) in pages.iter().enumerate() {
            // A page that moves before it was ever changed counts as changed before the first one.
            let version = *self.pages.entry(key).or_default();
            self.put(block + at as u32, Some((key, version)));
        }
    }

    /// Blocks are sent that hold no page.
    pub fn sent_other(&mut self, block: Block, blocks: u32) {
        (block..block + blocks).for_each(|block| self.put(block, None));
    }

    /// Blocks of a journal are sent: copies of pages of metadata with their versions, and others.
    pub fn sent_journal(&mut self, transaction: u32, block: Block, copies: &[Option<(u32, u64)>]) {
        for (at, copy) in copies.iter().enumerate() {
            let copy = copy.map(|(index, version)| (PageKey::meta(index), version));
            if let Some(kept) = &mut self.kept {
                kept.sent_to_journal(block + at as u32, transaction, copy);
            }
            self.on_its_way(block + at as u32, None);
        }
    }

    /// The superblock of a journal is sent: a mount begins with this transaction, or replays none.
    pub fn sent_superblock(&mut self, block: Block, begins: Option<u32>) {
        if let Some(kept) = &mut self.kept {
            kept.sent_superblock(block, begins);
        }
        self.on_its_way(block, None);
    }

    fn put(&mut self, block: Block, content: Option<Content>) {
        if let Some(kept) = &mut self.kept {
            kept.sent(block, content);
        }
        self.on_its_way(block, content);
    }

    fn on_its_way(&mut self, block: Block, content: Option<Content>) {
        self.blocks.insert(block, content);
        let under_way = self.writing.entry(block).or_default();
        *under_way += 1;
        if *under_way > 1 {
            self.fail(|| format!("two writes of block {block} are on their way at one time"));
        }
    }

    /// A write of these blocks has ended.
    pub fn arrived(&mut self, blocks: Range<Block>) {
        for block in blocks {
            if let Some(under_way) = self.writing.get_mut(&block) {
                *under_way -= 1;
            }
        }
    }

    /// A page that is not in memory is read from a block, or found there at the end. A page that was never changed is as it was
    /// laid down: its block must not have been written.
    pub fn lies_at(&mut self, key: PageKey, block: Block) {
        let expected = self.pages.get(&key).map(|&version| Some((key, version)));
        let found = self.blocks.get(&block).copied();
        if found != expected {
            self.fail(|| format!("{key:?} lies in block {block}: expected {expected:?}, found {found:?}"));
        }
    }

    /// A page has no place on the disk. That must be one that was never changed.
    pub fn lies_nowhere(&mut self, key: PageKey) {
        if let Some(&version) = self.pages.get(&key) {
            self.fail(|| format!("{key:?} lies nowhere, and was changed (version {version})"));
        }
    }

    /// The pages of files that were changed.
    pub fn changed_pages(&self) -> Vec<PageKey> {
        let mut pages: Vec<_> = self.pages.keys().copied().filter(|key| key.owner != Owner::META).collect();
        pages.sort_unstable();
        pages
    }

    fn fail(&mut self, what: impl FnOnce() -> String) {
        self.fault.get_or_insert_with(what);
    }

    /// The first difference, if there was one.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}
