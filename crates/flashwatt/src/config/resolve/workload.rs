//! Workloads: what is asked for must be possible on the drive, and be determined.

use std::path::PathBuf;

use super::super::check::{Checker, Field, field};
use super::super::raw;
use super::super::{Arrivals, Beyond, Trace, Uniform, Workload};
use super::{COUNT_MAX, NS_MAX, QUEUE_DEPTH_MAX};
use crate::error::Fault;
use crate::units::{Nanos, SECTOR_BYTES};
use crate::workload::trace::find;

/// What a workload must keep within.
pub(super) struct Bounds {
    pub logical_bytes: u64,
    pub queue_depth: u32,
}

pub(super) fn workload(c: &mut Checker, raw: Option<&raw::Workload>, bounds: &Bounds) -> Workload {
    match raw {
        None => Workload::Uniform(uniform(c, "workload.uniform", &raw::Uniform::default(), bounds)),
        Some(raw::Workload::Uniform(raw)) => Workload::Uniform(uniform(c, "workload.uniform", raw, bounds)),
        Some(raw::Workload::Trace(raw)) => Workload::Trace(trace(c, "workload.trace", raw)),
    }
}

pub(super) fn uniform(c: &mut Checker, table: &str, raw: &raw::Uniform, bounds: &Bounds) -> Uniform {
    let request_bytes = sectors(c, field!(table, raw.request_bytes), 4096, SECTOR_BYTES);
    let start_bytes = sectors(c, field!(table, raw.start_bytes), 0, 0);
    let rest = bounds.logical_bytes.saturating_sub(start_bytes);
    let range_bytes = sectors(c, field!(table, raw.range_bytes), rest / SECTOR_BYTES * SECTOR_BYTES, 0);
    check_range(c, table, request_bytes, start_bytes, range_bytes, bounds);
    let read_fraction = c.number(field!(table, raw.read_fraction), 0.0, 0.0..=1.0);
    let trim_fraction = c.number(field!(table, raw.trim_fraction), 0.0, 0.0..=1.0);
    check_mix(c, table, read_fraction, trim_fraction);
    Uniform {
        requests: c.number(field!(table, raw.requests), 100_000, 1..=COUNT_MAX),
        request_bytes,
        read_fraction,
        trim_fraction,
        align_bytes: sectors(c, field!(table, raw.align_bytes), request_bytes, SECTOR_BYTES),
        start_bytes,
        range_bytes,
        sequential: raw.sequential.unwrap_or(false),
        arrivals: arrivals(c, table, raw, bounds.queue_depth),
    }
}

/// A number of bytes in whole sectors.
fn sectors(c: &mut Checker, field: Field<u64>, default: u64, min: u64) -> u64 {
    let (key, given) = (field.key.clone(), field.value.is_some());
    let bytes = c.number(field, default, min..=COUNT_MAX);
    c.rule(&key, bytes, !given || bytes.is_multiple_of(SECTOR_BYTES), "a multiple of 512");
    bytes
}

fn check_range(c: &mut Checker, table: &str, request: u64, start: u64, range: u64, bounds: &Bounds) {
    let drive = bounds.logical_bytes;
    let keys = ["range_bytes", "start_bytes", "request_bytes"].map(|key| format!("{table}.{key}"));
    if !c.clean(table) || (start.checked_add(range).is_some_and(|end| end <= drive) && request <= range) {
        return;
    }
    let what = if request > range { "a request is longer than the range" } else { "the range ends beyond the drive" };
    let fault = c.fault(c.culprit(&keys.each_ref().map(String::as_str)), what);
    let found = format!("requests of {request} bytes in {range} bytes from {start}");
    c.push(
        fault
            .found(found)
            .expected(format!("request_bytes ≤ range_bytes, and an end within the drive's {drive} bytes")),
    );
}

fn check_mix(c: &mut Checker, table: &str, read_fraction: f64, trim_fraction: f64) {
    if c.clean(table) && read_fraction + trim_fraction > 1.0 {
        let keys = [format!("{table}.read_fraction"), format!("{table}.trim_fraction")];
        let fault = c.fault(c.culprit(&keys.each_ref().map(String::as_str)), "more than all requests");
        let found = format!("read_fraction = {read_fraction:?}, trim_fraction = {trim_fraction:?}");
        c.push(fault.found(found).expected("a sum of at most 1"));
    }
}

fn arrivals(c: &mut Checker, table: &str, raw: &raw::Uniform, device_queue_depth: u32) -> Arrivals {
    let queue_depth = c.optional(field!(table, raw.queue_depth), 1..=QUEUE_DEPTH_MAX);
    let rate_per_s = c.optional(field!(table, raw.rate_per_s), 1e-6..=1e9);
    let gap_ns = c.optional(field!(table, raw.burst_gap_ns), 1..=NS_MAX);
    let requests = c.optional(field!(table, raw.burst_requests), 1..=COUNT_MAX);
    match (queue_depth, rate_per_s, requests, gap_ns) {
        (depth, None, None, None) => Arrivals::Closed { queue_depth: depth.unwrap_or(device_queue_depth) },
        (None, Some(rate_per_s), None, None) => Arrivals::Poisson { rate_per_s },
        (None, None, Some(requests), Some(gap_ns)) => Arrivals::Bursts { requests, gap_ns },
        _ => {
            if c.clean(table) {
                c.push(arrivals_fault(c, table, raw));
            }
            Arrivals::Closed { queue_depth: device_queue_depth }
        }
    }
}

