//! The flusher: writes dirty pages back (Linux, fs/fs-writeback.c).
//!
//! It looks at a fixed interval. Owners whose pages have been dirty for too long are written back, the oldest first, each in the
//! order of its pages. While more is dirty than the background limit, owners are written back of whatever age.
//!
//! Deviations: a writer waits when too much is dirty, and until that is not so; the kernel slows it down before
//! (balance_dirty_pages). An inode that has changed is a dirty block of metadata at once; in the kernel it becomes one when the
//! flusher comes to it.

use super::{Caller, Vfs};
use crate::disk::WriteCause;
use crate::system::{Owner, PageKey, Tried};
use flashwatt_base::units::Nanos;

/// Pages of a batch, and of an owner in its turn (MAX_WRITEBACK_PAGES: 4 MiB).
const BATCH_PAGES: usize = 1024;

/// What the flusher is doing.
#[derive(Debug, Default)]
pub struct Flusher {
    /// The next look for pages that have been dirty for too long.
    pub next_look_ns: Nanos,
    /// Everything is written back: the file system is being unmounted.
    pub is_last: bool,
    /// Pages that go to the disk next, and why.
    batch: Vec<PageKey>,
    cause: Option<WriteCause>,
    /// The owners of those pages.
    owners: Vec<Owner>,
}

impl Flusher {
    /// Looks for the first time at this time in ns.
    pub fn new(next_look_ns: Nanos) -> Self {
        Flusher { next_look_ns, ..Flusher::default() }
    }

    /// Sends a batch of dirty pages. Returns whether there was one: pages that are on their way to the disk and have changed since
    /// have to arrive first.
    pub fn go_on(&mut self, vfs: &mut Vfs, now: Nanos) -> Tried<bool> {
        if self.batch.is_empty() {
            self.gather(vfs, now);
        }
        let Some(cause) = self.cause else { return Ok(false) };
        let is_any = !self.batch.is_empty();
        // A page may have been written by somebody else while the flusher waited.
        self.batch.retain(|&key| vfs.cache.is_dirty(key) && vfs.cache.io_writing(key).is_none());
        let batch = &self.batch;
        if !batch.is_empty() {
            vfs.with(Caller { process: 0, now, cause }, |system, cx| system.write_out(batch, cx))?;
        }
        self.batch.clear();
        self.owners.drain(..).for_each(|owner| vfs.cache.requeue_dirty(owner, now));
        Ok(is_any)
    }

    /// Collects pages of the owners whose turn it is.
    fn gather(&mut self, vfs: &mut Vfs, now: Nanos) {
        let (cause, until) = if self.is_last {
            (WriteCause::Unmount, now)
        } else if vfs.has_much_dirty() {
            (WriteCause::Background, now)
        } else {
            let Some(expired) = now.checked_sub(vfs.settings.dirty_expire_ns) else { return };
            (WriteCause::Expired, expired)
        };
        self.cause = Some(cause);
        while self.batch.len() < BATCH_PAGES
            && let Some(owner) = vfs.cache.take_oldest_dirty(until)
        {
            let dirty = vfs.cache.dirty_pages(owner);
            let resting = dirty.into_iter().filter(|&key| vfs.cache.io_writing(key).is_none());
            self.batch.extend(resting.take(BATCH_PAGES));
            self.owners.push(owner);
        }
    }
}
