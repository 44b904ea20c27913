//! Stand-ins reproduce the published statistics of their traces, at 1/64 of the size. The full size is shown by
//! `cargo run --release --example standins`.

use crate::common::{preset, tier};
use flashwatt::RunOptions;
use flashwatt::config::{Workload, load};
use flashwatt::run;
use flashwatt_core::connector::{Completion, Next, RequestKind, SourceKind};
use flashwatt_workload::standin::character::{Window, sketch};
use flashwatt_workload::standin::{STANDINS, find, measures, of_trace, statistics};

const SCALE: f64 = 1.0 / 64.0;

/// Shares, lengths, sequentiality and hit ratio of every stand-in lie within their tolerances, for three seeds.
#[test]
fn every_stand_in_has_the_published_statistics() {
    for standin in STANDINS.iter() {
        for seed in 1..=3 {
            let (_, rows) = measures(standin, SCALE, seed).expect("a stand-in has no errors");
            assert!(rows.len() >= 4, "{}", standin.name);
            for row in rows {
                assert!(row.holds(), "{}, seed {seed}: {row:?}", standin.name);
            }
        }
    }
}

/// The density of writes by hand: 200 writes of 8 KiB in sequence fill 400 pages in 4 blocks of 128; writes again and reads
/// count for nothing.
#[test]
fn the_density_of_writes_counts_pages_once() {
    let density = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let config = load("device.preset = \"energysim\"", "my.toml", &sets).expect("valid");
        let mut workload = flashwatt_workload::open(&config.workload, 1 << 30, 1).expect("it opens");
        let found = statistics(workload.as_mut(), 1 << 30, 16).expect("it has no errors");
        (found.written_pages, found.written_blocks, found.written_density_percent())
    };
    let once = ["workload.sequential.requests=200", "workload.sequential.request_bytes=8192"];
    assert_eq!(density(&once), (400, 4, 78.125));
    let (range, reads) = ("workload.sequential.range_bytes=409600", "workload.sequential.read_fraction=1");
    assert_eq!(density(&[&once[..], &[range]].concat()), (100, 1, 78.125), "round and round 100 pages");
    assert_eq!(density(&[&once[..], &[reads]].concat()), (0, 0, 0.0));
}

/// The densities that experiment X15 divides its workloads by are those of the stand-ins, whole and with seed 1, to the last
/// digit of its list; and its page states them.
#[test]
fn the_densities_of_x15_are_those_of_the_stand_ins() {
    let script = include_str!("../../../../python/flashwatt/experiments/energysim/x15/measure.py");
    let page = include_str!("../../../../python/flashwatt/experiments/energysim/x15/README.md").to_lowercase();
    let list = script.split_once("DENSITIES = {").and_then(|(_, rest)| rest.split_once('}')).expect("a list").0;
    let listed: Vec<(&str, f64)> = list
        .split_terminator(',')
        .filter_map(|item| item.split_once(':'))
        .map(|(name, percent)| (name.trim().trim_matches('"'), percent.trim().parse().expect("a number")))
        .collect();
    assert_eq!(listed.len(), 7, "{list}");
    for (name, percent) in listed {
        let standin = find(name).expect("it is registered");
        let mut workload = standin.open(1.0, standin.requests(1.0), 460_000_000_000, 1);
        let found = written_density_percent(workload.as_mut());
        assert_eq!(format!("{found:.2}"), format!("{percent:.2}"), "{name}");
        assert!(page.contains(&format!("{name} {found:.1}")), "{name} {found:.1}: {page}");
    }
}

