//! The cache of blocks in SLC mode: where the cliff of a fill lies, how fast the drive is on both sides of it, and what folds cost.
//!
//! The formulas are those of docs/slc-cache.md, by die and bus, for one die: it bounds everything. All numbers are of hand arithmetic.

use super::rows::{COMMAND, READS, ROW, TRANSFER, X};
use crate::common::{Log, Script, assert_close, assert_within, figures, load, play, read, run_logged, run_own, write};
use flashwatt::Report;
use flashwatt::config::Config;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::ftl::{Cause, OpKind};

const SLC_READ: Nanos = 20_011;
const SLC_ROW: Nanos = 70_003;
const ERASE: Nanos = 3_000_017;
const PAGE: u64 = 4096;
const PLANES: u64 = 4;
/// Pages of a block on all planes, natively.
const BLOCK: u64 = PLANES * 432;
const BLOCKS: u64 = 60;
const LOW_WATERMARK: u64 = 3;

/// A drive of one die with four planes: 60 blocks of 432 pages a plane.
fn die_of(bits: u64, cache: &str, sets: &[&str]) -> Config {
    let text = format!(
        r#"
[device]
preset = "limit"
channels = 1
ways = 1
planes = {PLANES}
plane_blocks = true
blocks_per_plane = {BLOCKS}
pages_per_block = 432
spare_fraction = 0.15

[device.timing]
erase_ns = {ERASE}
command_ns = {COMMAND}
page_transfer_ns = {TRANSFER}

[device.cells]
bits = {bits}
read_ns = {reads:?}
program_ns = {ROW}
slc = {{ read_ns = {SLC_READ}, program_ns = {SLC_ROW} }}

[device.bus]
joint_reads = "same_row"

[device.host_link]
queue_depth = 8

[gc]
low_watermark_blocks = {LOW_WATERMARK}
reserved_blocks = 1

[slc_cache]
{cache}

[run]
precondition = "empty"
"#,
        reads = &READS[..bits as usize]
    );
    load(&text, sets)
}

/// The same with cells of three bits.
fn die(cache: &str, sets: &[&str]) -> Config {
    die_of(3, cache, sets)
}

/// Pages of a block in SLC mode, of cells of three bits.
const SLC_BLOCK: u64 = BLOCK / 3;

/// A fill, as the formulas describe it.
#[derive(Clone, Copy)]
struct Fill {
    bits: u64,
    static_blocks: u64,
    is_dynamic: bool,
    /// Blocks of the dynamic part, if they have a bound.
    bound: Option<u64>,
    is_eager: bool,
    through: bool,
    on_die: bool,
    /// Nanoseconds of a page on the host's link.
    link_ns: f64,
}

const DYNAMIC: Fill = Fill {
    bits: 3,
    static_blocks: 0,
    is_dynamic: true,
    bound: None,
    is_eager: false,
    through: false,
    on_die: false,
    link_ns: 0.0,
};
const STATIC: Fill = Fill { static_blocks: 20, is_dynamic: false, ..DYNAMIC };
const BOTH: Fill = Fill { static_blocks: 8, ..DYNAMIC };

impl Fill {
    /// What an SLC page costs the die, in ns: a part of a row.
    fn slc_ns(&self) -> f64 {
        (PLANES * X + SLC_ROW) as f64 / PLANES as f64
    }

    /// The same of a native page.
    fn native_ns(&self) -> f64 {
        let row = PLANES * self.bits;
        (row * X + ROW) as f64 / row as f64
    }

    /// The same of a folded page: joint reads, two transfers or two commands, a native program, and a part of an erase.
    fn fold_ns(&self) -> f64 {
        let (row, slc_block) = (PLANES * self.bits, BLOCK / self.bits);
        let moved = 2 * row * if self.on_die { COMMAND } else { X };
        (self.bits * SLC_READ + moved + ROW) as f64 / row as f64 + (COMMAND + ERASE) as f64 / slc_block as f64
    }

