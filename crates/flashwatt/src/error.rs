//! What can go wrong, said so that the user can mend it: the place, what was found, what was expected, the nearest name.

use std::fmt;

/// Where in the user's input a problem lies.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// File name (base name or as the user gave it), or `--set` for an override on the command line.
    pub file: Option<String>,
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// Column, counted from 1.
    pub column: Option<u64>,
    /// The configuration key (`device.channels`) or the column of a trace record.
    pub key: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sep = "";
        if let Some(file) = &self.file {
            write!(f, "{file}")?;
            sep = ":";
        }
        if let Some(line) = self.line {
            write!(f, "{sep}{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
            sep = ": ";
        } else if self.file.is_some() {
            sep = ": ";
        }
        if let Some(key) = &self.key {
            write!(f, "{sep}{key}")?;
        }
        Ok(())
    }
}

/// A fault in what the user wrote: a configuration, an override, a trace.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Fault {
    /// Where it lies.
    pub place: Place,
    /// What is wrong, in a few words ("unknown key", "not a number").
    pub what: String,
    /// What was found there.
    pub found: Option<String>,
    /// What would have been right.
    pub expected: Option<String>,
    /// The nearest valid name, for a misspelt one.
    pub nearest: Option<String>,
    /// What to do about it ("use --fold").
    pub help: Option<String>,
}

impl Fault {
    /// A fault at `place`.
    pub fn at(place: Place, what: impl Into<String>) -> Self {
        Fault { place, what: what.into(), ..Fault::default() }
    }

    /// A fault of a configuration key; the file and line are filled in by the parser.
    pub fn key(key: impl Into<String>, what: impl Into<String>) -> Self {
        Fault::at(Place { key: Some(key.into()), ..Place::default() }, what)
    }

    /// Says what was found.
    #[must_use]
    pub fn found(mut self, found: impl fmt::Display) -> Self {
        self.found = Some(found.to_string());
        self
    }

    /// Says what was expected.
    #[must_use]
    pub fn expected(mut self, expected: impl fmt::Display) -> Self {
        self.expected = Some(expected.to_string());
        self
    }

    /// Says which valid name is nearest.
    #[must_use]
    pub fn nearest(mut self, nearest: Option<String>) -> Self {
        self.nearest = nearest;
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.to_string();
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}", self.what)?;
        if let Some(found) = &self.found {
            write!(f, "; found {found}")?;
        }
        if let Some(expected) = &self.expected {
            write!(f, "; expected {expected}")?;
        }
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

/// Any error of the engine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration is wrong. All faults that could be told apart in one go.
    #[error("{}", join(.0))]
    Config(Vec<Fault>),
    /// The trace is wrong.
    #[error("{0}")]
    Trace(Box<Fault>),
    /// A result must not be written where it was to go.
    #[error("{0}")]
    Output(Box<Fault>),
    /// No run can begin from the snapshot: it is none, damaged, or of another drive. All keys that differ.
    #[error("{}", join(.0))]
    Snapshot(Vec<Fault>),
    /// The report to be priced is none, or is not one that can be.
    #[error("{0}")]
    Report(Box<Fault>),
    /// The user ended the run before it began, while the drive's start state was laid down.
    #[error("interrupted while the drive's start state was laid down ({done} requests{of_total}); nothing was measured",
        of_total = total.map(|total| format!(" of {total}")).unwrap_or_default())]
    Interrupted {
        /// Requests done.
        done: u64,
        /// Requests that there would have been, if that is known.
        total: Option<u64>,
    },
    /// The user ended the reading of a trace: before its replay, for its statistics or to convert it.
    #[error("interrupted while a trace was read ({done} requests so far); nothing was kept")]
    InterruptedReading {
        /// Requests read.
        done: u64,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file, as the user named it.
        path: String,
        /// What the operating system said.
        source: std::io::Error,
    },
}

fn join(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Error::Config(vec![fault])
    }
}

/// The valid name that lies nearest to a misspelt one, if any is near enough to be meant.
pub fn nearest<'a>(found: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<String> {
    valid
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(found, name), name))
        .filter(|&(distance, name)| distance <= 1 + name.len().max(found.len()) / 3)
        .min()
        .map(|(_, name)| name.to_string())
}
