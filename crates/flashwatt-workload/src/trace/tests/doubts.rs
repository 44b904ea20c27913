//! Figures that no drive reaches give a warning that names the option for a plausible unit; other figures give none.

use std::fmt::Write as _;

use super::*;
use crate::settings::{LengthUnit, TimeUnit};

/// Number of requests in a trace.
const REQUESTS: u64 = 200;

/// A trace whose lines are `line(number, draw)`, with a random draw below 100,000 for each line.
fn trace(name: &str, line: impl Fn(u64, u64) -> String) -> Temporary {
    let (mut content, mut rng) = (String::new(), flashwatt_base::rng::Rng::new(7));
    for i in 0..REQUESTS {
        writeln!(content, "{}", line(i, rng.below(100_000))).expect("writing to memory");
    }
    Temporary::new(name, content.as_bytes())
}

fn doubts(cfg: &settings::Trace) -> Vec<String> {
    let warnings = info(cfg, &mut |_| true).map(|info| info.warnings).unwrap_or_else(|e| panic!("{e}"));
    warnings.into_iter().filter(|warning| warning.starts_with("implausible")).collect()
}

/// Asserts that there is exactly one warning, which contains `what` and names the option.
fn doubted(file: &Temporary, what: &str, option: &str) {
    let found = doubts(&file.cfg());
    assert!(found.len() == 1 && found[0].contains(what) && found[0].contains(option), "{found:?}");
}

#[test]
fn times_in_a_longer_unit() {
    let ms = trace("t", |i, at| format!("{i} 0 {at} 8 1"));
    doubted(&ms, "1,005,025,126 requests and 4116.6 GB a second", "--time-unit ms makes it 1,005 requests a second");
    assert_eq!(doubts(&settings::Trace { time_unit: Some(TimeUnit::Millisecond), ..ms.cfg() }), Vec::<String>::new());
}

#[test]
fn times_in_a_shorter_unit() {
    let ns =
        trace("t", |i, at| format!("1,R,{},4096,{}", at * 4096, 1_577_808_144_360_767_000 + i * 50_000_000_000_000));
    let cfg = settings::Trace { format: Some("alibaba".into()), time_unit: Some(TimeUnit::Nanosecond), ..ns.cfg() };
    assert_eq!(doubts(&cfg), Vec::<String>::new());
    let us = trace("t", |i, at| format!("1,R,{},4096,{}", at * 4096, i * 50_000_000_000_000));
    doubted(&us, "a trace of 315 years", "--time-unit ns makes it 0.00 requests a second");
}

#[test]
fn sizes_in_a_shorter_unit() {
    let bytes = trace("t", |i, at| format!("{}.0 0 {at} 8192 1", i));
    doubted(&bytes, "4096.0 KiB on average", "--size-unit bytes makes them 8.0 KiB");
    assert_eq!(doubts(&settings::Trace { size_unit: Some(LengthUnit::Bytes), ..bytes.cfg() }), Vec::<String>::new());
}

#[test]
fn sizes_in_a_longer_unit() {
    let blocks = trace("t", |i, at| format!("{i}.0 0 {at} 1 1"));
    doubted(&blocks, "512 bytes on average", "--size-unit 4kib makes them 4.0 KiB");
    let sectors = trace("t", |i, at| format!("{i}000,0,R,{},16", at * 4096));
    doubted(&sectors, "16 bytes on average", "--size-unit sectors makes them 8.0 KiB");
}

#[test]
fn offsets_in_another_unit() {
    let bytes = trace("t", |i, at| format!("{i}.0 0 {} 8 1", at * 4096));
    doubted(
        &bytes,
        "all of them multiples of 2048.0 KiB, for requests of 4.0 KiB",
        "--offset-unit bytes makes its span",
    );
    let sectors = trace("t", |i, at| format!("{i}000,0,R,{},4096", at * 8 + 3));
    doubted(&sectors, "do not start at a sector of 512 bytes", "--offset-unit sectors makes its span");
    let far = trace("t", |i, at| format!("{i}.0 0 {} 8 1", (at << 30) + at));
    doubted(&far, "more than any drive holds", "--offset-unit bytes makes its span");
}

