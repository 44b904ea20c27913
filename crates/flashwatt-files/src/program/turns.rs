//! What each flow operation does when its turn comes.

use super::code::{Action, Code, Flowop, NONE};
use super::fileset::{Pick, Want};
use super::state::{State, Turn};
use super::thread::{Fd, Out};
use crate::operation::{FileOp, OpKind, Step, ThreadId};
use flashwatt_base::units::Nanos;

impl State {
    /// A flow operation of a thread.
    pub fn turn(&mut self, code: &Code, flowop: &Flowop, thread: ThreadId, now: Nanos) -> Turn {
        match &flowop.action {
            Action::Create => self.create(code, flowop, thread),
            Action::Open => self.open(code, flowop, thread, false),
            Action::Close => self.close(flowop, thread),
            Action::Delete => self.delete(code, flowop, thread),
            Action::Stat => self.stat(code, flowop, thread),
            Action::Fsync => {
                let entry = self.fd(thread).entry;
                self.emit(flowop, thread, Out::Plain, self.plain(OpKind::Fsync, entry))
            }
            Action::FsyncSet => self.fsync_set(flowop, thread),
            Action::Pause { ns } => match self.threads[thread as usize].value(&flowop.value).saturating_mul(*ns) {
                0 => Turn::Over,
                ns => Turn::Last(Step::Sleep(now.saturating_add(ns))),
            },
            Action::AioWait => self.aio_wait(flowop, thread),
            Action::EventLimit => self.take_events(1, now),
            Action::Limit { unit, limit } => self.limit(flowop, thread, *unit, *limit, now),
            Action::Finish { unit, value } => self.finish(flowop, thread, *unit, *value),
            Action::SemBlock { first, .. } => self.sem_block(flowop, thread, *first),
            Action::SemPost { targets, blocking } => self.sem_post(code, flowop, thread, targets, *blocking),
            Action::Block => {
                self.blocked.push((self.place(thread), thread));
                Turn::Step(Step::Wait)
            }
            Action::Wakeup { target } => self.wake_up(code, *target),
            _ if self.fd(thread).open => self.transfer(flowop, thread),
            _ => self.open(code, flowop, thread, true),
        }
    }

    /// The descriptor of the flow operation that a thread is at.
    fn fd(&self, thread: ThreadId) -> &Fd {
        let state = &self.threads[thread as usize];
        &state.fds[state.fd as usize]
    }

    fn plain(&self, kind: OpKind, entry: u32) -> FileOp {
        FileOp::plain(kind, self.files.entries[entry as usize].file)
    }

    fn emit(&mut self, flowop: &Flowop, thread: ThreadId, out: Out, op: FileOp) -> Turn {
        self.threads[thread as usize].out = out;
        Turn::Step(Step::Op(flowop.flow, op))
    }

    /// Picks a file of the flow operation's set. If that fails, the thread waits or ends.
    fn pick(&mut self, code: &Code, flowop: &Flowop, thread: ThreadId, missing: bool) -> Result<u32, Turn> {
        let state = &mut self.threads[thread as usize];
        let want = match &flowop.index {
            _ if missing => Want::Missing,
            Some(index) => {
                let entries = self.files.sets[flowop.set as usize].entries;
                let place = index.draw_exact(&mut state.rng).max(0.0) * f64::from(entries / 2);
                Want::At(place as u32 % entries)
            }
            None => Want::Existing,
        };
        let own = if flowop.rotates() { state.rotors.get_mut(flowop.rotor as usize) } else { None };
        match self.files.pick(flowop.set, want, own.map(|rotor| &mut rotor.place), thread) {
            Pick::Entry(entry) => Ok(entry),
            Pick::Wait => Err(Turn::Step(Step::Wait)),
            Pick::Empty => Err(self.no_file(code, flowop, thread)),
        }
    }

    fn create(&mut self, code: &Code, flowop: &Flowop, thread: ThreadId) -> Turn {
        let (fd, set) = (flowop.fd, flowop.set);
        match self.pick(code, flowop, thread, true) {
            Ok(entry) => self.emit(flowop, thread, Out::Create { fd, set, entry }, self.plain(OpKind::Create, entry)),
            Err(turn) => turn,
        }
    }

    /// Opens a file; if `goes_on`, the flow operation does its work behind that.
    fn open(&mut self, code: &Code, flowop: &Flowop, thread: ThreadId, goes_on: bool) -> Turn {
        let (fd, set) = (self.threads[thread as usize].fd, flowop.set);
        match self.pick(code, flowop, thread, false) {
            Ok(entry) => {
                self.emit(flowop, thread, Out::Open { fd, set, entry, goes_on }, self.plain(OpKind::Open, entry))
            }
            Err(turn) => turn,
        }
    }

    fn close(&mut self, flowop: &Flowop, thread: ThreadId) -> Turn {
        let &Fd { set, entry, .. } = self.fd(thread);
        match self.files.pick_entry(set, entry, thread) {
            Pick::Entry(entry) => {
                self.emit(flowop, thread, Out::Close { fd: flowop.fd }, self.plain(OpKind::Close, entry))
            }
            _ => Turn::Step(Step::Wait),
        }
    }

