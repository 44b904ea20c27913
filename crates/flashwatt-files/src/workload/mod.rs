//! The workload whose requests a file system makes: its threads, the processors that they run on, its figures, and the image of its disk.

mod figures;
mod image;
mod processors;
mod tasks;
mod threads;

use std::hint::cold_path;

pub use figures::{FileFigures, FlowFigures};
pub use image::Image;
use processors::Processors;
use tasks::{Agenda, Waits};

use crate::check::{FilesFound, HeldVersions, Kept};
use crate::disk::{IoFigures, IoId, Ios, Task, WriteCause};
use crate::operation::{DirId, FileId, OpError, Source};
use crate::settings::{PageCacheSettings, ProcessorSettings};
use crate::system::{BLOCK_BYTES, FileSystem, Work};
use crate::vfs::{Caller, Doing, Flusher, History, NoRoom, Vfs, Windows, age};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Origin, OriginKind, OriginName, SourceKind, VersionClock, Workload};

/// Writes of the flusher that are under way at a time; it sends the next batch when there are fewer (BLKDEV_MAX_RQ).
const WRITES_UNDER_WAY: u32 = 128;

/// When threads stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// After this number of operations, if any.
    pub operations: Option<u64>,
    /// After this time in ns from the start of what is measured, if any.
    pub lasts_ns: Option<Nanos>,
}

/// The disk that a source works on.
pub struct Disk<'a> {
    /// The registered name of its file system.
    pub name: &'static str,
    /// The empty file system.
    pub system: Box<dyn FileSystem>,
    /// Its history before the source's files are laid down, if it has one.
    pub history: Option<History<'a>>,
}

/// A thread of the source.
#[derive(Debug, Default)]
struct Thread {
    pub doing: Option<Doing>,
    /// The end of an operation whose processor time passes.
    pub ending: Option<Result<u64, OpError>>,
    pub windows: Windows,
    pub state: State,
    /// Since when it waits because too much is dirty.
    pub throttled_since: Option<Nanos>,
}

/// Whether a thread runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Running,
    /// Until another thread wakes it.
    Waiting,
    Ended,
}

/// What happens after the threads have ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Running,
    /// Everything is written back.
    Unmounting,
    /// What makes it durable is written, in stages.
    Syncing(u32),
    Ended,
}

/// Threads that carry out operations on files, and the file system that turns them into requests.
pub struct FileWorkload {
    source: Box<dyn Source>,
    name: String,
    /// Of the program's file, if it was read from one.
    input_sha256: Option<String>,
    system_name: &'static str,
    vfs: Vfs,
    threads: Vec<Thread>,
    processor: ProcessorSettings,
    processors: Processors,
    processes: Vec<u16>,
    /// Threads that may have operations left.
    alive: usize,
    agenda: Agenda,
    waits: Waits,
    throttled: Vec<Task>,
    flusher: Flusher,
    /// Whether the flusher has sent as much as it may, and goes on when some of it has ended.
    flusher_is_full: bool,
    /// When the file system looks for work of its own next; a past time if it does not.
    look_at_ns: Nanos,
    end: End,
    /// Operations that have begun since what is measured began, and when that was; none before it.
    begun: u64,
    measured_ns: Option<Nanos>,
    /// Whether the loop has heard of that.
    has_said_so: bool,
    phase: Phase,
    flows: Vec<FlowFigures>,
    warnings: Vec<String>,
    /// When the figures began, and the end of the last operation.
    since_ns: Nanos,
    until_ns: Nanos,
    /// Tasks that waited for the request that ends.
    woken: Vec<Task>,
}

