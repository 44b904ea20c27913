//! Power cuts under a file system: after any of them a mount finds what fsync has promised.

use crate::common::{load, tier};
use flashwatt::config::Config;
use flashwatt::crash::{Bug, Cuttable, InFiles, Powered, Witness, come_back};
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, OriginName, RequestKind, SourceKind, VersionClock, Workload};
use flashwatt_files::FileWorkload;
use flashwatt_host::BlockLayer;
use flashwatt_ssd::drive::Ssd;

/// A drive of 6,144 pages whose file system others fill by half, and a cache whose flusher comes often.
const DRIVE: &str = r#"
[device]
preset = "limit"
channels = 2
ways = 2
blocks_per_plane = 24
pages_per_block = 64
op_ratio = 0.5

[workload.files]
operations = 3000
aged = { fill_fraction = 0.4, churn = 1.0, mean_file_bytes = 65_536 }

[workload.files.cache]
memory_bytes = 8_388_608
dirty_expire_centisecs = 5
dirty_writeback_centisecs = 1

[run]
precondition = "empty"
"#;

/// A write buffer that loses its content, and keeps it for long.
const VOLATILE: [&str; 3] =
    ["write_buffer.bytes=1048576", "write_buffer.destage_fraction=0.5", "write_buffer.idle_ns=50000000"];

/// A mail server: each message that is written is fsynced.
const MAIL: [&str; 2] = ["workload.files.personality=varmail", "workload.files.set={ nfiles = 100, nthreads = 8 }"];

/// A data base: a log is written with O_DSYNC, and tables in place.
const OLTP: [&str; 2] = [
    "workload.files.personality=oltp",
    "workload.files.set={ nfiles = 2, filesize = 1048576, nshadows = 8, ndbwriters = 2, dbposts = 20, logposts = 60, usermode = 2000, nlogfiles = 1, logfilesize = 1048576 }",
];

/// A journal of 4 MiB, whose transactions are committed soon.
const EXT3: [&str; 2] =
    ["workload.files.system.ext3.journal_bytes=4194304", "workload.files.system.ext3.commit_interval_s=0.02"];

/// The systems, so small and so busy that a log is cleaned.
const SYSTEMS: [&[&str]; 4] = [
    &["workload.files.system=ext2"],
    &EXT3,
    &["workload.files.system.lfs.segment_bytes=131072", "workload.files.system.lfs.checkpoint_s=0.05"],
    &["workload.files.system.nilfs2.segment_bytes=131072", "workload.files.system.nilfs2.checkpoint_s=0.05"],
];

/// A workload whose flushes end at once, and never reach the drive.
struct WithoutFlush<W>(W);

impl<W: Workload> Workload for WithoutFlush<W> {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        loop {
            match self.0.next(now)? {
                Next::Request(tag, request) if request.kind == RequestKind::Flush => {
                    self.0.completed(&Completion::done(tag), now);
                }
                next => return Ok(next),
            }
        }
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        self.0.completed(done, now);
    }

    fn follow(&mut self, versions: &VersionClock) {
        self.0.follow(versions);
    }

    fn known(&self) -> Option<&dyn std::any::Any> {
        self.0.known()
    }

    fn origins(&self) -> Vec<OriginName> {
        self.0.origins()
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn kind(&self) -> SourceKind {
        self.0.kind()
    }
}

/// What the cuts of a run have found.
#[derive(Debug, Default)]
struct All {
    cuts: u32,
    lost: u32,
    rolled_back: u32,
    exposed: u32,
    most_fsynced_bytes: u64,
    cleaning_reads: u64,
}

impl All {
    fn add(&mut self, found: InFiles) {
        self.cuts += 1;
        self.lost += found.files_lost;
        self.rolled_back += found.files_rolled_back;
        self.exposed += found.files_exposed_blocks;
        self.most_fsynced_bytes = self.most_fsynced_bytes.max(found.files_fsynced_bytes);
    }
}

fn config_of(sets: &[&[&str]]) -> Config {
    load(DRIVE, &sets.concat())
}

fn opened(config: &Config) -> Box<dyn Workload> {
    let workload = flashwatt_workload::open(&config.workload, config.partition_bytes(), config.run.seed);
    workload.unwrap_or_else(|error| panic!("{error}"))
}

/// Cuts the power after each instant whose number is a multiple of `every`.
fn cut_every<W: Workload, D: Cuttable>(config: &Config, workload: W, every: u64) -> All {
    let powered = Powered::<W, D>::whole(config, workload, Bug::None, &mut |_| true);
    let mut powered = powered.unwrap_or_else(|error| panic!("{error}"));
    let mut all = All::default();
    for instant in 0.. {
        if !powered.step().unwrap_or_else(|error| panic!("{error}")) {
            break;
        }
        if instant % every == 0 {
            let remains = powered.cut();
            let (_, back) = come_back(&remains).expect("it comes back");
            assert_eq!(remains.compare(back.drive()).lost, 0, "the drive keeps its own promises");
            let found = powered.in_files(&remains, &remains.versions(back.drive())).expect("it has files");
            all.add(found);
        }
    }
    let files = powered.workload().known().and_then(|known| known.downcast_ref::<FileWorkload>());
    all.cleaning_reads = files.expect("it has files").figures().io.cleaning_reads;
    all
}

