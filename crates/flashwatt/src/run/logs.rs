//! The logs of a run: files that appear when they are whole.

use std::io::{BufWriter, Write};
use std::path::Path;

use crate::config::Config;
use crate::report::Report;
use crate::run::request_log::is_request_log;
use flashwatt_base::error::Error;
use flashwatt_base::output::{Aside, Replace};
use flashwatt_ssd::observe::probe::is_op_log;
use flashwatt_workload::trace::{LogPoint, is_trace_log};

/// A kind of log: its name in messages, and how a file of that kind is recognized.
pub(super) type LogKind = (&'static str, fn(&Path) -> bool);
pub(super) const OP_LOG: LogKind = ("an operation log", is_op_log);
pub(super) const DISPATCH_LOG: LogKind = ("a dispatch log", |path| is_trace_log(path, LogPoint::Dispatch));
pub(super) const CAPTURE: LogKind = ("a capture", |path| is_trace_log(path, LogPoint::Submission));
pub(super) const REQUEST_LOG: LogKind = ("a request log", is_request_log);

/// The file of a log.
pub(super) fn aside(path: &Path, config: &Config, force: bool, (what, ours): LogKind) -> Result<Aside, Error> {
    Aside::new(path, Replace { inputs: config.inputs(), what, ours, force })
}

/// What a log is written to.
pub(super) fn written(file: &Option<Aside>) -> Result<Option<Box<dyn Write>>, Error> {
    file.as_ref().map(|file| Ok(Box::new(BufWriter::new(file.file()?)) as Box<dyn Write>)).transpose()
}

/// A log has ended: its file appears.
pub(super) fn finish(report: &mut Report, log: &str, file: Option<Aside>, closed: Option<std::io::Result<()>>) {
    if let Some((file, closed)) = file.zip(closed) {
        let closed = closed.map_err(|source| file.error(source));
        keep(report, log, closed.and_then(|()| file.commit()));
    }
}

/// A log that was not kept makes a complete run a failed one; the figures stay.
pub(super) fn keep(report: &mut Report, log: &str, kept: Result<(), Error>) {
    if let Err(error) = kept {
        report.fail(&format!("the {log} was not kept: {error}"));
    }
}
