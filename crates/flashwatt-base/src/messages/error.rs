//! Errors, in terms that let the user correct the input: place, found, expected, nearest valid name.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

/// Where in the user's input a problem lies.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// The file as the user named it, or `--set` for an override on the command line.
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

/// A fault in the user's input: a configuration, an override, a trace.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Fault {
    /// Where it lies.
    pub place: Place,
    /// What is wrong, in a few words ("unknown key", "not a number").
    pub what: String,
    /// The text that was found there.
    pub found: Option<String>,
    /// The valid alternative.
    pub expected: Option<String>,
    /// The nearest valid name for a misspelt one.
    pub nearest: Option<String>,
    /// Advice ("use --fold").
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
    /// The configuration is wrong: all faults that could be found in one pass.
    #[error("{}", join(.0))]
    Config(Vec<Fault>),
    /// The trace is wrong.
    #[error("{0}")]
    Trace(Box<Fault>),
    /// A result may not be written to the given target.
    #[error("{0}")]
    Output(Box<Fault>),
    /// No run can begin from the snapshot: the file is no snapshot, damaged, or of another drive. Lists all keys that
    /// differ.
    #[error("{}", join(.0))]
    Snapshot(Vec<Fault>),
    /// The report cannot be repriced.
    #[error("{0}")]
    Report(Box<Fault>),
    /// The user ended the run before it began, while the drive's start state was laid down.
    #[error("interrupted while the drive's start state was laid down ({done} requests{of_total}); nothing was measured",
        of_total = total.map(|total| format!(" of {total}")).unwrap_or_default())]
    Interrupted {
        /// Requests done.
        done: u64,
        /// Requests of the whole start state, if known.
        total: Option<u64>,
    },
    /// The user ended the reading of a trace: before its replay, for its statistics or to convert it.
    #[error("interrupted while a trace was read ({done} requests so far); nothing was kept")]
    InterruptedReading {
        /// Requests read.
        done: u64,
    },
    /// A file could not be read or written.
    #[error("{path}: {}", of_file(path, source))]
    Io {
        /// The file, as the user named it.
        path: String,
        /// The message of the operating system.
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

/// Files of a directory that are looked through for a name near to one that is not there.
const FILES_MAX: usize = 10_000;

/// Why a file cannot be read or written, with the nearest name in its directory if it is not there.
fn of_file(path: &str, source: &std::io::Error) -> String {
    match source.kind() {
        ErrorKind::NotFound => not_there(Path::new(path)),
        ErrorKind::IsADirectory => "a directory; expected a file".to_string(),
        _ => source.to_string(),
    }
}

fn not_there(path: &Path) -> String {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = directory.read_dir() else { return format!("no such directory; found {}", directory.display()) };
    let there = entries.flatten().take(FILES_MAX).filter_map(|entry| entry.file_name().into_string().ok());
    let there: Vec<String> = there.collect();
    let found = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match nearest(found, there.iter().map(String::as_str)) {
        Some(name) => format!("no such file; did you mean `{}`?", path.with_file_name(name).display()),
        None => "no such file".to_string(),
    }
}

/// The valid name nearest to a misspelt one, whatever is written in capitals; none if no name is near enough. A name without its
/// unit (`chunk` for `chunk_bytes`) is as near as one with two wrong letters, so that `request` is `requests` first.
pub fn nearest<'a>(found: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let found = found.to_lowercase();
    let distance = |name: &str| match name.strip_prefix(&found).is_some_and(|rest| rest.starts_with('_')) {
        true => 2,
        false => strsim::damerau_levenshtein(&found, &name.to_lowercase()),
    };
    valid
        .into_iter()
        .map(|name| (distance(name), name))
        .filter(|&(distance, name)| distance <= 1 + name.len().max(found.len()) / 3)
        .min()
        .map(|(_, name)| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_its_unit_is_near() {
        let names = ["chunk_bytes", "level", "request_bytes", "requests", "spare"];
        let near = |found: &str| nearest(found, names);
        assert_eq!(near("chunk").as_deref(), Some("chunk_bytes"));
        assert_eq!(near("request").as_deref(), Some("requests"));
        assert_eq!(near("Spair").as_deref(), Some("spare"));
        assert_eq!((near("queue"), near("")), (None, None));
    }

    #[test]
    fn a_file_that_is_not_there_has_a_neighbour() {
        let directory = std::env::temp_dir().join(format!("flashwatt-neighbour-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(directory.join("trace.csv"), "").expect("a file");
        let of = |name: &str| of_file(&directory.join(name).display().to_string(), &ErrorKind::NotFound.into());
        let near = directory.join("trace.csv").display().to_string();
        assert_eq!(of("trase.csv"), format!("no such file; did you mean `{near}`?"));
        assert_eq!(of("other"), "no such file");
        let missing = directory.join("no").display().to_string();
        assert_eq!(of("no/x.csv"), format!("no such directory; found {missing}"));
        std::fs::remove_dir_all(&directory).expect("it is there");
        assert_eq!(of_file("x", &ErrorKind::IsADirectory.into()), "a directory; expected a file");
    }
}