#[test]
fn both_in_bytes() {
    let both = trace("t", |i, at| format!("{i}.0 0 {} 4096 1", at * 4096));
    let found = doubts(&both.cfg());
    assert!(
        found.len() == 2 && found[0].contains("--size-unit bytes") && found[1].contains("--offset-unit bytes"),
        "{found:?}"
    );
}

#[test]
fn what_a_drive_can_do_is_not_doubted() {
    for (what, file) in [
        ("random", trace("t", |i, at| format!("{} 0 {} 8 1", i * 1000, at * 8))),
        ("a mebibyte each, one after another", trace("t", |i, _| format!("{} 0 {} 2048 0", i * 1_000_000, i * 2048))),
        ("all at one time", trace("t", |_, at| format!("5 0 {} 8 1", at * 8))),
        ("flushes", trace("t", |i, _| format!("{i},0,F,0,0"))),
        ("a trim of the drive", trace("t", |i, _| format!("{i}000,0,T,0,64000000000"))),
        ("requests of 512 bytes in bytes", trace("t", |i, at| format!("{i}000,0,W,{},512", at * 512))),
    ] {
        let named = if what == "flushes" { Some("csv".to_string()) } else { None };
        assert_eq!(doubts(&settings::Trace { format: named, ..file.cfg() }), Vec::<String>::new(), "{what}");
    }
    let few = ssdsim(&"0 0 8 1 0\n1 0 8 1 0\n".repeat(3));
    assert_eq!(doubts(&few.cfg()), Vec::<String>::new(), "too few to say");
}

