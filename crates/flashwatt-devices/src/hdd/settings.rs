//! The settings of a disk, checked: every field has its final value.

use serde::{Deserialize, Serialize};

use schemars::JsonSchema;

use flashwatt_base::units::{Nanos, SECTOR_BYTES};

mod layout;
mod policy;

pub use layout::{Layout, SpareRange, TrackOrder, Zone, ZoneLayout};
pub use policy::{Buffer, CommandTimes, Interface, ReadAheadTo, Returned, Way, WriteStart};

/// A sector's number: its address divided by 512 bytes.
pub type Lba = u64;

/// A hard disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hdd {
    /// Bytes that the host sees.
    pub bytes: u64,
    /// Revolutions per minute.
    pub rpm: u32,
    /// Heads, one for each surface that holds data.
    pub heads: u32,
    /// The zones, from the outermost one on.
    pub zones: Vec<Zone>,
    /// What the zones have in common, if their layouts are not plain.
    pub layout: Layout,
    /// Skew from a track to the next one of the cylinder, in zones of plain layout.
    pub track_skew_ns: Nanos,
    /// Skew from a cylinder to the next one, in zones of plain layout.
    pub cylinder_skew_ns: Nanos,
    /// Times of the arm.
    pub seek: Seek,
    /// The host's side.
    pub interface: Interface,
    /// The order of accesses to the medium.
    pub scheduling: Scheduling,
    /// The track buffer.
    pub buffer: Buffer,
    /// The write-back cache.
    pub write_cache: WriteCache,
    /// Standby and spin-up.
    pub standby: Standby,
    /// Power by part and state.
    pub energy: Energy,
}

/// Times of the arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seek {
    /// Seek to the next cylinder.
    pub single_cylinder_ns: Nanos,
    /// Mean seek over all pairs of different cylinders.
    pub mean_ns: Nanos,
    /// Seek from the outermost to the innermost cylinder.
    pub full_stroke_ns: Nanos,
    /// Share of the full stroke up to which the curve is that of short seeks.
    pub joint_fraction: f64,
    /// Times by distance in cylinders, in the order of distances; if there are any, the curve runs straight from one to the next.
    pub points: Vec<(u32, Nanos)>,
    /// Added for a write after a seek or a head switch; less than 0 if writes take less.
    pub write_settle_ns: i64,
    /// Taken off the time of a read after a seek.
    pub read_less_ns: Nanos,
    /// Switch to another head of the cylinder.
    pub head_switch_ns: Nanos,
}

/// The order of accesses to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The access that came first.
    Fifo,
    /// The access with the least time of seek and rotation (shortest positioning time first).
    Positioning,
}

/// The order of accesses to the medium.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scheduling {
    /// Which access comes next.
    pub order: Order,
    /// A request that has waited for the medium for so long comes first, the oldest before others.
    pub age_max_ns: Nanos,
}

/// The write-back cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WriteCache {
    /// Bytes; 0 for none: each write then waits for the medium.
    pub bytes: u64,
    /// Runs of consecutive sectors that the cache can hold.
    pub extents: u32,
    /// A run that has been in the cache for so long is written before all others, the oldest first.
    pub age_max_ns: Nanos,
    /// Whether all that is in the cache is written before any request that waits for the medium.
    pub goes_first: bool,
}

impl Default for WriteCache {
    fn default() -> Self {
        WriteCache { bytes: 0, extents: 64, age_max_ns: 10_000_000_000, goes_first: false }
    }
}

fn never_lasts(ns: &Nanos) -> bool {
    *ns == 0
}

/// Standby and spin-up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standby {
    /// Idle time after which the spindle stops; none: it never does.
    pub after_ns: Option<Nanos>,
    /// Time from then until the platters stand, and the spindle can be brought to speed again.
    #[serde(skip_serializing_if = "never_lasts")]
    pub spin_down_ns: Nanos,
    /// Time from the first request in standby until the disk is ready.
    pub spin_up_ns: Nanos,
}

/// Two numbers, one for each supply: +5 V and +12 V.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rails {
    /// Power in W from +5 V.
    pub v5_w: f64,
    /// Power in W from +12 V.
    pub v12_w: f64,
}

/// Power by part and state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Energy {
    /// The spindle motor.
    pub spindle: SpindlePower,
    /// The arm and its driver.
    pub arm: ArmPower,
    /// The electronics: processor, buffer, read and write channel.
    pub electronics: ElectronicsPower,
    /// The host's interface.
    pub interface: InterfacePower,
}

impl Energy {
    /// Every power, by part in the order of the components.
    fn all(&self) -> [&Rails; 14] {
        let Energy { spindle, arm, electronics, interface } = self;
        [
            &spindle.standby,
            &spindle.spin_up,
            &spindle.rotating,
            &arm.standby,
            &arm.tracking,
            &arm.seeking,
            &electronics.standby,
            &electronics.idle,
            &electronics.active,
            &electronics.read,
            &electronics.write,
            &interface.standby,
            &interface.idle,
            &interface.transfer,
        ]
    }

    /// Whether any part draws power from +12 V.
    pub fn has_12v(&self) -> bool {
        self.all().iter().any(|rails| rails.v12_w > 0.0)
    }
}

