//! How fast traces are read and conversions written, against their goals; medians of the processor time of this thread, so
//! that other work on the machine counts as little as it can.
//!
//! `cargo bench --bench traces -- [NAME]` prints one line per case (whose name contains NAME); `make bench` runs all.
#![allow(clippy::print_stdout, missing_docs)]

mod common;

use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};

use common::cpu_ns;
use flashwatt::config::{self, Arrivals, Beyond};
use flashwatt_core::connector::{Completion, Next, Workload};
use flashwatt_workload::synthetic;
use flashwatt_workload::trace::{self, BinaryWriter, Input, Record, Target, TraceWorkload};

const RECORDS: u64 = 2_000_000;
const RUNS: usize = 5;

/// A format, what a line of it is like, and the goals in 10^6 records/s: plain, gzip.
type Text = (&'static str, fn(&mut Vec<u8>, u64, u64), f64, f64);

const TEXTS: [Text; 5] = [
    ("spc", spc, 10.0, 3.0),
    ("ssdsim", ssdsim, 10.0, 3.0),
    ("csv", csv, 10.0, 3.0),
    ("msr", msr, 10.0, 3.0),
    ("disksim", disksim, 10.0, 3.0),
];

fn main() {
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with("--")).unwrap_or_default();
    let case = |name: &str, goal: f64, measure: &mut dyn FnMut() -> f64| {
        if name.contains(&wanted) {
            line(name, median(measure), goal, "M records/s");
        }
    };
    for (name, write, plain_goal, gzip_goal) in TEXTS {
        let content = lines(write);
        let plain = temporary(name, &content);
        case(&format!("{name}, plain"), plain_goal, &mut || decode(&plain.0, name));
        let gz = temporary(&format!("{name}.gz"), &gzip(&content));
        case(&format!("{name}, gzip"), gzip_goal, &mut || decode(&gz.0, name));
    }
    let binary = temporary("fwt", &as_binary());
    case("binary, plain", 10.0, &mut || decode(&binary.0, "binary"));
    let text = temporary("spc", &lines(spc));
    case("spc, replayed (hash, two readings)", 2.0, &mut || replay(&text.0));
    case("spc, converted to binary", 4.0, &mut || convert(&text.0));
    uniform(&wanted);
}

fn line(name: &str, measured: f64, goal: f64, unit: &str) {
    let met = if measured >= goal { "met" } else { "MISSED" };
    println!("{name:<34} {measured:7.2} {unit:<13} goal {goal:4.1}  {met}");
}

/// The median of some runs, each of which gives 10^6 records per second.
fn median(measure: &mut dyn FnMut() -> f64) -> f64 {
    let mut rates: Vec<f64> = (0..RUNS).map(|_| measure()).collect();
    rates.sort_by(f64::total_cmp);
    rates[RUNS / 2]
}

fn rate(records: u64, start_ns: u64) -> f64 {
    records as f64 * 1e3 / (cpu_ns() - start_ns) as f64
}

/// A file that is removed when the measurement is over.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // A file that stays behind does no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn temporary(name: &str, content: &[u8]) -> Temporary {
    let path = std::env::temp_dir().join(format!("flashwatt-speed-{}-{name}", std::process::id()));
    std::fs::write(&path, content).expect("a temporary file");
    Temporary(path)
}

/// Lines as they look in real traces: times that rise, sizes and addresses of several digits.
fn lines(line: fn(&mut Vec<u8>, u64, u64)) -> Vec<u8> {
    let mut content = Vec::new();
    for i in 0..RECORDS {
        line(&mut content, i, i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 36);
    }
    content
}

fn ssdsim(to: &mut Vec<u8>, i: u64, random: u64) {
    writeln!(to, "{} {} {} {} {}", i * 26_214, i % 2, random % 1_000_000, 1 + random % 16, random & 1).expect("memory");
}

fn disksim(to: &mut Vec<u8>, i: u64, random: u64) {
    let (us, sector) = (i * 262, random % 100_000_000);
    writeln!(to, "{}.{:03} {} {sector} {} {}", us / 1000, us % 1000, i % 6, 8 + random % 16, random & 1)
        .expect("memory");
}

