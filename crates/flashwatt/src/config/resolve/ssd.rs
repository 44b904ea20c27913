//! The tables of an SSD.

use super::{
    COUNT_MAX, NS_MAX, QUEUE_DEPTH_MAX, Resolved, budget, cells, check_extra, chosen, energy, host_memory_price,
    rate_or_none, registered,
};
use crate::config::capacity::{self, FlashShape, JournalNeeds, LogNeeds, Needs, Watermarks};
use crate::config::presets::DEFAULT_PRESET;
use crate::config::raw::{self, Raw};
use crate::config::{BusOrder, Controller, Drive, ReadTransfer, Ssd, WriteBuffer};
use flashwatt_base::error::Fault;
use flashwatt_base::settings::{Checker, Field, field};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_ssd::cache::settings::{Capacitors, Journal, Protection};
use flashwatt_ssd::controller::policies;
use flashwatt_ssd::drive::settings::{DieRegisters, Recovery, TrimRecords};
use flashwatt_ssd::energy::PriceTable;
use flashwatt_ssd::energy::settings::{ChargedData, Energy};
use flashwatt_ssd::ftl::{self, PartialReads};
use flashwatt_ssd::gc::{self, Gc, GcPolicy};
use flashwatt_ssd::nand::settings::{
    BlockStripe, Bus, Cells, DeviceTable, FirmwareTime, HostLink, HostMemory, Nand, PairedPages, PartialUnit,
    ProgramOrder, RowStripe, Suspend, Timing,
};
use flashwatt_ssd::nand::{Reserve, Reserves};
use flashwatt_ssd::wear::{self, Wear};

/// A drive is idle, and writes its buffer to flash, after 10 ms unless told otherwise: longer than the pauses within a burst
/// of requests, and short for a host that is done.
const IDLE_NS: Nanos = 10_000_000;
/// The least supply of flash for 3.3 V (ONFI 2.3, recommended operating conditions of VCC: 2.7 to 3.6 V).
const CAPACITOR_MIN_V: f64 = 2.7;
/// If whole blocks change the over-provisioning that was asked for by more than this share, the report says so.
const ROUNDED_MAX: f64 = 0.05;
const CHANNELS_MAX: u32 = 1024;
const DIES_MAX: u32 = 4096;
/// Choice: the time of two programs of a multi-level cell.
const HOLD_ACK_MAX_NS: Nanos = 2_000_000;
/// Choice: a sixth of the program of a fast page. A write that is alone takes little longer; writes that come together share a page.
const JOURNAL_MAX_NS: Nanos = 100_000;
const RATED_CYCLES_MAX: u32 = 1_000_000_000;
const PAGE_BYTES_MAX: u32 = 1 << 20;
/// Choice: far more than the processors of any drive.
const CORES_MAX: u32 = 1024;
/// A cache line of today's processors.
const LINE_BYTES: u32 = 64;
/// What PCIe moves at a time, at most.
const LINE_BYTES_MAX: u32 = 4096;
const SPARE_BYTES_MAX: u32 = 1 << 20;

