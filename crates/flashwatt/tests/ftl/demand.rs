//! The demand-paged schemes (RFTL's replicas: X35): the cost of a look-up, which entry goes, what collection and
//! trims do to the map, and the replicas of RFTL.

use std::collections::BTreeMap;

use crate::common::{
    self, Done, Log, PAGE, assert_within, half_write, load, play, preset, read, request, run_own, run_plain, write,
};
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::Config;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::{DieId, Lpn, Nanos, Ppn};
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_core::energy::Series;
use flashwatt_core::kernel::{End, Sim};
use flashwatt_ssd::blocks::BlockTable;
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::firmware::clockless::Clockless;
use flashwatt_ssd::ftl::{Cause, OpKind};
use flashwatt_ssd::nand::{Array, Geometry};
use flashwatt_ssd::observe::probe::{OpRecord, Probe, Purpose};

const MS: Nanos = 1_000_000;

/// A small filled drive of `channels` channels: 8 pages in a block, 8 entries in a translation page, no two delays
/// alike.
fn drive(channels: u32, sets: &[&str]) -> Config {
    let channels = format!("device.channels={channels}");
    let fixed = [
        &channels,
        "device.ways=1",
        "device.blocks_per_plane=40",
        "device.pages_per_block=8",
        "device.timing.read_ns=50021",
        "device.timing.program_ns=600043",
        "device.timing.erase_ns=3000017",
        "device.timing.command_ns=409",
        "device.timing.page_transfer_ns=3413",
        "device.timing.channel_switch_ns=0",
        "gc.low_watermark_blocks=3",
        "gc.reserved_blocks=1",
        "run.precondition=\"filled\"",
    ];
    let size = ["device.logical_bytes=524288", "ftl.dftl.entry_bytes=512"]; // 128 pages, 16 translation pages
    let is_dftl = !sets.iter().any(|set| set.starts_with("ftl.rftl") || set.starts_with("ftl.tpftl"));
    let size = if is_dftl { &size[..] } else { &size[..1] };
    load("device.preset = \"limit\"", &[&fixed[..], size, sets].concat())
}

/// Reads and programs of the map.
fn map_ops(log: &Log) -> (usize, usize) {
    (log.all(OpKind::Read, Cause::Map).len(), log.all(OpKind::Program, Cause::Map).len())
}

fn map_ops_of(requests: &[Request], entries: u32) -> (usize, usize) {
    map_ops(&play(&drive(4, &[&format!("ftl.dftl.cmt_entries={entries}")]), requests).1)
}

// ---------------------------------------------------------------- what a look-up costs

/// A hit costs nothing, a clean miss one read, a dirty victim two reads and a program.
#[test]
fn f57_hits_are_free_misses_read_and_dirty_victims_are_written() {
    let miss = [read(0, 3, 1)];
    assert_eq!(map_ops_of(&miss, 1), (1, 0), "a miss");
    assert_eq!(map_ops_of(&[miss[0], read(MS, 3, 1)], 1), (1, 0), "and a hit");
    assert_eq!(map_ops_of(&[miss[0], read(MS, 20, 1)], 1), (2, 0), "a clean victim");
    let dirty = [write(0, 3, 1), read(5 * MS, 20, 1)];
    assert_eq!(map_ops_of(&dirty, 1), (1 + 2, 1), "a dirty victim");
    assert_eq!(map_ops_of(&dirty, 2), (1 + 1, 0), "there is room for both");
    assert_eq!(map_ops_of(&[write(0, 3, 1), read(5 * MS, 4, 1)], 1), (1 + 1, 1), "both in one translation page");
}

/// Law 6d: the order of a miss's operations.
#[test]
fn f57_data_waits_for_the_map() {
    let (_, log) = play(&drive(4, &["ftl.dftl.cmt_entries=1"]), &[write(0, 3, 1), read(5 * MS, 20, 1)]);
    let reads = log.all(OpKind::Read, Cause::Map);
    let [_, victims, wanted] = &reads[..] else { panic!("{reads:?}") };
    let program = log.all(OpKind::Program, Cause::Map)[0];
    let data = log.all(OpKind::Read, Cause::Host)[0];
    assert!(program.t.start >= victims.t.end, "the translation page is read before it is written");
    assert!(data.t.start >= wanted.t.end, "data waits for the map");
    assert!(wanted.t.start < program.t.end, "which does not wait for the victim");
}

