//! An aged disk: files of others fill a part of it, and were replaced again and again before the program's files are laid down.
//!
//! The files are made, written and removed by the operations that a program has, through the page cache and the file system with its
//! cleaner, on a disk that answers at once. No time passes and no figure counts it. Afterwards the file system is unmounted: everything is on the
//! disk, and nothing in memory. The method is that of ageing by churn at a constant utilisation (Smith and Seltzer, *File system
//! aging*, SIGMETRICS 1997), with random draws in place of a recorded history.

use super::{Caller, Doing, Vfs, Windows};
use crate::disk::{IoId, WriteCause};
use crate::operation::{DirId, FileId, FileOp, Mode, OpKind};
use crate::program::Shape;
use crate::settings::Aged;
use crate::system::{BLOCK_BYTES, Stop, Tried, Work};
use crate::vfs::flusher::Flusher;
use crate::vfs::lay_down::NoRoom;
use flashwatt_base::progress::{Progress, Watch};
use flashwatt_base::rng::Rng;

/// The history that a disk gets.
pub struct History<'a> {
    /// What it leads to.
    pub aged: Aged,
    /// Fixes all its draws.
    pub seed: u64,
    /// Receives the progress; the work ends if it returns `false`.
    pub progress: &'a mut dyn FnMut(&Progress) -> bool,
}

/// Shape of the gamma distribution of the files' lengths, as filebench has it.
const GAMMA_SHAPE: f64 = 1.5;
/// Files of a directory, on average.
const DIRECTORY_FILES: u64 = 64;
/// Longest call of a write.
const CALL_BYTES: u64 = 1 << 20;
/// Share of what is to be filled that may be left: a file that takes the place of another one has room to be longer.
const SLACK: f64 = 0.01;

const CALLER: Caller = Caller { process: 1, now: 0, cause: WriteCause::Expired };

/// Ages the disk of a file system that is empty but for directories. Directories of others have the numbers from `first_dir` on.
///
/// # Errors
/// The file system does not become that full, or the user stopped it.
pub fn age(vfs: &mut Vfs, history: History, first_dir: DirId) -> Result<(), NoRoom> {
    let History { aged, seed, progress } = history;
    let free = vfs.system.usage().free_blocks;
    let blocks = (free as f64 * aged.fill_fraction) as u64;
    let dirs = (blocks * BLOCK_BYTES / aged.mean_file_bytes / DIRECTORY_FILES).max(1) as u32;
    for dir in 0..dirs {
        vfs.make_dir(DirId(first_dir.0 + dir), DirId::ROOT).map_err(NoRoom::OfOthers)?;
    }
    let mut watch = Watch::new(progress);
    watch.expect(Some((blocks as f64 * (1.0 + aged.churn)) as u64));
    let mut ager = Ager {
        vfs,
        watch,
        flusher: Flusher::default(),
        rng: Rng::new(seed),
        lengths: Shape::gamma(GAMMA_SHAPE, aged.mean_file_bytes as f64),
        dirs: first_dir.0..first_dir.0 + dirs,
        free_at_end: free - blocks,
        slack: (blocks as f64 * SLACK) as u64,
        files: Vec::new(),
        absent: Vec::new(),
        written: 0,
    };
    ager.fill()?;
    let churned = ager.written + (ager.written as f64 * aged.churn) as u64;
    while ager.written < churned {
        ager.replace()?;
    }
    ager.unmount()
}

struct Ager<'a> {
    vfs: &'a mut Vfs,
    /// Told of every block written.
    watch: Watch<'a>,
    flusher: Flusher,
    rng: Rng,
    lengths: Shape,
    dirs: std::ops::Range<u32>,
    /// Free blocks that are left.
    free_at_end: u64,
    slack: u64,
    files: Vec<FileId>,
    /// Numbers of files that were removed.
    absent: Vec<FileId>,
    /// Bytes written.
    written: u64,
}

