//! Sums of all changes of a device's power, from which its energy follows without an order of the changes.
//!
//! A change by ΔP at time a adds ΔP · (t − a) to the energy up to a later time t. So two sums, of ΔP and of ΔP · a, give
//! the energy of any number of changes in any order. A change ahead is summed when it becomes known; energy up to a time before
//! it is corrected for it. The second sum counts modulo 2⁶⁴; energies of less than 2⁶⁴ nW·ns are exact.

use super::meter::SERVERS;
use super::parts::StateId;
use flashwatt_base::units::Nanos;

/// The changes of a device's power so far, and those known ahead.
#[derive(Clone)]
pub struct Changes {
    /// Σ ΔP in nW over all changes, also over those ahead. Working servers are not part of it.
    pub level: i64,
    /// Σ ΔP · time over the same changes in nW·ns, less all work given to servers, plus all energy that was taken out.
    moment: u64,
    /// Changes known ahead. Some may be in the past by now.
    ahead: Vec<Ahead>,
    /// Number of changes at the start of `ahead` that have been applied in order.
    applied: usize,
    /// Σ ΔP in nW over the others, after [`Self::sort`].
    rise: i64,
    servers: [Server; SERVERS],
}

/// A number of changes ahead that is cheap to go through.
const FEW: usize = 16;

/// A future change of a part's state.
#[derive(Clone, Copy)]
pub struct Ahead {
    /// Time of the change.
    pub at: Nanos,
    /// Increase of power in nW.
    pub nw: i64,
    /// State before.
    pub from: StateId,
    /// State after.
    pub to: StateId,
}

/// A part that does one job after the other.
#[derive(Clone, Copy)]
struct Server {
    /// Power in nW while it works.
    nw: i64,
    /// Time at which its work is done; in the past if it does not work.
    until: Nanos,
    /// Whether it has worked since it was last found idle.
    busy: bool,
}

impl Changes {
    /// No change yet. `servers` is the power in nW of each working server.
    pub fn new(servers: [i64; SERVERS]) -> Self {
        let servers = servers.map(|nw| Server { nw, until: 0, busy: false });
        Changes { level: 0, moment: 0, ahead: Vec::new(), applied: 0, rise: 0, servers }
    }

    /// Power increases by `nw` at a time.
    #[inline(always)]
    pub fn add(&mut self, at: Nanos, nw: i64) {
        self.level += nw;
        self.moment = self.moment.wrapping_add(area(nw, at));
    }

    /// As [`Self::add`], at a future time.
    #[inline(always)]
    pub fn add_ahead(&mut self, change: Ahead) {
        self.add(change.at, change.nw);
        self.ahead.push(change);
    }

    /// A server works for `ns`, after the work it already has. Returns by how much in nW the power may now be further above
    /// [`Self::level`]: 0 if the server was not found idle since its last work.
    #[inline(always)]
    pub fn work(&mut self, server: usize, now: Nanos, ns: Nanos) -> i64 {
        let Server { nw, until, busy } = &mut self.servers[server];
        self.moment = self.moment.wrapping_sub(area(*nw, ns));
        *until = now.max(*until) + ns;
        i64::from(!std::mem::replace(busy, true)) * (*nw).max(0)
    }

    /// Time at which a server's work is done; in the past if it does not work.
    #[inline]
    pub fn until(&self, server: usize) -> Nanos {
        self.servers[server].until
    }

    /// Energy in nW·ns of `ns` of a server's work.
    #[inline]
    pub fn work_nw_ns(&self, server: usize, ns: Nanos) -> u128 {
        u128::from(area(self.servers[server].nw, ns))
    }

    /// Ends the work of a server now. Its remaining work is never done.
    #[inline]
    pub fn end_work(&mut self, server: usize, now: Nanos) {
        let Server { nw, until, .. } = &mut self.servers[server];
        let left = std::mem::replace(until, now) - now;
        self.moment = self.moment.wrapping_add(area(*nw, left));
    }

    /// Present power in nW.
    #[inline]
    pub fn power(&self, now: Nanos) -> i64 {
        let later = self.ahead[self.applied..].iter().filter(|change| change.at > now);
        let rise: i64 = later.map(|change| change.nw).sum();
        self.level - rise + self.work_at(now)
    }

    /// Energy in nW·ns up to `now` since it was last taken out. There must be no further change before.
    #[inline]
    pub fn recent(&self, now: Nanos) -> u64 {
        let mut energy = area(self.level, now).wrapping_sub(self.moment);
        for change in &self.ahead[self.applied..] {
            energy = energy.wrapping_add(area(change.nw, change.at.saturating_sub(now))); // 0 for one in the past
        }
        for server in &self.servers {
            energy = energy.wrapping_sub(area(server.nw, server.until.saturating_sub(now)));
        }
        energy
    }