/// Writes of whole pages need no entry to begin with; writes of parts do, and read what is there already.
#[test]
fn writes_of_whole_pages_do_not_wait_for_the_map() {
    let (_, log) = play(&drive(4, &[]), &[write(0, 21, 1)]);
    let (fetch, program) = (log.all(OpKind::Read, Cause::Map)[0], log.all(OpKind::Program, Cause::Host)[0]);
    assert!(program.t.start < fetch.t.end);
    let (_, log) = play(&drive(4, &["ftl.dftl.fetch_on_write=false"]), &[write(0, 21, 1), read(5 * MS, 21, 1)]);
    assert_eq!(map_ops(&log), (0, 0), "nothing is fetched");
    let (_, log) = play(&drive(4, &["ftl.dftl.fetch_on_write=false"]), &[half_write(0, 21)]);
    let (fetch, old) = (log.all(OpKind::Read, Cause::Map)[0], log.all(OpKind::Read, Cause::Host)[0]);
    let program = log.all(OpKind::Program, Cause::Host)[0];
    assert!(fetch.t.end <= old.t.start && old.t.end <= program.t.start, "map, data, program");
}

/// Two reads of one translation page at once: the second's data is not read before the first's translation read has ended;
/// neither is that of a hit on the entry that is on its way.
#[test]
fn hit_under_miss_waits_for_the_map() {
    for (second, map_reads) in [(0, 1), (1, 2)] {
        let (_, log) = play(&drive(4, &[]), &[read(0, 0, 1), read(0, second, 1)]);
        let (map, data) = (log.all(OpKind::Read, Cause::Map), log.all(OpKind::Read, Cause::Host));
        assert_eq!((map.len(), data.len()), (map_reads, 2));
        assert!(data[1].t.start >= map[0].t.end, "page {second}");
    }
    let (_, log) = play(&drive(4, &[]), &[read(0, 0, 4)]);
    assert_eq!(map_ops(&log), (1, 0), "one read does for a request");
}

/// Lazy write-back: n changes of an entry in memory are one program of its translation page when it goes.
#[test]
fn f59_changes_are_written_back_once() {
    for n in [1, 5, 20] {
        let writes = (0..n).map(|i| write(i * 2 * MS, 3, 1));
        let requests: Vec<Request> = writes.chain([read(100 * MS, 20, 1)]).collect();
        assert_eq!(map_ops_of(&requests, 1), (1 + 2, 1), "{n} writes");
    }
}

/// With `evict_page` the other dirty entries of the page are written with the victim's and stay, clean.
#[test]
fn dirty_entries_of_a_page_leave_together_if_they_are_told_to() {
    let writes = (0..4).map(|i| write(i * 2 * MS, i, 1));
    let reads = (0..4).map(|i| read((20 + i) * MS, 20 + 8 * i, 1));
    let requests: Vec<Request> = writes.chain(reads).collect();
    let programs = |evict: bool| {
        let sets = ["ftl.dftl.cmt_entries=4".to_string(), format!("ftl.dftl.evict_page={evict}")];
        map_ops(&play(&drive(4, &sets.each_ref().map(String::as_str)), &requests).1).1
    };
    assert_eq!((programs(false), programs(true)), (4, 1));
}

// ---------------------------------------------------------------- hit ratios, and none

/// With room for the whole map the data operations are the page FTL's, if both have as many blocks for data; and
/// only the demand-paged scheme has operations of the map.
#[test]
fn f60_with_the_whole_map_in_memory_data_operations_are_those_of_the_page_ftl() {
    let run = |ftl: &str, blocks: u32| {
        let sets = [
            format!("device.blocks_per_plane={blocks}"),
            "device.planes=1".into(),
            "device.channels=2".into(),
            "device.ways=2".into(),
            "device.pages_per_block=16".into(),
            format!("device.logical_bytes={}", 4 * 48 * 16 * PAGE),
            "run.precondition=\"empty\"".into(), // no translation page is on flash: none is read
            "gc.policy=\"fifo\"".into(),         // greedy's choice among equals is by number, and numbers differ
            "workload.uniform.requests=20000".into(),
            "workload.uniform.read_fraction=0.3".into(),
            ftl.into(),
        ];
        run_plain(&preset("limit", &sets.each_ref().map(String::as_str)))
    };
    let (page, dftl) = (run("ftl=page", 60), run("ftl=dftl", 64)); // 4 blocks of a die are for the map: 1 + 3
    let counts = |r: &Report| {
        let of = |c: &flashwatt::report::ssd::Counts| [c.host, c.gc];
        [of(&r.ssd().flash.reads), of(&r.ssd().flash.programs), of(&r.ssd().flash.erases)]
    };
    assert!(page.ssd().flash.erases.gc > 100 && page.ssd().flash.programs.gc > 100, "there is collection");
    assert_eq!(counts(&page), counts(&dftl));
    assert_eq!(page.latency_ns.all.mean, dftl.latency_ns.all.mean);
    assert_eq!((dftl.ssd().flash.reads.map, dftl.ssd().flash.programs.map), (0, 0));
    let small = run("ftl.dftl.cmt_entries=100", 64);
    assert!(small.ssd().energy_by_cause_j.map > 0.0 && page.ssd().energy_by_cause_j.map == 0.0);
}

