//! Contracts that every combination of registered parts keeps: the map holds the host's data, blocks are accounted for,
//! every request completes, the oldest operation ends, and the rules of NAND hold. The loops go over the registries: a new
//! translation layer, victim policy or wear levelling is enrolled by being registered.

mod neutral;
mod rows;
pub mod schemes;
mod snapshots;

use self::schemes::{Scheme, draw_request, for_each_scheme, load_scheme, schemes, some_schemes, tiny};
use crate::common;
use crate::common::shadow::{Oracle, Shadow};
use crate::common::{Done, Log, PAGE, PROBE_DRIVE, Script, delays, load, read, run_logged, tier, write};
use flashwatt::Error;
use flashwatt::RunOptions;
use flashwatt::config::{Config, Precondition, ProgramOrder};
use flashwatt_base::rng::Rng;
use flashwatt_base::units::{DieId, Nanos};
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, SourceKind, Tag, Workload};
use flashwatt_core::kernel::{End, Sim};
use flashwatt_ssd::controller::policies;
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::firmware::clockless::Clockless;
use flashwatt_ssd::ftl::schemes::page::spare_blocks_per_die;
use flashwatt_ssd::ftl::{Cause, OpKind};
use flashwatt_ssd::nand::reserve::{Reserve, Runs};
use flashwatt_ssd::nand::{Array, Geometry};
use proptest::prelude::*;

/// A drive in its start state.
fn build(config: &Config) -> (Geometry, Firmware, Array, bool) {
    let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
    let (mut firmware, mut array) = (
        Firmware::new(&config.ssd().ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry),
        Array::new(geometry.clone(), config.ssd().device.nand.program_order),
    );
    let filled = config.run.precondition == Precondition::Filled;
    if filled {
        common::fill(&mut firmware, &mut array);
    }
    if config.run.precondition == Precondition::Mapped {
        firmware.keep_blocks(Runs::Mapped).expect("a fresh drive has them");
        let Firmware { ftl, blocks, reserved, .. } = &mut firmware;
        assert!(ftl.fill_mapped(blocks, &mut array, &reserved[Reserve::Before]), "the layer can start so");
    }
    (geometry, firmware, array, filled)
}

// ---------------------------------------------------------------- without a clock

/// Requests for each translation layer without a clock in the soak, over all its schemes together: this number with the default victim
/// policy, and a tenth of it with each other one.
const REQUESTS: usize = 1_000_000;
/// Least requests of a scheme, which are all in `make test`: on the tiny drives that is some twenty times what fills them.
const LEAST_REQUESTS: usize = 2_000;

/// The part of them that falls to each of the schemes.
fn requests_of(schemes: &[Scheme]) -> impl Fn(&Scheme) -> usize + use<> {
    let kind = |scheme: &Scheme| {
        let config = load_scheme(scheme);
        (config.ssd().ftl.name(), config.ssd().gc.policy.entry.name)
    };
    let kinds: Vec<_> = schemes.iter().map(kind).collect();
    move |scheme| {
        let mine = kind(scheme);
        let alike = kinds.iter().filter(|&&other| other == mine).count();
        let share = if mine.1 == "greedy" { 1 } else { 10 };
        tier::size(LEAST_REQUESTS, REQUESTS / share / alike)
    }
}

/// A soak takes hours: what has come through is worth knowing before the end.
#[allow(clippy::print_stderr)] // progress of a long test
fn tell(scheme: &Scheme, requests: usize) {
    if tier::soak().is_some() {
        eprintln!("{requests:>11} requests: {}", scheme.join(" "));
    }
}

