//! From sections to jobs: values, defaults, and checks against the size of the drive.

use super::places::Distribution;
use super::sections::{Section, WrittenOption};
use super::units::{Amount, amount, bytes, time_ns};
use crate::connector::{Priority, PriorityClass};
use crate::error::{Fault, nearest};
use crate::units::{Nanos, SECTOR_BYTES};
use crate::workload::settings::{Size, Sizes};
use crate::workload::synthetic::Region;

/// A job as its section describes it.
#[derive(Clone, Debug)]
pub(super) struct JobSpec {
    pub clones: u64,
    pub starts_stage: bool,
    pub read_fraction: f64,
    pub trim_fraction: f64,
    pub sizes: Sizes,
    /// Distribution of random places; `None` for sequential places.
    pub distribution: Option<Distribution>,
    /// Requests in a row from each random place.
    pub row_requests: u64,
    pub depth: u64,
    pub fua: bool,
    pub priority: Priority,
    pub flush_after: u64,
    pub start_delay_ns: Nanos,
    pub runtime_ns: Option<Nanos>,
    /// Greatest number of bytes that each clone transfers.
    pub bytes: u64,
    pub requests: u64,
    /// Limits of reads, writes and trims.
    pub rates: [Rate; 3],
    pub think_ns: Nanos,
    pub think_requests: u64,
    pub randseed: Option<u64>,
    pub warnings: Vec<String>,
    region: Region,
    increment: u64,
}

/// A limit in one direction, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rate {
    None,
    Bytes(u64),
    Requests(u64),
    Poisson(u64),
}

impl JobSpec {
    /// The region of a clone, counted from 0.
    pub fn region(&self, clone: u64) -> Region {
        Region { start_bytes: self.region.start_bytes + clone * self.increment, ..self.region }
    }

    /// Number of requests of a clone, if it is known in advance.
    pub fn len(&self) -> Option<u64> {
        let mut lengths = self.sizes.iter();
        let first = lengths.next()?;
        let known = self.runtime_ns.is_none() && self.flush_after == 0 && lengths.all(|length| length == first);
        known.then(|| self.requests.min(self.bytes.div_ceil(first)))
    }
}

/// The jobs of all sections.
pub(super) fn jobs(sections: &[Section], file: &str, drive_bytes: u64, faults: &mut Vec<Fault>) -> Vec<JobSpec> {
    let drive_bytes = drive_bytes - drive_bytes % SECTOR_BYTES;
    sections.iter().map(|section| OptionReader { section, file, faults }.job(drive_bytes)).collect()
}

/// The fault of a section with `runtime` where its jobs run without a clock.
pub(super) fn endless(section: &Section) -> Option<Fault> {
    let fault = section.options.get("runtime")?.fault("a start state is laid down without a clock");
    Some(fault.expected("size, io_size, loops or number_ios"))
}

/// Reads the options of one section. A wrong value is a fault; reading goes on with the default, to find all faults at
/// once.
pub(super) struct OptionReader<'a> {
    pub section: &'a Section,
    pub file: &'a str,
    pub faults: &'a mut Vec<Fault>,
}

/// The modes of `rw`.
const MODES: &[(&str, Mode)] = &[
    ("read", Mode::new(1.0, 0.0, false)),
    ("write", Mode::new(0.0, 0.0, false)),
    ("trim", Mode::new(0.0, 1.0, false)),
    ("randread", Mode::new(1.0, 0.0, true)),
    ("randwrite", Mode::new(0.0, 0.0, true)),
    ("randtrim", Mode::new(0.0, 1.0, true)),
    ("rw", Mode { mixed: true, ..Mode::new(0.5, 0.0, false) }),
    ("readwrite", Mode { mixed: true, ..Mode::new(0.5, 0.0, false) }),
    ("randrw", Mode { mixed: true, ..Mode::new(0.5, 0.0, true) }),
];