/// The written share of the pages of 4 KiB in blocks of 512 KiB with a write, in percent, counted by itself: [`statistics`] keeps a cache
/// too, which takes most of the time of a whole stand-in.
fn written_density_percent(workload: &mut dyn flashwatt_core::connector::Workload) -> f64 {
    let (mut pages, mut now) = (vec![0_u128; (460_000_000_000_usize >> 19) + 1], 0);
    loop {
        match workload.next(now).expect("a stand-in has no errors") {
            Next::Request(tag, request) => {
                workload.completed(&Completion::done(tag), now);
                if request.kind == RequestKind::Write {
                    let written = request.offset_bytes >> 12..(request.offset_bytes + request.bytes).div_ceil(4096);
                    written.for_each(|page| pages[(page >> 7) as usize] |= 1 << (page & 127));
                }
            }
            Next::WaitUntil(at) => now = at,
            Next::WaitForCompletion | Next::Measure | Next::End => break,
        }
    }
    let (count, blocks) = pages.iter().fold((0, 0), |(count, blocks), block| {
        (count + u64::from(block.count_ones()), blocks + u64::from(*block != 0))
    });
    100.0 * count as f64 / (128 * blocks) as f64
}

/// FNV-1a over kind, place, length and time of the first 20,000 requests: a stand-in without the keys of resumed runs draws
/// what it drew before they existed.
#[test]
fn the_requests_of_the_stand_ins_are_the_same_as_ever() {
    let digests: Vec<String> =
        STANDINS.iter().map(|standin| format!("{} {:016x}", standin.name, digest(standin))).collect();
    assert_eq!(digests, DIGESTS);
}

const DIGESTS: [&str; 9] = [
    "financial1 bcd4146e4c42356d",
    "financial2 90576c291b274604",
    "homes d68612d955963744",
    "msnfs 4b3285750976b24a",
    "filezilla 21f1fe48c115afd7",
    "torrent ab1c62f444d3c5ae",
    "gimp e82a1d280ca2debf",
    "oltp d6e5a1f5c4510e1f",
    "olap 6445f0c52b6a1811",
];

