//! Requests of a run, written as a trace in the format `csv`, so that `[workload.trace]` replays them.
//!
//! A capture has the requests as the workload sends them. A dispatch log has them as the host's block layer gives them to the drive: after
//! merging, in the order of dispatch, with addresses of the drive (the partition's offset is in them) and the process of each request's
//! first piece. The first line says which of the two it is, so that no other scheduler gets requests that were merged and ordered already.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use super::formats::csv::{HEADER_WITH_PROCESS, write};
use super::{LogPoint, Process, Record};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestSink};

/// The first two lines.
fn head(point: LogPoint) -> String {
    format!("{}\n{HEADER_WITH_PROCESS}\n", point.mark())
}

/// Whether a file is such a trace, taken at this point, by its first two lines.
pub fn is_trace_log(path: &Path, point: LogPoint) -> bool {
    let lines = head(point);
    let mut begin = vec![0; lines.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == lines.as_bytes()
}

/// A trace that is being written.
pub struct TraceLog {
    out: Box<dyn Write>,
    error: Option<std::io::Error>,
}

impl TraceLog {
    /// A trace of requests that are taken at this point, written to `out`.
    pub fn new(mut out: Box<dyn Write>, point: LogPoint) -> Self {
        let error = out.write_all(head(point).as_bytes()).err();
        TraceLog { out, error }
    }
}

impl RequestSink for TraceLog {
    fn passes(&mut self, request: &Request, now: Nanos) {
        let &Request { kind, offset_bytes, bytes, fua, is_sync, process, .. } = request;
        let process = Process::new(process.into()).unwrap_or(Process::NONE);
        let record = Record { fua, is_sync, process, ..Record::new(now, 0, offset_bytes, bytes, kind) };
        if self.error.is_none() {
            self.error = write(&record, true, &mut self.out).err();
        }
    }

    fn close(mut self: Box<Self>) -> std::io::Result<()> {
        self.error.take().map_or_else(|| self.out.flush(), Err)
    }
}
