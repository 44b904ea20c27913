//! `[hdd]` as the user writes it: every key optional here, checked by [`Options::resolve`].

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Deserialize;

use super::rotation::Rotation;
use super::settings::{
    ArmPower, ElectronicsPower, Energy, Hdd, InterfacePower, Order, Rails, Scheduling, SpindlePower, Standby,
};
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};

mod buffer;
mod geometry;
mod interface;
mod seek;

pub use buffer::{BufferOptions, WriteCacheOptions};
pub use geometry::{GeometryOptions, ZoneOptions};
pub use interface::{CommandOptions, InterfaceOptions};
pub use seek::{PointsOf, SeekOptions};

/// No time is longer: 1000 s.
const NS_MAX: Nanos = 1_000_000_000_000;
/// No capacity is larger: 10^15 bytes.
const BYTES_MAX: u64 = 1_000_000_000_000_000;
const HEADS_MAX: u32 = 64;
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

/// `[hdd.standby]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StandbyOptions {
    /// Idle time after which the spindle stops; never unless given.
    pub after_ns: Option<Nanos>,
    /// Time until the platters stand, at the power of standby; 0 unless given. A request that comes before waits for it, and then for the spindle
    /// to be brought to speed.
    pub spin_down_ns: Option<Nanos>,
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
        let seek = self.seek.resolve(c);
        let first_ns = seek.points.first().map_or(seek.single_cylinder_ns, |&(_, ns)| ns);
        let skew = |ns: Nanos| ns.saturating_add_signed(seek.write_settle_ns).min(NS_MAX);
        let skews = [skew(seek.head_switch_ns), skew(first_ns.max(seek.head_switch_ns))];
        let [track_skew_ns, cylinder_skew_ns] = geometry.skews(c, skews);
        let (zones, layout) = geometry.zones(c, Rotation::new(rpm), heads, [track_skew_ns, cylinder_skew_ns]);
        let mut hdd = Hdd {
            bytes: 0,
            rpm,
            heads,
            zones,
            layout,
            track_skew_ns,
            cylinder_skew_ns,
            interface: self.interface.resolve(c),
            scheduling: self.scheduling(c),
            buffer: self.buffer.resolve(c),
            write_cache: self.write_cache.resolve(c),
            standby: self.standby(c),
            energy: self.energy(c),
            seek,
        };
        hdd.bytes = geometry.bytes(c, &hdd);
        seek::times_of_points(&mut hdd);
        seek::check_curve(c, &hdd);
        c.clean("hdd").then_some(hdd)
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

    fn standby(&self, c: &mut Checker) -> Standby {
        const TABLE: &str = "hdd.standby";
        let standby = &self.standby;
        Standby {
            after_ns: c.optional(field!(TABLE, standby.after_ns), 1..=NS_MAX),
            spin_down_ns: c.number(field!(TABLE, standby.spin_down_ns), 0, 0..=NS_MAX),
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
