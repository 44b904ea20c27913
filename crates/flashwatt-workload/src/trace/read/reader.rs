//! One trace's records as the user wants them: damaged ones left out, chosen devices.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::{
    Decode, Format, Halt, Input, LogPoint, ReadOptions, Record, choose_event, counted, find, recognise, trace_error,
};
use super::census::Census;
use super::column_units::GivenUnits;
use super::doubts::doubts;
use super::input::BYTE_ORDER_MARK;
use super::input::{Gauge, base_name};
use super::seal::Seal;
use crate::settings;
use flashwatt_base::error::{Error, Fault, Place};

/// Devices that a message names at most.
const DEVICES_NAMED_MAX: usize = 32;

/// What one step of reading came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A record.
    Record(Record),
    /// A record that was left out.
    LeftOut,
    /// Many lines or events that are no records. The caller may check for an interrupt before the next step.
    Pause,
    /// There is no more.
    End,
}

/// Reads a trace from its start.
pub struct Reader {
    decoder: Box<dyn Decode>,
    path: PathBuf,
    format: &'static Format,
    /// The number of the event that stands for a request.
    event: usize,
    /// Where its records were taken, if its first line says so. Only looked for if a host's scheduler gets the requests.
    marked: Option<LogPoint>,
    /// The event that stands for a request, if it is not the usual one and nobody chose it.
    unusual_event: Option<&'static str>,
    /// Whether a host's scheduler gets the requests.
    for_scheduler: bool,
    census: Census,
    gauge: Gauge,
    skip_bad: bool,
    /// Sorted; empty: all.
    devices: Vec<u64>,
    /// Devices that were met and are not among them, for a message.
    others: BTreeSet<u64>,
    /// Records of those.
    to_others: u64,
    /// Damaged records left out.
    bad: u64,
    first_bad: Option<Fault>,
}

impl Reader {
    /// Opens one of the files that a configuration names; its format is recognised unless given.
    pub fn open(path: &Path, cfg: &settings::Trace, seal: Option<Arc<Seal>>) -> Result<Self, Error> {
        let named = cfg.format.as_deref().map(find).transpose().map_err(|fault| Error::from(*fault))?;
        let mut input = Input::open_sealed(path, seal)?;
        let for_scheduler = cfg.feeds_scheduler.is_some();
        // `blkparse:D` chooses an event, `blkparse` does not.
        let is_chosen = cfg.format.as_ref().is_some_and(|name| name.contains(':'));
        let (format, event) = match named {
            Some((format, _)) if for_scheduler && !is_chosen => {
                (format, choose_event(&mut input, format, for_scheduler)?)
            }
            Some(named) => named,
            None => recognise(&mut input, for_scheduler)?,
        };
        let is_unusual = event > 0 && (named.is_none() || (for_scheduler && !is_chosen));
        let given = GivenUnits::by(cfg);
        given.check(format).map_err(|(_, fault)| Error::from(*fault))?;
        let mut devices = cfg.devices.clone();
        devices.sort_unstable();
        Ok(Reader {
            marked: if for_scheduler { marked(&mut input)? } else { None },
            gauge: input.gauge(),
            decoder: (format.decode)(input, ReadOptions { event, given, cuts_gaps: cfg.max_gap_ns.is_some() }),
            path: path.to_path_buf(),
            format,
            event,
            unusual_event: format.events.get(event).copied().filter(|_| is_unusual),
            for_scheduler,
            census: Census::new(cfg.max_gap_ns),
            skip_bad: cfg.skip_bad,
            devices,
            others: BTreeSet::new(),
            to_others: 0,
            bad: 0,
            first_bad: None,
        })
    }

    /// The next record, or why there is none yet.
    #[inline]
    pub fn step(&mut self) -> Result<Step, Error> {
        match self.decoder.next() {
            Ok(Some(mut record)) if self.wants(record.device) => {
                self.census.add(&mut record, || self.decoder.position());
                Ok(Step::Record(record))
            }
            Ok(Some(record)) => {
                self.leave_out(record.device);
                Ok(Step::LeftOut)
            }
            Ok(None) => Ok(Step::End),
            Err(halt) => self.halted(halt),
        }
    }

    #[inline]
    fn wants(&self, device: u64) -> bool {
        self.devices.is_empty() || self.devices.binary_search(&device).is_ok()
    }

    fn leave_out(&mut self, device: u64) {
        self.to_others += 1;
        if self.others.len() < DEVICES_NAMED_MAX {
            self.others.insert(device);
        }
    }