/// Theory: under uniform access each entry is as likely to be in memory as any other: the hit ratio is the share of them
/// that there is room for.
#[test]
fn uniform_access_hits_in_proportion_to_the_table() {
    for (share, more) in [(0.25, "ftl.dftl.cache=\"lru\""), (0.5, "ftl.dftl.cache=\"segmented_lru\"")] {
        let sets = [
            "device.channels=2".to_string(),
            "device.ways=1".into(),
            "device.op_ratio=0.4".into(),
            format!("device.logical_bytes={}", 8192 * PAGE),
            "workload.uniform.requests=260000".into(),
            "workload.uniform.read_fraction=0.9".into(),
            "run.warmup.requests=60000".into(),
            format!("ftl.dftl.cmt_entries={}", 8192.0 * share),
            more.into(),
        ];
        let ratio = run_plain(&preset("limit", &sets.each_ref().map(String::as_str)))
            .ssd()
            .ftl
            .map_hit_ratio
            .expect("there are look-ups");
        assert_within(ratio, share, 0.01, more);
    }
}

/// X18: hit ratios of the stand-ins at 1/64 of the size (8 MiB / 64 of 8-byte entries) are those published; the map
/// takes a small part of the energy of the host's operations where hits are many, and a large one where they are few.
#[test]
fn f61_stand_ins_hit_as_published() {
    let map_share = |(name, published): (&str, f64)| {
        let sets = [
            format!("workload.standin.name={name}"),
            "workload.standin.scale=0.015625".into(),
            "ftl.dftl.cmt_entries=16384".into(),
            "ftl.dftl.evict_page=false".into(), // a write-back for each dirty victim
        ];
        let report = run_plain(&preset("energysim", &sets.each_ref().map(String::as_str)));
        let percent = 100.0 * report.ssd().ftl.map_hit_ratio.expect("there are look-ups");
        assert!((percent - published).abs() < 1.5, "{name}: {percent} % of {published} %");
        assert_eq!(report.ssd().ftl.mapping_bytes, 16384 * 8 + 4 * report_tps(&report), "table and directory");
        report.ssd().energy_by_cause_j.map / report.ssd().energy_by_cause_j.host
    };
    let shares = [("financial1", 98.5), ("financial2", 97.8), ("msnfs", 25.3)].map(map_share);
    let [financial1, financial2, msnfs] = shares;
    assert!(financial1 < 0.01 && financial2 < 0.01 && msnfs > 0.4, "{shares:?}");
}

/// Translation pages of the drive of a report: 512 entries in each.
fn report_tps(report: &Report) -> u64 {
    (report.config.logical_bytes() / PAGE).div_ceil(512)
}

// ---------------------------------------------------------------- collection and trims

