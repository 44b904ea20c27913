//! From a sector's number to its place: zone, cylinder, head, and angle on the track.
//!
//! Sectors are numbered along a track, then head by head through a cylinder, then from the outer cylinder to the inner one.
//! The first sector of each track is shifted against that of the track before it by a skew, so that a head finds it there after
//! the switch. There is one entry for each zone and none for a track. Zones with spares and slips are in [`super::layout`].

use super::layout::ExactZone;
use super::rotation::{Angle, Rotation};
pub use super::settings::Lba;
use super::settings::{Hdd, Zone};

/// Where a sector lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SectorPlace {
    /// The zone, counted from the outermost one.
    pub zone: u32,
    /// The cylinder, counted from the outermost one.
    pub cylinder: u32,
    /// The head.
    pub head: u32,
    /// Sectors from this one on that follow each other on its track: up to its end, or to a slip or a defect.
    pub left_on_track: u32,
    /// The angle at which the sector begins.
    pub angle: Angle,
    /// The angle of one sector.
    pub sector: Angle,
}

/// A zone's part of the computation.
#[derive(Clone, Debug)]
struct ZoneSpan {
    first: Lba,
    first_cylinder: u32,
    sectors_per_track: u32,
    sector: Angle,
    /// Skew in sectors from a track to the next one of the cylinder, and from a cylinder's last track to the next cylinder.
    track_skew: u32,
    cylinder_skew: u32,
    /// The layout, if it is not plain.
    exact: Option<Box<ExactZone>>,
}

/// The geometry of a disk.
#[derive(Clone, Debug)]
pub struct Geometry {
    spans: Box<[ZoneSpan]>,
    heads: u32,
    /// The sector after the last one.
    end: Lba,
}

impl Geometry {
    /// The geometry of valid settings.
    pub fn new(settings: &Hdd) -> Self {
        let rotation = Rotation::new(settings.rpm);
        let mut first = 0;
        let span = |zone: &Zone| {
            let sectors_per_track = zone.sectors_per_track;
            let sector = Angle::MAX / u64::from(sectors_per_track);
            let skew = |ns| rotation.steps(ns, sector) as u32;
            let track_skew = skew(settings.track_skew_ns);
            let cylinder_skew = skew(settings.cylinder_skew_ns);
            let layout = zone.layout.as_deref();
            let exact = layout.map(|of| Box::new(ExactZone::new(zone, of, &settings.layout, settings.heads)));
            let first_cylinder = zone.first_cylinder;
            let span = ZoneSpan { first, first_cylinder, sectors_per_track, sector, track_skew, cylinder_skew, exact };
            first += zone.sectors(settings.heads);
            span
        };
        let spans = settings.zones.iter().map(span).collect();
        Geometry { spans, heads: settings.heads, end: first }
    }

    /// The place of a sector on the disk.
    #[inline]
    pub fn place(&self, lba: Lba) -> SectorPlace {
        let zone = self.spans.partition_point(|span| span.first <= lba) - 1;
        let span = &self.spans[zone];
        let within = lba - span.first;
        if let Some(exact) = &span.exact {
            let place = exact.find(within);
            let left_on_track = place.run.min(self.end_of_zone(zone) - lba) as u32;
            let (zone, sector) = (zone as u32, span.sector);
            let super::layout::ZonePlace { cylinder, head, angle, .. } = place;
            return SectorPlace { zone, cylinder, head, left_on_track, angle, sector };
        }
        let per_track = u64::from(span.sectors_per_track);
        let (track, sector) = (within / per_track, (within % per_track) as u32);
        let (cylinder, head) = ((track / u64::from(self.heads)) as u32, (track % u64::from(self.heads)) as u32);
        SectorPlace {
            zone: zone as u32,
            cylinder: span.first_cylinder + cylinder,
            head,
            left_on_track: span.sectors_per_track - sector,
            angle: span.sector.wrapping_mul(u64::from(sector) + self.skew(span, cylinder, head)),
            sector: span.sector,
        }
    }

    /// Sectors by which the start of a track is shifted against the zone's first one.
    #[inline]
    fn skew(&self, span: &ZoneSpan, cylinder: u32, head: u32) -> u64 {
        let of_cylinder = u64::from(self.heads - 1) * u64::from(span.track_skew) + u64::from(span.cylinder_skew);
        let sectors = u64::from(cylinder) * of_cylinder + u64::from(head) * u64::from(span.track_skew);
        sectors % u64::from(span.sectors_per_track)
    }

    /// The sector after the last one of a zone; without a limit after the last zone.
    fn end_of_zone(&self, zone: usize) -> Lba {
        self.spans.get(zone + 1).map_or(Lba::MAX, |next| next.first)
    }

    /// The first sector of the track of a sector, and the one after its last.
    pub fn track(&self, lba: Lba) -> (Lba, Lba) {
        let on_track = |place: SectorPlace| (place.cylinder, place.head);
        let place = self.place(lba);
        let mut end = lba + u64::from(place.left_on_track);
        let span = &self.spans[place.zone as usize];
        if span.exact.is_none() {
            return (end - u64::from(span.sectors_per_track), end);
        }
        while end < self.end && on_track(self.place(end)) == on_track(place) {
            end += u64::from(self.place(end).left_on_track);
        }
        let (mut first, mut high) = (span.first.max(lba.saturating_sub(span.sectors_per_track.into())), lba);
        while first < high {
            let middle = first + (high - first) / 2;
            if on_track(self.place(middle)) == on_track(place) {
                high = middle;
            } else {
                first = middle + 1;
            }
        }
        (first, end)
    }

    /// The sector after the last one of the cylinder of a sector.
    pub fn end_of_cylinder(&self, lba: Lba) -> Lba {
        let cylinder = self.place(lba).cylinder;
        let mut end = self.track(lba).1;
        while end < self.end && self.place(end).cylinder == cylinder {
            end = self.track(end).1;
        }
        end
    }

    /// Number of zones.
    pub fn zones(&self) -> usize {
        self.spans.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::small;
    use super::*;

    /// Every sector of a small disk, found by a walk over zones, cylinders, heads and tracks.
    #[test]
    fn places_are_those_of_a_walk() {
        let settings = small();
        let geometry = Geometry::new(&settings);
        let rotation = Rotation::new(settings.rpm);
        let (mut lba, mut cylinder) = (0, 0);
        for (zone, shape) in (0..).zip(&settings.zones) {
            let sector = Angle::MAX / u64::from(shape.sectors_per_track);
            let mut start = 0u64; // sectors that the track's start is shifted by
            for _ in 0..shape.cylinders {
                for head in 0..settings.heads {
                    for at in 0..shape.sectors_per_track {
                        let place = geometry.place(lba);
                        assert_eq!((place.zone, place.cylinder, place.head), (zone, cylinder, head), "{lba}");
                        assert_eq!(place.left_on_track, shape.sectors_per_track - at);
                        let turned = (start + u64::from(at)) % u64::from(shape.sectors_per_track);
                        let off = place.angle.wrapping_sub(turned * sector) as i64;
                        assert!(off.unsigned_abs() < 1 << 20, "{lba}: {off}");
                        lba += 1;
                    }
                    let switch =
                        if head + 1 < settings.heads { settings.track_skew_ns } else { settings.cylinder_skew_ns };
                    start += rotation.steps(switch, sector);
                }
                cylinder += 1;
            }
        }
        assert_eq!(lba, settings.capacity_bytes() / 512);
    }
}