    /// Pages in a nanosecond before the knee: of the host, and folded below its writes.
    fn before(&self) -> (f64, f64) {
        let host = (1.0 / self.slc_ns()).min(1.0 / self.link_ns);
        let folds = if self.is_eager { ((1.0 - host * self.slc_ns()) / self.fold_ns()).min(host) } else { 0.0 };
        (host, folds)
    }

    /// Pages of the host before the cache is full.
    fn knee(&self) -> f64 {
        let ((host, folds), bits) = (self.before(), self.bits as f64);
        let slc_block = (BLOCK / self.bits) as f64;
        let native = ((BLOCKS - LOW_WATERMARK - self.static_blocks) * BLOCK) as f64;
        let all = self.static_blocks as f64 + self.bound.unwrap_or(if self.is_dynamic { BLOCKS } else { 0 }) as f64;
        let bounded = all * slc_block * host / (host - folds);
        let room =
            host * (native + bits * self.static_blocks as f64 * slc_block) / (bits * host - (bits - 1.0) * folds);
        if self.is_dynamic { bounded.min(room) } else { bounded }
    }

    /// Pages of the host before the room is used up that a bounded cache leaves at the knee.
    fn second_cliff(&self) -> Option<f64> {
        let native = BLOCKS - LOW_WATERMARK - self.static_blocks;
        self.bound.map(|bound| self.knee() + ((native - bound) * BLOCK) as f64)
    }

    /// Nanoseconds of a page of the host after the knee, where the cache is static or there is room for native writes.
    fn with_room_ns(&self) -> f64 {
        if self.through { self.slc_ns() + self.fold_ns() } else { self.native_ns() }
    }

    /// The same without room: it is made by folds.
    fn without_room_ns(&self) -> f64 {
        let bits = self.bits as f64;
        match self.through {
            true => self.slc_ns() + bits / (bits - 1.0) * self.fold_ns(),
            false => self.native_ns() + self.fold_ns() / (bits - 1.0),
        }
    }

    /// Pages that are folded for a page of the host after the knee.
    fn folds_after(&self) -> f64 {
        let bits = self.bits as f64;
        match (self.is_dynamic && self.bound.is_none(), self.through) {
            (true, true) => bits / (bits - 1.0),
            (true, false) => 1.0 / (bits - 1.0),
            (false, true) => 1.0,
            (false, false) => 0.0,
        }
    }

    /// The drive.
    fn config(&self, fold: &str) -> Config {
        let slc_bytes = |blocks: u64| blocks * BLOCK / self.bits * PAGE;
        let mut cache = format!("static_bytes = {}\ndynamic = {}\n", slc_bytes(self.static_blocks), self.is_dynamic);
        if let Some(bound) = self.bound {
            cache += &format!("dynamic_bytes = {}\n", slc_bytes(bound));
        }
        cache += &format!("fold = \"{fold}\"\nafter = \"{}\"\n", if self.through { "through" } else { "native" });
        cache += &format!("on_die = {}", self.on_die);
        let mut sets = vec!["device.spare_fraction=0.5".to_string()];
        if self.link_ns > 0.0 {
            // A step of a fold holds up the host's writes for its die: they wait in the buffer.
            sets.push(format!("device.host_link.bandwidth_mb_s={}", PAGE as f64 * 1e3 / self.link_ns));
            sets.push("write_buffer.bytes=2097152".to_string());
        }
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        die_of(self.bits, &cache, if self.is_dynamic { &sets[1..] } else { &sets })
    }

    /// Pages that are written in all: most of the drive.
    fn pages(&self) -> u64 {
        let share = if self.is_dynamic { 0.8 } else { 0.48 };
        (share * (BLOCKS * BLOCK) as f64) as u64 / 16 * 16
    }
}

/// Writes of sixteen pages, in sequence.
fn fill(pages: u64) -> Vec<Request> {
    (0..pages / 16).map(|n| write(0, 16 * n, 16)).collect()
}

