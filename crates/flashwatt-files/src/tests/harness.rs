//! A source with written-down steps, and a drive on which every request takes the same time.

use std::collections::VecDeque;

use crate::settings::{PageCacheSettings, ProcessorSettings};
use crate::system::FileSystem;
use crate::{
    DirId, Disk, End, FileId, FileOp, FileSpec, FileWorkload, Flow, Mode, OpError, OpKind, Source, Step, ThreadSpec,
    Tree,
};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, Workload};

/// A thread for each list of steps.
pub struct Script {
    tree: Tree,
    threads: Vec<ThreadSpec>,
    flows: Vec<Flow>,
    steps: Vec<VecDeque<Step>>,
    /// What has ended: thread, kind, result, time.
    pub ended: std::sync::Arc<std::sync::Mutex<Vec<Ended>>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    pub thread: u32,
    pub kind: OpKind,
    pub result: Result<u64, OpError>,
    pub at_ns: Nanos,
}

impl Script {
    /// Files of these sizes, if they exist, and the threads' steps.
    pub fn new(files: &[Option<u64>], steps: Vec<Vec<Step>>) -> Self {
        let files = files.iter().map(|&bytes| FileSpec { dir: DirId::ROOT, bytes }).collect();
        Script {
            tree: Tree { parents: Vec::new(), files },
            threads: steps.iter().map(|_| ThreadSpec { process: 1 }).collect(),
            flows: vec![Flow { name: "all".into() }],
            steps: steps.into_iter().map(VecDeque::from).collect(),
            ended: Default::default(),
        }
    }
}

impl Source for Script {
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

    fn next(&mut self, thread: u32, _now: Nanos) -> Step {
        self.steps[thread as usize].pop_front().unwrap_or(Step::End)
    }

    fn done(&mut self, thread: u32, op: &FileOp, result: Result<u64, OpError>, now: Nanos) {
        self.ended.lock().expect("one thread").push(Ended { thread, kind: op.kind, result, at_ns: now });
    }
}

/// A step that reads or writes a range of file `file` in calls of 4 KiB.
pub fn moves(kind: OpKind, file: u32, offset: u64, bytes: u64) -> Step {
    Step::Op(0, FileOp { offset, bytes, call_bytes: 4096, ..FileOp::plain(kind, FileId(file)) })
}

/// As [`moves`], in another mode.
pub fn moves_as(mode: Mode, kind: OpKind, file: u32, offset: u64, bytes: u64) -> Step {
    match moves(kind, file, offset, bytes) {
        Step::Op(flow, op) => Step::Op(flow, FileOp { mode, ..op }),
        other => other,
    }
}

/// A step that moves no bytes.
pub fn plain(kind: OpKind, file: u32) -> Step {
    Step::Op(0, FileOp::plain(kind, FileId(file)))
}

/// A request as the drive gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub at_ns: Nanos,
    pub kind: RequestKind,
    pub block: u64,
    pub blocks: u64,
}

/// A request to the drive.
pub fn sent(at_ns: Nanos, kind: RequestKind, block: u64, blocks: u64) -> Sent {
    Sent { at_ns, kind, block, blocks }
}

/// Runs a workload to its end on a drive on which every request takes `takes_ns`, any number at once.
pub fn run(workload: &mut FileWorkload, takes_ns: Nanos) -> Vec<Sent> {
    let mut all = Vec::new();
    run_seen(workload, takes_ns, |now, request| {
        let (block, blocks) = (request.offset_bytes / 4096, request.bytes / 4096);
        all.push(Sent { at_ns: now, kind: request.kind, block, blocks });
    });
    all
}

/// As [`run`], and shows every request with its time.
pub fn run_seen(workload: &mut FileWorkload, takes_ns: Nanos, mut see: impl FnMut(Nanos, &Request)) {
    let (mut now, mut inside) = (0, VecDeque::new());
    loop {
        let next = workload.next(now).expect("no error");
        let until = match next {
            Next::Request(tag, request) => {
                see(now, &request);
                inside.push_back((now + takes_ns, tag));
                continue;
            }
            Next::WaitUntil(at) => Some(at),
            Next::WaitForCompletion => None,
            Next::Measure => continue,
            Next::End if inside.is_empty() => return,
            Next::End => None,
        };
        match inside.front().copied().filter(|&(end, _)| until.is_none_or(|until| end <= until)) {
            Some((end, tag)) => {
                now = end;
                inside.pop_front();
                workload.completed(&Completion::done(tag), now);
            }
            None => now = until.expect("something to wait for"),
        }
    }
}

/// The settings of the tests.
pub fn settings() -> PageCacheSettings {
    PageCacheSettings::default()
}

/// Calls take 1 µs, copies no time.
fn processor() -> ProcessorSettings {
    ProcessorSettings { copy_bytes_per_s: 1e30, ..ProcessorSettings::default() }
}

/// A workload of a script.
pub fn workload(script: Script, system: impl FileSystem + 'static, settings: PageCacheSettings) -> FileWorkload {
    FileWorkload::new(
        "script".into(),
        Box::new(script),
        Disk { name: "flat", system: Box::new(system), history: None },
        settings,
        processor(),
        End::default(),
    )
    .expect("room for the files")
}
