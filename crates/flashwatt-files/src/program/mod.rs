//! Programs of file operations, in a subset of filebench's workload model language (`.f` files).
//!
//! # What there is
//!
//! [`Program::parse`] reads a text and lays out its file sets; the result is a [`Source`]. [`PERSONALITIES`] are the programs
//! that are built in. [`Program::run_seconds`] is what stands behind `run`, [`Source::measured`] says from when on a run is to
//! be measured.
//!
//! # The language
//!
//! | statement | meaning |
//! |---|---|
//! | `set $name=value` | a number (`k`, `m`, `g` are powers of 1024), a name, a boolean, a text, another variable; a later one replaces an earlier one, also for what stands above it |
//! | `set $name=randvar(type=gamma,mean=…,gamma=…,min=…,round=…)` | a random variable, also `uniform`; `gamma` is 1000 times the shape |
//! | `set $name=cvar(type=cvar-gamma,parameters=mean:…;gamma:…,min=…,max=…,round=…)` | also `cvar-normal` (`mean`, `sigma`), `cvar-uniform` (`lower`, `upper`), `cvar-exponential` (`mean`) |
//! | `define fileset name=…,entries=…,size=…,dirwidth=…` | a file set. `size` is the mean of a gamma distribution of shape `filesizegamma` / 1000 (1500 unless given, as in filebench 1.4.9; 0: all files have that size), or a random variable; widths and depths of directories likewise by `dirgamma`. `prealloc=N`: each file exists with a chance of N percent when the run begins |
//! | `define file name=…,size=…` | a set of one file |
//! | `define process name=…,instances=… { thread name=…,instances=… { flowop … } }` | threads that go through their flow operations again and again |
//! | `eventgen rate=…` | events per second for the limits |
//! | `set mode quit timeout` | or `firstdone`, `alldone`: what a flow operation that finds no file ends: see [`Quit`] |
//! | `run seconds`, `psrun period seconds` | the end of the program; 60 s unless given |
//!
//! `echo`, `usage`, `debug`, `version`, `create`, `enable lathist` and a `system` command that syncs or drops caches are read
//! over: they change nothing in a simulation, whose files are there and whose memory is empty when a run begins. So are the
//! attributes `path`, `reuse`, `trusttree`, `paralloc`, `memsize`, `useism`, and `seed` and `randsrc` of a random variable. What
//! else is not in the table is an error that names its line.
//!
//! Two attributes are not filebench's. `thread name=…,rounds=N` ends a thread when it has gone through its flow operations N
//! times. `define process name=…,after=NAME` starts the threads of a process when all threads of the process `NAME`, which
//! stands above it, have ended. The run is measured from when the last process has started.
//!
//! # What flow operations do
//!
//! As in filebench, whose documentation and sources these facts are from:
//! - Files are picked in turn: the next one that exists (`createfile`: that does not), passing over those that another thread is
//!   opening, closing or removing. If all of a set are, the thread waits. If there is none, the run ends.
//! - `read`, `write` and the like open a file of `filesetname` if their descriptor (`fd`, 0 unless given) has none.
//!   `dsync` and `directio` belong to the opening. `opennext` goes round descriptors, one for each file of the set.
//! - Random places are multiples of the length below `workingset`, or below the size that was drawn for the file. filebench ends
//!   the run if the length is greater than that; here the whole file is read or written.
//! - `deletefile` and `statfile` take any file, or the one of their `fd`. A file that another thread has open is not removed.
//! - `appendfilerand` appends an even draw below `iosize`. `writewholefile` writes the size drawn for the file of `srcfd`.
//! - `aiowrite` hands its write to a helper thread and goes on; the write's time counts as that of its flow. `aiowait` waits
//!   until half of the outstanding writes have ended (without filebench's limit of a second).
//! - `semblock` waits for `value` posts. `sempost` posts to the semblocks of that name in all threads; a `blocking` one waits
//!   while `highwater` posts, and those that its target waits for, are not yet used.
//! - `delay` sleeps `value` seconds. `hog` stores `value` bytes to memory one by one: here it sleeps a nanosecond for each.
//! - `eventlimit`, `opslimit`, `iopslimit`, `bwlimit` take an event for each round, operation, read or write, or MiB.
//!   `finishoncount` and `finishonbytes` end the run.

