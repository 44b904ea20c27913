//! The host's link: commands and written data go in, read data goes out, each direction first come, first served.

use std::collections::VecDeque;

use crate::nand::settings::HostLink;
use flashwatt_base::units::{Nanos, RequestId};

/// The link.
pub(super) struct Link {
    /// Nanoseconds per byte; none for a link that takes no time.
    ns_per_byte: f64,
    command_ns: Nanos,
    is_instant: bool,
    inward: Direction,
    outward: Direction,
}

/// One direction. What is put on it begins when everything before it has crossed; since it is put there at the present
/// instant only, in order, the end can be told at once.
#[derive(Default)]
struct Direction {
    free_at: Nanos,
    crossing: VecDeque<(Nanos, RequestId)>,
}

impl Link {
    /// The link of a configuration.
    pub fn new(settings: &HostLink) -> Self {
        Link {
            ns_per_byte: settings.bandwidth_mb_s.map_or(0.0, |mb_s| 1e3 / mb_s),
            command_ns: settings.command_ns,
            is_instant: settings.bandwidth_mb_s.is_none() && settings.command_ns == 0,
            inward: Direction::default(),
            outward: Direction::default(),
        }
    }

    /// Does everything cross at once?
    #[inline(always)]
    pub fn is_instant(&self) -> bool {
        self.is_instant
    }

    /// A command, with its data, goes in. Returns when the next thing arrives, if nothing was crossing.
    pub fn send_in(&mut self, now: Nanos, bytes: u64, id: RequestId) -> Option<Nanos> {
        let ns = self.command_ns.saturating_add(self.data_ns(bytes));
        self.inward.send(now, ns, id)
    }

    /// Data goes out. Returns when the next thing arrives, if nothing was crossing.
    pub fn send_out(&mut self, now: Nanos, bytes: u64, id: RequestId) -> Option<Nanos> {
        let ns = self.data_ns(bytes);
        self.outward.send(now, ns, id)
    }

    /// Bytes of no request go in, behind what is on its way. Returns when they are there.
    pub fn carry_in(&mut self, now: Nanos, bytes: u64) -> Nanos {
        let ns = self.data_ns(bytes);
        self.inward.carry(now, ns)
    }

    /// Bytes of no request go out, behind what is on its way.
    pub fn carry_out(&mut self, now: Nanos, bytes: u64) -> Nanos {
        let ns = self.data_ns(bytes);
        self.outward.carry(now, ns)
    }

    /// Something has arrived in the device: whose it is, and when the next thing does.
    pub fn arrived_in(&mut self) -> (RequestId, Option<Nanos>) {
        self.inward.arrived()
    }

    /// Something has arrived at the host: whose it is, and when the next thing does.
    pub fn arrived_out(&mut self) -> (RequestId, Option<Nanos>) {
        self.outward.arrived()
    }

    fn data_ns(&self, bytes: u64) -> Nanos {
        (bytes as f64 * self.ns_per_byte).ceil() as Nanos
    }
}

impl Direction {
    fn carry(&mut self, now: Nanos, ns: Nanos) -> Nanos {
        self.free_at = self.free_at.max(now).saturating_add(ns);
        self.free_at
    }

    fn send(&mut self, now: Nanos, ns: Nanos, id: RequestId) -> Option<Nanos> {
        let at = self.carry(now, ns);
        self.crossing.push_back((at, id));
        (self.crossing.len() == 1).then_some(at)
    }

    fn arrived(&mut self) -> (RequestId, Option<Nanos>) {
        match self.crossing.pop_front() {
            Some((_, id)) => (id, self.crossing.front().map(|&(at, _)| at)),
            None => unreachable!("an arrival on an empty link"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_arrival_wraps() {
        let mut link = Link::new(&HostLink { bandwidth_mb_s: Some(0.001), command_ns: u64::MAX - 5, queue_depth: 2 });
        assert_eq!(link.send_in(0, 0, RequestId(0)), Some(u64::MAX - 5));
        assert_eq!(link.send_in(1, 1 << 40, RequestId(1)), None);
        assert_eq!(link.arrived_in(), (RequestId(0), Some(u64::MAX)));
    }
}
