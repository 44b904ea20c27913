//! The running jobs of a file, in stages: stages run one after another, the jobs of a stage at the same time.

use std::collections::VecDeque;

use super::clone_seed;
use super::job::Job;
use super::spec::{ExitWhat, Exits, JobSpec};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Next, Origin, RequestKind, Tag};

/// A clone of a job among the others.
struct Member {
    job: Job,
    /// The number of its section.
    section: usize,
    group: u32,
    exits: Exits,
    waits_for: Option<usize>,
    /// fio's `flow_id`, and the weight.
    flow: Option<(u64, u64)>,
    /// Requests that count for its flow.
    flowed: u64,
    /// Its end was noticed.
    has_ended: bool,
}

/// The jobs of a file.
pub(super) struct Stages {
    stages: VecDeque<Vec<Member>>,
    /// The member that was asked last; the next one is asked first.
    turn: usize,
    outstanding: u64,
    /// Whether one job has `exitall`, which then holds for all.
    exits_all: bool,
    /// A ramp of the first stage is still to end.
    is_ramping: bool,
    /// Sections of jobs that ended because they were too slow.
    too_slow: Vec<usize>,
}

/// The bit of a tag that marks a flush. The others are the number of the member in its stage.
const FLUSH: u32 = 1 << 31;

impl Stages {
    /// Each clone has its own seed, so its draws differ from those of the other clones.
    pub fn new(jobs: &[JobSpec], seed: u64) -> Self {
        let mut stages: VecDeque<Vec<Member>> = VecDeque::new();
        let (mut number, mut group) = (0, 0);
        for (at, spec) in jobs.iter().enumerate() {
            let origin = Origin(u16::try_from(at).unwrap_or(u16::MAX));
            group += u32::from(at > 0 && (spec.starts_stage || spec.starts_group));
            if spec.starts_stage || stages.is_empty() {
                stages.push_back(Vec::new());
            }
            for clone in 0..spec.clones {
                let seed = clone_seed(spec, seed, number);
                let process = u16::try_from(number).unwrap_or(u16::MAX);
                number += 1;
                if let Some(stage) = stages.back_mut() {
                    let job = Job::new(spec, clone, seed, Tag(stage.len() as u32), (origin, process));
                    stage.push(Member {
                        job,
                        section: at,
                        group,
                        exits: spec.exits,
                        waits_for: spec.waits_for,
                        flow: spec.flow,
                        flowed: 0,
                        has_ended: false,
                    });
                }
            }
        }
        let is_ramping = stages.front().is_some_and(|stage| stage.iter().any(|member| !member.job.has_ramped(0)));
        let exits_all = jobs.iter().any(|spec| spec.exits.all);
        Stages { stages, turn: 0, outstanding: 0, exits_all, is_ramping, too_slow: Vec::new() }
    }

    /// The sections of jobs that ended because they were too slow.
    pub fn too_slow(&self) -> &[usize] {
        &self.too_slow
    }

    /// Whether jobs of the first stage have a ramp, which ends with [`Next::Measure`].
    pub fn ramps(&self) -> bool {
        self.is_ramping
    }

    /// The next request, or what the jobs wait for.
    pub fn next(&mut self, now: Nanos) -> Next {
        loop {
            if self.is_ramping && self.first_stage_has_ramped(now) {
                self.is_ramping = false;
                return Next::Measure;
            }
            match self.ask(now) {
                Next::Request(tag, request) => {
                    self.outstanding += 1;
                    let flush = if request.kind == RequestKind::Flush { FLUSH } else { 0 };
                    return Next::Request(Tag(tag.0 | flush), request);
                }
                Next::End if self.stages.is_empty() => return Next::End,
                Next::End if self.outstanding == 0 && !self.notice_ends() => {
                    self.stages.pop_front();
                    self.turn = 0;
                }
                Next::End if self.outstanding == 0 => {}
                Next::End => return Next::WaitForCompletion,
                _ if self.notice_ends() => {}
                wait => return wait,
            }
        }
    }

    fn first_stage_has_ramped(&self, now: Nanos) -> bool {
        self.stages.front().is_none_or(|stage| stage.iter().all(|member| member.job.has_ramped(now)))
    }

    /// Asks the jobs of the stage in turn. Returns the first request; else the earliest time that a job waits for, else
    /// a wait for a completion, else the end.
    fn ask(&mut self, now: Nanos) -> Next {
        let Some(jobs) = self.stages.front_mut() else { return Next::End };
        let mut earliest = Next::End;
        for _ in 0..jobs.len() {
            self.turn = (self.turn + 1) % jobs.len();
            if is_held(jobs, self.turn) {
                continue;
            }
            match (jobs[self.turn].job.next(now), earliest) {
                (Next::Request(tag, request), _) => {
                    jobs[self.turn].flowed += u64::from(request.kind != RequestKind::Flush);
                    return Next::Request(tag, request);
                }
                (Next::WaitUntil(at), Next::WaitUntil(other)) => earliest = Next::WaitUntil(at.min(other)),
                (Next::WaitUntil(at), _) => earliest = Next::WaitUntil(at),
                (Next::WaitForCompletion, Next::End) => earliest = Next::WaitForCompletion,
                _ => {}
            }
        }
        earliest
    }

    /// Notices the ends of jobs: `exitall` ends others, and jobs that waited may go on. Whether there was one.
    fn notice_ends(&mut self) -> bool {
        let Some(jobs) = self.stages.front_mut() else { return false };
        let ended: Vec<(u32, Exits)> = jobs
            .iter_mut()
            .filter(|member| member.job.is_over() && !member.has_ended)
            .map(|member| {
                member.has_ended = true;
                if member.job.is_too_slow() && !self.too_slow.contains(&member.section) {
                    self.too_slow.push(member.section);
                }
                (member.group, member.exits)
            })
            .collect();
        for (group, exits) in ended.iter().filter(|_| self.exits_all) {
            for (at, stage) in self.stages.iter_mut().enumerate() {
                let ends = |member: &&mut Member| match exits.what {
                    ExitWhat::All => true,
                    ExitWhat::Running => at == 0,
                    ExitWhat::Group => member.group == *group,
                };
                stage.iter_mut().filter(ends).for_each(|member| member.job.terminate());
            }
        }
        !ended.is_empty()
    }

    /// A request has completed. It is of the first stage: a stage ends only when none of its requests is outstanding.
    pub fn completed(&mut self, tag: Tag, now: Nanos) {
        self.outstanding -= 1;
        if let Some(jobs) = self.stages.front_mut() {
            jobs[(tag.0 & !FLUSH) as usize].job.done(now, tag.0 & FLUSH != 0);
        }
    }
}

/// Whether a job may not go on yet: it waits for another one, or was ahead of its flow.
fn is_held(jobs: &[Member], at: usize) -> bool {
    let member = &jobs[at];
    let waits = |section: usize| jobs.iter().any(|other| other.section == section && !other.job.is_over());
    if !member.job.is_terminated() && member.waits_for.is_some_and(waits) {
        return true;
    }
    let Some((id, weight)) = member.flow.filter(|_| !member.job.is_over()) else { return false };
    let (mut weights, mut flowed) = (0, 0);
    let of_flow = |other: &&Member| other.flow.is_some_and(|(other, _)| other == id) && !other.job.is_over();
    for other in jobs.iter().filter(of_flow) {
        weights += other.flow.map_or(0, |(_, weight)| weight);
        flowed += other.flowed;
    }
    u128::from(member.flowed) * u128::from(weights) > u128::from(weight) * u128::from(flowed)
}
