//! A log-structured file system (Rosenblum and Ousterhout, The design and implementation of a log-structured file system, 1992), and
//! NILFS2 as Linux 6.1 has it.
//!
//! All writes append to the log: pages of files, the nodes that point to them, inodes. The log fills segments. A cleaner moves what is
//! live out of segments that are not full, and makes them clean.
//!
//! ```text
//! segment  | summary  pages of files  nodes  inodes | summary  pages … |
//!            \_____________ a log _______________/    partial segments, each with what one fsync or write-back sends
//! ```
//!
//! `log` sends them, `checkpoint` writes what a mount starts from, `cleaner` cleans, `tree` knows where everything lies, `segments`
//! what lies in each segment.
//!
//! `lfs`: an fsync writes the file's pages, nodes and inode, and the blocks of its directory; a checkpoint goes to one of two fixed regions
//! at an interval, and the log behind it is found by its summaries (roll-forward), as in Sprite LFS. `nilfs2`: an fsync writes everything that
//! is dirty, as one log for all who wait, which ends in a super root (nilfs_construct_segment).
//!
//! Deviations, of both: inodes are blocks of a file as in NILFS2 (the ifile), whose own pointers are in the checkpoint; a B-tree is filled
//! from left to right (`shape`); names are entries of 24 bytes, and the block of a name is known; removing and creating write the
//! blocks of the directory, and the log of operations behind a checkpoint takes no blocks of its own; a page's node, if it was written and left memory between a write and its write-out,
//! is changed without being read again; counts of live blocks are not written. Of `nilfs2`: a virtual block's entry in the translation
//! file is numbered by the block where it lies; no old checkpoints are kept, so the cleaner need not wait for them (protection_period);
//! a log is not built while the flush of the last one is under way.

mod checkpoint;
mod cleaner;
mod log;
mod meta;
mod operations;
mod room;
mod segments;
mod settings;
mod shape;
#[cfg(test)]
mod tests;
mod tree;
mod write;

use std::collections::BTreeSet;

use checkpoint::Checkpoints;
use cleaner::Cleaner;
use log::Log;
use segments::Segments;
use settings::{Layout, Settings};
use tree::Tree;

use super::Registered;
use crate::operation::{DirId, FileId};
use crate::system::PageKey;
use flashwatt_base::units::Nanos;

/// The registry line.
pub const ENTRY: Registered = settings::LFS;
pub(super) use settings::NILFS2;

/// The two file systems that share this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    Sprite,
    Nilfs2,
}

/// The file system.
struct Lfs {
    style: Style,
    settings: Settings,
    layout: Layout,
    tree: Tree,
    segments: Segments,
    log: Log,
    checkpoints: Checkpoints,
    cleaner: Cleaner,
    /// The last call of a thread.
    called_ns: Nanos,
    /// Pages of the request that is being sent.
    request: Vec<PageKey>,
    /// Tables that change because blocks move.
    touched: Vec<u32>,
    /// Of `nilfs2`: files that have changed since they were in a checkpoint, and those of the last one that an fsync has begun.
    changed_files: BTreeSet<FileId>,
    syncing: (u32, BTreeSet<FileId>),
}

impl Lfs {
    /// Laid down on an empty disk, with the root directory.
    fn new(style: Style, settings: Settings, layout: Layout) -> Self {
        let mut lfs = Lfs {
            style,
            settings,
            layout,
            tree: Tree::new(layout.shape(style), layout.tables()),
            segments: Segments::new(layout.first, layout.segment_blocks, layout.segments),
            log: Log::default(),
            checkpoints: Checkpoints::new(settings.checkpoint_ns),
            cleaner: Cleaner::default(),
            called_ns: 0,
            request: Vec::new(),
            touched: Vec::new(),
            changed_files: BTreeSet::new(),
            syncing: Default::default(),
        };
        lfs.tree.add_dir(DirId::ROOT);
        let tables = (0..layout.tables()).map(meta::Meta::Table);
        let root = [meta::Meta::Node(0), meta::Meta::Inodes(0)];
        let metas: Vec<_> = root.into_iter().chain(tables).map(meta::Meta::key).collect();
        lfs.lay_down(&metas);
        lfs
    }
}