fn digest(standin: &flashwatt_workload::standin::Standin) -> u64 {
    let (mut workload, mut now, mut digest) =
        (standin.open(1.0, 20_000, 460_000_000_000, 1), 0, 0xcbf2_9ce4_8422_2325_u64);
    loop {
        match workload.next(now).expect("a stand-in has no errors") {
            Next::Request(tag, request) => {
                workload.completed(&Completion::done(tag), now);
                for value in [request.kind as u64, request.offset_bytes, request.bytes, request.arrival_ns] {
                    for byte in value.to_le_bytes() {
                        digest = (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
                    }
                }
            }
            Next::WaitUntil(at) => now = at,
            Next::WaitForCompletion | Next::Measure | Next::End => return digest,
        }
    }
}

/// Stand-ins with a published hit ratio also reproduce it at an eighth of the size: the ratio does not depend on the
/// scale.
#[test]
fn hit_ratios_do_not_depend_on_the_scale() {
    for standin in STANDINS.iter().filter(|standin| standin.data.published.hit_percent.is_some()) {
        let (_, rows) = measures(standin, 1.0 / 8.0, 1).expect("a stand-in has no errors");
        let hits = rows.iter().find(|row| row.name.contains("hits")).expect("a row for hits");
        assert!(hits.holds(), "{}: {hits:?}", standin.name);
    }
}

fn report(name: &str) -> flashwatt::Report {
    let sets = [format!("workload.standin.name={name}"), format!("workload.standin.scale={SCALE}")];
    let config = preset("energysim", &sets.each_ref().map(String::as_str));
    run(&config, &RunOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// On the drive of EnergySim's case studies the stand-ins run to their ends, are reported as stand-ins, and keep the
/// published mean number of dies busy.
#[test]
fn stand_ins_run_and_keep_the_published_number_of_dies_busy() {
    for standin in STANDINS.iter() {
        let report = report(&standin.name);
        assert_eq!(report.status, "complete", "{}", standin.name);
        assert_eq!((report.workload.name.as_str(), report.workload.kind), (standin.name.as_ref(), SourceKind::Standin));
        assert_eq!(report.workload.requests, standin.requests(SCALE), "{}", standin.name);
        if let Some(published) = &standin.data.published.active_dies {
            let dies = report.ssd().parallelism.mean_active_dies;
            assert!((dies - published.value).abs() < 0.7, "{}: {dies} of {}", standin.name, published.value);
        }
    }
}

/// Page reads of MSNfs and page writes of FileZilla are those of EnergySim's Table VIII, scaled. The table has, in thousands, 1,959
/// reads and 1,175 writes for MSNfs, 1 read and 1,296 writes for FileZilla. MSNfs' writes are fewer: with requests of whole blocks, as
/// the real trace has, the sizes of Table VI cannot give both counts (the page of X20 derives it).
#[test]
fn page_operations_are_those_of_table_viii() {
    let thousands = |pages: u64| pages as f64 / 1e3 / SCALE;
    let (msnfs, filezilla) = (report("msnfs"), report("filezilla"));
    let reads = thousands(msnfs.ssd().flash.reads.host);
    let writes = [&msnfs, &filezilla].map(|report| thousands(report.ssd().flash.programs.host));
    assert!((reads / 1959.0 - 1.0).abs() < 0.1, "{reads}");
    assert!((writes[0] / 1175.0 - 1.0).abs() < 0.15 && (writes[1] / 1296.0 - 1.0).abs() < 0.1, "{writes:?}");
}

/// The popular pages of the writes are those of an excerpt of Financial1 with 20,801 writes: the most popular page has 2.5 %,
/// ten have 12.9 %, a hundred 28.4 %, and 26.5 % of the writes start in a page that is new in the excerpt. A stand-in whose
/// reuse rewards itself has one page with 10 to 30 %.
#[test]
fn no_page_is_more_popular_than_in_an_excerpt() {
    for (name, skip) in [("financial1", 2_000_000), ("oltp", 150_000)] {
        let standin = find(name).expect("it is registered");
        for seed in 1..=3 {
            let mut workload = standin.open(1.0, standin.requests(1.0), 460_000_000_000, seed);
            let sketch = sketch(workload.as_mut(), Window { skip, writes: 20_801 }).expect("it has no errors");
            let writes = sketch.character().writes;
            let [one, ten, hundred, _] = writes.top_percent;
            let what = format!("{name}, seed {seed}: {writes:?}");
            assert!((1.5..=3.5).contains(&one) && (9.0..=17.0).contains(&ten), "{what}");
            assert!((24.0..=36.0).contains(&hundred) && (18.0..=32.0).contains(&writes.new_percent), "{what}");
        }
    }
}

fn directory(name: &str) -> std::path::PathBuf {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("standin-{name}"));
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}

/// The first requests of a stand-in as a trace in a file.
fn trace_of(name: &str, requests: u64, file: &std::path::Path) {
    let standin = find(name).expect("it is registered");
    let (mut workload, mut now, mut text) = (standin.open(1.0, requests, 1 << 30, 3), 0, String::new());
    loop {
        match workload.next(now).expect("it has no errors") {
            Next::Request(tag, request) => {
                workload.completed(&Completion::done(tag), now);
                let kind = if request.kind == RequestKind::Read { "R" } else { "W" };
                let us = request.arrival_ns as f64 / 1e3;
                text += &format!("{us},0,{kind},{},{}\n", request.offset_bytes, request.bytes);
            }
            Next::WaitUntil(at) => now = at,
            Next::WaitForCompletion | Next::Measure | Next::End => break,
        }
    }
    std::fs::write(file, text).expect("it can be written");
}

/// A stand-in of a trace has the trace's mix, sizes, rate, sequentiality and reuse; from its file it runs like a
/// registered one, and the report names the file.
#[test]
fn a_stand_in_of_a_trace_is_like_it() {
    let dir = directory("likeness");
    let (trace, file) = (dir.join("trace.csv"), dir.join("mine.toml"));
    let requests = tier::size(5_000, 20_000).min(20_000) as u64; // the search takes as long as the trace is
    trace_of("oltp", requests, &trace);
    let Workload::Trace(cfg) =
        load("", "t", &[format!("workload.trace.path={}", trace.display())]).expect("valid").workload
    else {
        unreachable!("a trace was named")
    };
    let fitted = of_trace(&cfg, &mut |_| true).expect("it can be fitted");
    let (found, wanted) = (&fitted.standin, &fitted.trace);
    assert_eq!((found.requests, wanted.requests), (requests, requests));
    let near = |found: f64, wanted: f64, least: f64, what: &str| {
        assert!((found - wanted).abs() <= (0.1 * wanted).max(least), "{what}: {found} for {wanted}");
    };
    near(found.reads.requests as f64, wanted.reads.requests as f64, 0.0, "reads");
    near(found.writes.mean_kib, wanted.writes.mean_kib, 0.0, "mean write");
    near(found.reads.mean_kib, wanted.reads.mean_kib, 0.0, "mean read");
    near(found.sequential_percent, wanted.sequential_percent, 1.0, "sequential");
    near(found.writes.new_percent, wanted.writes.new_percent, 3.0, "new pages");
    for (found, wanted) in found.writes.top_percent.iter().zip(&wanted.writes.top_percent) {
        near(*found, *wanted, 3.0, "popular pages");
    }
    for (found, wanted) in found.writes.hit_percent.iter().zip(&wanted.writes.hit_percent) {
        near(*found, *wanted, 8.0, "hits");
    }
    assert!(fitted.of_writes && fitted.distance < 0.15, "{}", fitted.distance);

    std::fs::write(&file, &fitted.toml).expect("it can be written");
    let config = preset("energysim", &[&format!("workload.standin.path={}", file.display())]);
    assert_eq!(config.workload.requests(), Some(requests));
    let report = run(&config, &RunOptions::default(), &mut |_| true).expect("it runs");
    assert_eq!((report.workload.name.as_str(), report.status.as_str()), ("mine", "complete"));
    assert!(report.workload.input_sha256.is_some());
    let rate = requests as f64 / report.throughput.simulated_s;
    near(rate, requests as f64 * 1e9 / cfg_duration_ns(&cfg), 0.0, "rate");
}

fn cfg_duration_ns(cfg: &flashwatt::config::Trace) -> f64 {
    flashwatt_workload::trace::info(cfg, &mut |_| true).expect("it can be read").duration_ns as f64
}

/// Four streams of writes take turns in a fixed order, each in an extent of its own: every write but the first of each goes on
/// from the run three runs before the latest. The stand-in's file says so, the stand-in does so, and neither has another place
/// for a write to start.
#[test]
fn a_stand_in_of_streams_that_take_turns_has_such_streams() {
    let dir = directory("streams");
    let (trace, file) = (dir.join("trace.csv"), dir.join("mine.toml"));
    let place = |number: u64| ((number % 4) << 24) + number / 4 * 8192;
    let lines = (0..4000_u64).map(|number| format!("{},0,W,{},8192\n", number * 100, place(number)));
    std::fs::write(&trace, lines.collect::<String>()).expect("it can be written");
    let Workload::Trace(cfg) =
        load("", "t", &[format!("workload.trace.path={}", trace.display())]).expect("valid").workload
    else {
        unreachable!("a trace was named")
    };
    let fitted = of_trace(&cfg, &mut |_| true).expect("it can be fitted");
    std::fs::write(&file, &fitted.toml).expect("it can be written");
    let standin = flashwatt_workload::standin::Standin::read(&file).expect("it is a stand-in");
    let model = &standin.data.model;
    assert_eq!(model.write_resume_fraction.as_ref().map(|share| share.value), Some(0.999));
    assert_eq!(model.write_resume_depths.as_ref().map(|depths| depths.value.clone()), Some(vec![(2, 1.0)]));
    assert_eq!(model.write_resume_gaps.as_ref().map(|gaps| gaps.value.clone()), Some(vec![(0, 1.0)]));
    assert!(model.read_resume_fraction.is_none(), "there is no read");
    let (mut ends, mut resumed, mut last) = (Vec::new(), 0, u64::MAX);
    let (mut workload, mut now) = (standin.open(1.0, 4000, 1 << 30, 2), 0);
    loop {
        match workload.next(now).expect("it has no errors") {
            Next::Request(tag, request) => {
                workload.completed(&Completion::done(tag), now);
                let before = ends.len();
                ends.retain(|end| *end != request.offset_bytes);
                resumed += u32::from(ends.len() < before && last != request.offset_bytes);
                last = request.offset_bytes + request.bytes;
                ends.push(last);
            }
            Next::WaitUntil(at) => now = at,
            Next::WaitForCompletion | Next::Measure | Next::End => break,
        }
    }
    assert!((3980..4000).contains(&resumed), "{resumed}");
}

/// The search ends when it is told to.
#[test]
fn a_fit_can_be_ended() {
    let dir = directory("ended");
    let trace = dir.join("trace.csv");
    trace_of("oltp", 2_000, &trace);
    let Workload::Trace(cfg) =
        load("", "t", &[format!("workload.trace.path={}", trace.display())]).expect("valid").workload
    else {
        unreachable!("a trace was named")
    };
    let error = of_trace(&cfg, &mut |progress| progress.requests_total.is_none()).expect_err("it was ended");
    assert!(error.to_string().contains("interrupted"), "{error}");
}

/// A file that is no stand-in is named, with its line.
#[test]
fn a_file_that_is_no_stand_in_is_named() {
    let dir = directory("named");
    let file = dir.join("mine.toml");
    let errors = |text: &str| {
        std::fs::write(&file, text).expect("it can be written");
        load("", "t", &[format!("workload.standin.path={}", file.display())]).expect_err("it is wrong").to_string()
    };
    let right = find("gimp").expect("it is registered").data.to_toml();
    let key = |name: &str, value: &str| {
        format!("read_resume_{name} = {{ value = {value}, tag = \"chosen\", source = \"a test\" }}\n")
    };
    let resume = |fraction: &str, depths: &str, gaps: &str| {
        key("fraction", fraction)
            + &key("depths", depths)
            + &key("gaps", gaps)
            + &key("fresh_fraction", "0")
            + &key("grown_fraction", "0.5")
    };
    let writes =
        |keys: &str| right.replace("[model]\n", &format!("[model]\n{}", keys.replace("read_resume", "write_resume")));
    assert!(
        load(
            "",
            "t",
            &[
                "device.preset=tlc-nvme-1t".into(),
                format!("workload.standin.path={}", {
                    std::fs::write(&file, &right).expect("it can be written");
                    file.display()
                })
            ]
        )
        .is_ok()
    );
    for (text, words) in [
        ("", "mine.toml:1: no stand-in"),
        (&right.replace("open_chunks", "open_chunk"), "open_chunk"),
        (
            &right.replace("read_continue_fraction = { value = 0", "read_continue_fraction = { value = 3"),
            "read_continue_fraction: found 3",
        ),
        (
            &right.replace("[model]\n", &format!("[model]\n{}", resume("0.9", "[[1, 1.0]]", "[[0, 1.0]]"))),
            "read_resume_fraction + read_fresh",
        ),
        (&writes(&resume("0.1", "[[0, 1.0]]", "[[0, 1.0]]")), "write_resume_depths"),
        (&writes(&resume("0.1", "[[257, 1.0]]", "[[0, 1.0]]")), "write_resume_depths"),
        (&writes(&resume("0.1", "[[1, 1.0]]", "[]")), "write_resume_gaps"),
        (&writes(&resume("0.1", "[[1, 1.0]]", "[[4096, 1.0]]")), "write_resume_gaps"),
        (&writes(&resume("-0.1", "[[1, 1.0]]", "[[0, 1.0]]")), "write_resume_fraction"),
        (&writes("write_resume_fraction = { value = 0.1, tag = \"chosen\", source = \"a test\" }\n"), "together"),
        (&right.replace("recent_starts = { value = 955", "recent_starts = { value = 0"), "recent_starts"),
    ] {
        let message = errors(text);
        assert!(message.contains(words) && message.contains("mine.toml"), "{message}");
    }
    let both = ["workload.standin.name=gimp".to_string(), "workload.standin.path=x".into()];
    assert!(load("", "t", &both).expect_err("both").to_string().contains("not by both"));
    let missing = load("", "t", &["workload.standin.path=nowhere.toml".into()]).expect_err("no file").to_string();
    assert!(missing.contains("nowhere.toml"), "{missing}");
}