    #[cold]
    fn halted(&mut self, halt: Halt) -> Result<Step, Error> {
        let bad = match halt {
            Halt::Bad(bad) => bad,
            Halt::Pause => return Ok(Step::Pause),
            Halt::Stop(error) => return Err(error),
        };
        let (records, place) = (bad.records.max(1), self.place_at(self.position(), bad.column));
        let fault = bad.into_fault(place);
        if !self.skip_bad {
            return Err(trace_error(fault.help("--skip-bad leaves such records out")));
        }
        self.bad = self.bad.saturating_add(records);
        self.first_bad.get_or_insert(fault);
        Ok(Step::LeftOut)
    }

    /// A place in a record that was read.
    pub fn place_at(&self, position: u64, column: &str) -> Place {
        let own = self.format.units.map(|own| own.time);
        match self.decoder.units().filter(|units| Some(units.time) != own && column.starts_with("time (")) {
            Some(units) => self.decoder.place(position, &format!("time ({})", units.time_name())),
            None => self.decoder.place(position, column),
        }
    }

    /// Compares what was read with what the seal says of the file.
    pub fn verify(&self) -> Result<(), Error> {
        self.gauge.verify(&self.path)
    }

    /// What no drive could have done, in words: a unit that is not what the format says.
    pub fn doubts(&self) -> Vec<String> {
        doubts(&self.census, self.decoder.units().as_ref())
    }

    /// The format's name, with the event that stands for a request if that is not the usual one.
    pub fn format_name(&self) -> String {
        let name = self.format.name;
        self.unusual_event.map_or_else(|| name.to_string(), |event| format!("{name}:{event}"))
    }

    /// What the columns count, in words, once the first record was read; `None` for a binary format.
    pub fn units(&self) -> Option<String> {
        self.decoder.units().map(|units| units.words())
    }

    /// Where its records were taken.
    pub fn logged_at(&self) -> LogPoint {
        self.marked.unwrap_or_else(|| self.format.logged_at(self.event))
    }

    /// Where its records were taken, if its first line says so.
    pub fn marked(&self) -> Option<LogPoint> {
        self.marked
    }

    /// The name of the format, with the event that stands for a request if there are several.
    pub fn event_name(&self) -> String {
        let name = self.format.name;
        self.format.events.get(self.event).map_or_else(|| name.to_string(), |event| format!("{name}:{event}"))
    }

    /// See [`Decode::position`].
    pub fn position(&self) -> u64 {
        self.decoder.position()
    }

    /// How far the file has been read.
    pub fn gauge(&self) -> &Gauge {
        &self.gauge
    }

    /// The format in use.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Damaged records left out so far.
    pub fn bad_records(&self) -> u64 {
        self.bad
    }

    /// See [`Decode::others`].
    pub fn other_records(&self) -> u64 {
        self.decoder.others()
    }

    /// Devices that were met and left out, as far as a message names them.
    pub fn other_devices(&self) -> &BTreeSet<u64> {
        &self.others
    }

    /// What was left out so far, for the report's warnings.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let (Some(event), Some(usual)) = (self.unusual_event, self.format.events.first()) {
            let why = if self.for_scheduler && self.logged_at() == LogPoint::Submission {
                format!("the scheduler of [host] gets requests as processes send them, not {usual} events")
            } else {
                format!("the trace begins without {usual} events")
            };
            warnings.push(format!("read as {}:{event}: {why}", self.format.name));
        }
        if let Some(first) = &self.first_bad {
            let place = Place { file: Some(self.name()), ..first.place.clone() };
            let first = Fault { place, ..first.clone() };
            warnings.push(format!("{} left out; the first: {first}", counted(self.bad, "damaged record")));
        }
        warnings.extend(self.census.clock.note());
        let others = self.other_records();
        if others > 0 {
            warnings.push(format!("passed over as no request: {others} of the trace's lines or events"));
        }
        if self.to_others > 0 {
            warnings.push(format!("{} to devices that were not chosen left out", counted(self.to_others, "request")));
        }
        warnings
    }

    /// The file's base name, for the report's warnings.
    pub fn name(&self) -> String {
        base_name(&self.path)
    }

    /// The file alone, for an error that concerns no record.
    pub fn file(&self) -> Place {
        Place { file: Some(self.path.display().to_string()), ..Place::default() }
    }
}

/// The point that the first line of a trace names, if it does.
fn marked(input: &mut Input) -> Result<Option<LogPoint>, Error> {
    const LINE_BYTES: usize = 64;
    let (sample, _) = input.peek(LINE_BYTES)?;
    let first = sample.split(|&c| c == b'\n').next().unwrap_or_default();
    let first = first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first).trim_ascii_end();
    let points = [LogPoint::Submission, LogPoint::Dispatch];
    Ok(points.into_iter().find(|point| point.mark().as_bytes() == first))
}
