//! Operations on files, carried out on a file system and the page cache.

mod aged;
mod direct;
mod flusher;
mod lay_down;
mod restarts;

use std::collections::BTreeMap;
use std::ops::Range;

pub use aged::{History, age};
pub use flusher::Flusher;
pub use lay_down::NoRoom;
use restarts::Restarts;

use crate::cache::PageCache;
use crate::cache::read_ahead::{Plan, Window};
use crate::disk::{IoFigures, IoId, Ios, Kind, PageId, Task, WriteCause};
use crate::operation::{DirId, FileId, FileOp, Mode, OpError, OpKind};
use crate::settings::PageCacheSettings;
use crate::system::{BLOCK_BYTES, Cx, FileSystem, Owner, PageKey, Run, Stop, Sync, Tried};
use flashwatt_base::units::Nanos;

/// No file, as a length.
const NO_FILE: u64 = u64::MAX;

/// An operation that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Doing {
    pub op: FileOp,
    /// The number of its flow.
    pub flow: u16,
    pub began_ns: Nanos,
    /// Bytes that have been read or written.
    pub moved: u64,
    /// Bytes of calls whose processor time has passed.
    charged: u64,
    /// The stage of making them durable.
    stage: u32,
    /// The number of the fsync in the account of what a mount finds, if one is kept.
    kept: Option<u32>,
    /// Whether the last call has written its bytes, and makes them durable.
    is_syncing: bool,
    /// Whether the requests of the last direct call have been sent.
    is_under_way: bool,
    /// How often the present call of a write has begun again.
    restarts: Restarts,
    /// Whether the page that is read now was not there at the first look.
    has_waited: bool,
    /// Whether the last call has read its bytes, and the file system has not heard of it.
    is_accessing: bool,
}

impl Doing {
    pub fn new(op: FileOp, flow: u16, now: Nanos) -> Self {
        Doing {
            op,
            flow,
            began_ns: now,
            moved: 0,
            charged: 0,
            stage: 0,
            kept: None,
            is_syncing: false,
            is_under_way: false,
            restarts: Restarts::default(),
            has_waited: false,
            is_accessing: false,
        }
    }

    /// Bytes up to the end of the next call, of an operation of this number of bytes.
    fn call_end(&self, most: u64) -> u64 {
        most.min((self.moved / self.op.call_bytes + 1) * self.op.call_bytes)
    }

    /// Bytes of the call that has ended.
    pub fn take_call(&mut self) -> u64 {
        self.moved - std::mem::replace(&mut self.charged, self.moved)
    }
}

/// Files that a thread has read last, and their windows of reading ahead.
pub type Windows = Vec<(FileId, Window)>;

/// Files of a thread whose windows are known.
const WINDOWS_MAX: usize = 8;

/// A file system with its page cache.
pub struct Vfs {
    pub system: Box<dyn FileSystem>,
    pub cache: PageCache,
    pub ios: Ios,
    pub io_figures: IoFigures,
    pub settings: PageCacheSettings,
    /// Dirty pages above which pages are written back, and pages above which writers wait.
    limits: [usize; 2],
    /// Lengths of files in bytes.
    bytes: Vec<u64>,
    /// Directories of files.
    dirs: Vec<DirId>,
    /// By file that was written past the cache: the page behind those. Such a write may have ended at the disk, and not changed the length yet.
    direct_ends: BTreeMap<FileId, u32>,
    /// Pages of the request that ends.
    arrived: Vec<PageId>,
    /// What the present caller waits for.
    pub waits: Vec<IoId>,
    /// Whether the file system asks for a turn of its own work.
    pub wants_work: bool,
    /// Whether it wants to hear of reads.
    keeps_access_times: bool,
}

/// Who calls, and when.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    pub process: u16,
    pub now: Nanos,
    pub cause: WriteCause,
}