#[derive(Clone, Copy)]
struct Mode {
    reads: f64,
    trims: f64,
    random: bool,
    mixed: bool,
}

impl Mode {
    const fn new(reads: f64, trims: f64, random: bool) -> Self {
        Mode { reads, trims, random, mixed: false }
    }
}

const ROW_MAX: u64 = 65_536;
const COUNT_MAX: u64 = 1_000_000_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;

impl OptionReader<'_> {
    fn job(&mut self, drive_bytes: u64) -> JobSpec {
        let (mode, row_requests) = self.mode();
        let sizes = self.sizes();
        // Every option of the file is checked, also one that this mode does not use.
        let (given, read_share) = (self.distribution(), self.read_share());
        let distribution = mode.random.then_some(given);
        let runtime_ns =
            self.read("runtime", "a time: 30, 500ms, 2m", |text| time_ns(text, SECOND_NS).filter(|&t| t > 0));
        let time_based = self.flag("time_based");
        if let (true, None, Some(written)) = (time_based, runtime_ns, self.written("time_based")) {
            let fault = written.fault("the job has no end");
            self.faults.push(fault.found("time_based without runtime").expected("runtime"));
        }
        let align = self.bytes("blockalign", if distribution.is_some() { least(&sizes) } else { SECTOR_BYTES });
        let (region, increment) = self.region(drive_bytes, align, sizes.largest().saturating_mul(row_requests));
        let clones = self.count("numjobs", 1, 65_536);
        self.check_clones(region, increment, clones, drive_bytes);
        let io_size = self.amount("io_size", drive_bytes).filter(|&bytes| bytes > 0).unwrap_or(region.range_bytes);
        let bytes = io_size.saturating_mul(self.count("loops", 1, COUNT_MAX));
        JobSpec {
            clones,
            starts_stage: self.flag("stonewall"),
            read_fraction: if mode.mixed { read_share } else { mode.reads },
            trim_fraction: mode.trims,
            row_requests,
            depth: self.count("iodepth", 1, 65_536),
            fua: self.fua(),
            priority: self.priority(),
            flush_after: self.count("fsync", 0, COUNT_MAX),
            start_delay_ns: self.read("startdelay", "a time: 5, 500ms", |text| time_ns(text, SECOND_NS)).unwrap_or(0),
            runtime_ns,
            bytes: if time_based { u64::MAX } else { bytes },
            requests: self.count("number_ios", COUNT_MAX, COUNT_MAX),
            rates: self.rates(),
            think_ns: self.read("thinktime", "a time: 100, 5ms", |text| time_ns(text, 1_000)).unwrap_or(0),
            think_requests: self.count("thinktime_blocks", 1, COUNT_MAX).max(1),
            randseed: self.read("randseed", "a whole number", |text| text.parse().ok()),
            warnings: self.warnings(&sizes, distribution.as_ref(), mode).into_iter().chain(self.page_cache()).collect(),
            distribution: distribution.map(|given| settled(given, &sizes)),
            sizes,
            region,
            increment,
        }
    }

    fn priority(&mut self) -> Priority {
        let class = self.read("prioclass", "1 (realtime), 2 (best effort) or 3 (idle)", |text| match text {
            "0" | "2" => Some(PriorityClass::BestEffort),
            "1" => Some(PriorityClass::Realtime),
            "3" => Some(PriorityClass::Idle),
            _ => None,
        });
        let level = self.read("prio", "a level from 0 to 7", |text| text.parse().ok().filter(|&level: &u8| level <= 7));
        let default = Priority::default();
        Priority::new(class.unwrap_or(default.class()), level.unwrap_or(default.level()))
    }

    fn written(&self, name: &str) -> Option<&WrittenOption> {
        self.section.options.get(name)
    }

    /// The value of an option, if it is given and `parse` accepts it. A value that `parse` refuses is a fault.
    fn read<T>(&mut self, name: &str, expected: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let written = self.section.options.get(name)?;
        let value = parse(&written.value);
        if value.is_none() {
            self.faults.push(written.fault("not a value of this option").expected(expected));
        }
        value
    }

    fn kb_base(&mut self) -> u64 {
        self.read("kb_base", "1024 or 1000", |text| text.parse().ok().filter(|base| [1000, 1024].contains(base)))
            .unwrap_or(1024)
    }

    pub fn flag(&mut self, name: &str) -> bool {
        self.flag_or(name, false)
    }

    pub fn flag_or(&mut self, name: &str, default: bool) -> bool {
        self.read(name, "nothing, 0 or 1", |text| match text {
            "" | "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        })
        .unwrap_or(default)
    }

    pub fn count(&mut self, name: &str, default: u64, max: u64) -> u64 {
        let least = u64::from(name != "fsync");
        let expected = format!("a whole number from {least} to {max}");
        self.read(name, &expected, |text| bytes(text, 1000).filter(|count| (least..=max).contains(count)))
            .unwrap_or(default)
    }

    /// A number of bytes, if it is given.
    pub fn given_bytes(&mut self, name: &str) -> Option<u64> {
        let base = self.kb_base();
        self.read(name, "bytes, a positive multiple of 512: 4k", |text| sectors(bytes(text, base)?))
    }

    fn bytes(&mut self, name: &str, default: u64) -> u64 {
        self.given_bytes(name).unwrap_or(default)
    }

    /// Bytes, or a percentage of the drive rounded down to whole sectors.
    fn amount(&mut self, name: &str, drive_bytes: u64) -> Option<u64> {
        let base = self.kb_base();
        self.read(name, "bytes (a multiple of 512) or a share of the drive: 1g, 10%", |text| {
            match amount(text, base)? {
                Amount::Bytes(bytes) => bytes.is_multiple_of(SECTOR_BYTES).then_some(bytes),
                Amount::Percent(percent) => {
                    let bytes = (drive_bytes as f64 * percent / 100.0) as u64;
                    Some(bytes - bytes % SECTOR_BYTES)
                }
            }
        })
    }

    /// The mode, and the requests in a row from each random place.
    fn mode(&mut self) -> (Mode, u64) {
        let names: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
        let Some(written) = self.section.options.get("rw") else { return (MODES[0].1, 1) };
        let (name, row) = written.value.split_once(':').map_or((written.value.as_str(), None), |(a, b)| (a, Some(b)));
        let Some((_, mode)) = MODES.iter().find(|(mode, _)| *mode == name) else {
            let fault = written.fault("unknown mode").expected(format!("one of {}", names.join(", ")));
            self.faults.push(fault.nearest(nearest(name, names)));
            return (MODES[0].1, 1);
        };
        let Some(row) = row else { return (*mode, 1) };
        match row.parse() {
            Ok(requests @ 1..=ROW_MAX) if mode.random => (*mode, requests),
            _ => {
                let fault = written.fault("no number of requests in a row");
                let expected = format!("a number from 1 to {ROW_MAX} behind a random mode: randwrite:8");
                self.faults.push(fault.expected(expected));
                (*mode, 1)
            }
        }
    }

    fn read_share(&mut self) -> f64 {
        let percent = |text: &str| text.parse().ok().filter(|percent: &f64| (0.0..=100.0).contains(percent));
        let reads = self.read("rwmixread", "a percentage", percent);
        let writes = self.read("rwmixwrite", "a percentage", percent);
        if let (Some(reads), Some(writes), Some(written)) = (reads, writes, self.written("rwmixwrite"))
            && reads + writes != 100.0
        {
            let fault = written.fault("contradicts rwmixread").expected(format!("{}", 100.0 - reads));
            self.faults.push(fault);
        }
        reads.or(writes.map(|writes| 100.0 - writes)).unwrap_or(50.0) / 100.0
    }

    pub fn sizes(&mut self) -> Sizes {
        let base = self.kb_base();
        let one = |text: &str| sectors(bytes(text, base)?).map(|bytes| vec![Size { bytes, share: 1.0 }]);
        let fixed = self.read("bs", "bytes, multiples of 512: 4k, or 4k,8k,4k", |text| directions(text, one));
        let range = self.read("bsrange", "4k-16k, multiples of 512", |text| directions(text, |text| range(text, base)));
        let split = self.read("bssplit", "4k/60:64k/40", |text| directions(text, |text| split(text, base)));
        let [read, write, trim] = split.or(range).or(fixed).unwrap_or_else(|| {
            let usual = vec![Size { bytes: 4096, share: 1.0 }];
            [usual.clone(), usual.clone(), usual]
        });
        Sizes { read, write, trim }
    }

    fn distribution(&mut self) -> Distribution {
        let expected = "random, zipf:1.2, pareto:0.2, normal:10 or zoned:60/10:40/90";
        let given = self.read("random_distribution", expected, distribution).unwrap_or(Distribution::Map);
        let anew = self.flag("norandommap");
        if anew && given == Distribution::Map { Distribution::Random } else { given }
    }

    fn region(&mut self, drive_bytes: u64, align: u64, largest: u64) -> (Region, u64) {
        let start = self.amount("offset", drive_bytes).unwrap_or(0);
        let increment = self.amount("offset_increment", drive_bytes).unwrap_or(0);
        let range = self.amount("size", drive_bytes).unwrap_or(drive_bytes.saturating_sub(start));
        let region = Region { start_bytes: start, range_bytes: range, align_bytes: align, largest_bytes: largest };
        if range < largest {
            self.refuse(
                &["size", "bs", "bssplit", "bsrange", "rw"],
                "a request is longer than the size of the job",
                format!("requests of {largest} bytes in {range}"),
                format!("size ≥ {largest}"),
            );
        }
        (region, increment)
    }

    fn check_clones(&mut self, region: Region, increment: u64, clones: u64, drive_bytes: u64) {
        let last = u128::from(increment) * u128::from(clones - 1);
        let end = last + u128::from(region.start_bytes) + u128::from(region.range_bytes);
        if end > u128::from(drive_bytes) {
            // A size that fits the drive is not what is wrong.
            let names = if region.range_bytes > drive_bytes {
                ["size", "offset", "offset_increment", "numjobs"]
            } else {
                ["offset", "offset_increment", "numjobs", "size"]
            };
            self.refuse(
                &names,
                "the job reaches beyond the drive",
                format!("an end at byte {end}"),
                format!("at most {drive_bytes}"),
            );
        }
    }

    /// Adds a fault at the first of these options that is given, else at the section.
    pub fn refuse(&mut self, names: &[&str], what: &str, found: String, expected: String) {
        let written = names.iter().find_map(|name| self.written(name));
        let place = written.map_or(&self.section.place, |written| &written.place).clone();
        self.faults.push(Fault::at(place, what).found(found).expected(expected));
    }

    fn fua(&mut self) -> bool {
        self.read("sync", "0, 1, none, sync or dsync", |text| match text {
            "0" | "none" => Some(false),
            "" | "1" | "sync" | "dsync" => Some(true),
            _ => None,
        })
        .unwrap_or(false)
    }

    fn rates(&mut self) -> [Rate; 3] {
        let base = self.kb_base();
        let poisson = self.read("rate_process", "linear or poisson", |text| match text {
            "linear" => Some(false),
            "poisson" => Some(true),
            _ => None,
        });
        let expected = "a rate, or one for each direction: 1m,500k (1m, limits reads alone, and ,500k writes)";
        let per = |text: &str, base| limits(text, |text| rate(text, base));
        let by_bytes = self.read("rate", expected, |text| per(text, base));
        let by_count = self.read("rate_iops", expected, |text| per(text, 1000));
        if poisson == Some(true) && by_count.is_none() {
            self.refuse(&["rate_process"], "poisson without a rate", "no rate_iops".into(), "rate_iops".into());
        }
        if let (Some(_), Some(_)) = (by_bytes, by_count) {
            self.refuse(&["rate_iops"], "two limits", "rate and rate_iops".into(), "one of them".into());
        }
        let requests = if poisson == Some(true) { Rate::Poisson } else { Rate::Requests };
        let limit = |rates: [Option<u64>; 3], of: fn(u64) -> Rate| rates.map(|rate| rate.map_or(Rate::None, of));
        match (by_bytes, by_count) {
            (Some(rates), _) => limit(rates, Rate::Bytes),
            (_, Some(rates)) => limit(rates, requests),
            _ => [Rate::None; 3],
        }
    }

    fn warnings(&self, sizes: &Sizes, distribution: Option<&Distribution>, mode: Mode) -> Vec<String> {
        let mixed = distribution == Some(&Distribution::Map) && !alike(sizes);
        let (file, name) = (self.file, &self.section.name);
        let drawn =
            mixed.then(|| format!("{file}: [{name}] has several block sizes: places are drawn as with norandommap"));
        drawn.into_iter().chain(self.shares_without_effect(mode)).collect()
    }

    /// What is said of a job that is to go through the page cache. Of `direct` and `buffered` the later one counts, as in fio.
    fn page_cache(&mut self) -> Option<String> {
        let (direct, buffered) = (self.flag("direct"), self.flag("buffered"));
        let through = [("direct", !direct), ("buffered", buffered)];
        let given = through.into_iter().filter_map(|(name, through)| Some((self.written(name)?, through)));
        let (written, through) = given.max_by_key(|(written, _)| written.place.line)?;
        let (line, key) = (written.place.line?, written.place.key.as_deref()?);
        through.then(|| {
            let found = if written.value.is_empty() { key.to_string() } else { format!("{key}={}", written.value) };
            format!(
                "{}:{line}: {found} has no effect: there is no page cache, and the requests are those of direct=1; \
                 host.async_writes makes all writes those of a page cache that writes back",
                self.file
            )
        })
    }

    /// What is said of a share of reads in a job that has reads or writes only.
    fn shares_without_effect(&self, mode: Mode) -> Option<String> {
        let share = ["rwmixread", "rwmixwrite"].iter().find_map(|name| self.section.own(name))?;
        let (line, key) = (share.place.line?, share.place.key.as_deref()?);
        let rw = self.written("rw").map_or("read", |rw| &rw.value);
        (!mode.mixed)
            .then(|| format!("{}:{line}: {key} has no effect; found rw={rw}; expected rw or randrw", self.file))
    }
}

/// The distribution that is used. With several sizes, places of [`Distribution::Map`] could overlap, so they are drawn
/// independently.
fn settled(distribution: Distribution, sizes: &Sizes) -> Distribution {
    if distribution == Distribution::Map && !alike(sizes) { Distribution::Random } else { distribution }
}

fn alike(sizes: &Sizes) -> bool {
    sizes.iter().all(|bytes| bytes == sizes.largest())
}

fn least(sizes: &Sizes) -> u64 {
    sizes.iter().min().unwrap_or(SECTOR_BYTES)
}

fn sectors(bytes: u64) -> Option<u64> {
    (bytes > 0 && bytes <= COUNT_MAX && bytes.is_multiple_of(SECTOR_BYTES)).then_some(bytes)
}

/// Parses `READ,WRITE,TRIM`. A value that is left out is the same as the one before it.
fn directions<T: Clone>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<[T; 3]> {
    let mut given: Vec<T> = Vec::new();
    for part in text.split(',') {
        given.push(match (part.trim(), given.last()) {
            ("", Some(before)) => before.clone(),
            (part, _) => parse(part)?,
        });
    }
    let last = given.last()?.clone();
    given.resize(given.len().max(3), last);
    given.try_into().ok()
}

/// The limits of reads, writes and trims. A direction that is left out before or after a comma has none; one without a comma
/// for it has that of the direction before (fio's documentation of `rate`).
fn limits(text: &str, parse: impl Fn(&str) -> Option<Option<u64>>) -> Option<[Option<u64>; 3]> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.iter().all(|part| part.is_empty()) {
        return None;
    }
    let limit = |part: &&str| if part.is_empty() { Some(None) } else { parse(part) };
    let mut given = parts.iter().map(limit).collect::<Option<Vec<_>>>()?;
    let last = *given.last()?;
    given.resize(given.len().max(3), last);
    given.try_into().ok()
}

