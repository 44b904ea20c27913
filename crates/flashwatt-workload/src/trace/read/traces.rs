//! One trace or several as one stream: merged by their times, cut to a window of time, scaled in time and space.

use std::path::Path;
use std::sync::Arc;

use super::super::{DeviceId, Format, Record, counted, trace_error};
use super::reader::{Reader, Step};
use super::seal::Seal;
use super::shape::Shape;
use super::sort::{Disorder, Sorter, window_records};
use crate::settings;
use flashwatt_base::error::{Error, Fault, Place};

/// The traces that a configuration names, read from their start.
///
/// Several are merged by the records' times; at one time, the file that was named first goes first. Each trace's own order
/// stays as it is, even where its time goes back.
pub struct Traces {
    sources: Vec<TraceSource>,
    /// The trace that the last record came from.
    current: usize,
    /// The last record's place in it.
    position: u64,
    shape: Shape,
    /// Requests that are still wanted.
    left: u64,
    share_devices: bool,
    devices: Vec<u64>,
}

struct TraceSource {
    reader: Reader,
    /// Puts its records in order, if that is asked for.
    sorter: Option<Sorter>,
    /// Its last line or record was read.
    read: bool,
    /// The place of the last record given.
    position: u64,
    /// The next record and its place.
    ahead: Option<(Record, u64)>,
    ended: bool,
    /// What is taken off its times, once its first record is known; `None`: nothing will be.
    origin: Option<Option<u64>>,
    /// Records with an earlier time than that.
    early: u64,
}

/// Where a record stands: in which trace, and at which line or record of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Position {
    /// The trace, counted from 0.
    pub trace: usize,
    /// See [`super::super::Decode::position`].
    pub number: u64,
}

impl Traces {
    /// Opens the files.
    pub fn open(cfg: &settings::Trace) -> Result<Self, Error> {
        Self::open_sealed(cfg, &[])
    }

    /// Opens files that were read before; an error as soon as one of them shows to be another one now.
    pub(in crate::trace) fn open_sealed(cfg: &settings::Trace, seals: &[Arc<Seal>]) -> Result<Self, Error> {
        let seals = seals.iter().map(|seal| Some(Arc::clone(seal))).chain(std::iter::repeat(None));
        let sources = cfg.paths.iter().zip(seals).map(|(path, seal)| TraceSource::open(path, cfg, seal));
        let sources = sources.collect::<Result<_, _>>()?;
        Ok(Traces {
            sources,
            current: 0,
            position: 0,
            shape: Shape::new(cfg),
            left: cfg.max_requests.unwrap_or(u64::MAX),
            share_devices: cfg.share_devices,
            devices: cfg.devices.clone(),
        })
    }

