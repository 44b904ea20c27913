//! Shortest first: of the queued requests the one with the fewest sectors. A request that has waited for `expire_ms` goes
//! first, so that long ones are not starved.

use super::{Choice, Cx, Decides, Generation, Parameters, Recipe, Registered, Scheduler, Setup, time_ms};
use crate::pool::{Fifo, Pool, RqId};
use flashwatt_base::units::Nanos;

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "shortest",
    doc: "the request with the fewest sectors first",
    params: &[time_ms("expire_ms", "a request that has waited for this long goes first", 100.0)],
    build: Recipe {
        generation: Generation::Multi,
        async_share: 1.0,
        queues: true,
        tells_disks: false,
        tick_ns: 1,
        decides: Decides::Order,
        make,
    },
};

fn make(parameters: &Parameters, _: &Setup) -> Box<dyn Scheduler> {
    Box::new(Shortest { expire_ns: parameters.ms("expire_ms"), queued: Fifo::default() })
}

struct Shortest {
    expire_ns: Nanos,
    /// By age.
    queued: Fifo,
}

impl Shortest {
    /// Of requests with equal lengths the oldest.
    fn shortest(&self, pool: &Pool) -> Option<RqId> {
        let ids: Vec<RqId> = self.queued.newest_first(pool).collect();
        ids.into_iter().rev().min_by_key(|&id| pool[id].sectors)
    }
}

impl Scheduler for Shortest {
    fn add(&mut self, id: RqId, cx: &mut Cx) {
        cx.pool[id].expires_ns = cx.now + self.expire_ns;
        self.queued.push(id, cx.pool);
    }

    /// The older one of the two gives its deadline and its place by age.
    fn absorbed(&mut self, id: RqId, into: RqId, cx: &mut Cx) {
        if cx.pool[id].expires_ns < cx.pool[into].expires_ns {
            cx.pool[into].expires_ns = cx.pool[id].expires_ns;
            self.queued.remove(into, cx.pool);
            self.queued.replace(id, into, cx.pool);
        } else {
            self.queued.remove(id, cx.pool);
        }
    }

    fn next(&mut self, cx: &mut Cx) -> Choice {
        let late = self.queued.first().filter(|&id| cx.pool[id].expires_ns <= cx.now);
        let Some(id) = late.or_else(|| self.shortest(cx.pool)) else { return Choice::Idle };
        cx.counters.batches += 1;
        cx.counters.expired += u64::from(late.is_some());
        self.queued.remove(id, cx.pool);
        Choice::Dispatch(id)
    }
}