/// When pages of the host were on flash, in the order of time, and whether each is in SLC mode.
fn host_ends(log: &Log) -> Vec<(Nanos, bool)> {
    let all = log.all(OpKind::Program, Cause::Host);
    let mut ends: Vec<(Nanos, bool)> =
        all.iter().map(|done| (done.t.end, done.t.end - done.t.array_start == SLC_ROW)).collect();
    ends.sort_unstable();
    ends
}

/// Pages of the host before the first one in a native block, in the order of their planning.
fn knee(log: &Log) -> u64 {
    let mut host = log.all(OpKind::Program, Cause::Host);
    host.sort_by_key(|done| done.op.seq);
    host.iter().take_while(|done| done.t.end - done.t.array_start == SLC_ROW).count() as u64
}

/// The ends of the folds' erases.
fn folds(log: &Log) -> Vec<Nanos> {
    log.all(OpKind::Erase, Cause::Fold).iter().map(|done| done.t.end).collect()
}

/// Nanoseconds of a page of the host over whole cycles of folds, between the first and the last of these times.
fn ns_per_page(ends: &[(Nanos, bool)], times: &[Nanos]) -> f64 {
    let (from, to) = (times[0], times[times.len() - 1]);
    let pages = ends.iter().filter(|(end, _)| (from + 1..=to).contains(end)).count();
    (to - from) as f64 / pages as f64
}

/// Runs a fill and checks its knee, its levels and its folds.
fn check(fill_of: Fill, fold: &str) -> (Report, Log) {
    let config = fill_of.config(fold);
    let (report, log) = play(&config, &fill(fill_of.pages()));
    let (what, ends, erased) = (format!("{fold}, {:?}", config.ssd().slc_cache), host_ends(&log), folds(&log));
    let (host, _) = fill_of.before();
    let expected = fill_of.knee();
    if fill_of.through && !fill_of.is_eager {
        let first = log.all(OpKind::Program, Cause::Fold).first().expect("folds").op.seq;
        let before = log.all(OpKind::Program, Cause::Host).iter().filter(|done| done.op.seq < first).count();
        assert!(before.abs_diff(expected as usize) as u64 <= BLOCK / fill_of.bits, "{what}: {before}, not {expected}");
    } else if !fill_of.through {
        let found = knee(&log) as f64;
        let slc_block = if fill_of.is_eager { BLOCK / fill_of.bits } else { 0 }; // the formula is exact to a block
        let near = (found - expected).abs() <= 0.02 * expected + slc_block as f64;
        assert!(near, "{what}: the knee is at {found} pages instead of {expected}");
    }
    let early = (0.9 * expected) as usize;
    let first_ns = (ends[early].0 - ends[early / 10].0) as f64 / (early - early / 10) as f64;
    assert_within(first_ns, 1.0 / host, 0.02, &format!("{what}: before the knee"));
    let at = ends[(1.05 * expected) as usize].0;
    let last = fill_of.second_cliff().map_or(ends.len() - 1, |pages| (0.97 * pages) as usize);
    if fill_of.folds_after() > 0.0 {
        let cycles: Vec<Nanos> = erased.iter().copied().filter(|&end| end > at && end <= ends[last].0).collect();
        assert!(cycles.len() > 8, "{what}: {} folds after the knee", cycles.len());
        let (level, expected) = if fill_of.is_dynamic && fill_of.bound.is_none() {
            (ns_per_page(&ends, &cycles), fill_of.without_room_ns())
        } else {
            (ns_per_page(&ends, &cycles), fill_of.with_room_ns())
        };
        assert_within(level, expected, 0.02, &format!("{what}: after the knee"));
    } else {
        assert_within(ns_per_page(&ends, &[at, ends[last].0]), fill_of.with_room_ns(), 0.02, &what);
    }
    (report, log)
}

