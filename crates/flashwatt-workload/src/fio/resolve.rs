//! From sections to jobs: values, defaults, and checks against the size of the drive.

use super::boost::{class_of, level_of};
use super::engines::Queue;
use super::lengths::Lengths;
use super::places::Distribution;
use super::ranges::Ranges;
use super::reader::OptionReader;
use super::sections::Section;
use super::shape::{Mode, Order, Shape, Strided};
use super::spec::{Ends, ExitWhat, Exits, Flushes, JobSpec};
use super::timing::SECOND_NS;
use super::units::{bytes, time_ns};
use super::values::{COUNT_MAX, directions, distribution, range, sectors, split};
use super::verify::VerifySpec;
use flashwatt_base::error::Fault;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::Priority;

/// The jobs of all sections.
pub(super) fn jobs(sections: &[Section], file: &str, drive_bytes: u64, faults: &mut Vec<Fault>) -> Vec<JobSpec> {
    let drive_bytes = drive_bytes - drive_bytes % SECTOR_BYTES;
    let names: Vec<&str> = sections.iter().map(|section| section.name.as_str()).collect();
    let of = |(at, section): (usize, &Section)| {
        let mut reader = OptionReader { section, file, faults };
        reader.job(drive_bytes, &names[..at])
    };
    sections.iter().enumerate().map(of).collect()
}

/// The fault of a section with `runtime` where its jobs run without a clock.
pub(super) fn endless(section: &Section) -> Option<Fault> {
    let fault = section.options.get("runtime")?.fault("a start state is laid down without a clock");
    Some(fault.expected("size, io_size, loops or number_ios"))
}

