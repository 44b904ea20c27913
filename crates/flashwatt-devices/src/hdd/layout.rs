//! A zone with spares, slips and defects: from a sector's number within the zone to its place.
//!
//! Places are counted within the zone along its tracks, without skew. Numbers go over reserved places, spares and slips. Slips are
//! kept sorted with the number of the sector that would lie there, so that one search finds how many come before a sector.

use super::rotation::Angle;
use super::settings::{Layout, SpareRange, TrackOrder, Zone, ZoneLayout};

/// A zone that is not plain.
#[derive(Clone, Debug)]
pub struct ExactZone {
    /// Angle of the zone's first place, of a switch of tracks and of one of cylinders.
    offset: Angle,
    track_skew: Angle,
    cylinder_skew: Angle,
    sector: Angle,
    track: u64,
    heads: u64,
    first_cylinder: u32,
    order: TrackOrder,
    reserved: u64,
    /// Places of a range of sparing, those of them that have numbers, and spares in front of these.
    range: u64,
    data: u64,
    front: u64,
    /// Sectors of a slip.
    unit: u64,
    /// Slips in the order of their places, each with the number within its range of the sector that takes its place.
    slips: Box<[Slip]>,
    /// Whether slips count up to the end of the zone.
    moves_zone: bool,
    /// Whether a slip turns the tracks after its range by one sector.
    turns: bool,
    /// Sectors that lie elsewhere.
    moved: Box<[Moved]>,
}

/// A place without a number.
#[derive(Clone, Copy, Debug)]
struct Slip {
    place: u64,
    /// Of sectors in its range (or in the zone), those from this one on lie behind it.
    from: u64,
}

/// A run of sectors that lies elsewhere.
#[derive(Clone, Copy, Debug)]
struct Moved {
    first: u64,
    end: u64,
    /// The place of the first one.
    place: u64,
}

/// A place in a zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZonePlace {
    /// The cylinder, counted from the disk's first one.
    pub cylinder: u32,
    /// The head.
    pub head: u32,
    /// Sectors from this one on that follow each other on the track.
    pub run: u64,
    /// The angle at which the sector begins.
    pub angle: Angle,
}

impl ExactZone {
    /// A zone of valid settings.
    pub fn new(zone: &Zone, of: &ZoneLayout, layout: &Layout, heads: u32) -> Self {
        let track = u64::from(zone.sectors_per_track);
        let sector = Angle::MAX / track;
        let (range, unit) = (layout.range(zone, heads), layout.unit(zone));
        let at_end = matches!(layout.spare_range, SpareRange::Disk | SpareRange::Zone | SpareRange::ZoneTracks);
        let spares = if at_end { 0 } else { of.spares };
        let mut exact = ExactZone {
            offset: turn(of.offset_sectors, sector),
            track_skew: turn(of.track_skew_sectors, sector),
            cylinder_skew: turn(of.cylinder_skew_sectors, sector),
            sector,
            track,
            heads: heads.into(),
            first_cylinder: zone.first_cylinder,
            order: layout.track_order,
            reserved: of.reserved_sectors,
            range,
            data: range - spares,
            front: if layout.spare_range == SpareRange::CylinderFront { spares } else { 0 },
            unit,
            slips: Box::default(),
            moves_zone: layout.slips_move_zone(),
            turns: matches!(layout.spare_range, SpareRange::Cylinder | SpareRange::CylinderFront | SpareRange::Track),
            moved: Box::default(),
        };
        exact.slips = exact.sorted_slips(&of.slips);
        exact.moved = exact.sorted_moves(&of.defects, of.sectors);
        exact
    }

    /// The slips in order. One that lies on a spare in front has no effect.
    fn sorted_slips(&self, slips: &[u64]) -> Box<[Slip]> {
        let mut places: Vec<u64> = slips.iter().copied().filter(|place| place % self.range >= self.front).collect();
        places.sort_unstable();
        places.dedup();
        let mut sorted = Vec::new();
        let mut before = 0;
        for of_range in places.chunk_by(|one, next| one / self.range == next / self.range) {
            if !self.moves_zone {
                before = 0;
            }
            for &place in of_range {
                let (range, at) = (place / self.range, place % self.range);
                let at = if self.moves_zone {
                    range * self.data + at - self.front
                } else {
                    at - self.front_of(of_range.len() as u64)
                };
                sorted.push(Slip { place, from: at.saturating_sub(before) });
                before += 1;
            }
        }
        sorted.into()
    }

