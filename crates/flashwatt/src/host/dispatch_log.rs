//! The dispatch log: the requests as the block layer gives them to the drive, as a trace.
//!
//! It is in the format `csv`, so that `[workload.trace]` replays it: after merging, in the order of dispatch, with addresses of the
//! drive (the partition's offset is in them) and the process of each request's first piece. Its first line says so, that no
//! other scheduler gets its requests unnoticed.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use crate::connector::Request;
use crate::units::Nanos;
use crate::workload::trace::{CSV_HEADER_WITH_PROCESS, DISPATCH_MARK, Process, Record, write_csv};

/// Whether a file is a dispatch log, by its first two lines.
pub fn is_dispatch_log(path: &Path) -> bool {
    let lines = format!("{DISPATCH_MARK}\n{CSV_HEADER_WITH_PROCESS}\n");
    let mut begin = vec![0; lines.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == lines.as_bytes()
}

/// A dispatch log that is being written.
pub struct DispatchLog {
    out: Box<dyn Write>,
    error: Option<std::io::Error>,
}

impl DispatchLog {
    /// A log that is written to `out`.
    pub fn new(mut out: Box<dyn Write>) -> Self {
        let error = writeln!(out, "{DISPATCH_MARK}\n{CSV_HEADER_WITH_PROCESS}").err();
        DispatchLog { out, error }
    }

    /// A request goes to the drive.
    pub(super) fn dispatched(&mut self, request: &Request, now: Nanos) {
        let &Request { kind, offset_bytes, bytes, fua, is_sync, process, .. } = request;
        let process = Process::new(process.into()).unwrap_or(Process::NONE);
        let record = Record { fua, is_sync, process, ..Record::new(now, 0, offset_bytes, bytes, kind) };
        if self.error.is_none() {
            self.error = write_csv(&record, true, &mut self.out).err();
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