impl FileWorkload {
    /// A source on a file system, whose disk is laid down now.
    ///
    /// # Errors
    /// There is no room, or the user stopped the disk's history.
    pub fn new(
        name: String,
        source: Box<dyn Source>,
        disk: Disk<'_>,
        settings: PageCacheSettings,
        processor: ProcessorSettings,
        end: End,
    ) -> Result<Self, NoRoom> {
        let specs = source.threads();
        let processes: Vec<u16> = (1..=specs.len()).map(|thread| thread.min(usize::from(u16::MAX)) as u16).collect();
        let origins = std::iter::once(Origin(0)).chain(specs.iter().map(|spec| Origin(spec.process))).collect();
        let ios = Ios::new((settings.max_request_bytes / BLOCK_BYTES) as u32, origins);
        let look_ns = settings.dirty_writeback_ns;
        let mut vfs = Vfs::new(disk.system, settings, ios);
        let tree = source.tree();
        vfs.number(tree);
        if let Some(history) = disk.history {
            age(&mut vfs, history, DirId(tree.dirs() as u32))?;
        }
        vfs.lay_down(tree)?;
        let threads: Vec<Thread> = specs.iter().map(|_| Thread::default()).collect();
        let mut agenda = Agenda::default();
        (0..threads.len()).for_each(|thread| agenda.set(0, thread as Task));
        let flusher = threads.len() as Task;
        agenda.set(look_ns, flusher);
        agenda.set(0, flusher + 1);
        let measures = source.measured();
        Ok(FileWorkload {
            flows: vec![FlowFigures::default(); source.flows().len()],
            waits: Waits::new(threads.len() + 2),
            alive: threads.len(),
            processors: Processors::new(processor.cores, threads.len()),
            processor,
            processes,
            source,
            name,
            input_sha256: None,
            system_name: disk.name,
            vfs,
            threads,
            agenda,
            throttled: Vec::new(),
            flusher: Flusher::new(look_ns),
            flusher_is_full: false,
            look_at_ns: 0,
            end,
            begun: 0,
            measured_ns: measures.then_some(0),
            has_said_so: measures,
            phase: Phase::Running,
            warnings: Vec::new(),
            since_ns: 0,
            until_ns: 0,
            woken: Vec::new(),
        })
    }

    /// The same with the SHA-256 (hex) of the program's file.
    pub fn with_input(self, input_sha256: Option<String>) -> Self {
        FileWorkload { input_sha256, ..self }
    }

    /// The figures since the start or the last [`Workload::measured`].
    pub fn figures(&self) -> FileFigures {
        FileFigures { flows: self.flows.clone(), io: self.vfs.io_figures.clone() }
    }

    /// Seconds from the beginning of the figures to the end of the last operation.
    pub fn seconds(&self) -> f64 {
        self.until_ns.saturating_sub(self.since_ns) as f64 / 1e9
    }

    /// The registered name of the file system.
    pub fn system_name(&self) -> &'static str {
        self.system_name
    }

    /// The file system.
    pub fn system(&self) -> &dyn FileSystem {
        self.vfs.system.as_ref()
    }

    /// The files that exist, and their lengths in bytes.
    pub fn files(&self) -> impl Iterator<Item = (FileId, u64)> {
        let ids = (0..self.source.tree().files.len() as u32).map(FileId);
        ids.filter_map(|file| Some((file, self.vfs.bytes(file)?)))
    }

    /// What a mount finds after a power cut now, on a drive that holds these versions of blocks; none unless an account of that is
    /// kept ([`Workload::follow`]).
    pub fn after_cut(&self, found: HeldVersions) -> Option<FilesFound> {
        let kept = self.vfs.cache.shadow.as_ref()?.kept.as_ref()?;
        Some(kept.after_cut(&|file| self.vfs.system.leads_to(file), found))
    }

    /// The source of operations.
    pub fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }

    fn flusher_task(&self) -> Task {
        self.threads.len() as Task
    }

    fn run_flusher(&mut self, now: Nanos) {
        loop {
            self.flusher_is_full = self.vfs.ios.written_back >= WRITES_UNDER_WAY;
            if self.flusher_is_full {
                break;
            }
            match self.flusher.go_on(&mut self.vfs, now) {
                Ok(true) => {}
                Ok(false) => {
                    // If much is dirty nevertheless, all of it is on its way to the disk.
                    self.flusher_is_full = self.vfs.has_much_dirty();
                    break;
                }
                Err(_) => {
                    let flusher = self.flusher_task();
                    self.flusher_is_full = self.register_waits(flusher);
                    break;
                }
            }
        }
        if now >= self.flusher.next_look_ns && self.phase == Phase::Running {
            self.look_at_threads(now);
            self.flusher.next_look_ns = now + self.vfs.settings.dirty_writeback_ns;
            self.agenda.set(self.flusher.next_look_ns, self.flusher_task());
        }
        self.go_on_unmounting(now);
    }

    /// The file system's own work in the background.
    fn run_system(&mut self, now: Nanos) {
        let task = self.flusher_task() + 1;
        loop {
            let caller = Caller { process: 0, now, cause: WriteCause::Cleaning };
            match self.vfs.with(caller, |system, cx| system.work(cx)) {
                Ok(Work::More) => {}
                Ok(Work::At(at)) => return self.look_again(at, now),
                Ok(Work::None) => return,
                Err(_) => {
                    self.register_waits(task);
                    return;
                }
            }
        }
    }

    /// The file system looks for work at a time, and is not called twice at it.
    fn look_again(&mut self, at: Nanos, now: Nanos) {
        if at < self.look_at_ns || self.look_at_ns <= now {
            self.look_at_ns = at;
            self.agenda.set(at, self.flusher_task() + 1);
        }
    }

    fn go_on_unmounting(&mut self, now: Nanos) {
        if self.phase == Phase::Unmounting && self.vfs.cache.unwritten() == 0 && !self.flusher_is_full {
            self.phase = Phase::Syncing(0);
        }
        let Phase::Syncing(mut stage) = self.phase else { return };
        let caller = Caller { process: 0, now, cause: WriteCause::Unmount };
        let synced = self.vfs.with(caller, |system, cx| system.sync(&mut stage, cx));
        self.phase = Phase::Syncing(stage);
        if synced.is_ok() {
            self.phase = Phase::Ended;
            self.vfs.check_places();
        }
        let flusher = self.flusher_task();
        self.register_waits(flusher);
    }
}

