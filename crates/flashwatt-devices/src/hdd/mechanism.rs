//! Arm and platters: where the heads are, and what an access to the medium takes.

use std::hint::select_unpredictable;

use super::geometry::{Geometry, Lba, SectorPlace};
use super::rotation::{Angle, Rotation};
use super::seek::{Curve, Times};
use super::settings::Hdd;
use flashwatt_base::units::Nanos;

/// The moving parts of a disk.
pub struct Mechanism {
    geometry: Geometry,
    rotation: Rotation,
    curve: Curve,
    head_switch_ns: Nanos,
    write_settle_ns: i64,
    read_less_ns: Nanos,
    reads_on_arrival: bool,
    writes_on_arrival: bool,
    keeps_passing: bool,
    /// Where the heads are: the cylinder, and the head in use.
    cylinder: u32,
    head: u32,
}

/// The way to a track: over how many cylinders, and how long it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArmMove {
    /// Cylinders to cross.
    pub cylinders: u32,
    /// Whether another head takes over on the same cylinder.
    pub switches_head: bool,
    /// Time until the head follows the track.
    pub ns: Nanos,
}

/// Where an access would begin.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Of targets that are reached at one time the one with the least rank comes first.
    pub rank: u64,
    /// Where its first sector lies.
    pub place: SectorPlace,
    /// Whether it writes.
    pub writes: bool,
    /// The first sector is not written before: its data is still on the way.
    pub ready_ns: Nanos,
}

/// An access to a run of sectors on one track.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The first sector.
    pub first: Lba,
    /// The sector after the last one.
    pub end: Lba,
    /// Where the first sector lies.
    pub place: SectorPlace,
    /// The way there.
    pub way: ArmMove,
    /// The head follows the track.
    pub on_track_ns: Nanos,
    /// The first sector is under the head.
    pub start_ns: Nanos,
    /// The last sector has passed it.
    pub end_ns: Nanos,
    /// The sector that came by first, counted from `first`, of an access that takes sectors as they come by; else 0.
    pub from: u64,
    /// Sectors before the first one that passed the head meanwhile.
    pub passed: u64,
}

/// What an access is to do.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The first sector.
    pub first: Lba,
    /// Where it lies.
    pub place: SectorPlace,
    /// The sector after the last one. The access ends there or at the end of the track.
    pub end: Lba,
    /// Whether it writes.
    pub writes: bool,
    /// The first sector is not written before.
    pub ready_ns: Nanos,
    /// All sectors can be taken in any order from this time on.
    pub any_order_ns: Nanos,
}

impl Mechanism {
    /// The heads on the outermost cylinder.
    pub fn new(settings: &Hdd) -> Self {
        let seek = &settings.seek;
        let times = Times { single: seek.single_cylinder_ns, mean: seek.mean_ns, full: seek.full_stroke_ns };
        let cylinders = settings.cylinders();
        let curve = match Curve::fit(cylinders, times, seek.joint_fraction) {
            _ if !seek.points.is_empty() => Curve::through_points(cylinders, &seek.points),
            Ok(curve) => curve,
            Err(_) => unreachable!("the times were checked with the settings"),
        };
        Mechanism {
            geometry: Geometry::new(settings),
            rotation: Rotation::new(settings.rpm),
            curve,
            head_switch_ns: seek.head_switch_ns,
            write_settle_ns: seek.write_settle_ns,
            read_less_ns: seek.read_less_ns,
            reads_on_arrival: settings.buffer.reads_on_arrival,
            writes_on_arrival: settings.buffer.writes_on_arrival,
            keeps_passing: settings.buffer.keeps_passing_sectors,
            cylinder: 0,
            head: 0,
        }
    }

    /// The geometry.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The way from where the heads are to a place.
    #[inline(always)]
    pub fn way(&self, place: &SectorPlace, writes: bool) -> ArmMove {
        let cylinders = self.cylinder.abs_diff(place.cylinder);
        let switches_head = cylinders == 0 && self.head != place.head;
        ArmMove { cylinders, switches_head, ns: self.way_ns(self.seek_ns(cylinders), place, writes) }
    }

