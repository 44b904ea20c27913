//! Planes, cells and buses of a die, and what it suspends: `device.plane_blocks`, `[device.cells]`, `[device.bus]` and `[device.suspend]`.

use super::{NS_MAX, registered};
use crate::config::capacity::FlashShape;
use crate::config::raw::{self, Raw};
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::Nanos;
use flashwatt_ssd::cache::settings::Protection;
use flashwatt_ssd::controller::policies;
use flashwatt_ssd::drive::settings::{AfterFull, FoldWhen, SlcCache};
use flashwatt_ssd::ftl;
use flashwatt_ssd::nand::settings::{Bus, Cells, JointReads, Resume, RowStripe, SlcTiming, Suspend, SuspendReads};

const TABLE: &str = "device.cells";
/// Planes that a block can span. Choice: dies of 2023 have six.
const BLOCK_PLANES_MAX: u32 = 8;
/// A bound that no limit of a chip comes near; after 64 an operation runs to its end anyway.
const SUSPENSIONS_MAX: u32 = 64;
/// Choice: shorter than a program of a row, and longer than a host that writes takes for its next request.
const PAD_AFTER_NS: Nanos = 1_000_000;
/// Choice: chips need one row, or those of the strings beside it in the same layer, of which there are four to eight.
const PASS_DISTANCE_MAX: u32 = 8;
/// Choice: longer than pauses within a burst, and short for a host that is done.
const IDLE_FOLD_START_NS: Nanos = 100_000_000;

/// The cells of a configuration, if their rows have more than a page, and the time of reads and programs.
pub(super) fn cells(c: &mut Checker, raw: &Raw, shape: &FlashShape) -> Option<Cells> {
    let table = &raw.device.cells;
    let Some(bits) = c.optional(field!(TABLE, table.bits), 1..=Cells::BITS_MAX) else {
        for key in OF_BITS {
            c.has_no_effect(key, "no device.cells.bits", "device.cells.bits, or no such key");
        }
        return None;
    };
    for key in ["device.timing.read_ns", "device.timing.program_ns", "device.timing.program_upper_ns"] {
        c.has_no_effect(key, "device.cells.bits", "device.cells.read_ns and device.cells.program_ns instead");
    }
    if c.clean("device") && !shape.pages_per_block.is_multiple_of(bits) {
        let fault = c.fault(c.culprit(&["device.pages_per_block", "device.cells.bits"]), "a block ends within a row");
        let found = format!("{} pages, cells of {bits} bits", shape.pages_per_block);
        c.push(fault.found(found).expected(format!("a multiple of {bits} pages in a block of a plane")));
    }
    let (passes, first_pass_ns, pass_distance) = two_passes(c, table, shape);
    Some(Cells {
        bits,
        read_ns: read_ns(c, table, bits),
        passes,
        first_pass_ns,
        pass_distance,
        program_ns: c.required(field!(TABLE, table.program_ns), 1..=NS_MAX),
        pad_after_ns: c.number(field!(TABLE, table.pad_after_ns), PAD_AFTER_NS, 0..=NS_MAX),
        stripe: c.choice(field!(TABLE, table.stripe), RowStripe::Page),
        slc: slc_timing(c, &table.slc),
    })
}

/// The keys that have no effect without `device.cells.bits`.
const OF_BITS: [&str; 9] = [
    "device.cells.read_ns",
    "device.cells.program_ns",
    "device.cells.passes",
    "device.cells.first_pass_ns",
    "device.cells.pass_distance",
    "device.cells.pad_after_ns",
    "device.cells.stripe",
    "device.cells.slc.read_ns",
    "device.cells.slc.program_ns",
];

/// Rows behind a row that have their first pass before its second one: 0 with one pass. Its checks are those of [`two_passes`].
pub(super) fn pass_distance(table: &raw::Cells) -> u32 {
    match table.passes {
        Some(2) if table.bits.is_some() => table.pass_distance.unwrap_or(1).clamp(1, PASS_DISTANCE_MAX),
        _ => 0,
    }
}

