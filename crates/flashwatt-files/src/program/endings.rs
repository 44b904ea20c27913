//! What follows when an operation has ended.

use super::code::{Action, Code};
use super::state::State;
use super::thread::{Fd, Out};
use crate::operation::{FileOp, OpError, OpKind, ThreadId};

impl State {
    /// An operation of a thread has ended.
    pub fn done(&mut self, code: &Code, thread: ThreadId, op: &FileOp, result: Result<u64, OpError>) {
        let owner =
            self.helpers.get((thread as usize).wrapping_sub(self.threads.len())).map_or(thread, |helper| helper.of);
        if let Err(error) = result {
            self.ended = true;
            let why = match error {
                OpError::NoSpace => "no space is left",
                OpError::NoFile => "there is no such file",
                OpError::Exists => "the file is there already",
                OpError::TooLong => "the file would be too long",
            };
            self.warnings.push(format!("the run ended early: {} of file {} failed: {why}", op.kind.name(), op.file.0));
            return;
        }
        let bytes = result.unwrap_or_default();
        if owner == thread {
            self.thread_done(code, thread, op, bytes);
        } else {
            self.helper_done(code, thread, op, bytes);
        }
    }

    fn thread_done(&mut self, code: &Code, thread: ThreadId, op: &FileOp, bytes: u64) {
        let flowop = self.flowop(code, thread);
        let state = &mut self.threads[thread as usize];
        let out = std::mem::replace(&mut state.out, Out::None);
        self.count(flowop, thread, bytes);
        let state = &mut self.threads[thread as usize];
        match out {
            Out::Open { fd, set, entry, goes_on } => {
                state.fds[fd as usize] = Fd { open: true, set, entry, mode: flowop.mode, position: 0 };
                self.files.hold(entry);
                self.files.release(set, entry, &mut self.woken);
                if goes_on {
                    return;
                }
            }
            Out::Create { fd, set, entry } => {
                state.fds[fd as usize] = Fd { open: true, set, entry, mode: flowop.mode, position: 0 };
                self.files.made(set, entry);
                self.files.hold(entry);
                self.files.release(set, entry, &mut self.woken);
            }
            Out::Close { fd } => {
                let fd = &mut state.fds[fd as usize];
                fd.open = false;
                self.files.let_go(fd.entry);
                self.files.release(fd.set, fd.entry, &mut self.woken);
            }
            Out::Delete { set, entry } => {
                self.files.removed(set, entry);
                self.files.release(set, entry, &mut self.woken);
            }
            Out::Stat { set, entry } => self.files.release(set, entry, &mut self.woken),
            Out::Transfer { fd, sequential } => self.transferred(thread, fd, op, bytes, sequential),
            Out::Plain | Out::None => {}
        }
        if !matches!(flowop.action, Action::FsyncSet) {
            self.advance(code, thread);
        }
    }

    /// A read or a write of an open file has ended: the file's length and the position follow.
    fn transferred(&mut self, thread: ThreadId, fd: u32, op: &FileOp, bytes: u64, sequential: bool) {
        let fd = &mut self.threads[thread as usize].fds[fd as usize];
        let entry = &mut self.files.entries[fd.entry as usize];
        let end = if op.kind == OpKind::Append { entry.length + bytes } else { op.offset + bytes };
        let reads = matches!(op.kind, OpKind::Read | OpKind::ReadWhole);
        if !reads {
            entry.length = entry.length.max(end);
        }
        if reads && bytes == 0 && op.kind == OpKind::Read {
            fd.position = 0; // as filebench: at the end of the file it goes back to its beginning
        } else if sequential {
            fd.position = end;
        }
    }

    fn helper_done(&mut self, code: &Code, thread: ThreadId, op: &FileOp, bytes: u64) {
        let number = thread - self.threads.len() as u32;
        let helper = &self.helpers[number as usize];
        let (owner, entry) = (helper.of, helper.entry);
        let state = &mut self.files.entries[entry as usize];
        state.length = state.length.max(op.offset + bytes);
        self.files.let_go(entry);
        let writes = &mut self.threads[owner as usize].writes;
        writes.free.push(number);
        writes.ended += 1;
        if writes.awaited > 0 && writes.ended >= writes.awaited {
            writes.reap();
            self.count(self.flowop(code, owner), owner, 0);
            self.advance(code, owner);
            self.woken.push_back(owner);
        }
    }
}
