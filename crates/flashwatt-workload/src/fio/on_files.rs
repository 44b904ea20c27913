//! fio's jobs on the files of a file system: each clone of a job is a thread with files of its own.
//!
//! As fio 3.33 does it (measured): from a thread's first write on, `fsync=N` follows each operation, read or write, when the writes so
//! far are a multiple of N, and goes to any of its files that is not used up. Files in random order are read without reading ahead, and leave memory when
//! they are opened.
//!
//! A job has `nrfiles` files of `filesize` bytes. Random places are drawn over all of them (`file_service_type=random`); in order,
//! requests go round the files, and on in each (`roundrobin`). Files that are read are there at the start, laid down whole; with
//! `create_serialize=0` each thread writes its own first, in requests of its block size, and calls fsync (`create_fsync`). Files
//! that are only written are made when the job begins.

use super::clone_seed;
use super::file_options::{FileOptions, file_options};
use super::job::Job;
use super::options::ON_FILES;
use super::resolve;
use super::sections::{Section, sections};
use super::spec::{Flushes, JobSpec};
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Next, Origin, RequestKind, Tag};
use flashwatt_files::{DirId, FileId, FileOp, FileSpec, Flow, Mode, OpError, OpKind, Source, Step, ThreadSpec, Tree};

/// Separates the draws of files for fsync from those of the job.
const FSYNC_SEED: u64 = 0xf5c;

/// Options of the files of a job, which are not those of a range of the drive.
const OF_FILES: &[&str] =
    &["nrfiles", "filesize", "filename", "openfiles", "file_service_type", "end_fsync", "fsync_on_close"];

/// Flows of a section, in the order of reports.
const FLOWS: [&str; 4] = ["layout", "read", "write", "fsync"];
const LAYOUT: u16 = 0;
const READ: u16 = 1;
const WRITE: u16 = 2;
const FSYNC: u16 = 3;

/// The jobs of a file, as threads.
pub struct FioOnFiles {
    tree: Tree,
    specs: Vec<ThreadSpec>,
    processes: Vec<String>,
    flows: Vec<Flow>,
    threads: Vec<Thread>,
    /// The stage that runs, and its threads that have not ended.
    stage: u32,
    running: usize,
    woken: Vec<u32>,
    warnings: Vec<String>,
}

/// A clone of a job.
struct Thread {
    job: Job,
    stage: u32,
    /// The number of its section.
    section: u16,
    options: FileOptions,
    /// Its first file.
    first: u32,
    reads: bool,
    is_random: bool,
    mode: Mode,
    phase: Phase,
    /// Requests in order so far, which go round the files.
    in_order: u64,
    /// Operations between calls of fsync, the writes so far, and whether the last operation was such a call.
    fsync_every: u64,
    writes: u64,
    has_synced: bool,
    rng: Rng,
    /// Bytes of each file that are still to be read or written, and the files with some: fio closes a file that has none.
    left: Vec<u64>,
    open: Vec<u32>,
}

/// What a thread does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Makes a file.
    Making(u32),
    /// Writes the file that it has made.
    Filling(u32),
    /// Makes it durable.
    Securing(u32),
    Closing(u32),
    /// Opens a file: its pages leave memory.
    Opening(u32),
    Running,
    /// Calls fsync for a file (`end_fsync`).
    Ending(u32),
    Ended,
}

impl FioOnFiles {
    /// Parses the text of a job file, for a drive of `drive_bytes` bytes. Messages call it `file`.
    ///
    /// # Errors
    /// [`Error::Config`] with every fault: line, option, expected value.
    pub fn parse(text: &str, file: &str, drive_bytes: u64, seed: u64) -> Result<Self, Error> {
        let (mut faults, mut warnings) = (Vec::new(), Vec::new());
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut sections = sections(text, file, ON_FILES, &mut faults, &mut warnings);
        let options = file_options(&mut sections, file, &mut faults);
        // The files are those of the file system: the job's places are counted over all of them.
        for section in &mut sections {
            section.options.retain(|name, _| !OF_FILES.contains(name));
        }
        let jobs = resolve::jobs(&sections, file, drive_bytes, &mut faults);
        faults.extend(sections.iter().zip(&jobs).filter_map(|(section, job)| unfit(section, job)));
        if faults.is_empty() && jobs.is_empty() {
            let place = Place { file: Some(file.to_string()), ..Place::default() };
            faults.push(Fault::at(place, "no job in the file").expected("a section [NAME] besides [global]"));
        }
        if !faults.is_empty() {
            faults.sort_by_key(|fault| fault.place.line);
            return Err(Error::Config(faults));
        }
        Ok(Self::new(&sections, &jobs, &options, warnings, seed))
    }

