//! From statements to a program that runs: file sets, threads, semaphores.

use super::code::{Action, Code, Group, NONE, ThreadKind};
use super::descriptors;
use super::draw::{Drawn, Quantity, Shape};
use super::flowops::{Compiler, Names};
use super::layout::Plan;
use super::lexer::place;
use super::script::{Block, ProcessBlock, Script, ThreadBlock};
use super::sets::PlannedSet;
use super::values::{Valued, Values};
use super::waits::Semaphore;
use crate::operation::ThreadSpec;
use flashwatt_base::error::Fault;
use flashwatt_base::settings::unknown_name;

/// Most threads, helpers included, and most processes.
const THREADS_MAX: u64 = 65_536;
const PROCESSES_MAX: u64 = 60_000;

/// Most files of a set.
const ENTRIES_MAX: u64 = 1 << 30;

/// Gamma shapes in filebench 1.4.9, unless given: 1500 thousandths.
const GAMMA_DEFAULT: u64 = 1500;

/// What comes of a script.
pub(super) struct Compiled<'a> {
    pub sets: Vec<PlannedSet<'a>>,
    pub code: Code,
    /// The kinds of the threads, and their processes.
    pub threads: Vec<(u32, ThreadSpec)>,
    pub semaphores: Vec<Semaphore>,
    pub run_seconds: Option<u64>,
    pub warnings: Vec<String>,
}

/// Compiles a script. Adds a fault for each entity that is wrong.
pub(super) fn compile<'a>(
    script: &Script<'a>,
    values: &Values<'a, '_>,
    faults: &mut Vec<Fault>,
) -> Option<Compiled<'a>> {
    let sets = filesets(script, values, faults);
    if !faults.is_empty() {
        return None; // without a file set its flow operations would seem wrong
    }
    if script.processes.is_empty() {
        faults.push(Fault::at(place(values.file, 1), "a program without processes").expected("`define process`"));
        return None;
    }
    let mut compiler = Compiler::new(values, &sets);
    let threads = match threads(script, values) {
        Ok(threads) => threads,
        Err(fault) => {
            faults.push(*fault);
            return None;
        }
    };
    let mut kinds = Vec::new();
    for (group, process) in (0..).zip(&script.processes) {
        for thread in &process.threads {
            kinds.push(kind(&mut compiler, thread, group, values, faults));
        }
    }
    let helpers = threads.list.iter().map(|(kind, _)| u64::from(kinds[*kind as usize].helpers)).sum::<u64>();
    if helpers + threads.list.len() as u64 > THREADS_MAX {
        let fault = values.of(&script.processes[0].block, "too many threads, with one for each asynchronous write");
        let found = format!("{} threads and {helpers} writes", threads.list.len());
        faults.push(fault.found(found).expected(format!("{THREADS_MAX} at most")));
    }
    let mut keep = |result: Valued<u64>| {
        result.unwrap_or_else(|fault| {
            faults.push(*fault);
            0
        })
    };
    let events_per_s =
        keep(script.events.as_ref().map_or(Ok(0), |block| values.bounded(block, &["rate"], None, (0, 1_000_000_000))));
    let run_seconds = script.run.map(|run| keep(run.seconds.map_or(Ok(0), |token| values.seconds(token))));
    // Semaphores are numbered only now: a sempost may stand above its semblock.
    let semaphores = if faults.is_empty() { compiler.link(&threads.list, faults) } else { Vec::new() };
    let Names { flows, warnings, .. } = compiler.names;
    let code = Code {
        flowops: compiler.flowops,
        kinds,
        groups: threads.groups,
        processes: threads.processes,
        flows,
        events_per_s,
        quit: script.quit,
    };
    Some(Compiled { sets, code, threads: threads.list, semaphores, run_seconds, warnings })
}

fn filesets<'a>(script: &Script<'a>, values: &Values<'a, '_>, faults: &mut Vec<Fault>) -> Vec<PlannedSet<'a>> {
    let mut sets: Vec<PlannedSet<'a>> = Vec::new();
    for block in &script.filesets {
        match fileset(block, values) {
            Ok(set) if sets.iter().any(|before| before.name == set.name) => {
                faults.push(values.of(block, "a second file set of this name").found(format!("`{}`", set.name)));
            }
            Ok(set) => sets.push(set),
            Err(fault) => faults.push(*fault),
        }
    }
    sets
}

fn fileset<'a>(block: &Block<'a>, values: &Values<'a, '_>) -> Valued<PlannedSet<'a>> {
    let name = values.name(block, &["name"])?.ok_or_else(|| values.missing(block, "name"))?;
    let (readonly, writeonly) = (values.flag(block, "readonly")?, values.flag(block, "writeonly")?);
    if readonly && writeonly {
        return Err(Box::new(values.of(block, "a file set that is both readonly and writeonly")));
    }
    if values.flag(block, "cached")? {
        let fault = values.of(block, "an attribute that is not supported").found("`cached`");
        return Err(Box::new(fault.help("memory is empty when a run begins")));
    }
    let prealloc_percent = match block.get(&["prealloc"]) {
        None => 0,
        Some(prealloc) if prealloc.value.is_none() => 100,
        Some(_) if values.name(block, &["prealloc"])? == Some("true") => 100,
        Some(_) => values.bounded(block, &["prealloc"], None, (0, 100))?,
    };
    let size = values.quantity(block, &["size", "filesize"])?.ok_or_else(|| values.missing(block, "size"))?;
    let plan = if block.of == "define file" {
        // As filebench does it: a set of one file, in one directory below the set's own.
        Plan { entries: 1, size, width: 10.0, dir_gamma: 0.0, prealloc_percent }
    } else {
        let entries = values.bounded(block, &["entries"], None, (1, ENTRIES_MAX))? as u32;
        let width = values.bounded(block, &["dirwidth"], None, (2, 1 << 32))? as f64;
        let gamma =
            |name| values.bounded(block, &[name], Some(GAMMA_DEFAULT), (0, 1_000_000)).map(|g| g as f64 / 1000.0);
        let (dir_gamma, size_gamma) = (gamma("dirgamma")?, gamma("filesizegamma")?);
        Plan { entries, size: spread(size, size_gamma), width, dir_gamma, prealloc_percent }
    };
    Ok(PlannedSet { name, line: block.line, plan, readonly, writeonly })
}

