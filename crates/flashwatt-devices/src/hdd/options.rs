//! `[hdd]` as the user writes it: every key optional here, checked by [`Options::resolve`].

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Deserialize;

use super::seek::{Curve, Times};
use super::settings::{
    ArmPower, Buffer, ElectronicsPower, Energy, Hdd, Interface, InterfacePower, Order, Rails, Scheduling, Seek,
    SpindlePower, Standby, WriteCache, Zone, even_zones,
};
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};

/// No time is longer: 1000 s.
const NS_MAX: Nanos = 1_000_000_000_000;
/// No capacity is larger: 10^15 bytes.
const BYTES_MAX: u64 = 1_000_000_000_000_000;
const SECTORS_PER_TRACK: RangeInclusive<u32> = 4..=100_000;
const CYLINDERS_MAX: u32 = 10_000_000;
const ZONES_MAX: usize = 1024;
const HEADS_MAX: u32 = 64;
/// Commands that a disk accepts at a time: 32 by SATA's native command queuing, 256 leaves room for SAS.
const QUEUE_DEPTH_MAX: u32 = 256;
const SEGMENTS_MAX: u32 = 256;
/// 128 KiB unless given: as much as a request of most hosts.
const SEGMENT_BYTES: u64 = 128 << 10;
/// The most bytes of a segment: 1 TiB, so that its sectors can be counted in 32 bits.
const SEGMENT_BYTES_MAX: u64 = 1 << 40;
/// Keys that need a segment.
const BUFFER_KEYS: [&str; 3] =
    ["hdd.buffer.segment_bytes", "hdd.buffer.read_ahead_bytes", "hdd.buffer.read_ahead_least_bytes"];
/// Extents are kept in one sorted list, and data sheets speak of some dozens.
const EXTENTS_MAX: u32 = 4_096;
const WATTS: RangeInclusive<f64> = 0.0..=1_000.0;

/// `[hdd]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Platters, heads and zones.
    pub geometry: GeometryOptions,
    /// Times of the arm.
    pub seek: SeekOptions,
    /// The host's side of the disk.
    pub interface: InterfaceOptions,
    /// The order of accesses to the medium.
    pub scheduling: SchedulingOptions,
    /// The track buffer, into which reads go and which is read ahead into.
    pub buffer: BufferOptions,
    /// The write-back cache.
    pub write_cache: WriteCacheOptions,
    /// Standby, in which the spindle stands, and the way back.
    pub standby: StandbyOptions,
    /// Power by part and state.
    pub energy: EnergyOptions,
}

/// `[hdd.geometry]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GeometryOptions {
    /// Bytes that the host sees, a multiple of 512; all that the zones hold unless given. Required without `zones`.
    pub bytes: Option<u64>,
    /// Revolutions per minute.
    pub rpm: Option<u32>,
    /// Heads, one for each surface that holds data.
    pub heads: Option<u32>,
    /// The zones from the outermost one on, `[[cylinders, sectors per track], …]`. Excludes `zone_count` and the sectors per track
    /// of the outer and the inner zone.
    pub zones: Option<Vec<[u32; 2]>>,
    /// Number of zones of equally many cylinders, with sectors per track that fall in equal steps; as many cylinders as `bytes`
    /// needs.
    pub zone_count: Option<u32>,
    /// With `zone_count`: sectors on a track of the outermost zone.
    pub outer_sectors_per_track: Option<u32>,
    /// With `zone_count`: sectors on a track of the innermost zone.
    pub inner_sectors_per_track: Option<u32>,
    /// Rotation by which the first sector of a track lies behind that of the track before it on the same cylinder, in ns, rounded
    /// up to whole sectors. `seek.head_switch_ns` and `seek.write_settle_ns` together unless given: just enough for the switch.
    pub track_skew_ns: Option<Nanos>,
    /// The same from the last track of a cylinder to the next cylinder. `seek.single_cylinder_ns` (or `seek.head_switch_ns`, if
    /// that is longer) and `seek.write_settle_ns` together unless given.
    pub cylinder_skew_ns: Option<Nanos>,
}