/// The number of passes, the array time of the first of two, and [`pass_distance`].
fn two_passes(c: &mut Checker, table: &raw::Cells, shape: &FlashShape) -> (u32, Nanos, u32) {
    let passes = c.number(field!(TABLE, table.passes), 1, 1..=2);
    let first_pass_ns = c.optional(field!(TABLE, table.first_pass_ns), 1..=NS_MAX);
    let distance = c.number(field!(TABLE, table.pass_distance), 1, 1..=PASS_DISTANCE_MAX);
    if passes == 1 {
        for key in ["device.cells.first_pass_ns", "device.cells.pass_distance"] {
            c.has_no_effect(key, "device.cells.passes = 1", "device.cells.passes = 2, or no such key");
        }
        return (1, 0, 0);
    }
    if table.first_pass_ns.is_none() {
        let fault = c.fault("device.cells.first_pass_ns", "missing").found("device.cells.passes = 2, and no such key");
        c.push(fault.expected("the array time of the first pass, in ns"));
    }
    if shape.bits == 1 {
        let fault =
            c.fault("device.cells.passes", "two passes of cells that hold one bit").found("device.cells.bits = 1");
        c.push(fault.expected("device.cells.bits = 2, 3 or 4, or one pass"));
    }
    let rows = shape.pages_per_block / shape.row_pages;
    if c.clean("device") && rows <= distance {
        let fault =
            c.fault("device.cells.pass_distance", "more rows than a block has behind its first one").found(distance);
        c.push(fault.expected(format!("less than {rows}, the rows of a block")));
    }
    (passes, first_pass_ns.unwrap_or(1), distance)
}

/// Refuses what does not go with two passes.
fn check_passes(c: &mut Checker, raw: &Raw, ftl: &ftl::Settings) {
    const KEY: &str = "device.cells.passes";
    let mut refuse = |is_there: bool, what: &str, found: &str, expected: &str| {
        if is_there {
            let fault = c.fault(KEY, what).found(found);
            c.push(fault.expected(expected));
        }
    };
    let layer = format!("ftl = {:?}", ftl.name());
    refuse(
        ftl.has_map_on_flash(),
        "a layer with its map on flash has no rows of two passes yet",
        &layer,
        "ftl = \"page\", or one pass",
    );
    let again = "the second pass needs the data again, and a copy within a die does not keep it";
    refuse(raw.device.nand.copyback == Some(true), again, "device.nand.copyback = true", "false, or one pass");
    refuse(raw.slc_cache.on_die == Some(true), again, "slc_cache.on_die = true", "false, or one pass");
    let has_capacitors = raw.write_buffer.protection == Some(Protection::Capacitors);
    let dump = "what capacitors do for rows between their passes is not simulated";
    refuse(has_capacitors, dump, "write_buffer.protection = \"capacitors\"", "a volatile write buffer, or one pass");
}

fn read_ns(c: &mut Checker, table: &raw::Cells, bits: u32) -> Vec<Nanos> {
    const KEY: &str = "device.cells.read_ns";
    let Some(times) = table.read_ns.clone() else {
        let fault = c.fault(KEY, "missing").found("no such key");
        c.push(fault.expected(format!("{bits} times in ns, one for each type of page")));
        return vec![1; bits as usize];
    };
    if times.len() != bits as usize {
        let fault = c.fault(KEY, "one time for each bit of a cell").found(format!("{} times", times.len()));
        c.push(fault.expected(format!("{bits}")));
        return vec![1; bits as usize];
    }
    times.into_iter().map(|ns| c.within(KEY, ns, 1..=NS_MAX)).collect()
}

/// The planes that a block spans.
pub(super) fn block_planes(c: &mut Checker, device: &raw::Device, planes: u32) -> u32 {
    if !c.choice(field!("device", device.plane_blocks), false) {
        return 1;
    }
    c.within("device.planes", planes, 1..=BLOCK_PLANES_MAX)
}

/// What a die does beside a transfer. `parts` says what transfers move.
pub(super) fn bus(c: &mut Checker, raw: &raw::Bus, block_planes: u32, parts: Bus) -> Bus {
    const TABLE: &str = "device.bus";
    let cache_read = c.choice(field!(TABLE, raw.cache_read), false);
    let cache_program = c.choice(field!(TABLE, raw.cache_program), false);
    let joint_reads = c.choice(field!(TABLE, raw.joint_reads), JointReads::None);
    let cache_busy_ns = c.number(field!(TABLE, raw.cache_busy_ns), 0, 0..=NS_MAX);
    if !cache_read && !cache_program {
        let expected = "device.bus.cache_read or device.bus.cache_program";
        c.has_no_effect("device.bus.cache_busy_ns", "neither cache reads nor cache programs", expected);
    }
    if joint_reads != JointReads::None && block_planes == 1 {
        let expected = "device.plane_blocks = true on dies of several planes, or no such key";
        c.has_no_effect("device.bus.joint_reads", "blocks of one plane", expected);
    }
    let joint_reads = if block_planes == 1 { JointReads::None } else { joint_reads };
    let cache_busy_ns = if cache_read || cache_program { cache_busy_ns } else { 0 };
    Bus { cache_read, cache_program, cache_busy_ns, joint_reads, ..parts }
}