    /// Takes out the energy up to `now`.
    #[inline]
    pub fn take_recent(&mut self, now: Nanos) -> u64 {
        let recent = self.recent(now);
        self.moment = self.moment.wrapping_add(recent);
        recent
    }

    /// As [`Self::take_recent`], of a device without servers and changes ahead.
    #[inline(always)]
    pub fn take_constant(&mut self, now: Nanos) -> u64 {
        debug_assert!(self.ahead.is_empty() && self.servers.iter().all(|server| server.until <= now));
        let moment = std::mem::replace(&mut self.moment, area(self.level, now));
        self.moment.wrapping_sub(moment)
    }

    /// Time of the last edge known ahead, or a time in the past.
    #[inline]
    pub fn last_edge(&self) -> Nanos {
        let edges = self.ahead.iter().map(|change| change.at).chain(self.servers.iter().map(|server| server.until));
        edges.max().unwrap_or(0)
    }

    /// Finds the servers that are idle. Returns by how much in nW the power can no longer be above [`Self::level`].
    #[inline]
    pub fn find_idle(&mut self, now: Nanos) -> i64 {
        let idle = self.servers.iter_mut().filter(|server| server.busy && server.until <= now);
        idle.map(|server| {
            server.busy = false;
            server.nw.max(0)
        })
        .sum()
    }

    /// The most in nW by which the power can be above [`Self::level`] from `now` on, to which more work of idle servers and
    /// falls ahead add; and the most in nW that it can be between `now` and `until`, if nothing is added.
    #[inline]
    pub fn bounds(&self, now: Nanos, until: Nanos) -> (i64, i64) {
        let (mut excess, mut most) = (0, self.level);
        for &Ahead { at, nw, .. } in &self.ahead {
            let fall = if at > now { nw.min(0) } else { 0 };
            excess -= fall;
            most -= if at >= until { nw } else { fall };
        }
        for server in &self.servers {
            excess += if server.busy { server.nw.max(0) } else { 0 };
            most += if server.until > now { server.nw.max(0) } else { 0 };
        }
        (excess, most)
    }

    /// Whether it costs little to go through the changes ahead.
    #[inline]
    pub fn are_few_ahead(&self) -> bool {
        self.ahead.len() - self.applied <= FEW
    }

    /// Forgets the changes of the past if it costs much to go through them.
    #[inline]
    pub fn forget_if_many(&mut self, now: Nanos) {
        if self.ahead.len() > FEW {
            self.forget(now);
        }
    }

    /// Forgets the changes of the past.
    #[inline]
    pub fn forget(&mut self, now: Nanos) {
        self.ahead.retain(|change| change.at > now);
        self.applied = 0;
    }

    /// Sorts the changes ahead. None may be in the past.
    #[inline]
    pub fn sort(&mut self) {
        self.ahead.sort_unstable_by_key(|change| change.at);
        self.rise = self.ahead.iter().map(|change| change.nw).sum();
    }

    /// Puts the change that was added last into its place among the sorted ones.
    #[inline]
    pub fn sort_last(&mut self) {
        let mut place = self.ahead.len() - 1;
        self.rise += self.ahead[place].nw;
        while place > self.applied && self.ahead[place - 1].at > self.ahead[place].at {
            self.ahead.swap(place - 1, place);
            place -= 1;
        }
    }

    /// As [`Self::power`], if the changes ahead are sorted and none is in the past.
    #[inline(always)]
    pub fn power_in_order(&self, now: Nanos) -> i64 {
        self.level - self.rise + self.work_at(now)
    }

    /// The next edge after `now`, if the changes ahead are sorted and none is in the past.
    #[inline(always)]
    pub fn next_edge(&self, now: Nanos) -> Nanos {
        let next = self.ahead.get(self.applied).map_or(Nanos::MAX, |change| change.at);
        self.servers.iter().fold(next, |next, server| if server.until > now { next.min(server.until) } else { next })
    }

    /// Takes the next of the sorted changes if it does not come after `now`.
    #[inline(always)]
    pub fn next_until(&mut self, now: Nanos) -> Option<Ahead> {
        let change = *self.ahead.get(self.applied).filter(|change| change.at <= now)?;
        self.applied += 1;
        self.rise -= change.nw;
        Some(change)
    }

    #[inline(always)]
    fn work_at(&self, now: Nanos) -> i64 {
        self.servers.iter().map(|server| if server.until > now { server.nw } else { 0 }).sum()
    }
}

/// A power over a time, modulo 2⁶⁴.
#[inline(always)]
fn area(nw: i64, ns: Nanos) -> u64 {
    (nw as u64).wrapping_mul(ns)
}