/// The SSD that the configuration describes.
pub(super) fn ssd(c: &mut Checker, raw: &Raw) -> Resolved {
    let mut geometry = geometry(c, raw);
    let mut ftl = ftl(c, raw, geometry.page_bytes);
    geometry.map_unit_bytes = ftl.map_unit_bytes(geometry.page_bytes);
    ftl.check(geometry.channels, c);
    check_block(c, &geometry);
    let watermarks = watermarks(c, &raw.gc);
    let mut dies = dies(c, raw, &geometry, &ftl);
    let timing = timing(c, &raw.device.timing, dies.cells.as_ref());
    let host_link = host_link(c, &raw.device.host_link);
    let firmware = firmware_time(c, &raw.device.firmware);
    let host_memory = host_memory(c, raw, &ftl);
    let energy = energy(c, &raw.energy, &raw.device.host_link, &timing, geometry.page_bytes);
    let has_lines = host_memory.as_ref().is_some_and(|memory| memory.line_bytes > 0);
    let host_memory_pj_per_bit = host_memory_price(c, energy.host_memory_pj_per_bit, has_lines);
    let energy = Energy { host_memory_pj_per_bit, ..energy };
    check_extra(c, &raw.energy.nand, dies.block_planes > 1, raw.slc_cache.is_there());
    let wear = wear_levelling(c, &raw.wear);
    let write_buffer = write_buffer(c, raw, geometry.page_bytes, &energy);
    let recovery = recovery(c, &raw.recovery, raw.device.nand.paired_pages, &ftl);
    let policy = gc_policy(c, raw.gc.policy.as_ref());
    // The drive of a snapshot had the room that it needs, and binds what that depends on.
    let filled = !matches!(raw.run.precondition, Some(raw::Precondition::Empty | raw::Precondition::Snapshot(_)));
    let is_paired = raw.device.nand.paired_pages.is_some();
    let log =
        recovery.has_log().then_some(LogNeeds { recovery: &recovery, buffer_bytes: write_buffer.bytes, is_paired });
    let backup_blocks = raw.device.nand.paired_pages.map_or(0, PairedPages::backup_blocks);
    let is_mapped = matches!(raw.run.precondition, Some(raw::Precondition::Mapped));
    let before_blocks = if is_mapped { ftl.before_blocks() } else { 0 };
    let fixed = Reserves::default().with(Reserve::Backup, backup_blocks).with(Reserve::Before, before_blocks);
    let journal = write_buffer.journal.map(|_| JournalNeeds { buffer_bytes: write_buffer.bytes, is_paired });
    let slc_cache = cells::slc_cache(c, raw, &geometry, dies.cells.as_mut());
    let slc_bytes = slc_cache.as_ref().map_or(0, |cache| cache.static_bytes);
    let needs = Needs { ftl: &ftl, watermarks: &watermarks, filled, log, fixed, journal, slc_bytes };
    let capacity = capacity::resolve(c, &raw.device, &geometry, &needs);
    let beside = budget::Beside { planes: dies.block_planes, bus: dies.bus.clone() };
    let controller = controller(c, &raw.controller, &energy, geometry.dies(), &beside);
    let logical_bytes = capacity.map_or(COUNT_MAX, |capacity| capacity.logical_bytes);
    let queue_depth = host_link.queue_depth;
    let whole = || {
        let controlled = Controlled { timing, dies, host_link, firmware, host_memory };
        let device = device(c, raw, &geometry, capacity?, controlled, &ftl);
        ftl.fit_table(device.logical_bytes / u64::from(device.page_bytes));
        check_map_load(c, &recovery, &ftl, device.logical_bytes / u64::from(device.page_bytes));
        let die_blocks = u64::from(device.die_blocks());
        let gc = collection(c, &raw.gc, policy, &watermarks, die_blocks)?;
        let shape = FlashShape { pages_per_block: device.block_pages(), ..geometry };
        let slc_cache = slc_cache.map(|cache| cache.on(&shape));
        Some(Drive::Ssd(Box::new(Ssd { device, ftl, gc, wear, write_buffer, slc_cache, controller, energy, recovery })))
    };
    Resolved { drive: whole(), logical_bytes, queue_depth }
}

fn controller(
    c: &mut Checker,
    controller: &raw::Controller,
    energy: &Energy,
    dies: u32,
    beside: &budget::Beside,
) -> Controller {
    Controller {
        policy: registered(c, field!("controller", controller.policy), "unknown dispatch policy", policies::REGISTRY),
        bus_order: c.choice(field!("controller", controller.bus_order), BusOrder::DataFirst),
        read_transfer: c.choice(field!("controller", controller.read_transfer), ReadTransfer::OnBus),
        power_budget: budget::power_budget(c, controller, energy, dies, beside),
    }
}

