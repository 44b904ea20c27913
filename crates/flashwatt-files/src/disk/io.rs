//! Block requests of the file system: those to send, and those in flight.

use std::collections::VecDeque;
use std::ops::Range;

use super::{BLOCK_BYTES, Block, PageId};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Origin, Request, RequestKind, Tag};

/// The number of a block request. Used again after its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IoId(pub u32);

/// A request, as long as it is under way: its number may be used again afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    pub(crate) io: IoId,
    ended: u32,
}

/// The kinds of block requests.
pub use flashwatt_core::connector::RequestKind as Kind;

/// Something that waits for requests: a thread, or one of the file system's own tasks.
pub type Task = u32;

/// A request that has not ended.
#[derive(Debug, Default)]
struct Io {
    /// The pages of the cache that it reads or writes.
    pages: Vec<PageId>,
    waiters: Vec<Task>,
    /// The blocks that it writes; none for other kinds.
    writes: Range<Block>,
    /// Whether the file system writes it for nobody in particular.
    is_written_back: bool,
    /// Requests of this number that have ended.
    ended: u32,
}

/// A request that has not been sent.
#[derive(Clone, Copy, Debug)]
struct Queued {
    io: IoId,
    kind: RequestKind,
    block: Block,
    blocks: u32,
    process: u16,
    is_sync: bool,
}

/// All block requests that have not ended.
#[derive(Debug)]
pub struct Ios {
    ios: Vec<Io>,
    free: Vec<IoId>,
    /// Those that somebody waits for, and the others. The first go first.
    queued: [VecDeque<Queued>; 2],
    /// Origins of requests by process.
    origins: Vec<Origin>,
    /// Longest request in blocks.
    pub longest_blocks: u32,
    /// Writes of the file system's own that have not ended.
    pub written_back: u32,
    /// Trims that have not ended, and their blocks: no write of these is sent before.
    trims: Vec<(IoId, Range<Block>)>,
    /// The flush under way, and the one that follows it. All who ask meanwhile share that one (Linux, block/blk-flush.c).
    flush: Option<IoId>,
    next_flush: Option<IoId>,
}

impl Ios {
    /// No requests. They are at most so long; `origins` holds the origins of processes by number.
    pub fn new(longest_blocks: u32, origins: Vec<Origin>) -> Self {
        Ios {
            ios: Vec::new(),
            free: Vec::new(),
            queued: Default::default(),
            origins,
            longest_blocks,
            written_back: 0,
            trims: Vec::new(),
            flush: None,
            next_flush: None,
        }
    }

    /// A number for a request, which writes nothing unless more is said of it.
    fn number(&mut self) -> IoId {
        let io = self.free.pop().unwrap_or_else(|| {
            self.ios.push(Io::default());
            IoId(self.ios.len() as u32 - 1)
        });
        let sent = &mut self.ios[io.0 as usize];
        (sent.writes, sent.is_written_back) = (0..0, false);
        io
    }

    /// Queues a flush, or shares the one that waits for the flush under way. Returns whether it is a new one.
    pub fn flush(&mut self, process: u16) -> (IoId, bool) {
        if let Some(shared) = self.next_flush {
            return (shared, false);
        }
        let io = self.number();
        if self.flush.is_none() {
            self.begin_flush(io, process);
        } else {
            self.next_flush = Some(io);
        }
        (io, true)
    }

    fn begin_flush(&mut self, io: IoId, process: u16) {
        self.flush = Some(io);
        let kind = RequestKind::Flush;
        self.queued[0].push_back(Queued { io, kind, block: 0, blocks: 0, process, is_sync: true });
    }

    /// Queues a request.
    pub fn send(&mut self, kind: RequestKind, block: Block, blocks: u32, process: u16, is_sync: bool) -> IoId {
        let io = self.number();
        if kind == RequestKind::Write {
            let sent = &mut self.ios[io.0 as usize];
            let is_written_back = process == 0 && !is_sync;
            (sent.writes, sent.is_written_back) = (block..block + blocks, is_written_back);
            self.written_back += u32::from(is_written_back);
        }
        if kind == RequestKind::Trim {
            self.trims.push((io, block..block + blocks));
        }
        self.queued[usize::from(!is_sync)].push_back(Queued { io, kind, block, blocks, process, is_sync });
        io
    }

