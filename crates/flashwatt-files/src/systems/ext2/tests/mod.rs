//! ext2 with a cache and a disk of its own, on which every request ends at once.

mod against_linux;
mod against_mke2fs;
mod allocation;
mod journal;
mod metadata;
mod random;

use std::collections::BTreeMap;
use std::ops::Range;

use super::geometry::Geometry;
use super::{ENTRY, EXT3, Ext2, with_journal};
use crate::cache::PageCache;
use crate::disk::{IoFigures, IoId, Ios, WriteCause};
use crate::operation::{DirId, FileId, OpError};
use crate::system::{BLOCK_BYTES, Block, Cx, FileSystem, Run, Stop, Tried};
use crate::systems::Registered;
use flashwatt_base::registry::Parameters;
use flashwatt_core::connector::{Origin, RequestKind};

const MIB: u64 = 1 << 20;

/// The defaults, but for these.
fn parameters(given: &[(&str, f64)]) -> BTreeMap<String, f64> {
    of_entry(&ENTRY, given)
}

fn of_entry(entry: &Registered, given: &[(&str, f64)]) -> BTreeMap<String, f64> {
    let defaults = entry.params.iter().map(|param| (param.name, param.default));
    defaults.chain(given.iter().copied()).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The file system, and what it stands on.
struct Rig {
    system: Ext2,
    cache: PageCache,
    ios: Ios,
    figures: IoFigures,
    waits: Vec<IoId>,
    /// The time in ns, and the process that calls.
    now: u64,
    process: u16,
    /// Requests since the last look: kind, block, blocks.
    sent: Vec<(RequestKind, Block, u32)>,
}

impl Rig {
    /// On a disk of this size in MiB, with some parameters that are not the defaults.
    fn new(mib: u64, given: &[(&str, f64)]) -> Self {
        let geometry = Geometry::new(mib * MIB, None).expect("a disk for ext2");
        Self::of(Ext2::new(geometry, &Parameters(&parameters(given))))
    }

    /// The same with a journal.
    fn journaled(mib: u64, given: &[(&str, f64)]) -> Self {
        let parameters = of_entry(&EXT3, given);
        Self::of(with_journal(&Parameters(&parameters), mib * MIB).expect("a disk for ext3"))
    }

    fn of(system: Ext2) -> Self {
        Rig {
            system,
            cache: PageCache::new(1 << 20),
            ios: Ios::new(256, vec![Origin(0)]),
            figures: IoFigures::default(),
            waits: Vec::new(),
            now: 0,
            process: 0,
            sent: Vec::new(),
        }
    }

    fn call<R>(&mut self, is_instant: bool, call: impl FnOnce(&mut Ext2, &mut Cx) -> Tried<R>) -> Tried<R> {
        let mut cx = Cx {
            now: self.now,
            cache: &mut self.cache,
            ios: &mut self.ios,
            figures: &mut self.figures,
            waits: &mut self.waits,
            process: self.process,
            cause: WriteCause::Sync,
            is_instant,
            wants_work: &mut false,
        };
        call(&mut self.system, &mut cx)
    }

    /// Calls it as while the disk is laid down.
    fn instantly<R>(&mut self, call: impl FnOnce(&mut Ext2, &mut Cx) -> Tried<R>) -> Result<R, OpError> {
        match self.call(true, call) {
            Ok(result) => Ok(result),
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Wait) => panic!("nothing waits while the disk is laid down"),
        }
    }

    /// Calls it until it ends. Requests end at once.
    fn run<R>(&mut self, mut call: impl FnMut(&mut Ext2, &mut Cx) -> Tried<R>) -> Result<R, OpError> {
        loop {
            let tried = self.call(false, &mut call);
            self.waits.clear();
            let (mut pages, mut tasks) = (Vec::new(), Vec::new());
            while let Some((tag, request)) = self.ios.next(self.now) {
                let block = (request.offset_bytes / BLOCK_BYTES) as Block;
                self.sent.push((request.kind, block, (request.bytes / BLOCK_BYTES) as u32));
                self.ios.ended(IoId(tag.0), &mut pages, &mut tasks);
                pages.drain(..).for_each(|page| self.cache.arrived(page));
            }
            match tried {
                Ok(result) => return Ok(result),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Wait) => {}
            }
        }
    }

    fn create(&mut self, file: u32, dir: u32) -> Result<(), OpError> {
        self.instantly(|system, cx| system.create(FileId(file), DirId(dir), cx))
    }

    fn make_dir(&mut self, dir: u32, parent: u32) -> Result<(), OpError> {
        self.instantly(|system, cx| system.make_dir(DirId(dir), DirId(parent), cx))
    }

    fn write(&mut self, file: u32, pages: Range<u32>) -> Result<(), OpError> {
        self.instantly(|system, cx| system.prepare_write(FileId(file), pages, cx))
    }

    fn remove(&mut self, file: u32) -> Result<(), OpError> {
        self.instantly(|system, cx| system.remove(FileId(file), cx))
    }

    /// Makes files in the root.
    fn with_files(mut self, files: Range<u32>) -> Self {
        files.for_each(|file| self.create(file, 0).expect("room for files"));
        self
    }

    /// First blocks and lengths of a file's runs.
    fn runs(&self, file: u32) -> Vec<(Block, u32)> {
        self.system.extents(FileId(file)).iter().map(|&Run { block, pages }| (block, pages)).collect()
    }

    /// The indirect blocks of a file.
    fn nodes(&self, file: u32) -> Vec<Block> {
        self.system.files[file as usize].iter().flat_map(|inode| inode.node_blocks()).collect()
    }

    /// Blocks that a file may still get.
    fn available(&self) -> u64 {
        self.system.available()
    }
}