    /// With warnings before its own.
    pub fn warned(mut self, warnings: Vec<String>) -> Self {
        self.warnings.splice(0..0, warnings);
        self
    }

    fn new(sections: &[Section], jobs: &[JobSpec], options: &[FileOptions], warnings: Vec<String>, seed: u64) -> Self {
        let (mut tree, mut threads, mut stage) = (Tree::default(), Vec::<Thread>::new(), 0);
        for (at, (job, &options)) in jobs.iter().zip(options).enumerate() {
            stage += u32::from(job.starts_stage && !threads.is_empty());
            for clone in 0..job.clones {
                let number = threads.len() as u64;
                let seed = clone_seed(job, seed, number);
                let mut without_fsync = job.clone();
                without_fsync.flushes = Flushes::default();
                let running = Job::new(&without_fsync, clone, seed, Tag(0), (Origin(0), 0));
                let thread = Thread::new(job, options, running, seed);
                let first = tree.files.len() as u32;
                let bytes = matches!(thread.phase, Phase::Opening(_)).then_some(options.file_bytes);
                tree.files.extend((0..options.files).map(|_| FileSpec { dir: DirId::ROOT, bytes }));
                threads.push(Thread { stage, section: at as u16, first, ..thread });
            }
        }
        let names = || sections.iter().map(|section| section.name.clone());
        let running = threads.iter().filter(|thread| thread.stage == 0).count();
        FioOnFiles {
            tree,
            specs: threads.iter().map(|thread| ThreadSpec { process: thread.section + 1 }).collect(),
            processes: names().collect(),
            flows: names().flat_map(|name| FLOWS.map(|flow| Flow { name: format!("{name} {flow}") })).collect(),
            threads,
            stage: 0,
            running,
            woken: Vec::new(),
            warnings,
        }
    }

    /// A thread has ended. The last one of a stage begins the next one.
    fn ended(&mut self) {
        self.running -= 1;
        if self.running > 0 {
            return;
        }
        self.stage += 1;
        let of_stage = self.threads.iter().enumerate().filter(|(_, thread)| thread.stage == self.stage);
        self.woken = of_stage.map(|(at, _)| at as u32).collect();
        self.running = self.woken.len();
    }
}

/// What a job of files cannot be.
fn unfit(section: &Section, job: &JobSpec) -> Option<Fault> {
    if job.depth > 1 {
        let fault = section.options.get("iodepth")?.fault("a thread has one request on files at a time");
        return Some(fault.expected("iodepth=1; numjobs for more threads"));
    }
    if job.shape.mode.has(RequestKind::Trim) {
        return Some(section.options.get("rw")?.fault("files have no trims").expected("reads or writes"));
    }
    let names = [
        "verify",
        "wait_for",
        "flow",
        "exitall",
        "zonemode",
        "ramp_time",
        "cmdprio_percentage",
        "cmdprio_bssplit",
        "rate_min",
        "rate_iops_min",
    ];
    let is_off = |value: &str| ["0", "none"].contains(&value);
    let written = names.iter().filter_map(|name| section.options.get(name)).find(|written| !is_off(&written.value))?;
    Some(written.fault("an option of jobs on a drive, not on files").expected("a job without it, or no --fs"))
}

impl Thread {
    fn new(spec: &JobSpec, options: FileOptions, job: Job, seed: u64) -> Self {
        let mode = spec.shape.mode;
        let reads = mode.has(RequestKind::Read) && (!mode.is_mixed || spec.shape.reads > 0.0);
        let is_laid_down = reads && options.is_serialized;
        Thread {
            job,
            stage: 0,
            section: 0,
            options,
            first: 0,
            reads,
            is_random: mode.is_random,
            mode: match (options.is_direct, spec.fua) {
                (true, _) => Mode::Direct,
                (false, true) => Mode::Synchronous,
                (false, false) if mode.is_random => Mode::Random,
                (false, false) => Mode::Cached,
            },
            phase: if is_laid_down { Phase::Opening(0) } else { Phase::Making(0) },
            in_order: 0,
            fsync_every: spec.flushes.every.into_iter().find(|every| *every > 0).unwrap_or(0),
            writes: 0,
            has_synced: true,
            rng: Rng::new(seed ^ FSYNC_SEED),
            left: vec![options.file_bytes; options.files as usize],
            open: (0..options.files).collect(),
        }
    }