/// Collection: pages whose entries are in memory change there; the translation pages of the others are written anew once
/// for a victim, before it is erased.
#[test]
fn collection_writes_a_translation_page_once() {
    // One die. A block holds pages of one translation page; every other page of it is overwritten, and the rest moves.
    let sets = ["ftl.dftl.cmt_entries=1", "device.blocks_per_plane=27", "gc.policy=\"fifo\""];
    let config = drive(1, &sets);
    let writes: Vec<Request> = (0..64).map(|i| write(i * 40 * MS, 2 * i, 1)).collect();
    let (report, log) = play(&config, &writes);
    let copies = log.ops.iter().filter(|d| d.op.kind == OpKind::Program && d.op.cause == Cause::Gc).count();
    let erases = log.all(OpKind::Erase, Cause::Gc);
    assert!(erases.len() >= 3 && copies >= 4 * erases.len(), "{} erases, {copies} copies", erases.len());
    let rewrites = log.all(OpKind::Read, Cause::Map);
    let rewrites = rewrites.iter().filter(|d| d.op.request.as_background().is_some() && !d.op.turns_into_program());
    let rewrites = rewrites.count(); // reads that are not of copies of translation pages
    assert!((erases.len()..=2 * erases.len()).contains(&rewrites), "{rewrites} for {} victims", erases.len());
    assert!(report.ssd().flash.programs.map as usize >= rewrites);
}

/// A trim: entries in memory change there, translation pages of the others are written anew in the background, each once.
#[test]
fn trims_reach_the_map_on_flash() {
    let trim = request(MS, RequestKind::Trim, 0, 20);
    let reads = (0..20).map(|page| read(50 * MS, page, 1));
    let requests: Vec<Request> = [read(0, 3, 1), trim].into_iter().chain(reads).collect();
    let (report, log) =
        play(&drive(4, &["ftl.dftl={ cmt_entries = 4, cache = \"lru\", evict_page = false }"]), &requests);
    assert_eq!(report.ssd().flash.unwritten_reads, 20);
    let background = log.ops.iter().filter(|d| d.op.request.as_background().is_some());
    assert_eq!(background.filter(|d| d.op.kind == OpKind::Program).count(), 3, "translation pages 0, 1 and 2");
    assert_eq!(log.all(OpKind::Program, Cause::Map).len(), 3 + 1, "and page 3's entry when it goes");
}

// ---------------------------------------------------------------- replicas

/// An RFTL drive of `channels` channels, with small translation pages and a small table.
fn replicated(channels: u32, replicas: u32, sets: &[&str]) -> Config {
    let replicas = format!("ftl.rftl.replicas={replicas}");
    drive(channels, &[&["ftl.rftl.entry_bytes=512", "ftl.rftl.cmt_entries=12", &replicas], sets].concat())
}

fn fresh(config: &Config) -> (Geometry, Firmware, Array) {
    let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
    let mut array = Array::new(geometry.clone(), config.ssd().device.nand.program_order);
    let mut firmware = Firmware::new(&config.ssd().ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry);
    crate::common::fill(&mut firmware, &mut array);
    (geometry, firmware, array)
}

/// After any operations and collections the copies of every translation page are valid, know what they are,
/// and lie on channels (c + k) mod C.
#[test]
fn f97_f100_copies_lie_on_channels_of_their_own() {
    for (channels, replicas) in [(2, 1), (4, 1), (4, 2), (4, 3)] {
        let config = replicated(channels, replicas, &["device.ways=2"]);
        let (geometry, mut firmware, mut array) = fresh(&config);
        let mut rng = Rng::new(u64::from(replicas));
        let mut clockless = Clockless::new(&geometry, &mut firmware, &mut array);
        for _ in 0..3000 {
            let kind = match rng.below(8) {
                0 => RequestKind::Trim,
                1..4 => RequestKind::Read,
                _ => RequestKind::Write,
            };
            clockless.request(&request(0, kind, rng.below(128), 1)).expect("there is room");
        }
        let map = clockless.firmware.ftl.map_pages();
        let pages = map.len() / (replicas as usize + 1);
        assert_eq!(map.len(), 16 * (replicas as usize + 1), "all copies of 16 translation pages");
        for (at, &ppn) in map.iter().enumerate() {
            let (copy, page) = ((at / pages) as u32, at % pages);
            let (channel, original) = (geometry.channel_of(geometry.die_of(ppn)), geometry.die_of(map[page]));
            assert_eq!(channel.0, (geometry.channel_of(original).0 + copy) % channels);
            assert!(clockless.firmware.blocks.is_valid(ppn));
            assert_eq!(clockless.firmware.blocks.lpn_at(ppn), Some(Lpn(geometry.logical_units + at as u32)));
        }
        assert!(array.erase_counts().sum::<u32>() > 100, "there was collection");
    }
}

