//! Descriptors: whether each flow operation of a thread finds its descriptor as it must be. A thread has no branches, so that
//! two rounds of its loop show all that can happen.

use super::code::{Action, Flowop, NONE};
use crate::operation::Mode;

/// A descriptor as it is between two flow operations.
#[derive(Clone, Copy, Default)]
struct Descriptor {
    /// How its file was opened, if it is open.
    open: Option<Mode>,
    /// The file set of the file that was opened last.
    set: Option<u32>,
}

/// What is wrong with a flow operation, by its place in the thread.
pub(super) struct Misuse {
    pub at: usize,
    pub what: String,
    pub expected: &'static str,
}

/// What is wrong with the flow operations of a thread; and which of them ask in vain for a way to open a file, because it is
/// open already.
pub(super) fn check(flowops: &[Flowop], descriptors: u32) -> Result<Vec<usize>, Misuse> {
    let mut table = vec![Descriptor::default(); descriptors as usize];
    let mut in_vain = Vec::new();
    for _ in 0..2 {
        for (at, flowop) in flowops.iter().enumerate() {
            let times = flowop.iters.fixed().unwrap_or(2).min(2);
            for _ in 0..times {
                let mode = step(flowop, &mut table).map_err(|(what, expected)| Misuse { at, what, expected })?;
                if mode.is_some_and(|mode| mode != flowop.mode && flowop.mode != Mode::Cached) && !in_vain.contains(&at)
                {
                    in_vain.push(at);
                }
            }
        }
    }
    Ok(in_vain)
}

type Wrong = (String, &'static str);

/// One flow operation; gives how the file was opened that it reads or writes.
fn step(flowop: &Flowop, table: &mut [Descriptor]) -> Result<Option<Mode>, Wrong> {
    let fd = flowop.fd as usize;
    if flowop.rotates() {
        return Ok(None);
    }
    let opened = Descriptor { open: Some(flowop.mode), set: Some(flowop.set) };
    match flowop.action {
        Action::Create | Action::Open => {
            if table[fd].open.is_some() {
                return Err((format!("fd {fd} is open already"), "a closefile before it"));
            }
            table[fd] = opened;
        }
        Action::Close | Action::Fsync => {
            if table[fd].open.is_none() {
                return Err((format!("fd {fd} is not open"), "an openfile or createfile with this fd before it"));
            }
            if matches!(flowop.action, Action::Close) {
                table[fd].open = None;
            }
        }
        Action::Delete | Action::Stat => {
            if flowop.set == NONE && (fd == 0 || table[fd].set.is_none()) {
                return Err(("no file".to_string(), "`filesetname=…`, or the fd of a file that was opened"));
            }
            if matches!(flowop.action, Action::Delete) && fd > 0 {
                table[fd] = Descriptor::default();
            }
        }
        _ if flowop.is_read_or_write() => return transfer(flowop, table, opened),
        _ => {}
    }
    Ok(None)
}

fn transfer(flowop: &Flowop, table: &mut [Descriptor], opened: Descriptor) -> Result<Option<Mode>, Wrong> {
    let fd = flowop.fd as usize;
    let before = table[fd].open;
    if before.is_none() {
        if flowop.set == NONE {
            return Err((format!("fd {fd} is not open"), "`filesetname=…`, or an openfile with this fd before it"));
        }
        table[fd] = opened;
    } else if fd > 0 && flowop.set != NONE && table[fd].set != Some(flowop.set) {
        return Err((format!("fd {fd} has a file of another file set"), "the fileset of the openfile before it"));
    }
    match flowop.action {
        Action::WriteWhole { source } if source != 0 && table[source as usize].set.is_none() => {
            Err((format!("srcfd {source} has no file"), "the fd of a file that was opened"))
        }
        _ => Ok(before),
    }
}