impl Vfs {
    /// A file system on an empty disk, and a cold cache.
    pub fn new(system: Box<dyn FileSystem>, settings: PageCacheSettings, ios: Ios) -> Self {
        let keeps_access_times = system.keeps_access_times();
        Vfs {
            system,
            cache: PageCache::new(settings.pages()),
            ios,
            io_figures: IoFigures::default(),
            limits: settings.limits(),
            settings,
            bytes: Vec::new(),
            dirs: Vec::new(),
            direct_ends: BTreeMap::new(),
            arrived: Vec::new(),
            waits: Vec::new(),
            wants_work: false,
            keeps_access_times,
        }
    }

    /// A request has ended: its pages are at rest, and the tasks that waited for it move to the end of a list.
    pub fn ended(&mut self, io: IoId, woken: &mut Vec<Task>) {
        let written = self.ios.ended(io, &mut self.arrived, woken);
        if let Some(shadow) = &mut self.cache.shadow {
            shadow.arrived(written);
        }
        self.arrived.drain(..).for_each(|page| self.cache.arrived(page));
    }

    /// Calls the file system for a caller.
    #[inline]
    pub fn with<R>(&mut self, caller: Caller, call: impl FnOnce(&mut dyn FileSystem, &mut Cx) -> R) -> R {
        let mut cx = Cx {
            now: caller.now,
            cache: &mut self.cache,
            ios: &mut self.ios,
            figures: &mut self.io_figures,
            waits: &mut self.waits,
            process: caller.process,
            cause: caller.cause,
            is_instant: false,
            wants_work: &mut self.wants_work,
        };
        call(self.system.as_mut(), &mut cx)
    }

    /// The length of a file in bytes; none if there is no such file.
    pub fn bytes(&self, file: FileId) -> Option<u64> {
        self.bytes.get(file.idx()).copied().filter(|&bytes| bytes != NO_FILE)
    }

    /// Whether more is dirty than the background limit.
    pub fn has_much_dirty(&self) -> bool {
        self.cache.dirty_len() > self.limits[0]
    }

    /// Whether writers have to wait until pages are written back.
    pub fn is_throttled(&self) -> bool {
        self.cache.unwritten() > self.limits[1]
    }

    /// Goes on with an operation, up to the end of a call of it. Returns whether that was the last one.
    pub fn go_on(&mut self, doing: &mut Doing, windows: &mut Windows, caller: Caller) -> Tried<bool> {
        let FileOp { kind, file, .. } = doing.op;
        if kind == OpKind::Create {
            return self.create(file, caller).map(|()| true);
        }
        let bytes = self.bytes(file).ok_or(Stop::Failed(OpError::NoFile))?;
        match kind {
            OpKind::Create => Ok(true),
            OpKind::Close => {
                self.system.closed(file);
                Ok(true)
            }
            OpKind::Open | OpKind::Stat => self.with(caller, |system, cx| system.lookup(file, cx)).map(|()| true),
            OpKind::Fsync => self.fsync(doing, Sync::ALL, caller).map(|()| true),
            OpKind::Remove => self.remove(file, bytes, caller).map(|()| true),
            OpKind::Forget => {
                self.cache.forget(Owner::of(file), bytes.div_ceil(BLOCK_BYTES) as u32);
                Ok(true)
            }
            OpKind::Read | OpKind::ReadWhole => self.read(doing, bytes, windows, caller),
            OpKind::Write | OpKind::WriteWhole | OpKind::Append => self.write(doing, bytes, caller),
        }
    }

    /// Makes pages of a file durable.
    fn fsync(&mut self, doing: &mut Doing, sync: Sync, caller: Caller) -> Tried<()> {
        let (file, system) = (doing.op.file, &self.system);
        self.cache.keep(|kept| {
            if doing.kept.is_none() {
                doing.kept = Some(kept.asks(file, &(sync.first..sync.end), &system.leads_to(file)));
            }
        });
        let stage = &mut doing.stage;
        self.with(caller, |system, cx| system.fsync(file, sync, stage, cx))?;
        self.cache.keep(|kept| doing.kept.take().into_iter().for_each(|number| kept.has_synced(number)));
        Ok(())
    }