fn geometry(c: &mut Checker, raw: &Raw) -> FlashShape {
    let device = &raw.device;
    let page_bytes = c.required(field!("device", device.page_bytes), 512..=PAGE_BYTES_MAX);
    c.rule("device.page_bytes", page_bytes, page_bytes.is_power_of_two(), "a power of two");
    let planes = c.required(field!("device", device.planes), 1..=64);
    let pages_per_block = c.required(field!("device", device.pages_per_block), 2..=65_535);
    let block_planes = cells::block_planes(c, device, planes);
    let bits = device.cells.bits.unwrap_or(1).clamp(1, Cells::BITS_MAX);
    let geometry = FlashShape {
        channels: c.required(field!("device", device.channels), 1..=CHANNELS_MAX),
        ways: c.required(field!("device", device.ways), 1..=64),
        planes: if block_planes == 1 { planes } else { 1 },
        pages_per_block: pages_per_block.saturating_mul(block_planes),
        row_pages: block_planes * bits,
        pass_distance: cells::pass_distance(&device.cells),
        bits,
        page_bytes,
        map_unit_bytes: page_bytes,
    };
    check_dies(c, &geometry);
    geometry
}

fn check_dies(c: &mut Checker, geometry: &FlashShape) {
    if c.clean("device") && geometry.dies() > DIES_MAX {
        let fault = c.fault(c.culprit(&["device.channels", "device.ways"]), "too many dies");
        let found = format!("{} channels × {} ways = {}", geometry.channels, geometry.ways, geometry.dies());
        c.push(fault.found(found).expected(format!("at most {DIES_MAX}")));
    }
}

fn check_block(c: &mut Checker, geometry: &FlashShape) {
    let units_per_page = geometry.page_bytes / geometry.map_unit_bytes;
    let units = u64::from(geometry.pages_per_block) * u64::from(units_per_page);
    if c.clean("device") && c.clean("ftl") && units > 65_535 {
        let key = c.culprit(&["ftl.page.map_unit_bytes", "device.pages_per_block", "device.page_bytes"]);
        let fault = c.fault(key, "too many map units in a block");
        let found = format!("{} pages × {units_per_page} units = {units}", geometry.pages_per_block);
        c.push(fault.found(found).expected("at most 65535"));
    }
}

fn ftl(c: &mut Checker, raw: &Raw, page_bytes: u32) -> ftl::Settings {
    let options = raw.ftl.clone().unwrap_or_default();
    c.rules.default_is("ftl", ftl::REGISTRY[0].name);
    let settings = options.resolve(c, page_bytes);
    if !settings.collects() {
        check_no_collection(c, settings.name());
    }
    settings
}

/// Settings of collection by the user must not be ignored. Those of a preset may be: it does not know the scheme.
fn check_no_collection(c: &mut Checker, name: &str) {
    for key in ["gc.policy", "gc.low_watermark_blocks", "gc.low_watermark_fraction", "gc.reserved_blocks"] {
        let found = format!("ftl = {name:?}, which merges blocks as it must");
        c.has_no_effect(key, found, "a translation layer that collects blocks, or no such key");
    }
}

/// The tables of `[device]` that say how it works and not how large it is.
struct Controlled {
    timing: Timing,
    dies: Dies,
    host_link: HostLink,
    firmware: Option<FirmwareTime>,
    host_memory: Option<HostMemory>,
}

/// What dies can do.
struct Dies {
    /// Planes that a block spans.
    block_planes: u32,
    cells: Option<Cells>,
    bus: Bus,
    suspend: Option<Suspend>,
}

impl Dies {
    /// The cells, if more than a page is programmed at once: a page alone is one of `[device.timing]`.
    fn rows(&self) -> Option<Cells> {
        let row_pages = self.block_planes * self.cells.as_ref()?.bits;
        self.cells.clone().filter(|_| row_pages > 1)
    }
}

/// What the dies of a configuration can do, and what does not go with that.
fn dies(c: &mut Checker, raw: &Raw, geometry: &FlashShape, ftl: &ftl::Settings) -> Dies {
    let cells = cells::cells(c, raw, geometry);
    let block_planes = geometry.row_pages / cells.as_ref().map_or(1, |cells| cells.bits);
    let parts = bus(c, raw, geometry.page_bytes);
    let bus = cells::bus(c, &raw.device.bus, block_planes, parts);
    let suspend = cells::suspend(c, &raw.device.suspend, ftl);
    let is_plain = geometry.row_pages == 1 && bus.is_plain() && suspend.is_none();
    cells::check_rows(c, raw, is_plain, geometry, ftl);
    let stripe = cells.as_ref().map_or(RowStripe::Page, |cells| cells.stripe);
    cells::check_buffer(c, raw, geometry, stripe);
    Dies { block_planes, cells, bus, suspend }
}