/// What reads suspend, if anything.
pub(super) fn suspend(c: &mut Checker, raw: &raw::Suspend, ftl: &ftl::Settings) -> Option<Suspend> {
    const TABLE: &str = "device.suspend";
    let suspend = Suspend {
        program_ns: c.optional(field!(TABLE, raw.program_ns), 0..=NS_MAX),
        erase_ns: c.optional(field!(TABLE, raw.erase_ns), 0..=NS_MAX),
        resume_ns: c.number(field!(TABLE, raw.resume_ns), 0, 0..=NS_MAX),
        max: c.optional(field!(TABLE, raw.max), 0..=SUSPENSIONS_MAX),
        min_run_ns: c.number(field!(TABLE, raw.min_run_ns), 0, 0..=NS_MAX),
        resume: c.choice(field!(TABLE, raw.resume), Resume::Continue),
        reads: c.choice(field!(TABLE, raw.reads), SuspendReads::MapAndHost),
    };
    if suspend.program_ns.is_none() && suspend.erase_ns.is_none() {
        for key in ["resume_ns", "max", "min_run_ns", "reads"].map(suspend_key) {
            let found = "neither device.suspend.program_ns nor device.suspend.erase_ns";
            c.has_no_effect(key, found, "one of these times, or no such key");
        }
    }
    if suspend.reads == SuspendReads::Host && !ftl.has_map_on_flash() {
        let found = format!("ftl = {:?}, which reads no pages of the map", ftl.name());
        c.has_no_effect("device.suspend.reads", found, "a layer with its map on flash, or \"map_and_host\"");
    }
    if suspend.erase_ns.is_none() && suspend.resume == Resume::Restart {
        c.has_no_effect("device.suspend.resume", "no device.suspend.erase_ns", "such a time, or \"continue\"");
    }
    let is_on = suspend.program_ns.is_some() || suspend.erase_ns.is_some();
    (is_on && suspend.max != Some(0)).then_some(suspend)
}

/// The full name of a key of the table.
fn suspend_key(key: &'static str) -> &'static str {
    match key {
        "resume_ns" => "device.suspend.resume_ns",
        "max" => "device.suspend.max",
        "min_run_ns" => "device.suspend.min_run_ns",
        _ => "device.suspend.reads",
    }
}

/// The keys that give this drive dies which do more than one thing at a time.
fn keys_of_rows(raw: &Raw) -> Vec<&'static str> {
    let raw::Device { plane_blocks, cells, bus, suspend, .. } = &raw.device;
    let keys = [
        ("device.plane_blocks", *plane_blocks == Some(true)),
        ("device.cells.bits", cells.bits.is_some_and(|bits| bits > 1)),
        ("device.bus.cache_read", bus.cache_read == Some(true)),
        ("device.bus.cache_program", bus.cache_program == Some(true)),
        ("device.suspend.program_ns", suspend.program_ns.is_some()),
        ("device.suspend.erase_ns", suspend.erase_ns.is_some()),
    ];
    keys.into_iter().filter_map(|(key, gives_rows)| gives_rows.then_some(key)).collect()
}

/// `[slc_cache]`, checked but for the size of the drive.
pub(super) struct AskedCache {
    /// Bytes of the static part, and the most of the dynamic one, as the scaled drive has them.
    pub static_bytes: u64,
    dynamic_bytes: Option<u64>,
    cache: SlcCache,
}

impl AskedCache {
    /// The cache on a drive of this shape.
    pub fn on(self, shape: &FlashShape) -> SlcCache {
        SlcCache {
            static_blocks: shape.slc_blocks(self.static_bytes),
            dynamic_blocks: self.dynamic_bytes.map(|bytes| shape.slc_blocks(bytes)),
            ..self.cache
        }
    }
}