/// More replicas than other channels are refused.
#[test]
fn f97_too_many_replicas_are_refused() {
    let sets = ["device.channels=2".to_string(), "ftl.rftl.replicas=2".to_string()];
    let refused = flashwatt::config::load("device.preset = \"rftl-4g\"", "test.toml", &sets).expect_err("2 of 2");
    let refused = refused.to_string();
    assert!(refused.contains("ftl.rftl.replicas") && refused.contains("too many replicas"), "{refused}");
}

/// If the original's die has something to do the map is read from a replica whose die is idle; if none is, from the
/// first that becomes so.
#[test]
fn f98_a_busy_original_is_read_from_an_idle_replica() {
    // Page p lies on die p mod 2; translation page 0 and its replica on dies 0 and 1. Entries of pages 16 and 17 are in
    // memory, so that reads of those keep the dies busy.
    let warm = [read(0, 16, 1), read(0, 17, 1)];
    let map_die_by = |choose: &str, busy: &[Request]| {
        let requests: Vec<Request> = warm.iter().chain(busy).copied().chain([read(MS, 4, 1)]).collect();
        let (_, log) = play(&replicated(2, 1, &[choose]), &requests);
        log.all(OpKind::Read, Cause::Map).last().map(|d| d.op.at.die)
    };
    let map_die = |busy: &[Request]| map_die_by("ftl.rftl.choose=\"idle\"", busy);
    assert_eq!(map_die(&[]), Some(DieId(0)), "the original is idle");
    assert_eq!(map_die(&[read(MS, 16, 1)]), Some(DieId(1)), "the original is busy");
    assert_eq!(map_die(&[read(MS, 17, 1)]), Some(DieId(0)), "only the replica is busy");
    let (zero, one) = (read(MS, 16, 1), read(MS, 17, 1));
    assert_eq!(map_die(&[zero, one, one]), Some(DieId(0)), "both are: the original first becomes idle");
    assert_eq!(map_die(&[zero, zero, one]), Some(DieId(1)), "both are: the replica does");
    let original = "ftl.rftl.choose=\"idle_or_original\"";
    assert_eq!(map_die_by(original, &[zero]), Some(DieId(1)), "an idle replica");
    assert_eq!(map_die_by(original, &[zero, zero, one]), Some(DieId(0)), "both are busy: it waits for the original");
    let shortest = replicated(2, 1, &["ftl.rftl.choose=\"shortest_queue\""]);
    let busy = [warm[0], warm[1], read(MS, 16, 1), read(MS, 16, 1), read(MS, 17, 1), read(MS, 4, 1)];
    let (_, log) = play(&shortest, &busy);
    assert_eq!(log.all(OpKind::Read, Cause::Map).last().map(|d| d.op.at.die), Some(DieId(1)), "one waits, not two");
}

/// By channel, a copy is busy while another die of its channel works, and while the bus carries data of one (the paper's
/// Algorithm 1). By die it is not.
#[test]
fn a_copy_is_busy_with_its_channel() {
    // Page p lies on die p mod 4: dies 0 and 2 on channel 0, dies 1 and 3 on channel 1. Translation page 0 lies on die 0, its
    // replica on a die of channel 1. Entries of pages 16 to 19 are in memory.
    let map_die = |busy_by: &str, busy: &[Request]| {
        let warm = [16, 17, 18, 19].map(|page| read(0, page, 1));
        let requests: Vec<Request> = warm.iter().chain(busy).copied().chain([read(MS, 4, 1)]).collect();
        let busy_by = format!("ftl.rftl.busy=\"{busy_by}\"");
        let config = replicated(2, 1, &["device.ways=2", "ftl.rftl.choose=\"idle_or_original\"", &busy_by]);
        let (_, log) = play(&config, &requests);
        log.all(OpKind::Read, Cause::Map).last().map(|d| d.op.at.die)
    };
    let replica = map_die("die", &[read(MS, 16, 1)]);
    assert!(replica == Some(DieId(1)) || replica == Some(DieId(3)), "{replica:?}");
    let other = read(MS, 18, 1);
    for (busy_by, busy, expected) in [
        ("die", vec![], Some(DieId(0))),
        ("channel", vec![], Some(DieId(0))),
        ("die", vec![other], Some(DieId(0))),
        ("channel", vec![other], replica),
        ("channel", vec![read(MS, 16, 1)], replica),
        // Both channels are busy: the original, whose die is idle.
        ("channel", vec![other, read(MS, 17, 1), read(MS, 19, 1)], Some(DieId(0))),
    ] {
        assert_eq!(map_die(busy_by, &busy), expected, "{busy_by}, {busy:?}");
    }
}