fn arrivals_fault(c: &Checker, table: &str, raw: &raw::Uniform) -> Fault {
    let given = [
        ("queue_depth", raw.queue_depth.is_some()),
        ("rate_per_s", raw.rate_per_s.is_some()),
        ("burst_requests", raw.burst_requests.is_some()),
        ("burst_gap_ns", raw.burst_gap_ns.is_some()),
    ];
    let names: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let keys: Vec<String> = names.iter().map(|name| format!("{table}.{name}")).collect();
    let key = c.culprit(&keys.iter().map(String::as_str).collect::<Vec<_>>()).to_string();
    c.fault(&key, "how requests arrive is not determined")
        .found(names.join(" and "))
        .expected("queue_depth (closed loop), or rate_per_s (open loop), or burst_requests with burst_gap_ns")
}

pub(super) fn trace(c: &mut Checker, table: &str, raw: &raw::Trace) -> Trace {
    let from_s = c.number(field!(table, raw.from_s), 0.0, 0.0..=TIME_S_MAX);
    let until_s = c.optional(field!(table, raw.until_s), 0.0..=TIME_S_MAX);
    check_window(c, table, from_s, until_s);
    Trace {
        paths: paths(c, table, raw),
        format: format(c, table, raw.format.clone()),
        devices: raw.devices.clone().unwrap_or_default(),
        share_devices: raw.share_devices.unwrap_or(false),
        align_starts: raw.align_starts.unwrap_or(false),
        from_ns: nanoseconds(from_s),
        until_ns: until_s.map(nanoseconds),
        beyond: beyond(c, table, raw),
        skip_bad: raw.skip_bad.unwrap_or(false),
        speed: c.number(field!(table, raw.speed), 1.0, 1e-6..=1e6),
        space_scale: c.number(field!(table, raw.space_scale), 1.0, 1e-6..=1e3),
        closed_loop: raw.closed_loop.unwrap_or(false),
        max_requests: c.optional(field!(table, raw.max_requests), 1..=COUNT_MAX),
    }
}

/// Seconds that fit into nanoseconds of 64 bits.
const TIME_S_MAX: f64 = 1e10;

fn nanoseconds(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}

/// More files than this would need more file descriptors than a process usually has.
const FILES_MAX: usize = 512;

fn paths(c: &mut Checker, table: &str, raw: &raw::Trace) -> Vec<PathBuf> {
    let names = raw.path.as_ref().map_or(&[][..], |paths| &paths.0);
    let key = format!("{table}.path");
    if names.is_empty() || names.iter().any(String::is_empty) {
        let fault = c.fault(&key, "missing").found("nothing").expected("the trace's file name, or several in a list");
        c.push(fault);
    } else if names.len() > FILES_MAX {
        let fault = c.fault(&key, "too many files").found(names.len()).expected(format!("at most {FILES_MAX}"));
        c.push(fault);
    }
    names.iter().map(PathBuf::from).collect()
}

fn check_window(c: &mut Checker, table: &str, from_s: f64, until_s: Option<f64>) {
    let Some(until_s) = until_s.filter(|&until_s| until_s <= from_s && c.clean(table)) else { return };
    let keys = [format!("{table}.until_s"), format!("{table}.from_s")];
    let fault = c.fault(c.culprit(&keys.each_ref().map(String::as_str)), "the window of time is empty");
    c.push(fault.found(format!("from_s = {from_s:?}, until_s = {until_s:?}")).expected("from_s < until_s"));
}

/// A format that is registered, by its name or an alias, with an event of its own if it has several.
fn format(c: &mut Checker, table: &str, name: Option<String>) -> Option<String> {
    if let Some(Err(fault)) = name.as_deref().map(find) {
        let place = c.fault(&format!("{table}.format"), "").place;
        c.push(Fault { place, ..*fault });
    }
    name
}

fn beyond(c: &mut Checker, table: &str, raw: &raw::Trace) -> Beyond {
    match (raw.fold.unwrap_or(false), raw.clip.unwrap_or(false)) {
        (false, false) => Beyond::Error,
        (true, false) => Beyond::Fold,
        (false, true) => Beyond::Clip,
        (true, true) => {
            let keys = [format!("{table}.fold"), format!("{table}.clip")];
            let fault = c.fault(c.culprit(&keys.each_ref().map(String::as_str)), "fold and clip exclude each other");
            c.push(fault.found("fold = true and clip = true").expected("one of them"));
            Beyond::Error
        }
    }
}