/// The cache of a configuration, if it has one. A cache without cells of several bits, or without times of SLC mode, is a fault; so is a
/// key of a table that asks for none.
pub(super) fn slc_cache(
    c: &mut Checker,
    raw: &Raw,
    shape: &FlashShape,
    cells: Option<&mut Cells>,
) -> Option<AskedCache> {
    let timing = cells.as_ref().is_some_and(|cells| cells.slc.is_some());
    let bits = cells.as_ref().map_or(1, |cells| cells.bits);
    let asked = asked_cache(c, raw, bits, timing);
    if asked.as_ref().is_some_and(|asked| asked.cache.on_die) && shape.map_unit_bytes < shape.page_bytes {
        let fault =
            c.fault("slc_cache.on_die", "a copy within a die moves whole pages").found("map units below a page");
        c.push(fault.expected(format!("ftl.page.map_unit_bytes = {}, or on_die = false", shape.page_bytes)));
    }
    if asked.is_none() {
        for key in ["device.cells.slc.read_ns", "device.cells.slc.program_ns"] {
            c.has_no_effect(key, "no cache", "slc_cache.static_bytes or slc_cache.dynamic, or no such key");
        }
        if let Some(cells) = cells {
            cells.slc = None;
        }
    }
    asked
}

/// The cache that is asked for, on cells with this number of bits. `has_timing`: the times of SLC mode are given.
fn asked_cache(c: &mut Checker, raw: &Raw, bits: u32, has_timing: bool) -> Option<AskedCache> {
    const TABLE: &str = "slc_cache";
    let table = &raw.slc_cache;
    let scale = raw.device.scale.filter(|scale| (0.0..=1.0).contains(scale)).unwrap_or(1.0);
    let scaled = |bytes: u64| (bytes as f64 * scale).round() as u64;
    let static_bytes = scaled(c.number(field!(TABLE, table.static_bytes), 0, 0..=1 << 50));
    let dynamic = c.choice(field!(TABLE, table.dynamic), false);
    let dynamic_bytes = c.optional(field!(TABLE, table.dynamic_bytes), 1..=1 << 50).map(scaled);
    let cache = SlcCache {
        static_blocks: 0,
        dynamic,
        dynamic_blocks: None,
        fold: c.choice(field!(TABLE, table.fold), FoldWhen::Idle),
        after: c.choice(field!(TABLE, table.after), AfterFull::Native),
        on_die: c.choice(field!(TABLE, table.on_die), false),
        idle_start_ns: c.number(field!(TABLE, table.idle_start_ns), IDLE_FOLD_START_NS, 1..=NS_MAX),
        idle_gap_ns: c.number(field!(TABLE, table.idle_gap_ns), 0, 0..=NS_MAX),
    };
    if !dynamic {
        c.has_no_effect(
            "slc_cache.dynamic_bytes",
            "slc_cache.dynamic = false",
            "slc_cache.dynamic = true, or no such key",
        );
    }
    if static_bytes == 0 && !dynamic {
        for key in [
            "slc_cache.fold",
            "slc_cache.after",
            "slc_cache.on_die",
            "slc_cache.idle_start_ns",
            "slc_cache.idle_gap_ns",
        ] {
            c.has_no_effect(key, "no cache", "slc_cache.static_bytes or slc_cache.dynamic, or no such key");
        }
        return None;
    }
    if cache.fold != FoldWhen::Idle {
        for key in ["slc_cache.idle_start_ns", "slc_cache.idle_gap_ns"] {
            c.has_no_effect(key, "another slc_cache.fold", "slc_cache.fold = \"idle\", or no such key");
        }
    }
    let key = c.culprit(&["slc_cache.static_bytes", "slc_cache.dynamic"]);
    if bits == 1 {
        let fault = c.fault(key, "an SLC cache on cells that hold one bit anyway");
        c.push(fault.found("no device.cells.bits above 1").expected("device.cells.bits = 2, 3 or 4, or no slc_cache"));
        return None;
    }
    if !has_timing {
        let fault = c.fault(key, "blocks in SLC mode have times of their own").found("no device.cells.slc");
        c.push(fault.expected("device.cells.slc.read_ns and device.cells.slc.program_ns"));
        return None;
    }
    Some(AskedCache { static_bytes, dynamic_bytes: dynamic_bytes.filter(|_| dynamic), cache })
}