    /// As [`Self::with`], of a call that changes metadata which leads to a file's data.
    fn with_file<R>(
        &mut self,
        file: FileId,
        caller: Caller,
        call: impl FnOnce(&mut dyn FileSystem, &mut Cx) -> R,
    ) -> R {
        self.cache.keep(|kept| kept.act_for(Some(file)));
        let done = self.with(caller, call);
        self.cache.keep(|kept| kept.act_for(None));
        done
    }

    fn create(&mut self, file: FileId, caller: Caller) -> Tried<()> {
        if self.bytes(file).is_some() {
            return Err(Stop::Failed(OpError::Exists));
        }
        let dir = self.dirs[file.idx()];
        self.with_file(file, caller, |system, cx| system.create(file, dir, cx))?;
        self.bytes[file.idx()] = 0;
        Ok(())
    }

    fn remove(&mut self, file: FileId, bytes: u64, caller: Caller) -> Tried<()> {
        let owner = Owner::of(file);
        self.with(caller, |system, cx| {
            cx.wait_written(owner);
            cx.wait()?;
            system.remove(file, cx)
        })?;
        let direct_end = self.direct_ends.remove(&file).unwrap_or_default();
        let end = (bytes.div_ceil(BLOCK_BYTES) as u32).max(direct_end);
        (0..end).for_each(|page| self.cache.remove(PageKey::new(owner, page)));
        // A write that found the disk full has left pages behind the end of the file.
        self.cache.dirty_pages(owner).into_iter().for_each(|key| self.cache.remove(key));
        self.bytes[file.idx()] = NO_FILE;
        self.cache.keep(|kept| kept.file_removed(file));
        Ok(())
    }

    /// The next call of a read, which ends at the end of the file.
    fn read(&mut self, doing: &mut Doing, bytes: u64, windows: &mut Windows, caller: Caller) -> Tried<bool> {
        let FileOp { kind, file, offset, bytes: asked, mode, .. } = doing.op;
        let (offset, asked) = if kind == OpKind::ReadWhole { (0, bytes) } else { (offset, asked) };
        let end = bytes.min(offset.saturating_add(asked));
        if mode == Mode::Direct {
            return self.read_direct(doing, offset, end, caller);
        }
        let call_end = match doing.is_accessing {
            false => offset + doing.call_end(end.saturating_sub(offset)),
            true => offset + doing.moved,
        };
        while offset + doing.moved < call_end {
            let at = offset + doing.moved;
            let page = (at / BLOCK_BYTES) as u32;
            let asked = (call_end.div_ceil(BLOCK_BYTES) as u32) - page;
            let file_pages = bytes.div_ceil(BLOCK_BYTES) as u32;
            let window = window_of(windows, file);
            let key = PageKey::new(Owner::of(file), page);
            let ahead_bytes = if mode == Mode::Random { 0 } else { self.settings.read_ahead_bytes };
            let asked = Asked { pages: asked, file_pages, most: (ahead_bytes / BLOCK_BYTES) as u32 };
            let read = self.read_page(key, asked, window, caller);
            doing.has_waited |= read.is_err();
            read?;
            window.read(page);
            self.io_figures.looked += 1;
            self.io_figures.hits += u64::from(!std::mem::take(&mut doing.has_waited));
            doing.moved += call_end.min((u64::from(page) + 1) * BLOCK_BYTES) - at;
        }
        self.accessed(doing, caller)?;
        Ok(offset + doing.moved >= end)
    }

    /// A call has read its bytes: the time of that may count.
    #[inline]
    fn accessed(&mut self, doing: &mut Doing, caller: Caller) -> Tried<()> {
        if self.keeps_access_times {
            doing.is_accessing = true;
            self.with(caller, |system, cx| system.accessed(doing.op.file, cx))?;
            doing.is_accessing = false;
        }
        Ok(())
    }

    /// A page is in memory, or is read, with others ahead of it.
    fn read_page(&mut self, key: PageKey, asked: Asked, window: &mut Window, caller: Caller) -> Tried<()> {
        let most = asked.most;
        if let Some(page) = self.cache.touch(key) {
            if self.cache.take_mark(page) {
                let plan = window.marked(key.index, asked.pages, most);
                self.start_reads(key.owner, plan, asked.file_pages, caller).ok();
                self.waits.clear(); // nobody waits for what is read ahead
            }
            return self.wait_read(page);
        }
        let plan = window.missed(key.index, asked.pages, most);
        self.start_reads(key.owner, plan, asked.file_pages, caller)?;
        self.arrived(key)
    }

