//! Every combination of registered parts, and tiny drives that they run on.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use flashwatt::config::Config;
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::gc;
use flashwatt_ssd::wear;

use crate::common::tier::{only_case, seed, soak};
use crate::common::{PAGE, load};

/// Overrides that say what a drive works by.
pub type Scheme = Vec<String>;

/// Every combination of registered parts and of their options; of one translation layer alone if the environment's
/// `FLASHWATT_FTL` names it.
pub fn schemes() -> &'static [Scheme] {
    static SCHEMES: LazyLock<Vec<Scheme>> = LazyLock::new(combinations);
    &SCHEMES
}

/// What `make test` tries: each translation layer with each of its options and each victim policy. Wear levelling, the order of programs
/// and the way of copies take turns, so that each of their values meets many layers. The soak tries every combination.
pub fn some_schemes() -> Vec<Scheme> {
    in_turn(schemes())
}

/// Of schemes that differ in wear levelling, the order of programs or the way of copies alone, one in `make test`, all in the soak.
pub fn in_turn(schemes: &[Scheme]) -> Vec<Scheme> {
    if soak().is_some() {
        return schemes.to_vec();
    }
    let is_other = |set: &&String| !set.starts_with("wear.") && !set.starts_with("device.nand.");
    let alike = |a: &Scheme, b: &Scheme| a.iter().filter(is_other).eq(b.iter().filter(is_other));
    (0..).zip(schemes.chunk_by(alike)).map(|(turn, alike): (usize, _)| alike[turn % alike.len()].clone()).collect()
}

/// Rows of twelve pages: blocks that span four planes, cells of three bits, joint reads, and transfers beside the array.
pub const ROWS: [&str; 10] = [
    "device.planes=4",
    "device.plane_blocks=true",
    "device.pages_per_block=9",
    "device.cells.bits=3",
    "device.cells.read_ns=[40011, 55013, 50017]",
    "device.cells.program_ns=1068503",
    "device.cells.pad_after_ns=400009",
    "device.bus.joint_reads=\"any\"",
    "device.bus.cache_read=true",
    "device.bus.cache_program=true",
];

/// Reads suspend programs and erases.
pub const SUSPENSION: [&str; 3] =
    ["device.suspend.program_ns=20011", "device.suspend.erase_ns=50021", "device.suspend.resume_ns=10007"];

/// Those of these schemes whose layer has rows, on a drive with [`ROWS`].
pub fn with_rows(schemes: &[Scheme]) -> Vec<Scheme> {
    with_dies(schemes, &ROWS)
}

/// The same on a drive whose pages are programmed one by one, and with [`SUSPENSION`].
pub fn with_suspension(schemes: &[Scheme]) -> Vec<Scheme> {
    with_dies(schemes, &SUSPENSION)
}

/// Those of these schemes whose layer has its map on flash, with a small cached part of it in the host's memory.
pub fn with_host_memory(schemes: &[Scheme]) -> Vec<Scheme> {
    let sets =
        ["device.host_memory.read_ns=1201", "device.host_memory.line_bytes=64", "energy.host_memory.pj_per_bit=20"];
    let with_sets = |scheme: &Scheme| scheme.iter().cloned().chain(sets.map(String::from)).collect();
    let is_on_flash = |scheme: &&Scheme| load_scheme(scheme).ssd().ftl.has_map_on_flash();
    schemes.iter().filter(is_on_flash).map(with_sets).collect()
}

fn with_dies(schemes: &[Scheme], sets: &[&str]) -> Vec<Scheme> {
    let with_sets = |scheme: &Scheme| scheme.iter().cloned().chain(sets.iter().map(ToString::to_string)).collect();
    let has_rows = |scheme: &&Scheme| load_scheme(scheme).ssd().ftl.has_rows();
    schemes.iter().filter(has_rows).map(with_sets).collect()
}