/// MODERN L4: a static cache is full when its blocks are.
#[test]
fn l4_a_static_cache_and_then() {
    for fold in ["idle", "full"] {
        for bits in [2, 3, 4] {
            let (report, log) = check(Fill { bits, ..STATIC }, fold);
            assert_eq!(knee(&log), 20 * BLOCK / bits);
            if fold == "idle" {
                assert_eq!(report.ssd().flash.programs.fold, 0);
                assert_eq!(report.ssd().flash.fold_factor, None);
            }
            check(Fill { bits, through: true, ..STATIC }, fold);
        }
    }
}

/// MODERN L5: a dynamic one when no free block is above the low watermark.
#[test]
fn l5_a_dynamic_cache_and_then() {
    for fold in ["idle", "full"] {
        for bits in [2, 3, 4] {
            let (_, log) = check(Fill { bits, ..DYNAMIC }, fold);
            assert_eq!(knee(&log), (BLOCKS - LOW_WATERMARK) * BLOCK / bits);
            check(Fill { bits, through: true, ..DYNAMIC }, fold);
        }
    }
}

/// Both, with the static blocks first; and folds that stay on the die.
#[test]
fn both_parts_and_folds_on_the_die() {
    for through in [false, true] {
        let (_, log) = check(Fill { through, ..BOTH }, "idle");
        if !through {
            assert_eq!(knee(&log), (BLOCKS - LOW_WATERMARK) * SLC_BLOCK);
        }
        check(Fill { through, on_die: true, ..DYNAMIC }, "idle");
        check(Fill { through, on_die: true, ..STATIC }, "full");
    }
}

/// Eager folds go below writes of the host: they have what the link leaves.
#[test]
fn eager_folds_have_what_the_host_leaves() {
    for through in [false, true] {
        for of in [DYNAMIC, BOTH, Fill { on_die: true, ..DYNAMIC }] {
            check(Fill { through, is_eager: true, link_ns: 26_000.0, ..of }, "eager");
        }
        check(Fill { static_blocks: 29, through, is_eager: true, link_ns: 26_000.0, ..STATIC }, "eager");
    }
}

/// A bound of the dynamic part: there is room at the knee, and the rate changes a second time.
#[test]
fn a_bounded_cache_has_two_cliffs() {
    for through in [false, true] {
        let of = Fill { bound: Some(40), through, ..DYNAMIC };
        let (_, log) = check(of, "idle");
        let ends = host_ends(&log);
        let second = of.second_cliff().expect("a bound");
        let at = ends[(1.03 * second) as usize].0;
        let cycles: Vec<Nanos> = folds(&log).into_iter().filter(|&end| end > at).collect();
        let level = ns_per_page(&ends, &cycles[..cycles.len() - 1]);
        assert_within(level, of.without_room_ns(), 0.02, "after the second cliff");
    }
}

/// What has been folded when the last byte is written, without eager folds.
#[test]
fn a_fill_folds_what_the_formulas_say() {
    for through in [false, true] {
        let of = Fill { through, ..DYNAMIC };
        let (report, _) = check(of, "idle");
        let (native, written) = (((BLOCKS - LOW_WATERMARK) * BLOCK) as f64, of.pages() as f64);
        let expected =
            if through { written - (native - written) / 2.0 } else { native / 3.0 - (native - written) / 2.0 };
        let found = report.ssd().flash.programs.fold as f64;
        // Exact to a native block: the die ends with some pages more or less in its open blocks.
        assert!((found - expected).abs() <= 0.02 * expected + BLOCK as f64, "{found} instead of {expected}");
    }
}

