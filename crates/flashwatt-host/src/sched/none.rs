//! No scheduler: requests go to the device in the order in which they come, as soon as it has room (Linux, block/blk-mq.c).
//!
//! A process gets a place in the device before its request exists, so processes wait and requests do not. Requests are
//! held, and merged, only while their process is plugged.
//!
//! Processes get places in the order in which they began to wait, whether somebody waits for their requests or not, as those
//! that sleep for a tag do (`blk_mq_get_tag`, block/blk-mq-tag.c).
//!
//! Deviations: one hardware queue; each place that becomes free goes to a process at once, where the kernel wakes sleepers in
//! batches of an eighth of the tags, at most eight (`sbq_calc_wake_batch`, lib/sbitmap.c), and a request that comes in between
//! may take the tag first.

use super::{
    Choice, Cx, Decides, Generation, Merging, Parameters, Passing, Recipe, Registered, Scheduler, Setup, joins,
};
use crate::pool::merging::Side;
use crate::pool::{Fifo, RqId};

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "none",
    doc: "requests go to the device as they come; processes wait for a place in it (Linux blk-mq without a scheduler)",
    params: &[],
    build: Recipe {
        generation: Generation::Multi,
        async_share: 1.0,
        queues: false,
        tells_disks: false,
        tick_ns: 1,
        decides: Decides::Nothing,
        make,
    },
};

fn make(_: &Parameters, _: &Setup) -> Box<dyn Scheduler> {
    Box::new(Unordered::default())
}

#[derive(Default)]
struct Unordered {
    fifo: Fifo,
}

impl Scheduler for Unordered {
    fn merging(&self) -> Merging {
        Merging::Own
    }

    /// The newest plugged request, if it is of the same process.
    fn find(&self, piece: RqId, cx: &Cx) -> Option<(RqId, Side)> {
        let piece = &cx.pool[piece];
        let id = self.fifo.last().filter(|&id| cx.pool[id].process == piece.process)?;
        joins(&cx.pool[id], piece, true).map(|side| (id, side))
    }

    fn add(&mut self, id: RqId, cx: &mut Cx) {
        self.fifo.push(id, cx.pool);
    }

    fn absorbed(&mut self, id: RqId, _into: RqId, cx: &mut Cx) {
        self.fifo.remove(id, cx.pool);
    }

    fn passing(&self) -> Passing {
        Passing::Unseen
    }

    fn next(&mut self, cx: &mut Cx) -> Choice {
        self.fifo.pop(cx.pool).map_or(Choice::Idle, Choice::Dispatch)
    }
}