/// When a copy is busy is not asked for the shortest queue.
#[test]
fn busy_without_effect_is_refused() {
    let sets = ["ftl.rftl.choose=\"shortest_queue\"".to_string(), "ftl.rftl.busy=\"channel\"".to_string()];
    let refused = flashwatt::config::load("device.preset = \"rftl-4g\"", "test.toml", &sets).expect_err("no effect");
    let refused = refused.to_string();
    assert!(refused.contains("ftl.rftl.busy") && refused.contains("idle_or_original"), "{refused}");
}

/// X35: a dirty victim's translation page is written n + 1 times, and so are all of many.
#[test]
fn f99_x35_every_copy_is_written() {
    for n in 0..=3 {
        let config = replicated(4, n, &["ftl.rftl.cmt_entries=1", "ftl.rftl.evict_page=false"]);
        let (_, log) = play(&config, &[write(0, 3, 1), read(5 * MS, 20, 1)]);
        let programs = log.all(OpKind::Program, Cause::Map);
        assert_eq!(programs.len() as u32, n + 1);
        let mut channels: Vec<u32> = programs.iter().map(|d| d.op.at.die.0 % 4).collect();
        channels.sort_unstable();
        channels.dedup();
        assert_eq!(channels.len() as u32, n + 1, "on channels of their own");
    }
    let written = |n: u32| {
        let sets = ["device.blocks_per_plane=60", "workload.uniform.requests=6000"];
        let config = replicated(4, n, &sets);
        let log = run_own(&config).1;
        let of_map = |kind: OpKind| log.ops.iter().filter(move |d| d.op.cause == Cause::Map && d.op.kind == kind);
        let copies = of_map(OpKind::Read).filter(|d| d.op.turns_into_program()).count();
        (of_map(OpKind::Program).count() - copies) as f64 // collection of translation pages aside
    };
    let base = written(0);
    assert!(base > 2000.0, "{base} evictions");
    for n in 1..=3 {
        assert_within(written(n) / base, f64::from(n) + 1.0, 0.05, "N(n)/N(0)");
    }
}

/// With the same keys RFTL without replicas is DFTL: the same operation log, byte for byte, and the same report but for
/// name and configuration.
#[test]
fn f102_without_replicas_it_is_dftl() {
    let run = |name: &str, own: &[&str]| {
        let keys = ["entry_bytes=64", "cmt_entries=50", "evict_page=true", "gc_channels=2", "cache=\"segmented_lru\""];
        let keys: Vec<String> = keys.iter().chain(own).map(|key| format!("ftl.{name}.{key}")).collect();
        let workload = [
            "device.channels=4",
            "device.ways=2",
            "device.blocks_per_plane=40",
            "device.pages_per_block=32",
            "device.op_ratio=0.4",
            "workload.uniform.requests=5000",
            "workload.uniform.read_fraction=0.5",
            "workload.uniform.request_bytes=6144",
            "workload.uniform.align_bytes=2048",
            "workload.uniform.trim_fraction=0.05",
        ];
        let sets: Vec<&str> = workload.iter().copied().chain(keys.iter().map(String::as_str)).collect();
        let log = std::env::temp_dir().join(format!("flashwatt-f102-{}-{name}.csv", std::process::id()));
        let options = RunOptions { op_log: Some(log.clone()), ..RunOptions::default() };
        let report = flashwatt::run(&preset("limit", &sets), &options, &mut |_| true).expect("it runs");
        let bytes = std::fs::read(&log).expect("the log is there");
        drop(std::fs::remove_file(&log));
        let mut report = serde_json::to_value(&report).expect("a report is JSON");
        for key in ["config", "config_sha256"] {
            report.as_object_mut().and_then(|report| report.remove(key)).expect("it is there");
        }
        let found = report["ftl"]["name"].take();
        assert_eq!(found, name);
        let published = report["ftl"]["mapping_model_bytes"].take(); // a formula for DFTL alone, chosen by name
        assert_eq!(published.is_number(), name == "dftl");
        (bytes, report)
    };
    let (dftl, rftl) = (run("dftl", &[]), run("rftl", &["replicas=0"]));
    assert!(dftl.0.windows(4).any(|w| w == b",map") && dftl.1["flash"]["erases"]["gc"].as_u64() > Some(10));
    assert!(dftl.0 == rftl.0, "the operation logs differ");
    assert_eq!(dftl.1, rftl.1);
}