/// `[hdd.seek]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeekOptions {
    /// Time of a seek to the next cylinder, for a read.
    pub single_cylinder_ns: Option<Nanos>,
    /// Mean time of a seek for a read, over all pairs of different cylinders.
    pub mean_ns: Option<Nanos>,
    /// Time of a seek from the outermost to the innermost cylinder, for a read.
    pub full_stroke_ns: Option<Nanos>,
    /// Share of the full stroke up to which the time of a seek is a + b √d, and c + e d beyond it. The default is that of the HP
    /// 97560, 383 of 1962 cylinders (Ruemmler and Wilkes, IEEE Computer 27(3), 1994).
    pub joint_fraction: Option<f64>,
    /// Time that a write takes more to settle on the track, after a seek or a head switch.
    pub write_settle_ns: Option<Nanos>,
    /// Time of a switch to another head of the same cylinder, for a read.
    pub head_switch_ns: Option<Nanos>,
}

/// `[hdd.interface]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceOptions {
    /// Rate of the host's interface in 10^6 bytes/s.
    pub rate_mb_s: Option<f64>,
    /// Time that the electronics take for a command, one after the other, before it goes to the buffer, the cache or the medium.
    pub command_ns: Option<Nanos>,
    /// Commands that the disk accepts at a time; 1 without command queuing.
    pub queue_depth: Option<u32>,
}

/// `[hdd.scheduling]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SchedulingOptions {
    /// Which access comes next, of requests that wait for the medium and of what is in the write-back cache: `positioning` (the
    /// one with the least time of seek and rotation) or `fifo` (the one that came first).
    pub order: Option<Order>,
    /// With `positioning`: a request that has waited for the medium for so long comes first.
    pub age_max_ns: Option<Nanos>,
}

/// `[hdd.buffer]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BufferOptions {
    /// Segments of the buffer, each with one run of sectors that were read; 0 for no buffer.
    pub segments: Option<u32>,
    /// Bytes of a segment, a multiple of 512.
    pub segment_bytes: Option<u64>,
    /// Bytes that the disk reads on after a read, while nothing else waits; at most a segment. A segment unless given, 0 for none.
    pub read_ahead_bytes: Option<u64>,
    /// Of `read_ahead_bytes`, what the disk reads on in any case, before the next request (as the minimum pre-fetch of SCSI's
    /// caching page).
    pub read_ahead_least_bytes: Option<u64>,
}

/// `[hdd.write_cache]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WriteCacheOptions {
    /// Size in bytes, a multiple of 512; 0 for none. A write ends when all its data is in the cache; a forced one (FUA), and
    /// every write without a cache, when it is on the medium. A flush ends when all that was in the cache is.
    pub bytes: Option<u64>,
    /// Runs of consecutive sectors that the cache can hold. A write that continues or overlaps one needs no other.
    pub extents: Option<u32>,
    /// A run that has been in the cache for so long is written before all others.
    pub age_max_ns: Option<Nanos>,
}

/// `[hdd.standby]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StandbyOptions {
    /// Idle time after which the spindle stops; never unless given.
    pub after_ns: Option<Nanos>,
    /// Time from standby until the medium can be accessed.
    pub spin_up_ns: Option<Nanos>,
}

/// Power in W of a part in a state, by supply.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RailsOptions {
    /// Power in W from +5 V.
    pub v5_w: Option<f64>,
    /// Power in W from +12 V; 0 unless given.
    pub v12_w: Option<f64>,
}

/// `[hdd.energy]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EnergyOptions {
    /// The spindle motor.
    pub spindle: SpindleOptions,
    /// The arm and its driver.
    pub arm: ArmOptions,
    /// The electronics: processor, buffer, read and write channel.
    pub electronics: ElectronicsOptions,
    /// The host's interface.
    pub interface: InterfacePowerOptions,
}

