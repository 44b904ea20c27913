//! Work on rows: what must read before it writes, and must have the row to itself meanwhile.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

use super::layout::ChunkPart;
use super::row::RowPlan;
use flashwatt_base::hash::NumberHasher;
use flashwatt_core::connector::{Request, Tag};

/// What is done to a row.
#[derive(Clone, Copy, Debug)]
pub enum RowWork {
    /// Parts of it are written: [`RowJob::parts`].
    Write,
    /// A part that is missing is computed from the other members.
    Reconstruct(ChunkPart),
    /// The chunk of the failed member is written to the spare.
    Rebuild,
    /// All chunks are read, and those that do not match are written anew.
    Scrub,
}

/// Work on one row.
#[derive(Clone, Debug)]
pub struct RowJob {
    /// The host's request, if any.
    pub host: Option<Tag>,
    /// The host's request, or what a rebuild resembles.
    pub like: Request,
    /// The row.
    pub row: u64,
    /// The work.
    pub work: RowWork,
    /// The parts that are written.
    pub parts: Vec<ChunkPart>,
    /// The device requests that follow those under way.
    pub plan: RowPlan,
    /// Device requests under way.
    pub left: u32,
    /// The job that gets the row after this one.
    next: Option<u32>,
}

impl RowJob {
    /// Work on a row that has not begun.
    pub fn new(host: Option<Tag>, like: &Request, row: u64, work: RowWork) -> Self {
        RowJob { host, like: *like, row, work, parts: Vec::new(), plan: RowPlan::default(), left: 0, next: None }
    }
}

/// All jobs, and the rows that they hold.
#[derive(Default)]
pub struct Jobs {
    /// By number. A free place keeps its lists, so that the next job there needs no new memory.
    jobs: Vec<RowJob>,
    free: Vec<u32>,
    /// For each row that a job holds, the last job in the line for it.
    rows: HashMap<u64, u32, BuildHasherDefault<NumberHasher>>,
    /// Jobs that had to wait for a row.
    pub waited: u64,
}

impl Jobs {
    /// Adds a job, which writes these parts. Returns its number if it has its row now, and none if it waits.
    pub fn add(&mut self, job: RowJob, parts: &[ChunkPart]) -> Option<u32> {
        let row = job.row;
        let id = self.place(job);
        self.jobs[id as usize].parts.extend_from_slice(parts);
        match self.rows.entry(row) {
            Entry::Vacant(free) => {
                free.insert(id);
                Some(id)
            }
            Entry::Occupied(mut held) => {
                self.waited += 1;
                let before = std::mem::replace(held.get_mut(), id);
                self.jobs[before as usize].next = Some(id);
                None
            }
        }
    }

    /// Gives a job a number. It takes over the lists of the last job of that number, without their content.
    fn place(&mut self, job: RowJob) -> u32 {
        let Some(id) = self.free.pop() else {
            self.jobs.push(job);
            return self.jobs.len() as u32 - 1;
        };
        let place = &mut self.jobs[id as usize];
        let (mut parts, mut plan) = (std::mem::take(&mut place.parts), std::mem::take(&mut place.plan));
        parts.clear();
        plan.clear();
        *place = RowJob { parts, plan, ..job };
        id
    }

    /// A job that has not ended.
    pub fn get(&mut self, id: u32) -> &mut RowJob {
        &mut self.jobs[id as usize]
    }

    /// Ends a job. Returns the job that has its row now.
    pub fn end(&mut self, id: u32) -> Option<u32> {
        let RowJob { row, next, .. } = self.jobs[id as usize];
        self.free.push(id);
        if next.is_none() {
            self.rows.remove(&row);
        }
        next
    }

    /// Whether no job is left.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.jobs.len()
    }
}
