//! From what the user wrote to what the engine runs on: defaults, ranges, and what must fit together.

use std::collections::BTreeMap;

use super::capacity::{self, Geometry, Watermarks};
use super::check::{Checker, Field, field};
use super::de::one_of;
use super::node::Node;
use super::presets::DEFAULT_PRESET;
use super::raw::{self, Raw};
use super::*;
use crate::error::{Fault, nearest};
use crate::registry::{self, Param};
use crate::units::SECTOR_BYTES;

/// No phase, delay or gap lasts longer: 1000 s.
const NS_MAX: u64 = 1_000_000_000_000;
/// No run is bounded by more simulated time: 10^6 s, below the horizon of the event queue.
const SECONDS_MAX: f64 = 1e6;
/// No count of requests or bytes is larger: 10^15.
const COUNT_MAX: u64 = 1_000_000_000_000_000;
const CHANNELS_MAX: u32 = 1024;
const DIES_MAX: u32 = 4096;
const QUEUE_DEPTH_MAX: u32 = 65_536;
const PAGE_BYTES_MAX: u32 = 1 << 20;
const MA_MAX: f64 = 10_000.0;
/// Rates in 10^6 bytes/s.
const MB_S: std::ops::RangeInclusive<f64> = 0.001..=1e6;

/// Checks everything and fills in what was left out. `None` only with faults; rules over several keys are left to the
/// next attempt if single keys are wrong.
pub(super) fn resolve(raw: &Raw, tree: &Node, file: &str, faults: &mut Vec<Fault>) -> Option<Config> {
    let c = &mut Checker { tree, file, faults };
    let geometry = geometry(c, raw);
    let watermarks = watermarks(c, &raw.gc);
    let timing = timing(c, &raw.device.timing);
    let host_link = host_link(c, &raw.device.host_link);
    let energy = energy(c, &raw.energy, &raw.device.host_link, geometry.page_bytes);
    let wear = wear(c, &raw.wear);
    let write_buffer = write_buffer(c, &raw.write_buffer, geometry.page_bytes);
    let policy = gc_policy(c, raw.gc.policy.as_ref());
    let needs_spare = !matches!(raw.run.precondition, Some(raw::Precondition::Empty));
    let capacity = capacity::resolve(c, &raw.device, &geometry, &watermarks, needs_spare);
    let logical_bytes = capacity.map_or(COUNT_MAX, |capacity| capacity.logical_bytes);
    let bounds = Bounds { logical_bytes, queue_depth: host_link.queue_depth };
    let workload = workload(c, raw.workload.as_ref(), &bounds);
    let run = run(c, &raw.run, &workload, &bounds);
    let device = device(raw, &geometry, capacity?, timing, host_link);
    let die_blocks = u64::from(device.blocks_per_plane) * u64::from(device.planes);
    Some(Config {
        ftl: ftl(raw.ftl.as_ref(), &geometry),
        gc: gc(c, &raw.gc, policy, &watermarks, die_blocks)?,
        wear,
        write_buffer,
        controller: Controller { policy: raw.controller.policy.unwrap_or(Dispatch::OutOfOrder) },
        energy,
        workload,
        run,
        device,
    })
}

fn geometry(c: &mut Checker, raw: &Raw) -> Geometry {
    let device = &raw.device;
    let page_bytes = c.required(field!("device", device.page_bytes), 512..=PAGE_BYTES_MAX);
    c.rule("device.page_bytes", page_bytes, page_bytes.is_power_of_two(), "a power of two");
    let geometry = Geometry {
        channels: c.required(field!("device", device.channels), 1..=CHANNELS_MAX),
        ways: c.required(field!("device", device.ways), 1..=64),
        planes: c.required(field!("device", device.planes), 1..=64),
        pages_per_block: c.required(field!("device", device.pages_per_block), 2..=65_535),
        page_bytes,
        map_unit_bytes: map_unit(c, raw.ftl.as_ref(), page_bytes),
    };
    check_dies(c, &geometry);
    check_block(c, &geometry);
    geometry
}

fn check_dies(c: &mut Checker, geometry: &Geometry) {
    if c.clean("device") && geometry.dies() > DIES_MAX {
        let fault = c.fault(c.culprit(&["device.channels", "device.ways"]), "too many dies");
        let found = format!("{} channels × {} ways = {}", geometry.channels, geometry.ways, geometry.dies());
        c.push(fault.found(found).expected(format!("at most {DIES_MAX}")));
    }
}