/// Parses a rate; `0` means no limit (the inner `None`).
fn rate(text: &str, base: u64) -> Option<Option<u64>> {
    bytes(text, base).map(|rate| (rate > 0).then_some(rate))
}

/// Greatest number of sizes in a range.
const SIZES_MAX: u64 = 65_536;

fn range(text: &str, base: u64) -> Option<Vec<Size>> {
    let (low, high) = text.split_once('-')?;
    let (low, high) = (sectors(bytes(low, base)?)?, sectors(bytes(high, base)?)?);
    let steps = high / low;
    (low <= high && steps <= SIZES_MAX)
        .then(|| (1..=steps).map(|step| Size { bytes: step * low, share: 1.0 }).collect())
}

/// Parses `SIZE/PERCENT:…`. Sizes without a percentage share the remaining percents equally.
fn split(text: &str, base: u64) -> Option<Vec<Size>> {
    let mut sizes = Vec::new();
    for entry in text.split(':') {
        let (size, percent) = entry.split_once('/').unwrap_or((entry, ""));
        let percent = if percent.is_empty() { None } else { Some(percent.parse().ok().filter(|p| *p >= 0.0)?) };
        sizes.push((sectors(bytes(size, base)?)?, percent));
    }
    let given: f64 = sizes.iter().filter_map(|(_, percent)| *percent).sum();
    let open = sizes.iter().filter(|(_, percent)| percent.is_none()).count();
    let rest = (100.0 - given) / open.max(1) as f64;
    let adds_up = if open == 0 { (given - 100.0).abs() < 1e-6 } else { rest > 0.0 };
    let all = sizes.into_iter().map(|(bytes, percent)| Size { bytes, share: percent.unwrap_or(rest) });
    adds_up.then(|| all.filter(|size| size.share > 0.0).collect())
}

