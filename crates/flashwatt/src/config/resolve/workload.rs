//! Workloads: what is asked for must be possible on the drive, and be determined.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::super::{Fio, Standin, Synthetic, Workload, raw};
use super::bounds::Bounds;
use super::files::files;
use super::{COUNT_MAX, NS_MAX, QUEUE_DEPTH_MAX, parameters};
use flashwatt_base::error::Fault;
use flashwatt_base::registry;
use flashwatt_base::settings::{Checker, Field, field};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_workload::settings::{
    Arrivals, Beyond, Dispatched, Gap, Group, Law, OpenLoop, Phases, Size, Sizes, Trace,
};
use flashwatt_workload::standin::{self, STANDINS};
use flashwatt_workload::synthetic::{MODELS, model};
use flashwatt_workload::trace::{GivenUnits, find};

/// The workload of `[workload]` or `[run.precondition]`, whichever `table` says.
pub(super) fn workload(c: &mut Checker, table: &str, raw: Option<&raw::Workload>, bounds: &Bounds) -> Workload {
    match raw {
        None => Workload::Synthetic(synthetic(c, table, &raw::Synthetic::new(&MODELS[0]), bounds)),
        Some(raw::Workload::Synthetic(raw)) => Workload::Synthetic(synthetic(c, table, raw, bounds)),
        Some(raw::Workload::Fio(raw)) => Workload::Fio(fio(c, &format!("{table}.fio"), raw)),
        Some(raw::Workload::Files(raw)) => Workload::Files(Box::new(files(c, &format!("{table}.files"), raw, bounds))),
        Some(raw::Workload::Standin(raw)) => Workload::Standin(standin(c, &format!("{table}.standin"), raw, bounds)),
        Some(raw::Workload::Trace(raw)) => Workload::Trace(trace(c, &format!("{table}.trace"), raw, bounds)),
    }
}

fn synthetic(c: &mut Checker, table: &str, raw: &raw::Synthetic, bounds: &Bounds) -> Synthetic {
    let table = &format!("{table}.{}", raw.model.name);
    let keys = &raw.keys;
    let sizes = sizes(c, table, keys);
    let start_bytes = sectors(c, field!(table, keys.start_bytes), 0, 0);
    let rest = bounds.logical_bytes.saturating_sub(start_bytes);
    let range_bytes = sectors(c, field!(table, keys.range_bytes), rest / SECTOR_BYTES * SECTOR_BYTES, 0);
    check_range(c, table, sizes.largest(), start_bytes, range_bytes, bounds);
    let read_fraction = c.number(field!(table, keys.read_fraction), 0.0, 0.0..=1.0);
    let trim_fraction = c.number(field!(table, keys.trim_fraction), 0.0, 0.0..=1.0);
    check_mix(c, table, read_fraction, trim_fraction);
    let synthetic = Synthetic {
        model: in_sequence(c, table, raw),
        parameters: parameters(c, table, raw.model.params, &raw.parameters),
        requests: c.number(field!(table, keys.requests), 100_000, 1..=COUNT_MAX),
        align_bytes: sectors(c, field!(table, keys.align_bytes), common_divisor(&sizes), SECTOR_BYTES),
        sizes,
        read_fraction,
        trim_fraction,
        start_bytes,
        range_bytes,
        arrivals: arrivals(c, table, keys, bounds.queue_depth),
        processes: c.number(field!(table, keys.processes), 1, 1..=PROCESSES_MAX),
    };
    check_streams(c, table, &synthetic);
    synthetic
}

/// The model, or the one that `uniform` stands for with `sequential = true`.
fn in_sequence(c: &mut Checker, table: &str, raw: &raw::Synthetic) -> &'static flashwatt_workload::synthetic::Model {
    let Some(sequential) = raw.keys.sequential else { return raw.model };
    if raw.model.name != "uniform" {
        let fault = c.fault(&format!("{table}.sequential"), "a key of `uniform` alone").found(sequential);
        c.push(fault.expected("another key").help("[workload.sequential] is a model of its own"));
    }
    model("sequential").filter(|_| sequential).unwrap_or(raw.model)
}