    /// Starts reading the pages of a plan that are not in memory.
    fn start_reads(&mut self, owner: Owner, plan: Plan, file_pages: u32, caller: Caller) -> Tried<()> {
        let end = plan.start.saturating_add(plan.pages).min(file_pages);
        let mut at = plan.start;
        while at < end {
            let key = PageKey::new(owner, at);
            if self.cache.holds(key) {
                at += 1;
                continue;
            }
            let longest = (at..end).take_while(|&page| !self.cache.holds(PageKey::new(owner, page))).count() as u32;
            let longest = longest.min(self.ios.longest_blocks);
            match self.with(caller, |system, cx| system.map(key, longest, cx))? {
                Some(run) => {
                    self.check_read(key, run);
                    let io = self.ios.send(Kind::Read, run.block, run.pages, caller.process, true);
                    (at..at + run.pages).for_each(|index| self.read_into(PageKey::new(owner, index), io));
                    at += run.pages;
                }
                None => {
                    self.cache.insert(key);
                    at += 1;
                }
            }
        }
        if let Some(mark) = plan.mark
            && let Some(page) = self.cache.touch(PageKey::new(owner, mark))
        {
            self.cache.mark(page);
        }
        Ok(())
    }

    /// Pages from this one on, which are not in memory, are read from a run.
    fn check_read(&mut self, first: PageKey, run: Run) {
        if let Some(shadow) = &mut self.cache.shadow {
            (0..run.pages).for_each(|at| shadow.lies_at(PageKey::new(first.owner, first.index + at), run.block + at));
        }
    }

    /// Looks for every changed page in its place. Nothing is dirty.
    pub fn check_places(&mut self) {
        let pages = self.cache.shadow.as_ref().map(|shadow| shadow.changed_pages());
        for key in pages.into_iter().flatten() {
            let place = self.instantly(|system, cx| system.map(key, 1, cx));
            let Some(shadow) = &mut self.cache.shadow else { return };
            match place {
                Ok(Some(run)) => shadow.lies_at(key, run.block),
                _ => shadow.lies_nowhere(key),
            }
        }
    }

    /// A page, which is not in memory, is read by a request.
    fn read_into(&mut self, key: PageKey, io: IoId) {
        self.io_figures.data_reads += 1;
        let page = self.cache.insert(key);
        self.cache.start_read(page, io);
        self.ios.add_page(io, page);
    }

    /// The next call of a write.
    fn write(&mut self, doing: &mut Doing, bytes: u64, caller: Caller) -> Tried<bool> {
        let file = doing.op.file;
        match doing.op.kind {
            OpKind::Append if doing.moved == 0 => doing.op.offset = bytes,
            OpKind::WriteWhole => doing.op.offset = 0,
            _ => {}
        }
        if doing.op.mode == Mode::Direct {
            return self.write_direct(doing, bytes, caller);
        }
        let FileOp { offset, bytes: asked, call_bytes, mode, .. } = doing.op;
        if doing.moved < asked && !doing.is_syncing {
            if self.is_throttled() && doing.restarts.goes_on_from().is_none() {
                return Err(Stop::Wait);
            }
            let end = offset + doing.call_end(asked);
            self.write_call(file, offset + doing.moved..end, &mut doing.restarts, caller)?;
            (doing.moved, doing.restarts) = (end - offset, Restarts::default());
            doing.is_syncing = mode == Mode::Synchronous;
        }
        if doing.is_syncing {
            let end = offset + doing.moved;
            let begin = offset + (doing.moved - 1) / call_bytes * call_bytes;
            let (first, end) = ((begin / BLOCK_BYTES) as u32, end.div_ceil(BLOCK_BYTES) as u32);
            self.fsync(doing, Sync { first, end, data_only: true }, caller)?;
            (doing.is_syncing, doing.stage) = (false, 0);
        }
        Ok(doing.moved >= asked)
    }