/// Law 4: millions of requests without a clock: the map holds the host's data, every page has one valid address
/// that knows it, all counts are right, free + open + closed blocks are all blocks, and no write is ever without room.
#[test]
fn maps_and_blocks_without_a_clock() {
    let schemes = some_schemes();
    let requests_of = requests_of(&schemes);
    for_each_scheme(&schemes, 1, |scheme, seed| {
        let requests = requests_of(scheme);
        let mut rng = Rng::new(seed);
        let config = tiny(scheme, &mut rng, &[]);
        let (geometry, mut firmware, mut array, filled) = build(&config);
        let mut oracle = Oracle::new(&geometry, filled);
        let mut clockless = Clockless::new(&geometry, &mut firmware, &mut array);
        for at in 0..requests {
            let request = draw_request(&mut rng, config.logical_bytes());
            oracle.apply(&request);
            assert!(clockless.request(&request).is_ok(), "request {at} finds no room");
            if at % 64 == 0 || at + 1 == requests {
                oracle.check(clockless.firmware, clockless.array);
            }
        }
        tell(scheme, requests);
    });
}

/// Law 4: read your writes: every physical page's content followed through programs, copies, moves and erases.
#[test]
fn contents_without_a_clock() {
    for_each_scheme(&some_schemes(), tier::size(1, 1), |scheme, seed| {
        let mut rng = Rng::new(!seed);
        let config = tiny(scheme, &mut rng, &[]);
        let (geometry, mut firmware, mut array, filled) = build(&config);
        let mut shadow = Shadow::new(&geometry, &mut firmware, &mut array, filled)
            .mapped(config.run.precondition == Precondition::Mapped);
        for _ in 0..400 {
            shadow.request(&draw_request(&mut rng, config.logical_bytes()));
        }
        shadow.check();
    });
}

// ---------------------------------------------------------------- with a clock

/// Everything that a timed engine can be told besides the scheme.
fn draw_timing(rng: &mut Rng) -> Vec<String> {
    let policy = policies::REGISTRY[rng.below(policies::REGISTRY.len() as u64) as usize].name;
    let mut sets = vec![
        format!("controller.policy=\"{policy}\""),
        format!("gc.preemptible={}", rng.below(2) == 0),
        format!("device.host_link.queue_depth={}", [1, 2, 8, 32][rng.below(4) as usize]),
        format!("device.timing.channel_switch_ns={}", [0, 0, 30_000][rng.below(3) as usize]),
        format!("device.timing.page_transfer_ns={}", [1, 3_413, 82_000][rng.below(3) as usize]),
        format!("device.timing.command_ns={}", [0, 400][rng.below(2) as usize]),
    ];
    if rng.below(2) == 0 {
        sets.push("device.host_link.bandwidth_mb_s=500".to_string());
    }
    if rng.below(2) == 0 {
        sets.push("controller.bus_order=\"command_first\"".to_string());
    }
    if rng.below(4) == 0 {
        sets.push("controller.power_budget_ma=685".to_string()); // two dies of the preset `limit`
    }
    if rng.below(3) == 0 {
        let fraction = [0.0, 0.5, 1.0][rng.below(3) as usize];
        sets.push(format!("write_buffer.bytes={}", (1 + rng.below(20)) * PAGE));
        sets.push(format!("write_buffer.destage_fraction={fraction}"));
        sets.push(format!("write_buffer.idle_ns={}", 1 + rng.below(2_000_000)));
    }
    if rng.below(2) == 0 {
        sets.push("device.bus.partial_pages=true".to_string());
        sets.push(format!("device.bus.partial_unit=\"{}\"", ["map_unit", "sector"][rng.below(2) as usize]));
    }
    if rng.below(2) == 0 {
        sets.push(format!("device.firmware.cores={}", 1 + rng.below(3)));
        sets.push(format!("device.firmware.command_ns={}", 1 + rng.below(30_000)));
        sets.push(format!("device.firmware.read_ns={}", rng.below(2) * 20_000));
        sets.push(format!("device.firmware.write_ns={}", rng.below(3) * 200_000));
    }
    sets
}

/// Requests of which none waits for another outside the device; then all of them complete.
const GROUP: usize = 16;

