//! What is fuzzed, and what must hold. Both fuzzers, the one guided by coverage and the stable fallback, call this, and a test of
//! the engine reads the seeds.

use super::fates;
use flashwatt::config;
use flashwatt::workload::trace::{FORMATS, Format, find};

/// Something that reads the user's input.
#[derive(Clone, Copy)]
pub enum Target {
    /// A configuration file.
    Config,
    /// A trace of a format.
    Trace(&'static Format),
}

impl Target {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Target> {
        std::iter::once(Target::Config).chain(FORMATS.iter().map(Target::Trace))
    }

    /// `config`, or the name of a format.
    pub fn of(name: &str) -> Option<Target> {
        if name == "config" { Some(Target::Config) } else { find(name).ok().map(|(format, _)| Target::Trace(format)) }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Target::Config => "config",
            Target::Trace(format) => format.name,
        }
    }

    /// What mutations start from.
    pub fn seeds(self) -> Vec<Vec<u8>> {
        match self {
            Target::Config => {
                let presets = config::PRESETS.iter().map(|(_, text)| text.as_bytes().to_vec());
                presets.chain([CONFIG.as_bytes().to_vec()]).collect()
            }
            Target::Trace(format) => vec![format.example.to_vec(), format.example.repeat(3)],
        }
    }

    /// Reads `input` and asserts what must hold. What came of it, in words that tell kinds of input apart.
    pub fn read(self, input: &[u8]) -> Vec<String> {
        match self {
            Target::Config => read_config(input),
            Target::Trace(format) => read_trace(format, input),
        }
    }
}

const CONFIG: &str = "[device]\npreset = \"x25m\"\nchannels = 4\n[gc.policy.window]\n[wear]\npolicy = \"none\"\n\
    [workload.trace]\npath = [\"a\", \"b\"]\nformat = \"blkparse:C\"\ntime_unit = \"us\"\n\
    size_unit = \"4kib\"\nsort = true\ndevices = [0, 1]\nuntil_s = 1.5\nspeed = 2\nfold = true\n\
    [run]\nseed = 7\nprecondition = \"steady\"\n[run.warmup]\nrequests = 10\n";

/// A configuration is taken or refused in words, never with a panic.
fn read_config(input: &[u8]) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(input) else { return Vec::new() };
    match config::load(text, "fuzz.toml", &[]) {
        Ok(config) => vec![config.drive.description(), config.sha256()].into_iter().take(1).collect(),
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty());
            message.lines().map(kind).collect()
        }
    }
}

/// A message without what it repeats of the input.
fn kind(message: &str) -> String {
    let what = message.split("; found").next().unwrap_or_default();
    what.split(|c: char| c == '`' || c.is_ascii_digit()).collect()
}

/// Nothing of a trace is lost in silence.
fn read_trace(format: &'static Format, input: &[u8]) -> Vec<String> {
    let fates = fates::nothing_is_silent(format, input);
    let faults = fates.faults.iter().map(|(column, what)| format!("{column}: {what}"));
    let kinds = fates.records.iter().map(|record| format!("{:?} {}", record.kind, record.fua));
    faults.chain(kinds).collect()
}
