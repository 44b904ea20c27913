//! `[hdd.interface]`: the host's side of a disk.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::settings::{CommandTimes, Interface, WriteStart};
use super::NS_MAX;
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::Nanos;

/// Commands that a disk accepts at a time: 32 by SATA's native command queuing, 256 leaves room for SAS.
const QUEUE_DEPTH_MAX: u32 = 256;
const TABLE: &str = "hdd.interface";
/// Keys that have an effect with overlap alone.
const OVERLAPPED: [&str; 3] =
    ["hdd.interface.write_fill_fraction", "hdd.interface.write_start_delay_ns", "hdd.interface.write_data_delay_ns"];

/// `[hdd.interface]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InterfaceOptions {
    /// Rate of the host's interface in 10^6 bytes/s. Not needed if both other rates are given.
    pub rate_mb_s: Option<f64>,
    /// Rate of data to the host, if it differs.
    pub read_rate_mb_s: Option<f64>,
    /// Rate of data to the disk, if it differs.
    pub write_rate_mb_s: Option<f64>,
    /// Time that the electronics take for a command, one after the other, before it goes to the buffer, the cache or the medium.
    pub command_ns: Option<Nanos>,
    /// The same by what becomes of the command, and by the read or write before it.
    pub commands: CommandOptions,
    /// Time that the electronics take to end a read whose data has moved. The interface moves no other data meanwhile; the medium goes
    /// on.
    pub read_completion_ns: Option<Nanos>,
    /// The same of a write whose data is in the cache, or on the medium.
    pub write_completion_ns: Option<Nanos>,
    /// Share of a read that must be in the buffer before its data moves, at least a sector; sectors then move whole. Unless given, data
    /// moves while it passes the head, and its last bit is at the host when it has passed.
    pub read_fill_fraction: Option<f64>,
    /// With `read_fill_fraction`: time from when that share is there to when data moves, as a disk takes that must get hold of the bus
    /// again.
    pub read_start_delay_ns: Option<Nanos>,
    /// When the arm of a write that ends on the medium starts. Unless given, when all its data is in the disk.
    pub write_start: Option<WriteStart>,
    /// With `write_start = "overlapped"`: share of a write that must be in the disk before its first sector is written. With 0 its
    /// sectors are written as soon as data comes fast enough.
    pub write_fill_fraction: Option<f64>,
    /// With `write_start = "overlapped"`: time from when enough data is there to when the first sector can be written.
    pub write_start_delay_ns: Option<Nanos>,
    /// With `write_start = "overlapped"`: time from the end of the command to when data begins to move. The arm moves meanwhile.
    pub write_data_delay_ns: Option<Nanos>,
    /// Commands that the disk accepts at a time; 1 without command queuing.
    pub queue_depth: Option<u32>,
}

/// `[hdd.interface.commands]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CommandOptions {
    /// A read that finds its first sectors in the buffer or the cache, after a read (or first of all); as all of this table,
    /// `hdd.interface.command_ns` unless given.
    pub read_hit_after_read_ns: Option<Nanos>,
    /// The same after a write.
    pub read_hit_after_write_ns: Option<Nanos>,
    /// A read that needs the medium, after a read.
    pub read_miss_after_read_ns: Option<Nanos>,
    /// The same after a write.
    pub read_miss_after_write_ns: Option<Nanos>,
    /// A write that ends in the cache, after a read.
    pub write_hit_after_read_ns: Option<Nanos>,
    /// The same after a write.
    pub write_hit_after_write_ns: Option<Nanos>,
    /// A write that ends on the medium, after a read.
    pub write_miss_after_read_ns: Option<Nanos>,
    /// The same after a write.
    pub write_miss_after_write_ns: Option<Nanos>,
}

