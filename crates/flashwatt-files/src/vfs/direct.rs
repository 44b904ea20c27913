//! Reads and writes past the page cache (`O_DIRECT`).

use super::{Caller, Doing, Restarts, Vfs};
use crate::disk::{Kind, WriteCause};
use crate::system::{BLOCK_BYTES, Cx, Owner, PageKey, Stop, Tried};

impl Vfs {
    /// The next call of a read of the disk, up to byte `end` of the file.
    pub(super) fn read_direct(&mut self, doing: &mut Doing, offset: u64, end: u64, caller: Caller) -> Tried<bool> {
        if doing.is_accessing {
            self.accessed(doing, caller)?;
            return Ok(offset + doing.moved >= end);
        }
        let Some(pages) = doing.next_call(offset, end) else { return Ok(true) };
        if !doing.is_under_way {
            self.leave_cache(Owner::of(doing.op.file), &pages, caller)?;
            self.send_reads(Owner::of(doing.op.file), &pages, caller)?;
            doing.is_under_way = true;
            if !self.waits.is_empty() {
                return Err(Stop::Wait);
            }
        }
        doing.end_call(end - offset);
        self.accessed(doing, caller)?;
        Ok(offset + doing.moved >= end)
    }

    /// The next call of a write to the disk.
    pub(super) fn write_direct(&mut self, doing: &mut Doing, bytes: u64, caller: Caller) -> Tried<bool> {
        let (file, offset) = (doing.op.file, doing.op.offset);
        let end = offset + doing.op.bytes;
        let caller = Caller { cause: WriteCause::Direct, ..caller };
        let Some(pages) = doing.next_call(offset, end) else { return Ok(true) };
        if !doing.is_under_way {
            self.change_direct(doing, &pages, caller)?;
            let direct_end = self.direct_ends.entry(file).or_default();
            *direct_end = pages.end.max(*direct_end);
            self.write_pages(Owner::of(file), &pages, caller)?;
            doing.is_under_way = true;
            return Err(Stop::Wait);
        }
        let moved = doing.call_end(end - offset);
        self.resize(file, bytes.max(offset + moved), caller)?;
        doing.end_call(end - offset);
        Ok(offset + doing.moved >= end)
    }

    /// Pages of a call get places. One that goes on after many restarts leaves the cache as it is, and waits for what the flusher has sent of it.
    fn change_direct(&mut self, doing: &mut Doing, pages: &std::ops::Range<u32>, caller: Caller) -> Tried<()> {
        let owner = Owner::of(doing.op.file);
        if doing.restarts.goes_on_from().is_none() {
            self.leave_cache(owner, pages, caller)?;
        }
        self.change(doing.op.file, pages.clone(), &mut doing.restarts, caller)?;
        if doing.restarts.goes_on_from().is_some() {
            doing.restarts.stopped_at(pages.end);
        }
        // A commit that has begun meanwhile may have sent some of them.
        self.with(caller, |_, cx| {
            pages.clone().for_each(|page| cx.wait_page_written(PageKey::new(owner, page)));
            cx.wait()
        })
    }

    /// Pages that are dirty are written, and all leave the cache.
    fn leave_cache(&mut self, owner: Owner, pages: &std::ops::Range<u32>, caller: Caller) -> Tried<()> {
        let keys: Vec<_> = pages.clone().map(|index| PageKey::new(owner, index)).collect();
        let dirty: Vec<_> = keys.iter().copied().filter(|&key| self.cache.is_dirty(key)).collect();
        self.with(caller, |system, cx| {
            keys.iter().for_each(|&key| cx.wait_page_written(key));
            cx.wait()?;
            if !dirty.is_empty() {
                system.write_out(&dirty, cx)?;
                dirty.iter().for_each(|&key| cx.wait_page_written(key));
            }
            cx.wait()
        })?;
        keys.into_iter().for_each(|key| self.cache.leave(key));
        Ok(())
    }

    /// Sends pages, through the cache only in name: they are not kept.
    fn write_pages(&mut self, owner: Owner, pages: &std::ops::Range<u32>, caller: Caller) -> Tried<()> {
        let keys: Vec<_> = pages.clone().map(|index| PageKey::new(owner, index)).collect();
        self.with(caller, |system, cx: &mut Cx| {
            system.write_out(&keys, cx)?;
            keys.iter().for_each(|&key| cx.wait_page_written(key));
            Ok(())
        })?;
        keys.into_iter().for_each(|key| self.cache.leave(key));
        Ok(())
    }

    fn send_reads(&mut self, owner: Owner, pages: &std::ops::Range<u32>, caller: Caller) -> Tried<()> {
        let mut runs = Vec::new();
        let mut at = pages.start;
        while at < pages.end {
            let longest = (pages.end - at).min(self.ios.longest_blocks);
            let run = self.with(caller, |system, cx| system.map(PageKey::new(owner, at), longest, cx))?;
            if let Some(run) = run {
                self.check_read(PageKey::new(owner, at), run);
                runs.push(run);
            }
            at += run.map_or(1, |run| run.pages);
        }
        for run in runs {
            self.io_figures.data_reads += u64::from(run.pages);
            let io = self.ios.send(Kind::Read, run.block, run.pages, caller.process, true);
            self.waits.push(io);
        }
        Ok(())
    }
}

impl Doing {
    /// The pages of the next call; none after the last one.
    fn next_call(&self, offset: u64, end: u64) -> Option<std::ops::Range<u32>> {
        let from = offset + self.moved;
        let to = offset + self.call_end(end.saturating_sub(offset));
        (from < end).then(|| (from / BLOCK_BYTES) as u32..to.div_ceil(BLOCK_BYTES) as u32)
    }

    fn end_call(&mut self, most: u64) {
        self.moved = self.call_end(most);
        (self.is_under_way, self.restarts) = (false, Restarts::default());
    }
}
