//! Records as the user wants them: damaged ones left out, chosen devices, so many and no more.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Decode, Format, Halt, Input, Record, find, recognise, trace_error};
use crate::config;
use crate::error::{Error, Fault, Place};

/// Devices that a message names at most.
const PASSED_OVER_MAX: usize = 32;

/// Reads a trace from its start.
pub struct Reader {
    decoder: Box<dyn Decode>,
    format: &'static Format,
    skip_bad: bool,
    /// Sorted; empty: all.
    devices: Vec<u64>,
    /// Devices that were met and are not among them, for a message.
    passed_over: BTreeSet<u64>,
    left: u64,
    /// Damaged records left out.
    bad: u64,
    first_bad: Option<Fault>,
}

impl Reader {
    /// Opens the file that a configuration names.
    pub fn open(cfg: &config::Trace) -> Result<Self, Error> {
        let mut reader = Reader::new(&cfg.path, cfg.format.as_deref(), cfg.skip_bad)?;
        reader.devices.clone_from(&cfg.devices);
        reader.devices.sort_unstable();
        reader.left = cfg.max_requests.unwrap_or(u64::MAX);
        Ok(reader)
    }

    /// Opens a file; its format is recognised unless given.
    pub fn new(path: &Path, format: Option<&str>, skip_bad: bool) -> Result<Self, Error> {
        let given = format.map(find).transpose().map_err(|fault| Error::from(*fault))?;
        let mut input = Input::open(path)?;
        let (format, event) = match given {
            Some(given) => given,
            None => (recognise(&mut input)?, 0),
        };
        let decoder = (format.decode)(input, event);
        Ok(Reader {
            decoder,
            format,
            skip_bad,
            devices: Vec::new(),
            passed_over: BTreeSet::new(),
            left: u64::MAX,
            bad: 0,
            first_bad: None,
        })
    }

    /// The next record.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        loop {
            match self.decoder.next() {
                Ok(Some(record)) if self.wants(record.device) => {
                    self.left -= 1;
                    return Ok(Some(record));
                }
                Ok(Some(record)) => self.pass_over(record.device),
                Ok(None) => return Ok(None),
                Err(halt) => self.bad(halt)?,
            }
        }
    }

    #[inline]
    fn wants(&self, device: u64) -> bool {
        self.devices.is_empty() || self.devices.binary_search(&device).is_ok()
    }

    fn pass_over(&mut self, device: u64) {
        if self.passed_over.len() < PASSED_OVER_MAX {
            self.passed_over.insert(device);
        }
    }

    #[cold]
    fn bad(&mut self, halt: Halt) -> Result<(), Error> {
        let bad = match halt {
            Halt::Bad(bad) => bad,
            Halt::Stop(error) => return Err(error),
        };
        let place = self.place(bad.column);
        let fault = bad.into_fault(place);
        if !self.skip_bad {
            return Err(trace_error(fault.help("--skip-bad leaves such records out")));
        }
        self.bad += 1;
        self.first_bad.get_or_insert(fault);
        Ok(())
    }

    /// A place in the record that was read last.
    pub fn place(&self, column: &str) -> Place {
        self.place_at(self.position(), column)
    }

    /// A place in an earlier record.
    pub fn place_at(&self, position: u64, column: &str) -> Place {
        self.decoder.place(position, column)
    }

    /// See [`Decode::position`].
    pub fn position(&self) -> u64 {
        self.decoder.position()
    }

    /// The format in use.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Damaged records left out so far.
    pub fn bad_records(&self) -> u64 {
        self.bad
    }

    /// What was left out so far, for the report's warnings.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(first) = &self.first_bad {
            warnings.push(format!("{} damaged records left out; the first: {first}", self.bad));
        }
        if self.decoder.others() > 0 {
            warnings.push(format!(
                "{} lines or events of the trace that are no requests passed over",
                self.decoder.others()
            ));
        }
        warnings
    }

    /// An error unless each device that was asked for is among `found`. Only to be asked at the trace's end.
    pub fn check_devices(&self, found: impl Fn(u64) -> bool) -> Result<(), Error> {
        let missing = self.devices.iter().find(|&&device| !found(device));
        let Some(missing) = missing.filter(|_| self.left > 0) else {
            return Ok(());
        };
        let present = self.devices.iter().filter(|&&device| found(device)).chain(&self.passed_over);
        let present = present.map(u64::to_string).collect::<Vec<_>>().join(", ");
        let fault = Fault::at(self.file(), "the trace has no request to a chosen device");
        Err(trace_error(fault.found(format!("device {missing}")).expected(format!("some of {present}"))))
    }

    /// The file alone, for what concerns no record.
    pub fn file(&self) -> Place {
        Place { file: self.place("").file, ..Place::default() }
    }
}
