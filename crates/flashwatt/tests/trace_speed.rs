//! How fast traces are read. Not run by default: it measures, and its goals are for a quiet core.
//!
//! ```text
//! cargo test --release -p flashwatt --test trace_speed -- --ignored --nocapture
//! ```

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use flashwatt::config::{self, Arrivals, Beyond};
use flashwatt::workload::trace::{self, Input, TraceWorkload};
use flashwatt::workload::{Next, Workload, synthetic};

const RECORDS: u64 = 4_000_000;

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

/// Lines as they look in the real samples: times that rise, sizes and addresses of several digits.
fn lines(mut line: impl FnMut(&mut Vec<u8>, u64, u64)) -> Vec<u8> {
    let mut content = Vec::new();
    for i in 0..RECORDS {
        line(&mut content, i, i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 36);
    }
    content
}

fn ssdsim(to: &mut Vec<u8>, i: u64, random: u64) {
    writeln!(to, "{} {} {} {} {}", i * 26_214, i % 2, random % 1_000_000, 1 + random % 16, random & 1).expect("memory");
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

/// The decoder alone, as the replay calls it.
fn decode(path: &Path, format: &str) -> f64 {
    let start = Instant::now();
    let (format, event) = trace::find(format).expect("a registered format");
    let mut decoder = (format.decode)(Input::open(path).expect("a file"), event);
    let mut count = 0;
    while let Ok(Some(_)) = decoder.next() {
        count += 1;
    }
    assert_eq!(count, RECORDS);
    RECORDS as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(content).expect("memory");
    packer.finish().expect("memory")
}

/// The best of three: what the machine's other work leaves.
fn best(mut measure: impl FnMut() -> f64) -> f64 {
    (0..3).map(|_| measure()).fold(0.0, f64::max)
}

#[test]
#[ignore = "a measurement"]
#[expect(clippy::print_stdout, reason = "a measurement is for reading")]
fn decoders() {
    for (name, goal, content) in [("ssdsim", 10.0, lines(ssdsim)), ("spc", 10.0, lines(spc)), ("msr", 8.0, lines(msr))]
    {
        let plain = temporary(name, &content);
        let rate = best(|| decode(&plain.0, name));
        println!("{name}: {rate:.1} M records/s plain (goal {goal})");
        let packed = temporary(&format!("{name}.gz"), &gzip(&content));
        let rate = best(|| decode(&packed.0, name));
        println!("{name}: {rate:.1} M records/s gzip (goal 3)");
        if name == "spc" {
            let rate = best(|| replay(&plain.0));
            println!("{name}: {rate:.1} M requests/s replayed, both readings and the hash included");
        }
    }
}

fn replay(path: &Path) -> f64 {
    let start = Instant::now();
    let cfg = config::Trace {
        path: path.to_path_buf(),
        format: None,
        devices: Vec::new(),
        beyond: Beyond::Fold,
        skip_bad: false,
        speed: 1.0,
        closed_loop: true,
        max_requests: None,
    };
    let mut workload: Box<dyn Workload> = Box::new(TraceWorkload::open(&cfg, 1 << 30).expect("a good trace"));
    while let Ok(Next::Request(_)) = workload.next(0) {}
    RECORDS as f64 / start.elapsed().as_secs_f64() / 1e6
}

#[test]
#[ignore = "a measurement"]
#[expect(clippy::print_stdout, reason = "a measurement is for reading")]
fn uniform() {
    let cfg = config::Synthetic {
        requests: 100_000_000,
        read_fraction: 0.7,
        range_bytes: 1 << 40,
        arrivals: Arrivals::Closed { queue_depth: 32 },
        ..config::Synthetic::writes()
    };
    let rate = best(|| {
        let start = Instant::now();
        let mut workload: Box<dyn Workload> = std::hint::black_box(synthetic::open(&cfg, 1));
        let mut sum = 0;
        while let Ok(Next::Request(request)) = workload.next(0) {
            sum ^= request.offset_bytes;
            workload.done(0);
        }
        std::hint::black_box(sum);
        cfg.requests as f64 / start.elapsed().as_secs_f64()
    });
    println!("uniform: {:.2} ns per request, next and done (goal 5)", 1e9 / rate);
}