mod bits;
mod code;
mod compile;
mod descriptors;
mod draw;
mod endings;
mod entities;
mod fileset;
mod flowops;
mod layout;
mod lexer;
mod links;
mod parser;
mod personalities;
mod script;
mod sets;
mod state;
mod sync;
#[cfg(test)]
mod tests;
mod thread;
mod turns;
mod values;
mod waits;
mod words;

use std::collections::BTreeMap;

use code::Code;
use compile::Compiled;
pub(super) use draw::Shape;
use fileset::Files;
use layout::lay_out;
use lexer::place;
pub use personalities::{PERSONALITIES, Personality, Text};
pub use script::Quit;
use script::Script;
use sets::PlannedSet;
use state::State;
use values::Values;
pub use words::FLOWOPS;

use crate::operation::{FileOp, Flow, OpError, Source, Step, ThreadId, ThreadSpec, Tree};
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::rng::Rng;
use flashwatt_base::settings::unknown_name;
use flashwatt_base::units::Nanos;

/// Seconds of a run that does not say how long it takes, in filebench.
const RUN_SECONDS_DEFAULT: u64 = 60;

/// A program that runs.
#[derive(Clone, Debug)]
pub struct Program {
    run_seconds: Option<u64>,
    tree: Tree,
    specs: Vec<ThreadSpec>,
    code: Code,
    state: State,
}

impl Program {
    /// Reads a program.
    ///
    /// `name` is the name of its file in messages. `overrides` replace the values of variables, by names without `$`; a value is
    /// written as behind `set $name=`. `seed` fixes sizes, places and the order of files. If the size of the drive is given,
    /// files that exist when the run begins and do not fit on it are an error.
    ///
    /// # Errors
    /// Everything that is wrong in the text, each fault with its line.
    pub fn parse(
        name: &str,
        text: &str,
        overrides: &BTreeMap<String, String>,
        seed: u64,
        drive_bytes: Option<u64>,
    ) -> Result<Program, Error> {
        Self::read((name, text), None, overrides, seed, drive_bytes)
    }

    /// As [`Self::parse`], of a program that is built in.
    ///
    /// # Errors
    /// Overrides that are wrong, and files that do not fit on the drive.
    pub fn built_in(
        personality: &Personality,
        overrides: &BTreeMap<String, String>,
        seed: u64,
        drive_bytes: Option<u64>,
    ) -> Result<Program, Error> {
        let Text { program, values } = personality.build;
        let values = values.map(|file| (file.name, file.text));
        Self::read((program.name, program.text), values, overrides, seed, drive_bytes)
    }

    /// Reads a program; the variables of a second text, if there is one, replace those of the first. Each is a file's name and text.
    fn read(
        (name, text): (&str, &str),
        variant: Option<(&str, &str)>,
        overrides: &BTreeMap<String, String>,
        seed: u64,
        drive_bytes: Option<u64>,
    ) -> Result<Program, Error> {
        let mut faults = Vec::new();
        let sets: Vec<String> = overrides.iter().map(|(name, value)| format!("set ${name}={value}")).collect();
        let mut script = parser::parse(text, name, &mut faults);
        if let Some((name, text)) = variant {
            script.variables.extend(parser::parse(text, name, &mut faults).variables);
        }
        for (set, variable) in sets.iter().zip(overrides.keys()) {
            replace(&mut script, set, variable, &mut faults);
        }
        if !faults.is_empty() {
            return Err(Error::Config(faults));
        }
        let values = Values { file: name, variables: &script.variables };
        let compiled = compile::compile(&script, &values, &mut faults);
        match compiled.filter(|_| faults.is_empty()) {
            Some(compiled) => Program::start(name, compiled, seed, drive_bytes),
            None => Err(Error::Config(faults)),
        }
    }