    /// The ticket of a request that is under way.
    pub fn ticket(&self, io: IoId) -> Ticket {
        Ticket { io, ended: self.ios[io.0 as usize].ended }
    }

    /// Whether the request of a ticket has not ended.
    pub fn is_under_way(&self, ticket: Ticket) -> bool {
        self.ios[ticket.io.0 as usize].ended == ticket.ended
    }

    /// A page of the cache goes with a request.
    pub fn add_page(&mut self, io: IoId, page: PageId) {
        self.ios[io.0 as usize].pages.push(page);
    }

    /// A task waits for a request.
    pub fn add_waiter(&mut self, io: IoId, task: Task) {
        self.ios[io.0 as usize].waiters.push(task);
    }

    /// Takes the next request to send.
    pub fn next(&mut self, now: Nanos) -> Option<(Tag, Request)> {
        let queued = self.take(0).or_else(|| self.take(1))?;
        let Queued { io, kind, block, blocks, process, is_sync } = queued;
        let request = Request {
            origin: self.origins[usize::from(process).min(self.origins.len() - 1)],
            is_sync: is_sync || kind == RequestKind::Read,
            process,
            ..Request::new(now, kind, u64::from(block) * BLOCK_BYTES, u64::from(blocks) * BLOCK_BYTES)
        };
        Some((Tag(io.0), request))
    }

    /// Takes the first request of a queue that need not wait for a trim.
    fn take(&mut self, queue: usize) -> Option<Queued> {
        if self.trims.is_empty() {
            return self.queued[queue].pop_front();
        }
        let trims = &self.trims;
        let waits = |queued: &Queued| {
            let end = queued.block + queued.blocks;
            queued.kind == RequestKind::Write && trims.iter().any(|(_, of)| queued.block < of.end && of.start < end)
        };
        let at = self.queued[queue].iter().position(|queued| !waits(queued))?;
        self.queued[queue].remove(at)
    }

    /// Requests that have not ended, sent or not.
    pub fn under_way(&self) -> usize {
        self.ios.len() - self.free.len()
    }

    /// A request has ended: moves its pages and the tasks that waited for it to the ends of these lists. Returns the blocks that it
    /// wrote.
    pub fn ended(&mut self, io: IoId, pages: &mut Vec<PageId>, tasks: &mut Vec<Task>) -> Range<Block> {
        if self.flush == Some(io) {
            self.flush = None;
            if let Some(next) = self.next_flush.take() {
                self.begin_flush(next, 0);
            }
        }
        self.trims.retain(|&(trim, _)| trim != io);
        let ended = &mut self.ios[io.0 as usize];
        pages.append(&mut ended.pages);
        tasks.append(&mut ended.waiters);
        self.written_back -= u32::from(ended.is_written_back);
        ended.ended = ended.ended.wrapping_add(1);
        self.free.push(io);
        ended.writes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without that a write that somebody waits for would overtake the trim, which would then take its data away.
    #[test]
    fn a_write_waits_for_a_trim_of_its_blocks() {
        let mut ios = Ios::new(256, vec![Origin(0)]);
        let trim = ios.send(Kind::Trim, 10, 4, 0, false);
        let sends = [(9, 1), (13, 2), (14, 1)].map(|(block, blocks)| ios.send(Kind::Write, block, blocks, 1, true));
        let mut next = || ios.next(0).map(|(tag, _)| IoId(tag.0));
        assert_eq!([next(), next(), next(), next()], [Some(sends[0]), Some(sends[2]), Some(trim), None]);
        ios.ended(trim, &mut Vec::new(), &mut Vec::new());
        assert_eq!(ios.next(0).map(|(tag, _)| IoId(tag.0)), Some(sends[1]));
        assert_eq!(ios.next(0), None);
    }
}
