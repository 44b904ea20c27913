//! Where the sectors of a zone lie.

use serde::{Deserialize, Serialize};

use schemars::JsonSchema;

use super::Lba;

/// Cylinders of one number of sectors per track.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Zone {
    /// The first cylinder.
    pub first_cylinder: u32,
    /// Number of cylinders, ≥ 1.
    pub cylinders: u32,
    /// Sectors on each track, ≥ 1.
    pub sectors_per_track: u32,
    /// Its layout, if it is not the plain one: every sector in the order of its number, with the skews of the disk.
    pub layout: Option<Box<ZoneLayout>>,
}

impl Zone {
    /// A zone of plain layout.
    pub fn plain(first_cylinder: u32, cylinders: u32, sectors_per_track: u32) -> Self {
        Zone { first_cylinder, cylinders, sectors_per_track, layout: None }
    }

    /// Zones of plain layout, one after the other: cylinders and sectors per track of each.
    pub fn row(zones: impl IntoIterator<Item = (u32, u32)>) -> Vec<Self> {
        let mut first = 0;
        let zone = |(cylinders, sectors_per_track)| {
            let zone = Zone::plain(first, cylinders, sectors_per_track);
            first = zone.end_cylinder();
            zone
        };
        zones.into_iter().map(zone).collect()
    }

    /// Places for sectors on a disk with this number of heads.
    pub fn physical_sectors(&self, heads: u32) -> u64 {
        u64::from(self.cylinders) * u64::from(heads) * u64::from(self.sectors_per_track)
    }

    /// Sectors of the zone that have a number, on a disk with this number of heads.
    pub fn sectors(&self, heads: u32) -> Lba {
        self.layout.as_ref().map_or_else(|| self.physical_sectors(heads), |layout| layout.sectors)
    }

    /// The cylinder after the last one.
    pub fn end_cylinder(&self) -> u32 {
        self.first_cylinder.saturating_add(self.cylinders)
    }
}

/// What a zone has besides sectors in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ZoneLayout {
    /// Sectors that have a number.
    pub sectors: Lba,
    /// Sectors by which the zone's first place lies behind the angle 0.
    pub offset_sectors: f64,
    /// Places at the zone's beginning that have no number.
    pub reserved_sectors: u64,
    /// Skew in sectors from a track to the next one of the cylinder.
    pub track_skew_sectors: f64,
    /// Skew in sectors from a cylinder to the next one.
    pub cylinder_skew_sectors: f64,
    /// Spares in each range of the disk's sparing: sectors, or tracks if tracks are spared.
    pub spares: u64,
    /// Places without a number (tracks if tracks are spared), counted within the zone: what follows moves on by one.
    pub slips: Vec<u64>,
    /// Places whose content lies elsewhere, and where: `[from, to]`, counted as the slips.
    pub defects: Vec<[u64; 2]>,
}

/// Where spares lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpareRange {
    /// There are none, or at the end of the disk: a slip moves all that follows in its zone on by one.
    #[default]
    Disk,
    /// At the end of each zone: a slip moves all that follows in its zone on by one.
    Zone,
    /// Whole tracks at the end of each zone; slips and defects are numbers of tracks.
    ZoneTracks,
    /// At the end of each cylinder.
    Cylinder,
    /// At the front of each cylinder.
    CylinderFront,
    /// At the end of each track.
    Track,
    /// At the end of each run of `sparing_cylinders` cylinders.
    Cylinders,
}

/// The order in which the tracks of a zone follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrackOrder {
    /// Each cylinder from head 0 on.
    #[default]
    Ascending,
    /// Every other cylinder from the last head on, from the second one of each zone on: a change of cylinders is none of heads.
    SerpentineByZone,
    /// The cylinders of odd numbers from the last head on.
    Serpentine,
}

/// What all zones have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// The order of tracks.
    pub track_order: TrackOrder,
    /// Where spares lie.
    pub spare_range: SpareRange,
    /// Cylinders of a range, with [`SpareRange::Cylinders`].
    pub sparing_cylinders: u32,
    /// Whether slips use the spares of their range. Else they move all that follows in the zone on.
    pub slips_use_spares: bool,
}

impl Default for Layout {
    fn default() -> Self {
        let (track_order, spare_range) = (TrackOrder::Ascending, SpareRange::Disk);
        Layout { track_order, spare_range, sparing_cylinders: 1, slips_use_spares: true }
    }
}

impl Layout {
    /// Places of a range of sparing, in a zone of `places` places.
    pub fn range(&self, zone: &Zone, heads: u32) -> u64 {
        let track = u64::from(zone.sectors_per_track);
        let cylinder = track * u64::from(heads);
        match self.spare_range {
            SpareRange::Disk | SpareRange::Zone | SpareRange::ZoneTracks => zone.physical_sectors(heads),
            SpareRange::Cylinder | SpareRange::CylinderFront => cylinder,
            SpareRange::Track => track,
            SpareRange::Cylinders => cylinder * u64::from(self.sparing_cylinders),
        }
    }

    /// Sectors of a spare, a slip or a defect.
    pub fn unit(&self, zone: &Zone) -> u64 {
        if self.spare_range == SpareRange::ZoneTracks { zone.sectors_per_track.into() } else { 1 }
    }

    /// Whether what follows a slip moves on up to the end of the zone.
    pub fn slips_move_zone(&self) -> bool {
        matches!(self.spare_range, SpareRange::Disk | SpareRange::Zone | SpareRange::ZoneTracks)
            || !self.slips_use_spares
    }

    /// Sectors that have a number in a zone, as its reserved places, spares and slips leave them.
    pub fn sectors(&self, zone: &Zone, heads: u32, of: &ZoneLayout) -> u64 {
        let (places, unit) = (zone.physical_sectors(heads), self.unit(zone));
        let ranges = places.div_ceil(self.range(zone, heads).max(1));
        let (spares, slips) = (ranges * of.spares, of.slips.len() as u64);
        let lost = match self.spare_range {
            SpareRange::Disk => slips,
            _ if !self.slips_use_spares => spares + slips,
            SpareRange::Zone | SpareRange::ZoneTracks => spares.max(slips),
            _ => spares,
        };
        let lost = lost.saturating_mul(unit).saturating_add(of.reserved_sectors);
        places.saturating_sub(lost)
    }
}