/// Cuts the power of runs of these keys with several seeds.
fn is_kept(sets: &[&[&str]]) {
    for seed in tier::seed()..tier::seed() + tier::size(1, 1) as u64 {
        let seed_set = format!("run.seed={}", seed + 1);
        let config = config_of(&[sets, &[&[seed_set.as_str()]]].concat());
        let mut workload = opened(&config);
        let every = 67 - seed % 50; // other instants with each seed
        let all = match config.host {
            None => cut_every::<_, Ssd<Witness>>(&config, &mut *workload, every),
            Some(_) => cut_every::<_, BlockLayer<Ssd<Witness>>>(&config, &mut *workload, every),
        };
        assert_eq!((all.lost, all.exposed), (0, 0), "{sets:?}, seed {seed}: {all:?}");
        assert!(all.cuts >= 20 && all.rolled_back > 0 && all.most_fsynced_bytes > 0, "{all:?}");
        let is_log = sets[0].iter().all(|set| !set.contains("system.ext") && !set.contains("system=ext"));
        assert!(!is_log || all.cleaning_reads > 0, "the cleaner has worked: {all:?}");
    }
}

#[test]
fn what_is_fsynced_is_found_after_every_cut() {
    for system in SYSTEMS {
        for buffer in [&[][..], &VOLATILE] {
            is_kept(&[system, &MAIL, buffer]);
        }
    }
}

#[test]
fn so_is_what_is_written_synchronously() {
    for system in SYSTEMS {
        is_kept(&[system, &VOLATILE, &OLTP]);
    }
}

#[test]
fn so_is_what_is_fsynced_behind_a_scheduler() {
    let host = ["host.scheduler=mq_deadline", "host.queue_depth=4", "host.partition_offset_sectors=8"];
    for system in SYSTEMS {
        is_kept(&[system, &MAIL, &VOLATILE, &host]);
    }
}

/// Blocks that are not used any more are trimmed, and their next writes come soon. The drive's units are smaller than a block, or larger.
#[test]
fn trims_and_units_of_other_sizes_change_nothing() {
    let trims: [&[&str]; 4] = [
        &["workload.files.system.ext2.discard=1"],
        &[EXT3[0], EXT3[1], "workload.files.system.ext3.discard=1"],
        &["workload.files.system.lfs.segment_bytes=131072", "workload.files.system.lfs.trim=1"],
        &["workload.files.system.nilfs2.segment_bytes=131072", "workload.files.system.nilfs2.trim=1"],
    ];
    let large = ["device.page_bytes=8192", "device.pages_per_block=32"];
    let host = ["host.scheduler=mq_deadline", "host.queue_depth=4"];
    for system in trims {
        for sets in [&["ftl.page.map_unit_bytes=2048"][..], &large, &host] {
            is_kept(&[system, &MAIL, &VOLATILE, sets]);
        }
    }
}

/// Forms of ext3: its log is short and often full, or commits come by themselves; overwritten data goes along; reads change inodes.
const FORMS: [&[&str]; 3] = [
    &["workload.files.system.ext3.order_overwrites=1", "workload.files.atime=strictatime"],
    &["workload.files.system.ext3.commit_interval_s=0.001", "workload.files.system.ext3.time_step_ms=1"],
    &["workload.files.system.ext3.discard=1", "workload.files.aged.fill_fraction=0.2"],
];

/// At full size ten thousand cuts and more. The little form has one seed, and still each form with both programs.
#[test]
fn a_journal_keeps_its_promises() {
    let mut cuts = 0;
    for seed in tier::seed()..tier::seed() + tier::size(1, 40) as u64 {
        let seed_set = format!("run.seed={}", seed + 1);
        let seed_set = [seed_set.as_str()];
        for form in FORMS {
            for program in [&MAIL, &OLTP] {
                let config = config_of(&[&EXT3[..1], form, &VOLATILE, program, &seed_set]);
                let mut workload = opened(&config);
                let every = tier::size(67, 23) as u64 - seed % 20;
                let all = cut_every::<_, Ssd<Witness>>(&config, &mut *workload, every);
                assert_eq!((all.lost, all.exposed), (0, 0), "{form:?}, seed {seed}: {all:?}");
                assert!(all.most_fsynced_bytes > 0, "{all:?}");
                cuts += all.cuts;
            }
        }
    }
    let least = if tier::soak().is_some_and(|factor| factor >= 1.0) { 10_000 } else { 100 };
    assert!(cuts >= least, "{cuts} cuts");
}

/// Without barriers, and with fsyncs that do not flush, a volatile buffer loses what was promised.
#[test]
fn a_journal_without_barriers_loses_what_a_volatile_buffer_holds() {
    let without: [&[&str]; 2] = [
        &[EXT3[0], "workload.files.system.ext3.barrier=0"],
        &["workload.files.system=ext2", "workload.files.fsync_flush=false"],
    ];
    for system in without {
        let config = config_of(&[system, &MAIL, &VOLATILE]);
        let mut workload = opened(&config);
        let all = cut_every::<_, Ssd<Witness>>(&config, &mut *workload, 401);
        assert!(all.lost > 0, "{system:?}: {all:?}");
    }
}

#[test]
fn a_flush_that_never_reaches_the_drive_is_found() {
    for system in SYSTEMS {
        let config = config_of(&[system, &MAIL, &VOLATILE]);
        let mut workload = opened(&config);
        let workload = WithoutFlush(&mut *workload);
        let all = cut_every::<_, Ssd<Witness>>(&config, workload, 401);
        assert!(all.lost > 0, "{system:?}: {all:?}");
    }
}