fn check_block(c: &mut Checker, geometry: &Geometry) {
    let units_per_page = geometry.page_bytes / geometry.map_unit_bytes;
    let units = u64::from(geometry.pages_per_block) * u64::from(units_per_page);
    if c.clean("device") && c.clean("ftl") && units > 65_535 {
        let key = c.culprit(&["ftl.page.map_unit_bytes", "device.pages_per_block", "device.page_bytes"]);
        let fault = c.fault(key, "too many map units in a block");
        let found = format!("{} pages × {units_per_page} units = {units}", geometry.pages_per_block);
        c.push(fault.found(found).expected("at most 65535"));
    }
}

fn map_unit(c: &mut Checker, ftl: Option<&raw::Ftl>, page_bytes: u32) -> u32 {
    const KEY: &str = "ftl.page.map_unit_bytes";
    let Some(unit) = ftl.and_then(|raw::Ftl::Page(page)| page.map_unit_bytes) else { return page_bytes };
    if (512..=page_bytes).contains(&unit) && unit.is_power_of_two() {
        return unit;
    }
    if !c.clean("device.page_bytes") {
        return page_bytes;
    }
    let fault = c.fault(KEY, "does not divide the page").found(unit);
    c.push(fault.expected(format!("a power of two from 512 to the page's {page_bytes} bytes")));
    page_bytes
}

fn ftl(raw: Option<&raw::Ftl>, geometry: &Geometry) -> Ftl {
    let page = raw.map(|raw::Ftl::Page(page)| page.clone()).unwrap_or_default();
    Ftl::Page(PageFtl {
        allocation: page.allocation.unwrap_or(Allocation::Dynamic),
        separate_frontiers: matches!(page.frontiers, None | Some(raw::Frontiers::Separate)),
        map_unit_bytes: geometry.map_unit_bytes,
    })
}

fn device(raw: &Raw, geometry: &Geometry, capacity: capacity::Capacity, timing: Timing, host_link: HostLink) -> Device {
    let nand = &raw.device.nand;
    Device {
        preset: Some(raw.device.preset.clone().unwrap_or_else(|| DEFAULT_PRESET.to_string())),
        description: raw.device.description.clone().unwrap_or_default(),
        channels: geometry.channels,
        ways: geometry.ways,
        planes: geometry.planes,
        blocks_per_plane: capacity.blocks_per_plane,
        pages_per_block: geometry.pages_per_block,
        page_bytes: geometry.page_bytes,
        logical_bytes: capacity.logical_bytes,
        spare_fraction: capacity.spare_fraction,
        op_ratio: capacity.op_ratio,
        timing,
        host_link,
        nand: Nand {
            program_order: nand.program_order.unwrap_or(ProgramOrder::Ascending),
            copyback: nand.copyback.unwrap_or(false),
        },
    }
}

fn timing(c: &mut Checker, raw: &raw::Timing) -> Timing {
    const TABLE: &str = "device.timing";
    Timing {
        read_ns: c.required(field!(TABLE, raw.read_ns), 1..=NS_MAX),
        program_ns: c.required(field!(TABLE, raw.program_ns), 1..=NS_MAX),
        erase_ns: c.required(field!(TABLE, raw.erase_ns), 1..=NS_MAX),
        command_ns: c.number(field!(TABLE, raw.command_ns), 0, 0..=NS_MAX),
        page_transfer_ns: c.required(field!(TABLE, raw.page_transfer_ns), 0..=NS_MAX),
        channel_switch_ns: c.number(field!(TABLE, raw.channel_switch_ns), 0, 0..=NS_MAX),
    }
}

fn host_link(c: &mut Checker, raw: &raw::HostLink) -> HostLink {
    const TABLE: &str = "device.host_link";
    HostLink {
        bandwidth_mb_s: rate_or_none(c, field!(TABLE, raw.bandwidth_mb_s)),
        command_ns: c.number(field!(TABLE, raw.command_ns), 0, 0..=NS_MAX),
        queue_depth: c.number(field!(TABLE, raw.queue_depth), 32, 1..=QUEUE_DEPTH_MAX),
    }
}

/// A rate in 10^6 bytes/s, where 0 or nothing stands for "takes no time".
fn rate_or_none(c: &mut Checker, field: Field<f64>) -> Option<f64> {
    match field.value {
        None | Some(0.0) => None,
        Some(_) => c.optional(field, MB_S),
    }
}