/// Caches of blocks in SLC mode: static, dynamic and both, with every rule of folding and for a full cache.
pub const CACHES: [&[&str]; 6] = [
    &["slc_cache.dynamic=true", "slc_cache.idle_start_ns=300007"],
    &["slc_cache.dynamic=true", "slc_cache.fold=\"eager\"", "slc_cache.after=\"through\""],
    &["slc_cache.static_bytes=60000", "slc_cache.fold=\"full\"", "slc_cache.after=\"through\""],
    &[
        "slc_cache.static_bytes=60000",
        "slc_cache.dynamic=true",
        "slc_cache.on_die=true",
        "slc_cache.idle_start_ns=1",
        "slc_cache.idle_gap_ns=700001",
    ],
    &["slc_cache.static_bytes=60000", "slc_cache.fold=\"eager\""],
    &["slc_cache.dynamic=true", "slc_cache.dynamic_bytes=60000", "slc_cache.fold=\"full\""],
];

const SLC_TIMES: [&str; 2] = ["device.cells.slc.read_ns=20011", "device.cells.slc.program_ns=200009"];

/// Those of these schemes whose layer has rows, on a drive with [`ROWS`] and with one of [`CACHES`] in turn.
pub fn with_slc(schemes: &[Scheme]) -> Vec<Scheme> {
    let with_cache = |(scheme, cache): (Scheme, &&[&str])| {
        let has_units = scheme.iter().any(|set| set == "ftl.page.map_unit_bytes=1024");
        let cache = cache.iter().filter(|set| !has_units || !set.starts_with("slc_cache.on_die"));
        scheme.iter().cloned().chain(SLC_TIMES.iter().chain(cache).map(ToString::to_string)).collect()
    };
    with_rows(schemes).into_iter().zip(CACHES.iter().cycle()).map(with_cache).collect()
}

/// Rows of two passes, beside [`ROWS`].
const PASSES: [&str; 4] = [
    "device.pages_per_block=18",
    "device.cells.passes=2",
    "device.cells.first_pass_ns=250007",
    "device.nand.copyback=false",
];

/// Those of these schemes whose layer has rows of two passes, on a drive with [`ROWS`], and in turn one or two rows between the passes of
/// a row.
pub fn with_passes(schemes: &[Scheme]) -> Vec<Scheme> {
    let distances = ["device.cells.pass_distance=1", "device.cells.pass_distance=2"];
    let on_page = |scheme: &Scheme| load_scheme(scheme).ssd().ftl.name() == "page";
    let turns = schemes.iter().filter(|scheme| on_page(scheme)).zip(distances.into_iter().cycle());
    let with_sets = |(scheme, distance): (&Scheme, &str)| {
        let kept = scheme.iter().filter(|set| !set.starts_with("device.nand.copyback")).cloned();
        kept.chain(ROWS.iter().chain(&PASSES).chain([&distance]).map(ToString::to_string)).collect()
    };
    turns.map(with_sets).collect()
}

/// The same with one of [`CACHES`] in turn.
pub fn with_passes_and_slc(schemes: &[Scheme]) -> Vec<Scheme> {
    let with_cache = |(scheme, cache): (Scheme, &&[&str])| {
        let cache = cache.iter().filter(|set| !set.starts_with("slc_cache.on_die"));
        scheme.into_iter().chain(SLC_TIMES.iter().chain(cache).map(ToString::to_string)).collect()
    };
    with_passes(schemes).into_iter().zip(CACHES.iter().cycle()).map(with_cache).collect()
}

/// Whether the scheme is one of [`with_rows`].
pub fn has_rows(scheme: &[String]) -> bool {
    scheme.iter().any(|set| set == ROWS[1])
}

