//! ParDispatcher: turns by region of the drive, batches of one direction within a turn.
//!
//! The drive is cut into regions of `region_bytes`. Each region has lists of reads and of writes, by age and by sector.
//! Regions take turns. A turn has the direction opposite to the region's last one, or the other one if that has no request,
//! and goes upwards through the sectors until the direction has no more requests or the batch is full. A request belongs to
//! the region of its first sector; requests of different regions are not merged.
//!
//! Source: the paper's section on the dispatch algorithm (Fig. 2), with regions of 4 GB and batches of 16 reads and 8 writes.
//! Choices where the paper says nothing (SPEC E22 to E25): a turn begins above the region's last request, or at its lowest one
//! if none lies above; it begins with the oldest request if that has expired (deadlines are those of `deadline`). A turn goes
//! upwards only, so it ends at the region's highest request; with `wrap = 1` it goes on from the lowest one.

use super::lists::Lists;
use super::{
    Choice, Cx, Decides, Generation, JIFFY_NS, Parameters, Recipe, Registered, Scheduler, Setup, count, switch, time_ms,
};
use crate::pool::{Rq, RqId};
use flashwatt_base::registry::Param;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "pardispatcher",
    doc: "turns by region of the drive, batches of reads or writes by sector within a turn (ParDispatcher)",
    params: &[
        Param {
            name: "region_bytes",
            doc: "length of a region; a multiple of 512",
            default: 4_294_967_296.0,
            min: 4096.0,
            max: 1e15,
            integer: true,
        },
        count("read_batch", "reads of a turn", 16.0, 1.0),
        count("write_batch", "writes of a turn", 8.0, 1.0),
        time_ms("read_expire_ms", "a read older than this goes first in its region's turn", 500.0),
        time_ms("write_expire_ms", "a write older than this goes first in its region's turn", 5_000.0),
        switch("wrap", "may a turn go on from the region's lowest request? (0 or 1)", 0.0),
    ],
    build: Recipe {
        generation: Generation::Single,
        async_share: 1.0,
        queues: true,
        tells_disks: false,
        tick_ns: JIFFY_NS,
        decides: Decides::Order,
        make,
    },
};

fn make(parameters: &Parameters, setup: &Setup) -> Box<dyn Scheduler> {
    let region_sectors = (parameters.count("region_bytes") / SECTOR_BYTES).max(1);
    let regions = setup.device_sectors.div_ceil(region_sectors).max(1);
    Box::new(ParDispatcher {
        region_sectors,
        batch: [parameters.count("read_batch"), parameters.count("write_batch")],
        expire_ns: [parameters.ms("read_expire_ms"), parameters.ms("write_expire_ms")],
        wraps: parameters.is_on("wrap"),
        regions: (0..regions).map(|_| Region::default()).collect(),
        turn: 0,
        queued: 0,
        direction: None,
        batched: 0,
    })
}

const READ: usize = 0;
const WRITE: usize = 1;

struct ParDispatcher {
    region_sectors: u64,
    /// Of reads and of writes.
    batch: [u64; 2],
    /// Of reads and of writes.
    expire_ns: [Nanos; 2],
    /// Whether a turn goes on from the lowest request of its region.
    wraps: bool,
    regions: Vec<Region>,
    /// The region whose turn it is.
    turn: usize,
    queued: u32,
    /// The direction of the present turn; none between turns.
    direction: Option<usize>,
    /// Requests of the present turn.
    batched: u64,
}

struct Region {
    /// Of reads and of writes.
    lists: [Lists; 2],
    /// The direction of the last turn. The first turn reads.
    last: usize,
    /// The sector behind the last request.
    position: u64,
}

impl Default for Region {
    fn default() -> Self {
        Region { lists: Default::default(), last: WRITE, position: 0 }
    }
}

fn direction(rq: &Rq) -> usize {
    if rq.is_read() { READ } else { WRITE }
}

impl ParDispatcher {
    fn region(&self, rq: &Rq) -> usize {
        (rq.first / self.region_sectors) as usize
    }

    /// Gives the turn to the next region with requests.
    fn begin_turn(&mut self, cx: &mut Cx) -> usize {
        let from = self.turn;
        let order = (from..self.regions.len()).chain(0..from);
        let at = order.into_iter().find(|&at| self.regions[at].lists.iter().any(|lists| !lists.is_empty()));
        self.turn = at.unwrap_or_else(|| unreachable!("a request is queued"));
        let region = &mut self.regions[self.turn];
        let opposite = 1 - region.last;
        region.last = if region.lists[opposite].is_empty() { region.last } else { opposite };
        self.direction = Some(region.last);
        self.batched = 0;
        cx.counters.batches += 1;
        region.last
    }

    /// The first request of a turn: one that has expired, or the next by sector.
    fn first(&self, direction: usize, cx: &mut Cx) -> Option<RqId> {
        let region = &self.regions[self.turn];
        let lists = &region.lists[direction];
        let expired = lists.expired(cx.now, cx.pool);
        cx.counters.expired += u64::from(expired.is_some());
        expired.or(lists.sorted.at_or_after(region.position)).or(lists.sorted.first())
    }

    /// The next request of the present turn, unless the turn is over.
    fn following(&self) -> Option<RqId> {
        let direction = self.direction.filter(|&direction| self.batched < self.batch[direction])?;
        let region = &self.regions[self.turn];
        let sorted = &region.lists[direction].sorted;
        sorted.at_or_after(region.position).or_else(|| sorted.first().filter(|_| self.wraps))
    }
}

impl Scheduler for ParDispatcher {
    fn may_join(&self, queued: &Rq, piece: &Rq) -> bool {
        self.region(queued) == self.region(piece)
    }

    fn add(&mut self, id: RqId, cx: &mut Cx) {
        let direction = direction(&cx.pool[id]);
        cx.pool[id].expires_ns = cx.now + self.expire_ns[direction];
        let region = self.region(&cx.pool[id]);
        cx.pool[id].group = region as u32;
        self.regions[region].lists[direction].add(id, cx.pool);
        self.queued += 1;
    }

    fn grown(&mut self, id: RqId, first: u64, cx: &mut Cx) {
        let rq = &cx.pool[id];
        self.regions[rq.group as usize].lists[direction(rq)].moved(id, first, cx.pool);
    }

    fn absorbed(&mut self, id: RqId, into: RqId, cx: &mut Cx) {
        let rq = &cx.pool[id];
        self.regions[rq.group as usize].lists[direction(rq)].absorb(id, into, cx.pool);
        self.queued -= 1;
    }

    fn next(&mut self, cx: &mut Cx) -> Choice {
        if self.queued == 0 {
            return Choice::Idle;
        }
        let chosen = self.following().or_else(|| {
            let ended = usize::from(self.direction.is_some());
            self.turn = (self.turn + ended) % self.regions.len();
            let direction = self.begin_turn(cx);
            self.first(direction, cx)
        });
        let Some(id) = chosen else { unreachable!("a turn has a request") };
        self.batched += 1;
        self.queued -= 1;
        let region = &mut self.regions[self.turn];
        region.position = cx.pool[id].end();
        region.lists[direction(&cx.pool[id])].remove(id, cx.pool);
        Choice::Dispatch(id)
    }
}