/// At most a set number of channels collect at a time, and the run does not come to a halt.
#[test]
fn f103_few_channels_collect_at_a_time() {
    let most = |limit: u32| {
        let sets = [
            format!("ftl.rftl.gc_channels={limit}"),
            "ftl.rftl.entry_bytes=64".into(),
            "ftl.rftl.cmt_entries=64".into(),
            "device.channels=6".into(),
            "device.ways=2".into(),
            "device.blocks_per_plane=30".into(),
            "device.pages_per_block=16".into(),
            "device.op_ratio=0.5".into(),
            "workload.uniform.requests=8000".into(),
        ];
        let (_, log) = run_own(&preset("limit", &sets.each_ref().map(String::as_str)));
        let is_gc = |d: &&Done| d.op.cause == Cause::Gc || d.op.kind == OpKind::Erase;
        let mut edges: Vec<(Nanos, i32, usize)> = Vec::new();
        for done in log.ops.iter().filter(is_gc) {
            let channel = (done.op.at.die.0 % 6) as usize;
            edges.extend([(done.t.start, 1, channel), (done.t.end, -1, channel)]);
        }
        edges.sort_unstable();
        let (mut busy, mut most) = ([0; 6], 0);
        for (_, change, channel) in edges {
            busy[channel] += change;
            most = most.max(busy.iter().filter(|&&ops| ops > 0).count());
        }
        most
    };
    assert_eq!((most(1), most(2)), (1, 2));
    assert!(most(0) > 2, "without a limit more do");
}

// ---------------------------------------------------------------- a power cut

/// Follows every copy of every translation page through programs and erases: which version of it lies where.
#[derive(Default)]
struct Copies {
    logical: u32,
    pages: u32,
    copies: u32,
    units_per_block: u32,
    /// Of each copy of each page, as it is planned: how often it has been written.
    planned: Vec<u32>,
    next_seq: u64,
    /// What an operation that has not ended will put where.
    pending: BTreeMap<u64, (Ppn, u32, u32)>,
    /// What lies where: copy of a page, and version.
    flash: BTreeMap<u32, (u32, u32)>,
    checks: u64,
    torn: u64,
}

impl Copies {
    fn new(geometry: &Geometry, firmware: &Firmware, copies: u32) -> Self {
        let map = firmware.ftl.map_pages();
        Copies {
            logical: geometry.logical_units,
            pages: map.len() as u32 / copies,
            copies,
            units_per_block: geometry.units_per_block,
            planned: vec![0; map.len()],
            next_seq: firmware.plan.next().0,
            flash: map.iter().enumerate().map(|(at, ppn)| (ppn.0, (at as u32, 0))).collect(),
            ..Copies::default()
        }
    }

    fn follow(&mut self, kind: OpKind, ppn: Ppn, seq: u64, blocks: &BlockTable) {
        let Some(at) = blocks.lpn_at(ppn).and_then(|lpn| lpn.0.checked_sub(self.logical)) else { return };
        let version = &mut self.planned[at as usize];
        *version += u32::from(kind == OpKind::Program);
        self.pending.insert(seq, (ppn, at, *version));
    }

    /// Of every page some version is there whole; it is torn if another is there in part.
    fn check(&mut self) {
        let mut there: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for &(at, version) in self.flash.values() {
            there.entry((at % self.pages, version)).or_default().push(at / self.pages);
        }
        let mut whole = vec![0; self.pages as usize];
        for ((page, _), copies) in &mut there {
            copies.sort_unstable();
            copies.dedup();
            whole[*page as usize] += u32::from(copies.len() as u32 == self.copies);
            self.torn += u64::from((copies.len() as u32) < self.copies);
        }
        assert!(whole.iter().all(|&versions| versions > 0), "a translation page is there in no version whole");
        self.checks += 1;
    }
}

impl Probe for Copies {
    type Recorder = Option<Box<Series>>;

    fn planned(&mut self, _purpose: Purpose, firmware: &Firmware) {
        for op in firmware.plan.ops() {
            if op.cause == Cause::Map && matches!(op.kind, OpKind::Program | OpKind::Copy | OpKind::Copyback) {
                self.follow(op.kind, op.ppn, self.next_seq, &firmware.blocks);
            }
            self.next_seq += 1;
        }
    }