/// Runs a script on a drive with the referee and the shadow check, and checks what it leaves behind and what it did.
fn run_and_check(config: &Config, requests: &[Request]) {
    let (geometry, firmware, array, filled) = build(config);
    let mut oracle = Oracle::new(&geometry, filled);
    requests.chunks(GROUP).for_each(|group| oracle.apply_together(group));
    let mut script = Script::in_groups(requests, GROUP);
    let probe = (flashwatt_ssd::observe::check::Shadow::new(&geometry, &firmware), Log::default());
    let sim = Sim::new(&config.run.stages(), Ssd::new(config.ssd(), firmware, array, None, probe), &mut script);
    let mut told = 0;
    let (outcome, ssd) = sim.run(&mut |_| {
        told += 1;
        told < 400 // of at most 16,384 instants each
    });
    let (accounts, firmware, array) = ssd.into_parts();
    assert!(matches!(outcome.end, End::Complete), "the run does not end");
    assert_eq!(outcome.completed.requests(), requests.len() as u64, "every request completes, and in the window");
    let last = accounts.probe.1.requests.iter().map(|r| r.end_ns).max();
    assert_eq!(Some(outcome.measured.end_ns), last, "the window ends with the last request");
    oracle.check(&firmware, &array);
    check_log(config, &geometry, &accounts.probe.1.ops);
}

/// The rules of buses, dies and pages, checked on what was done, without the engine's referee.
fn check_log(config: &Config, geometry: &Geometry, ops: &[Done]) {
    for die in (0..geometry.dies).map(DieId) {
        apart(ops.iter().filter(|d| d.op.at.die == die).map(|d| (d.t.start, d.t.end)).collect(), 0, "on a die");
    }
    let timing = &config.ssd().device.timing;
    for channel in 0..geometry.channels {
        let on = ops.iter().filter(|d| geometry.channel_of(d.op.at.die).0 == channel);
        let bus = on.flat_map(|d| {
            [
                (d.t.start, d.t.array_start),
                (d.t.out_start, if d.op.kind == OpKind::Read { d.t.end } else { d.t.out_start }),
            ]
        });
        apart(bus.filter(|(from, to)| from < to).collect(), 0, "on a bus");
    }
    apart(ops.iter().map(|d| (d.t.start, d.t.start)).collect(), timing.channel_switch_ns, "starts");
    for op in ops {
        let array_ns = op.t.array_end - op.t.array_start;
        match op.op.kind {
            OpKind::Read => assert_eq!(array_ns, timing.read_ns),
            OpKind::Program => assert_eq!(op.t.end - op.t.array_start, timing.program_ns),
            OpKind::Erase => assert_eq!(op.t.end - op.t.array_start, timing.erase_ns),
            OpKind::SpareRead => assert_eq!(op.t.end - op.t.array_start, timing.read_ns),
            _ => assert_eq!(op.t.end - op.t.array_start, timing.read_ns + timing.program_ns),
        }
    }
    check_pages(config, geometry, ops);
}

/// Intervals do not overlap, and start so far apart.
fn apart(mut intervals: Vec<(Nanos, Nanos)>, least: Nanos, what: &str) {
    intervals.sort_unstable();
    for pair in intervals.windows(2) {
        assert!(pair[1].0 >= pair[0].1 && pair[1].0 - pair[0].0 >= least, "{what}: {pair:?}");
    }
}

