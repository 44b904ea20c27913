//! Kyber: queue depths by kind of request that follow measured latencies (Linux 6.1, block/kyber-iosched.c).
//!
//! Reads, writes and trims are domains. Each process queues the requests of a domain in the order in which they come. A
//! domain has a number of tokens, and a request holds one from its dispatch to its end. Domains take turns with batches; one
//! without requests or without a free token is passed over. Requests move from the processes' lists into the list of their
//! domain, process by process, when that one is empty and a token is free: until then later pieces of the process may join
//! them.
//!
//! Every end of a request adds its latency to histograms of its domain, in quarters of the domain's target: the time in the
//! device, and the time since the request exists. 100 ms after the first of them the depths are reviewed. A percentile
//! counts once there are 500 samples, or some for 1 s. If the 90th percentile of the time in the device misses the target in
//! any domain, the device is congested, and the domains that meet theirs get fewer tokens; a domain that misses its own gets
//! more.
//!
//! Deviations: times in ns, where the kernel has jiffies. The kernel has a list for each processor, here each process has one:
//! it shows where two processes share a processor, which may merge there, or one moves between processors. A depth that
//! shrinks below the tokens that are held takes effect at once: the kernel gives out those of the lower numbers that are free.
//! The fourth domain (16 tokens, batches of 1) is left out: the block layer sends flushes past the scheduler, and has no other
//! kind. Forced writes are writes, where the kernel sends them past the scheduler. Trims are not merged.

use super::{
    Choice, Cx, Decides, Generation, Merging, Parameters, Recipe, Registered, Scheduler, Setup, count, joins, time_ms,
};
use crate::pool::merging::Side;
use crate::pool::{Fifo, Pool, Rq, RqId};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::RequestKind;

/// What makes it hold requests back.
const REMEDY: &str = "smaller host.scheduler.kyber.read_depth and write_depth, or shorter latency targets, make it act";

/// The registry line.
pub const ENTRY: Registered = Registered {
    name: "kyber",
    doc: "queue depths of reads, writes and trims that follow their latencies (Linux 6.1)",
    params: &[
        time_ms("read_lat_ms", "target latency of reads (read_lat_nsec)", 2.0),
        time_ms("write_lat_ms", "target latency of writes (write_lat_nsec)", 10.0),
        time_ms("trim_lat_ms", "target latency of trims (kyber_latency_targets)", 5_000.0),
        count("read_depth", "most reads in the device (kyber_depth)", 256.0, 1.0),
        count("write_depth", "most writes in the device (kyber_depth)", 128.0, 1.0),
        count("trim_depth", "most trims in the device (kyber_depth)", 64.0, 1.0),
        count("read_batch", "reads of a batch (kyber_batch_size)", 16.0, 1.0),
        count("write_batch", "writes of a batch (kyber_batch_size)", 8.0, 1.0),
        count("trim_batch", "trims of a batch (kyber_batch_size)", 1.0, 1.0),
    ],
    build: Recipe {
        generation: Generation::Multi,
        async_share: ASYNC_SHARE,
        queues: true,
        tells_disks: false,
        tick_ns: 1,
        decides: Decides::Depth { remedy: REMEDY },
        make,
    },
};

/// KYBER_ASYNC_PERCENT.
const ASYNC_SHARE: f64 = 0.75;
/// A queued request is found among this many of a process's newest ones (block/blk-merge.c, blk_bio_list_merge).
const MERGE_LOOKS: usize = 8;
/// From the first end of a request to the review of the depths: HZ / 10.
const REVIEW_NS: Nanos = 100_000_000;
/// A percentile counts with this many samples, or this time after a review found the first of them (calculate_percentile).
const SAMPLES: u32 = 500;
const SAMPLES_NS: Nanos = 1_000_000_000;
/// Parts of a target, each a bucket: 1 << KYBER_LATENCY_SHIFT. As many buckets lie beyond the target.
const GOOD_BUCKETS: usize = 4;
const BUCKETS: usize = 2 * GOOD_BUCKETS;

