//! Where the requests of a pass come from: from files, or from memory.

use std::sync::Arc;

use super::kept::{Records, Replayed};
use super::read::seal::Seal;
use super::read::traces::Traces;
use super::{DeviceId, Record};
use crate::settings;
use flashwatt_base::error::{Error, Place};

/// The requests of one pass.
pub(super) enum Source {
    /// Read as a stream.
    Files(Box<Traces>),
    /// Of a trace that is kept. The names of its files are for messages.
    Memory(Replayed, Place),
}

impl Source {
    /// Begins a pass.
    pub fn open(cfg: &settings::Trace, seals: &[Arc<Seal>], records: Option<&Arc<Records>>) -> Result<Self, Error> {
        match records {
            Some(records) => Ok(Source::Memory(Replayed::new(records), records.file())),
            None => Traces::open_sealed(cfg, seals).map(|traces| Source::Files(Box::new(traces))),
        }
    }

    /// The next request, as [`Traces::next_record`].
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record>, Error> {
        match self {
            Source::Files(traces) => traces.next_record(),
            Source::Memory(replayed, _) => Ok(replayed.next_record()),
        }
    }

    /// Whose device a record's is: the last one that was given.
    #[inline]
    pub fn device(&self, record: &Record) -> DeviceId {
        match self {
            Source::Files(traces) => traces.device(record),
            Source::Memory(replayed, _) => replayed.device(),
        }
    }

    /// As [`Traces::verify`]. What is in memory does not change.
    pub fn verify(&self) -> Result<(), Error> {
        match self {
            Source::Files(traces) => traces.verify(),
            Source::Memory(..) => Ok(()),
        }
    }

    /// As [`Traces::warnings`].
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Source::Files(traces) => traces.warnings(),
            Source::Memory(replayed, _) => replayed.warnings(),
        }
    }

    /// A column of the last record, for a message; of a record in memory the files.
    pub fn place(&self, column: &str) -> Place {
        match self {
            Source::Files(traces) => traces.place(column),
            Source::Memory(_, file) => file.clone(),
        }
    }

    /// The files alone, for what concerns no record.
    pub fn file(&self) -> Place {
        match self {
            Source::Files(traces) => traces.file(),
            Source::Memory(_, file) => file.clone(),
        }
    }
}