    /// Time of a seek as the curve gives it; 0 for no cylinder.
    #[inline(always)]
    fn seek_ns(&self, cylinders: u32) -> Nanos {
        if cylinders == 0 { 0 } else { self.curve.time(cylinders) }
    }

    /// Time of the way to a place whose seek takes `seek_ns`. A seek includes the switch of heads, if that does not take longer.
    #[inline(always)]
    fn way_ns(&self, seek_ns: Nanos, place: &SectorPlace, writes: bool) -> Nanos {
        let switches = self.head != place.head;
        if seek_ns == 0 && !switches {
            return 0;
        }
        let switch_ns = select_unpredictable(switches, self.head_switch_ns, 0);
        if writes {
            return seek_ns.max(switch_ns).saturating_add_signed(self.write_settle_ns);
        }
        seek_ns.saturating_sub(self.read_less_ns).max(switch_ns)
    }

    /// Of candidates in the order of their cylinders, the one whose first sector is under the head first: its place among them, and
    /// the time from `now` on, within a few nanoseconds; none if none of them takes less than `limit`.
    ///
    /// The search goes outward from the heads and ends where the seek alone takes longer than the least time so far, and so do all
    /// farther ones.
    #[inline]
    pub fn nearest<T>(
        &self,
        now: Nanos,
        candidates: &[T],
        limit: Nanos,
        cylinder: impl Fn(&T) -> u32,
        target: impl Fn(&T) -> Target,
    ) -> Option<(usize, Nanos)> {
        if candidates.is_empty() {
            return None;
        }
        let (mut least, mut rank, mut best) = (limit, 0, None);
        let mut above = candidates.partition_point(|one| cylinder(one) < self.cylinder);
        let mut below = above;
        loop {
            let down = candidates[..below].last().map_or(u32::MAX, |one| self.cylinder - cylinder(one));
            let up = candidates.get(above).map_or(u32::MAX, |one| cylinder(one) - self.cylinder);
            let cylinders = down.min(up);
            if cylinders == u32::MAX {
                break;
            }
            let seek_ns = self.seek_ns(cylinders);
            if self.least_way_ns(cylinders) > least {
                break;
            }
            let at = if down < up { below - 1 } else { above };
            (below, above) = if down < up { (at, above) } else { (below, at + 1) };
            let target = target(&candidates[at]);
            let way_ns = self.way_ns(seek_ns, &target.place, target.writes);
            let way_ns = way_ns.max(target.ready_ns.saturating_sub(now));
            let ns = way_ns + self.rotation.about(now + way_ns, target.place.angle);
            if (ns, target.rank) < (least, rank) {
                (least, rank, best) = (ns, target.rank, Some(at));
            }
        }
        best.map(|at| (at, least))
    }

    /// No way over at least this number of cylinders takes less, up to rounding.
    #[inline(always)]
    fn least_way_ns(&self, cylinders: u32) -> Nanos {
        let seek_ns = if cylinders == 0 { 0 } else { self.curve.least(cylinders) };
        let shorter = self.read_less_ns.max(self.write_settle_ns.min(0).unsigned_abs());
        seek_ns.saturating_sub(1 + shorter)
    }

    /// Accesses sectors up to the end of the task, or to the end of the track if that comes first, from `now` on.
    #[inline]
    pub fn access(&mut self, now: Nanos, task: &Task) -> Access {
        let Task { first, place, writes, .. } = *task;
        let end = task.end.min(first + u64::from(place.left_on_track));
        let way = self.way(&place, writes);
        (self.cylinder, self.head) = (place.cylinder, place.head);
        let on_track_ns = now + way.ns;
        let from_ns = on_track_ns.max(task.ready_ns);
        let start_ns = from_ns + self.rotation.wait(from_ns, place.angle);
        let mut access = Access { first, end, place, way, on_track_ns, start_ns, end_ns: start_ns, from: 0, passed: 0 };
        access.end_ns = self.passed_ns(&access, end);
        if if writes { self.writes_on_arrival } else { self.reads_on_arrival } {
            self.take_on_arrival(&mut access, on_track_ns.max(task.any_order_ns));
        }
        if self.keeps_passing && !writes {
            access.passed = self.passing(&access, on_track_ns);
        }
        access
    }

