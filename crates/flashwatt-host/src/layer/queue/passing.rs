//! Requests that pass the queue: they find nothing queued and room in the device.

use super::{Inside, PASSED, Queue, moved_sectors};
use crate::figures::kind;
use crate::pool::RqId;
use crate::sched::Passing;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Request, Tag};

impl Queue {
    /// A request that finds nothing queued and room in the device goes there at once, if the scheduler lets it: gives its tag
    /// there. What follows of it is counted at the end of the window.
    #[inline(always)]
    pub fn pass(&mut self, tag: Tag, request: &Request, now: Nanos) -> Option<Tag> {
        let is_plain = request.bytes.wrapping_sub(1) < self.passing_bytes && request.arrival_ns == now;
        if !is_plain || self.is_busy() || (!request.is_sync && self.plug.requests > 1) {
            return None;
        }
        if self.places_bind && !self.places.any_for(request.is_sync) {
            return None;
        }
        let &inner = self.free.last()?;
        if self.passing_rule == Passing::Asked {
            if !self.scheduler.pass(request) {
                return None;
            }
            self.figures.counters.batches += 1;
        }
        self.free.pop();
        self.in_device_time.comes(now);
        self.places.take(request.is_sync);
        let (at, sectors) = (kind(request.kind), request.bytes / SECTOR_BYTES);
        self.in_device[inner.0 as usize] = Inside {
            id: PASSED,
            tag,
            process: request.process,
            moved_sectors: moved_sectors(request.kind, sectors),
            arrival_ns: now,
            at: at as u8,
            priority: request.priority,
            is_sync: request.is_sync,
        };
        let unqueued = &mut self.unqueued[at];
        unqueued.passed += 1;
        unqueued.sectors += sectors;
        self.seek(request.offset_bytes / SECTOR_BYTES, sectors);
        Some(inner)
    }

    /// A request has ended in the device. Of one that passed the queue, the tag of the process's request; else its number in
    /// the pool, for [`Self::queued_ended`].
    #[inline(always)]
    pub fn passed_ended(&mut self, tag: Tag, now: Nanos) -> Result<Tag, RqId> {
        let Some(&inside) = self.in_device.get(tag.0 as usize) else {
            unreachable!("the device got no request {tag:?}")
        };
        self.free.push(tag);
        self.in_device_time.goes(now);
        if inside.id != PASSED {
            return Err(inside.id);
        }
        self.free_place(inside.is_sync);
        self.unqueued[usize::from(inside.at)].latency.add(now - inside.arrival_ns);
        self.figures.moved(inside.process, inside.moved_sectors);
        if self.passing_rule == Passing::Asked {
            self.scheduler.passed_ended(inside.priority.class());
        }
        Ok(inside.tag)
    }
}
