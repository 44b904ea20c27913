//! Schedulers of the block layer: the order in which a host hands requests to a device.
//!
//! A scheduler holds the queued requests in lists of its own and gives one when the device can take it. To add one, write
//! a file and a line in [`REGISTRY`].

use crate::figures::counters::Counters;
use crate::pool::merging::Side;
use crate::pool::{Pool, Rq, RqId};
pub use flashwatt_base::registry::Parameters;
use flashwatt_base::registry::{Entry, registry};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{PriorityClass, Request};

pub use crate::pool::merging::joins;

/// Chooses the next request.
///
/// Contract: every request that was added is given once, or was absorbed by another one; [`Choice::Idle`] only without
/// queued requests, and [`Choice::WaitUntil`] a later time than now. The same calls give the same choices.
pub trait Scheduler: Send {
    /// Which queued requests a new piece may join.
    fn merging(&self) -> Merging {
        Merging::Ends { fronts: true }
    }

    /// Whether a piece, which continues a queued request, may join it.
    fn may_join(&self, _queued: &Rq, _piece: &Rq) -> bool {
        true
    }

    /// The request that a piece joins if both together are not too long, for [`Merging::Own`]. The piece is in the pool and not
    /// queued.
    fn find(&self, _piece: RqId, _cx: &Cx) -> Option<(RqId, Side)> {
        None
    }

    /// The queued request that begins where this piece ends, for [`Merging::Asked`]. Whether they can be one is seen to by the caller.
    fn front(&self, _piece: &Rq, _pool: &Pool) -> Option<RqId> {
        None
    }

    /// The request beside a queued one in the list where the scheduler looks for one that touches it, for [`Merging::Asked`].
    fn neighbour(&self, _id: RqId, _side: Side, _pool: &Pool) -> Option<RqId> {
        None
    }

    /// Whether a process gets a place in a full queue, because its next request is waited for.
    fn lets_in(&self, _process: u16, _is_sync: bool) -> bool {
        false
    }

    /// A request enters the queue.
    fn add(&mut self, id: RqId, cx: &mut Cx);

    /// A queued request has grown. It began at sector `first` before.
    fn grown(&mut self, _id: RqId, _first: u64, _cx: &mut Cx) {}

    /// A queued request is taken away: it becomes a part of `into`, which it touches and which grows afterwards.
    fn absorbed(&mut self, id: RqId, into: RqId, cx: &mut Cx);

    /// The next request for the device, which has room for it.
    fn next(&mut self, cx: &mut Cx) -> Choice;

    /// A request that was [given at once](Cx::give_at_once) goes to the driver now.
    fn activated(&mut self, _id: RqId, _cx: &mut Cx) {}

    /// The queue has been run since the scheduler [asked for it](Cx::runs).
    fn has_run(&mut self) {}

    /// A request has ended in the device.
    fn ended(&mut self, _id: RqId, _cx: &mut Cx) {}

    /// Whether requests that find nothing queued and room in the device may go there without [`Self::add`] and
    /// [`Self::next`]. Only the time of a run may depend on it.
    fn passing(&self) -> Passing {
        Passing::Never
    }

    /// Whether this request may pass now. If so, it begins a batch, and the scheduler is left in the state in which
    /// [`Self::add`] and [`Self::next`] leave it.
    fn pass(&mut self, _request: &Request) -> bool {
        false
    }

    /// A request that had passed has ended in the device. Its class of priority is all that is known of it.
    fn passed_ended(&mut self, _class: PriorityClass) {}
}

/// The choice of a scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// This request goes to the device now, and leaves the scheduler.
    Dispatch(RqId),
    /// None before this time in ns, unless a request is added or ends.
    WaitUntil(Nanos),
    /// None until a request ends.
    WaitForEnd,
    /// None: no request is queued.
    Idle,
}

/// What a scheduler sees and writes to.
pub struct Cx<'a> {
    /// The present time in ns.
    pub now: Nanos,
    /// The requests.
    pub pool: &'a mut Pool,
    /// The scheduler's counts.
    pub counters: &'a mut Counters,
    /// The instant at which [`Scheduler::next`] gives none, if the scheduler says so: the queue does not ask it then. Only the
    /// time of a run may depend on it.
    pub closed_ns: &'a mut Option<Nanos>,
    /// Set by a scheduler that wants to be asked at once, though what happened to it is nothing for which a queue is run. Not for
    /// [`Scheduler::next`] and [`Scheduler::ended`].
    pub runs: &'a mut bool,
    /// When [`Scheduler::next`] is called though nothing else happens; each of its answers replaces it.
    pub wake_ns: &'a mut Option<Nanos>,
    /// Requests that were given at once, and how.
    pub given: &'a mut Vec<(RqId, Given)>,
    /// Requests inside the device.
    pub in_device: u32,
    /// Longest request to the device in sectors.
    pub max_sectors: u64,
}

impl Cx<'_> {
    /// A request leaves the scheduler now, though nobody asks for one: it goes before all that stay, the next time that the queue is
    /// run. It cannot be joined any more.
    pub fn give_at_once(&mut self, id: RqId, how: Given) {
        self.given.push((id, how));
    }
}

/// The place of a request that was given at once, among others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// Behind them (elv_dispatch_add_tail).
    Last,
    /// By sector, upwards from where the driver is (elv_dispatch_sort).
    BySector,
}

