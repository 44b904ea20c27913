//! Reads every real trace of `../shared/traces` (beside the repository, or in the folder `FLASHWATT_TRACES`) and
//! compares its statistics with figures that were computed independently: those of the table in the folder's README,
//! which is parsed here. Without the folder the tests print a message and pass.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::traces::real_traces;
use flashwatt::config::{self, Beyond};
use flashwatt_core::connector::{Next, Workload};
use flashwatt_workload::trace::{self, TraceInfo, TraceWorkload};

/// A row of the README's table.
struct Row {
    files: Vec<String>,
    format: &'static str,
    skip_bad: bool,
    /// The text of all cells, in the order of [`COLUMNS`].
    cells: Vec<String>,
}

/// The headings of the table.
const COLUMNS: [&str; 10] = [
    "file",
    "format",
    "columns and units",
    "options needed",
    "requests",
    "duration s",
    "reads % count / bytes",
    "seq % per device / device-blind",
    "mean R / W KiB",
    "4 KiB-page footprint read / written MiB",
];

/// The README's names of formats, and the registered names.
const NAMES: &[(&str, &str)] = &[
    ("SSDsim ASCII", "ssdsim"),
    ("MQSim ASCII", "ssdsim"),
    ("SPC", "spc"),
    ("plain CSV", "csv"),
    ("DiskSim ASCII", "disksim"),
    ("MSR Cambridge", "msr"),
    ("VMware vscsi (binary)", "vscsi"),
    ("DiskMon", "diskmon"),
    ("FIU, SSDsim variant", "fiu"),
    ("blkparse text", "blkparse"),
    ("blktrace binary", "blktrace"),
    ("tracefs block events text", "tracefs"),
    ("CSV", "nbd"),
];

fn rows(folder: &Path) -> Vec<Row> {
    let readme = std::fs::read_to_string(folder.join("README.md")).expect("the folder's README");
    let mut lines = readme.lines().filter(|line| line.starts_with('|')).map(cells);
    assert_eq!(lines.next().expect("a table"), COLUMNS, "the columns that this test knows");
    let rows: Vec<_> = lines.skip(1).map(Row::of).collect();
    assert!(rows.len() >= 16, "{} rows", rows.len());
    rows
}

fn cells(line: &str) -> Vec<String> {
    line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect()
}

impl Row {
    fn of(cells: Vec<String>) -> Self {
        let format = NAMES.iter().find(|(theirs, _)| *theirs == cells[1]);
        Row {
            files: cells[0].split(", ").map(str::to_string).collect(),
            format: format.unwrap_or_else(|| panic!("a format that this test does not know: {}", cells[1])).1,
            skip_bad: cells[3].contains("skip-bad"),
            cells,
        }
    }

    fn cfg(&self, folder: &Path, file: &str) -> config::Trace {
        config::Trace { skip_bad: self.skip_bad, ..config::Trace::of(folder.join(file)) }
    }

    /// Compares `info` with the figures of the row. Adds a line to `wrong` for each difference; returns the number of
    /// figures.
    fn compare(&self, info: &TraceInfo, wrong: &mut Vec<String>) -> usize {
        if info.format != self.format {
            wrong.push(format!("{}: read as {}", self.files[0], info.format));
        }
        let found = [
            (4, vec![Some(info.requests as f64)]),
            (5, vec![Some(info.duration_s)]),
            (6, vec![info.read_percent, info.read_bytes_percent]),
            (7, vec![info.sequential_percent, info.sequential_device_blind_percent]),
            (8, vec![info.mean_read_kib, info.mean_write_kib]),
            (9, vec![Some(info.footprint_read_mib), Some(info.footprint_written_mib)]),
        ];
        let mut compared = 0;
        for (column, found) in found {
            for (expected, found) in figures(&self.cells[column], found.len()).iter().zip(found) {
                compared += 1;
                if !expected.agrees(found) {
                    let (file, what) = (&self.files[0], COLUMNS[column]);
                    wrong.push(format!("{file}: {what}: the README has {:?}, found {found:?}", expected.0));
                }
            }
        }
        // Real traces come from real drives, so no figure may be implausible.
        wrong.extend(
            info.warnings.iter().filter(|w| w.contains("implausible")).map(|w| format!("{}: {w}", self.files[0])),
        );
        compared + self.compare_words(info, wrong)
    }