/// `[hdd.energy.spindle]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpindleOptions {
    /// The spindle stands.
    pub standby: RailsOptions,
    /// It is brought to speed: mean power over `standby.spin_up_ns`.
    pub spin_up: RailsOptions,
    /// It turns at speed.
    pub rotating: RailsOptions,
}

/// `[hdd.energy.arm]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArmOptions {
    /// It is parked.
    pub standby: RailsOptions,
    /// It follows a track.
    pub tracking: RailsOptions,
    /// It moves to another cylinder.
    pub seeking: RailsOptions,
}

/// `[hdd.energy.electronics]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ElectronicsOptions {
    /// The spindle stands, and no request is in the disk.
    pub standby: RailsOptions,
    /// There is nothing to do.
    pub idle: RailsOptions,
    /// A request is in the disk, or the disk reads ahead or writes its cache, and no sector passes a head.
    pub active: RailsOptions,
    /// Sectors are read.
    pub read: RailsOptions,
    /// Sectors are written.
    pub write: RailsOptions,
}

/// `[hdd.energy.interface]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfacePowerOptions {
    /// The spindle stands, and no request is in the disk.
    pub standby: RailsOptions,
    /// No data moves.
    pub idle: RailsOptions,
    /// Data moves; at least what `idle` is.
    pub transfer: RailsOptions,
}

impl Options {
    /// The disk, checked. `None` only with faults.
    pub fn resolve(&self, c: &mut Checker) -> Option<Hdd> {
        let geometry = &self.geometry;
        let rpm = c.required(field!("hdd.geometry", geometry.rpm), 60..=100_000);
        let heads = c.required(field!("hdd.geometry", geometry.heads), 1..=HEADS_MAX);
        let zones = self.zones(c, heads);
        let seek = self.seek(c);
        let cylinder_ns = seek.single_cylinder_ns.max(seek.head_switch_ns);
        let (track_skew, cylinder_skew) = (seek.head_switch_ns, cylinder_ns);
        let skew = |ns: Nanos| ns.saturating_add(seek.write_settle_ns).min(NS_MAX);
        let mut hdd = Hdd {
            bytes: 0,
            rpm,
            heads,
            zones,
            track_skew_ns: c.number(field!("hdd.geometry", geometry.track_skew_ns), skew(track_skew), 0..=NS_MAX),
            cylinder_skew_ns: c.number(
                field!("hdd.geometry", geometry.cylinder_skew_ns),
                skew(cylinder_skew),
                0..=NS_MAX,
            ),
            interface: self.interface(c),
            scheduling: self.scheduling(c),
            buffer: self.buffer(c),
            write_cache: self.write_cache(c),
            standby: self.standby(c),
            energy: self.energy(c),
            seek,
        };
        hdd.bytes = self.bytes(c, &hdd);
        check_curve(c, &hdd);
        c.clean("hdd").then_some(hdd)
    }

    /// The zones that are listed, or those that follow from the outer and the inner one.
    fn zones(&self, c: &mut Checker, heads: u32) -> Vec<Zone> {
        const KEY: &str = "hdd.geometry.zones";
        let geometry = &self.geometry;
        let Some(list) = &geometry.zones else { return self.even_zones(c, heads) };
        let others = ["zone_count", "outer_sectors_per_track", "inner_sectors_per_track"];
        let given = [geometry.zone_count, geometry.outer_sectors_per_track, geometry.inner_sectors_per_track];
        for (name, _) in others.iter().zip(given).filter(|(_, value)| value.is_some()) {
            let fault = c.fault(&format!("hdd.geometry.{name}"), "given beside a list of zones");
            c.push(fault.found(KEY).expected("one of the two"));
        }
        c.rule(KEY, list.len(), (1..=ZONES_MAX).contains(&list.len()), "1 to 1024 zones");
        list.iter()
            .map(|&[cylinders, sectors_per_track]| Zone {
                cylinders: c.within(KEY, cylinders, 1..=CYLINDERS_MAX),
                sectors_per_track: c.within(KEY, sectors_per_track, SECTORS_PER_TRACK),
            })
            .collect()
    }