fn device(
    c: &mut Checker,
    raw: &Raw,
    geometry: &FlashShape,
    capacity: capacity::Capacity,
    Controlled { timing, dies, host_link, firmware, host_memory }: Controlled,
    ftl: &ftl::Settings,
) -> DeviceTable {
    let device = &raw.device;
    let nand = &device.nand;
    DeviceTable {
        preset: Some(c.choice(field!("device", device.preset), DEFAULT_PRESET.to_string())),
        description: device.description.clone().unwrap_or_default(),
        channels: geometry.channels,
        ways: geometry.ways,
        planes: device.planes.unwrap_or(1),
        blocks_per_plane: capacity.blocks_per_plane,
        pages_per_block: capacity.pages_per_block / dies.block_planes,
        page_bytes: geometry.page_bytes,
        logical_bytes: capacity.logical_bytes,
        spare_fraction: capacity.spare_fraction,
        op_ratio: capacity.op_ratio,
        asked_op_ratio: capacity.asked_op_ratio.filter(|asked| (capacity.op_ratio / asked - 1.0).abs() > ROUNDED_MAX),
        block_stripe: block_stripe(c, field!("device", device.block_stripe), ftl),
        reserves: capacity.reserves,
        scale: device.scale.filter(|&scale| scale != 1.0),
        plane_blocks: dies.block_planes > 1,
        cells: dies.rows(),
        timing,
        bus: dies.bus,
        suspend: dies.suspend,
        host_link,
        firmware,
        host_memory,
        nand: Nand {
            program_order: c.choice(field!("device.nand", nand.program_order), ProgramOrder::Ascending),
            copyback: c.choice(field!("device.nand", nand.copyback), false),
            rated_cycles: c.optional(field!("device.nand", nand.rated_cycles), 1..=RATED_CYCLES_MAX),
            paired_pages: paired_pages(c, nand),
            hold_ack_max_ns: hold_ack_max_ns(c, nand),
            spare_bytes: c.optional(field!("device.nand", nand.spare_bytes), 1..=SPARE_BYTES_MAX),
        },
    }
}

/// Page stripes, which only some layers have. A preset may ask for them under any layer: it does not know the layer.
fn block_stripe(c: &mut Checker, field: Field<BlockStripe>, ftl: &ftl::Settings) -> BlockStripe {
    const KEY: &str = "device.block_stripe";
    let stripe = c.choice(field, BlockStripe::Block);
    if stripe == BlockStripe::Page && !ftl.stripes_pages() {
        let expected = "a translation layer of blocks with stripes of pages: bast, bast_star or nftl";
        c.has_no_effect(KEY, format!("ftl = {:?}", ftl.name()), expected);
    }
    stripe
}

fn timing(c: &mut Checker, raw: &raw::Timing, cells: Option<&Cells>) -> Timing {
    const TABLE: &str = "device.timing";
    let mut array_ns = |field, of_cells: Option<Nanos>| match of_cells {
        Some(ns) => ns,
        None => c.required(field, 1..=NS_MAX),
    };
    let program_ns = array_ns(field!(TABLE, raw.program_ns), cells.map(Cells::row_ns));
    let read_ns = array_ns(field!(TABLE, raw.read_ns), cells.map(|cells| cells.read_ns[0]));
    let program_upper_ns = c.optional(field!(TABLE, raw.program_upper_ns), program_ns..=NS_MAX);
    Timing {
        read_ns,
        program_ns,
        program_upper_ns: program_upper_ns.filter(|&ns| ns > program_ns),
        erase_ns: c.required(field!(TABLE, raw.erase_ns), 1..=NS_MAX),
        command_ns: c.number(field!(TABLE, raw.command_ns), 0, 0..=NS_MAX),
        page_transfer_ns: c.required(field!(TABLE, raw.page_transfer_ns), 0..=NS_MAX),
        channel_switch_ns: c.number(field!(TABLE, raw.channel_switch_ns), 0, 0..=NS_MAX),
    }
}