    /// Spares in front of the sectors of a range with this number of slips, each of which takes one.
    fn front_of(&self, slips: u64) -> u64 {
        if self.moves_zone { self.front } else { self.front.saturating_sub(slips) }
    }

    /// The defects as runs of sectors, in order.
    fn sorted_moves(&self, defects: &[[u64; 2]], sectors: u64) -> Box<[Moved]> {
        let run = |&[from, to]: &[u64; 2]| {
            let first_from = |place: u64| partition(sectors, |sector| self.place(sector).0 < place);
            let [from, to] = [from, to].map(|place| place * self.unit);
            let (first, end) = (first_from(from), first_from(from + self.unit));
            (end > first).then(|| Moved { first, end, place: to + (self.place(first).0 - from) })
        };
        let mut moved: Vec<Moved> = defects.iter().filter_map(run).collect();
        moved.sort_unstable_by_key(|moved| moved.first);
        moved.into()
    }

    /// The place of a sector as slips leave it, and how many sectors from it on lie one after the other.
    fn place(&self, sector: u64) -> (u64, u64) {
        let at = sector + self.reserved;
        if self.moves_zone {
            let at_unit = at / self.unit;
            let before = self.slips.partition_point(|slip| slip.from <= at_unit);
            let next = self.slips.get(before).map_or(u64::MAX, |slip| slip.from.saturating_mul(self.unit) - at);
            let at = at + before as u64 * self.unit;
            let (range, within) = (at / self.data, at % self.data);
            return (range * self.range + self.front + within, next.min(self.data - within));
        }
        let (range, within) = (at / self.data, at % self.data);
        let first = range * self.range;
        let slips = self.slips.partition_point(|slip| slip.place < first);
        let of_range = &self.slips[slips..];
        let of_range = &of_range[..of_range.partition_point(|slip| slip.place < first + self.range)];
        let before = of_range.partition_point(|slip| slip.from <= within);
        let next = of_range.get(before).map_or(self.data, |slip| slip.from.min(self.data));
        (first + self.front_of(of_range.len() as u64) + within + before as u64, next - within)
    }

    /// Where a sector lies, defects included.
    pub fn find(&self, sector: u64) -> ZonePlace {
        let (mut place, mut run) = self.place(sector);
        if !self.moved.is_empty() {
            let next = self.moved.partition_point(|moved| moved.end <= sector);
            if let Some(moved) = self.moved.get(next) {
                if moved.first <= sector {
                    (place, run) = (moved.place + (sector - moved.first), moved.end - sector);
                } else {
                    run = run.min(moved.first - sector);
                }
            }
        }
        let (track, on_track) = (place / self.track, place % self.track);
        let (cylinder, at) = (track / self.heads, track % self.heads);
        let descends = match self.order {
            TrackOrder::Ascending => false,
            TrackOrder::SerpentineByZone => cylinder % 2 == 1,
            TrackOrder::Serpentine => (cylinder + u64::from(self.first_cylinder)) % 2 == 1,
        };
        let head = if descends { self.heads - 1 - at } else { at };
        let switches = at + (self.heads - 1) * cylinder;
        let turned = self.track_skew.wrapping_mul(switches).wrapping_add(self.cylinder_skew.wrapping_mul(cylinder));
        let sectors = on_track + self.turned_by_slips(place);
        ZonePlace {
            cylinder: self.first_cylinder + cylinder as u32,
            head: head as u32,
            run: run.min(self.track - on_track),
            angle: self.offset.wrapping_add(turned).wrapping_add(self.sector.wrapping_mul(sectors % self.track)),
        }
    }

    /// Sectors by which slips before the range of a place turn its track, if they do.
    fn turned_by_slips(&self, place: u64) -> u64 {
        if !self.turns || self.slips.is_empty() {
            return 0;
        }
        let first = place / self.range * self.range;
        self.slips.partition_point(|slip| slip.place < first) as u64
    }
}

/// The angle of a number of sectors, whole or not.
fn turn(sectors: f64, sector: Angle) -> Angle {
    let (whole, part) = (sectors.trunc(), sectors.fract());
    sector.wrapping_mul(whole as i64 as u64).wrapping_add((part * sector as f64) as i64 as u64)
}

/// The first of these numbers for which `before` is false; it is true up to there.
fn partition(end: u64, before: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests;