    /// One call of a write, into the page cache.
    fn write_call(&mut self, file: FileId, call: Range<u64>, restarts: &mut Restarts, caller: Caller) -> Tried<()> {
        let (bytes, owner) = (self.bytes[file.idx()], Owner::of(file));
        let pages = (call.start / BLOCK_BYTES) as u32..call.end.div_ceil(BLOCK_BYTES) as u32;
        if restarts.goes_on_from().is_none() {
            let begins_inside = !call.start.is_multiple_of(BLOCK_BYTES);
            self.read_part(owner, pages.start, begins_inside || call.end < page_end(pages.start, bytes), caller)?;
            self.read_part(owner, pages.end - 1, call.end < page_end(pages.end - 1, bytes), caller)?;
        }
        self.change(file, pages, restarts, caller)?;
        self.resize(file, bytes.max(call.end), caller)
    }

    /// A file has been written, and has this length now.
    fn resize(&mut self, file: FileId, bytes: u64, caller: Caller) -> Tried<()> {
        let written = |system: &mut dyn FileSystem, cx: &mut Cx| system.written(file, bytes, cx);
        // A length leads to data; a time does not.
        let is_longer = bytes > self.bytes[file.idx()];
        if is_longer { self.with_file(file, caller, written) } else { self.with(caller, written) }?;
        self.bytes[file.idx()] = bytes;
        Ok(())
    }

    /// Pages of a file get places, and change. Page by page, as each gets its place: one that has a place and no content would show what
    /// another file had there, if the disk is full before the next one has its own.
    fn change(&mut self, file: FileId, pages: Range<u32>, restarts: &mut Restarts, caller: Caller) -> Tried<()> {
        for page in restarts.goes_on_from().unwrap_or(pages.start)..pages.end {
            let found = self.with_file(file, caller, |system, cx| system.prepare_write(file, page..page + 1, cx));
            if found.is_err() {
                restarts.stopped_at(page);
            }
            found?;
            self.cache.dirty(PageKey::new(Owner::of(file), page), caller.now);
        }
        Ok(())
    }

    /// A page of which only a part is written is read first, if it has content.
    fn read_part(&mut self, owner: Owner, page: u32, is_part: bool, caller: Caller) -> Tried<()> {
        let key = PageKey::new(owner, page);
        let Some(file) = owner.file().filter(|_| is_part) else { return self.arrived(key) };
        let pages = self.bytes[file.idx()].div_ceil(BLOCK_BYTES) as u32;
        if page < pages && !self.cache.holds(key) {
            self.start_reads(owner, Plan { start: page, pages: 1, mark: None }, pages, caller)?;
        }
        self.arrived(key)
    }

    /// Uses a page. Waits for it if it is being read.
    fn arrived(&mut self, key: PageKey) -> Tried<()> {
        self.cache.touch(key).map_or(Ok(()), |page| self.wait_read(page))
    }

    /// Waits for a page that is being read.
    fn wait_read(&mut self, page: PageId) -> Tried<()> {
        let reading = self.cache.io_reading(page);
        self.waits.extend(reading);
        if reading.is_some() { Err(Stop::Wait) } else { Ok(()) }
    }
}

/// How much is read.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// Pages from this one to the end of the call.
    pages: u32,
    /// Pages of the file.
    file_pages: u32,
    /// Longest window of reading ahead in pages.
    most: u32,
}

/// The end of a page's content in a file of this length.
fn page_end(page: u32, bytes: u64) -> u64 {
    bytes.min((u64::from(page) + 1) * BLOCK_BYTES)
}

/// The window of a file that a thread reads. Of many files, the one that was begun first is forgotten.
fn window_of(windows: &mut Windows, file: FileId) -> &mut Window {
    let at = windows.iter().position(|(known, _)| *known == file).unwrap_or_else(|| {
        if windows.len() == WINDOWS_MAX {
            windows.remove(0);
        }
        windows.push((file, Window::default()));
        windows.len() - 1
    });
    &mut windows[at].1
}
