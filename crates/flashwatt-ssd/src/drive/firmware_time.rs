//! The time of the firmware, between the host link and the planning of a request.
//!
//! A command takes one of the cores for a time that is the same for all commands, first come, first served. Reads and writes then take a
//! time of their kind, for any number of them at once. So commands of a kind keep their order; those of different kinds may not, where
//! these times differ. Trims and flushes take the core's time alone.
//!
//! When a command comes, the time at which it is planned is certain: commands that come later do not delay it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Ssd;
use crate::nand::settings::FirmwareTime;
use crate::observe::probe::Probe;
use flashwatt_base::units::{Nanos, RequestId};
use flashwatt_core::connector::{Cx, RequestKind};

/// Commands in the firmware.
pub(super) struct FirmwareQueue {
    settings: FirmwareTime,
    /// When the cores are done with the commands that they were given last, at most one for each core, in the order of these times. All
    /// commands take a core equally long, so the first one in this order is the first core to be free.
    done_at: VecDeque<Nanos>,
    /// When commands are planned. Of those of one instant the one that came first is first.
    planned_at: BinaryHeap<Reverse<(Nanos, u64, RequestId)>>,
    /// Commands that have come.
    came: u64,
}

impl FirmwareQueue {
    /// Of a firmware that takes time.
    pub fn new(settings: &FirmwareTime) -> Self {
        FirmwareQueue { settings: settings.clone(), done_at: VecDeque::new(), planned_at: BinaryHeap::new(), came: 0 }
    }

    /// A command has come. Returns when it is planned.
    fn come(&mut self, now: Nanos, kind: RequestKind, id: RequestId) -> Nanos {
        let FirmwareTime { cores, command_ns, read_ns, write_ns } = self.settings;
        let is_any_free = self.done_at.len() < cores as usize;
        let free_at = if is_any_free { now } else { self.done_at.pop_front().map_or(now, |at| at.max(now)) };
        let done = free_at.saturating_add(command_ns);
        self.done_at.push_back(done);
        let more_ns = match kind {
            RequestKind::Read => read_ns,
            RequestKind::Write => write_ns,
            RequestKind::Trim | RequestKind::Flush => 0,
        };
        let at = done.saturating_add(more_ns);
        self.planned_at.push(Reverse((at, self.came, id)));
        self.came += 1;
        at
    }

    /// When the next command is planned.
    fn next_at(&self) -> Option<Nanos> {
        self.planned_at.peek().map(|&Reverse((at, ..))| at)
    }

    /// The command to plan now.
    fn leave(&mut self) -> Option<RequestId> {
        self.planned_at.pop().map(|Reverse((.., id))| id)
    }
}

impl<P: Probe> Ssd<P> {
    /// A request has crossed the host link: it is planned when the firmware is done with its command.
    pub(super) fn arrived(&mut self, id: RequestId, cx: &mut Cx) {
        let kind = self.requests[id.idx()].request.kind;
        let Some(firmware) = &mut self.firmware_queue else { return self.plan_whole(id, kind, cx) };
        let at = firmware.come(cx.now(), kind, id);
        if firmware.next_at() == Some(at) {
            cx.agenda.reset(self.seats.firmware, at);
        }
    }

    /// The firmware is done with a command.
    #[cold]
    pub(super) fn firmware_event(&mut self, cx: &mut Cx) {
        let Some(firmware) = &mut self.firmware_queue else { return };
        let (left, next_at) = (firmware.leave(), firmware.next_at());
        if let Some(at) = next_at {
            cx.agenda.reset(self.seats.firmware, at);
        }
        if let Some(id) = left {
            self.plan_whole(id, self.requests[id.idx()].request.kind, cx);
        }
    }

    /// The firmware is done with a request: it is planned when it has looked up the entries of the map that it needs.
    fn plan_whole(&mut self, id: RequestId, kind: RequestKind, cx: &mut Cx) {
        if self.services.host_memory.is_none() || !self.look_up(id, kind, cx) {
            self.plan_now(id, cx);
        }
    }

    /// Plans all of a request.
    pub(super) fn plan_now(&mut self, id: RequestId, cx: &mut Cx) {
        let active = &self.requests[id.idx()];
        let (kind, extent) = (active.request.kind, active.extent(&self.geometry));
        self.plan(id, kind, &extent, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firmware(cores: u32, command_ns: Nanos, read_ns: Nanos, write_ns: Nanos) -> FirmwareQueue {
        FirmwareQueue::new(&FirmwareTime { cores, command_ns, read_ns, write_ns })
    }

    #[test]
    fn cores_serve_commands_in_the_order_in_which_they_come() {
        use RequestKind::{Flush, Read, Trim, Write};
        let mut two = firmware(2, 10, 3, 5);
        let mut come = |(at, kind), id| two.come(at, kind, RequestId(id));
        let commands = [(0, Read), (0, Write), (0, Trim), (4, Flush), (50, Read), (51, Read), (52, Write)];
        let planned: Vec<Nanos> = commands.into_iter().zip(0..).map(|(command, id)| come(command, id)).collect();
        assert_eq!(planned, [13, 15, 20, 20, 63, 64, 75], "the last one waits for the core of the fifth");
        let order: Vec<u32> = std::iter::from_fn(|| two.leave()).map(|id| id.0).collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_read_may_overtake_a_write() {
        let mut firmware = firmware(1, 1, 0, 100);
        assert_eq!(firmware.come(0, RequestKind::Write, RequestId(0)), 101);
        assert_eq!(firmware.come(0, RequestKind::Read, RequestId(1)), 2);
        assert_eq!((firmware.leave(), firmware.next_at()), (Some(RequestId(1)), Some(101)));
    }

    #[test]
    fn no_time_wraps() {
        let mut firmware = firmware(1, Nanos::MAX - 5, 9, 0);
        assert_eq!(firmware.come(7, RequestKind::Read, RequestId(0)), Nanos::MAX);
    }
}
