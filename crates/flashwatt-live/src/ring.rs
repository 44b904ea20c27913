//! Requests by io_uring.
//!
//! The kernel reads and writes a request's buffer while the request is under way. `push` is therefore unsafe: this module
//! keeps the file and every buffer alive and untouched until the completion of each request has been taken.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};

use crate::buffer::Buffer;
use crate::error::Error;
use crate::load::{Load, Operation, Timing};
use crate::measure::Clock;
use crate::offsets::Offsets;
use crate::target::Target;
use crate::threads::failed;

/// Time between two calls of `go_on`.
const PERIOD_NS: u64 = 10_000_000;

/// Whether the kernel lets this process use io_uring with plain reads and writes (Linux 5.6 on; a sandbox may forbid it).
pub(crate) fn works() -> bool {
    let mut probe = io_uring::Probe::new();
    let found = IoUring::new(1).and_then(|ring| ring.submitter().register_probe(&mut probe));
    found.is_ok() && probe.is_supported(opcode::Read::CODE) && probe.is_supported(opcode::Write::CODE)
}

/// A place for a request that is under way.
struct Slot {
    buffer: Buffer,
    offset: u64,
    start_ns: u64,
}

/// A load that is under way.
struct Flight<'a> {
    target: &'a Target,
    load: &'a Load,
    ring: IoUring,
    slots: Vec<Slot>,
    /// Requests that the kernel has and whose completion was not taken.
    outstanding: usize,
}

/// Runs a load; the times of its requests, and whether `go_on` stopped it.
pub(crate) fn run(
    target: &Target,
    load: &Load,
    mut offsets: Offsets,
    clock: &Clock,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<(Vec<Timing>, bool), Error> {
    let mut flight = Flight::new(target, load)?;
    let (mut requests, mut left, mut stopped, mut asked_ns) = (Vec::new(), load.requests, false, 0);
    let mut fault = None;
    let mut free: Vec<usize> = (0..flight.slots.len()).collect();
    loop {
        while fault.is_none() && !stopped && left > 0 {
            let now_ns = clock.now_ns();
            if !clock.is_open(now_ns) {
                break;
            }
            let Some(slot) = free.pop() else { break };
            let Some(offset) = offsets.next() else { break };
            flight.send(slot, offset, now_ns);
            left -= 1;
        }
        if flight.outstanding == 0 {
            break;
        }
        flight.wait()?;
        let now_ns = clock.now_ns();
        flight.take(now_ns, &mut free, &mut requests, &mut fault);
        if now_ns - asked_ns >= PERIOD_NS {
            asked_ns = now_ns;
            stopped |= !go_on(requests.len() as u64);
        }
    }
    fault.map_or(Ok((requests, stopped)), Err)
}

impl<'a> Flight<'a> {
    fn new(target: &'a Target, load: &'a Load) -> Result<Self, Error> {
        let ring = IoUring::new(load.queue_depth).map_err(|source| {
            target.failed(format!("io_uring gives no queue of {} requests", load.queue_depth), source)
        })?;
        let slot = |seed| Slot { buffer: Buffer::random(load.request_bytes as usize, seed), offset: 0, start_ns: 0 };
        let slots = (0..u64::from(load.queue_depth)).map(slot).collect();
        Ok(Flight { target, load, ring, slots, outstanding: 0 })
    }

    fn send(&mut self, number: usize, offset: u64, now_ns: u64) {
        let slot = &mut self.slots[number];
        (slot.offset, slot.start_ns) = (offset, now_ns);
        let file = types::Fd(self.target.file.as_raw_fd());
        let (memory, bytes) = (slot.buffer.as_mut_ptr(), slot.buffer.len() as u32);
        let entry = match self.load.operation {
            Operation::Read => opcode::Read::new(file, memory, bytes).offset(offset).build(),
            Operation::Write => opcode::Write::new(file, memory, bytes).offset(offset).build(),
        };
        // SAFETY: the file and the slot's buffer outlive the request: `Flight` borrows the target and owns the slots, a slot
        // is used again only after its completion, and `drop` waits for all that are outstanding.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(number as u64)) };
        debug_assert!(pushed.is_ok(), "the queue has a place for every slot");
        self.outstanding += usize::from(pushed.is_ok());
    }

    /// Hands the requests to the kernel and waits until one ends.
    fn wait(&mut self) -> Result<(), Error> {
        loop {
            match self.ring.submit_and_wait(1) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.target.failed("io_uring does not take requests", source)),
            }
        }
    }

    /// Takes the completions that are there.
    fn take(&mut self, now_ns: u64, free: &mut Vec<usize>, requests: &mut Vec<Timing>, fault: &mut Option<Error>) {
        while let Some(done) = self.ring.completion().next() {
            self.outstanding -= 1;
            let number = done.user_data() as usize;
            let Slot { offset, start_ns, .. } = self.slots[number];
            free.push(number);
            if u64::try_from(done.result()) == Ok(self.load.request_bytes) {
                requests.push(Timing { start_ns, end_ns: now_ns });
            } else if fault.is_none() {
                let source = match done.result() {
                    negative @ ..0 => io::Error::from_raw_os_error(-negative),
                    bytes => io::Error::new(io::ErrorKind::UnexpectedEof, format!("only {bytes} bytes were moved")),
                };
                *fault = Some(failed(self.target, self.load, offset, source));
            }
        }
    }
}

impl Drop for Flight<'_> {
    /// Waits for requests that the kernel still has: their buffers must not be freed before.
    fn drop(&mut self) {
        let mut tries = 0;
        while self.outstanding > 0 {
            let ended = self.ring.completion().count();
            self.outstanding -= ended.min(self.outstanding);
            if ended == 0 && self.ring.submit_and_wait(1).is_err() {
                tries += 1;
            }
            if tries > 1000 {
                // Nothing more can be learnt from the ring: leak the buffers rather than free memory in use.
                std::mem::forget(std::mem::take(&mut self.slots));
                return;
            }
        }
    }
}
