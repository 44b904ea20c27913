//! `[host]`: the defaults that the scheduler decides, and what must fit together.

use std::collections::BTreeMap;

use super::bounds::Bounds;
use super::{NS_MAX, QUEUE_DEPTH_MAX, chosen};
use crate::config::raw;
use flashwatt_base::error::nearest;
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_core::connector::{Priority, PriorityClass};
use flashwatt_host::sched::{self, Generation};
use flashwatt_host::settings::{Chosen, FlushRule, Host, Ionice, Merges, Plug};

const REQUEST_BYTES_MAX: u64 = 1 << 30;
/// Linux 2.6.32: 512 KiB (BLK_DEF_MAX_SECTORS), 128 requests (BLKDEV_MAX_RQ), plugs of 4 requests and 3 ms.
const SINGLE: Defaults = Defaults { request_bytes: 512 << 10, plug_ns: 3_000_000, flush: FlushRule::Drain };
/// Linux 6.1: 1280 KiB (BLK_DEF_MAX_SECTORS), plugs of 32 requests (BLK_MAX_REQUEST_COUNT).
const MULTI: Defaults = Defaults { request_bytes: 1280 << 10, plug_ns: 0, flush: FlushRule::Pass };

struct Defaults {
    request_bytes: u64,
    plug_ns: u64,
    flush: FlushRule,
}

/// The block layer, if the configuration has one. `is_disk`: the drive has rotating parts.
pub(super) fn host(c: &mut Checker, raw: &raw::Host, bounds: &Bounds, is_disk: bool) -> Option<Host> {
    let (entry, parameters) = chosen(c, "host.scheduler", raw.scheduler.as_ref(), "unknown scheduler", sched::REGISTRY);
    let defaults = if entry.build.generation == Generation::Single { SINGLE } else { MULTI };
    let queue_depth = c.number(field!("host", raw.queue_depth), bounds.queue_depth, 1..=QUEUE_DEPTH_MAX);
    check_depth(c, queue_depth, bounds.queue_depth);
    let rotational = rotational(c, raw, entry, is_disk);
    let max_request_bytes =
        c.number(field!("host", raw.max_request_bytes), defaults.request_bytes, SECTOR_BYTES..=REQUEST_BYTES_MAX);
    let whole = max_request_bytes.is_multiple_of(SECTOR_BYTES);
    c.rule("host.max_request_bytes", max_request_bytes, whole, "a multiple of 512");
    let host = Host {
        nr_requests: nr_requests(c, raw, entry, queue_depth),
        plug: plug(c, raw, entry, &defaults),
        scheduler: Chosen { entry, parameters },
        queue_depth,
        max_request_bytes,
        merges: c.choice(field!("host", raw.merges), Merges::All),
        flush: c.choice(field!("host", raw.flush), defaults.flush),
        dispatch_budget: dispatch_budget(c, raw, entry),
        rotational,
        partition_offset_sectors: partition_offset(c, raw, bounds.logical_bytes),
        async_writes: c.choice(field!("host", raw.async_writes), false),
        priorities: priorities(c, raw),
    };
    check_regions(c, &host, bounds.logical_bytes);
    c.tree.get("host").is_some().then_some(host)
}

fn check_depth(c: &mut Checker, queue_depth: u32, most: u32) {
    if c.clean("host") && queue_depth > most {
        let fault = c.fault("host.queue_depth", "more than the drive accepts").found(queue_depth);
        c.push(fault.expected(format!("at most device.host_link.queue_depth = {most}")));
    }
}

fn nr_requests(c: &mut Checker, raw: &raw::Host, entry: &sched::Registered, queue_depth: u32) -> u32 {
    let recipe = &entry.build;
    if !recipe.queues {
        has_no_effect(c, "host.nr_requests", raw.nr_requests.is_some(), entry, "its queue is that of the drive");
        return queue_depth;
    }
    let default = if recipe.generation == Generation::Single { 128 } else { 2 * queue_depth.min(128) };
    c.number(field!("host", raw.nr_requests), default, 1..=QUEUE_DEPTH_MAX)
}

/// Without a budget Linux stops at the first request that finds no room, since 5.14 (613471549f36). Only SCSI has one. In 2.6.32 it is
/// the other way round: the driver of SCSI and libata asks for a request before it knows of room (scsi_request_fn).
fn dispatch_budget(c: &mut Checker, raw: &raw::Host, entry: &sched::Registered) -> bool {
    if !entry.build.queues {
        let given = raw.dispatch_budget.is_some();
        has_no_effect(c, "host.dispatch_budget", given, entry, "which holds requests until the drive has room");
        return true;
    }
    c.choice(field!("host", raw.dispatch_budget), true)
}

