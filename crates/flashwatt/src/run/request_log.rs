//! What the host's requests are written to: the request log, a line for each of them, whatever the device; and a capture, a trace of them.
//!
//! It stands between the loop and the workload, so that it sees what the host sees, and costs nothing unless it is asked
//! for.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{
    Completion, Next, Request, RequestSink, Tag, Upcoming, Workload, says_what_inner_says,
};
use flashwatt_workload::trace::TraceLog;

/// The line of column names.
const HEADER: &str = "kind,arrival_ns,start_ns,end_ns,offset_bytes,bytes,origin";

/// Whether a file is a request log, by its line of column names.
pub fn is_request_log(path: &Path) -> bool {
    let mut begin = [0; HEADER.len() + 1];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin[..HEADER.len()] == *HEADER.as_bytes() && begin[HEADER.len()] == b'\n'
}

/// A workload whose requests are written down, when they come ([`TraceLog`], a capture) and when they end (the request log).
pub struct Logged<'a> {
    inner: &'a mut dyn Workload,
    capture: Option<TraceLog>,
    log: Option<RequestLog>,
    /// Requests in the device, by the tag that the loop knows; and free tags.
    outstanding: Vec<Taken>,
    free: Vec<Tag>,
}

/// A log of requests: one line of CSV for each, in the order of their ends. The first of them are those
/// of the warm-up (`window.warmup` of the report), then come the measured ones, then those of the drain.
///
/// Columns: `kind` (`read`, `write`, `trim`, `flush`); `arrival_ns`, when the host sent it; `start_ns`, when the device had
/// room for it; `end_ns`; `offset_bytes` and `bytes`; `origin`, the number of its sender. Times are in simulated ns from the
/// start of the run. `end_ns` − `arrival_ns` is the latency of the report.
pub struct RequestLog {
    out: Box<dyn Write>,
    error: Option<std::io::Error>,
}

impl RequestLog {
    /// A log that is written to `out`.
    pub fn new(mut out: Box<dyn Write>) -> Self {
        let error = writeln!(out, "{HEADER}").err();
        RequestLog { out, error }
    }

    fn ended(&mut self, taken: &Taken, end_ns: Nanos) {
        let Taken { request: Request { arrival_ns, kind, offset_bytes, bytes, origin, .. }, start_ns, .. } = *taken;
        if self.error.is_none() {
            let (kind, origin) = (kind.name(), origin.0);
            let line = writeln!(self.out, "{kind},{arrival_ns},{start_ns},{end_ns},{offset_bytes},{bytes},{origin}");
            self.error = line.err();
        }
    }

    /// Ends the log.
    ///
    /// # Errors
    /// The first error in writing it.
    pub fn close(mut self) -> std::io::Result<()> {
        self.error.take().map_or_else(|| self.out.flush(), Err)
    }
}

/// A request in the device.
#[derive(Clone, Copy)]
struct Taken {
    request: Request,
    start_ns: Nanos,
    /// The workload's tag, which need not be unique.
    tag: Tag,
}

impl<'a> Logged<'a> {
    /// The requests of `inner`, written to what there is of the two.
    pub fn new(inner: &'a mut dyn Workload, capture: Option<TraceLog>, log: Option<RequestLog>) -> Self {
        Logged { inner, capture, log, outstanding: Vec::new(), free: Vec::new() }
    }

    /// What was written to.
    pub fn into_logs(self) -> (Option<TraceLog>, Option<RequestLog>) {
        (self.capture, self.log)
    }

    /// Remembers a request; returns the tag for the loop.
    fn take(&mut self, taken: Taken) -> Tag {
        if let Some(tag) = self.free.pop() {
            self.outstanding[tag.0 as usize] = taken;
            return tag;
        }
        self.outstanding.push(taken);
        Tag(self.outstanding.len() as u32 - 1)
    }
}

impl Workload for Logged<'_> {
    says_what_inner_says!();

    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        Ok(match self.inner.next(now)? {
            Next::Request(tag, request) => {
                if let Some(capture) = &mut self.capture {
                    capture.passes(&request, request.arrival_ns);
                }
                Next::Request(self.take(Taken { request, start_ns: now, tag }), request)
            }
            other => other,
        })
    }

    fn upcoming(&self) -> Option<Upcoming> {
        self.inner.upcoming()
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        let taken = self.outstanding[done.tag.0 as usize];
        self.free.push(done.tag);
        if let Some(log) = &mut self.log {
            log.ended(&taken, now);
        }
        self.inner.completed(&Completion { tag: taken.tag, ..*done }, now);
    }

    fn len_hint(&self) -> Option<u64> {
        self.inner.len_hint()
    }
}
