//! The fallback where nightly or cargo-fuzz is not installed: mutates seeds from a seeded generator for a given time.
//! Inputs that are answered in a way not met before become seeds themselves.
//!
//! `mutate SECONDS [SEED] [NAME]…`; without names all targets, SECONDS for each. An input that breaks an assertion is
//! written to `artifacts/`, and so is one that takes longer than ten seconds. `--list` prints the names, `--seeds NAME FOLDER`
//! writes the seeds of one.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::exit;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use flashwatt::rng::Rng;
use flashwatt_fuzz::{Target, fates};

const HANG: Duration = Duration::from_secs(10);
/// Seeds that are kept, and their length.
const SEEDS_MAX: usize = 2000;
const SEED_BYTES_MAX: usize = 64 << 10;

fn main() {
    let mut args = std::env::args().skip(1).peekable();
    match args.peek().map(String::as_str) {
        Some("--list") => return Target::all().for_each(|target| println!("{}", target.name())),
        Some("--seeds") => return write_seeds(&args.skip(1).collect::<Vec<_>>()),
        _ => {}
    }
    let mut number = |default| args.next().map_or(default, |arg| arg.parse().unwrap_or_else(|_| usage(&arg)));
    let (seconds, seed) = (number(60), number(1));
    let names: Vec<String> = args.collect();
    let named = |name: &String| Target::of(name).unwrap_or_else(|| usage(name));
    let targets: Vec<Target> =
        if names.is_empty() { Target::all().collect() } else { names.iter().map(named).collect() };
    for target in targets {
        watched(target, Duration::from_secs(seconds), seed);
    }
}

/// `--seeds NAME FOLDER`: the seeds as files, for the other fuzzer.
fn write_seeds(args: &[String]) {
    let [name, folder] = args else { usage("--seeds") };
    let target = Target::of(name).unwrap_or_else(|| usage(name));
    for (number, seed) in target.seeds().iter().enumerate() {
        let path = PathBuf::from(folder).join(format!("seed-{number}"));
        std::fs::write(&path, seed).unwrap_or_else(|error| fail(target, seed, &error.to_string()));
    }
}

fn usage(found: &str) -> ! {
    eprintln!("mutate: found `{found}`; expected SECONDS [SEED] [config | FORMAT]...");
    exit(2);
}

/// Fuzzes on a thread of its own, which has to show that it moves.
fn watched(target: Target, time: Duration, seed: u64) {
    let (sender, moves) = channel::<Vec<u8>>();
    let fuzzer = std::thread::spawn(move || fuzz(target, time, seed, &|input| drop(sender.send(input.to_vec()))));
    let mut last = Vec::new();
    loop {
        match moves.recv_timeout(HANG) {
            Ok(input) => last = input,
            Err(RecvTimeoutError::Timeout) => {
                fail(target, &last, "takes longer than ten seconds (this input or one of the 63 after it)")
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if fuzzer.join().is_err() {
        exit(1);
    }
}

fn fuzz(target: Target, time: Duration, seed: u64, show: &dyn Fn(&[u8])) {
    let (start, mut rng) = (Instant::now(), Rng::new(seed));
    let (mut seeds, mut met, mut count) = (target.seeds(), BTreeSet::new(), 0u64);
    while start.elapsed() < time {
        let mut input = seeds[rng.below(seeds.len() as u64) as usize].clone();
        if rng.below(8) == 0 {
            let other = &seeds[rng.below(seeds.len() as u64) as usize];
            let cut = rng.below(1 + other.len() as u64) as usize;
            input.extend(&other[cut..]);
        }
        fates::mutate(&mut input, &mut rng);
        if count % 64 == 0 {
            show(&input);
        }
        count += 1;
        let Ok(answers) = catch_unwind(AssertUnwindSafe(|| target.read(&input))) else {
            fail(target, &input, "breaks an assertion");
        };
        let new = answers.into_iter().fold(false, |new, answer| met.insert(answer) || new);
        if new && seeds.len() < SEEDS_MAX && input.len() < SEED_BYTES_MAX {
            seeds.push(input);
        }
    }
    println!(
        "{:<12} {:>5.1} s  {count:>10} inputs  {:>4} answers  no fault",
        target.name(),
        start.elapsed().as_secs_f64(),
        met.len()
    );
}

fn fail(target: Target, input: &[u8], what: &str) -> ! {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    let hash = input.iter().fold(0u32, |hash, &c| hash.wrapping_mul(31).wrapping_add(u32::from(c)));
    let path = folder.join(format!("{}-{hash:08x}", target.name()));
    let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input));
    eprintln!("{}: an input {what}; kept in {} ({kept:?})", target.name(), path.display());
    exit(1);
}