    fn even_zones(&self, c: &mut Checker, heads: u32) -> Vec<Zone> {
        const TABLE: &str = "hdd.geometry";
        let geometry = &self.geometry;
        let bytes = c.required(field!(TABLE, geometry.bytes), SECTOR_BYTES..=BYTES_MAX);
        let count = c.required(field!(TABLE, geometry.zone_count), 1..=ZONES_MAX as u32);
        let outer = c.required(field!(TABLE, geometry.outer_sectors_per_track), SECTORS_PER_TRACK);
        let inner = c.required(field!(TABLE, geometry.inner_sectors_per_track), SECTORS_PER_TRACK);
        if c.clean(TABLE) && inner > outer {
            let key = c.culprit(&["hdd.geometry.inner_sectors_per_track", "hdd.geometry.outer_sectors_per_track"]);
            let fault = c.fault(key, "more sectors on an inner track than on an outer one");
            let found = format!("{inner} sectors on the inner tracks, {outer} on the outer ones");
            c.push(fault.found(found).expected("inner_sectors_per_track ≤ outer_sectors_per_track"));
        }
        if !c.clean(TABLE) {
            return vec![Zone { cylinders: 1, sectors_per_track: *SECTORS_PER_TRACK.start() }];
        }
        let zones = even_zones(bytes, heads, count, outer, inner);
        let cylinders = zones.iter().map(|zone| u64::from(zone.cylinders)).sum::<u64>();
        if cylinders > u64::from(CYLINDERS_MAX) {
            let fault = c.fault(c.culprit(&["hdd.geometry.bytes", "hdd.geometry.heads"]), "too many cylinders");
            c.push(fault.found(cylinders.to_string()).expected(format!("at most {CYLINDERS_MAX}")));
        }
        zones
    }

    /// The bytes that the host sees: those of the zones, unless fewer are given.
    fn bytes(&self, c: &mut Checker, hdd: &Hdd) -> u64 {
        const KEY: &str = "hdd.geometry.bytes";
        let Some(bytes) = self.geometry.bytes else { return hdd.capacity_bytes() };
        c.rule(KEY, bytes, bytes.is_multiple_of(SECTOR_BYTES) && bytes > 0, "a positive multiple of 512");
        if c.clean("hdd.geometry") && bytes > hdd.capacity_bytes() {
            let fault = c.fault(KEY, "more than the zones hold").found(format!("{bytes} bytes"));
            c.push(fault.expected(format!("at most {}", hdd.capacity_bytes())));
        }
        bytes
    }

    fn seek(&self, c: &mut Checker) -> Seek {
        const TABLE: &str = "hdd.seek";
        let seek = &self.seek;
        let single_cylinder_ns = c.required(field!(TABLE, seek.single_cylinder_ns), 1..=NS_MAX);
        let full_stroke_ns = c.required(field!(TABLE, seek.full_stroke_ns), 1..=NS_MAX);
        Seek {
            single_cylinder_ns,
            mean_ns: c.required(field!(TABLE, seek.mean_ns), 1..=NS_MAX),
            full_stroke_ns,
            joint_fraction: c.number(field!(TABLE, seek.joint_fraction), 383.0 / 1962.0, 0.001..=0.999),
            write_settle_ns: c.number(field!(TABLE, seek.write_settle_ns), 0, 0..=NS_MAX),
            head_switch_ns: c.required(field!(TABLE, seek.head_switch_ns), 0..=NS_MAX),
        }
    }

    fn interface(&self, c: &mut Checker) -> Interface {
        const TABLE: &str = "hdd.interface";
        let interface = &self.interface;
        Interface {
            rate_mb_s: c.required(field!(TABLE, interface.rate_mb_s), 0.001..=1e6),
            command_ns: c.number(field!(TABLE, interface.command_ns), 0, 0..=NS_MAX),
            queue_depth: c.number(field!(TABLE, interface.queue_depth), 32, 1..=QUEUE_DEPTH_MAX),
        }
    }