fn distribution(text: &str) -> Option<Distribution> {
    let (name, parameter) = text.split_once(':').unwrap_or((text, ""));
    let number = |low: f64, high: f64| parameter.parse().ok().filter(|n| (low..=high).contains(n));
    match name {
        "random" if parameter.is_empty() => Some(Distribution::Map),
        "zipf" => number(0.0, 5.0).map(Distribution::Zipf),
        "pareto" => number(0.001, 0.5).map(Distribution::Pareto),
        "normal" => number(1e-4, 100.0).map(|percent| Distribution::Normal(percent / 100.0)),
        "zoned" => zones(parameter).map(Distribution::Zoned),
        _ => None,
    }
}

/// Parses `ACCESS/SIZE:…` in percent, each of which must add up to 100; returns shares from 0 to 1.
fn zones(text: &str) -> Option<Vec<(f64, f64)>> {
    let mut zones: Vec<(f64, f64)> = Vec::new();
    for zone in text.split(':') {
        let (access, size) = zone.split_once('/')?;
        let share = |text: &str| text.parse().ok().filter(|p: &f64| (0.0..=100.0).contains(p)).map(|p| p / 100.0);
        zones.push((share(access)?, share(size)?));
    }
    let (access, size) = zones.iter().fold((0.0, 0.0), |sum, zone| (sum.0 + zone.0, sum.1 + zone.1));
    ((access - 1.0).abs() < 1e-6 && (size - 1.0).abs() < 1e-6).then_some(zones)
}