/// Pages are programmed once between two erases, in order if the chip asks for it, and read in between; nothing is erased
/// under a program that replaces one of its pages.
fn check_pages(config: &Config, geometry: &Geometry, ops: &[Done]) {
    let block_of = |d: &Done| d.op.at.block;
    for erase in ops.iter().filter(|d| d.op.kind == OpKind::Erase) {
        let needs =
            |d: &&Done| d.op.seq < erase.op.seq && (d.op.replaces == block_of(erase) || block_of(d) == block_of(erase));
        for before in ops.iter().filter(needs) {
            assert!(before.t.end <= erase.t.start, "an erase under {:?}", before.op);
        }
    }
    let mut by_block: Vec<Vec<&Done>> = vec![Vec::new(); geometry.blocks as usize];
    for done in ops.iter().filter(|d| !matches!(d.op.kind, OpKind::Read | OpKind::SpareRead)) {
        by_block[block_of(done).idx()].push(done);
    }
    for block in &mut by_block {
        block.sort_by_key(|d| d.t.start);
        let (mut programmed, mut last) = (Vec::new(), None);
        for done in block {
            if done.op.kind == OpKind::Erase {
                (programmed, last) = (Vec::new(), None);
                continue;
            }
            let page = done.op.at.page;
            assert!(!programmed.contains(&page), "page {page} is programmed twice");
            let ascending = config.ssd().device.nand.program_order == ProgramOrder::Ascending;
            programmed.push(page);
            if done.op.cause == Cause::Pad && config.ssd().device.pass_distance() > 0 {
                continue; // a row without data ends with its first pass
            }
            assert!(!ascending || last.is_none_or(|last| last < page), "page {page} out of order");
            last = Some(page);
        }
    }
    for read in ops.iter().filter(|d| d.op.kind == OpKind::Read) {
        let at = read.op.at;
        let same = ops.iter().filter(|d| d.op.kind == OpKind::Program && d.op.at == at && d.op.seq < read.op.seq);
        if let Some(program) = same.max_by_key(|d| d.op.seq) {
            assert!(program.t.end <= read.t.start, "a read before the program of its page");
        }
    }
}