    fn step(&mut self, now: Nanos) -> Step {
        match self.phase {
            Phase::Making(file) => {
                self.phase = if self.reads { Phase::Filling(file) } else { self.made(file) };
                self.op(LAYOUT, FileOp::plain(OpKind::Create, self.file(file)))
            }
            Phase::Filling(file) => {
                self.phase = Phase::Securing(file);
                let (bytes, call_bytes) = (self.options.file_bytes, self.options.block_bytes);
                let op = FileOp::plain(OpKind::WriteWhole, self.file(file));
                self.op(LAYOUT, FileOp { bytes, call_bytes, ..op })
            }
            Phase::Closing(file) => {
                self.phase = self.made(file);
                self.op(LAYOUT, FileOp::plain(OpKind::Close, self.file(file)))
            }
            Phase::Securing(file) => {
                self.phase = Phase::Closing(file);
                self.op(LAYOUT, FileOp::plain(OpKind::Fsync, self.file(file)))
            }
            Phase::Opening(file) => {
                let next = file + 1;
                self.phase = if next < self.options.files { Phase::Opening(next) } else { Phase::Running };
                self.op(LAYOUT, FileOp::plain(OpKind::Forget, self.file(file)))
            }
            Phase::Running => self.next_request(now),
            Phase::Ending(file) => {
                let next = file + 1;
                self.phase = if next < self.options.files { Phase::Ending(next) } else { Phase::Ended };
                self.op(FSYNC, FileOp::plain(OpKind::Fsync, self.file(file)))
            }
            Phase::Ended => Step::End,
        }
    }

    fn made(&self, file: u32) -> Phase {
        match file + 1 < self.options.files {
            true => Phase::Making(file + 1),
            false if self.reads => Phase::Opening(0),
            false => Phase::Running,
        }
    }

    fn file(&self, file: u32) -> FileId {
        FileId(self.first + file)
    }

    fn op(&self, flow: u16, op: FileOp) -> Step {
        Step::Op(self.section * FLOWS.len() as u16 + flow, op)
    }

    /// Bytes of a file are read or written.
    fn used(&mut self, file: u32, bytes: u64) {
        let left = &mut self.left[file as usize];
        *left = left.saturating_sub(bytes);
        if *left == 0 {
            self.open.retain(|&open| open != file);
        }
    }

    /// Whether fsync follows on the last operation.
    fn owes_fsync(&self) -> bool {
        let is_due = self.fsync_every > 0 && self.writes > 0 && self.writes.is_multiple_of(self.fsync_every);
        is_due && !self.has_synced && !self.open.is_empty()
    }

    fn next_request(&mut self, now: Nanos) -> Step {
        if self.owes_fsync() {
            self.has_synced = true;
            let file = self.open[self.rng.below(self.open.len() as u64) as usize];
            return self.op(FSYNC, FileOp::plain(OpKind::Fsync, self.file(file)));
        }
        let (flow, op) = match self.job.next(now) {
            Next::Request(_, request) => {
                let (file, offset) = self.place(request.offset_bytes, request.bytes);
                let is_read = request.kind == RequestKind::Read;
                self.writes += u64::from(!is_read);
                self.has_synced = false;
                self.used(file.0 - self.first, request.bytes);
                let (flow, kind) = if is_read { (READ, OpKind::Read) } else { (WRITE, OpKind::Write) };
                let bytes = request.bytes.min(self.options.file_bytes - offset);
                (flow, FileOp { offset, bytes, call_bytes: bytes, mode: self.mode, ..FileOp::plain(kind, file) })
            }
            Next::WaitUntil(at) => return Step::Sleep(at),
            Next::WaitForCompletion | Next::Measure | Next::End => {
                let at_end = self.options.ends_with_fsync;
                self.phase = if at_end { Phase::Ending(0) } else { Phase::Ended };
                return self.step(now);
            }
        };
        self.op(flow, op)
    }

    /// The file of a place of the job, and the place in the file.
    fn place(&mut self, offset: u64, bytes: u64) -> (FileId, u64) {
        let FileOptions { files, file_bytes, .. } = self.options;
        if self.is_random {
            return (self.file((offset / file_bytes) as u32), offset % file_bytes);
        }
        let (round, file) = (self.in_order / u64::from(files), (self.in_order % u64::from(files)) as u32);
        self.in_order += 1;
        let rows = (file_bytes / bytes).max(1);
        (self.file(file), round % rows * bytes)
    }
}

impl Source for FioOnFiles {
    fn tree(&self) -> &Tree {
        &self.tree
    }