/// Times of blocks in SLC mode, if they are given.
fn slc_timing(c: &mut Checker, table: &raw::SlcTiming) -> Option<SlcTiming> {
    const TABLE: &str = "device.cells.slc";
    if table.read_ns.is_none() && table.program_ns.is_none() {
        return None;
    }
    Some(SlcTiming {
        read_ns: c.required(field!(TABLE, table.read_ns), 1..=NS_MAX),
        program_ns: c.required(field!(TABLE, table.program_ns), 1..=NS_MAX),
    })
}

/// Refuses what has no rows.
pub(super) fn check_rows(c: &mut Checker, raw: &Raw, is_plain: bool, shape: &FlashShape, ftl: &ftl::Settings) {
    let row_pages = shape.row_pages;
    if shape.pass_distance > 0 {
        check_passes(c, raw, ftl);
    }
    let key = c.culprit(&keys_of_rows(raw));
    if !is_plain && !ftl.has_rows() {
        let fault =
            c.fault(key, "a layer that merges blocks has no rows of pages").found(format!("ftl = {:?}", ftl.name()));
        c.push(fault.expected("a layer that maps pages: page, dftl, tpftl or rftl").help("ftl = \"page\""));
    }
    if is_plain {
        return;
    }
    let mut refuse = |is_there: bool, found: &str, expected: &str| {
        if is_there {
            let fault = c
                .fault(key, "a row of pages is programmed at once, and dies do more than one thing at a time")
                .found(found);
            c.push(fault.expected(expected));
        }
    };
    refuse(
        raw.device.nand.paired_pages.is_some(),
        "device.nand.paired_pages, for pages of a row that are programmed one by one",
        "no paired pages: a cut spoils the whole row",
    );
    refuse(
        raw.device.timing.program_upper_ns.is_some() && row_pages > 1,
        "device.timing.program_upper_ns, for pages of a row that are programmed one by one",
        "device.cells, or no such time",
    );
    refuse(
        raw.recovery.trim_records.is_some_and(|records| records != Default::default()),
        "recovery.trim_records",
        "no recovery log",
    );
    refuse(raw.recovery.checkpoint_interval_bytes.is_some(), "recovery.checkpoint_interval_bytes", "no recovery log");
    let has_slot = raw.device.timing.channel_switch_ns.is_some_and(|ns| ns > 0);
    refuse(
        has_slot,
        "device.timing.channel_switch_ns, one slot for the starts of all channels",
        "channel_switch_ns = 0",
    );
    let has_journal = raw.write_buffer.protection == Some(Protection::Journal);
    refuse(has_journal, "write_buffer.protection = \"journal\"", "capacitors, or no protection");
    let controller = &raw.controller;
    let order = registered(c, field!("controller", controller.policy), "unknown dispatch policy", policies::REGISTRY);
    if order.build.in_order.is_some() {
        let fault = c.fault(
            "controller.policy",
            "rows that wait for pages, and suspended operations, let later operations go first",
        );
        let fault = fault.found(format!("{:?}, with {key}", order.name));
        c.push(fault.expected("\"out_of_order\", or no such key"));
    }
}

/// Refuses a write buffer that cannot hold a row of each die that has one open.
pub(super) fn check_buffer(c: &mut Checker, raw: &Raw, shape: &FlashShape, stripe: RowStripe) {
    let row_pages = shape.row_pages;
    let bytes = raw.write_buffer.bytes.unwrap_or(0);
    let between_passes = shape.dies() * shape.pass_distance;
    let rows = if stripe == RowStripe::Page { shape.dies() } else { 2 } + between_passes;
    let least = u64::from(rows) * u64::from(row_pages) * u64::from(shape.page_bytes);
    if row_pages > 1 && bytes > 0 && bytes < least && c.clean("device") {
        let fault = c.fault("write_buffer.bytes", "too small for the rows that dies have open").found(bytes);
        let what = format!("at least {least}: {rows} rows of {row_pages} pages");
        let fault = fault.expected(what);
        c.push(if stripe == RowStripe::Page {
            fault.help(format!("device.cells.stripe = \"row\" needs {} rows", 2 + between_passes))
        } else {
            fault
        });
    }
}