/// More processes than this are no host's.
const PROCESSES_MAX: u32 = 1024;

/// A part of the range for each stream must hold its requests.
fn check_streams(c: &mut Checker, table: &str, synthetic: &Synthetic) {
    let is_sequential = synthetic.model.params.iter().any(|param| param.name == "streams");
    let loops = if is_sequential { synthetic.loops() } else { 1 };
    let streams = synthetic.parameter("streams").max(1.0) as u64 * u64::from(loops);
    let part = synthetic.range_bytes / synthetic.align_bytes.max(1) / streams * synthetic.align_bytes;
    if c.clean(table) && streams > 1 && part < synthetic.sizes.largest() {
        let keys = ["streams", "processes", "range_bytes"].map(|key| format!("{table}.{key}"));
        let fault = c.fault(c.culprit(&keys.each_ref().map(String::as_str)), "a stream's part is too small");
        let found = format!("{streams} streams in {} bytes: {part} bytes each", synthetic.range_bytes);
        c.push(
            fault.found(found).expected(format!("room for the largest request, {} bytes", synthetic.sizes.largest())),
        );
    }
}

/// Lengths of each kind: its own key, or the one for all.
fn sizes(c: &mut Checker, table: &str, keys: &raw::Common) -> Sizes {
    let all = raw::Sizes::One(4096);
    let all = size_list(c, &format!("{table}.request_bytes"), keys.request_bytes.as_ref().unwrap_or(&all));
    let mut of = |key: &str, own: &Option<raw::Sizes>| match own {
        Some(own) => size_list(c, &format!("{table}.{key}"), own),
        None => all.clone(),
    };
    Sizes {
        read: of("read_bytes", &keys.read_bytes),
        write: of("write_bytes", &keys.write_bytes),
        trim: of("trim_bytes", &keys.trim_bytes),
    }
}

/// A list that is not empty, of whole sectors and positive shares.
fn size_list(c: &mut Checker, key: &str, raw: &raw::Sizes) -> Vec<Size> {
    const EXPECTED: &str = "lengths (multiples of 512) with shares above 0: [[4096, 0.7], [65536, 0.3]]";
    let list = raw.list();
    if list.is_empty() || list.len() > SIZES_MAX {
        let found = if list.is_empty() { "an empty list".to_string() } else { format!("{} lengths", list.len()) };
        let fault = c.fault(key, "invalid value").found(found);
        c.push(fault.expected(format!("at most {SIZES_MAX} {EXPECTED}")));
        return vec![Size { bytes: SECTOR_BYTES, share: 1.0 }];
    }
    let mut sizes = Vec::new();
    for (bytes, share) in list {
        let field = Field { key: key.to_string(), value: Some(bytes) };
        let bytes = sectors(c, field, bytes, SECTOR_BYTES);
        c.rule(key, share, share > 0.0 && share <= 1e9, EXPECTED);
        sizes.push(Size { bytes, share });
    }
    sizes
}

/// Longer lists of lengths would be slow to draw from.
const SIZES_MAX: usize = 64;