fn watermarks(c: &mut Checker, gc: &raw::Gc) -> Watermarks {
    let watermarks = Watermarks {
        low_blocks: c.number(field!("gc", gc.low_watermark_blocks), 3, 2..=1_000_000),
        low_fraction: c.number(field!("gc", gc.low_watermark_fraction), 0.0, 0.0..=0.9),
        reserved_blocks: c.number(field!("gc", gc.reserved_blocks), 1, 1..=1_000_000),
    };
    if c.clean("gc") && watermarks.low_fraction == 0.0 && watermarks.low_blocks <= watermarks.reserved_blocks {
        let fault = c.fault(c.culprit(&["gc.low_watermark_blocks", "gc.reserved_blocks"]), "watermark too low");
        let found = format!(
            "low_watermark_blocks = {}, reserved_blocks = {}",
            watermarks.low_blocks, watermarks.reserved_blocks
        );
        c.push(fault.found(found).expected("low_watermark_blocks > reserved_blocks: else the host waits for ever"));
    }
    watermarks
}

fn gc(c: &mut Checker, raw: &raw::Gc, policy: GcPolicy, watermarks: &Watermarks, die_blocks: u64) -> Option<Gc> {
    let low_watermark_blocks = watermarks.low(die_blocks);
    let reserved_blocks = watermarks.reserved_blocks;
    if low_watermark_blocks <= reserved_blocks || u64::from(low_watermark_blocks) + 1 >= die_blocks {
        let key = c.culprit(&["gc.low_watermark_blocks", "gc.low_watermark_fraction", "gc.reserved_blocks"]);
        let fault = c.fault(key, "watermark does not fit the die").found(format!("{low_watermark_blocks} blocks"));
        let range = format!("{} to {}", reserved_blocks + 1, die_blocks.saturating_sub(2));
        c.push(fault.expected(format!("{range} (a die has {die_blocks} blocks)")));
        return None;
    }
    let preemptible = raw.preemptible.unwrap_or(true);
    Some(Gc { policy, low_watermark_blocks, reserved_blocks, preemptible })
}

fn gc_policy(c: &mut Checker, raw: Option<&raw::GcPolicy>) -> GcPolicy {
    let default = raw::GcPolicy { name: "greedy".into(), parameters: BTreeMap::new() };
    let raw = raw.unwrap_or(&default);
    let table = format!("gc.policy.{}", raw.name);
    let parameters = match registry::find(crate::gc::REGISTRY, &raw.name) {
        Ok(entry) => parameters(c, &table, entry.params, &raw.parameters),
        Err(nearest) => {
            let names: Vec<_> = crate::gc::REGISTRY.iter().map(|entry| entry.name).collect();
            let key = if c.tree.get(&table).is_some() { &table } else { "gc.policy" };
            let fault = c.fault(key, "unknown victim policy").found(format!("{:?}", raw.name));
            c.push(fault.expected(one_of(&names)).nearest(nearest));
            BTreeMap::new()
        }
    };
    GcPolicy { name: raw.name.clone(), parameters }
}

/// The parameters of a registered thing: what was given, checked, and the defaults of the rest.
fn parameters(c: &mut Checker, table: &str, params: &[Param], given: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let names: Vec<_> = params.iter().map(|param| param.name).collect();
    for key in given.keys().filter(|key| !names.contains(&key.as_str())) {
        let fault = c.fault(&format!("{table}.{key}"), "unknown parameter").found(format!("{key:?}"));
        c.push(fault.expected(one_of(&names)).nearest(nearest(key, names.iter().copied())));
    }
    let mut checked = |param: &Param| {
        let key = format!("{table}.{}", param.name);
        let field = Field { key: key.clone(), value: given.get(param.name).copied() };
        let value = c.number(field, param.default, param.min..=param.max);
        c.rule(&key, value, !param.integer || value.fract() == 0.0, "a whole number");
        (param.name.to_string(), value)
    };
    params.iter().map(&mut checked).collect()
}

fn wear(c: &mut Checker, raw: &raw::Wear) -> Wear {
    let names: Vec<_> = crate::wear::REGISTRY.iter().map(|entry| entry.name).collect();
    let policy = raw.policy.clone().unwrap_or_else(|| "none".to_string());
    if !names.contains(&policy.as_str()) {
        let fault = c.fault("wear.policy", "unknown wear levelling").found(format!("{policy:?}"));
        c.push(fault.expected(one_of(&names)).nearest(nearest(&policy, names.iter().copied())));
    }
    Wear {
        policy,
        ratio: c.number(field!("wear", raw.ratio), 1.15, 1.0..=1e6),
        min_gap: c.number(field!("wear", raw.min_gap), 8, 0..=u32::MAX),
    }
}