    fn start(name: &str, compiled: Compiled<'_>, seed: u64, drive_bytes: Option<u64>) -> Result<Program, Error> {
        let Compiled { sets: planned, code, threads, semaphores, run_seconds, warnings } = compiled;
        let (mut tree, mut entries, mut rng) = (Tree::default(), Vec::new(), Rng::new(seed));
        let mut sets = Vec::new();
        for set in &planned {
            sets.push(lay_out(&set.plan, &mut rng, &mut tree, &mut entries));
            fits(name, set, &tree, drive_bytes)?;
        }
        let kinds: Vec<u32> = threads.iter().map(|(kind, _)| *kind).collect();
        let mut state = State::new(&code, &kinds, Files::new(entries, sets), semaphores, seed);
        let owners = (0..kinds.len()).chain(state.helpers.iter().map(|helper| helper.of as usize));
        let specs = owners.map(|owner| threads[owner].1).collect();
        state.warnings = warnings;
        let run_seconds = match run_seconds {
            None | Some(0) if code.quit == Quit::Timeout => Some(RUN_SECONDS_DEFAULT),
            Some(0) => None,
            given => given,
        };
        Ok(Program { run_seconds, tree, specs, code, state })
    }

    /// How long the measured part of the run takes, in seconds: what stands behind `run`. None with a bare
    /// `run` or none after `set mode quit firstdone` or `alldone`.
    pub fn run_seconds(&self) -> Option<u64> {
        self.run_seconds
    }
}

/// Replaces a variable by what an override says.
fn replace<'a>(script: &mut Script<'a>, set: &'a str, variable: &str, faults: &mut Vec<Fault>) {
    let at = || Place { key: Some(format!("workload.files.set.{variable}")), ..Place::default() };
    let known: Vec<_> = script.variables.keys().copied().collect();
    if !known.contains(&variable) {
        faults.push(unknown_name(Fault::at(at(), "the program sets no such variable"), variable, &known));
        return;
    }
    let mut wrong = Vec::new();
    let replaced = parser::parse(set, "override", &mut wrong);
    faults.extend(wrong.into_iter().map(|fault| Fault { place: at(), ..fault }));
    script.variables.extend(replaced.variables);
}

/// Whether all files up to those of this set fit on the drive.
fn fits(file: &str, set: &PlannedSet<'_>, tree: &Tree, drive_bytes: Option<u64>) -> Result<(), Error> {
    let bytes: u64 = tree.files.iter().filter_map(|file| file.bytes).fold(0, u64::saturating_add);
    match drive_bytes {
        Some(drive_bytes) if bytes > drive_bytes => {
            let fault = Fault::at(
                place(file, set.line),
                format!("with the file set `{}` the files outgrow the drive", set.name),
            );
            let fault =
                fault.found(format!("{bytes} bytes")).expected(format!("less than the drive's {drive_bytes} bytes"));
            Err(fault.help("fewer entries, smaller files or a larger drive").into())
        }
        _ => Ok(()),
    }
}

impl Source for Program {
    fn tree(&self) -> &Tree {
        &self.tree
    }

    fn threads(&self) -> &[ThreadSpec] {
        &self.specs
    }

    fn processes(&self) -> &[String] {
        &self.code.processes
    }

    fn flows(&self) -> &[Flow] {
        &self.code.flows
    }

    fn next(&mut self, thread: ThreadId, now: Nanos) -> Step {
        self.state.next(&self.code, thread, now)
    }

    fn done(&mut self, thread: ThreadId, op: &FileOp, result: Result<u64, OpError>, _now: Nanos) {
        self.state.done(&self.code, thread, op, result);
    }

    fn woken(&mut self) -> Option<ThreadId> {
        self.state.woken.pop_front()
    }

    fn has_ended(&self) -> bool {
        self.state.ended
    }

    fn measured(&self) -> bool {
        self.state.all_started()
    }

    fn warnings(&self) -> Vec<String> {
        self.state.warnings.clone()
    }
}