impl InterfaceOptions {
    pub(super) fn resolve(&self, c: &mut Checker) -> Interface {
        let interface = self;
        let rates = 0.001..=1e6;
        let read_rate_mb_s = c.optional(field!(TABLE, interface.read_rate_mb_s), rates.clone());
        let write_rate_mb_s = c.optional(field!(TABLE, interface.write_rate_mb_s), rates.clone());
        let rate = field!(TABLE, interface.rate_mb_s);
        let rate_mb_s = match (read_rate_mb_s, write_rate_mb_s) {
            (Some(read), Some(_)) if rate.value.is_none() => read,
            _ => c.required(rate, rates),
        };
        let command_ns = c.number(field!(TABLE, interface.command_ns), 0, 0..=NS_MAX);
        let write_start = c.choice(field!(TABLE, interface.write_start), WriteStart::Transferred);
        let resolved = Interface {
            rate_mb_s,
            read_rate_mb_s,
            write_rate_mb_s,
            command_ns,
            commands: self.commands.resolve(c, command_ns),
            read_completion_ns: c.number(field!(TABLE, interface.read_completion_ns), 0, 0..=NS_MAX),
            write_completion_ns: c.number(field!(TABLE, interface.write_completion_ns), 0, 0..=NS_MAX),
            read_start_delay_ns: c.number(field!(TABLE, interface.read_start_delay_ns), 0, 0..=NS_MAX),
            read_fill_fraction: c.optional(field!(TABLE, interface.read_fill_fraction), 0.0..=1.0),
            write_start,
            write_fill_fraction: c.number(field!(TABLE, interface.write_fill_fraction), 0.0, 0.0..=1.0),
            write_start_delay_ns: c.number(field!(TABLE, interface.write_start_delay_ns), 0, 0..=NS_MAX),
            write_data_delay_ns: c.number(field!(TABLE, interface.write_data_delay_ns), 0, 0..=NS_MAX),
            queue_depth: c.number(field!(TABLE, interface.queue_depth), 32, 1..=QUEUE_DEPTH_MAX),
        };
        if write_start == WriteStart::Transferred {
            for key in OVERLAPPED {
                let expected = "write_start = \"overlapped\", or no such key";
                c.has_no_effect(key, "hdd.interface.write_start = \"transferred\"", expected);
            }
        }
        if resolved.read_fill_fraction.is_none() && resolved.read_start_delay_ns > 0 {
            let expected = "read_fill_fraction, or no such key";
            c.has_no_effect("hdd.interface.read_start_delay_ns", "no hdd.interface.read_fill_fraction", expected);
        }
        resolved
    }
}

impl CommandOptions {
    /// The times by class; none if all are `command_ns`.
    fn resolve(&self, c: &mut Checker, command_ns: Nanos) -> Option<CommandTimes> {
        const TABLE: &str = "hdd.interface.commands";
        let commands = self;
        let mut of = |after_read, after_write| {
            [after_read, after_write].map(|field| c.optional(field, 0..=NS_MAX).unwrap_or(command_ns))
        };
        let times = CommandTimes {
            read_hit_ns: of(
                field!(TABLE, commands.read_hit_after_read_ns),
                field!(TABLE, commands.read_hit_after_write_ns),
            ),
            read_miss_ns: of(
                field!(TABLE, commands.read_miss_after_read_ns),
                field!(TABLE, commands.read_miss_after_write_ns),
            ),
            write_hit_ns: of(
                field!(TABLE, commands.write_hit_after_read_ns),
                field!(TABLE, commands.write_hit_after_write_ns),
            ),
            write_miss_ns: of(
                field!(TABLE, commands.write_miss_after_read_ns),
                field!(TABLE, commands.write_miss_after_write_ns),
            ),
        };
        let CommandTimes { read_hit_ns, read_miss_ns, write_hit_ns, write_miss_ns } = times;
        let differs =
            [read_hit_ns, read_miss_ns, write_hit_ns, write_miss_ns].as_flattened().iter().any(|&ns| ns != command_ns);
        differs.then_some(times)
    }
}
