//! The files of a scenario: what was done to a kernel's scheduler, and what it gave.

use std::fs;
use std::path::{Path, PathBuf};

use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Priority, PriorityClass, Request, RequestKind};

/// A scenario, as `scenario.toml` and `requests.csv` describe it.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub folder: PathBuf,
    pub name: String,
    pub scheduler: String,
    pub queue_depth: u32,
    /// The driver asks for a request before it knows whether the device has room.
    pub peeks: bool,
    pub rotational: bool,
    /// The block layer itself tags requests: with `rotational = false` nothing is held back.
    pub tagged: bool,
    pub service_ns: Nanos,
    pub ns_per_sector: u64,
    pub max_sectors: u64,
    pub nr_requests: u32,
    /// What was written to `/sys/block/…/queue/iosched`.
    pub attributes: Vec<(String, f64)>,
    pub loops: Vec<Loop>,
    pub requests: Vec<Sent>,
}

/// A process that has a number of requests under way.
#[derive(Clone, Debug, Default)]
pub struct Loop {
    pub process: u16,
    pub outstanding: usize,
    pub start_ns: Nanos,
}

/// A request of a process.
#[derive(Clone, Debug)]
pub struct Sent {
    /// When it is sent; none: with an end of its process.
    pub at_ns: Option<Nanos>,
    pub think_ns: Nanos,
    pub request: Request,
}

/// A request that the driver started.
#[derive(Clone, PartialEq, Debug)]
pub struct Started {
    pub at_ns: Nanos,
    pub op: char,
    pub sector: u64,
    pub sectors: u64,
}

impl Scenario {
    /// The scenarios of a folder that have results with this suffix, in the order of their names.
    pub fn all(folder: &Path, suffix: &str) -> Vec<Scenario> {
        let mut folders: Vec<_> =
            fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        folders.retain(|path| path.join(format!("dispatch{suffix}.csv")).exists());
        folders.sort();
        folders.iter().map(|path| Scenario::read(path)).collect()
    }

    fn read(folder: &Path) -> Scenario {
        let text = fs::read_to_string(folder.join("scenario.toml")).expect("scenario.toml");
        let mut scenario = Scenario {
            folder: folder.to_owned(),
            name: String::new(),
            scheduler: String::new(),
            queue_depth: 1,
            peeks: false,
            rotational: true,
            tagged: false,
            service_ns: 0,
            ns_per_sector: 0,
            max_sectors: 1024,
            nr_requests: 128,
            attributes: Vec::new(),
            loops: Vec::new(),
            requests: rows(&folder.join("requests.csv"), sent),
        };
        let mut table = "";
        for line in text.lines() {
            if let Some(name) = line.strip_prefix('[') {
                table = name.trim_matches(|c| c == '[' || c == ']');
                if table == "loop" {
                    scenario.loops.push(Loop::default());
                }
            } else if let Some((key, value)) = line.split_once(" = ") {
                match table {
                    "attributes" => scenario.attributes.push((key.into(), number(value))),
                    "loop" => scenario.loops.last_mut().expect("a loop").set(key, value),
                    _ => scenario.set(key, value.trim_matches('"')),
                }
            }
        }
        scenario
    }

    fn set(&mut self, key: &str, value: &str) {
        match key {
            "name" => self.name = value.into(),
            "scheduler" => self.scheduler = value.into(),
            "queue_depth" => self.queue_depth = number(value) as u32,
            "driver" => self.peeks = value == "peek",
            "rotational" => self.rotational = value == "true",
            "tagged" => self.tagged = value == "true",
            "service_us" => self.service_ns = ns(value),
            "service_ns_per_sector_of_distance" => self.ns_per_sector = number(value) as u64,
            "max_sectors" => self.max_sectors = number(value) as u64,
            "nr_requests" => self.nr_requests = number(value) as u32,
            "note" => {}
            other => panic!("{}: {other}", self.name),
        }
    }

    /// The requests in the order in which the kernel's driver started them.
    pub fn started(&self, suffix: &str) -> Vec<Started> {
        rows(&self.folder.join(format!("dispatch{suffix}.csv")), |columns| Started {
            at_ns: ns(columns[1]),
            op: columns[2].chars().next().expect("a letter"),
            sector: number(columns[3]) as u64,
            sectors: number(columns[4]) as u64,
        })
    }
}

impl Loop {
    fn set(&mut self, key: &str, value: &str) {
        match key {
            "process" => self.process = number(value) as u16,
            "outstanding" => self.outstanding = number(value) as usize,
            "start_us" => self.start_ns = ns(value),
            "think_us" => {}
            other => panic!("a loop's {other}"),
        }
    }
}

fn rows<T>(path: &Path, row: impl Fn(&[&str]) -> T) -> Vec<T> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().skip(1).map(|line| row(&line.split(',').collect::<Vec<_>>())).collect()
}

fn number(text: &str) -> f64 {
    match text {
        "true" => 1.0,
        "false" => 0.0,
        _ => text.parse().unwrap_or_else(|_| panic!("{text} is no number")),
    }
}

/// A time in us as ns.
fn ns(text: &str) -> Nanos {
    (number(text) * 1000.0).round() as Nanos
}

fn sent(columns: &[&str]) -> Sent {
    let kind = if columns[5] == "R" { RequestKind::Read } else { RequestKind::Write };
    let at_ns = (!columns[1].is_empty()).then(|| ns(columns[1]));
    let request = Request {
        process: number(columns[3]) as u16,
        is_sync: columns[4] == "1",
        priority: priority(columns[8]),
        ..Request::new(0, kind, number(columns[6]) as u64 * 512, number(columns[7]) as u64 * 512)
    };
    Sent { at_ns, think_ns: if columns[2].is_empty() { 0 } else { ns(columns[2]) }, request }
}

fn priority(text: &str) -> Priority {
    let (class, level) = text.split_once('/').unwrap_or((text, "7"));
    let level = number(level) as u8;
    match class {
        "realtime" => Priority::new(PriorityClass::Realtime, level),
        "best-effort" => Priority::new(PriorityClass::BestEffort, level),
        _ => Priority::new(PriorityClass::Idle, 7),
    }
}
