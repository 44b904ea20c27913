//! Several processes that send the requests of one model.
//!
//! In a closed loop each process is a loop of its own, and draws its requests from the model when it may send one: a process
//! that is served sooner sends more. An open loop has the same requests at the same times as one process has; they are dealt to
//! the processes, and one that goes on where a process's last one ended is that process's.

use super::settings;
use super::{Drawn, Mix, Places, Source, Synthetic};
use flashwatt_base::error::Error;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{
    Completion, Next, Origin, OriginKind, OriginName, Request, SourceKind, Tag, Upcoming, Workload,
};

/// The names of processes, which are their numbers.
fn named(processes: usize) -> Vec<OriginName> {
    (0..processes).map(|number| OriginName { name: number.to_string(), kind: OriginKind::Process }).collect()
}

/// A request as this process sends it.
fn sent_by(process: usize, request: Request) -> Request {
    Request { origin: Origin(process as u16), process: process as u16, ..request }
}

/// Closed loops that share a model.
pub(super) struct Loops<P> {
    source: Source,
    rng: Rng,
    requests: u64,
    issued: u64,
    mix: Mix,
    places: P,
    queue_depth: u64,
    /// Requests outstanding, by process.
    outstanding: Vec<u64>,
    /// The process that is asked first.
    first: usize,
}

impl<P: Places> Loops<P> {
    /// The loops of these settings, each with up to `queue_depth` requests outstanding.
    pub fn new(cfg: &settings::Synthetic, queue_depth: u32, places: P, seed: u64) -> Self {
        Loops {
            source: Source::of(cfg),
            rng: Rng::new(seed),
            requests: cfg.requests,
            issued: 0,
            mix: Mix::of(cfg),
            places,
            queue_depth: queue_depth.into(),
            outstanding: vec![0; cfg.processes as usize],
            first: 0,
        }
    }

    /// The next process that may send a request, in turn.
    fn sender(&self) -> Option<usize> {
        let all = self.outstanding.len();
        (0..all).map(|after| (self.first + after) % all).find(|&process| self.outstanding[process] < self.queue_depth)
    }
}

impl<P: Places> Workload for Loops<P> {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        if self.issued == self.requests {
            return Ok(Next::End);
        }
        let Some(process) = self.sender() else { return Ok(Next::WaitForCompletion) };
        self.places.turn_to(process);
        let Drawn { kind, offset_bytes, bytes } = Drawn::draw(&self.mix, &mut self.places, &mut self.rng);
        self.issued += 1;
        self.outstanding[process] += 1;
        self.first = (process + 1) % self.outstanding.len();
        let request = Request::new(now, kind, offset_bytes, bytes);
        Ok(Next::Request(Tag(process as u32), sent_by(process, request)))
    }

    fn completed(&mut self, done: &Completion, _now: Nanos) {
        if let Some(outstanding) = self.outstanding.get_mut(done.tag.0 as usize) {
            *outstanding -= 1;
        }
    }

    fn name(&self) -> &str {
        &self.source.name
    }

    fn kind(&self) -> SourceKind {
        self.source.kind
    }

    fn input_sha256(&self) -> Option<String> {
        self.source.sha256.clone()
    }

    fn origins(&self) -> Vec<OriginName> {
        named(self.outstanding.len())
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.requests)
    }
}

/// The requests of an open loop, dealt to processes.
pub(super) struct Dealt<P> {
    of_one: Synthetic<P>,
    /// Where the last request of each process ended; none before its first.
    ends: Vec<Option<u64>>,
    /// The process whose turn it is.
    turn: usize,
}

impl<P: Places> Dealt<P> {
    /// Deals these requests to this many processes.
    pub fn new(of_one: Synthetic<P>, processes: u32) -> Self {
        Dealt { of_one, ends: vec![None; processes as usize], turn: 0 }
    }

    /// The process of a request: the one whose last request it continues, or the next in turn.
    fn sender(&mut self, request: &Request) -> usize {
        let continued = self.ends.iter().position(|&end| end == Some(request.offset_bytes));
        let process = continued.unwrap_or(self.turn);
        if continued.is_none() {
            self.turn = (self.turn + 1) % self.ends.len();
        }
        self.ends[process] = Some(request.offset_bytes + request.bytes);
        process
    }
}

impl<P: Places> Workload for Dealt<P> {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        Ok(match self.of_one.next(now)? {
            Next::Request(tag, request) => Next::Request(tag, sent_by(self.sender(&request), request)),
            other => other,
        })
    }

    fn upcoming(&self) -> Option<Upcoming> {
        self.of_one.upcoming()
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        self.of_one.completed(done, now);
    }

    fn name(&self) -> &str {
        self.of_one.name()
    }

    fn kind(&self) -> SourceKind {
        self.of_one.kind()
    }

    fn input_sha256(&self) -> Option<String> {
        self.of_one.input_sha256()
    }

    fn origins(&self) -> Vec<OriginName> {
        named(self.ends.len())
    }

    fn len_hint(&self) -> Option<u64> {
        self.of_one.len_hint()
    }
}