impl Workload for FileWorkload {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        self.run(now);
        if let Some(fault) = self.vfs.cache.shadow.as_ref().and_then(|shadow| shadow.fault()) {
            cold_path();
            return Err(Fault::key("workload.files.system", "a page is not where it belongs").found(fault).into());
        }
        if self.measured_ns.is_some() && !std::mem::replace(&mut self.has_said_so, true) {
            return Ok(Next::Measure);
        }
        if let Some((tag, request)) = self.vfs.ios.next(now) {
            return Ok(Next::Request(tag, request));
        }
        if self.phase == Phase::Ended {
            return Ok(Next::End);
        }
        Ok(self.agenda.next_at().map_or(Next::WaitForCompletion, Next::WaitUntil))
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        self.vfs.ended(IoId(done.tag.0), &mut self.woken);
        for at in 0..self.woken.len() {
            if self.waits.ended(self.woken[at]) {
                self.agenda.set(now, self.woken[at]);
            }
        }
        self.woken.clear();
        if !self.throttled.is_empty() && !self.vfs.is_throttled() {
            self.throttled.drain(..).for_each(|task| self.agenda.set(now, task));
        }
        let has_room = self.flusher_is_full && self.vfs.ios.written_back < WRITES_UNDER_WAY;
        if has_room || (self.phase == Phase::Unmounting && self.vfs.ios.under_way() == 0) {
            self.agenda.set(now, self.flusher_task());
        }
    }

    fn measured(&mut self, now: Nanos) {
        self.since_ns = now;
        self.flows.fill(FlowFigures::default());
        self.vfs.io_figures = IoFigures::default();
    }

    fn prepares(&self) -> bool {
        !self.has_said_so
    }

    fn check(&mut self) {
        self.vfs.cache.shadow = Some(Box::default());
    }

    fn follow(&mut self, versions: &VersionClock) {
        let kept = Kept::new(versions.clone(), self.vfs.system.mounts());
        self.vfs.cache.shadow.get_or_insert_default().kept = Some(Box::new(kept));
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Filesystem
    }

    fn warnings(&self) -> Vec<String> {
        self.source.warnings().into_iter().chain(self.warnings.iter().cloned()).collect()
    }

    fn input_sha256(&self) -> Option<String> {
        self.input_sha256.clone()
    }

    fn origins(&self) -> Vec<OriginName> {
        let names = std::iter::once("file system").chain(self.source.processes().iter().map(String::as_str));
        names.map(|name| OriginName { name: name.into(), kind: OriginKind::Process }).collect()
    }

    fn known(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }
}