fn combinations() -> Vec<Scheme> {
    let named = |key: &str, names: Vec<&str>| -> Vec<Scheme> {
        names.iter().map(|name| vec![format!("{key}=\"{name}\"")]).collect()
    };
    let given = |sets: &[&[&str]]| -> Vec<Scheme> {
        sets.iter().map(|sets| sets.iter().map(ToString::to_string).collect()).collect()
    };
    let dimensions = [
        ftls(),
        named("gc.policy", gc::REGISTRY.iter().map(|entry| entry.name).collect()),
        named("wear.policy", wear::REGISTRY.iter().map(|entry| entry.name).collect()),
        named("device.nand.program_order", vec!["ascending", "any"]),
        given(&[&["device.nand.copyback=false"], &["device.nand.copyback=true"]]),
    ];
    let mut schemes = vec![Scheme::new()];
    for dimension in dimensions {
        schemes = product(&schemes, &dimension);
    }
    let says_how = |scheme: &Scheme| scheme.iter().any(|set| set.starts_with("gc.policy=") && !set.contains("greedy"));
    schemes.retain(|scheme| collects(&scheme[..1]) || !says_how(scheme));
    for scheme in &mut schemes {
        scheme.retain(|set| !set.starts_with("gc.policy=") || !set.contains("greedy"));
    }
    if let Ok(wanted) = std::env::var("FLASHWATT_FTL") {
        schemes.retain(|scheme| load_scheme(scheme).ssd().ftl.name() == wanted);
        assert!(!schemes.is_empty(), "FLASHWATT_FTL: no translation layer is called `{wanted}`");
    }
    schemes
}

fn product(a: &[Scheme], b: &[Scheme]) -> Vec<Scheme> {
    a.iter().flat_map(|a| b.iter().map(move |b| [&a[..], &b[..]].concat())).collect()
}

/// Options of translation layers that change what they do, beside those of the page map.
const OPTIONS: [(&str, &[&str]); 14] = [
    ("nftl", &["ftl.nftl.probe=\"none\""]),
    ("nftl", &["ftl.nftl.probe=\"one\""]),
    ("nftl", &["ftl=\"nftl\"", STRIPES]),
    ("bast", &["ftl.bast.partial_merges=false"]),
    ("bast", &["ftl.bast.replacement=\"compact\"", "ftl.bast.log_limit=0.9"]),
    ("bast", &["ftl.bast.replacement=\"compact\"", STRIPES]),
    ("bast", &["ftl=\"bast\"", STRIPES]),
    ("bast_star", &["ftl.bast_star.partial_merges=false"]),
    ("bast_star", &["ftl=\"bast_star\"", STRIPES]),
    ("fast", &["ftl.fast.out_of_order=\"merge\""]),
    ("fast", &["ftl.fast.out_of_order=\"merge\"", "ftl.fast.log_fraction=0.5"]),
    ("superblock", &["ftl.superblock.idle_merge_start_ns=400000", "ftl.superblock.idle_merge_gap_ns=100000"]),
    ("superblock", &["ftl.superblock.merges_at_once=3", "ftl.superblock.log_fraction=0.5", IDLE]),
    ("superblock", &["ftl.superblock.rows_in_memory=2", "ftl.superblock.log_fraction=0.5"]),
];
const IDLE: &str = "ftl.superblock.idle_merge_start_ns=1";
const STRIPES: &str = "device.block_stripe=\"page\"";

/// Every translation layer, with its options.
fn ftls() -> Vec<Scheme> {
    let mut all = Vec::new();
    for name in flashwatt_ssd::ftl::REGISTRY.iter().map(|entry| entry.name) {
        if name == "page" {
            for allocation in ["dynamic", "static"] {
                for frontiers in ["separate", "shared"] {
                    for unit in [4096, 1024] {
                        all.push(vec![
                            format!("ftl.page.allocation=\"{allocation}\""),
                            format!("ftl.page.frontiers=\"{frontiers}\""),
                            format!("ftl.page.map_unit_bytes={unit}"),
                        ]);
                    }
                }
            }
        } else if let Some(options) = demand_paged(name) {
            let least = "map_reserved_blocks=2";
            all.extend(options.iter().map(|options| {
                options.iter().chain([&least]).map(|option| format!("ftl.{name}.{option}")).collect::<Scheme>()
            }));
        } else {
            all.push(vec![format!("ftl=\"{name}\"")]);
            let of_it = OPTIONS.iter().filter(|(layer, _)| *layer == name);
            all.extend(of_it.map(|(_, sets)| sets.iter().map(ToString::to_string).collect::<Scheme>()));
        }
    }
    all
}