/// The same contracts in the timed engine, under the referee: every request completes, the state at the end is what the
/// host wrote, and what was done obeys the rules of buses, dies and pages.
#[test]
fn every_scheme_with_a_clock() {
    for_each_scheme(&some_schemes(), tier::size(1, 1), |scheme, seed| {
        let mut rng = Rng::new(seed ^ 0xc10c);
        let timing = draw_timing(&mut rng);
        let config = tiny(scheme, &mut rng, &timing);
        let mut at = 0;
        let requests: Vec<Request> = (0..150)
            .map(|_| {
                at += [0, 0, 0, 50_000, 3_000_000][rng.below(5) as usize];
                Request { arrival_ns: at, ..draw_request(&mut rng, config.logical_bytes()) }
            })
            .collect();
        run_and_check(&config, &requests);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tier::size(60, 200) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    /// As `every_scheme_with_a_clock`, for any scheme and sequence; a failure is shrunk to a small one.
    #[test]
    fn any_sequence_with_a_clock(
        scheme in 0..schemes().len(),
        seed in 0u64..1 << 40,
        raw in prop::collection::vec((0u64..1 << 40, 0u64..2_000_000), 1..60),
    ) {
        let mut rng = Rng::new(seed);
        let timing = draw_timing(&mut rng);
        let config = tiny(&schemes()[scheme], &mut rng, &timing);
        let mut at = 0;
        let requests: Vec<Request> = raw
            .iter()
            .map(|&(draw, gap)| {
                at += gap;
                Request { arrival_ns: at, ..draw_request(&mut Rng::new(draw), config.logical_bytes()) }
            })
            .collect();
        run_and_check(&config, &requests);
    }
}

// ---------------------------------------------------------------- room

/// The least spare flash that a configuration accepts is enough for every scheme (the tests above run on it); a page less
/// is refused.
#[test]
fn the_least_spare_flash_is_sharp() {
    for unit in ["4096", "1024"] {
        let config = |spare_pages: u64| {
            let pages = 2 * 20 * 8 - spare_pages;
            let sets = [
                "device.channels=2".to_string(),
                "device.ways=1".to_string(),
                "device.pages_per_block=8".to_string(),
                "device.blocks_per_plane=20".to_string(),
                format!("device.logical_bytes={}", pages * PAGE),
                format!("ftl.page.map_unit_bytes={unit}"),
            ];
            flashwatt::config::load("device.preset = \"limit\"", "test.toml", &sets)
        };
        let least = 2 * spare_blocks_per_die(3, 2) as u64 * 8 + if unit == "4096" { 0 } else { 2 * 20 };
        assert!(config(least).is_ok());
        let refused = config(least - 1).expect_err("a page less").to_string();
        assert!(refused.contains("too little spare flash"), "{refused}");
    }
}

/// A drive that starts empty may have no spare flash at all. Written beyond what it holds, it says so, and keeps what was
/// done until then.
#[test]
fn a_drive_without_room_says_so() {
    let sets = ["device.spare_fraction=0", "run.precondition=\"empty\"", "workload.uniform.requests=1000"];
    let config = load(PROBE_DRIVE, &sets);
    let report = flashwatt::run(&config, &RunOptions::default(), &mut |_| true).expect("it starts");
    assert!(report.status.starts_with("failed: ") && report.status.contains("no room"), "{}", report.status);
    assert!(report.workload.writes >= 100, "what was done is kept");
}

// ---------------------------------------------------------------- nobody waits for ever

/// Reads of random pages, a fixed number outstanding at all times, until a given write has completed.
struct Flood {
    rng: Rng,
    pages: u64,
    depth: usize,
    outstanding: usize,
    /// Still to be issued among the reads.
    writes: Vec<Request>,
    issued: u64,
}

impl Workload for Flood {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        if self.issued >= 20_000 {
            return Ok(Next::End);
        }
        if self.outstanding == self.depth {
            return Ok(Next::WaitForCompletion);
        }
        self.issued += 1;
        self.outstanding += 1;
        let next = match self.writes.last().copied() {
            Some(write) if write.arrival_ns <= now => {
                self.writes.pop();
                Request { arrival_ns: now, ..write }
            }
            _ => read(now, self.rng.below(self.pages), 1),
        };
        Ok(Next::Request(Tag::default(), next))
    }

    fn completed(&mut self, _done: &Completion, _now: Nanos) {
        self.outstanding -= 1;
    }

    fn name(&self) -> &str {
        "flood"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }
}

/// Law 6e: the oldest unfinished operation always ends. One die under a flood of reads: no write waits for more than the
/// 64 operations that may go ahead of it, with collection needed for room or not, under every policy.
#[test]
fn writes_end_under_a_flood_of_reads() {
    for policy in policies::REGISTRY.iter().map(|policy| policy.name) {
        for preemptible in [true, false] {
            let sets = [
                format!("controller.policy=\"{policy}\""),
                format!("gc.preemptible={preemptible}"),
                "gc.low_watermark_blocks=7".to_string(),
            ];
            let config = load(PROBE_DRIVE, &sets.each_ref().map(String::as_str));
            // Eight writes fill a block, so that collection goes on all the time; each is given the time of 200 reads.
            let writes = (0..60).rev().map(|i| write(i * 300 * delays::R, i * 7 % 64, 1)).collect();
            let mut flood = Flood { rng: Rng::new(1), pages: 64, depth: 16, outstanding: 0, writes, issued: 0 };
            let (report, log) = run_logged(&config, &mut flood);
            assert_eq!(report.workload.writes, 60);
            let longest =
                log.requests.iter().filter(|r| r.kind == RequestKind::Write).map(|r| r.end_ns - r.admitted_ns).max();
            // 64 operations ahead of it, or of a step of collection that goes first, and what runs when it comes.
            let bound = 2 * 66 * delays::R + 4 * 700_000 + 3_100_000;
            // Uninterrupted collection goes on until there are free blocks again: a few of them, of 7 copies at most.
            let bound = if preemptible { bound } else { bound + 3 * (7 * 660_000 + 3_100_000) };
            assert!(longest.is_some_and(|ns| ns < bound), "{policy}, {preemptible}: {longest:?} of {bound} ns");
            assert!(report.ssd().flash.erases.gc > 2, "{policy}: there is collection");
        }
    }
}
