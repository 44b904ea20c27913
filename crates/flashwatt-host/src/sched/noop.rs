//! First come, first served (Linux 2.6.32, block/noop-iosched.c).
//!
//! A piece joins any queued request that ends where it begins; it goes in front of a request only if that is the one that
//! grew last, or the first one that came since that has left (the elevator's `last_merge`). A request that has grown and the next
//! one in the list become one if they touch there, or the one before it at its front.

use super::{
    Choice, Cx, Decides, Generation, JIFFY_NS, Merging, Parameters, Passing, Recipe, Registered, Scheduler, Setup,
};
use crate::pool::merging::Side;
use crate::pool::{Fifo, Pool, RqId};

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "noop",
    doc: "first come, first served, with merging (Linux 2.6.32)",
    params: &[],
    build: Recipe {
        generation: Generation::Single,
        async_share: 1.0,
        queues: true,
        tells_disks: false,
        tick_ns: JIFFY_NS,
        decides: Decides::Nothing,
        make,
    },
};

fn make(_: &Parameters, _: &Setup) -> Box<dyn Scheduler> {
    Box::new(Noop::default())
}

#[derive(Default)]
struct Noop {
    fifo: Fifo,
}

impl Scheduler for Noop {
    fn merging(&self) -> Merging {
        Merging::Asked
    }

    fn neighbour(&self, id: RqId, side: Side, pool: &Pool) -> Option<RqId> {
        match side {
            Side::Back => self.fifo.after(id, pool),
            Side::Front => self.fifo.before(id, pool),
        }
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