    /// If the head comes upon sectors of the access: it begins with the next one and ends a revolution later.
    fn take_on_arrival(&self, access: &mut Access, on_track_ns: Nanos) {
        let sectors = access.end - access.first;
        let past = self.rotation.angle(on_track_ns).wrapping_sub(access.place.angle);
        let next = past.div_ceil(access.place.sector);
        if next == 0 || next >= sectors || on_track_ns > access.start_ns {
            return;
        }
        let angle = access.place.angle.wrapping_add(access.place.sector.wrapping_mul(next));
        access.from = next;
        access.start_ns = on_track_ns + self.rotation.wait(on_track_ns, angle);
        access.end_ns = access.start_ns + self.rotation.time(Angle::MAX);
    }

    /// Sectors of the track before the first one that pass the head from when it is there to when the first one comes.
    fn passing(&self, access: &Access, on_track_ns: Nanos) -> u64 {
        let waits_ns = if access.from > 0 { 0 } else { access.start_ns - on_track_ns };
        let pass = self.rotation.turned(waits_ns) / access.place.sector;
        pass.min(access.first - self.geometry.track(access.first).0)
    }

    /// Time that a sector takes to pass the head.
    pub fn sector_ns(&self, place: &SectorPlace) -> Nanos {
        self.rotation.time(place.sector)
    }

    /// When the sectors of an access up to this one have passed the head, and all between.
    pub fn arrived_ns(&self, access: &Access, end: Lba) -> Nanos {
        let behind = end - access.first;
        if access.from == 0 || behind > access.from {
            return if access.from == 0 { self.passed_ns(access, end) } else { access.end_ns };
        }
        let left = self.rotation.time(access.place.sector.saturating_mul(access.from - behind));
        access.end_ns.saturating_sub(left)
    }

    /// The place of the sector after an access.
    #[inline]
    pub fn after(&self, access: &Access) -> SectorPlace {
        let (place, sectors) = (access.place, access.end - access.first);
        let left = u64::from(place.left_on_track);
        if sectors >= left {
            return self.geometry.place(access.end);
        }
        let angle = place.angle.wrapping_add(place.sector.wrapping_mul(sectors));
        SectorPlace { left_on_track: (left - sectors) as u32, angle, ..place }
    }

    /// The time at which all sectors of an access before `end` have passed the head.
    #[inline]
    pub fn passed_ns(&self, access: &Access, end: Lba) -> Nanos {
        let turn = access.place.sector.saturating_mul(end - access.first);
        access.start_ns + self.rotation.turn(access.start_ns, access.place.angle, turn)
    }

