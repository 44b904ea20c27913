//! Where the records of a trace were taken: what a host's scheduler may be given.
//!
//! A scheduler merges and orders requests. A stream that was logged behind a scheduler is merged and ordered already; given
//! to another one, it shows the recorded scheduler's work and not that of the simulated one.

use super::log_point::LogPoint;
use super::read::reader::Reader;
use super::read::traces::Traces;
use super::trace_error;
use crate::settings::{self, Dispatched};
use flashwatt_base::error::{Error, Fault};

/// What is to be said of traces that a scheduler gets: warnings, each about one file.
///
/// # Errors
/// A file was logged behind a scheduler, and that is not accepted.
pub(super) fn check(traces: &Traces, cfg: &settings::Trace) -> Result<Vec<String>, Error> {
    let Some(rule) = cfg.feeds_scheduler else { return Ok(Vec::new()) };
    let mut warnings = Vec::new();
    for reader in traces.readers() {
        match reader.logged_at() {
            LogPoint::Submission => {}
            LogPoint::Dispatch if rule == Dispatched::Refuse => return Err(refused(reader)),
            LogPoint::Dispatch => warnings.push(format!(
                "{}: logged behind a scheduler ({}): its requests are merged and ordered already, which the figures of `host` \
                 do not show",
                reader.name(),
                of(reader)
            )),
            LogPoint::Unknown => warnings.push(format!(
                "{}: a {} trace does not say whether its requests were merged and ordered by a scheduler before they were \
                 logged; if they were, the scheduler of [host] finds less to do than it did there",
                reader.name(),
                reader.event_name()
            )),
        }
    }
    Ok(warnings)
}

/// What a trace is that was logged behind a scheduler: its format, or its first line says so.
fn of(reader: &Reader) -> String {
    let name = reader.event_name();
    reader.marked().map_or(name.clone(), |point| format!("{name} that begins with `{}`", point.mark()))
}

fn refused(reader: &Reader) -> Error {
    let fault =
        Fault::at(reader.file(), "the trace was logged behind a scheduler, and [host] would give it to another one");
    let fault = fault.found(format!("{}: requests as a drive gets them, merged and ordered", of(reader)));
    let expected = match reader.format().at_submission() {
        Some(event) => format!("requests as processes send them, such as {event}"),
        None => "requests as processes send them, such as blkparse:Q".to_string(),
    };
    let help = "workload.trace.dispatched = \"accept\" runs it all the same, with a warning; without [host] it goes straight to the \
                drive";
    trace_error(fault.expected(expected).help(help))
}