    /// The next record, however much has to be passed over for it.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record>, Error> {
        loop {
            match self.step()? {
                Step::Record(record) => return Ok(Some(record)),
                Step::LeftOut | Step::Pause => {}
                Step::End => return Ok(None),
            }
        }
    }

    /// The next record, or why there is none yet.
    #[inline]
    pub fn step(&mut self) -> Result<Step, Error> {
        if self.left == 0 {
            return Ok(Step::End);
        }
        let record = match self.merged()? {
            Step::Record(record) => record,
            other => return Ok(other),
        };
        match self.shape.apply(record) {
            Ok(Some(record)) => {
                self.left -= 1;
                Ok(Step::Record(record))
            }
            Ok(None) => Ok(Step::LeftOut),
            Err(bad) => {
                let place = self.place("offset");
                Err(trace_error(bad.into_fault(place)))
            }
        }
    }

    #[inline]
    fn merged(&mut self) -> Result<Step, Error> {
        if let [only] = &mut self.sources[..] {
            let step = only.step()?;
            self.position = only.position;
            return Ok(step);
        }
        self.earliest()
    }

    /// Reads on in the first trace whose next record is not known; when all are, gives the earliest.
    fn earliest(&mut self) -> Result<Step, Error> {
        if let Some(source) = self.sources.iter_mut().find(|source| source.ahead.is_none() && !source.ended) {
            return source.look_ahead();
        }
        let times = self.sources.iter().enumerate().filter_map(|(i, s)| s.ahead.map(|(record, _)| (record.time_ns, i)));
        let Some((_, index)) = times.min() else { return Ok(Step::End) };
        let Some((record, position)) = self.sources[index].ahead.take() else { return Ok(Step::End) };
        (self.current, self.position) = (index, position);
        Ok(Step::Record(record))
    }

    /// Whose device a record's is.
    #[inline]
    pub fn device(&self, record: &Record) -> DeviceId {
        DeviceId { trace: if self.share_devices { 0 } else { self.current as u32 }, device: record.device }
    }

    /// Where the last record stands.
    pub fn position(&self) -> Position {
        Position { trace: self.current, number: self.position }
    }

    /// A column of the last record, for a message.
    pub fn place(&self, column: &str) -> Place {
        self.place_at(self.position(), column)
    }

    /// A column of an earlier record.
    pub fn place_at(&self, at: Position, column: &str) -> Place {
        self.sources.get(at.trace).map_or_else(Place::default, |source| source.reader.place_at(at.number, column))
    }

    /// The files alone, for what concerns no record.
    pub fn file(&self) -> Place {
        let names: Vec<_> = self.sources.iter().filter_map(|source| source.reader.file().file).collect();
        Place { file: Some(names.join(" + ")), ..Place::default() }
    }

    /// The readers of the files.
    pub(in crate::trace) fn readers(&self) -> impl Iterator<Item = &Reader> + '_ {
        self.sources.iter().map(|source| &source.reader)
    }

    /// The formats in use, file by file.
    pub fn formats(&self) -> impl Iterator<Item = &'static Format> + '_ {
        self.readers().map(Reader::format)
    }

    /// The names of the formats in use, without those that stand beside each other twice.
    pub fn format_names(&self) -> String {
        let mut names: Vec<_> = self.sources.iter().map(|source| source.reader.format_name()).collect();
        names.dedup();
        names.join(" + ")
    }

    /// What the columns of the text formats in use count, without those that stand beside each other twice; `None` without
    /// such a format. Known once the first record was read.
    pub fn units(&self) -> Option<String> {
        let mut units: Vec<_> = self.readers().filter_map(Reader::units).collect();
        units.dedup();
        (!units.is_empty()).then(|| units.join(" + "))
    }

    /// Compares what was read of each file with what the first reading found.
    pub(in crate::trace) fn verify(&self) -> Result<(), Error> {
        self.sources.iter().try_for_each(|source| source.reader.verify())
    }

    /// What no drive could have done, and the option that would mend it.
    pub fn doubts(&self) -> Vec<String> {
        self.each_file(Reader::doubts)
    }

    /// What there is to say of each file, with its name if there are several.
    fn each_file(&self, of: impl Fn(&Reader) -> Vec<String>) -> Vec<String> {
        let several = self.sources.len() > 1;
        let readers = self.sources.iter().map(|source| &source.reader);
        let named = |reader: &Reader| {
            let name = if several { format!("{}: ", reader.name()) } else { String::new() };
            of(reader).into_iter().map(move |warning| format!("{name}{warning}"))
        };
        readers.flat_map(named).collect()
    }

    /// Damaged records left out so far.
    pub fn bad_records(&self) -> u64 {
        self.sources.iter().map(|source| source.reader.bad_records()).fold(0, u64::saturating_add)
    }

    /// Lines and records so far that are no requests.
    pub fn other_records(&self) -> u64 {
        self.sources.iter().map(|source| source.reader.other_records()).sum()
    }

    /// An estimate of the requests in all, from how much of the files gave `done` of them.
    pub fn expected(&self, done: u64) -> Option<u64> {
        let bytes = self.sources.iter().map(|source| source.reader.gauge().bytes());
        let (read, whole) = bytes.fold((0, 0), |(read, whole), (r, w)| (read + r, whole + w));
        let expected = (read > 0 && whole >= read).then(|| u128::from(done) * u128::from(whole) / u128::from(read))?;
        Some(u64::try_from(expected).unwrap_or(u64::MAX).min(self.left.saturating_add(done)))
    }

    /// What was left out or changed so far, for the report's warnings.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.each_file(Reader::warnings);
        let sorted = self.sources.iter().filter_map(|source| source.sorter.as_ref());
        let disorder = sorted.map(|sorter| sorter.disorder).reduce(Disorder::and).unwrap_or_default();
        if disorder.records > 0 {
            let records = counted(disorder.records, "record");
            warnings.push(format!("{records} put in the order of their times: {disorder}"));
        }
        let early = self.early();
        if early > 0 {
            let records = counted(early, "record");
            warnings.push(format!("{records} put at the start of the file: earlier than the first one there"));
        }
        warnings.extend(self.shape.warnings());
        warnings
    }

    /// Records put at the start of their file: earlier than the first one there.
    pub fn early(&self) -> u64 {
        self.sources.iter().map(|source| source.early).sum()
    }

    /// An error unless each device that was asked for is among `found`. Only to be asked at the traces' end.
    pub fn check_devices(&self, found: impl Fn(u64) -> bool) -> Result<(), Error> {
        let missing = self.devices.iter().find(|&&device| !found(device));
        let Some(missing) = missing.filter(|_| self.left > 0 && !self.shape.is_window()) else {
            return Ok(());
        };
        let others = self.sources.iter().flat_map(|source| source.reader.other_devices());
        let present = self.devices.iter().filter(|&&device| found(device)).chain(others);
        let present = present.map(u64::to_string).collect::<Vec<_>>().join(", ");
        let fault = Fault::at(self.file(), "the trace has no request to a chosen device");
        Err(trace_error(fault.found(format!("device {missing}")).expected(format!("some of {present}"))))
    }
}

