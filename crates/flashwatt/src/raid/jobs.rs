//! Work on rows: what must read before it writes, and must have the row to itself meanwhile.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use super::layout::Part;
use super::row::RowPlan;
use crate::connector::{Request, Tag};
use crate::hash::NumberHasher;

/// What is done to a row.
#[derive(Clone, Debug)]
pub enum Work {
    /// Parts of it are written.
    Write(Vec<Part>),
    /// A part that is missing is computed from the other members.
    Reconstruct(Part),
    /// The chunk of the failed member is written to the spare.
    Rebuild,
}

/// Work on one row.
#[derive(Clone, Debug)]
pub struct Job {
    /// The host's request, if any.
    pub host: Option<Tag>,
    /// The host's request, or what a rebuild resembles.
    pub like: Request,
    /// The row.
    pub row: u64,
    /// The work.
    pub work: Work,
    /// The device requests that follow those under way.
    pub plan: RowPlan,
    /// Device requests under way.
    pub left: u32,
}

/// All jobs, and the rows that they hold.
#[derive(Default)]
pub struct Jobs {
    jobs: Vec<Option<Job>>,
    free: Vec<u32>,
    /// For each row that a job holds, the jobs that wait for it.
    rows: HashMap<u64, VecDeque<u32>, BuildHasherDefault<NumberHasher>>,
    /// Jobs that had to wait for a row.
    pub waited: u64,
}

impl Jobs {
    /// Adds a job. Returns its number if it has its row now, and none if it waits.
    pub fn add(&mut self, job: Job) -> Option<u32> {
        let row = job.row;
        let id = self.free.pop().unwrap_or(self.jobs.len() as u32);
        match self.jobs.get_mut(id as usize) {
            Some(place) => *place = Some(job),
            None => self.jobs.push(Some(job)),
        }
        match self.rows.entry(row) {
            Entry::Vacant(free) => {
                free.insert(VecDeque::new());
                Some(id)
            }
            Entry::Occupied(mut held) => {
                self.waited += 1;
                held.get_mut().push_back(id);
                None
            }
        }
    }

    /// A job that has not ended.
    pub fn get(&mut self, id: u32) -> Option<&mut Job> {
        self.jobs.get_mut(id as usize)?.as_mut()
    }

    /// Ends a job. Returns it, and the job that has its row now.
    pub fn end(&mut self, id: u32) -> Option<(Job, Option<u32>)> {
        let job = self.jobs.get_mut(id as usize)?.take()?;
        self.free.push(id);
        let next = self.rows.get_mut(&job.row).and_then(VecDeque::pop_front);
        if next.is_none() {
            self.rows.remove(&job.row);
        }
        Some((job, next))
    }

    /// Whether no job is left.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.jobs.len()
    }
}
