//! A program without `unsafe` cannot make the engine read outside of its tables, with any arguments. This test is such a
//! program: it is built against the public API, with the feature `internals` and without it.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use flashwatt::Drive;
use flashwatt::Error;
use flashwatt::RunOptions;
use flashwatt::config::{Config, load};
use flashwatt::report::{DeviceReport, Reported};
use flashwatt::run;
use flashwatt::run::{StartState, run_device};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{AtEnd, Completion, Cx, Device, Request, Seats, Tag, Window};
use flashwatt_core::energy::parts::{PartTimes, Parts};
use flashwatt_core::energy::{Accounts, Series};
use flashwatt_core::kernel::Outcome;
use flashwatt_workload as workload;

fn config(sets: &[&str]) -> Config {
    let small = ["device.blocks_per_plane=64", "workload.uniform.requests=10"];
    let sets: Vec<String> = small.iter().chain(sets).map(|set| (*set).to_string()).collect();
    load("", "sound.toml", &sets).expect("a valid configuration")
}

fn message<T>(result: Result<T, Error>) -> String {
    result.map_or_else(|error| error.to_string(), |_| "no error".into())
}

/// A drive of twice the pages that its flash has: the map would reach beyond every table.
#[test]
fn a_configuration_that_was_changed_by_hand_is_refused() {
    let mut config = config(&[]);
    config.drive.ssd_mut().expect("an SSD").device.logical_bytes *= 2;
    let expected = "the configuration was changed after it was checked";
    assert!(message(run(&config, &RunOptions::default(), &mut |_| true)).contains(expected));
    assert!(message(Drive::new(&config)).contains(expected));
    assert!(message(StartState::new(&config)).contains(expected));
}

#[test]
fn a_start_state_serves_the_drive_that_it_was_made_for() {
    let (small, large) = (config(&[]), config(&["device.blocks_per_plane=128"]));
    let run_on = |config: &Config| {
        let drive = StartState::new(&small).expect("a start state");
        let mut workload = workload::open(&config.workload, config.logical_bytes(), 1).expect("a workload");
        message(drive.run(config, &RunOptions::default(), workload.as_mut(), (), &mut |_| true))
    };
    assert_eq!(run_on(&small), "no error");
    assert!(run_on(&large).contains("the start state was made for another drive"));
}

/// A device that ends each request under another tag, or sets the event of a seat that it has not taken.
struct Broken {
    tag: Option<u32>,
    seat: Option<u32>,
    accounts: Accounts,
}

impl Broken {
    fn new(tag: Option<u32>, seat: Option<u32>) -> Self {
        Broken { tag, seat, accounts: Accounts::new(Parts::new(&["all"], 5_000), &[], None) }
    }
}

impl Device for Broken {
    type Figures = PartTimes;

    fn enrol(&mut self, seats: &mut Seats) {
        seats.take(1, 0);
    }

    fn room(&self) -> u32 {
        8
    }

    fn submit(&mut self, tag: Tag, _request: &Request, cx: &mut Cx) {
        if let Some(seat) = self.seat {
            cx.agenda.reset(seat, 1_000);
        }
        cx.done.push(Completion::done(self.tag.map_or(tag, Tag)));
    }

    fn pass_time(&mut self, now: Nanos) {
        self.accounts.pass_time(now);
    }

    fn event(&mut self, _seat: u32, _cx: &mut Cx) -> bool {
        false
    }

    fn end_window(&mut self, _now: Nanos, meter: AtEnd) -> (Window<PartTimes>, Option<Box<Series>>) {
        self.accounts.end_window(meter)
    }

    fn operations(&self) -> u64 {
        0
    }

    fn operations_at_once(&self) -> u64 {
        1
    }

    fn series_overflowed(&mut self) -> bool {
        false
    }

    fn so_far(&self) -> (f64, f64) {
        (0.0, 0.0)
    }
}

impl Reported for Broken {
    fn parts(&self, _config: &Config) -> Parts {
        self.accounts.parts().clone()
    }

    fn energy_j(&self, _config: &Config, times: &PartTimes) -> f64 {
        self.accounts.energies(times).total
    }

    fn report(&self, config: &Config, outcome: &Outcome<PartTimes>) -> DeviceReport {
        DeviceReport::of_accounts(&self.accounts, config, outcome)
    }
}

fn status_of(device: Broken) -> String {
    let config = config(&[]);
    let mut workload = workload::open(&config.workload, config.logical_bytes(), 1).expect("a workload");
    let report = run_device(&config, &RunOptions::default(), device, workload.as_mut(), &mut |_| true);
    report.map_or_else(|error| error.to_string(), |report| report.status)
}

#[test]
fn a_completion_under_a_tag_that_nobody_has_ends_the_run() {
    assert_eq!(status_of(Broken::new(None, None)), "complete");
    let status = status_of(Broken::new(Some(5_000), None));
    assert!(status.starts_with("failed") && status.contains("tag 5000"), "{status}");
}

#[test]
#[should_panic(expected = "seat 5000 is not taken")]
fn an_event_of_a_seat_that_nobody_has_is_refused() {
    status_of(Broken::new(None, Some(5_000)));
}

/// The folders of the engine with unchecked tables are in `internal!` of `lib.rs`, or private.
#[test]
fn unchecked_tables_stand_behind_the_feature() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(root.join("lib.rs")).expect("lib.rs");
    let public = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let mut found = Vec::new();
    for module in public {
        let (file, folder) = (root.join(format!("{module}.rs")), root.join(module));
        let files = if file.exists() { vec![file] } else { sources(&folder) };
        for file in files {
            let text = fs::read_to_string(&file).expect("a source");
            let imports = text.lines().filter(|line| line.contains("mem::"));
            if imports.into_iter().any(|line| line.contains("Table")) {
                found.push(file.strip_prefix(&root).expect("below the root").display().to_string());
            }
        }
    }
    assert_eq!(found, Vec::<String>::new(), "files of public modules with unchecked tables");
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    let files = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.into_iter().flat_map(files).collect()
}
