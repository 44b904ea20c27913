//! A log whose methods a test calls itself, with a disk on which requests end when the test says so.

use std::collections::HashMap;
use std::ops::Range;

use crate::cache::PageCache;
use crate::check::Shadow;
use crate::disk::{IoFigures, IoId, Ios, WriteCause};
use crate::operation::{DirId, FileId, OpError};
use crate::system::{BLOCK_BYTES, Block, Cx, FileSystem, Owner, PageKey, Stop, Sync, Tried};
use crate::systems::Registered;
use crate::systems::lfs::{Lfs, Style, settings};
use flashwatt_base::registry::Parameters;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::Tag;

/// A file system of this style with its parameters, of which some are set.
pub fn system(style: Style, disk_bytes: u64, set: &[(&str, f64)]) -> Lfs {
    let entry: Registered = match style {
        Style::Sprite => settings::LFS,
        Style::Nilfs2 => settings::NILFS2,
    };
    let mut values: std::collections::BTreeMap<_, _> =
        entry.params.iter().map(|param| (param.name.to_string(), param.default)).collect();
    for &(name, value) in set {
        assert!(values.insert(name.into(), value).is_some(), "{name} is a parameter");
    }
    settings::new(style, &Parameters(&values), disk_bytes).unwrap_or_else(|fault| panic!("{fault:?}"))
}

pub struct Bench {
    pub fs: Lfs,
    pub now: Nanos,
    pub cache: PageCache,
    ios: Ios,
    pub figures: IoFigures,
    waits: Vec<IoId>,
    wants_work: bool,
}

impl Bench {
    /// With a cache of this number of pages, and a second account.
    pub fn new(fs: Lfs, pages: usize) -> Self {
        let mut cache = PageCache::new(pages);
        cache.shadow = Some(Box::<Shadow>::default());
        Bench {
            fs,
            now: 0,
            cache,
            ios: Ios::new(256, vec![flashwatt_core::connector::Origin(0)]),
            figures: IoFigures::default(),
            waits: Vec::new(),
            wants_work: false,
        }
    }

    /// Calls once.
    pub fn call<R>(&mut self, call: impl FnOnce(&mut Lfs, &mut Cx) -> R) -> R {
        let mut cx = Cx {
            now: self.now,
            cache: &mut self.cache,
            ios: &mut self.ios,
            figures: &mut self.figures,
            waits: &mut self.waits,
            process: 0,
            cause: WriteCause::Background,
            is_instant: false,
            wants_work: &mut self.wants_work,
        };
        call(&mut self.fs, &mut cx)
    }

    /// Calls until it does not wait any more. All requests end whenever it waits.
    pub fn until<R>(&mut self, mut call: impl FnMut(&mut Lfs, &mut Cx) -> Tried<R>) -> Result<R, OpError> {
        for _ in 0..100_000 {
            match self.call(&mut call) {
                Ok(done) => return Ok(done),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Wait) => {
                    assert!(!self.waits.is_empty(), "a wait for something");
                    self.complete();
                }
            }
        }
        panic!("it waits for ever");
    }

    /// All requests end.
    pub fn complete(&mut self) {
        self.waits.clear();
        let (mut pages, mut tasks) = (Vec::new(), Vec::new());
        while let Some((Tag(io), _)) = self.ios.next(self.now) {
            let blocks = self.ios.ended(IoId(io), &mut pages, &mut tasks);
            pages.drain(..).for_each(|page| self.cache.arrived(page));
            if let Some(shadow) = &mut self.cache.shadow {
                shadow.arrived(blocks);
            }
            self.now += 1_000;
        }
    }

    pub fn shadow(&mut self) -> &mut Shadow {
        self.cache.shadow.as_mut().expect("it keeps a second account")
    }

    pub fn create(&mut self, file: u32) -> Result<(), OpError> {
        self.until(|fs, cx| fs.create(FileId(file), DirId::ROOT, cx))
    }

    /// Pages of a file become dirty.
    pub fn write(&mut self, file: u32, pages: Range<u32>) -> Result<(), OpError> {
        self.until(|fs, cx| {
            pages.clone().for_each(|index| cx.wait_page_read(PageKey::new(Owner(file), index)));
            cx.wait()?;
            fs.prepare_write(FileId(file), pages.clone(), cx)
        })?;
        let end = u64::from(pages.end) * BLOCK_BYTES;
        pages.for_each(|index| self.cache.dirty(PageKey::new(Owner(file), index), self.now));
        self.until(|fs, cx| fs.written(FileId(file), end, cx))
    }

    pub fn fsync(&mut self, file: u32) {
        let mut stage = 0;
        self.until(|fs, cx| fs.fsync(FileId(file), Sync::ALL, &mut stage, cx)).expect("an fsync needs no new space");
    }

    /// Removes a file of this number of pages.
    pub fn remove(&mut self, file: u32, pages: u32) {
        self.until(|fs, cx| {
            cx.wait_written(Owner(file));
            cx.wait()?;
            fs.remove(FileId(file), cx)
        })
        .expect("a removal needs no space");
        (0..pages).for_each(|index| self.cache.remove(PageKey::new(Owner(file), index)));
    }

    /// Writes dirty pages back, in batches as the flusher's.
    pub fn write_back(&mut self, pages: &[PageKey]) {
        for batch in pages.chunks(1024) {
            self.until(|fs, cx| {
                let dirty: Vec<_> = batch.iter().copied().filter(|&key| cx.is_dirty(key)).collect();
                if dirty.is_empty() { Ok(()) } else { fs.write_out(&dirty, cx) }
            })
            .expect("what is dirty has room");
        }
    }

    /// Writes everything back, and makes it durable.
    pub fn sync(&mut self) {
        while self.cache.dirty_len() > 0 {
            self.write_back(&self.cache.all_dirty_pages());
        }
        let mut stage = 0;
        self.until(|fs, cx| fs.sync(&mut stage, cx)).expect("a checkpoint has room");
        self.complete();
    }

    /// No block has two owners; segments know what is live in them; what is not dirty lies where the log says, in its last version.
    pub fn check(&mut self) {
        let all = self.fs.tree.all();
        let mut owners: HashMap<Block, PageKey> = HashMap::new();
        let mut live = vec![0; self.fs.segments.count() as usize];
        for &(key, block) in &all {
            if let Some(other) = owners.insert(block, key) {
                panic!("block {block} belongs to {key:?} and to {other:?}");
            }
            live[self.fs.segments.of(block) as usize] += 1;
            if !self.cache.is_dirty(key) && key.owner != Owner::META {
                self.shadow().lies_at(key, block);
            }
        }
        for (segment, &live) in live.iter().enumerate() {
            let share = f64::from(live) / f64::from(self.fs.segments.blocks);
            assert_eq!(self.fs.segments.utilisation(segment as u32), share, "segment {segment}");
        }
        assert_eq!(self.fs.segments.live, all.len() as u64);
        assert_eq!(self.shadow().fault(), None);
    }
}