/// Layers with their map on flash have the knee of a drive without the blocks that they keep for the map.
#[test]
fn layers_with_their_map_on_flash_have_a_knee() {
    const ENTRIES: u64 = PAGE / 8;
    let logical = BLOCKS * BLOCK * 85 / 100;
    let filled = logical.div_ceil(ENTRIES).div_ceil(BLOCK + 1 - 3 * PLANES);
    let map_blocks = filled + filled.max(3);
    for layer in ["dftl", "tpftl", "rftl"] {
        for fold in ["idle", "full"] {
            let mut sets = vec![format!("ftl.{layer}.cmt_entries={}", 4 * ENTRIES)]; // evictions write the map
            if layer == "rftl" {
                sets.push("ftl.rftl.replicas=0".to_string()); // one channel
            }
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            let cache = format!("dynamic = true\nfold = \"{fold}\"");
            let (report, log) = play(&die(&cache, &sets), &fill(DYNAMIC.pages()));
            let programs = &report.ssd().flash.programs;
            assert_eq!(knee(&log), (BLOCKS - LOW_WATERMARK - map_blocks) * SLC_BLOCK, "{layer}, {fold}");
            assert!(programs.fold > 0 && programs.map > 0, "{layer}, {fold}: {programs:?}");
            let sets = [&sets[..], &["device.spare_fraction=0.5"]].concat();
            let cache = format!("static_bytes = {}\nfold = \"{fold}\"", 20 * SLC_BLOCK * PAGE);
            let (_, log) = play(&die(&cache, &sets), &fill(STATIC.pages()));
            assert_eq!(knee(&log), 20 * SLC_BLOCK, "{layer}, {fold}");
        }
    }
}

/// An idle drive folds on all its dies, and rewrites the map for that: no page is folded twice, and each block is erased.
#[test]
fn an_idle_drive_with_its_map_on_flash_folds_on_all_dies() {
    let sets = ["device.channels=2", "device.ways=2", "ftl.dftl.cmt_entries=512"];
    let mut requests = fill(16 * SLC_BLOCK);
    requests.push(read(3_000_000_000, 0, 1));
    let (report, log) = play(&die("dynamic = true\nidle_start_ns = 1000000", &sets), &requests);
    let flash = &report.ssd().flash;
    assert_eq!(log.all(OpKind::Program, Cause::Fold).len() as u64, 16 * SLC_BLOCK, "each page once");
    assert_eq!(flash.erases.fold, 16);
    assert!(flash.programs.map > 0, "the entries of folded pages are not cached");
}

/// The share of the drive at which the cliff lies is the same at every scale.
#[test]
fn the_knee_scales_with_the_drive() {
    for cache in ["dynamic=true", "static_bytes=300000000"] {
        let mut shares = Vec::new();
        for scale in ["1.0", "0.125", "0.015625"] {
            let sets = [
                "device.blocks_per_plane=256",
                "device.pages_per_block=1152",
                &format!("device.scale={scale}"),
                &format!("slc_cache.{cache}"),
                "device.page_bytes=16384",
                "device.host_link.queue_depth=8",
            ];
            let config = die_of(3, "", &sets);
            let bytes = config.logical_bytes();
            let requests: Vec<Request> = (0..bytes * 45 / 100 / 786_432)
                .map(|n| Request::new(0, RequestKind::Write, n * 786_432, 786_432))
                .collect();
            let (_, log) = play(&config, &requests);
            shares.push((knee(&log) * 16_384) as f64 / bytes as f64);
        }
        assert_within(shares[1], shares[0], 0.02, cache);
        assert_within(shares[2], shares[0], 0.02, cache);
    }
}

/// Rows of the cache take a page on each plane, and its reads take tR of SLC mode.
#[test]
fn pages_of_the_cache_have_times_of_their_own() {
    let (_, log) = play(&die("dynamic = true", &[]), &[write(0, 0, 4), read(5_000_000, 0, 1)]);
    let ends: Vec<Nanos> = log.requests.iter().map(|request| request.end_ns).collect();
    assert_eq!(ends, [4 * X + SLC_ROW, 5_000_000 + COMMAND + SLC_READ + TRANSFER]);
}