/// The options of a scheme with a cached map: tables of a few entries, translation pages of a few, and the least flash for
/// them.
fn demand_paged(name: &str) -> Option<&'static [&'static [&'static str]]> {
    match name {
        "dftl" => Some(&[
            &["cmt_entries=3", "entry_bytes=512"],
            &["cmt_entries=20", "entry_bytes=256", "cache=\"segmented_lru\"", "evict_page=true"],
            &["cmt_entries=1", "entry_bytes=512", "fetch_on_write=false", "allocation=\"static\"", "gc_channels=1"],
            &["cmt_entries=3", "entry_bytes=512", "frontiers=\"shared\""],
        ]),
        "rftl" => Some(&[
            &["cmt_entries=5", "entry_bytes=512", "replicas=1"],
            &["cmt_entries=9", "entry_bytes=512", "replicas=2", "choose=\"shortest_queue\"", "gc_channels=1"],
            &["cmt_entries=2", "entry_bytes=400", "replicas=0", "evict_page=false"],
            &["cmt_entries=5", "entry_bytes=512", "replicas=1", "choose=\"idle_or_original\""],
            &["cmt_entries=5", "entry_bytes=512", "replicas=1", "frontiers=\"shared\"", "gc_channels=1"],
            &["cmt_entries=5", "entry_bytes=512", "replicas=1", "choose=\"idle_or_original\"", "busy=\"channel\""],
            &["cmt_entries=4", "entry_bytes=512", "replicas=2", "busy=\"channel\""],
        ]),
        "tpftl" => Some(&[
            &["cmt_entries=12", "entry_bytes=512"],
            &["cmt_entries=2", "entry_bytes=300", "clean_first=false", "selective_threshold=1", "batch_update=false"],
        ]),
        _ => None,
    }
}

/// Channels that a scheme needs at least.
fn channels_min(scheme: &[String]) -> u64 {
    let replicas = scheme.iter().find_map(|set| set.strip_prefix("ftl.rftl.replicas="));
    1 + replicas.map_or(0, |replicas| replicas.parse().expect("a number"))
}

/// A tiny drive: layout and size drawn by `rng`, and as little spare flash as the configuration allows, or some more.
pub fn tiny(scheme: &[String], rng: &mut Rng, more: &[String]) -> Config {
    load_sets(&tiny_sets(scheme, rng, more))
}

