//! B-WF2Q+: which queue is served next (block/bfq-wf2q.c, and the weight counters of block/bfq-iosched.c).
//!
//! A queue with requests has a virtual time at which it starts and one at which it will have used its budget, which comes the
//! sooner the higher its weight is. Of the queues that may have started, that with the earliest finish is next. There is a
//! tree of queues for each class of priority; a class is served before the worse ones, except that the idle class is looked
//! at each 200 ms.

use super::time::Time;
use flashwatt_base::mem::FlatTable;
use flashwatt_base::units::Nanos;

/// The number of a queue.
pub type QueueId = usize;

/// Classes of priority.
pub const CLASSES: usize = 3;
/// The class that is served while no other one has requests.
pub const IDLE: usize = CLASSES - 1;

/// Precision of virtual times (WFQ_SERVICE_SHIFT).
const SERVICE_SHIFT: u32 = 22;
/// The idle class is served at least this often (BFQ_CL_IDLE_TIMEOUT, HZ / 5).
const IDLE_CLASS_NS: Nanos = 200_000_000;

/// A queue as B-WF2Q+ sees it.
#[derive(Clone, Debug)]
pub struct Entity {
    start: u64,
    finish: u64,
    /// Sectors that it may be charged with in this turn, and those that it has been charged with.
    pub budget: u64,
    pub service: u64,
    /// The weight in force: that of the priority times `raise`.
    pub weight: u64,
    /// The weight of the priority, and that of a priority which is not in force yet.
    pub own_weight: u64,
    pub new_weight: u64,
    pub class: usize,
    new_class: usize,
    /// Weight or class are to be brought up to date.
    is_changed: bool,
    /// The factor of weight raising; 1 without.
    pub raise: u64,
    place: Place,
    /// When it was put into its tree, as a running number.
    stamp: u64,
    /// It has requests, or is kept as if it had.
    pub is_busy: bool,
    /// Requests in the device.
    pub in_device: u32,
    /// The weight with which it is counted among the weights.
    counted: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// In no tree, and forgotten.
    Off,
    /// It waits for its turn.
    Active,
    /// It has no requests, but its finish lies ahead.
    Idle,
    /// It is served.
    Served,
}

/// The queues of a class.
#[derive(Debug, Default)]
struct Tree {
    vtime: u64,
    weights: u64,
    /// Both by finish.
    active: Vec<QueueId>,
    idle: Vec<QueueId>,
}

/// All queues.
#[derive(Debug, Default)]
pub struct Fair {
    entities: FlatTable<Entity>,
    trees: [Tree; CLASSES],
    next: Option<QueueId>,
    served: Option<QueueId>,
    idle_class_looked: Time,
    last_stamp: u64,
    /// Weights of queues that are not raised and have requests, queued or in the device, and how many have each; by weight.
    weights: Vec<(u64, u32)>,
    busy: [u32; CLASSES],
    /// Queues with requests whose weight is raised.
    pub raised_busy: u32,
}

impl std::ops::Index<QueueId> for Fair {
    type Output = Entity;

    #[inline(always)]
    fn index(&self, queue: QueueId) -> &Entity {
        &self.entities[queue]
    }
}

impl std::ops::IndexMut<QueueId> for Fair {
    #[inline(always)]
    fn index_mut(&mut self, queue: QueueId) -> &mut Entity {
        &mut self.entities[queue]
    }
}

/// Service as virtual time.
fn virtual_time(sectors: u64, weight: u64) -> u64 {
    (sectors << SERVICE_SHIFT) / weight
}

impl Fair {
    /// Adds a queue without requests.
    pub fn create(&mut self, class: usize, weight: u64) -> QueueId {
        self.entities.push(Entity {
            start: 0,
            finish: 0,
            budget: 0,
            service: 0,
            weight,
            own_weight: weight,
            new_weight: weight,
            class,
            new_class: class,
            is_changed: true,
            raise: 1,
            place: Place::Off,
            stamp: 0,
            is_busy: false,
            in_device: 0,
            counted: None,
        });
        self.entities.len() - 1
    }

    /// A new priority, which comes into force when the queue is put into a tree.
    pub fn set_priority(&mut self, queue: QueueId, class: usize, weight: u64) {
        let entity = &mut self.entities[queue];
        (entity.new_class, entity.new_weight, entity.is_changed) = (class, weight, true);
    }

    /// A new factor for the weight, which comes into force as a priority does, or with [`Self::update_weight`].
    pub fn set_raise(&mut self, queue: QueueId, raise: u64) {
        let entity = &mut self.entities[queue];
        if entity.is_busy {
            self.raised_busy -= u32::from(entity.raise > 1);
            self.raised_busy += u32::from(raise > 1);
        }
        entity.is_changed |= raise != entity.raise;
        entity.raise = raise;
    }

    /// What the queue may still be charged with.
    pub fn left(&self, queue: QueueId) -> i64 {
        self.entities[queue].budget as i64 - self.entities[queue].service as i64
    }