fn write_buffer(c: &mut Checker, raw: &raw::WriteBuffer, page_bytes: u32) -> WriteBuffer {
    let bytes = c.number(field!("write_buffer", raw.bytes), 0, 0..=1 << 40);
    if c.clean("device") && bytes > 0 && bytes < u64::from(page_bytes) {
        let fault = c.fault("write_buffer.bytes", "smaller than a page").found(bytes);
        c.push(fault.expected(format!("0, or at least {page_bytes}")));
    }
    WriteBuffer { bytes, destage_fraction: c.number(field!("write_buffer", raw.destage_fraction), 0.5, 0.0..=1.0) }
}

fn energy(c: &mut Checker, raw: &raw::Energy, link: &raw::HostLink, page_bytes: u32) -> Energy {
    let terminal_mv = millivolts(c, field!("energy", raw.terminal_v).or(5.0));
    Energy {
        mode: match raw.mode {
            None | Some(raw::EnergyMode::Component) => EnergyMode::Component,
            Some(raw::EnergyMode::Terminal) => EnergyMode::Terminal(terminal_mv),
        },
        idle_accounting: raw.idle_accounting.unwrap_or(IdleAccounting::AlwaysOn),
        dram_rule: raw.dram_rule.unwrap_or(DramRule::PerOp),
        controller: part(c, "energy.controller", &raw.controller),
        dram: dram(c, &raw.dram, page_bytes),
        nand: nand_energy(c, &raw.nand),
        host_interface: host_interface(c, &raw.host_interface, link),
    }
}

fn part(c: &mut Checker, table: &str, raw: &raw::Part) -> Part {
    let idle_ua = microamperes(c, field!(table, raw.idle_ma));
    let active_ua = active(c, field!(table, raw.active_ma), idle_ua);
    Part { active_ua, idle_ua, millivolts: millivolts(c, field!(table, raw.volts)) }
}

fn dram(c: &mut Checker, raw: &raw::Dram, page_bytes: u32) -> Dram {
    const TABLE: &str = "energy.dram";
    let part = part(c, TABLE, &raw::Part { active_ma: raw.active_ma, idle_ma: raw.idle_ma, volts: raw.volts });
    let map_access_ns = c.number(field!(TABLE, raw.map_access_ns), 50, 0..=NS_MAX);
    let data_mb_s = rate_or_none(c, field!(TABLE, raw.data_mb_s));
    // 10^6 bytes/s is one byte per 1000 ns.
    let page_data_ns = data_mb_s.map_or(0, |rate| (f64::from(page_bytes) * 1000.0 / rate).round() as Nanos);
    Dram { part, map_access_ns, page_data_ns }
}

fn nand_energy(c: &mut Checker, raw: &raw::NandEnergy) -> NandEnergy {
    const TABLE: &str = "energy.nand";
    let idle_ua = microamperes(c, field!(TABLE, raw.idle_ma));
    let transfer = match raw.transfer_ma {
        Some(raw::TransferCurrent::Ma(ma)) => Some(Field { key: format!("{TABLE}.transfer_ma"), value: Some(ma) }),
        None | Some(raw::TransferCurrent::Operation) => None,
    };
    NandEnergy {
        read_ua: active(c, field!(TABLE, raw.read_ma), idle_ua),
        program_ua: active(c, field!(TABLE, raw.program_ma), idle_ua),
        erase_ua: active(c, field!(TABLE, raw.erase_ma), idle_ua),
        transfer_ua: transfer.map(|field| active(c, field, idle_ua)),
        idle_ua,
        millivolts: millivolts(c, field!(TABLE, raw.volts)),
    }
}

fn host_interface(c: &mut Checker, raw: &raw::HostInterface, link: &raw::HostLink) -> HostInterface {
    const TABLE: &str = "energy.host_interface";
    let link_rate = link.bandwidth_mb_s.filter(|rate| MB_S.contains(rate)).unwrap_or(300.0);
    HostInterface {
        active_ua: microamperes(c, field!(TABLE, raw.active_ma)),
        millivolts: millivolts(c, field!(TABLE, raw.volts)),
        bandwidth_mb_s: c.number(field!(TABLE, raw.bandwidth_mb_s), link_rate, MB_S),
    }
}

fn microamperes(c: &mut Checker, field: Field<f64>) -> u32 {
    (c.required(field, 0.0..=MA_MAX) * 1000.0).round() as u32
}

fn millivolts(c: &mut Checker, field: Field<f64>) -> u32 {
    (c.required(field, 0.001..=100.0) * 1000.0).round() as u32
}