    fn scheduling(&self, c: &mut Checker) -> Scheduling {
        const TABLE: &str = "hdd.scheduling";
        let scheduling = &self.scheduling;
        let order = c.choice(field!(TABLE, scheduling.order), Order::Positioning);
        if order == Order::Fifo {
            c.has_no_effect(
                "hdd.scheduling.age_max_ns",
                "hdd.scheduling.order = \"fifo\"",
                "order = \"positioning\", or no such key",
            );
        }
        Scheduling { order, age_max_ns: c.number(field!(TABLE, scheduling.age_max_ns), 500_000_000, 0..=NS_MAX) }
    }

    fn buffer(&self, c: &mut Checker) -> Buffer {
        const TABLE: &str = "hdd.buffer";
        let buffer = &self.buffer;
        let segments = c.number(field!(TABLE, buffer.segments), 0, 0..=SEGMENTS_MAX);
        let segment_bytes =
            c.number(field!(TABLE, buffer.segment_bytes), SEGMENT_BYTES, SECTOR_BYTES..=SEGMENT_BYTES_MAX);
        let most = if segments > 0 { segment_bytes } else { 0 };
        let read_ahead_bytes = c.number(field!(TABLE, buffer.read_ahead_bytes), most, 0..=BYTES_MAX);
        let read_ahead_least_bytes = c.number(field!(TABLE, buffer.read_ahead_least_bytes), 0, 0..=BYTES_MAX);
        if segments == 0 {
            for key in BUFFER_KEYS {
                c.has_no_effect(key, "hdd.buffer.segments = 0", "segments, or no such key");
            }
            return Buffer { segments, segment_bytes, read_ahead_bytes: 0, read_ahead_least_bytes: 0 };
        }
        let key = |name: &str| format!("{TABLE}.{name}");
        let (ahead, least) = (read_ahead_bytes, read_ahead_least_bytes);
        c.rule(&key("read_ahead_bytes"), ahead, ahead <= segment_bytes, "at most hdd.buffer.segment_bytes");
        c.rule(&key("read_ahead_least_bytes"), least, least <= ahead, "at most hdd.buffer.read_ahead_bytes");
        whole_sectors(c, &key("segment_bytes"), segment_bytes);
        whole_sectors(c, &key("read_ahead_bytes"), ahead);
        whole_sectors(c, &key("read_ahead_least_bytes"), least);
        Buffer { segments, segment_bytes, read_ahead_bytes, read_ahead_least_bytes }
    }

    fn write_cache(&self, c: &mut Checker) -> WriteCache {
        const TABLE: &str = "hdd.write_cache";
        let write_cache = &self.write_cache;
        let bytes = c.number(field!(TABLE, write_cache.bytes), 0, 0..=BYTES_MAX);
        whole_sectors(c, "hdd.write_cache.bytes", bytes);
        let cache = WriteCache {
            bytes,
            extents: c.number(field!(TABLE, write_cache.extents), 64, 1..=EXTENTS_MAX),
            age_max_ns: c.number(field!(TABLE, write_cache.age_max_ns), 10_000_000_000, 0..=NS_MAX),
        };
        if bytes == 0 {
            for key in ["hdd.write_cache.extents", "hdd.write_cache.age_max_ns"] {
                c.has_no_effect(key, "hdd.write_cache.bytes = 0", "a cache, or no such key");
            }
        }
        cache
    }

    fn standby(&self, c: &mut Checker) -> Standby {
        const TABLE: &str = "hdd.standby";
        let standby = &self.standby;
        Standby {
            after_ns: c.optional(field!(TABLE, standby.after_ns), 1..=NS_MAX),
            spin_up_ns: c.required(field!(TABLE, standby.spin_up_ns), 1..=NS_MAX),
        }
    }