    fn threads(&self) -> &[ThreadSpec] {
        &self.specs
    }

    fn processes(&self) -> &[String] {
        &self.processes
    }

    fn flows(&self) -> &[Flow] {
        &self.flows
    }

    fn next(&mut self, thread: u32, now: Nanos) -> Step {
        let at = &mut self.threads[thread as usize];
        if at.stage > self.stage {
            return Step::Wait;
        }
        let step = at.step(now);
        if step == Step::End {
            self.ended();
        }
        step
    }

    fn done(&mut self, thread: u32, _op: &FileOp, _result: Result<u64, OpError>, now: Nanos) {
        let thread = &mut self.threads[thread as usize];
        if thread.phase == Phase::Running && thread.job.is_under_way() {
            thread.job.done(now, false);
        }
    }

    fn woken(&mut self) -> Option<u32> {
        self.woken.pop()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(text: &str) -> Result<FioOnFiles, Error> {
        FioOnFiles::parse(text, "a.fio", 1 << 30, 1)
    }

    /// The operations of one thread, each of which ends at once.
    fn steps(source: &mut FioOnFiles, thread: u32) -> Vec<(OpKind, u32, u64, u64)> {
        let mut found = Vec::new();
        for now in 0.. {
            match source.next(thread, now) {
                Step::Op(_, op) => {
                    found.push((op.kind, op.file.0, op.offset, op.bytes));
                    source.done(thread, &op, Ok(op.bytes), now);
                }
                Step::End => return found,
                other => panic!("{other:?}"),
            }
        }
        found
    }

    /// Two files of 8 KiB, in requests of 4 KiB in order, which go round the files; fsync after each second write, as long as a file
    /// is not used up, and at the end.
    #[test]
    fn a_writer_goes_round_its_files() {
        let text = "[w]\nrw=write\nbs=4k\nsize=16k\nnrfiles=2\nfsync=2\nend_fsync=1\n";
        let mut source = jobs(text).expect("valid");
        use OpKind::{Create, Fsync, Write};
        let mut found = steps(&mut source, 0);
        // The file that fsync takes is drawn.
        found.iter_mut().take(6).filter(|step| step.0 == Fsync).for_each(|step| step.1 = 9);
        let expected = [
            (Create, 0, 0, 0),
            (Create, 1, 0, 0),
            (Write, 0, 0, 4096),
            (Write, 1, 0, 4096),
            (Fsync, 9, 0, 0),
            (Write, 0, 4096, 4096),
            (Write, 1, 4096, 4096),
            (Fsync, 0, 0, 0),
            (Fsync, 1, 0, 0),
        ];
        assert_eq!(found, expected);
        assert_eq!(source.tree().files[0].bytes, None);
    }

    /// Files that are read are laid down, or written by the threads themselves.
    #[test]
    fn files_that_are_read_are_there_before() {
        let source = jobs("[r]\nrw=randread\nbs=4k\nfilesize=8k\nnrfiles=2\nnumjobs=3\n").expect("valid");
        assert_eq!(source.tree().files, vec![FileSpec { dir: DirId::ROOT, bytes: Some(8192) }; 6]);
        let text = "[r]\nrw=randread\nbs=4k\nfilesize=8k\nnrfiles=1\ncreate_serialize=0\n";
        let first: Vec<_> = steps(&mut jobs(text).expect("valid"), 0).iter().map(|step| step.0).collect();
        use OpKind::{Close, Create, Forget, Fsync, Read, WriteWhole};
        assert_eq!(first, [Create, WriteWhole, Fsync, Close, Forget, Read, Read]);
    }

    #[test]
    fn what_files_cannot_have_is_named() {
        let said = |text: &str| jobs(text).err().map(|error| error.to_string()).unwrap_or_default();
        let head = "[a]\nrw=randread\nsize=1m\n";
        assert!(said(&format!("{head}iodepth=4")).contains("a.fio:4: iodepth: a thread has one request"));
        assert!(said("[a]\nrw=randtrim\nsize=1m").contains("a.fio:2: rw: files have no trims"));
        assert!(said("[a]\nrw=read").contains("size"), "{}", said("[a]\nrw=read"));
        let both = said("[a]\nrw=read\nsize=1m\nfilesize=8k\nnrfiles=2");
        assert!(both.contains("a.fio:3: size"), "{both}");
        assert!(said(&format!("{head}nrfiles=0")).contains("nrfiles"));
        assert!(said("").contains("no job in the file"));
    }
}