/// An idle drive folds: what it has written lies in native blocks, and the cache is empty.
#[test]
fn an_idle_drive_folds() {
    let mut requests = fill(4 * SLC_BLOCK);
    requests.push(read(3_000_000_000, 0, 1));
    let (report, log) = play(&die("dynamic = true\nidle_start_ns = 1000000", &[]), &requests);
    let folded = log.all(OpKind::Program, Cause::Fold).len() as u64;
    assert_eq!(folded, 4 * SLC_BLOCK, "each page once");
    assert_eq!(report.ssd().flash.erases.fold, 4);
    let last = log.requests.last().expect("requests");
    assert_eq!(last.end_ns - 3_000_000_000, COMMAND + READS[0] + TRANSFER, "it is read from a native block");
}

/// After a time without requests the cache is back: a static one by what was folded, and a dynamic one by two thirds of that.
#[test]
fn an_idle_time_gives_the_cache_back() {
    let idle_ns = 300_000_000;
    for of in [STATIC, DYNAMIC] {
        let full = of.knee() as u64 / 16 * 16 + 16;
        let mut requests = fill(full);
        let (_, log) = play(&of.config("idle"), &requests);
        let end = log.requests.iter().map(|request| request.end_ns).max().expect("requests");
        requests.extend((0..2_000).map(|n| write(end + 100_000_000 + idle_ns, full + 16 * n, 16)));
        let (_, log) = play(&of.config("idle"), &requests);
        let again = host_ends(&log).iter().filter(|&&(at, is_slc)| at > end + idle_ns && is_slc).count() as f64;
        let folded = idle_ns as f64 / of.fold_ns();
        let expected = if of.is_dynamic { folded * 2.0 / 3.0 } else { folded };
        assert!((again - expected).abs() <= 1.5 * SLC_BLOCK as f64, "{again} pages instead of {expected}");
    }
}

/// Joules of the flash by hand: what each kind of row costs, and the operations of a run.
#[test]
fn energy_of_the_cache() {
    let sets = ["energy.nand.slc_program_ma=21", "energy.nand.transfer_ma=12", "energy.nand.extra_plane_program_ma=7"];
    let nand = |ma: f64, ns: u64| ma * 3.3 * ns as f64 * 1e-12; // mW and ns to J
    for (cache, on_die) in [("dynamic = true", false), ("dynamic = true\non_die = true", true)] {
        let pages = 40 * BLOCK;
        let sets = [&sets[..], &["run.count_drain=true"]].concat();
        let (report, log) = play(&die(cache, &sets), &fill(pages));
        let host = host_ends(&log);
        let of_host = |is_slc: bool| host.iter().filter(|&&(_, mode)| mode == is_slc).count() as u64;
        let folded = log.all(OpKind::Program, Cause::Fold).len() as u64;
        let (joint, erases) = (folded / PLANES, log.all(OpKind::Erase, Cause::Fold).len() as u64);
        let pads = log.all(OpKind::Program, Cause::Pad).len() as u64;
        assert_eq!(log.ops.len() as u64, pages + 2 * folded + erases + pads, "nothing else is done");
        let slc_row = nand(21.0 + 3.0 * 7.0, SLC_ROW);
        let row = nand(30.0 + 3.0 * 7.0, ROW);
        let native_rows = (of_host(false) + folded + pads) / 12;
        let found = &report.ssd().energy_j.nand;
        assert_close(found.program, of_host(true) as f64 / 4.0 * slc_row + native_rows as f64 * row, "programs");
        assert_close(found.read, joint as f64 * nand(25.0, SLC_READ), "reads");
        assert_close(found.erase, erases as f64 * nand(30.0, ERASE), "erases");
        let of_fold = if on_die { 2 * folded * COMMAND } else { 2 * folded * X };
        let bus = nand(12.0, (pages + pads) * X + of_fold + erases * COMMAND);
        let waits = found.transfer - bus;
        assert!((-1e-12..0.02 * bus).contains(&waits), "{waits} J of data that waits beside {bus} J");
        let by_cause = &report.ssd().energy_by_cause_j;
        let own =
            folded as f64 / 12.0 * row + found.read + found.erase + nand(12.0, of_fold + erases * COMMAND) + waits;
        assert!((by_cause.fold - own).abs() <= 0.02 * own, "{} instead of {own}", by_cause.fold);
    }
}