    /// Queues with requests.
    pub fn busy(&self) -> u32 {
        self.busy.iter().sum()
    }

    /// Whether queues must get different shares, and this one not the least (bfq_asymmetric_scenario).
    pub fn is_asymmetric(&self, queue: QueueId) -> bool {
        let counted = self.entities[queue].counted;
        let is_least = counted.is_some() && counted == self.weights.first().map(|&(weight, _)| weight);
        let classes = self.busy.iter().filter(|&&count| count > 0).count();
        (!is_least && self.weights.len() > 1) || classes > 1
    }

    fn count_weight(&mut self, queue: QueueId) {
        let entity = &mut self.entities[queue];
        if entity.counted.is_some() {
            return;
        }
        let weight = entity.weight;
        entity.counted = Some(weight);
        match self.weights.binary_search_by_key(&weight, |&(weight, _)| weight) {
            Ok(at) => self.weights[at].1 += 1,
            Err(at) => self.weights.insert(at, (weight, 1)),
        }
    }

    /// The queue has no requests any more, queued or in the device, or its weight changes.
    pub fn forget_weight(&mut self, queue: QueueId) {
        let Some(weight) = self.entities[queue].counted.take() else { return };
        if let Ok(at) = self.weights.binary_search_by_key(&weight, |&(weight, _)| weight) {
            self.weights[at].1 -= 1;
            if self.weights[at].1 == 0 {
                self.weights.remove(at);
            }
        }
    }

    /// The queue has its first request. `continues`: it is treated as if it had had one all the time.
    pub fn add_busy(&mut self, queue: QueueId, continues: bool, now: Time) {
        self.activate_or_requeue(queue, continues, false, now);
        let entity = &mut self.entities[queue];
        entity.is_busy = true;
        self.busy[entity.class] += 1;
        self.raised_busy += u32::from(entity.raise > 1);
        if entity.in_device == 0 && entity.raise == 1 {
            self.count_weight(queue);
        }
    }

    /// The queue has given its last request. `expires`: its turn ends with that.
    pub fn remove_busy(&mut self, queue: QueueId, expires: bool, now: Time) {
        let entity = &mut self.entities[queue];
        entity.is_busy = false;
        self.busy[entity.class] -= 1;
        self.raised_busy -= u32::from(entity.raise > 1);
        self.deactivate(queue, expires, now);
        if self.entities[queue].in_device == 0 {
            self.forget_weight(queue);
        }
    }

    /// Puts a queue into the tree of its class anew, after its budget has changed or its turn has ended (`expires`).
    pub fn requeue(&mut self, queue: QueueId, expires: bool, now: Time) {
        self.activate_or_requeue(queue, false, expires, now);
    }

    fn activate_or_requeue(&mut self, queue: QueueId, continues: bool, expires: bool, now: Time) {
        let entity = &mut self.entities[queue];
        let tree = &mut self.trees[entity.class];
        let mut shifted = false;
        if self.served == Some(queue) {
            entity.start += virtual_time(entity.service, entity.weight);
            tree.active.retain(|&other| other != queue);
        } else if entity.place == Place::Active {
            tree.active.retain(|&other| other != queue);
        } else {
            shifted = continues && tree.vtime > entity.finish;
            let least = if shifted { entity.finish } else { tree.vtime };
            if entity.place == Place::Idle {
                tree.idle.retain(|&other| other != queue);
                entity.start = least.max(entity.finish);
            } else {
                entity.start = least;
                tree.weights += entity.weight;
            }
        }
        self.enqueue(queue, shifted);
        self.update_next(Some(queue), expires, now);
    }

    fn enqueue(&mut self, queue: QueueId, shifted: bool) {
        self.update_weight(queue, true);
        let entity = &mut self.entities[queue];
        entity.finish = entity.start + virtual_time(entity.budget, entity.weight);
        let tree = &self.trees[entity.class];
        if shifted && tree.vtime > entity.finish {
            let late = (tree.vtime - entity.finish) / entity.raise;
            entity.start += late;
            entity.finish += late;
        }
        self.last_stamp += 1;
        (entity.place, entity.stamp) = (Place::Active, self.last_stamp);
        let (class, at) = (entity.class, self.place_of(queue, |tree| &tree.active));
        self.trees[class].active.insert(at, queue);
    }

    /// Where a queue comes in a list by finish: behind those that finish with it.
    fn place_of(&self, queue: QueueId, list: fn(&Tree) -> &Vec<QueueId>) -> usize {
        let entity = &self.entities[queue];
        list(&self.trees[entity.class]).partition_point(|&other| self.entities[other].finish <= entity.finish)
    }