    fn op_ended(&mut self, record: &OpRecord) {
        let op = record.op;
        match op.kind {
            OpKind::Program | OpKind::Copyback => {
                let Some((ppn, at, version)) = self.pending.remove(&op.seq) else { return };
                self.flash.insert(ppn.0, (at, version));
            }
            OpKind::Erase => {
                let first = op.at.block.0 * self.units_per_block;
                self.flash.retain(|&ppn, _| ppn < first || ppn >= first + self.units_per_block);
            }
            _ => return,
        }
        self.check();
    }
}

/// All or nothing: at any time, and so after a power cut at any time, the array holds all copies of one version of
/// every translation page: no old copy is erased before the last new one is on flash.
#[test]
fn f101_copies_are_replaced_all_or_none() {
    for (replicas, copyback) in [(1, false), (2, true), (3, false)] {
        let sets = [
            format!("device.nand.copyback={copyback}"),
            "ftl.rftl.map_reserved_blocks=2".into(),
            "workload.uniform.requests=4000".into(),
            "workload.uniform.read_fraction=0.2".into(),
            "device.blocks_per_plane=30".into(),
        ];
        let config = replicated(4, replicas, &sets.each_ref().map(String::as_str));
        let (geometry, firmware, array) = fresh(&config);
        let mut workload = flashwatt_workload::open(&config.workload, config.logical_bytes(), 1).expect("uniform");
        let copies = Copies::new(&geometry, &firmware, replicas + 1);
        let probe = (copies, flashwatt_ssd::observe::check::Shadow::new(&geometry, &firmware));
        let sim =
            Sim::new(&config.run.stages(), Ssd::new(config.ssd(), firmware, array, None, probe), workload.as_mut());
        let (outcome, ssd) = sim.run(&mut |_| true);
        let (accounts, _, array) = ssd.into_parts();
        assert!(matches!(outcome.end, End::Complete));
        let copies = &accounts.probe.0;
        assert!(copies.checks > 5000 && copies.torn > 1000, "there are moments with a version in part");
        assert!(array.erase_counts().sum::<u32>() > 100, "there was collection");
    }
}

// ---------------------------------------------------------------- TPFTL

/// TPFTL's prefetching: one miss for a request, and few for sequential reads of single pages.
#[test]
fn tpftl_misses_once_for_a_request() {
    let config = drive(4, &["ftl.tpftl.entry_bytes=512", "ftl.tpftl.cmt_entries=16"]);
    let (report, log) = play(&config, &[read(0, 0, 8), read(MS, 8, 4)]);
    assert_eq!(map_ops(&log), (2, 0));
    assert_within(report.ssd().ftl.map_hit_ratio.expect("there are look-ups"), 10.0 / 12.0, 1e-12, "all but the first");
}

/// On a workload with locality in space TPFTL writes and reads the map less than DFTL with a table of as many entries.
#[test]
fn tpftl_touches_the_map_less_than_dftl() {
    let run = |name: &str| {
        let sets = [
            "workload.standin.name=homes".to_string(),
            "workload.standin.scale=0.015625".into(),
            format!("ftl.{name}.cmt_entries=512"),
        ];
        let report = run_plain(&preset("energysim", &sets.each_ref().map(String::as_str)));
        (report.ssd().flash.reads.map, report.ssd().flash.programs.map)
    };
    let (dftl, tpftl) = (run("dftl"), run("tpftl"));
    assert!(tpftl.0 < dftl.0 && tpftl.1 < dftl.1, "{tpftl:?} against {dftl:?}");
}

/// Every preset has room for each of the schemes with their defaults; only RFTL wants a second channel, and none has an SLC cache.
#[test]
fn presets_have_room_for_the_map() {
    for name in common::PRESETS.into_iter().filter(|name| preset(name, &[]).ssd().slc_cache.is_none()) {
        let channels = preset(name, &[]).ssd().device.channels;
        for ftl in ["dftl", "rftl", "tpftl"].into_iter().filter(|ftl| channels > 1 || *ftl != "rftl") {
            let loaded = flashwatt::config::load(&format!("device.preset = \"{name}\""), "t", &[format!("ftl={ftl}")]);
            assert!(loaded.is_ok(), "{name}, {ftl}: {}", loaded.expect_err("seen"));
        }
    }
}