impl TraceSource {
    fn open(path: &Path, cfg: &settings::Trace, seal: Option<Arc<Seal>>) -> Result<Self, Error> {
        Ok(TraceSource {
            reader: Reader::open(path, cfg, seal)?,
            sorter: cfg.sort.then(|| Sorter::new(window_records(cfg.paths.len()))),
            read: false,
            position: 0,
            ahead: None,
            ended: false,
            origin: if cfg.align_starts { None } else { Some(None) },
            early: 0,
        })
    }

    /// The next record in the order that is asked for.
    #[inline]
    fn ordered(&mut self) -> Result<Step, Error> {
        let Some(sorter) = &mut self.sorter else {
            let step = self.reader.step()?;
            self.position = self.reader.position();
            return Ok(step);
        };
        while !self.read && !sorter.is_full() {
            match self.reader.step()? {
                Step::Record(record) => {
                    let position = self.reader.position();
                    if !sorter.take(record, position) {
                        return Err(too_far_back(self.reader.place_at(position, "time"), sorter.window));
                    }
                    if sorter.is_time_to_pause() {
                        return Ok(Step::Pause);
                    }
                }
                Step::End => self.read = true,
                other => return Ok(other),
            }
        }
        let Some((record, position)) = sorter.give() else { return Ok(Step::End) };
        self.position = position;
        Ok(Step::Record(record))
    }

    #[inline]
    fn step(&mut self) -> Result<Step, Error> {
        match self.ordered()? {
            Step::Record(mut record) => {
                if let Some(origin) = *self.origin.get_or_insert(Some(record.time_ns)) {
                    self.early += u64::from(record.time_ns < origin);
                    record.time_ns = record.time_ns.saturating_sub(origin);
                }
                Ok(Step::Record(record))
            }
            other => Ok(other),
        }
    }

    fn look_ahead(&mut self) -> Result<Step, Error> {
        match self.step()? {
            Step::Record(record) => {
                self.ahead = Some((record, self.position));
                Ok(Step::LeftOut)
            }
            Step::End => {
                self.ended = true;
                Ok(Step::LeftOut)
            }
            other => Ok(other),
        }
    }
}

fn too_far_back(place: Place, window: usize) -> Error {
    let fault = Fault::at(place, "the time goes back too far to be put in order");
    let fault = fault.found(format!("a record more than {window} records behind its place"));
    trace_error(fault.help("sort the file by its times first"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of two records: the third is taken when the earliest of the first two is gone.
    #[test]
    fn a_record_too_far_behind_its_place_is_told() {
        let path = std::env::temp_dir().join(format!("flashwatt-far-{}", std::process::id()));
        std::fs::write(&path, "5 0 8 8 0\n6 0 8 8 0\n7 0 8 8 0\n4 0 8 8 0\n").expect("a temporary file");
        let mut traces =
            Traces::open(&settings::Trace { sort: true, ..settings::Trace::of(&path) }).expect("a good trace");
        traces.sources[0].sorter = Some(Sorter::new(2));
        let times = [(); 2].map(|()| traces.next_record().ok().flatten().map(|record| record.time_ns));
        let told = traces.next_record().err().map_or_else(String::new, |error| error.to_string());
        std::fs::remove_file(&path).expect("the file");
        assert_eq!(times, [Some(5), Some(6)]);
        assert!(told.contains(":4: time: the time goes back too far to be put in order"), "{told}");
    }
}