/// A run gives the warning even if it stops early, and so does a conversion. With several files the warning names the
/// file.
#[test]
fn runs_and_conversions_say_it_as_well() {
    let (bad, good) =
        (trace("bad", |i, at| format!("{i} 0 {at} 8 1")), trace("good", |i, at| format!("{i}000 0 {at} 8 1")));
    let workload = TraceWorkload::open(&bad.cfg(), DRIVE).expect("a good trace");
    assert!(workload.warnings().iter().any(|warning| warning.starts_with("implausible times")));
    let both = settings::Trace { paths: vec![bad.0.clone(), good.0.clone()], ..bad.cfg() };
    let warnings = TraceWorkload::open(&both, DRIVE).expect("good traces").warnings();
    let told: Vec<_> = warnings.iter().filter(|warning| warning.contains("implausible")).collect();
    assert!(told.len() == 1 && told[0].starts_with("bad: implausible times"), "{told:?}");
    let target = Target { path: bad.0.with_file_name("out.csv"), format: None, drive_bytes: None, force: false };
    let converted = convert(&bad.cfg(), &target, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    assert!(converted.warnings.iter().any(|warning| warning.starts_with("implausible times")));
}

/// A first trace made by hand is short; a size below a sector or a thousand million requests a second are doubted there, too.
#[test]
fn short_traces_are_doubted() {
    let short = |records: u64| {
        let lines: String = (0..records).map(|i| format!("{i}.0,0,R,{},8\n", i * 8)).collect();
        doubts(&Temporary::new("t", lines.as_bytes()).cfg())
    };
    assert!(matches!(&short(4)[..], [one] if one.contains("--size-unit sectors")), "{:?}", short(4));
    assert_eq!(short(3), [""; 0]);
}

/// Sequential requests of 1 to 8 pages, with sizes and offsets in units of these bytes, for a format of `columns(time, offset, size)`.
fn sequential(sizes: u64, offsets: u64, columns: impl Fn(u64, u64, u64) -> String) -> Temporary {
    let (mut content, mut rng, mut at) = (String::new(), flashwatt_base::rng::Rng::new(3), 0);
    for i in 0..REQUESTS {
        let bytes = (1 + rng.below(8)) << 12;
        writeln!(content, "{}", columns(i, at / offsets, bytes / sizes)).expect("writing to memory");
        at += bytes;
    }
    Temporary::new("t", content.as_bytes())
}

/// Sizes and offsets in different units: read wrongly nothing is sequential, in the right units all is.
#[test]
fn units_that_do_not_fit_each_other() {
    let disksim = |i: u64, at: u64, size: u64| format!("{i}.5 0 {at} {size} 1");
    let csv = |i: u64, at: u64, size: u64| format!("{i}000,0,R,{at},{size}");
    let spc = |i: u64, at: u64, size: u64| format!("0,{at},{size},r,{i}.5");
    for (file, option) in [
        (sequential(4096, 512, disksim), "--size-unit 4kib"),
        (sequential(512, 1, disksim), "--offset-unit bytes"),
        (sequential(512, 1, csv), "--size-unit sectors"),
        (sequential(1, 512, csv), "--offset-unit sectors"),
        (sequential(1, 4096, csv), "--offset-unit 4kib"),
        (sequential(1, 1, spc), "--offset-unit bytes"),
    ] {
        let found = doubts(&file.cfg());
        assert!(found.len() == 1 && found[0].contains(option), "{option}: {found:?}");
    }
    for file in [sequential(512, 512, disksim), sequential(1, 1, csv), sequential(1, 512, spc)] {
        assert_eq!(doubts(&file.cfg()), [""; 0]);
    }
}

/// Without any sequence: sizes in blocks beside offsets of whole blocks, and both in bytes.
#[test]
fn units_of_random_requests() {
    let blocks = trace("t", |i, at| format!("{i}.5 0 {} {} 1", at * 8, 1 + at % 7));
    doubted(&blocks, "all offsets are multiples of 4.0 KiB", "--size-unit 4kib");
    let bytes = trace("t", |i, at| format!("{i}.5 0 {} {} 1", at * 1024, 1024 * (1 + at % 2)));
    doubted(&bytes, "implausible sizes and offsets", "--size-unit bytes --offset-unit bytes");
    let sectors = trace("t", |i, at| format!("{i}000,0,R,{},{}", at * 4096, 600 + 8 * (at % 100)));
    doubted(&sectors, "no multiples of 512 bytes", "--size-unit sectors");
    let mixed = trace("t", |i, at| format!("{i}.5 0 {} {} 1", at * 8, 8 << (at % 6)));
    assert_eq!(doubts(&mixed.cfg()), [""; 0]);
}

#[test]
fn a_trace_that_starts_in_no_time_of_ours() {
    let ticks = trace("t", |i, at| format!("{},0,R,{},4096", 15_778_081_443_607_670 + 1000 * i, at * 4096));
    doubted(&ticks, "neither an uptime nor a date", "--time-unit 100ns");
    // In the unit of the format these times have no place in 64 bits: it is recognised nevertheless, and the error names the option.
    let ns = trace("t", |i, at| format!("{},web,0,Read,{},4096,1", 1_577_808_144_360_767_000 + 1000 * i, at * 4096));
    let told = info(&ns.cfg(), &mut |_| true).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(told.contains("time too large") && told.contains("--time-unit"), "{told}");
    let named = settings::Trace { time_unit: Some(TimeUnit::Nanosecond), ..ns.cfg() };
    assert_eq!(info(&named, &mut |_| true).map(|info| info.duration_s.round()).ok(), Some(0.0));
}

/// A jump of the clock in the middle of 0.1 s: said in every format, and cut by its option.
#[test]
fn jumps_of_the_clock() {
    let jump = |i: u64| if i < 100 { i } else { 8_640_000_000 + i };
    for file in [
        trace("t", |i, at| format!("{}.000,0,R,{},4096", jump(i) * 1000, at * 4096)),
        trace("t", |i, at| format!("{}.000 0 {} 8 1", jump(i), at * 8)),
        trace("t", |i, at| format!("0,{},4096,r,{}.{:03}", at * 8, jump(i) / 1000, jump(i) % 1000)),
    ] {
        let warnings = |cfg: &settings::Trace| info(cfg, &mut |_| true).map(|info| (info.warnings, info.duration_s));
        let (told, _) = warnings(&file.cfg()).expect("a good trace");
        assert!(told.len() == 1 && told[0].contains("100.0 days without a request before line 101"), "{told:?}");
        let cut = settings::Trace { max_gap_ns: Some(1_000_000_000), ..file.cfg() };
        let (told, duration_s) = warnings(&cut).expect("a good trace");
        assert!(told.len() == 1 && told[0].starts_with("1 step of the clock longer than 1 s cut"), "{told:?}");
        assert!((1.19..1.2).contains(&duration_s), "{duration_s}");
    }
}