    /// The sector up to which an access has come at a time before its end.
    pub fn reached(&self, access: &Access, now: Nanos) -> Lba {
        if now <= access.start_ns {
            return access.first;
        }
        let late: Angle = self.rotation.angle(access.start_ns).wrapping_sub(access.place.angle);
        let turned = self.rotation.turned(now - access.start_ns).saturating_add(late);
        (access.first + turned / access.place.sector).min(access.end)
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::small;
    use super::*;
    use flashwatt_base::rng::Rng;

    fn accessed(disk: &mut Mechanism, now: Nanos, first: Lba, end: Lba, writes: bool) -> Access {
        let place = disk.geometry.place(first);
        let task = Task { first, place, end, writes, ready_ns: 0, any_order_ns: 0 };
        let access = disk.access(now, &task);
        if access.end < small().capacity_bytes() / 512 {
            assert_eq!(disk.after(&access), disk.geometry.place(access.end));
        }
        access
    }

    /// 6000 rpm: 10 ms a revolution; 50 sectors of 0.2 ms on a track of the outer zone.
    #[test]
    fn an_access_takes_seek_rotation_and_transfer() {
        let mut disk = Mechanism::new(&small());
        // Sector 10 of the first track, from time 0 on: 10 sectors turn by, then 4 are read.
        let access = accessed(&mut disk, 0, 10, 14, false);
        assert_eq!((access.way.ns, access.start_ns, access.end_ns), (0, 2_000_000, 2_800_000));
        // The next sector follows at once.
        let next = accessed(&mut disk, access.end_ns, 14, 15, false);
        assert_eq!((next.start_ns, next.end_ns), (2_800_000, 3_000_000));
        // The next head: 0.8 ms to switch, 0.2 ms to settle for a write. The track's start is skewed by 5 sectors (0.9 ms), so that
        // its sector 0 comes by at 1.0 ms of each revolution.
        let other = accessed(&mut disk, 3_000_000, 50, 60, true);
        assert!(other.way.switches_head && other.way.cylinders == 0);
        assert_eq!((other.on_track_ns, other.start_ns, other.end_ns), (4_000_000, 11_000_000, 13_000_000));
        // One cylinder on: a seek of 1 ms, which includes the switch of heads. Skew: 5 + 7 sectors.
        let seek = accessed(&mut disk, 13_000_000, 100, 1_000, false);
        assert_eq!((seek.way.cylinders, seek.on_track_ns, seek.start_ns), (1, 14_000_000, 22_400_000));
        assert_eq!(seek.end, 150, "a track");
        assert_eq!(disk.reached(&seek, 22_400_000 + 1_999_999), 109);
        assert_eq!(disk.reached(&seek, 22_400_000 + 2_000_000), 110);
        assert_eq!(disk.passed_ns(&seek, 110), 24_400_000);
    }

    /// Of random candidates, many of them on few cylinders and some in one place, the search finds the one that a look at all of
    /// them finds.
    #[test]
    fn the_nearest_is_the_least_of_all_candidates() {
        let (mut disk, mut rng) = (Mechanism::new(&small()), Rng::new(2));
        let sectors = small().capacity_bytes() / 512;
        for now in (0..2_000).map(|step| step * 777_777) {
            let part = [sectors, 400, 20][rng.below(3) as usize];
            let mut places: Vec<(SectorPlace, u64, bool)> = (0..rng.below(40))
                .map(|_| (disk.geometry.place(rng.below(part)), rng.below(1 << 40), rng.below(2) == 0))
                .collect();
            places.sort_by_key(|(place, ..)| place.cylinder);
            let time = |(place, rank, writes): &(SectorPlace, u64, bool)| {
                let way_ns = disk.way(place, *writes).ns;
                (way_ns + disk.rotation.about(now + way_ns, place.angle), *rank)
            };
            let least = places.iter().map(time).min();
            let target =
                |&(place, rank, writes): &(SectorPlace, u64, bool)| Target { place, rank, writes, ready_ns: 0 };
            let nearest = |limit| disk.nearest(now, &places, limit, |one| one.0.cylinder, target);
            let found = nearest(Nanos::MAX);
            assert_eq!(found.map(|(at, ns)| (ns, places[at].1)), least);
            assert_eq!(found.and_then(|(_, ns)| nearest(ns)), None, "not less than the limit");
            assert_eq!(found.and_then(|(_, ns)| nearest(ns + 1)), found);
            let first = rng.below(sectors - 1);
            accessed(&mut disk, now, first, first + 1, false);
        }
    }

    /// Rotational latency of random accesses at random times is uniform in [0, T): the Kolmogorov-Smirnov statistic of n draws
    /// exceeds 1.95 / √n with probability 0.1 %.
    #[test]
    fn rotational_latency_is_uniform() {
        let (mut disk, mut rng) = (Mechanism::new(&small()), Rng::new(1));
        let (n, sectors, mut now) = (20_000, small().capacity_bytes() / 512, 0);
        let mut waits = Vec::new();
        for _ in 0..n {
            now += rng.below(50_000_000);
            let first = rng.below(sectors);
            let access = accessed(&mut disk, now, first, first + 1, false);
            waits.push((access.start_ns - access.on_track_ns) as f64 / 10e6);
            now = access.end_ns;
        }
        waits.sort_by(f64::total_cmp);
        assert!(waits[0] >= 0.0 && waits[n - 1] < 1.0);
        let distance = (0..n).map(|i| {
            let (below, above) = (i as f64 / n as f64, (i + 1) as f64 / n as f64);
            (waits[i] - below).abs().max((above - waits[i]).abs())
        });
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < 1.95 / (n as f64).sqrt(), "{distance}");
    }
}