/// A constant size is the mean of a gamma distribution, unless its shape is 0. A random variable stands for itself.
fn spread(size: Quantity, gamma: f64) -> Quantity {
    match size {
        Quantity::Fixed(mean) if gamma > 0.0 => {
            let shape = Shape::gamma(gamma, mean as f64);
            Quantity::Drawn(Drawn { shape, shift: 0.0, round: 0.0, min: 0.0, max: f64::INFINITY })
        }
        size => size,
    }
}

struct Threads {
    list: Vec<(u32, ThreadSpec)>,
    groups: Vec<Group>,
    /// The names of the processes, each instance for itself.
    processes: Vec<String>,
}

fn threads<'a>(script: &Script<'a>, values: &Values<'a, '_>) -> Valued<Threads> {
    let (mut list, mut groups, mut first_kind) = (Vec::new(), Vec::<Group>::new(), 0);
    let mut processes = Vec::new();
    for process in &script.processes {
        let block = &process.block;
        let name = values.name(block, &["name"])?.ok_or_else(|| values.missing(block, "name"))?.to_string();
        let after = after(process, values, &groups)?;
        let first = list.len() as u32;
        let instances = values.bounded(block, &["instances"], Some(1), (1, PROCESSES_MAX))?;
        for instance in 1..=instances {
            processes.push(if instances == 1 { name.clone() } else { format!("{name} {instance}") });
            for (kind, thread) in (first_kind..).zip(&process.threads) {
                let count = values.bounded(&thread.block, &["instances"], Some(1), (1, THREADS_MAX))?;
                if list.len() as u64 + count > THREADS_MAX || processes.len() as u64 > PROCESSES_MAX {
                    let fault = values.of(&thread.block, "too many threads or processes");
                    return Err(Box::new(
                        fault.expected(format!("{THREADS_MAX} threads and {PROCESSES_MAX} processes at most")),
                    ));
                }
                let spec = ThreadSpec { process: processes.len() as u16 };
                list.extend((0..count).map(|_| (kind, spec)));
            }
        }
        if process.threads.is_empty() {
            return Err(Box::new(values.of(block, "a process without threads").expected("`thread`")));
        }
        first_kind += process.threads.len() as u32;
        groups.push(Group { name, threads: first..list.len() as u32, after });
    }
    Ok(Threads { list, groups, processes })
}

/// The group behind which a process starts.
fn after<'a>(process: &ProcessBlock<'a>, values: &Values<'a, '_>, groups: &[Group]) -> Valued<Option<u32>> {
    let Some(attribute) = process.block.get(&["after"]) else { return Ok(None) };
    let name = values.name(&process.block, &["after"])?.unwrap_or_default();
    let found = groups.iter().position(|group| group.name == name);
    let names: Vec<_> = groups.iter().map(|group| group.name.as_str()).collect();
    let unknown = || unknown_name(values.at(&attribute, "no process of this name above"), name, &names);
    Ok(Some(found.ok_or_else(unknown)? as u32))
}

fn kind<'a>(
    compiler: &mut Compiler<'a, '_, '_>,
    thread: &ThreadBlock<'a>,
    group: u32,
    values: &Values<'a, '_>,
    faults: &mut Vec<Fault>,
) -> ThreadKind {
    let kind = compiler.thread(thread, group, faults);
    let flowops = &compiler.flowops[kind.flowops.start as usize..kind.flowops.end as usize];
    if flowops.len() != thread.flowops.len() {
        return kind; // a flow operation is wrong, which says enough
    }
    match descriptors::check(flowops, kind.fds) {
        Err(misuse) => {
            faults.push(values.of(&thread.flowops[misuse.at], misuse.what).expected(misuse.expected));
        }
        Ok(in_vain) => compiler.names.warnings.extend(in_vain.iter().map(|&at| {
            let (file, line) = (values.file, thread.flowops[at].line);
            format!("{file}:{line}: dsync and directio have no effect: the file was opened without them before")
        })),
    }
    let has = |action: fn(&Action) -> bool| flowops.iter().position(|flowop| action(&flowop.action));
    if let (Some(at), None) = (has(|a| matches!(a, Action::AioWrite)), has(|a| matches!(a, Action::AioWait))) {
        let fault = values.of(&thread.flowops[at], "an aiowrite in a thread without aiowait");
        faults.push(fault.help("its writes would pile up without a bound"));
    }
    debug_assert!(flowops.iter().all(|flowop| flowop.rotor == NONE || flowop.rotor < kind.rotors));
    kind
}