    /// Compares the figures in the text cells: `971 records`, `spans 170 GB`, `16 devices over a 2.8 TB span`. Adds a
    /// line to `wrong` for each difference; returns the number of figures.
    fn compare_words(&self, info: &TraceInfo, wrong: &mut Vec<String>) -> usize {
        let words = format!("{} {}", self.cells[2], self.cells[3]);
        let words: Vec<_> = words.split([' ', ';', ':']).filter(|word| !word.is_empty()).collect();
        let before = |at: usize| Figure(words[at - 1].to_string());
        // The span is that of the devices one after another. The README's GB and TB are 2^30 and 2^40 bytes.
        let span = info.span_bytes as f64;
        let mut compared = 0;
        for (at, word) in words.iter().enumerate().skip(1) {
            let (expected, found) = match *word {
                "records" if words[at - 1] == "971" => (before(at), (info.requests + info.other_records) as f64),
                "devices" if words[at - 1].parse::<u64>().is_ok() => (before(at), info.devices.len() as f64),
                "GB" => (before(at), span / 2_f64.powi(30)),
                "TB" => (before(at), span / 2_f64.powi(40)),
                _ => continue,
            };
            compared += 1;
            if !expected.agrees(Some(found)) {
                wrong.push(format!("{}: the README has {} {word}, found {found}", self.files[0], expected.0));
            }
        }
        compared
    }
}

/// The text of a number in the README; a dash means that there is none.
#[derive(Debug)]
struct Figure(String);

/// The `count` numbers of a cell such as `40.8 / 46.0`; none if the cell is empty.
fn figures(cell: &str, count: usize) -> Vec<Figure> {
    if cell.is_empty() {
        return Vec::new();
    }
    let found: Vec<_> = cell.trim_end_matches(" good").split('/').map(|n| Figure(n.trim().to_string())).collect();
    assert_eq!(found.len(), count, "{cell}");
    found
}

impl Figure {
    /// Whether `found`, rounded to the digits of the figure, is equal to it.
    fn agrees(&self, found: Option<f64>) -> bool {
        let text = self.0.replace(',', "");
        let Some(found) = found else { return text == "–" };
        let digits = text.split('.').nth(1).map_or(0, str::len);
        let expected: f64 = text.parse().unwrap_or_else(|_| panic!("a number: {text}"));
        (expected - found).abs() <= 0.5001 * 0.1_f64.powi(digits as i32)
    }
}

fn info(cfg: &config::Trace) -> Result<TraceInfo, flashwatt::Error> {
    trace::info(cfg, &mut |_| true)
}