const READ: usize = 0;
const WRITE: usize = 1;
const TRIM: usize = 2;
const DOMAINS: usize = 3;

fn make(parameters: &Parameters, _: &Setup) -> Box<dyn Scheduler> {
    let domain = |of: &str| {
        let depth = parameters.count(&format!("{of}_depth")) as u32;
        Domain {
            target_ns: parameters.ms(&format!("{of}_lat_ms")),
            most: depth,
            depth,
            batch: parameters.count(&format!("{of}_batch")),
            ..Domain::default()
        }
    };
    Box::new(Kyber {
        domains: [domain("read"), domain("write"), domain("trim")],
        turn: READ,
        batched: 0,
        queued: 0,
        review_ns: None,
    })
}

struct Kyber {
    /// Of reads, writes and trims.
    domains: [Domain; DOMAINS],
    /// The domain of the present batch.
    turn: usize,
    /// Requests of the present batch.
    batched: u64,
    queued: u32,
    /// When the depths are reviewed, if a request has ended since the last time.
    review_ns: Option<Nanos>,
}

/// A kind of requests.
#[derive(Default)]
struct Domain {
    target_ns: Nanos,
    /// The depth at most, and at present.
    most: u32,
    depth: u32,
    batch: u64,
    /// Requests that are next, in order.
    fifo: Fifo,
    /// Requests of processes by number, which later pieces may join.
    processes: Vec<Fifo>,
    /// The processes that have such requests, in order.
    busy: Vec<u16>,
    /// Requests in the device.
    tokens: u32,
    /// Of the time in the device and of the time since the request exists.
    device: Buckets,
    total: Buckets,
    /// When few samples are enough; none: no review has found samples.
    timeout_ns: Option<Nanos>,
    /// The bucket of the 99th percentile of the total time at the last review that had one, until a congestion uses it.
    p99: Option<usize>,
}

type Buckets = [u32; BUCKETS];

fn domain(rq: &Rq) -> usize {
    match rq.kind {
        RequestKind::Read => READ,
        RequestKind::Trim => TRIM,
        RequestKind::Write | RequestKind::Flush => WRITE,
    }
}

/// The bucket of a latency. One that ends with a part of the target belongs to it.
fn bucket(latency_ns: Nanos, target_ns: Nanos) -> usize {
    let part_ns = (target_ns / GOOD_BUCKETS as u64).max(1);
    (latency_ns.saturating_sub(1) / part_ns).min(BUCKETS as u64 - 1) as usize
}

impl Domain {
    /// The next request, which takes a token.
    fn take(&mut self, pool: &mut Pool) -> Option<RqId> {
        if self.tokens >= self.depth {
            return None;
        }
        if self.fifo.is_empty() {
            for process in self.busy.drain(..) {
                self.fifo.append(&mut self.processes[usize::from(process)], pool);
            }
        }
        let id = self.fifo.pop(pool)?;
        self.tokens += 1;
        Some(id)
    }

    fn add(&mut self, id: RqId, pool: &mut Pool) {
        let process = pool[id].process;
        let at = usize::from(process);
        if self.processes.len() <= at {
            self.processes.resize(at + 1, Fifo::default());
        }
        if self.processes[at].is_empty() {
            self.busy.insert(self.busy.partition_point(|&other| other < process), process);
        }
        self.processes[at].push(id, pool);
    }

    /// A percentile of a histogram, which then begins anew; `None` if there are not enough samples.
    fn percentile(&mut self, of: fn(&mut Domain) -> &mut Buckets, percent: u32, now: Nanos) -> Option<usize> {
        let samples = of(self).iter().sum::<u32>();
        if samples == 0 {
            return None;
        }
        let timeout_ns = *self.timeout_ns.get_or_insert(now + SAMPLES_NS);
        if samples < SAMPLES && timeout_ns > now {
            return None;
        }
        self.timeout_ns = None;
        let mut left = (u64::from(samples) * u64::from(percent)).div_ceil(100);
        let found = std::mem::take(of(self))[..BUCKETS - 1].iter().position(|&count| {
            let is_here = u64::from(count) >= left;
            left -= u64::from(count).min(left);
            is_here
        });
        Some(found.unwrap_or(BUCKETS - 1))
    }