    fn energy(&self, c: &mut Checker) -> Energy {
        let EnergyOptions { spindle, arm, electronics, interface } = &self.energy;
        let mut of =
            |part: &str, state: &str, power: &RailsOptions| rails(c, &format!("hdd.energy.{part}.{state}"), power);
        let energy = Energy {
            spindle: SpindlePower {
                standby: of("spindle", "standby", &spindle.standby),
                spin_up: of("spindle", "spin_up", &spindle.spin_up),
                rotating: of("spindle", "rotating", &spindle.rotating),
            },
            arm: ArmPower {
                standby: of("arm", "standby", &arm.standby),
                tracking: of("arm", "tracking", &arm.tracking),
                seeking: of("arm", "seeking", &arm.seeking),
            },
            electronics: ElectronicsPower {
                standby: of("electronics", "standby", &electronics.standby),
                idle: of("electronics", "idle", &electronics.idle),
                active: of("electronics", "active", &electronics.active),
                read: of("electronics", "read", &electronics.read),
                write: of("electronics", "write", &electronics.write),
            },
            interface: InterfacePower {
                standby: of("interface", "standby", &interface.standby),
                idle: of("interface", "idle", &interface.idle),
                transfer: of("interface", "transfer", &interface.transfer),
            },
        };
        check_transfer(c, &energy.interface);
        energy
    }
}

/// Power of a part in a state: from +5 V it must be given, even if it is 0.
fn rails(c: &mut Checker, table: &str, power: &RailsOptions) -> Rails {
    Rails {
        v5_w: c.required(field!(table, power.v5_w), WATTS),
        v12_w: c.number(field!(table, power.v12_w), 0.0, WATTS),
    }
}

/// A transfer draws no less than an idle interface.
fn check_transfer(c: &mut Checker, power: &InterfacePower) {
    const TABLE: &str = "hdd.energy.interface";
    let InterfacePower { idle, transfer, .. } = power;
    if c.clean(TABLE) && (transfer.v5_w < idle.v5_w || transfer.v12_w < idle.v12_w) {
        let key = c.culprit(&["hdd.energy.interface.transfer.v5_w", "hdd.energy.interface.idle.v5_w"]);
        let fault = c.fault(key, "less than the idle power");
        let found = format!(
            "transfer {:?} and {:?} W, idle {:?} and {:?} W",
            transfer.v5_w, transfer.v12_w, idle.v5_w, idle.v12_w
        );
        c.push(fault.found(found).expected("transfer ≥ idle on each supply"));
    }
}

fn whole_sectors(c: &mut Checker, key: &str, bytes: u64) {
    c.rule(key, bytes, bytes.is_multiple_of(SECTOR_BYTES), "a multiple of 512");
}

/// The three times of the data sheet must have a curve on which no seek takes longer than a farther one.
fn check_curve(c: &mut Checker, hdd: &Hdd) {
    let seek = &hdd.seek;
    if !c.clean("hdd.seek") || !c.clean("hdd.geometry") {
        return;
    }
    let (single, mean, full) = (seek.single_cylinder_ns, seek.mean_ns, seek.full_stroke_ns);
    let keys = ["hdd.seek.mean_ns", "hdd.seek.single_cylinder_ns", "hdd.seek.full_stroke_ns"];
    if single > mean || mean > full {
        let fault = c.fault(c.culprit(&keys), "times of seeks in no order");
        let found = format!("single_cylinder_ns = {single}, mean_ns = {mean}, full_stroke_ns = {full}");
        c.push(fault.found(found).expected("single_cylinder_ns ≤ mean_ns ≤ full_stroke_ns"));
    } else if let Err([least, greatest]) =
        Curve::fit(hdd.cylinders(), Times { single, mean, full }, seek.joint_fraction)
    {
        let fault = c.fault(c.culprit(&keys), "no seek curve has this mean");
        let expected = format!("{least:.0} to {greatest:.0} with these other times and this joint_fraction");
        c.push(fault.found(format!("mean_ns = {mean}")).expected(expected));
    }
}