#[test]
fn statistics_agree_with_every_figure_of_the_readme() {
    let Some(folder) = real_traces() else { return };
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for row in rows(&folder) {
        for file in &row.files {
            match info(&row.cfg(&folder, file)) {
                Ok(info) => compared += row.compare(&info, &mut wrong),
                Err(e) => wrong.push(format!("{file}: {e}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared >= 13 * 10 + 4, "only {compared} figures");
}

#[test]
fn every_file_stands_in_the_readme() {
    let Some(folder) = real_traces() else { return };
    let listed: BTreeSet<_> = rows(&folder).into_iter().flat_map(|row| row.files).collect();
    let there = std::fs::read_dir(&folder).expect("the folder").map(|entry| entry.expect("an entry").file_name());
    let there: BTreeSet<_> = there.map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(there.difference(&listed).collect::<Vec<_>>(), ["README.md"]);
    assert_eq!(listed.difference(&there).count(), 0);
}

/// Formats that were tried on files of other projects, which are not in the folder: requests and kinds were counted with awk.
/// `alibaba`: the first 7 records of the published trace. `biosnoop`: the 21 records of its manual's examples. `btrecord`: 653 records of
/// a sample of HFPlayer, `hfplayer`: its samples of 19 and 780 records. `fio`: a log of fio 3.33. `libcachesim`: its sample of 113,872
/// records, which agrees with the same trace as vscsi.
const TRIED_ELSEWHERE: [&str; 6] = ["alibaba", "biosnoop", "btrecord", "fio", "hfplayer", "libcachesim"];

/// A format is registered as tried if and only if there was a trace of it. The binary form has its own tests.
#[test]
fn formats_are_tried_as_they_say() {
    let Some(folder) = real_traces() else { return };
    let tried = rows(&folder).into_iter().map(|row| row.format).chain(["binary"]).chain(TRIED_ELSEWHERE);
    let tried: BTreeSet<_> = tried.collect();
    let said: BTreeSet<_> = trace::FORMATS.iter().filter(|format| format.tried).map(|format| format.name).collect();
    assert_eq!(tried, said);
}

/// Reads, writes, trims and flushes of the samples for which the README gives no statistics. They were counted with awk
/// (nbd, tracefs) and a few lines of Python (blktrace), independently of this program.
const COUNTS: &[(&str, &str, [u64; 4])] = &[
    ("varmail-ext2.nbdlog.csv.gz", "nbd", [6531, 11_389, 129 + 18, 6329]),
    ("varmail-nilfs2.nbdlog.csv.gz", "nbd", [74, 2634, 128, 2578]),
    ("ext2-fio.tracefs.gz", "tracefs", [1226 + 8 + 2, 2 + 2 + 1372 + 450, 0, 2557]),
    ("nilfs2-sample.blktrace.0", "blktrace", [3 + 6 + 51, 43, 3, 7]),
];

#[test]
fn requests_by_kind_agree_with_independent_counts() {
    let Some(folder) = real_traces() else { return };
    for (file, format, expected) in COUNTS {
        let info = info(&config::Trace::of(folder.join(file))).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(info.format, *format);
        assert_eq!([info.reads, info.writes, info.trims, info.flushes], *expected, "{file}");
    }
}

#[test]
fn other_events_of_the_block_layer_can_be_chosen() {
    let Some(folder) = real_traces() else { return };
    // The completion and queue events of the same files, counted with awk and Python as those of `COUNTS`.
    for (file, format, expected) in [
        ("ycsb-rocksdb.blkparse.gz", "blkparse:Q", [1695, 0, 0, 0]),
        ("ycsb-rocksdb.blkparse.gz", "blkparse:C", [1694, 0, 0, 0]),
        ("nilfs2-sample.blktrace.0", "blktrace:C", [3 + 6 + 51, 43, 3, 7]),
        ("ext2-fio.tracefs.gz", "tracefs:block_rq_complete", [1226 + 8 + 2, 2 + 2 + 1372 + 450, 0, 2557]),
        ("ext2-fio.tracefs.gz", "tracefs:block_bio_queue", [1226 + 8 + 2, 2 + 4 + 1342 + 460, 0, 2557]),
    ] {
        let info = info(&config::Trace { format: Some(format.to_string()), ..config::Trace::of(folder.join(file)) })
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!([info.reads, info.writes, info.trims, info.flushes], expected, "{file} as {format}");
    }
}

#[test]
fn damaged_records_of_real_traces_are_named() {
    let Some(folder) = real_traces() else { return };
    for (file, expected) in [
        (
            "p2pdownload-11k.diskmon.gz",
            "p2pdownload-11k.diskmon.gz:1: first sector: address too large; found `8486082789636758048`",
        ),
        (
            "java-ext4.blkparse.gz",
            "java-ext4.blkparse.gz:29662: time (s): a jump of the clock; found `1266874889.708668759`",
        ),
    ] {
        let message = info(&config::Trace::of(folder.join(file))).err().map_or_else(String::new, |e| e.to_string());
        assert!(message.starts_with(&folder.join(expected).display().to_string()), "{message}");
    }
}

#[test]
fn every_request_is_replayed_on_a_small_drive() {
    let Some(folder) = real_traces() else { return };
    let drive = 256 << 20;
    for row in rows(&folder) {
        for file in &row.files {
            let cfg = config::Trace { beyond: Beyond::Fold, ..row.cfg(&folder, file) };
            let info = info(&cfg).unwrap_or_else(|e| panic!("{e}"));
            let mut workload = TraceWorkload::open(&cfg, drive).unwrap_or_else(|e| panic!("{e}"));
            let (given, end_ns) = drain(&mut workload, drive);
            assert_eq!((given, workload.len_hint()), (info.requests, Some(info.requests)), "{file}");
            assert!((end_ns as f64 / 1e9 - info.duration_s).abs() < 0.1, "{file}: {end_ns} ns");
        }
    }
}

/// The number of requests of the workload, and the time of the last one in ns.
fn drain(workload: &mut TraceWorkload, drive: u64) -> (u64, u64) {
    let (mut now, mut given) = (0, 0);
    loop {
        match workload.next(now).unwrap_or_else(|e| panic!("{e}")) {
            Next::Request(_, r) => {
                assert!(r.arrival_ns <= now && r.offset_bytes + r.bytes <= drive);
                assert!(r.bytes % 512 == 0 && r.offset_bytes % 512 == 0);
                given += 1;
            }
            Next::WaitUntil(t) if t > now => now = t,
            Next::End => return (given, now),
            next => panic!("{next:?} at {now}"),
        }
    }
}