/// Power of the spindle motor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpindlePower {
    /// The spindle stands.
    pub standby: Rails,
    /// It is brought to speed.
    pub spin_up: Rails,
    /// It turns at speed.
    pub rotating: Rails,
}

/// Power of the arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmPower {
    /// It is parked.
    pub standby: Rails,
    /// It follows a track.
    pub tracking: Rails,
    /// It moves to another cylinder.
    pub seeking: Rails,
}

/// Power of the electronics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ElectronicsPower {
    /// The spindle stands.
    pub standby: Rails,
    /// There is nothing to do.
    pub idle: Rails,
    /// A request is in the disk, or the disk works on its own.
    pub active: Rails,
    /// Sectors are read.
    pub read: Rails,
    /// Sectors are written.
    pub write: Rails,
}

/// Power of the interface.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InterfacePower {
    /// The spindle stands.
    pub standby: Rails,
    /// No data moves.
    pub idle: Rails,
    /// Data moves.
    pub transfer: Rails,
}

impl Hdd {
    /// Bytes that all zones hold.
    pub fn capacity_bytes(&self) -> u64 {
        self.zones.iter().map(|zone| zone.sectors(self.heads) * SECTOR_BYTES).sum()
    }

    /// Cylinders of all zones.
    pub fn cylinders(&self) -> u32 {
        self.zones.iter().map(Zone::end_cylinder).max().unwrap_or(0)
    }
}

/// The zones of a disk that holds at least `bytes`: zones of equally many cylinders, with sectors per track that fall in equal
/// steps from the outermost to the innermost one.
pub(super) fn even_zones(bytes: u64, heads: u32, count: u32, outer: u32, inner: u32) -> Vec<Zone> {
    let per_track = |zone: u32| {
        let share = if count > 1 { f64::from(zone) / f64::from(count - 1) } else { 0.0 };
        (f64::from(outer) - share * (f64::from(outer) - f64::from(inner))).round() as u32
    };
    let sectors_per_cylinder: u64 = (0..count).map(|zone| u64::from(per_track(zone)) * u64::from(heads)).sum();
    let cylinders = bytes.div_ceil(SECTOR_BYTES).div_ceil(sectors_per_cylinder) as u32;
    Zone::row((0..count).map(|zone| (cylinders, per_track(zone))))
}

#[cfg(test)]
pub(in crate::hdd) mod tests {
    use super::*;

    /// A disk of 3 zones and 2 heads, with round numbers: 6000 rpm are 10 ms a revolution.
    pub fn small() -> Hdd {
        let zones = Zone::row([(7, 50), (5, 40), (9, 25)]);
        let w = |v5_w| Rails { v5_w, v12_w: 0.0 };
        let mut hdd = Hdd {
            bytes: 0,
            rpm: 6_000,
            heads: 2,
            zones,
            layout: Layout::default(),
            track_skew_ns: 900_000,
            cylinder_skew_ns: 1_300_000,
            seek: Seek {
                single_cylinder_ns: 1_000_000,
                mean_ns: 4_000_000,
                full_stroke_ns: 8_000_000,
                joint_fraction: 0.25,
                write_settle_ns: 200_000,
                points: Vec::new(),
                read_less_ns: 0,
                head_switch_ns: 800_000,
            },
            interface: Interface { command_ns: 100_000, queue_depth: 8, ..Interface::default() },
            scheduling: Scheduling { order: Order::Positioning, age_max_ns: 500_000_000 },
            buffer: Buffer { segments: 4, segment_bytes: 64 * 512, ..Buffer::default() },
            write_cache: WriteCache { bytes: 128 * 512, extents: 16, age_max_ns: 5_000_000_000, goes_first: false },
            standby: Standby { after_ns: None, spin_down_ns: 0, spin_up_ns: 2_000_000_000 },
            energy: Energy {
                spindle: SpindlePower { standby: w(0.0), spin_up: w(3.0), rotating: w(0.5) },
                arm: ArmPower { standby: w(0.0), tracking: w(0.1), seeking: w(1.1) },
                electronics: ElectronicsPower {
                    standby: w(0.1),
                    idle: w(0.2),
                    active: w(0.4),
                    read: w(0.7),
                    write: w(0.8),
                },
                interface: InterfacePower { standby: w(0.01), idle: w(0.02), transfer: w(0.12) },
            },
        };
        hdd.bytes = hdd.capacity_bytes();
        hdd
    }

    #[test]
    fn even_zones_hold_the_capacity_and_hardly_more() {
        let bytes = 160_041_885_696;
        let zones = even_zones(bytes, 2, 16, 1_400, 700);
        assert_eq!((zones.len(), zones[0].sectors_per_track, zones[15].sectors_per_track), (16, 1_400, 700));
        let held: u64 = zones.iter().map(|zone| zone.sectors(2) * SECTOR_BYTES).sum();
        let cylinder: u64 = zones.iter().map(|zone| u64::from(zone.sectors_per_track) * 2 * SECTOR_BYTES).sum();
        assert!(held >= bytes && held - bytes < cylinder, "{held}");
        assert_eq!(even_zones(1_000 * 512, 2, 1, 50, 10), [Zone::plain(0, 10, 50)]);
    }
}
