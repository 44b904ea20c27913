//! Threads that do anything to any file.

use flashwatt_base::rng::Rng;
use flashwatt_files::{DirId, FileId, FileOp, FileSpec, Flow, Mode, OpError, OpKind, Source, Step, ThreadSpec, Tree};

/// What the threads do.
pub struct Random {
    tree: Tree,
    threads: Vec<ThreadSpec>,
    flows: Vec<Flow>,
    rng: Rng,
    /// Longest file in bytes.
    longest: u64,
    /// Operations by result: done, no space, other.
    pub ended: [u64; 3],
}

const THREADS: usize = 6;

impl Random {
    /// On this number of files, half of which exist at the start, in directories of 20.
    pub fn new(files: u32, longest: u64, seed: u64) -> Self {
        let dirs = files / 20;
        let dir = |file: u32| DirId(if dirs == 0 { 0 } else { file % dirs });
        let bytes = |file: u32| file.is_multiple_of(2).then_some(u64::from(file) * 997 % longest);
        Random {
            tree: Tree {
                parents: (1..dirs).map(|dir| DirId(dir / 8)).collect(),
                files: (0..files).map(|file| FileSpec { dir: dir(file), bytes: bytes(file) }).collect(),
            },
            threads: vec![ThreadSpec { process: 1 }; THREADS],
            flows: vec![Flow { name: "anything".into() }],
            rng: Rng::new(seed),
            longest,
            ended: [0; 3],
        }
    }

    /// On files of one length, which all exist at the start.
    pub fn on_whole(files: u32, bytes: u64) -> Self {
        let mut random = Random::new(files, bytes, 1);
        random.tree.files.iter_mut().for_each(|file| file.bytes = Some(bytes));
        random
    }

    fn moves(&mut self, kind: OpKind, file: FileId) -> FileOp {
        let offset = self.rng.below(self.longest / 2);
        let most = if self.rng.below(8) == 0 { self.longest / 2 } else { 20_000 };
        let bytes = 1 + self.rng.below(most);
        let mode = match self.rng.below(12) {
            0 => Mode::Synchronous,
            1 => Mode::Direct,
            _ => Mode::Cached,
        };
        FileOp { offset, bytes, call_bytes: 1 + self.rng.below(16_384), mode, ..FileOp::plain(kind, file) }
    }
}

impl Source for Random {
    fn tree(&self) -> &Tree {
        &self.tree
    }

    fn threads(&self) -> &[ThreadSpec] {
        &self.threads
    }

    fn processes(&self) -> &[String] {
        &[]
    }

    fn flows(&self) -> &[Flow] {
        &self.flows
    }

    fn next(&mut self, _thread: u32, now: u64) -> Step {
        let file = FileId(self.rng.below(self.tree.files.len() as u64) as u32);
        let op = match self.rng.below(100) {
            0..15 => FileOp::plain(OpKind::Create, file),
            15..25 => FileOp::plain(OpKind::Remove, file),
            25..35 => FileOp::plain(OpKind::Fsync, file),
            35..40 => FileOp::plain(OpKind::Stat, file),
            40..60 => self.moves(OpKind::Write, file),
            60..70 => self.moves(OpKind::Append, file),
            70..75 => self.moves(OpKind::WriteWhole, file),
            75..85 => self.moves(OpKind::ReadWhole, file),
            85..99 => self.moves(OpKind::Read, file),
            _ => return Step::Sleep(now + 1 + self.rng.below(1_000_000_000)),
        };
        // An append would make files ever longer.
        let op = if op.kind == OpKind::Append { FileOp { bytes: op.bytes.min(4096), ..op } } else { op };
        Step::Op(0, op)
    }

    fn done(&mut self, _thread: u32, _op: &FileOp, result: Result<u64, OpError>, _now: u64) {
        self.ended[match result {
            Ok(_) => 0,
            Err(OpError::NoSpace) => 1,
            Err(_) => 2,
        }] += 1;
    }
}

/// One thread that removes every file.
pub struct Emptied {
    tree: Tree,
    threads: Vec<ThreadSpec>,
    flows: Vec<Flow>,
    next: u32,
}

impl Emptied {
    /// Files of 0 to 100 pages in the root.
    pub fn new(files: u32) -> Self {
        let spec = |file: u32| FileSpec { dir: DirId::ROOT, bytes: Some(u64::from(file) * 4096 % 409_600) };
        Emptied {
            tree: Tree { parents: Vec::new(), files: (0..files).map(spec).collect() },
            threads: vec![ThreadSpec { process: 1 }],
            flows: vec![Flow { name: "remove".into() }],
            next: 0,
        }
    }
}

impl Source for Emptied {
    fn tree(&self) -> &Tree {
        &self.tree
    }

    fn threads(&self) -> &[ThreadSpec] {
        &self.threads
    }

    fn processes(&self) -> &[String] {
        &[]
    }

    fn flows(&self) -> &[Flow] {
        &self.flows
    }

    fn next(&mut self, _thread: u32, _now: u64) -> Step {
        let file = FileId(self.next);
        self.next += 1;
        if file.idx() < self.tree.files.len() { Step::Op(0, FileOp::plain(OpKind::Remove, file)) } else { Step::End }
    }

    fn done(&mut self, _thread: u32, _op: &FileOp, _result: Result<u64, OpError>, _now: u64) {}
}