/// The drive of overrides.
pub fn load_sets(sets: &[String]) -> Config {
    load("device.preset = \"limit\"", &sets.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The overrides of a tiny drive.
pub fn tiny_sets(scheme: &[String], rng: &mut Rng, more: &[String]) -> Vec<String> {
    let (channels, ways) = [(1, 1), (2, 1), (1, 2), (3, 1)][rng.below(4) as usize];
    let channels = channels_min(scheme).max(channels);
    let pages = 4 + rng.below(9);
    let reserved = 1 + rng.below(2);
    let low = reserved + 1 + rng.below(3);
    let has_backups =
        more.iter().any(|set| set.starts_with("device.nand.paired_pages=") && !set.contains("unprotected"));
    let has_journal = more.iter().any(|set| set == "write_buffer.protection=\"journal\"");
    let has_log = more.iter().any(|set| set.starts_with("recovery."));
    let kept = match (has_backups, has_journal) {
        (false, false) => 0,
        (true, false) if has_log => 5,
        (true, false) => 3,
        (false, true) => 6,
        (true, true) => 15, // of pairs a journal uses one page
    };
    let of_cache = if scheme.iter().any(|set| set.starts_with("slc_cache.static_bytes")) { 4 } else { 0 };
    let blocks = 2 * (low + 2) + 2 + rng.below(12) + kept + of_cache;
    let mut sets = vec![
        format!("device.channels={channels}"),
        format!("device.ways={ways}"),
        format!("device.pages_per_block={pages}"),
        format!("device.blocks_per_plane={blocks}"),
        format!("run.seed={}", rng.bits() >> 1),
        "wear.min_gap=2".to_string(),
        "workload.uniform.requests=1".to_string(),
    ];
    sets.extend(scheme.iter().chain(more).cloned());
    if collects(scheme) {
        sets.extend([format!("gc.low_watermark_blocks={low}"), format!("gc.reserved_blocks={reserved}")]);
    }
    let of_scheme = scheme.iter().rev().find_map(|set| set.strip_prefix("device.pages_per_block="));
    let pages = of_scheme.map_or(pages, |pages| 4 * pages.parse::<u64>().expect("a number"));
    let most = most_pages(&sets, channels * ways * blocks * pages);
    let logical = most - [0, 1, 7][rng.below(3) as usize].min(most - 1);
    let states = if starts_mapped(scheme) { &["filled", "empty", "mapped"][..] } else { &["filled", "empty"] };
    let precondition = states[rng.below(states.len() as u64) as usize];
    if precondition == "mapped" && collects(scheme) {
        // A block of each die for what was written before the run; and another one, as units smaller than a page ask for room in each.
        let key = "device.blocks_per_plane=";
        sets.iter_mut().filter(|set| set.starts_with(key)).for_each(|set| *set = format!("{key}{}", blocks + 2));
    }
    sets.extend([format!("device.logical_bytes={}", logical * PAGE), format!("run.precondition=\"{precondition}\"")]);
    sets
}

/// Does the scheme's translation layer collect blocks, so that it can be told how?
pub fn collects(scheme: &[String]) -> bool {
    load_scheme(scheme).ssd().ftl.collects()
}

/// Can a drive with the scheme's translation layer start with a place for every page?
pub fn starts_mapped(scheme: &[String]) -> bool {
    let mapped = [scheme, &["device.op_ratio=2".into(), "run.precondition=\"mapped\"".into()]].concat();
    flashwatt::config::load("device.preset = \"limit\"", "mapped", &mapped).is_ok()
}

pub fn load_scheme(scheme: &[String]) -> Config {
    let sets: Vec<&str> = scheme.iter().map(String::as_str).chain(["device.op_ratio=2"]).collect();
    load("device.preset = \"limit\"", &sets)
}

/// The largest logical size, in pages, that a configuration of a given number of physical pages accepts.
fn most_pages(sets: &[String], physical: u64) -> u64 {
    let fits = |pages: u64| {
        let size = format!("device.logical_bytes={}", pages * PAGE);
        flashwatt::config::load("device.preset = \"limit\"", "tiny", &[sets, &[size]].concat()).is_ok()
    };
    let (mut most, mut too_many) = (0, physical + 1);
    while too_many - most > 1 {
        let middle = most.midpoint(too_many);
        if fits(middle) { most = middle } else { too_many = middle }
    }
    assert!(most > 0, "no size fits {sets:?}");
    most
}

/// Requests of all kinds and sizes: single sectors and odd pieces, pages, long ones; at random, to a hot spot, in sequence;
/// now and then the whole drive is written, or a large part of it trimmed.
pub fn draw_request(rng: &mut Rng, drive_bytes: u64) -> Request {
    const SECTOR: u64 = 512;
    let kind = match rng.below(20) {
        0..12 => RequestKind::Write,
        12..18 => RequestKind::Read,
        _ => RequestKind::Trim,
    };
    let bytes = match rng.below(64) {
        0..40 => PAGE,
        40..48 => (1 + rng.below(15)) * SECTOR,
        48..60 => (1 + rng.below(8)) * PAGE,
        60..63 => (1 + rng.below(drive_bytes / SECTOR / 4)) * SECTOR,
        _ => drive_bytes,
    };
    let bytes = bytes.min(drive_bytes);
    let grain = if bytes % PAGE == 0 && rng.below(8) > 0 { PAGE } else { SECTOR };
    let places = (drive_bytes - bytes) / grain + 1;
    let place = if rng.below(2) == 0 { rng.below(places) } else { rng.below(places.div_ceil(8)) };
    Request::new(0, kind, place * grain, bytes)
}

/// Runs `test` for each of these schemes, several times with other seeds, on two processors. A failure says which scheme and seed it was.
pub fn for_each_scheme(schemes: &[Scheme], times: usize, test: impl Fn(&Scheme, u64) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        if at >= times * schemes.len() {
            return;
        }
        if only_case().is_some_and(|case| case != at) {
            continue;
        }
        let (scheme, seed) = (&schemes[at % schemes.len()], seed().wrapping_add(at as u64));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(scheme, seed)));
        assert!(outcome.is_ok(), "see above: case {at}, scheme {scheme:?}, seed {seed}");
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
}