/// A current in a state that draws no less than idling.
fn active(c: &mut Checker, field: Field<f64>, idle_ua: u32) -> u32 {
    let (key, ma) = (field.key.clone(), field.value);
    let ua = microamperes(c, field);
    if c.clean(key.rsplit_once('.').map_or("", |(table, _)| table)) && ua < idle_ua {
        let fault = c.fault(&key, "less than the idle current").found(format!("{:?}", ma.unwrap_or(0.0)));
        c.push(fault.expected(format!("at least idle_ma = {:?}", f64::from(idle_ua) / 1000.0)));
    }
    ua
}

impl Field<f64> {
    fn or(self, default: f64) -> Self {
        Field { value: self.value.or(Some(default)), ..self }
    }
}

/// What a workload must keep within.
struct Bounds {
    logical_bytes: u64,
    queue_depth: u32,
}

fn workload(c: &mut Checker, raw: Option<&raw::Workload>, bounds: &Bounds) -> Workload {
    match raw {
        None => Workload::Uniform(uniform(c, "workload.uniform", &raw::Uniform::default(), bounds)),
        Some(raw::Workload::Uniform(raw)) => Workload::Uniform(uniform(c, "workload.uniform", raw, bounds)),
        Some(raw::Workload::Trace(raw)) => Workload::Trace(trace(c, "workload.trace", raw)),
    }
}

fn uniform(c: &mut Checker, table: &str, raw: &raw::Uniform, bounds: &Bounds) -> Uniform {
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
    let key = field.key.clone();
    let bytes = c.number(field, default, min..=COUNT_MAX);
    c.rule(&key, bytes, bytes % SECTOR_BYTES == 0, "a multiple of 512");
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

fn trace(c: &mut Checker, table: &str, raw: &raw::Trace) -> Trace {
    let path = raw.path.clone().unwrap_or_default();
    if path.is_empty() {
        let fault = c.fault(&format!("{table}.path"), "missing").found("nothing").expected("the trace's file name");
        c.push(fault);
    }
    Trace {
        path: path.into(),
        format: raw.format.clone(),
        devices: raw.devices.clone().unwrap_or_default(),
        beyond: beyond(c, table, raw),
        skip_bad: raw.skip_bad.unwrap_or(false),
        speed: c.number(field!(table, raw.speed), 1.0, 1e-6..=1e6),
        closed_loop: raw.closed_loop.unwrap_or(false),
        max_requests: c.optional(field!(table, raw.max_requests), 1..=COUNT_MAX),
    }
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

fn run(c: &mut Checker, raw: &raw::Run, workload: &Workload, bounds: &Bounds) -> Run {
    let run = Run {
        seed: raw.seed.unwrap_or(1),
        precondition: precondition(c, raw.precondition.as_ref(), bounds),
        warmup: span(c, "run.warmup", &raw.warmup, 0),
        measure: span(c, "run.measure", &raw.measure, 1),
        count_drain: raw.count_drain.unwrap_or(false),
    };
    let requests = match workload {
        Workload::Uniform(uniform) => Some(uniform.requests),
        Workload::Trace(trace) => trace.max_requests,
    };
    if let (true, Some(all), Some(warmup)) = (c.clean("run") && c.clean("workload"), requests, run.warmup.requests) {
        if warmup >= all {
            let fault = c.fault("run.warmup.requests", "the warm-up takes every request").found(warmup);
            c.push(fault.expected(format!("less than the {all} requests of the workload")));
        }
    }
    run
}

fn precondition(c: &mut Checker, raw: Option<&raw::Precondition>, bounds: &Bounds) -> Precondition {
    const TABLE: &str = "run.precondition";
    match raw {
        None | Some(raw::Precondition::Filled) => Precondition::Filled,
        Some(raw::Precondition::Empty) => Precondition::Empty,
        Some(raw::Precondition::Steady) => Precondition::Steady,
        Some(raw::Precondition::Uniform(raw)) => {
            let uniform = uniform(c, &format!("{TABLE}.uniform"), raw, bounds);
            Precondition::Workload(Box::new(Workload::Uniform(uniform)))
        }
        Some(raw::Precondition::Trace(raw)) => {
            let trace = trace(c, &format!("{TABLE}.trace"), raw);
            Precondition::Workload(Box::new(Workload::Trace(trace)))
        }
    }
}

fn span(c: &mut Checker, table: &str, raw: &raw::Span, least_ns: u64) -> Span {
    let seconds = c.optional(field!(table, raw.seconds), least_ns as f64 * 1e-9..=SECONDS_MAX);
    Span {
        requests: c.optional(field!(table, raw.requests), least_ns..=COUNT_MAX),
        ns: seconds.map(|seconds| (seconds * 1e9).round() as Nanos),
    }
}