/// What goes over the buses. Parts of pages where no data takes a bus, and their unit where whole pages do, are faults.
fn bus(c: &mut Checker, raw: &Raw, page_bytes: u32) -> Bus {
    const TABLE: &str = "device.bus";
    const PAGES: &str = "device.bus.partial_pages";
    const PAGE_BYTES_MAX: u32 = PartialReads::PAGE_SECTORS_MAX * SECTOR_BYTES as u32;
    let (bus, read_transfer) = (&raw.device.bus, raw.controller.read_transfer);
    let partial_pages = c.choice(field!(TABLE, bus.partial_pages), false);
    let partial_unit = c.choice(field!(TABLE, bus.partial_unit), PartialUnit::MapUnit);
    if !partial_pages {
        c.has_no_effect("device.bus.partial_unit", "reads of whole pages", "device.bus.partial_pages = true");
        return Bus::default();
    }
    if read_transfer == Some(ReadTransfer::Free) {
        c.has_no_effect(PAGES, "controller.read_transfer = \"free\"", "\"on_bus\", or false");
        return Bus::default();
    }
    if c.clean("device.page_bytes") && page_bytes > PAGE_BYTES_MAX {
        let fault = c.fault(PAGES, "the pages are too large").found(format!("device.page_bytes = {page_bytes}"));
        c.push(fault.expected(format!("at most {PAGE_BYTES_MAX}, or false")));
        return Bus::default();
    }
    Bus { partial_pages, partial_unit: Some(partial_unit), ..Bus::default() }
}

/// The time of the firmware. Cores without work are a fault.
fn firmware_time(c: &mut Checker, raw: &raw::Firmware) -> Option<FirmwareTime> {
    const TABLE: &str = "device.firmware";
    let firmware = FirmwareTime {
        cores: c.number(field!(TABLE, raw.cores), 1, 1..=CORES_MAX),
        command_ns: c.number(field!(TABLE, raw.command_ns), 0, 0..=NS_MAX),
        read_ns: c.number(field!(TABLE, raw.read_ns), 0, 0..=NS_MAX),
        write_ns: c.number(field!(TABLE, raw.write_ns), 0, 0..=NS_MAX),
    };
    if firmware.command_ns == 0 && firmware.cores > 1 {
        c.has_no_effect("device.firmware.cores", "no device.firmware.command_ns", "such a time, or one core");
    }
    (firmware.command_ns + firmware.read_ns + firmware.write_ns > 0).then_some(firmware)
}

/// The host's memory, if the cached part of the map lies there. A layer with its whole map in the drive's memory has none there: by the
/// user's file it is a fault. A preset does not know the layer.
fn host_memory(c: &mut Checker, raw: &Raw, ftl: &ftl::Settings) -> Option<HostMemory> {
    const TABLE: &str = "device.host_memory";
    let table = &raw.device.host_memory;
    let read_ns = c.number(field!(TABLE, table.read_ns), 0, 0..=NS_MAX);
    let line_bytes = c.optional(field!(TABLE, table.line_bytes), 0..=LINE_BYTES_MAX);
    let memory = HostMemory { read_ns, line_bytes: line_bytes.unwrap_or(if read_ns > 0 { LINE_BYTES } else { 0 }) };
    if memory.read_ns == 0 && memory.line_bytes == 0 {
        return None;
    }
    if !ftl.has_map_on_flash() {
        for key in ["device.host_memory.read_ns", "device.host_memory.line_bytes"] {
            let found = format!("ftl = {:?}, whose map is wholly in memory of the drive", ftl.name());
            c.has_no_effect(key, found, "a layer with its map on flash: dftl, tpftl or rftl");
        }
        return None;
    }
    if raw.energy.host_interface.charged_data == Some(ChargedData::FlashPages) {
        let key = c.culprit(&[
            "energy.host_interface.charged_data",
            "device.host_memory.line_bytes",
            "device.host_memory.read_ns",
        ]);
        let fault = c.fault(key, "entries of the map cross the host interface, and no flash bus");
        let fault = fault.found("energy.host_interface.charged_data = \"flash_pages\", with device.host_memory");
        c.push(fault.expected("\"host_bytes\", or no device.host_memory"));
    }
    Some(memory)
}