/// What every length is a multiple of.
fn common_divisor(sizes: &Sizes) -> u64 {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    sizes.iter().fold(0, gcd).max(SECTOR_BYTES)
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
    let keys = ["range_bytes", "start_bytes", "request_bytes", "read_bytes", "write_bytes", "trim_bytes"];
    let keys = keys.map(|key| format!("{table}.{key}"));
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

fn arrivals(c: &mut Checker, table: &str, keys: &raw::Common, device_queue_depth: u32) -> Arrivals {
    let queue_depth = c.optional(field!(table, keys.queue_depth), 1..=QUEUE_DEPTH_MAX);
    let rate_per_s = c.optional(field!(table, keys.rate_per_s), 1e-6..=1e9);
    let gap_ns = c.optional(field!(table, keys.burst_gap_ns), 1..=NS_MAX);
    let requests = c.optional(field!(table, keys.burst_requests), 1..=COUNT_MAX);
    let shaped = shape(c, table, keys, rate_per_s);
    match (queue_depth, rate_per_s, requests, gap_ns) {
        (depth, None, None, None) if !keys.shapes_rate() => {
            Arrivals::Closed { queue_depth: depth.unwrap_or(device_queue_depth) }
        }
        (None, Some(_), None, None) => Arrivals::Open(shaped),
        (None, None, Some(requests), Some(gap_ns)) if !keys.shapes_rate() => Arrivals::Open(OpenLoop {
            gap: Gap { law: Law::Constant, mean_ns: gap_ns as f64 },
            group: Group::Fixed(requests),
            phases: None,
            tick_ns: None,
        }),
        _ => {
            if c.clean(table) {
                c.push(arrivals_fault(c, table, keys));
            }
            Arrivals::Closed { queue_depth: device_queue_depth }
        }
    }
}

/// Arrivals at a rate, in the shape that the other keys give them.
fn shape(c: &mut Checker, table: &str, keys: &raw::Common, rate_per_s: Option<f64>) -> OpenLoop {
    let law = c.choice(field!(table, keys.gaps), Law::Exponential);
    let mean = c.optional(field!(table, keys.burst_mean), 1.0..=1e9);
    let gap = Gap { law, mean_ns: 1e9 / rate_per_s.unwrap_or(1.0) };
    let gap = mean.map_or(gap, |mean| Gap { mean_ns: gap.mean_ns * mean, ..gap });
    let on_ns = c.optional(field!(table, keys.on_ns), 1..=NS_MAX);
    let off_ns = c.optional(field!(table, keys.off_ns), 1..=NS_MAX);
    if c.clean(table) && on_ns.is_some() != off_ns.is_some() {
        let (given, missing) = if on_ns.is_some() { ("on_ns", "off_ns") } else { ("off_ns", "on_ns") };
        let fault = c.fault(&format!("{table}.{given}"), "a phase without the other");
        c.push(fault.found(format!("{given} alone")).expected(missing));
    }
    let phases = on_ns.zip(off_ns).map(|(on_ns, off_ns)| phases(c, table, law, (on_ns, off_ns), gap.mean_ns));
    OpenLoop {
        gap,
        group: mean.map_or(Group::Fixed(1), |mean| Group::Geometric { mean }),
        phases,
        tick_ns: c.optional(field!(table, keys.tick_ns), 1..=NS_MAX),
    }
}

/// A gap may span many active phases; a limit bounds the time to draw them.
const PHASES_PER_GAP_MAX: f64 = 1e4;

fn phases(c: &mut Checker, table: &str, law: Law, (on_ns, off_ns): (u64, u64), gap_ns: f64) -> Phases {
    let least = (gap_ns / PHASES_PER_GAP_MAX).ceil() as u64;
    if c.clean(table) && on_ns < least {
        let fault = c.fault(&format!("{table}.on_ns"), "too short for the rate").found(on_ns);
        c.push(fault.expected(format!("at least {least}: the mean gap is {gap_ns} ns")));
    }
    let gap = |mean_ns: u64| Gap { law, mean_ns: mean_ns as f64 };
    Phases { on: gap(on_ns), off: gap(off_ns) }
}

impl raw::Common {
    /// What only means something beside `rate_per_s`.
    fn rate_keys(&self) -> [(&'static str, bool); 5] {
        [
            ("gaps", self.gaps.is_some()),
            ("burst_mean", self.burst_mean.is_some()),
            ("on_ns", self.on_ns.is_some()),
            ("off_ns", self.off_ns.is_some()),
            ("tick_ns", self.tick_ns.is_some()),
        ]
    }

    fn shapes_rate(&self) -> bool {
        self.rate_keys().iter().any(|(_, given)| *given)
    }
}

fn arrivals_fault(c: &Checker, table: &str, keys: &raw::Common) -> Fault {
    let mut given = vec![
        ("queue_depth", keys.queue_depth.is_some()),
        ("rate_per_s", keys.rate_per_s.is_some()),
        ("burst_requests", keys.burst_requests.is_some()),
        ("burst_gap_ns", keys.burst_gap_ns.is_some()),
    ];
    given.extend(keys.rate_keys());
    let names: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let keys: Vec<String> = names.iter().map(|name| format!("{table}.{name}")).collect();
    let key = c.culprit(&keys.iter().map(String::as_str).collect::<Vec<_>>()).to_string();
    c.fault(&key, "how requests arrive is not determined").found(names.join(" and ")).expected(
        "queue_depth (closed loop), or rate_per_s (open loop; gaps, burst_mean, on_ns with off_ns, tick_ns shape it), \
         or burst_requests with burst_gap_ns",
    )
}

fn fio(c: &mut Checker, table: &str, raw: &raw::Fio) -> Fio {
    let path = raw.path.clone().unwrap_or_default();
    if path.is_empty() {
        let fault = c.fault(&format!("{table}.path"), "missing").found("nothing").expected("the job file's name");
        c.push(fault);
    }
    // A start state is laid down without a clock.
    Fio { path: path.into(), timed: table == "workload.fio" }
}

fn standin(c: &mut Checker, table: &str, raw: &raw::Standin, bounds: &Bounds) -> Standin {
    let scale = c.number(field!(table, raw.scale), 1.0, 1e-6..=1.0);
    let requests = c.optional(field!(table, raw.requests), 1..=COUNT_MAX);
    let processes = c.number(field!(table, raw.processes), 1, 1..=PROCESSES_MAX);
    let (name, path) = (raw.name.clone().unwrap_or_default(), raw.path.clone().map(PathBuf::from));
    let known = match named(c, table, raw) {
        Ok(known) => known,
        Err(fault) => {
            c.push(*fault);
            return Standin { name, path, scale, requests: 1, processes };
        }
    };
    let requests = requests.unwrap_or_else(|| known.requests(scale));
    let (largest, drive) = (known.largest_bytes(), bounds.logical_bytes);
    if c.clean(table) && largest > drive {
        let fault = c.fault(
            &format!("{table}.{}", if path.is_some() { "path" } else { "name" }),
            "a request is larger than the drive",
        );
        c.push(fault.found(format!("a request of {largest} bytes")).expected(format!("{drive} bytes at most")));
    }
    check_footprint(c, table, known.footprint_bytes(requests), bounds);
    Standin { name, path, scale, requests, processes }
}

/// The stand-in that a configuration names, by name or by file.
fn named(c: &Checker, table: &str, raw: &raw::Standin) -> Result<Cow<'static, standin::Standin>, Box<Fault>> {
    let fault = |key: &str, what: &str| c.fault(&format!("{table}.{key}"), what);
    match (&raw.name, &raw.path) {
        (Some(_), Some(path)) => {
            let fault = fault("path", "a stand-in is given by its name or by its file, not by both");
            Err(fault.found(path).expected("one of `name` and `path`").into())
        }
        (None, Some(path)) => standin::Standin::read(Path::new(path)).map(Cow::Owned),
        (Some(name), None) => match standin::find(name) {
            Some(known) => Ok(Cow::Borrowed(known)),
            None => Err(registry::unknown(fault("name", "unknown stand-in"), name, &STANDINS).into()),
        },
        (None, None) => {
            let names: Vec<_> = STANDINS.iter().map(|standin| standin.name.as_ref()).collect();
            let expected = format!("one of {}; or `path`, the file of a stand-in", names.join(", "));
            Err(fault("name", "missing").found("nothing").expected(expected).into())
        }
    }
}

/// Fresh pages that come round again are no fresh pages.
fn check_footprint(c: &mut Checker, table: &str, footprint: u64, bounds: &Bounds) {
    let drive = bounds.logical_bytes;
    if c.clean(table) && footprint > drive {
        let keys = ["scale", "requests", "name"].map(|key| format!("{table}.{key}"));
        let fault = c.fault(c.culprit(&keys.each_ref().map(String::as_str)), "the stand-in needs a larger drive");
        let fault = fault.found(format!("about {footprint} bytes that it touches on a drive of {drive}"));
        c.push(fault.expected("room for them").help(format!("{table}.scale = 0.015625 is 1/64 of the published size")));
    }
}

pub(super) fn trace(c: &mut Checker, table: &str, raw: &raw::Trace, bounds: &Bounds) -> Trace {
    let from_s = c.number(field!(table, raw.from_s), 0.0, 0.0..=TIME_S_MAX);
    let until_s = c.optional(field!(table, raw.until_s), 0.0..=TIME_S_MAX);
    check_window(c, table, from_s, until_s);
    let format = format(c, table, raw.format.clone());
    check_units(c, table, raw);
    let repeat = c.number(field!(table, raw.repeat), 1, 1..=1_000_000);
    let repeat_gap_ns = c.optional(field!(table, raw.repeat_gap_ns), 0..=NS_MAX);
    if repeat == 1 && repeat_gap_ns.is_some() {
        let fault = c.fault(&format!("{table}.repeat_gap_ns"), "has no effect").found("repeat = 1");
        c.push(fault.expected("repeat = 2 or more, or no such key"));
    }
    if raw.think_times == Some(true) && raw.closed_loop == Some(true) {
        let fault =
            c.fault(&format!("{table}.think_times"), "given beside closed_loop = true, which ignores the times");
        c.push(fault.found(format!("{table}.closed_loop")).expected("one of the two"));
    }
    Trace {
        paths: paths(c, table, raw),
        format,
        time_unit: raw.time_unit,
        offset_unit: raw.offset_unit,
        size_unit: raw.size_unit,
        devices: raw.devices.clone().unwrap_or_default(),
        share_devices: c.choice(field!(table, raw.share_devices), false),
        align_starts: c.choice(field!(table, raw.align_starts), false),
        from_ns: nanoseconds(from_s),
        until_ns: until_s.map(nanoseconds),
        beyond: beyond(c, table, raw),
        skip_bad: c.choice(field!(table, raw.skip_bad), false),
        sort: c.choice(field!(table, raw.sort), false),
        speed: c.number(field!(table, raw.speed), 1.0, 1e-6..=1e6),
        space_scale: c.number(field!(table, raw.space_scale), 1.0, 1e-6..=1e3),
        closed_loop: raw.closed_loop,
        think_times: c.choice(field!(table, raw.think_times), false),
        max_gap_ns: c.optional(field!(table, raw.max_gap_s), 1e-9..=TIME_S_MAX).map(nanoseconds),
        max_requests: c.optional(field!(table, raw.max_requests), 1..=COUNT_MAX),
        dense: c.choice(field!(table, raw.dense), false),
        repeat,
        repeat_gap_ns,
        origin: raw.origin,
        feeds_scheduler: dispatched(c, table, raw, bounds),
    }
}

/// The rule for streams that were logged behind a scheduler, if there is a scheduler.
fn dispatched(c: &mut Checker, table: &str, raw: &raw::Trace, bounds: &Bounds) -> Option<Dispatched> {
    if raw.dispatched.is_some() && !bounds.has_scheduler {
        let fault = c.fault(&format!("{table}.dispatched"), "has no effect").found("requests that no scheduler gets");
        c.push(fault.expected("[workload.trace] with a table [host], or no such key"));
    }
    bounds.has_scheduler.then_some(raw.dispatched.unwrap_or(Dispatched::Refuse))
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

/// Units are those of columns of text: a binary format has none to choose.
fn check_units(c: &mut Checker, table: &str, raw: &raw::Trace) {
    let Some(Ok((format, _))) = raw.format.as_deref().map(find) else { return };
    let given = GivenUnits { time: raw.time_unit, offset: raw.offset_unit, size: raw.size_unit };
    if let Err((key, fault)) = given.check(format) {
        let place = c.fault(&format!("{table}.{key}"), "").place;
        c.push(Fault { place, ..*fault });
    }
}

fn beyond(c: &mut Checker, table: &str, raw: &raw::Trace) -> Beyond {
    match (c.choice(field!(table, raw.fold), false), c.choice(field!(table, raw.clip), false)) {
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
