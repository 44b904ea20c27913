//! First come, first served (Linux 2.6.32, block/noop-iosched.c).
//!
//! A piece joins any queued request that ends where it begins; it goes in front of a request only if that is the one that
//! was added or grew last (the elevator's `last_merge`).
//!
//! Deviations: two queued requests that come to touch are not joined; the kernel tries the neighbours in the list. A piece that
//! fills the gap between the back of one request and the front of the newest one joins the former; the kernel tries both
//! ends of the newest one first (`elv_merge`, block/elevator.c).

use super::{
    Choice, Cx, Decides, Front, Generation, Merging, Parameters, Passing, Recipe, Registered, Scheduler, Setup,
};
use crate::pool::{Fifo, RqId};

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
        Merging::Ends { front: Front::Last, joins_neighbours: false }
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