impl Ager<'_> {
    /// Blocks that are still to be filled.
    fn left(&self) -> u64 {
        self.vfs.system.usage().free_blocks.saturating_sub(self.free_at_end)
    }

    /// Makes files until the disk is as full as it is to be.
    fn fill(&mut self) -> Result<(), NoRoom> {
        while self.left() > self.slack {
            self.make_file()?;
        }
        Ok(())
    }

    fn make_file(&mut self) -> Result<(), NoRoom> {
        let bytes = (self.lengths.draw(&mut self.rng) as u64).min(self.left() * BLOCK_BYTES).max(1);
        let dir = DirId(self.dirs.start + self.rng.below(u64::from(self.dirs.end - self.dirs.start)) as u32);
        let absent = self.absent.pop();
        let file = self.vfs.number_file(absent, dir);
        self.carry_out(FileOp::plain(OpKind::Create, file))?;
        let write =
            FileOp { kind: OpKind::WriteWhole, file, offset: 0, bytes, call_bytes: CALL_BYTES, mode: Mode::Cached };
        self.carry_out(write)?;
        self.carry_out(FileOp::plain(OpKind::Close, file))?;
        self.files.push(file);
        self.written += bytes;
        self.watch.done(bytes.div_ceil(BLOCK_BYTES)).map_err(|error| NoRoom::Stopped(Box::new(error)))
    }

    /// Removes a random file, and makes others in its room.
    fn replace(&mut self) -> Result<(), NoRoom> {
        let at = self.rng.below(self.files.len() as u64) as usize;
        let file = self.files.swap_remove(at);
        self.carry_out(FileOp::plain(OpKind::Remove, file))?;
        self.absent.push(file);
        self.make_file()?;
        self.fill()
    }

    fn carry_out(&mut self, op: FileOp) -> Result<(), NoRoom> {
        let (mut doing, mut windows) = (Doing::new(op, 0, 0), Windows::new());
        loop {
            let is_last = self.until_done(|vfs, _| match vfs.go_on(&mut doing, &mut windows, CALLER) {
                // A call that waited for a block has left more dirty pages than a writer may begin with. It names no request: the
                // flusher's turn ends the wait.
                Err(Stop::Wait) if vfs.waits.is_empty() => Ok(false),
                tried => tried,
            })?;
            while self.vfs.has_much_dirty() && self.write_back()? {}
            if is_last {
                return Ok(());
            }
        }
    }

    /// Writes a batch of dirty pages. Returns whether there was one.
    fn write_back(&mut self) -> Result<bool, NoRoom> {
        self.until_done(|vfs, flusher| flusher.go_on(vfs, 0))
    }

    /// Writes everything, lets the file system finish its own work, and takes everything out of memory.
    fn unmount(&mut self) -> Result<(), NoRoom> {
        self.flusher.is_last = true;
        let caller = Caller { process: 0, cause: WriteCause::Unmount, ..CALLER };
        while self.until_done(|vfs, _| vfs.with(caller, |system, cx| system.work(cx)))? == Work::More {}
        while self.write_back()? {}
        let mut stage = 0;
        self.until_done(|vfs, _| vfs.with(caller, |system, cx| system.sync(&mut stage, cx)))?;
        self.vfs.forget_all();
        Ok(())
    }

    /// Carries out a call; the disk answers whatever it waits for.
    fn until_done<R>(&mut self, mut call: impl FnMut(&mut Vfs, &mut Flusher) -> Tried<R>) -> Result<R, NoRoom> {
        loop {
            let tried = call(self.vfs, &mut self.flusher);
            let names_request = !self.vfs.waits.is_empty();
            self.vfs.waits.clear();
            self.answer();
            match tried {
                Ok(done) => return Ok(done),
                Err(Stop::Failed(error)) => return Err(NoRoom::OfOthers(error)),
                Err(Stop::Wait) => assert!(names_request, "a call waits for no request: nothing would end that"),
            }
        }
    }

    /// Every request that was sent has ended.
    fn answer(&mut self) {
        let mut nobody = Vec::new();
        while let Some((tag, _)) = self.vfs.ios.next(0) {
            self.vfs.ended(IoId(tag.0), &mut nobody);
        }
    }
}