fn csv(to: &mut Vec<u8>, i: u64, random: u64) {
    let op = if random & 1 == 0 { 'W' } else { 'R' };
    let (offset, bytes) = (4096 * (random % 100_000), 512 * (1 + random % 16));
    writeln!(to, "{}.{:03},{},{op},{offset},{bytes}", i * 262, i % 1000, i % 2).expect("memory");
}

fn spc(to: &mut Vec<u8>, i: u64, random: u64) {
    let (op, us) = (if random & 1 == 0 { 'w' } else { 'r' }, i * 262);
    let (sector, bytes) = (random % 1_000_000, 512 * (1 + random % 16));
    writeln!(to, "{},{sector},{bytes},{op},{}.{:06}", i % 2, us / 1_000_000, us % 1_000_000).expect("memory");
}

fn msr(to: &mut Vec<u8>, i: u64, random: u64) {
    let (op, time) = (if random & 1 == 0 { "Write" } else { "Read" }, 128_166_391_024_154_329 + i * 4693);
    writeln!(to, "{time},prxy,0,{op},{},{},1514", 4096 * (random % 1_000_000), 512 * (1 + random % 16))
        .expect("memory");
}

fn as_binary() -> Vec<u8> {
    let mut writer = BinaryWriter::new(Vec::new()).expect("memory");
    each("spc", Input::new(Box::new(std::io::Cursor::new(lines(spc))), "spc").expect("memory"), |record| {
        writer.record(record).expect("memory");
    });
    writer.finish().expect("memory")
}

/// The decoder alone, as the replay calls it.
fn each(format: &str, input: Input, mut take: impl FnMut(&Record)) {
    let (format, event) = trace::find(format).expect("a registered format");
    let mut decoder = (format.decode)(input, trace::ReadOptions { event, ..trace::ReadOptions::default() });
    let mut count = 0;
    while let Ok(Some(record)) = decoder.next() {
        take(&record);
        count += 1;
    }
    assert_eq!(count, RECORDS);
}

fn decode(path: &Path, format: &str) -> f64 {
    let start = cpu_ns();
    let mut sum = 0;
    each(format, Input::open(path).expect("a file"), |record| sum ^= record.offset_bytes);
    black_box(sum);
    rate(RECORDS, start)
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(content).expect("memory");
    packer.finish().expect("memory")
}

fn replay(path: &Path) -> f64 {
    let start = cpu_ns();
    let cfg = config::Trace { beyond: Beyond::Fold, closed_loop: Some(true), ..config::Trace::of(path) };
    let mut workload: Box<dyn Workload> = Box::new(TraceWorkload::open(&cfg, 1 << 30).expect("a good trace"));
    while let Ok(Next::Request(..)) = workload.next(0) {}
    rate(RECORDS, start)
}

fn convert(path: &Path) -> f64 {
    let to = Temporary(path.with_extension("converted.fwt"));
    let target = Target { path: to.0.clone(), format: None, drive_bytes: None, force: true };
    let start = cpu_ns();
    let converted = trace::convert(&config::Trace::of(path), &target, &mut |_| true).expect("a good trace");
    assert_eq!(converted.requests, RECORDS);
    rate(RECORDS, start)
}

/// The other source of requests, by the way.
fn uniform(wanted: &str) {
    let cfg = config::Synthetic {
        requests: 50_000_000,
        read_fraction: 0.7,
        range_bytes: 1 << 40,
        arrivals: Arrivals::Closed { queue_depth: 32 },
        ..config::Synthetic::writes()
    };
    let mut measure = || {
        let start = cpu_ns();
        let mut workload: Box<dyn Workload> = black_box(synthetic::open(&cfg, 1));
        let mut sum = 0;
        while let Ok(Next::Request(tag, request)) = workload.next(0) {
            sum ^= request.offset_bytes;
            workload.completed(&Completion::done(tag), 0);
        }
        black_box(sum);
        rate(cfg.requests, start)
    };
    if "uniform".contains(wanted) {
        line("uniform, next and done", median(&mut measure), 200.0, "M requests/s");
    }
}