/// Joules of a GB before the knee and after it: base power for the time of a GB, and what is done for it.
#[test]
fn joules_of_a_gigabyte_on_both_sides_of_the_knee() {
    for through in [false, true] {
        let of = Fill { through, ..DYNAMIC };
        let config = of.config("idle");
        let knee = of.knee() as u64;
        let window = |warmup: u64, measure: u64| {
            let sets =
                [format!("run.warmup.requests={}", warmup / 16), format!("run.measure.requests={}", measure / 16)];
            let all = [&sets[0][..], &sets[1]];
            let cache = format!("dynamic = true\nafter = \"{}\"", if through { "through" } else { "native" });
            run_logged(&die(&cache, &all), &mut Script::new(&fill(of.pages()))).0
        };
        let energy = &config.ssd().energy;
        let watts = |ua: u32, millivolts: u32| f64::from(ua) * f64::from(millivolts) * 1e-9;
        let part = |of: &flashwatt_ssd::energy::settings::Part| watts(of.active_ua, of.millivolts);
        let nand = |ua: u32| watts(ua, energy.nand.millivolts);
        let base_w = part(&energy.controller);
        let gb = 1e9 / PAGE as f64;
        for (report, ns, slc, native, folds) in [
            (window(1024, knee / SLC_BLOCK / 2 * SLC_BLOCK), of.slc_ns(), 1.0, 0.0, 0.0),
            (
                window(knee * 11 / 10, 72 * SLC_BLOCK),
                of.without_room_ns(),
                f64::from(u8::from(through)),
                f64::from(u8::from(!through)),
                of.folds_after(),
            ),
        ] {
            let ssd = report.ssd();
            let written = ssd.flash.programs.host as f64 * PAGE as f64 / 1e9;
            let program = nand(energy.nand.program_ua) * 1e-9;
            let transfer = nand(energy.nand.transfer_ua.expect("a current of its own")) * X as f64 * 1e-9;
            let flash = slc * (transfer + program * SLC_ROW as f64 / 4.0)
                + native * (transfer + program * ROW as f64 / 12.0)
                + folds
                    * (2.0 * transfer
                        + program * ROW as f64 / 12.0
                        + nand(energy.nand.read_ua) * SLC_READ as f64 / 4.0 * 1e-9
                        + nand(energy.nand.erase_ua) * ERASE as f64 / SLC_BLOCK as f64 * 1e-9);
            let nand_j = &ssd.energy_j.nand;
            let found = (nand_j.program + nand_j.read + nand_j.erase + nand_j.transfer) / written;
            assert_within(found, flash * gb, 0.03, &format!("J/GB of the flash, through: {through}, folds: {folds}"));
            let base = ssd.energy_j.controller.active / written;
            assert_within(base, base_w * ns * 1e-9 * gb, 0.03, &format!("J/GB of the controller, folds: {folds}"));
        }
    }
}

/// Folds are a factor of write amplification, and in a report only where they were.
#[test]
fn folds_are_a_factor() {
    let (report, _) = play(&die("dynamic = true", &[]), &fill(40 * BLOCK));
    let flash = &report.ssd().flash;
    let (host, fold) = (flash.programs.host as f64, flash.programs.fold as f64);
    let pad = flash.programs.pad as f64;
    assert_close(flash.fold_factor.expect("folds"), (host + pad + fold) / (host + pad), "folds");
    assert_close(flash.write_amplification.expect("writes"), (host + pad + fold) / host, "all");
    let (report, _) = play(&die("dynamic = true", &[]), &fill(1_600));
    assert_eq!(report.ssd().flash.fold_factor, None);
    let json = serde_json::to_string(&report).expect("a report is JSON");
    assert!(!json.contains("\"fold\":") || json.matches("\"fold\":").count() == 1, "only the key of the cache: {json}");
}