/// Which queued requests a new piece may join. First of all, but for [`Merging::Own`], it is the one that grew last, at both ends; if
/// that has left, the first one that came since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Merging {
    /// Any that ends where the piece begins, and with `fronts` any that begins where it ends. Two requests that touch become one.
    Ends {
        /// Whether requests grow at their front.
        fronts: bool,
    },
    /// Any that ends where the piece begins, and the one that [`Scheduler::front`] gives. A request that has grown and the one that
    /// [`Scheduler::neighbour`] gives become one if they touch.
    Asked,
    /// Those that [`Scheduler::find`] gives.
    Own,
}

/// Whether requests pass the scheduler when it has nothing to choose from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// The scheduler sees every request.
    Never,
    /// The scheduler is asked for each of them.
    Asked,
    /// The scheduler has no state that they would change.
    Unseen,
}

/// The block layer that a scheduler was written for. It decides defaults of `[host]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generation {
    /// One queue for all processes, as in Linux 2.6.32. `nr_requests` bounds each of two classes: requests that somebody
    /// waits for, and those that nobody waits for.
    Single,
    /// Queues by process before the scheduler, as in Linux since 5.0. `nr_requests` bounds all requests together.
    Multi,
}

/// The device and queue that a scheduler works for.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Sectors of the device.
    pub device_sectors: u64,
    /// Requests that the device accepts at a time.
    pub queue_depth: u32,
    /// Requests that the queue holds.
    pub nr_requests: u32,
    /// Whether the device says that it has rotating parts.
    pub rotational: bool,
    /// Whether the driver asks for a request before it knows that the device has room for it.
    pub peeks: bool,
}

/// What a scheduler decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decides {
    /// Nothing: requests go as they come.
    Nothing,
    /// The order of the queued requests.
    Order,
    /// How many requests of a kind are in the device. While none has to wait for that, only turns order the requests.
    Depth {
        /// What makes requests wait.
        remedy: &'static str,
    },
}

/// How a scheduler is made.
#[derive(Clone, Copy)]
pub struct Recipe {
    /// The block layer that it was written for.
    pub generation: Generation,
    /// The share of `nr_requests` that requests may hold for which nobody waits. Of [`Generation::Multi`] only.
    pub async_share: f64,
    /// Whether the queue holds requests at all. If not, processes wait for a place in the device, and `nr_requests` is
    /// its depth.
    pub queues: bool,
    /// Whether it works otherwise on a disk than on flash. If not, [`Setup::rotational`] is always false.
    pub tells_disks: bool,
    /// The unit of its clock in ns: a jiffy, or 1. The queue's timers count in it, too.
    pub tick_ns: Nanos,
    /// What it decides. The report warns of a run in which it decided nothing.
    pub decides: Decides,
    /// Makes one.
    pub make: fn(&Parameters, &Setup) -> Box<dyn Scheduler>,
}

/// A jiffy of Linux with HZ = 1000, in ns.
pub const JIFFY_NS: Nanos = 1_000_000;

/// The registration of a scheduler.
pub type Registered = Entry<Recipe>;

mod distances;
mod fading;
mod lists;
mod seek;
mod sharing;

registry! {
    /// Every scheduler that a configuration can name: one file each, the default first.
    REGISTRY: Registered =
        none,
        mq_deadline,
        kyber,
        bfq,
        noop,
        deadline,
        anticipatory,
        cfq,
        cfq_el6,
        pardispatcher,
}

/// The example of `docs/add-a-scheduler.md`, compiled from that page.
#[cfg(test)]
#[path = "../../examples/guides/shortest.rs"]
mod documented_example; // not `shortest`: a reader who follows the page adds a module of that name

/// A switch among a scheduler's parameters.
pub const fn switch(name: &'static str, doc: &'static str, default: f64) -> flashwatt_base::registry::Param {
    flashwatt_base::registry::Param { name, doc, default, min: 0.0, max: 1.0, integer: true }
}

/// A time in ms among a scheduler's parameters.
pub const fn time_ms(name: &'static str, doc: &'static str, default: f64) -> flashwatt_base::registry::Param {
    flashwatt_base::registry::Param { name, doc, default, min: 0.0, max: 1e6, integer: false }
}

/// A time among the parameters of a scheduler that counts whole jiffies.
pub const fn jiffies(name: &'static str, doc: &'static str, default: f64) -> flashwatt_base::registry::Param {
    flashwatt_base::registry::Param { name, doc, default, min: 0.0, max: 1e6, integer: true }
}

/// A count among a scheduler's parameters.
pub const fn count(name: &'static str, doc: &'static str, default: f64, min: f64) -> flashwatt_base::registry::Param {
    flashwatt_base::registry::Param { name, doc, default, min, max: 65_536.0, integer: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example_is_a_valid_entry() {
        let entry = &documented_example::ENTRY;
        assert_eq!((entry.name, entry.params[0].name), ("shortest", "expire_ms"));
        let parameters = entry.params.iter().map(|param| (param.name.to_owned(), param.default)).collect();
        let setup = Setup { device_sectors: 1 << 20, queue_depth: 1, nr_requests: 64, rotational: false, peeks: false };
        let _: Box<dyn Scheduler> = (entry.build.make)(&Parameters(&parameters), &setup);
    }
}
