//! Requests by `pread` and `pwrite`, a thread for each that is under way.

use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use crate::buffer::Buffer;
use crate::error::Error;
use crate::load::{Load, Operation, Timing};
use crate::measure::Clock;
use crate::offsets::Offsets;
use crate::target::Target;

/// Time between two calls of `go_on`.
const PERIOD: Duration = Duration::from_millis(10);

/// What the threads share.
struct Shared<'a> {
    target: &'a Target,
    load: &'a Load,
    clock: &'a Clock,
    /// The offsets to come, and how many of the load's requests are left.
    left: Mutex<(Offsets, u64)>,
    ended: AtomicU64,
    stop: AtomicBool,
}

/// Runs a load; the times of its requests, and whether `go_on` stopped it.
pub(crate) fn run(
    target: &Target,
    load: &Load,
    offsets: Offsets,
    clock: &Clock,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<(Vec<Timing>, bool), Error> {
    let left = Mutex::new((offsets, load.requests));
    let shared = Shared { target, load, clock, left, ended: AtomicU64::new(0), stop: AtomicBool::new(false) };
    let threads = u64::from(load.queue_depth).min(load.requests.max(1));
    let mut stopped = false;
    let results = thread::scope(|scope| {
        let (sender, results) = channel();
        for number in 0..threads {
            let (shared, sender) = (&shared, sender.clone());
            scope.spawn(move || sender.send(shared.work(number)));
        }
        drop(sender);
        let mut found = Vec::new();
        loop {
            match results.recv_timeout(PERIOD) {
                Ok(one) => found.push(one),
                Err(RecvTimeoutError::Disconnected) => return found,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !stopped && !go_on(shared.ended.load(Relaxed)) {
                stopped = true;
                shared.stop.store(true, Relaxed);
            }
        }
    });
    let mut requests = Vec::new();
    for one in results {
        requests.extend(one?);
    }
    Ok((requests, stopped))
}

impl Shared<'_> {
    /// The work of one thread.
    fn work(&self, number: u64) -> Result<Vec<Timing>, Error> {
        let mut buffer = Buffer::random(self.load.request_bytes as usize, number);
        let mut requests = Vec::new();
        while let Some(offset) = self.next() {
            let start_ns = self.clock.now_ns();
            if !self.clock.is_open(start_ns) {
                break;
            }
            if let Err(source) = self.request(&mut buffer, offset) {
                self.stop.store(true, Relaxed);
                return Err(failed(self.target, self.load, offset, source));
            }
            requests.push(Timing { start_ns, end_ns: self.clock.now_ns() });
            self.ended.fetch_add(1, Relaxed);
        }
        Ok(requests)
    }

    /// The offset of the next request; none after the last one, or once the load is stopped.
    fn next(&self) -> Option<u64> {
        if self.stop.load(Relaxed) {
            return None;
        }
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.1 = left.1.checked_sub(1)?;
        left.0.next()
    }

    fn request(&self, buffer: &mut Buffer, offset: u64) -> io::Result<()> {
        match self.load.operation {
            Operation::Read => self.target.file.read_exact_at(buffer, offset),
            Operation::Write => self.target.file.write_all_at(buffer, offset),
        }
    }
}

/// The error of a request.
pub(crate) fn failed(target: &Target, load: &Load, offset: u64, source: io::Error) -> Error {
    let what = match load.operation {
        Operation::Read => "read",
        Operation::Write => "write",
    };
    target.failed(format!("a {what} of {} bytes at byte {offset} failed", load.request_bytes), source)
}