    /// Removes the file that the descriptor has or had, or else any. A file that another thread has open stays, and nothing
    /// is done.
    fn delete(&mut self, code: &Code, flowop: &Flowop, thread: ThreadId) -> Turn {
        let fd = *self.fd(thread);
        let by_fd = flowop.fd > 0 && fd.set != NONE;
        let pick = match by_fd {
            false => self.pick(code, flowop, thread, false),
            true => match self.files.pick_entry(fd.set, fd.entry, thread) {
                Pick::Entry(entry) => Ok(entry),
                _ => Err(Turn::Step(Step::Wait)),
            },
        };
        let set = if by_fd { fd.set } else { flowop.set };
        let entry = match pick {
            Ok(entry) => entry,
            Err(turn) => return turn,
        };
        let own = u32::from(by_fd && fd.open);
        if self.files.entries[entry as usize].open() > own || !self.files.exists(set, entry) {
            self.files.release(set, entry, &mut self.woken);
            return Turn::Over;
        }
        if by_fd {
            self.threads[thread as usize].fds[flowop.fd as usize].forget();
        }
        self.emit(flowop, thread, Out::Delete { set, entry }, self.plain(OpKind::Remove, entry))
    }

    fn stat(&mut self, code: &Code, flowop: &Flowop, thread: ThreadId) -> Turn {
        let (fd, set) = (*self.fd(thread), flowop.set);
        if flowop.fd > 0 && fd.open {
            return self.emit(flowop, thread, Out::Plain, self.plain(OpKind::Stat, fd.entry));
        }
        match self.pick(code, flowop, thread, false) {
            Ok(entry) => self.emit(flowop, thread, Out::Stat { set, entry }, self.plain(OpKind::Stat, entry)),
            Err(turn) => turn,
        }
    }

    /// One after the other, the open files of a set.
    fn fsync_set(&mut self, flowop: &Flowop, thread: ThreadId) -> Turn {
        let state = &mut self.threads[thread as usize];
        let from = state.cursor as usize;
        let found = state.fds[from..].iter().position(|fd| fd.open && fd.set == flowop.set);
        let Some(found) = found else { return Turn::Over };
        state.cursor = (from + found) as u32 + 1;
        let entry = state.fds[from + found].entry;
        self.emit(flowop, thread, Out::Plain, self.plain(OpKind::Fsync, entry))
    }

    /// Reads or writes the open file of the descriptor.
    fn transfer(&mut self, flowop: &Flowop, thread: ThreadId) -> Turn {
        let fd = *self.fd(thread);
        let entry = &self.files.entries[fd.entry as usize];
        let (size, length, file) = (entry.size, entry.length, entry.file);
        let state = &mut self.threads[thread as usize];
        let io = state.value(&flowop.size);
        let working = if flowop.working > 0 { flowop.working } else { size };
        let mut sequential = !flowop.random;
        let (kind, offset, bytes, call_bytes) = match flowop.action {
            Action::ReadWhole => (OpKind::ReadWhole, 0, length, if io > 0 { io } else { working }),
            Action::WriteWhole { source } => {
                let from = state.fds[source as usize].entry;
                let bytes = if from == NONE { working } else { self.files.entries[from as usize].size };
                let kind = if fd.position == 0 { OpKind::WriteWhole } else { OpKind::Write };
                (kind, fd.position, bytes, if io > 0 { io } else { bytes })
            }
            Action::Append => (OpKind::Append, 0, io, io),
            Action::AppendRandom => {
                let bytes = state.rng.below(io);
                (OpKind::Append, 0, bytes, bytes)
            }
            Action::Read if sequential => (OpKind::Read, fd.position, io, io),
            Action::Write if sequential => (OpKind::Write, fd.position, io, io),
            _ => {
                let bytes = io.min(working);
                let offset = state.rng.below((working - bytes) / bytes.max(1) + 1) * bytes;
                (if matches!(flowop.action, Action::Read) { OpKind::Read } else { OpKind::Write }, offset, bytes, bytes)
            }
        };
        sequential |= matches!(kind, OpKind::ReadWhole | OpKind::WriteWhole | OpKind::Append);
        if bytes == 0 && kind != OpKind::ReadWhole {
            self.count(flowop, thread, 0);
            return Turn::Over;
        }
        let op = FileOp { kind, file, offset, bytes, call_bytes: call_bytes.max(1), mode: fd.mode };
        if matches!(flowop.action, Action::AioWrite) {
            return self.aio_write(flowop, thread, fd.entry, op);
        }
        let out = Out::Transfer { fd: self.threads[thread as usize].fd, sequential };
        self.emit(flowop, thread, out, op)
    }

    /// Hands a write to a helper, and counts it, as filebench does. The file stays open until the write has ended.
    fn aio_write(&mut self, flowop: &Flowop, thread: ThreadId, entry: u32, op: FileOp) -> Turn {
        let writes = &mut self.threads[thread as usize].writes;
        let Some(number) = writes.free.pop() else {
            unreachable!("a thread has as many helpers as it can have writes outstanding");
        };
        writes.outstanding += 1;
        let helper = &mut self.helpers[number as usize];
        (helper.entry, helper.write) = (entry, Some((flowop.flow, op)));
        self.files.hold(entry);
        self.woken.push_back(self.threads.len() as u32 + number);
        self.count(flowop, thread, op.bytes);
        Turn::Over
    }

    /// Waits until half of the outstanding writes have ended, or one if there is one only.
    fn aio_wait(&mut self, flowop: &Flowop, thread: ThreadId) -> Turn {
        let writes = &mut self.threads[thread as usize].writes;
        let awaited = (writes.outstanding / 2).max(1).min(writes.outstanding);
        if writes.ended < awaited {
            writes.awaited = awaited;
            return Turn::Step(Step::Wait);
        }
        writes.reap();
        self.count(flowop, thread, 0);
        Turn::Over
    }
}