impl OptionReader<'_> {
    /// The job; `before` are the names of the sections before it.
    fn job(&mut self, drive_bytes: u64, before: &[&str]) -> JobSpec {
        let (mode, order) = self.mode();
        let clones = self.count("numjobs", 1, 65_536);
        let lengths = self.lengths();
        let used = used(mode, &lengths);
        let least = lengths.iter().map(Lengths::least).min().unwrap_or(SECTOR_BYTES);
        let Ranges { files, pass_bytes, io_size } = self.ranges(drive_bytes, clones, &used, least);
        let (runtime_ns, is_time_based) = self.runtime();
        let (queue, engine) = self.queue();
        let ends = self.ends(mode, (pass_bytes, io_size), (runtime_ns, is_time_based), queue);
        let shape = self.shape((mode, order), lengths, files, is_time_based);
        let rates = self.rates(&shape.lengths);
        let warnings = [engine, self.page_cache(), self.share_without_effect(mode), self.ramp_warning()];
        self.check_values();
        JobSpec {
            clones,
            starts_stage: self.flag("stonewall"),
            starts_group: self.flag("new_group"),
            ends,
            depth: queue.depth,
            refill_at: self.refill_at(queue.depth),
            fua: self.fua(),
            priority: self.priority(),
            boost: self.boost(),
            flushes: self.flushes(),
            start_delay_ns: self.start_delay(),
            rates,
            rates_drain: self.rates_drain(),
            floor: self.floor(),
            think: self.think(),
            verify: self.verify(mode, shape.once),
            randseed: self.read("randseed", "a whole number", |text| text.parse().ok()),
            exits: self.exits(),
            waits_for: self.waits_for(before),
            flow: self.flow(),
            warnings: warnings.into_iter().flatten().collect(),
            shape,
        }
    }

    fn shape(
        &mut self,
        (mode, order): (Mode, Order),
        lengths: [Lengths; 3],
        files: super::shape::Files,
        timed: bool,
    ) -> Shape {
        let align = self.align(mode, &lengths);
        let is_aligned = (0..3).all(|at| align[at] == lengths[at].least());
        let file_bytes = files.bytes.iter().copied().max().unwrap_or(0);
        let distribution = self.distribution(file_bytes);
        let is_lfsr = self.read("random_generator", "tausworthe, lfsr or tausworthe64", |text| match text {
            "tausworthe" | "tausworthe64" => Some(false),
            "lfsr" => Some(true),
            _ => None,
        });
        let is_plain = distribution == Distribution::Random;
        let has_map = !self.flag("norandommap") && is_aligned;
        let reads = self.read_share();
        let repeats = self.flag_or("randrepeat", true) && self.written("randseed").is_none();
        Shape {
            mode,
            reads: if mode.is_mixed { reads } else { 0.0 },
            lengths,
            lengths_by_order: self.flag("bs_is_seq_rand"),
            align,
            once: mode.is_random && is_plain && (has_map || is_lfsr == Some(true)),
            distribution,
            order,
            zones: self.zones(&files),
            files,
            is_time_based: timed,
            repeats,
        }
    }

    fn runtime(&mut self) -> (Option<Nanos>, bool) {
        let expected = "a time: 30, 500ms, 2m";
        let runtime_ns = self.read("runtime", expected, |text| time_ns(text, SECOND_NS).filter(|&t| t > 0));
        let is_time_based = self.flag("time_based");
        if let (true, None, Some(written)) = (is_time_based, runtime_ns, self.written("time_based")) {
            let fault = written.fault("the job has no end");
            self.faults.push(fault.found("time_based without runtime").expected("runtime"));
        }
        (runtime_ns, is_time_based)
    }

    fn ends(
        &mut self,
        mode: Mode,
        (pass, io_size): (u64, Option<u64>),
        (runtime_ns, timed): (Option<Nanos>, bool),
        queue: Queue,
    ) -> Ends {
        let loops = self.count("loops", 1, COUNT_MAX);
        let requests = self.given_count("number_ios", 1, COUNT_MAX);
        let (bytes, pairs) = (io_size.unwrap_or(pass), if mode.trims_first { 2 } else { 1 });
        let value = |name: &str| self.written(name).map(|written| written.value.as_str());
        let has_map = value("random_distribution").is_none_or(|law| law == "random") && value("blockalign").is_none();
        let verifies = value("verify").is_some_and(|verify| !["", "0", "none"].contains(&verify));
        let has_backlog = value("verify_backlog").is_some();
        let anew = mode.is_random && mode.has(flashwatt_core::connector::RequestKind::Write);
        let anew = anew && (self.flag("norandommap") || !has_map);
        // As in fio: random writes without a map go on up to io_size in one pass; pairs of trim and write, and all jobs of a
        // synchronous engine, until the files are used up.
        let pass_bytes = if anew { pass.max(bytes) } else { pass };
        // Reads within a pass may double its bytes.
        let pass_bytes = if has_backlog && verifies { pass_bytes.saturating_add(pass) } else { pass_bytes };
        let has_no_end = (timed && !verifies) || mode.trims_first || queue.is_synchronous;
        Ends {
            pass_bytes: if has_no_end { u64::MAX } else { pass_bytes },
            bytes: if timed { u64::MAX } else { bytes },
            has_io_size: io_size.is_some(),
            loops,
            // As in fio 3.33.
            renews_files: timed || loops > 1 || self.flag_or("do_verify", true),
            requests: requests.map(|requests| requests.saturating_mul(pairs)),
            runtime_ns,
            ramp_ns: self.time("ramp_time", "a time: 5, 500ms", SECOND_NS).unwrap_or(0),
        }
    }

    fn ramp_warning(&self) -> Option<String> {
        let written = self.section.own("ramp_time").filter(|_| self.written("stonewall").is_some())?;
        let line = written.place.line?;
        Some(format!(
            "{}:{line}: ramp_time: only the ramp of the first stage of jobs is left out of the report",
            self.file
        ))
    }

    fn priority(&mut self) -> Priority {
        let class = self.read("prioclass", "1 (realtime), 2 (best effort) or 3 (idle)", class_of);
        let level = self.read("prio", "a level from 0 to 7", level_of);
        let default = Priority::default();
        Priority::new(class.unwrap_or(default.class()), level.unwrap_or(default.level()))
    }

    pub fn lengths(&mut self) -> [Lengths; 3] {
        let base = self.kb_base();
        let one = |text: &str| sectors(bytes(text, base)?).map(Lengths::One);
        let fixed = self.read("bs", "bytes, multiples of 512: 4k, or 4k,8k,4k", |text| directions(text, one));
        let ranges =
            self.read("bsrange", "4k-16k, multiples of 512", |text| directions(text, |text| range(text, base)));
        let splits = self.read("bssplit", "4k/60:64k/40", |text| directions(text, |text| split(text, base)));
        let (fixed, ranges, splits) =
            (fixed.unwrap_or_default(), ranges.unwrap_or_default(), splits.unwrap_or_default());
        self.check_lengths_order(&ranges, &splits);
        let all = splits.into_iter().zip(ranges).zip(fixed);
        let mut lengths = all.map(|((split, range), fixed)| split.or(range).or(fixed).unwrap_or(Lengths::One(4096)));
        std::array::from_fn(|_| lengths.next().unwrap_or(Lengths::One(4096)))
    }

    /// Refuses a bsrange behind a bssplit: fio 3.33 cuts the lengths of the one to the limits of the other.
    fn check_lengths_order(&mut self, ranges: &[Option<Lengths>; 3], splits: &[Option<Lengths>; 3]) {
        let (range, split) = (self.written("bsrange"), self.written("bssplit"));
        let is_behind = range.zip(split).is_some_and(|(range, split)| range.place.line > split.place.line);
        if is_behind && ranges.iter().zip(splits).any(|(range, split)| range.is_some() && split.is_some()) {
            let found = "bssplit, and bsrange behind it".to_string();
            self.refuse(&["bsrange"], "two rules for the lengths of requests", found, "one of them".to_string());
        }
    }

    /// Of what random requests start at multiples.
    fn align(&mut self, mode: Mode, lengths: &[Lengths; 3]) -> [u64; 3] {
        let base = self.kb_base();
        let one = |text: &str| sectors(bytes(text, base)?);
        let given = self.read("blockalign", "bytes, a positive multiple of 512: 4k", |text| directions(text, one));
        let given = given.unwrap_or_default();
        std::array::from_fn(|at| given[at].filter(|_| mode.is_random).unwrap_or(lengths[at].least()))
    }

    fn distribution(&mut self, file_bytes: u64) -> Distribution {
        let expected = "random, zipf:1.2, pareto:0.2, normal:10 or zoned:60/10:40/90";
        let base = self.kb_base();
        self.read("random_distribution", expected, |text| distribution(text, file_bytes, base))
            .unwrap_or(Distribution::Random)
    }

    fn zones(&mut self, files: &super::shape::Files) -> Option<Strided> {
        let mode = self.read("zonemode", "none or strided", |text| match text {
            "none" => Some(false),
            "strided" => Some(true),
            _ => None,
        });
        if self.written("zonemode").is_some_and(|written| written.value == "zbd") {
            let help = "zoned drives (ZNS) are not simulated: write the job for a drive without zones";
            if let Some(fault) = self.faults.last_mut().filter(|fault| fault.place.key.as_deref() == Some("zonemode")) {
                *fault = fault.clone().help(help);
            }
        }
        let (size, range) = (self.given_bytes("zonesize"), self.given_bytes("zonerange"));
        let skip = self.sectors("zoneskip");
        match (mode, size) {
            (Some(true), None) => {
                self.refuse(&["zonemode"], "strided zones without a size", "no zonesize".into(), "zonesize".into());
                None
            }
            (Some(true), Some(bytes)) if files.open == 1 => {
                let skip = match skip {
                    Some(super::units::Amount::Bytes(bytes)) => bytes,
                    _ => 0,
                };
                Some(Strided { bytes, range: range.unwrap_or(bytes), skip })
            }
            (mode, Some(_)) if mode != Some(true) => {
                self.refuse(&["zonesize"], "zones without their mode", "no zonemode".into(), "zonemode=strided".into());
                None
            }
            _ => None,
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

    fn fua(&mut self) -> bool {
        let always = self.read("sync", "0, 1, none, sync or dsync", |text| match text {
            "0" | "none" => Some(false),
            "" | "1" | "sync" | "dsync" => Some(true),
            _ => None,
        });
        self.flag("writefua") || always.unwrap_or(false)
    }

    fn flushes(&mut self) -> Flushes {
        let every = ["fsync", "fdatasync"].map(|name| self.given_count(name, 0, COUNT_MAX).unwrap_or(0));
        let at_end = self.flag("end_fsync");
        Flushes { every, at_end: self.flag("fsync_on_close") || at_end }
    }

    /// How the job reads again what it wrote; `once` says that each random place comes once.
    fn verify(&mut self, mode: Mode, once: bool) -> Option<VerifySpec> {
        let does = self.written("do_verify").is_none_or(|written| !["0", "false"].contains(&written.value.as_str()))
            && mode.has(flashwatt_core::connector::RequestKind::Write);
        let every = self.given_count("verify_backlog", 0, COUNT_MAX).unwrap_or(0);
        let batch = self.given_count("verify_backlog_batch", 0, COUNT_MAX).filter(|batch| *batch > 0);
        let written = self.written("verify").filter(|written| !["", "0", "none"].contains(&written.value.as_str()));
        let is_lfsr = self.written("random_generator").is_some_and(|written| written.value == "lfsr");
        let backlog = (every > 0).then_some((every, batch.unwrap_or(every)));
        (does && written.is_some()).then_some(VerifySpec { in_order: once && !is_lfsr, backlog })
    }

    fn exits(&mut self) -> Exits {
        let what = self.read("exit_what", "group, stonewall or all", |text| match text {
            "group" => Some(ExitWhat::Group),
            "stonewall" => Some(ExitWhat::Running),
            "all" => Some(ExitWhat::All),
            _ => None,
        });
        Exits { all: self.flag("exitall"), what: what.unwrap_or(ExitWhat::Group) }
    }

    fn waits_for(&mut self, before: &[&str]) -> Option<usize> {
        let written = self.written("wait_for").cloned()?;
        let at = before.iter().position(|name| *name == written.value);
        if at.is_none() {
            let fault = written.fault("no job of this name before this one");
            self.faults.push(fault.expected("the name of a job above"));
        }
        at
    }

    fn flow(&mut self) -> Option<(u64, u64)> {
        let id = self.given_count("flow_id", 0, COUNT_MAX).unwrap_or(0);
        self.read("flow_sleep", "microseconds", |text| time_ns(text, 1_000));
        let weight = self.given_count("flow", 0, 1_000)?;
        (weight > 0).then_some((id, weight))
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
    fn share_without_effect(&self, mode: Mode) -> Option<String> {
        let share = ["rwmixread", "rwmixwrite"].iter().find_map(|name| self.section.own(name))?;
        let (line, key) = (share.place.line?, share.place.key.as_deref()?);
        let rw = self.written("rw").map_or("read", |rw| &rw.value);
        (!mode.is_mixed)
            .then(|| format!("{}:{line}: {key} has no effect; found rw={rw}; expected rw or randrw", self.file))
    }
}

/// The lengths of the kinds of requests that a job has.
fn used(mode: Mode, lengths: &[Lengths; 3]) -> Vec<Lengths> {
    use flashwatt_core::connector::RequestKind::{Read, Trim, Write};
    let has = |kind: &&flashwatt_core::connector::RequestKind| mode.has(**kind);
    [Read, Write, Trim].iter().filter(has).map(|kind| lengths[*kind as usize].clone()).collect()
}
