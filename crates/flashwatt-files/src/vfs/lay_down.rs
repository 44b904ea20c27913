//! A disk before a run, laid down without a clock.

use super::{Caller, NO_FILE, Vfs};
use crate::cache::PageCache;
use crate::disk::{IoFigures, WriteCause};
use crate::operation::{DirId, FileId, OpError, Tree};
use crate::system::{BLOCK_BYTES, Cx, FileSystem, Owner, Stop, Tried};
use flashwatt_base::error::Error;

/// Why a disk cannot be laid down.
#[derive(Debug)]
pub enum NoRoom {
    /// This file finds no room.
    Of(FileId, OpError),
    /// The file system does not become as full of others' files as [`crate::Aged::fill_fraction`] says.
    OfOthers(OpError),
    /// The user stopped it.
    Stopped(Box<Error>),
}

impl Vfs {
    /// The files of a tree have the first numbers, and their directories.
    pub fn number(&mut self, tree: &Tree) {
        self.bytes = vec![NO_FILE; tree.files.len()];
        self.dirs = tree.files.iter().map(|file| file.dir).collect();
    }

    /// Lays the directories and files of a tree down, which are numbered: each file whole, in the order of numbers.
    ///
    /// # Errors
    /// The first file that finds no room.
    pub fn lay_down(&mut self, tree: &Tree) -> Result<(), NoRoom> {
        for (at, &parent) in tree.parents.iter().enumerate() {
            self.make_dir(DirId(at as u32 + 1), parent).map_err(|error| NoRoom::Of(FileId(0), error))?;
        }
        for (at, file) in tree.files.iter().enumerate() {
            let (id, Some(bytes)) = (FileId(at as u32), file.bytes) else { continue };
            self.lay_down_file(id, bytes).map_err(|error| NoRoom::Of(id, error))?;
        }
        Ok(())
    }

    /// Makes an empty directory, without a clock.
    pub fn make_dir(&mut self, dir: DirId, parent: DirId) -> Result<(), OpError> {
        self.instantly(|system, cx| system.make_dir(dir, parent, cx))
    }

    /// A file that does not exist is to be made in a directory: one of this number, or of the next one.
    pub fn number_file(&mut self, absent: Option<FileId>, dir: DirId) -> FileId {
        let file = absent.unwrap_or(FileId(self.bytes.len() as u32));
        if absent.is_none() {
            self.bytes.push(NO_FILE);
            self.dirs.push(dir);
        }
        self.dirs[file.idx()] = dir;
        file
    }

    /// Takes everything out of memory after an unmount, and forgets all figures. What a file system notes after its last checkpoint may be dirty.
    pub fn forget_all(&mut self) {
        debug_assert_eq!(self.ios.under_way(), 0);
        debug_assert!(self.cache.all_dirty_pages().iter().all(|key| key.owner == Owner::META));
        self.cache = PageCache::new(self.settings.pages());
        self.io_figures = IoFigures::default();
    }

    fn lay_down_file(&mut self, file: FileId, bytes: u64) -> Result<(), OpError> {
        let dir = self.dirs[file.idx()];
        self.instantly(|system, cx| system.create(file, dir, cx))?;
        let pages = bytes.div_ceil(BLOCK_BYTES) as u32;
        if pages > 0 {
            self.instantly(|system, cx| system.prepare_write(file, 0..pages, cx))?;
        }
        self.instantly(|system, cx| system.written(file, bytes, cx))?;
        self.bytes[file.idx()] = bytes;
        self.system.closed(file);
        Ok(())
    }

    /// Calls the file system while the disk is laid down.
    pub fn instantly<R>(&mut self, call: impl FnOnce(&mut dyn FileSystem, &mut Cx) -> Tried<R>) -> Result<R, OpError> {
        let caller = Caller { process: 0, now: 0, cause: WriteCause::Unmount };
        let done = self.with(caller, |system, cx| {
            cx.is_instant = true;
            call(system, cx)
        });
        done.map_err(|stop| match stop {
            Stop::Failed(error) => error,
            Stop::Wait => unreachable!("nothing waits while the disk is laid down"),
        })
    }
}