    /// Changes the depth after the 99th percentile of the total time.
    fn resize(&mut self, is_congested: bool, now: Nanos) {
        let new = self.percentile(|domain| &mut domain.total, 99, now);
        let p99 = if is_congested {
            new.or(self.p99.take())
        } else {
            self.p99 = new.or(self.p99);
            new
        };
        if is_congested {
            self.p99 = None;
        }
        let Some(p99) = p99.filter(|&p99| is_congested || p99 >= GOOD_BUCKETS) else { return };
        let depth = u64::from(self.depth) * (p99 as u64 + 1) / GOOD_BUCKETS as u64;
        self.depth = depth.clamp(1, u64::from(self.most)) as u32;
    }
}

impl Kyber {
    /// Reviews the depths if it is time. Between two calls of the scheduler nothing reads what a review changes.
    fn review(&mut self, now: Nanos) {
        let Some(at) = self.review_ns.take_if(|at| *at <= now) else { return };
        let mut is_congested = false;
        for domain in &mut self.domains {
            let p90 = domain.percentile(|domain| &mut domain.device, 90, at);
            is_congested |= p90.is_some_and(|p90| p90 >= GOOD_BUCKETS);
        }
        for domain in &mut self.domains {
            domain.resize(is_congested, at);
        }
    }

    fn choose(&mut self, pool: &mut Pool) -> Option<RqId> {
        let present = &mut self.domains[self.turn];
        if self.batched < present.batch
            && let Some(id) = present.take(pool)
        {
            return Some(id);
        }
        self.batched = 0;
        (0..DOMAINS).find_map(|_| {
            self.turn = (self.turn + 1) % DOMAINS;
            self.domains[self.turn].take(pool)
        })
    }
}

impl Scheduler for Kyber {
    fn merging(&self) -> Merging {
        Merging::Own
    }

    /// The newest request that the piece touches, among the newest ones of its process.
    fn find(&self, piece: RqId, cx: &Cx) -> Option<(RqId, Side)> {
        let piece = &cx.pool[piece];
        let fifo = self.domains[domain(piece)].processes.get(usize::from(piece.process))?;
        let mut newest = fifo.newest_first(cx.pool).take(MERGE_LOOKS);
        newest.find_map(|id| joins(&cx.pool[id], piece, true).map(|side| (id, side)))
    }

    fn add(&mut self, id: RqId, cx: &mut Cx) {
        self.domains[domain(&cx.pool[id])].add(id, cx.pool);
        self.queued += 1;
    }

    fn absorbed(&mut self, _id: RqId, _into: RqId, _cx: &mut Cx) {
        unreachable!("the block layer joins no neighbours for a scheduler that finds its own")
    }

    fn next(&mut self, cx: &mut Cx) -> Choice {
        if self.queued == 0 {
            return Choice::Idle;
        }
        self.review(cx.now);
        let Some(id) = self.choose(cx.pool) else { return Choice::WaitForEnd };
        cx.counters.batches += u64::from(self.batched == 0);
        self.batched += 1;
        self.queued -= 1;
        Choice::Dispatch(id)
    }

    fn ended(&mut self, id: RqId, cx: &mut Cx) {
        self.review(cx.now);
        let rq = &cx.pool[id];
        let domain = &mut self.domains[domain(rq)];
        domain.total[bucket(cx.now - rq.added_ns, domain.target_ns)] += 1;
        domain.device[bucket(cx.now - rq.dispatched_ns, domain.target_ns)] += 1;
        domain.tokens -= 1;
        self.review_ns.get_or_insert(cx.now + REVIEW_NS);
    }
}