    /// Brings the weight up to date, and the class if that is allowed.
    pub fn update_weight(&mut self, queue: QueueId, with_class: bool) {
        let entity = &mut self.entities[queue];
        if !entity.is_changed {
            return;
        }
        let old_class = entity.class;
        self.trees[old_class].weights -= entity.weight;
        entity.own_weight = entity.new_weight;
        if with_class {
            entity.class = entity.new_class;
        }
        let class = entity.class;
        entity.is_changed = class != entity.new_class;
        let weight = entity.own_weight * entity.raise;
        self.trees[class].weights += weight;
        if class != old_class {
            entity.start = self.trees[class].vtime;
            if entity.is_busy {
                self.busy[old_class] -= 1;
                self.busy[class] += 1;
            }
        }
        let counts = weight != entity.weight && entity.raise == 1;
        if weight != entity.weight {
            self.forget_weight(queue);
        }
        self.entities[queue].weight = weight;
        if counts {
            self.count_weight(queue);
        }
    }

    fn deactivate(&mut self, queue: QueueId, expires: bool, now: Time) {
        let entity = &mut self.entities[queue];
        let tree = &mut self.trees[entity.class];
        if self.served == Some(queue) {
            entity.finish = entity.start + virtual_time(entity.service, entity.weight);
            self.served = None;
        }
        tree.active.retain(|&other| other != queue);
        if entity.finish <= tree.vtime {
            entity.place = Place::Off;
            tree.weights -= entity.weight;
        } else {
            entity.place = Place::Idle;
            let (class, at) = (entity.class, self.place_of(queue, |tree| &tree.idle));
            self.trees[class].idle.insert(at, queue);
        }
        if self.next == Some(queue) {
            self.update_next(None, expires, now);
        }
    }

    /// Keeps `next` up to date after a change. `changed`: the queue that was put into a tree.
    fn update_next(&mut self, changed: Option<QueueId>, expires: bool, now: Time) {
        let beats = |new: QueueId, next: QueueId| {
            let (new, next) = (&self.entities[new], &self.entities[next]);
            new.class == next.class && new.start <= self.trees[new.class].vtime && next.finish > new.finish
        };
        self.next = match (changed, self.next) {
            (Some(new), None) => Some(new),
            (Some(new), Some(next)) if new != next && beats(new, next) => Some(new),
            _ => self.look_up(expires, now),
        };
    }

    fn look_up(&mut self, expires: bool, now: Time) -> Option<QueueId> {
        let mut first = 0;
        if self.idle_class_looked + (IDLE_CLASS_NS as Time) < now {
            if !self.trees[IDLE].active.is_empty() {
                first = IDLE;
            }
            self.idle_class_looked = now;
        }
        let serves = self.served.is_some() && !expires;
        (first..CLASSES).find_map(|class| self.first_of(class, serves))
    }

    /// The queue of a class with the earliest finish among those that may have started. If none may, time goes on to where one
    /// may; unless a queue is served, that becomes the class's time.
    fn first_of(&mut self, class: usize, serves: bool) -> Option<QueueId> {
        let tree = &self.trees[class];
        let least = tree.active.iter().map(|&queue| self.entities[queue].start).min()?;
        let vtime = tree.vtime.max(least);
        if !serves && vtime > tree.vtime {
            self.trees[class].vtime = vtime;
            self.forget_idle(class);
        }
        self.trees[class].active.iter().copied().find(|&queue| self.entities[queue].start <= vtime)
    }

    /// Forgets a queue without requests whose finish is past.
    fn forget_idle(&mut self, class: usize) {
        let tree = &mut self.trees[class];
        let (Some(&first), Some(&last)) = (tree.idle.first(), tree.idle.last()) else { return };
        if tree.active.is_empty() && self.entities[last].finish <= tree.vtime {
            tree.vtime = self.entities[last].finish;
        }
        if self.entities[first].finish <= tree.vtime {
            tree.idle.remove(0);
            self.entities[first].place = Place::Off;
            tree.weights -= self.entities[first].weight;
        }
    }

    /// Whether another queue is to be served after the served one.
    pub fn may_preempt(&self) -> bool {
        self.next != self.served
    }

    /// The next queue, which is served from now on.
    pub fn serve_next(&mut self, now: Time) -> Option<QueueId> {
        let queue = self.next.filter(|_| self.busy() > 0)?;
        self.served = Some(queue);
        let entity = &mut self.entities[queue];
        (entity.service, entity.place) = (0, Place::Served);
        self.trees[entity.class].active.retain(|&other| other != queue);
        self.update_next(None, false, now);
        Some(queue)
    }

    /// The queues that wait for their turn, the last one put into its tree first.
    pub fn waiting(&self) -> Vec<QueueId> {
        let mut all: Vec<_> = self.trees.iter().flat_map(|tree| &tree.active).copied().collect();
        all.sort_unstable_by_key(|&queue| std::cmp::Reverse(self.entities[queue].stamp));
        all
    }

    /// No queue is served any more.
    pub fn end_service(&mut self) {
        self.served = None;
    }

    /// Charges a queue with service.
    pub fn charge(&mut self, queue: QueueId, sectors: u64) {
        let entity = &mut self.entities[queue];
        entity.service += sectors;
        let (class, tree) = (entity.class, &mut self.trees[entity.class]);
        tree.vtime += virtual_time(sectors, tree.weights);
        self.forget_idle(class);
    }
}
