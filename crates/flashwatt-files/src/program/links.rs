//! Flow operations that name others: the targets of posts, wake-ups and limits.

use super::code::{Action, NONE, ThreadKind};
use super::flowops::{Compiler, Link};
use super::script::{Block, ThreadBlock};
use super::values::Valued;
use super::waits::Semaphore;
use crate::operation::ThreadSpec;
use flashwatt_base::error::Fault;
use flashwatt_base::settings::unknown_name;

impl<'a> Compiler<'a, '_, '_> {
    /// Gives a counter to each flow operation that a limit of the same thread counts.
    pub fn counters(&mut self, kind: &mut ThreadKind, thread: &ThreadBlock<'a>, faults: &mut Vec<Fault>) {
        let (first, end) = (kind.flowops.start as usize, kind.flowops.end as usize);
        if end - first != thread.flowops.len() {
            return; // a flow operation is wrong, which says enough
        }
        for (at, block) in thread.flowops.iter().enumerate() {
            if !["opslimit", "iopslimit", "bwlimit", "finishoncount", "finishonbytes"].contains(&block.of) {
                continue;
            }
            match self.counted(block, first, end) {
                Ok(None) => {}
                Ok(Some(target)) => {
                    if self.flowops[target].counter == NONE {
                        self.flowops[target].counter = kind.counters;
                        kind.counters += 1;
                    }
                    self.flowops[first + at].target = self.flowops[target].counter;
                }
                Err(fault) => faults.push(*fault),
            }
        }
    }

    /// The flow operation of these that a limit counts, if it names one.
    fn counted(&self, block: &Block<'a>, first: usize, end: usize) -> Valued<Option<usize>> {
        let values = self.values;
        let (Some(name), Some(attribute)) = (values.name(block, &["target"])?, block.get(&["target"])) else {
            return Ok(None);
        };
        let names: Vec<_> = self.written[first..end].iter().map(|(name, ..)| *name).collect();
        let Some(found) = names.iter().position(|found| *found == name) else {
            let fault = values.at(&attribute, "no flow operation of this name in the thread");
            return Err(Box::new(unknown_name(fault, name, &names)));
        };
        let any = ["opslimit", "finishoncount"].contains(&block.of);
        if !any && !self.flowops[first + found].is_read_or_write() {
            return Err(Box::new(values.wrong(&attribute, "a target that neither reads nor writes")));
        }
        Ok(Some(first + found))
    }

    /// A flow operation that is compiled now names another one, of this kind.
    pub fn link_to(&mut self, block: &Block<'a>, of: &'static str) -> Valued<()> {
        let values = self.values;
        let (Some(name), Some(attribute)) = (values.name(block, &["target"])?, block.get(&["target"])) else {
            return Err(Box::new(values.missing(block, "target")));
        };
        let fault = values.at(&attribute, format!("no {of} of this name"));
        self.links.push(Link { at: self.flowops.len(), name, of, fault });
        Ok(())
    }

    /// Looks up the targets and numbers the semaphores: those of one semblock in a row, one for each thread. Gives
    /// the semaphores. Every flow operation must have been right.
    pub fn link(&mut self, threads: &[(u32, ThreadSpec)], faults: &mut Vec<Fault>) -> Vec<Semaphore> {
        let mut semaphores = Vec::new();
        for at in 0..self.flowops.len() {
            if let Action::SemBlock { first, highwater } = &mut self.flowops[at].action {
                *first = semaphores.len() as u32;
                let of_kind = (0..).zip(threads).filter(|(_, (kind, _))| *kind == self.written[at].2);
                semaphores.extend(of_kind.map(|(thread, _)| Semaphore::new(thread, *highwater)));
            }
        }
        for Link { at, name, of, fault } in std::mem::take(&mut self.links) {
            let of_kind: Vec<_> = (0..self.written.len()).filter(|&i| self.written[i].1 == of).collect();
            let found: Vec<_> = of_kind.iter().copied().filter(|&i| self.written[i].0 == name).collect();
            let &[target] = found.as_slice() else {
                let valid: Vec<_> = of_kind.iter().map(|&i| self.written[i].0).collect();
                let what =
                    if found.is_empty() { fault.what.clone() } else { format!("more than one {of} of this name") };
                faults.push(unknown_name(Fault { what, ..fault }, name, &valid));
                continue;
            };
            let instances = threads.iter().filter(|(kind, _)| *kind == self.written[target].2).count() as u32;
            let blocks = self.flowops[target].action.clone();
            match (&mut self.flowops[at].action, blocks) {
                (Action::SemPost { targets, .. }, Action::SemBlock { first, .. }) => {
                    *targets = first..first + instances
                }
                (Action::Wakeup { target: wakes }, _) => *wakes = target as u32,
                _ => {}
            }
        }
        semaphores
    }
}