fn host_link(c: &mut Checker, raw: &raw::HostLink) -> HostLink {
    const TABLE: &str = "device.host_link";
    HostLink {
        bandwidth_mb_s: rate_or_none(c, field!(TABLE, raw.bandwidth_mb_s)),
        command_ns: c.number(field!(TABLE, raw.command_ns), 0, 0..=NS_MAX),
        queue_depth: c.number(field!(TABLE, raw.queue_depth), 32, 1..=QUEUE_DEPTH_MAX),
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

fn collection(
    c: &mut Checker,
    raw: &raw::Gc,
    policy: GcPolicy,
    watermarks: &Watermarks,
    die_blocks: u64,
) -> Option<Gc> {
    let low_watermark_blocks = watermarks.low(die_blocks);
    let reserved_blocks = watermarks.reserved_blocks;
    if low_watermark_blocks <= reserved_blocks || u64::from(low_watermark_blocks) + 1 >= die_blocks {
        let key = c.culprit(&["gc.low_watermark_blocks", "gc.low_watermark_fraction", "gc.reserved_blocks"]);
        let fault = c.fault(key, "watermark does not fit the die").found(format!("{low_watermark_blocks} blocks"));
        let range = format!("{} to {}", reserved_blocks + 1, die_blocks.saturating_sub(2));
        let fault = fault.expected(format!("{range} (a die has {die_blocks} blocks)"));
        c.push(fault.help("fewer device.pages_per_block, with the same bytes, give a die more blocks"));
        return None;
    }
    let preemptible = c.choice(field!("gc", raw.preemptible), true);
    Some(Gc { policy, low_watermark_blocks, reserved_blocks, preemptible })
}

fn gc_policy(c: &mut Checker, raw: Option<&raw::Chosen<raw::VictimPolicy>>) -> GcPolicy {
    let (entry, parameters) = chosen(c, "gc.policy", raw, "unknown victim policy", gc::REGISTRY);
    GcPolicy { entry, parameters }
}

fn wear_levelling(c: &mut Checker, raw: &raw::Wear) -> Wear {
    Wear {
        policy: registered(c, field!("wear", raw.policy), "unknown wear levelling", wear::REGISTRY),
        ratio: c.number(field!("wear", raw.ratio), 1.15, 1.0..=1e6),
        min_gap: c.number(field!("wear", raw.min_gap), 8, 0..=u32::MAX),
    }
}

/// Pages that share cells. Only chips that ask for an order have such cells.
fn paired_pages(c: &mut Checker, nand: &raw::Nand) -> Option<PairedPages> {
    if nand.paired_pages.is_some() && nand.program_order == Some(ProgramOrder::Any) {
        let fault = c.fault("device.nand.paired_pages", "multi-level cells are programmed in order");
        c.push(fault.found("device.nand.program_order = \"any\"").expected("\"ascending\", or no paired pages"));
    }
    nand.paired_pages
}

/// The longest time for which acknowledgements are held, if they are.
fn hold_ack_max_ns(c: &mut Checker, nand: &raw::Nand) -> Option<Nanos> {
    if nand.paired_pages == Some(PairedPages::HoldAck) {
        return Some(c.number(field!("device.nand", nand.hold_ack_max_ns), HOLD_ACK_MAX_NS, 1..=NS_MAX));
    }
    let expected = "device.nand.paired_pages = \"hold_ack\", or no such key";
    if nand.hold_ack_max_ns.is_some() {
        let fault = c.fault("device.nand.hold_ack_max_ns", "has no effect").found("no acknowledgement that is held");
        c.push(fault.expected(expected));
    }
    None
}

fn write_buffer(c: &mut Checker, raw: &Raw, page_bytes: u32, energy: &Energy) -> WriteBuffer {
    let (pairs, raw) = (raw.device.nand.paired_pages, &raw.write_buffer);
    let bytes = c.number(field!("write_buffer", raw.bytes), 0, 0..=1 << 40);
    if c.clean("device") && bytes > 0 && bytes < u64::from(page_bytes) {
        let fault = c.fault("write_buffer.bytes", "smaller than a page").found(bytes);
        c.push(fault.expected(format!("0, or at least {page_bytes}")));
    }
    WriteBuffer {
        bytes,
        destage_fraction: c.number(field!("write_buffer", raw.destage_fraction), 0.5, 0.0..=1.0),
        idle_ns: c.number(field!("write_buffer", raw.idle_ns), IDLE_NS, 1..=NS_MAX),
        capacitors: capacitors(c, raw, bytes, energy),
        journal: journal(c, raw, bytes, pairs),
    }
}

/// The journal of a write buffer. Its time without it, it without a buffer, and it beside pages that spoil others are faults: it holds
/// parts of units, and the rest of a unit may be in a page that is spoilt.
fn journal(c: &mut Checker, raw: &raw::WriteBuffer, bytes: u64, pairs: Option<PairedPages>) -> Option<Journal> {
    const KEY: &str = "write_buffer.protection";
    let max_ns = c.number(field!("write_buffer", raw.journal_max_ns), JOURNAL_MAX_NS, 0..=NS_MAX);
    if raw.protection != Some(Protection::Journal) {
        if raw.journal_max_ns.is_some() {
            let fault =
                c.fault("write_buffer.journal_max_ns", "has no effect").found("a write buffer without a journal");
            c.push(fault.expected("write_buffer.protection = \"journal\""));
        }
        return None;
    }
    if bytes == 0 {
        c.push(nothing_to_protect(c));
        return None;
    }
    if pairs == Some(PairedPages::Unprotected) {
        let fault = c.fault(KEY, "a journal holds parts of units, and a spoilt page may have held the rest");
        let fault = fault.found("device.nand.paired_pages = \"unprotected\"");
        c.push(fault.expected("device.nand.paired_pages = \"backup\" or \"hold_ack\", or no such key"));
        return None;
    }
    Some(Journal { max_ns })
}

fn nothing_to_protect(c: &Checker) -> Fault {
    let fault = c.fault("write_buffer.protection", "there is nothing to protect").found("no write buffer");
    fault.expected("write_buffer.bytes > 0")
}

/// What the drive writes to flash for its recovery.
fn recovery(c: &mut Checker, raw: &raw::Recovery, pairs: Option<PairedPages>, ftl: &ftl::Settings) -> Recovery {
    const KEY: &str = "recovery.checkpoint_interval_bytes";
    let recovery = Recovery {
        trim_records: c.choice(field!("recovery", raw.trim_records), TrimRecords::None),
        checkpoint_interval_bytes: c.optional(field!("recovery", raw.checkpoint_interval_bytes), 1..=COUNT_MAX),
        die_registers: c.choice(field!("recovery", raw.die_registers), DieRegisters::Lost),
        map_load_fraction: c.number(field!("recovery", raw.map_load_fraction), 0.0, 0.0..=1.0),
    };
    check_map_after_cut(c, &recovery, ftl);
    if recovery.checkpoint_interval_bytes.is_none() {
        return recovery;
    }
    if !ftl.has_checkpoints() {
        let fault = c.fault(KEY, "this translation layer has no checkpoints").found(format!("ftl = {:?}", ftl.name()));
        c.push(fault.expected("no such key, or a layer with checkpoints, as `page`"));
    } else if pairs.is_some() && ftl.has_map_on_flash() {
        let fault = c.fault(KEY, "a torn page may spoil a page of the map that a recovery reads");
        let fault = fault.found(format!("device.nand.paired_pages, and ftl = {:?}", ftl.name()));
        c.push(fault.expected("no paired pages, a layer whose map is in memory, as `page` or `fast`, or no such key"));
    } else if pairs == Some(PairedPages::HoldAck) {
        let fault = c.fault(KEY, "a checkpoint may point to a page that is not safe yet");
        let fault = fault.found("device.nand.paired_pages = \"hold_ack\"");
        c.push(fault.expected("device.nand.paired_pages = \"backup\", or no such key"));
    }
    recovery
}

/// What a drive does with its map on flash after a power cut: other layers have none.
fn check_map_after_cut(c: &mut Checker, recovery: &Recovery, ftl: &ftl::Settings) {
    const REGISTERS: &str = "recovery.die_registers";
    let (keeps, loads) = (recovery.die_registers == DieRegisters::Kept, recovery.map_load_fraction > 0.0);
    let has_no_map = "this translation layer has no map on flash";
    let (of_layer, expected) =
        (format!("ftl = {:?}", ftl.name()), "a layer with its map on flash, as `dftl` or `rftl`");
    if !ftl.has_map_on_flash() {
        let wrong = [(keeps, REGISTERS, "\"lost\""), (loads, "recovery.map_load_fraction", "0")];
        for (_, key, neutral) in wrong.into_iter().filter(|(is_given, ..)| *is_given) {
            let fault = c.fault(key, has_no_map).found(&of_layer);
            c.push(fault.expected(format!("{expected}, or {neutral}")));
        }
    } else if keeps && recovery.checkpoint_interval_bytes.is_none() {
        let fault = c.fault(REGISTERS, "has no effect: without checkpoints a recovery writes the whole map anew");
        let fault = fault.found("no recovery.checkpoint_interval_bytes");
        c.push(fault.expected("recovery.checkpoint_interval_bytes, or \"lost\""));
    }
}

/// Checks that the table of a layer with its map on flash has room for the portion of the map that is loaded.
fn check_map_load(c: &mut Checker, recovery: &Recovery, ftl: &ftl::Settings, logical_pages: u64) {
    let (wanted, Some(room)) = (recovery.loaded_units(logical_pages), ftl.table_entries()) else { return };
    if c.clean("recovery") && wanted > u64::from(room) {
        let fault = c.fault("recovery.map_load_fraction", "the cached table has no room for this portion of the map");
        let found = format!("{:?}: {wanted} of {logical_pages} entries", recovery.map_load_fraction);
        let name = ftl.name();
        let expected = format!("at most {room} entries, or a larger ftl.{name}.cmt_fraction, cmt_entries or cmt_bytes");
        c.push(fault.found(found).expected(expected));
    }
}

/// The capacitors of a write buffer. Their voltages without them, and they without a buffer, are faults.
fn capacitors(c: &mut Checker, raw: &raw::WriteBuffer, bytes: u64, energy: &Energy) -> Option<Capacitors> {
    let protection = c.choice(field!("write_buffer", raw.protection), Protection::Volatile);
    let max_v = c.optional(field!("write_buffer", raw.capacitor_max_v), 0.1..=1000.0);
    let min_v = c.number(field!("write_buffer", raw.capacitor_min_v), CAPACITOR_MIN_V, 0.0..=1000.0);
    let is_clean = c.clean("write_buffer");
    if protection != Protection::Capacitors {
        let found = if protection == Protection::Journal { "a journal" } else { "a volatile write buffer" };
        for (key, given) in [("capacitor_max_v", raw.capacitor_max_v), ("capacitor_min_v", raw.capacitor_min_v)] {
            if is_clean && given.is_some() {
                let fault = c.fault(&format!("write_buffer.{key}"), "has no effect");
                c.push(fault.found(found).expected("write_buffer.protection = \"capacitors\""));
            }
        }
        return None;
    }
    if bytes == 0 {
        c.push(nothing_to_protect(c));
    }
    let max_v = max_v.unwrap_or_else(|| f64::from(PriceTable::new(energy).supply_mv) / 1e3);
    if is_clean && min_v >= max_v {
        let fault = c.fault("write_buffer.capacitor_min_v", "the capacitors give no energy");
        let fault = fault.found(format!("{min_v} V, and capacitors charged to {max_v} V"));
        c.push(fault.expected(format!("less than {max_v} V, or a greater write_buffer.capacitor_max_v")));
    }
    Some(Capacitors { max_v, min_v })
}