/// A queue of Linux 2.6.32 that may be plugged is run otherwise on a disk. That a disk is one may be said before any scheduler, so that
/// a grid of schedulers may say it.
fn rotational(c: &mut Checker, raw: &raw::Host, entry: &sched::Registered, is_disk: bool) -> bool {
    let is_single = entry.build.generation == Generation::Single;
    let may_plug = is_single && raw.plug_requests.is_none_or(|requests| requests >= 2);
    if entry.build.tells_disks || may_plug || (is_disk && raw.rotational == Some(true)) {
        return raw.rotational.unwrap_or(is_disk);
    }
    let why = match is_single {
        true => "which works otherwise on a disk only when it plugs, and host.plug_requests says that it does not",
        false => "which works the same on a disk and on flash",
    };
    has_no_effect(c, "host.rotational", raw.rotational.is_some(), entry, why);
    is_disk
}

fn plug(c: &mut Checker, raw: &raw::Host, entry: &sched::Registered, defaults: &Defaults) -> Plug {
    let is_single = entry.build.generation == Generation::Single;
    let requests = if is_single { 4 } else { 32 };
    let requests = c.number(field!("host", raw.plug_requests), requests, 0..=QUEUE_DEPTH_MAX);
    if !is_single {
        has_no_effect(c, "host.plug_ns", raw.plug_ns.is_some(), entry, "which plugs to the end of the instant");
        return Plug { requests, ns: None };
    }
    if raw.plug_ns.is_some() && requests < 2 && c.clean("host.scheduler") {
        let found = format!("host.plug_requests = {requests}: nothing is held back");
        let fault = c.fault("host.plug_ns", "has no effect").found(found);
        c.push(fault.expected("host.plug_requests of at least 2, or no such key"));
    }
    Plug { requests, ns: Some(c.number(field!("host", raw.plug_ns), defaults.plug_ns, 1..=NS_MAX)) }
}

/// A key of the user that would be ignored.
fn has_no_effect(c: &mut Checker, key: &str, given: bool, entry: &sched::Registered, why: &str) {
    if given && c.clean("host.scheduler") {
        let fault = c.fault(key, "has no effect").found(format!("host.scheduler = {:?}, {why}", entry.name));
        c.push(fault.expected("another scheduler, or no such key"));
    }
}

fn partition_offset(c: &mut Checker, raw: &raw::Host, drive_bytes: u64) -> u64 {
    let sectors = c.number(field!("host", raw.partition_offset_sectors), 0, 0..=u64::MAX / SECTOR_BYTES);
    if sectors * SECTOR_BYTES >= drive_bytes {
        let fault = c.fault("host.partition_offset_sectors", "the partition begins beyond the drive").found(sectors);
        c.push(fault.expected(format!("less than the drive's {} sectors", drive_bytes / SECTOR_BYTES)));
        return 0;
    }
    sectors
}

/// A region has queues of its own: more of them take too much memory.
const REGIONS_MAX: u64 = 1 << 20;

/// Regions are whole sectors, and not too many.
fn check_regions(c: &mut Checker, host: &Host, drive_bytes: u64) {
    let Some(&bytes) = host.scheduler.parameters.get("region_bytes") else { return };
    let key = format!("host.scheduler.{}.region_bytes", host.scheduler.entry.name);
    c.rule(&key, bytes, bytes % SECTOR_BYTES as f64 == 0.0, "a multiple of 512");
    let least = drive_bytes.div_ceil(REGIONS_MAX).next_multiple_of(SECTOR_BYTES);
    if c.clean("host") && c.clean("device") && (bytes as u64) < least {
        let fault = c.fault(&key, "too many regions").found(bytes);
        c.push(fault.expected(format!("at least {least}: {REGIONS_MAX} regions on the drive's {drive_bytes} bytes")));
    }
}

fn priorities(c: &mut Checker, raw: &raw::Host) -> BTreeMap<String, Ionice> {
    let mut priorities = BTreeMap::new();
    for (process, text) in raw.priorities.iter().flatten() {
        match priority(text) {
            Some(priority) => drop(priorities.insert(process.clone(), Ionice(priority))),
            None => {
                let fault =
                    c.fault(&format!("host.priorities.{process}"), "unknown priority").found(format!("{text:?}"));
                let fault = fault.expected("`idle`, or `realtime` or `best-effort` with a level 0 to 7: `realtime/2`");
                let class = text.split('/').next().unwrap_or(text);
                c.push(fault.nearest(nearest(class, CLASSES.map(PriorityClass::name))));
            }
        }
    }
    priorities
}

const CLASSES: [PriorityClass; 3] = [PriorityClass::Realtime, PriorityClass::BestEffort, PriorityClass::Idle];

fn priority(text: &str) -> Option<Priority> {
    let (name, level) = text.split_once('/').map_or((text, None), |(name, level)| (name, Some(level)));
    let class = CLASSES.into_iter().find(|class| class.name() == name)?;
    match (class, level) {
        (PriorityClass::Idle, Some(_)) => None,
        (PriorityClass::Idle, None) => Some(Priority::new(class, 7)),
        (_, None) => Some(Priority::new(class, 4)),
        (_, Some(level)) => level.parse().ok().filter(|&level| level <= 7).map(|level| Priority::new(class, level)),
    }
}
