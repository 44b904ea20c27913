//! Snapshots: a run from one is the run that prepares in place, for every translation layer; and no file, however damaged,
//! does more than to be refused.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flashwatt::AgeOptions;
use flashwatt::Error;
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::age;
use flashwatt::config::Config;
use flashwatt::run::StartState;
use flashwatt_base::rng::Rng;
use serde_json::Value;

use super::schemes::{
    CACHES, ROWS, Scheme, collects, for_each_scheme, has_rows, load_scheme, load_sets, schemes, starts_mapped,
    tiny_sets, with_host_memory, with_rows, with_slc,
};
use crate::common::{load, preset, tier};

/// A file of its own, which is removed in the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        static FILES: AtomicU64 = AtomicU64::new(0); // tests run side by side
        let unique = FILES.fetch_add(1, Ordering::Relaxed);
        Temporary(std::env::temp_dir().join(format!("flashwatt-snapshot-{}-{unique}-{name}", std::process::id())))
    }

    fn precondition(&self) -> String {
        format!("run.precondition.snapshot={:?}", self.0.display().to_string())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// Start states: by name, and by a workload that overwrites, reads and trims.
const STARTS: [&[&str]; 4] = [
    &["run.precondition=\"empty\""],
    &["run.precondition=\"filled\""],
    &["run.precondition=\"steady\""],
    &[
        "run.precondition.zipf.requests=300",
        "run.precondition.zipf.request_bytes=6144",
        "run.precondition.zipf.align_bytes=2048",
        "run.precondition.zipf.read_fraction=0.3",
        "run.precondition.zipf.trim_fraction=0.1",
    ],
];

const WORKLOAD: [&str; 6] = [
    "workload.uniform.requests=250",
    "workload.uniform.request_bytes=6144",
    "workload.uniform.align_bytes=2048",
    "workload.uniform.read_fraction=0.4",
    "workload.uniform.trim_fraction=0.05",
    "workload.uniform.queue_depth=5",
];

/// One scheme for each set of options of a translation layer, with other policies each.
fn one_of_each_layer() -> Vec<Scheme> {
    let options =
        |scheme: &Scheme| -> Vec<String> { scheme.iter().filter(|set| set.starts_with("ftl")).cloned().collect() };
    let mut all = schemes().to_vec();
    all.sort_by_key(options);
    let mut seen = HashSet::new();
    let mut at = 0;
    all.retain(|scheme| {
        at += 7; // not always the first of a layer
        let is_first = !seen.contains(&options(scheme)) && (at % 3 != 0 || !collects(scheme));
        if is_first { seen.insert(options(scheme)) } else { false }
    });
    all
}

/// A tiny drive with a start state, and its overrides without it.
fn drive(scheme: &[String], seed: u64, start: &[&str]) -> (Config, Vec<String>) {
    let mut sets = tiny_sets(scheme, &mut Rng::new(seed), &[]);
    let start_of_tiny = |set: &String| set.starts_with("run.precondition") || set.starts_with("workload.");
    let is_empty = start[0].contains("empty");
    sets.retain(|set| !start_of_tiny(set));
    sets.extend(WORKLOAD.map(String::from));
    if seed.is_multiple_of(2) {
        sets.extend(["device.firmware.command_ns=3000", "device.bus.partial_pages=true"].map(String::from));
    }
    if !is_empty {
        // A drive that starts empty may be drawn without the room that a full one needs.
        sets.retain(|set| !set.starts_with("device.logical_bytes"));
        sets.push("device.op_ratio=2".into());
        if has_rows(scheme) {
            sets.extend(["device.blocks_per_plane=48", "device.op_ratio=4"].map(String::from)); // rows may be padded
        }
    }
    let with_start = [&sets[..], &start.iter().map(ToString::to_string).collect::<Vec<_>>()].concat();
    (load_sets(&with_start), sets)
}

/// What a run comes to, without what says where its drive came from; and its operation log.
fn outcome(config: &Config) -> (Value, Vec<u8>) {
    let log = Temporary::new("log");
    let options = RunOptions { op_log: Some(log.0.clone()), series_interval_ns: Some(0), ..RunOptions::default() };
    let report = flashwatt::run(config, &options, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    (figures(&report), std::fs::read(&log.0).expect("the log is there"))
}

fn figures(report: &Report) -> Value {
    let mut json = serde_json::to_value(report).expect("a report is JSON");
    for key in ["config", "config_sha256", "snapshot"] {
        json.as_object_mut().expect("a report is an object").remove(key);
    }
    json
}

fn saved(config: &Config, file: &Temporary) {
    age(config, &file.0, &AgeOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
}

/// The chunks of a file without their checksums, which depend on the header.
fn chunks(file: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(file).expect("the snapshot is there");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    let (mut at, mut chunks) = (20 + word(12), Vec::new());
    while at < bytes.len() {
        let packed = word(at + 4);
        chunks.push([&bytes[at..at + 8], &bytes[at + 12..at + 12 + packed]].concat());
        at += 12 + packed;
    }
    chunks
}

#[test]
fn a_run_from_a_snapshot_is_the_run_that_prepares_in_place() {
    for_each_scheme(&one_of_each_layer(), STARTS.len(), |scheme, seed| {
        continues(scheme, seed, STARTS[seed as usize % STARTS.len()]);
    });
}

/// The same of drives whose pages are programmed row by row: the snapshot has whole rows.
#[test]
fn a_run_with_rows_from_a_snapshot_is_the_run_that_prepares_in_place() {
    for_each_scheme(&with_rows(&one_of_each_layer()), STARTS.len(), |scheme, seed| {
        continues(scheme, seed, STARTS[seed as usize % STARTS.len()]);
    });
}

/// The same of drives whose map is cached in the host's memory, with and without rows: nothing is on its way there at rest.
#[test]
fn a_run_with_a_map_in_the_hosts_memory_from_a_snapshot_is_the_run_that_prepares_in_place() {
    let layers = one_of_each_layer();
    let schemes = with_host_memory(&[layers.clone(), with_rows(&layers)].concat());
    assert!(schemes.len() >= 6 || std::env::var_os("FLASHWATT_FTL").is_some(), "three layers can");
    for_each_scheme(&schemes, STARTS.len(), |scheme, seed| {
        continues(scheme, seed, STARTS[seed as usize % STARTS.len()]);
    });
}

/// The same of drives with a cache of blocks in SLC mode: the snapshot says which blocks those are.
#[test]
fn a_run_with_a_cache_from_a_snapshot_is_the_run_that_prepares_in_place() {
    for_each_scheme(&with_slc(&one_of_each_layer()), STARTS.len(), |scheme, seed| {
        continues(scheme, seed, STARTS[seed as usize % STARTS.len()]);
    });
    let mut layers = one_of_each_layer();
    layers.retain(|scheme| load_scheme(scheme).ssd().ftl.has_rows());
    layers.dedup_by_key(|scheme| load_scheme(scheme).ssd().ftl.name());
    let each: Vec<Scheme> = layers.iter().flat_map(|layer| CACHES.map(|_| layer.clone())).collect();
    for_each_scheme(&with_slc(&each), tier::size(2, STARTS.len()), |scheme, seed| {
        let start = seed + seed / each.len() as u64; // not the same one each time
        continues(scheme, seed, STARTS[start as usize % STARTS.len()]);
    });
}

/// The same with a place for every page and nothing written, for every layer that can start so and whose places are in a snapshot.
#[test]
fn a_mapped_drive_from_a_snapshot_is_the_one_prepared_in_place() {
    let schemes: Vec<Scheme> =
        one_of_each_layer().into_iter().filter(|scheme| starts_mapped(scheme) && !collects(scheme)).collect();
    assert!(schemes.len() >= 6 || std::env::var_os("FLASHWATT_FTL").is_some(), "six layers can");
    for_each_scheme(&schemes, 2, |scheme, seed| continues(scheme, seed, &["run.precondition=\"mapped\""]));
}

/// A run from the snapshot of a start state is the run that prepares it, and what was restored is saved the same.
fn continues(scheme: &[String], seed: u64, start: &[&str]) {
    let (in_place, sets) = drive(scheme, seed, start);
    let (file, again) = (Temporary::new("first"), Temporary::new("second"));
    saved(&in_place, &file);
    let from_file = load_sets(&[&sets[..], &[file.precondition()]].concat());
    let ((expected, log), (got, log_from_file)) = (outcome(&in_place), outcome(&from_file));
    assert_eq!(expected, got, "{start:?}");
    assert!(log == log_from_file, "the operation logs differ: {start:?}");
    saved(&from_file, &again);
    assert!(chunks(&file.0) == chunks(&again.0), "what was read is not what was written: {start:?}");
}

/// Everything that is no part of the state may differ, and the map is right whatever does.
#[test]
fn what_does_not_shape_the_state_may_differ() {
    let base = ["device.channels=2", "device.blocks_per_plane=16", "device.pages_per_block=16", "device.op_ratio=0.6"];
    let from = |sets: &[&str]| preset("limit", &[&base, &WORKLOAD[..], sets].concat());
    let file = Temporary::new("free");
    saved(&from(&["run.precondition=\"steady\"", "gc.policy=\"random\""]), &file);
    let precondition = file.precondition();
    let mut seen = HashSet::new();
    let policies = flashwatt_ssd::gc::REGISTRY.iter().map(|entry| format!("gc.policy={:?}", entry.name));
    let others = [
        "run.seed=7",
        "device.timing.read_ns=12345",
        "device.host_link.queue_depth=3",
        "energy.nand.program_ma=11",
        "controller.policy=\"in_order\"",
        "wear.policy=\"static_swap\"",
        "write_buffer.bytes=65536",
        "device.nand.copyback=true",
        "workload.uniform.request_bytes=4096",
        "run.measure.requests=77",
    ];
    for change in policies.chain(others.map(String::from)) {
        let config = from(&[&precondition, &change]);
        let options = RunOptions { check: true, ..RunOptions::default() };
        let report = flashwatt::run(&config, &options, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.status, "complete", "{change}");
        seen.insert(figures(&report).to_string());
        let identity = report.snapshot.expect("it began from one");
        assert_eq!((identity.seed, identity.sha256.len()), (1, 64));
        assert!(file.0.ends_with(&identity.file), "{}", identity.file);
    }
    assert!(seen.len() > 10, "{} different outcomes", seen.len());
}

/// Wear is kept, and figures of a run count its own erases only.
#[test]
fn a_workload_that_runs_first_leaves_its_wear() {
    let base = ["device.channels=2", "device.blocks_per_plane=16", "device.pages_per_block=16", "device.op_ratio=0.6"];
    let workload = ["workload.uniform.requests=4000"];
    let from = |sets: &[&str]| preset("limit", &[&base, &workload[..], sets].concat());
    let file = Temporary::new("worn");
    let options = AgeOptions { run: true, force: false };
    let first = age(&from(&[]), &file.0, &options, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let in_place = flashwatt::run(&from(&[]), &RunOptions::default(), &mut |_| true).expect("a run");
    let erased = |report: &Report| report.ssd().flash.erases.total;
    assert!(first.erases > 100 && first.erases >= erased(&in_place), "{}", first.erases);
    let run =
        flashwatt::run(&from(&[&file.precondition()]), &RunOptions { check: true, ..Default::default() }, &mut |_| {
            true
        });
    let report = run.expect("a run");
    assert_eq!(report.status, "complete");
    let blocks = 2.0 * 16.0 * f64::from(in_place.config.ssd().device.planes * in_place.config.ssd().device.ways);
    let life = (report.ssd().wear.erase_count.mean * blocks).round() as u64;
    assert!(life >= first.erases + erased(&report), "{life} erases in its life, {} before", first.erases);
    // It can be aged further.
    let again = Temporary::new("worn-more");
    let second = age(&from(&[&file.precondition()]), &again.0, &options, &mut |_| true).expect("a second workload");
    assert_eq!(second.erases, life);
}

// ---------------------------------------------------------------- what is refused

/// What a run has written to blocks of its own is in no snapshot.
#[test]
fn a_workload_that_runs_first_keeps_no_blocks_for_itself() {
    let cases: [(&[&str], &str); 3] = [
        (&["recovery.trim_records=\"page\""], "recovery: a snapshot does not hold the recovery log of a run"),
        (&["device.nand.paired_pages=\"backup\""], "device.nand.paired_pages: a snapshot does not hold the backups"),
        (
            &["write_buffer.bytes=65536", "write_buffer.protection=\"journal\""],
            "write_buffer.protection: a snapshot does not hold the journal of a run",
        ),
    ];
    let base =
        ["device.channels=2", "device.blocks_per_plane=32", "device.op_ratio=0.6", "workload.uniform.requests=4"];
    for (sets, expected) in cases {
        let (config, file) = (preset("limit", &[&base, sets].concat()), Temporary::new("kept"));
        let error = age(&config, &file.0, &AgeOptions { run: true, force: false }, &mut |_| true);
        let message = error.expect_err("it is refused").to_string();
        assert!(message.contains(expected), "{message}");
        age(&config, &file.0, &AgeOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    }
}

fn refusal(config: &Config) -> String {
    match StartState::new(config) {
        Ok(_) => {
            panic!("the snapshot is taken by {:?}, {:?}, {:?}", config.ssd().device, config.ssd().gc, config.ssd().ftl)
        }
        Err(error @ Error::Snapshot(_)) => error.to_string(),
        Err(other) => panic!("another error: {other}"),
    }
}

#[test]
fn a_snapshot_of_another_drive_is_refused_by_the_keys_that_differ() {
    let base = [
        "device.channels=2",
        "device.blocks_per_plane=40",
        "device.pages_per_block=16",
        "device.logical_bytes=4194304",
    ];
    let from = |sets: &[&str]| load("device.preset = \"limit\"", &[&base, sets].concat());
    let file = Temporary::new("bound");
    saved(&from(&["ftl.page.allocation=\"dynamic\""]), &file);
    let precondition = file.precondition();
    let changes = [
        ("device.channels=4", "device.channels", "2 in the snapshot", "expected 4"),
        ("device.blocks_per_plane=41", "device.blocks_per_plane", "40 in the snapshot", "expected 41"),
        ("device.pages_per_block=32", "device.pages_per_block", "16 in the snapshot", "expected 32"),
        ("device.logical_bytes=4190208", "device.logical_bytes", "4194304 in the snapshot", "expected 4190208"),
        ("device.nand.program_order=\"any\"", "device.nand.program_order", "\"ascending\" in the", "expected \"any\""),
        ("gc.reserved_blocks=1", "gc.reserved_blocks", "2 in the snapshot", "expected 1"),
        ("gc.low_watermark_blocks=4", "gc.low_watermark_blocks", "3 in the snapshot", "expected 4"),
        ("ftl.page.allocation=\"static\"", "ftl.page.allocation", "\"dynamic\" in the snapshot", "expected \"static\""),
        ("ftl=\"dftl\"", "ftl", "\"page\" in the snapshot", "expected \"dftl\""),
    ];
    for (change, key, found, expected) in changes {
        let message = refusal(&from(&[&precondition, change]));
        let name = file.0.display();
        let words = [format!("{name}: {key}: the snapshot is of another drive"), found.into(), expected.into()];
        assert!(words.iter().all(|word| message.contains(word)), "{change}: {message}");
        assert!(message.contains("(set ") && message.contains("flashwatt age"), "{change}: {message}");
        assert_eq!(message.lines().count(), 1, "{change}: {message}");
    }
    let both = refusal(&from(&[&precondition, "device.channels=4", "gc.reserved_blocks=1"]));
    assert_eq!(both.lines().count(), 2, "{both}");
}

/// A drive with rows of twelve pages, and one with rows of four.
const OF_TWELVE: [&str; 10] = [
    "device.channels=2",
    "device.blocks_per_plane=24",
    "device.planes=4",
    "device.plane_blocks=true",
    "device.pages_per_block=9",
    "device.op_ratio=2",
    "workload.uniform.requests=200",
    "device.cells.bits=3",
    "device.cells.read_ns=[40011, 55013, 50017]",
    "device.cells.program_ns=1068503",
];
const OF_FOUR: [&str; 7] = {
    let [one, two, three, four, five, six, seven, ..] = OF_TWELVE;
    [one, two, three, four, five, six, seven]
};

/// The keys that say what a row is are bound.
#[test]
fn a_snapshot_of_other_rows_is_refused() {
    let file = Temporary::new("rows");
    saved(&preset("limit", &OF_TWELVE), &file);
    let precondition = file.precondition();
    let changes: [(&[&str], &str); 2] = [
        (&["device.plane_blocks=false"], "device.plane_blocks"),
        (&["device.cells.bits=1", "device.cells.read_ns=[40011]"], "device.cells.bits"),
    ];
    for (change, key) in changes {
        let message = refusal(&preset("limit", &[&OF_TWELVE, change, &[&precondition]].concat()));
        assert!(message.contains(&format!("{key}: the snapshot is of another drive")), "{message}");
    }
}

/// Frontiers within a row: the state of a drive with rows of four pages, in the file of one with rows of twelve.
#[test]
fn a_place_to_write_to_within_a_row_is_refused() {
    let mut within = 0;
    for requests in 300..308 {
        let start = format!("run.precondition.uniform.requests={requests}");
        let bytes = |sets: &[&str]| {
            let file = Temporary::new("within");
            saved(&preset("limit", &[sets, &[&start]].concat()), &file);
            std::fs::read(&file.0).expect("the snapshot is there")
        };
        let spliced = with_header(&bytes(&OF_TWELVE), &bytes(&OF_FOUR));
        let sets: Vec<String> = ["device.preset=\"limit\""].iter().chain(&OF_TWELVE).map(ToString::to_string).collect();
        match load_bytes(&sets, &spliced).1 {
            Ok(_) => {}
            Err(error) => {
                assert!(error.to_string().contains("a place to write to within a row"), "{error}");
                within += 1;
            }
        }
    }
    assert!(within > 0, "some frontier is within a row");
}

/// The chunks of a file behind the header of another one, with the checksums made right.
fn with_header(header: &[u8], chunks: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let mut crc = word(header, 16);
    let mut spliced = header[..20 + word(header, 12) as usize].to_vec();
    let mut at = 20 + word(chunks, 12) as usize;
    while at < chunks.len() {
        let packed = word(chunks, at + 4) as usize;
        let (lengths, stored) = (&chunks[at..at + 8], &chunks[at + 12..at + 12 + packed]);
        crc = crc32fast::hash(&[&crc.to_le_bytes()[..], lengths, stored].concat());
        spliced.extend([lengths, &crc.to_le_bytes(), stored].concat());
        at += 12 + packed;
    }
    spliced
}

/// A snapshot of each translation layer, in a state with something in all its tables.
fn of_each_layer() -> Vec<(Vec<String>, Vec<u8>)> {
    let of = |(seed, scheme): (u64, &Scheme)| {
        let (config, sets) = drive(scheme, seed, STARTS[3]);
        let file = Temporary::new("victim");
        saved(&config, &file);
        (sets, std::fs::read(&file.0).expect("the snapshot is there"))
    };
    let layers = one_of_each_layer();
    let all = [layers.clone(), with_rows(&layers), with_slc(&layers)].concat();
    (0..).zip(&all).map(of).collect()
}

fn load_bytes(sets: &[String], bytes: &[u8]) -> (Config, Result<StartState, Error>) {
    let file = Temporary::new("broken");
    std::fs::write(&file.0, bytes).expect("the temporary directory takes files");
    let config = load_sets(&[sets, &[file.precondition()]].concat());
    let drive = StartState::new(&config);
    (config, drive)
}

#[track_caller]
fn refused(sets: &[String], bytes: &[u8], words: &[&str]) {
    match load_bytes(sets, bytes).1 {
        Err(error @ Error::Snapshot(_)) => {
            let message = error.to_string();
            assert!(words.iter().any(|word| message.contains(word)), "{message}");
        }
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("it is taken"),
    }
}

#[test]
fn damaged_and_foreign_files_are_refused_in_words() {
    let every = of_each_layer();
    let (sets, bytes) = &every[0];
    refused(sets, b"", &["the snapshot is damaged; found it ends too soon"]);
    refused(sets, b"[device]\npreset = \"limit\"\n", &["found a file of another kind; expected a snapshot"]);
    let mut other_version = bytes.clone();
    other_version[8] += 1;
    let this = flashwatt::snapshot::VERSION;
    let words = format!("found version {} of the format; expected version {this}", this + 1);
    refused(sets, &other_version, &[&words]);
    refused(sets, &[&bytes[..], b"\n"].concat(), &["something follows its end"]);
    let directory =
        load_sets(&[&sets[..], &[format!("run.precondition.snapshot={:?}", std::env::temp_dir())]].concat());
    assert!(refusal(&directory).contains("a directory"), "{}", refusal(&directory));
    let mut rng = Rng::new(3);
    for (sets, bytes) in &every {
        for _ in 0..6 {
            let end = rng.below(bytes.len() as u64) as usize;
            refused(sets, &bytes[..end], &["it ends too soon"]);
            let mut flipped = bytes.clone();
            flipped[rng.below(bytes.len() as u64) as usize] ^= 1 << rng.below(8);
            refused(sets, &flipped, &["damaged", "another kind", "of the format"]);
        }
    }
}

/// A forged file with right checksums can hold any numbers: each number is checked before it is an index, so that a
/// drive that is taken works, and all others are refused.
#[test]
fn no_forged_file_does_harm() {
    let (mut taken, mut refused) = (0, 0);
    let mut rng = Rng::new(11);
    for (sets, bytes) in &of_each_layer() {
        for _ in 0..tier::size(40, 40) {
            match load_bytes(sets, &forged(bytes, &mut rng)) {
                (config, Ok(drive)) => {
                    let mut workload =
                        flashwatt_workload::open(&config.workload, config.logical_bytes(), 1).expect("synthetic");
                    let run = drive.run(&config, &RunOptions::default(), workload.as_mut(), (), &mut |_| true);
                    drop(run.unwrap_or_else(|error| panic!("{error}")));
                    taken += 1;
                }
                (_, Err(Error::Snapshot(_))) => refused += 1,
                (_, Err(other)) => panic!("another error: {other}"),
            }
        }
    }
    let least = if std::env::var("FLASHWATT_FTL").is_ok() { 0 } else { 50 }; // one layer alone has few files
    assert!(taken > least && refused > least, "{taken} taken, {refused} refused");
}

/// The file with some bytes of its state changed, and the checksums made right.
fn forged(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    let (mut at, mut crc) = (20 + word(12), word(16) as u32);
    let mut forged = bytes[..at].to_vec();
    while at < bytes.len() {
        let (raw, packed) = (word(at), word(at + 4));
        let stored = &bytes[at + 12..at + 12 + packed];
        let unpacked = if raw == packed { Ok(stored.to_vec()) } else { lz4_flex::block::decompress(stored, raw) };
        let mut chunk = unpacked.expect("it was packed by LZ4");
        for _ in 0..rng.below(3) + 1 {
            if let Some(byte) = (raw > 0).then(|| rng.below(raw as u64) as usize) {
                chunk[byte] = [0, 1, 255, chunk[byte] ^ 1, rng.bits() as u8][rng.below(5) as usize];
            }
        }
        let lengths = [(raw as u32).to_le_bytes(), (raw as u32).to_le_bytes()].concat();
        crc = crc32fast::hash(&[&crc.to_le_bytes()[..], &lengths, &chunk].concat());
        forged.extend([&lengths[..], &crc.to_le_bytes(), &chunk].concat());
        at += 12 + packed;
    }
    forged
}