/// A cache of nothing is none: the same report.
#[test]
fn a_cache_of_nothing_is_none() {
    let requests = fill(4 * BLOCK);
    let none = figures(&play(&without_cache(&[]), &requests).0);
    for sets in [
        &["slc_cache.static_bytes=0"][..],
        &["slc_cache.dynamic=false"],
        &["slc_cache.static_bytes=0", "slc_cache.dynamic=false"],
    ] {
        let config = without_cache(sets);
        assert_eq!(config.ssd().slc_cache, None);
        assert_eq!(figures(&play(&config, &requests).0), none, "{sets:?}");
        let (one, other) = (play(&config, &requests).0, play(&without_cache(&[]), &requests).0);
        let text = |report: &Report| serde_json::to_string(report).expect("a report is JSON");
        assert_eq!(text(&one), text(&other), "to the byte");
    }
}

/// The drive without times of SLC mode.
fn without_cache(sets: &[&str]) -> Config {
    let text = format!(
        "[device]\npreset = \"limit\"\nchannels = 1\nways = 1\nplanes = 4\nplane_blocks = true\nblocks_per_plane = {BLOCKS}\n\
         pages_per_block = 432\nspare_fraction = 0.15\n[device.cells]\nbits = 3\nread_ns = {:?}\nprogram_ns = {ROW}\n\
         [run]\nprecondition = \"empty\"",
        &READS[..3]
    );
    load(&text, sets)
}

/// What has no effect is refused by name.
#[test]
fn keys_without_effect_are_refused() {
    let refused = |sets: &[&str], key: &str| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let text = "[device]\npreset = \"limit\"\nplanes = 4\nplane_blocks = true\npages_per_block = 144\n[device.cells]\nbits = 3\n\
                    read_ns = [1, 2, 3]\nprogram_ns = 9";
        let message = flashwatt::config::load(text, "slc", &sets).expect_err("it is refused").to_string();
        assert!(message.contains(key), "{message}");
    };
    refused(&["slc_cache.fold=\"idle\""], "slc_cache.fold");
    refused(&["slc_cache.dynamic_bytes=1000000"], "slc_cache.dynamic_bytes");
    refused(&["slc_cache.dynamic=true"], "device.cells.slc");
    refused(&["device.cells.slc.read_ns=1", "device.cells.slc.program_ns=1"], "device.cells.slc.read_ns");
    let times = ["device.cells.slc.read_ns=1", "device.cells.slc.program_ns=1"];
    refused(
        &[&times[..], &["slc_cache.dynamic=true", "slc_cache.fold=\"full\"", "slc_cache.idle_gap_ns=1"]].concat(),
        "slc_cache.idle_gap_ns",
    );
    refused(&[&times[..1], &["slc_cache.dynamic=true"]].concat(), "device.cells.slc.program_ns");
    let on_die = ["slc_cache.dynamic=true", "slc_cache.on_die=true", "ftl.page.map_unit_bytes=1024"];
    refused(&[&times[..], &on_die].concat(), "slc_cache.on_die");
    refused(&[&times[..], &["slc_cache.dynamic=true", "ftl=\"fast\""]].concat(), "ftl");
}

/// Random writes over a full cache, with all rules of folding: every page is where the map says.
#[test]
fn folds_lose_nothing() {
    for cache in [
        "dynamic = true\nfold = \"eager\"",
        "dynamic = true\nfold = \"full\"\nafter = \"through\"",
        "static_bytes = 3145728\nfold = \"full\"",
        "static_bytes = 3145728\ndynamic = true\nfold = \"idle\"\non_die = true",
        "static_bytes = 3145728\nfold = \"idle\"\nafter = \"through\"",
    ] {
        let sets = [
            "workload.uniform.requests=4000",
            "workload.uniform.request_bytes=65536",
            "workload.uniform.read_fraction=0.2",
            "workload.uniform.trim_fraction=0.05",
            "device.pages_per_block=72",
            "device.spare_fraction=0.3",
        ];
        let (report, _) = run_own(&die(cache, &sets));
        assert!(report.ssd().flash.programs.fold > 0, "{cache}");
    }
}
