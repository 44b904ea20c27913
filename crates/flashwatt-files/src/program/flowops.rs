//! From a thread's flow operations to [`Flowop`]s.

use std::collections::BTreeMap;

use super::code::{Action, Flowop, NONE, ThreadKind, Unit};
use super::draw::Quantity;
use super::script::{Block, ThreadBlock};
use super::sets::PlannedSet;
use super::values::{Valued, Values};
use crate::operation::{Flow, Mode};
use flashwatt_base::error::Fault;
use flashwatt_base::settings::unknown_name;

/// Descriptors of a thread in filebench. `opennext` may use half of them.
const FDS_MAX: u64 = 128;

/// Nanoseconds of one step of `hog`, which stores a byte to memory. Chosen: a store a nanosecond, some cycles of a core.
const HOG_STEP_NS: u64 = 1;

/// Names that a report shows.
pub(super) struct Names {
    pub flows: Vec<Flow>,
    pub warnings: Vec<String>,
    by_name: BTreeMap<String, u16>,
}

impl Names {
    /// The number of a flow of this name. Flow operations of one name are one flow.
    fn flow(&mut self, name: &str) -> Option<u16> {
        if let Some(&flow) = self.by_name.get(name) {
            return Some(flow);
        }
        let flow = u16::try_from(self.flows.len()).ok()?;
        self.by_name.insert(name.to_string(), flow);
        self.flows.push(Flow { name: name.to_string() });
        Some(flow)
    }
}

/// A target that is looked up when all flow operations are known.
pub(super) struct Link<'a> {
    pub at: usize,
    pub name: &'a str,
    /// What the target must be.
    pub of: &'static str,
    pub fault: Fault,
}

/// Compiles the flow operations of all threads.
pub(super) struct Compiler<'a, 's, 'v> {
    pub values: &'v Values<'a, 's>,
    sets: &'v [PlannedSet<'a>],
    pub flowops: Vec<Flowop>,
    pub names: Names,
    /// Name and kind of each flow operation, and the thread it is of.
    pub written: Vec<(&'a str, &'a str, u32)>,
    pub links: Vec<Link<'a>>,
    kinds: u32,
}

impl<'a, 's, 'v> Compiler<'a, 's, 'v> {
    pub fn new(values: &'v Values<'a, 's>, sets: &'v [PlannedSet<'a>]) -> Self {
        let names = Names { flows: Vec::new(), warnings: Vec::new(), by_name: BTreeMap::new() };
        let (flowops, written, links) = (Vec::new(), Vec::new(), Vec::new());
        Compiler { values, sets, flowops, names, written, links, kinds: 0 }
    }

    /// Compiles a thread. Adds a fault for each flow operation that is wrong, and leaves it out.
    pub fn thread(&mut self, thread: &ThreadBlock<'a>, group: u32, faults: &mut Vec<Fault>) -> ThreadKind {
        let first = self.flowops.len() as u32;
        let mut kind = ThreadKind {
            flowops: first..first,
            group,
            rounds: self.values.bounded(&thread.block, &["rounds"], Some(0), (1, u64::MAX)).unwrap_or_else(|fault| {
                faults.push(*fault);
                0
            }),
            fds: 1,
            rotors: 0,
            limits: 0,
            counters: 0,
            helpers: 0,
        };
        if thread.flowops.is_empty() {
            faults.push(self.values.of(&thread.block, "a thread without flow operations").expected("`flowop`"));
        }
        let mut rotated = Vec::new();
        for block in &thread.flowops {
            match self.flowop(block, &mut kind) {
                Ok(flowop) => {
                    if flowop.rotates() {
                        rotated.push((self.flowops.len(), flowop.set));
                    }
                    self.flowops.push(flowop);
                }
                Err(fault) => faults.push(*fault),
            }
        }
        kind.flowops.end = self.flowops.len() as u32;
        self.rotors(&rotated, &mut kind);
        self.counters(&mut kind, thread, faults);
        self.kinds += 1;
        kind
    }

    /// Gives each file set that a thread goes round a rotor, and descriptors behind those with numbers.
    fn rotors(&mut self, rotated: &[(usize, u32)], kind: &mut ThreadKind) {
        let mut given: Vec<(u32, u32)> = Vec::new();
        for &(at, set) in rotated {
            let rotor = given.iter().position(|&(of, _)| of == set).unwrap_or_else(|| {
                given.push((set, kind.fds));
                kind.fds += self.sets[set as usize].plan.entries.min(FDS_MAX as u32);
                given.len() - 1
            });
            (self.flowops[at].rotor, self.flowops[at].fd) = (rotor as u32, given[rotor].1);
        }
        kind.rotors = given.len() as u32;
    }

    fn flowop(&mut self, block: &Block<'a>, kind: &mut ThreadKind) -> Valued<Flowop> {
        let values = self.values;
        let name = values.name(block, &["name"])?.ok_or_else(|| values.missing(block, "name"))?;
        let too_many = || Box::new(values.of(block, "too many flow operations"));
        let flow = self.names.flow(name).ok_or_else(too_many)?;
        let set = self.set(block)?;
        let fd = values.bounded(block, &["fd"], Some(0), (0, FDS_MAX - 1))?;
        let rotates = values.flag(block, "opennext")?;
        if rotates && fd != 0 {
            return Err(Box::new(values.of(block, "opennext together with fd is not supported")));
        }
        kind.fds = kind.fds.max(fd as u32 + 1);
        let (dsync, direct) = (values.flag(block, "dsync")?, values.flag(block, "directio")?);
        if dsync && direct {
            return Err(Box::new(values.of(block, "dsync together with directio is not supported")));
        }
        let mut flowop = Flowop {
            flow,
            action: Action::Block,
            iters: values.quantity(block, &["iters"])?.unwrap_or(Quantity::Fixed(1)),
            set: set.unwrap_or(NONE),
            fd: fd as u32,
            rotor: if rotates { 0 } else { NONE },
            mode: if dsync {
                Mode::Synchronous
            } else if direct {
                Mode::Direct
            } else {
                Mode::Cached
            },
            size: values.quantity(block, &["iosize"])?.unwrap_or(Quantity::Fixed(0)),
            random: values.flag(block, "random")?,
            working: values.bounded(block, &["workingset", "wss"], Some(0), (0, u64::MAX))?,
            index: values.quantity(block, &["indexed"])?,
            value: values.quantity(block, &["value"])?.unwrap_or(Quantity::Fixed(0)),
            target: NONE,
            counter: NONE,
        };
        flowop.action = self.action(block, &flowop, kind)?;
        self.check(block, &flowop)?;
        self.written.push((name, block.of, self.kinds));
        Ok(flowop)
    }

    fn set(&self, block: &Block<'a>) -> Valued<Option<u32>> {
        let names = ["filesetname", "filename"];
        let (Some(name), Some(attribute)) = (self.values.name(block, &names)?, block.get(&names)) else {
            return Ok(None);
        };
        if let Some(found) = self.sets.iter().position(|set| set.name == name) {
            return Ok(Some(found as u32));
        }
        let valid: Vec<_> = self.sets.iter().map(|set| set.name).collect();
        Err(Box::new(unknown_name(self.values.at(&attribute, "no file set of this name"), name, &valid)))
    }

    fn action(&mut self, block: &Block<'a>, flowop: &Flowop, kind: &mut ThreadKind) -> Valued<Action> {
        let values = self.values;
        let mut limit = |unit| {
            kind.limits += 1;
            Action::Limit { unit, limit: kind.limits - 1 }
        };
        let finish =
            |unit| values.bounded(block, &["value"], None, (1, u64::MAX)).map(|value| Action::Finish { unit, value });
        Ok(match block.of {
            "createfile" => Action::Create,
            "openfile" => Action::Open,
            "closefile" => Action::Close,
            "deletefile" => Action::Delete,
            "statfile" => Action::Stat,
            "read" => Action::Read,
            "write" => Action::Write,
            "aiowrite" => {
                let iters = values.bounded(block, &["iters"], Some(1), (1, 100_000))?;
                // An aiowait leaves half of the writes outstanding at most. Before it are then twice as many as a round issues.
                kind.helpers += 2 * iters as u32;
                Action::AioWrite
            }
            "readwholefile" => Action::ReadWhole,
            "writewholefile" => {
                let source = values.bounded(block, &["srcfd"], Some(0), (0, FDS_MAX - 1))? as u32;
                kind.fds = kind.fds.max(source + 1);
                Action::WriteWhole { source }
            }
            "appendfile" => Action::Append,
            "appendfilerand" => Action::AppendRandom,
            "aiowait" => Action::AioWait,
            "fsync" => Action::Fsync,
            "fsyncset" => Action::FsyncSet,
            "delay" => Action::Pause { ns: 1_000_000_000 },
            "hog" => Action::Pause { ns: HOG_STEP_NS },
            "eventlimit" => Action::EventLimit,
            "opslimit" => limit(Unit::Operations),
            "iopslimit" => limit(Unit::ReadsAndWrites),
            "bwlimit" => limit(Unit::Bytes),
            "finishoncount" => finish(Unit::Operations)?,
            "finishonbytes" => finish(Unit::Bytes)?,
            "semblock" => {
                let highwater = values.bounded(block, &["highwater"], Some(1), (1, 1 << 40))?;
                Action::SemBlock { first: 0, highwater }
            }
            "sempost" => {
                self.link_to(block, "semblock")?;
                Action::SemPost { targets: 0..0, blocking: values.flag(block, "blocking")? }
            }
            "block" => Action::Block,
            _ => {
                debug_assert_eq!((block.of, flowop.target), ("wakeup", NONE));
                self.link_to(block, "block")?;
                Action::Wakeup { target: 0 }
            }
        })
    }

    /// What a flow operation needs, and what it cannot do.
    fn check(&self, block: &Block<'a>, flowop: &Flowop) -> Valued<()> {
        let values = self.values;
        let wrong = |what: &str, expected: &str| Err(Box::new(values.of(block, what).expected(expected)));
        let set = self.sets.get(flowop.set as usize);
        match flowop.action {
            Action::Create | Action::Open | Action::FsyncSet if set.is_none() => {
                return Err(Box::new(values.missing(block, "filesetname")));
            }
            Action::AioWrite if !flowop.random => return wrong("an aiowrite that is not random", "`random`"),
            Action::Open if flowop.rotates() => return wrong("opennext at an openfile without fd", "`fd=…`"),
            Action::Create | Action::Close | Action::Fsync if flowop.rotates() => {
                return wrong("opennext has no meaning here", "`fd=…`");
            }
            _ => {}
        }
        let needs_size =
            flowop.is_read_or_write() && !matches!(flowop.action, Action::ReadWhole | Action::WriteWhole { .. });
        if needs_size && flowop.size == Quantity::Fixed(0) {
            let fault = block.get(&["iosize"]).map(|given| values.wrong(&given, "nothing to read or write"));
            return Err(Box::new(
                fault.unwrap_or_else(|| values.missing(block, "iosize")).expected("`iosize=…`, above 0"),
            ));
        }
        let Some(set) = set else {
            return match flowop.rotates() {
                true => Err(Box::new(values.missing(block, "filesetname"))),
                false => Ok(()),
            };
        };
        if flowop.rotates() && u64::from(set.plan.entries) > FDS_MAX / 2 {
            let fault = values
                .of(block, "opennext keeps every file of a set open")
                .found(format!("{} files", set.plan.entries));
            return Err(Box::new(fault.expected(format!("{} at most", FDS_MAX / 2))));
        }
        let forbidden = (set.readonly
            && (flowop.is_write() || matches!(flowop.action, Action::Create | Action::Delete)))
            || (set.writeonly && matches!(flowop.action, Action::Read | Action::ReadWhole));
        if forbidden {
            let only = if set.readonly { "readonly" } else { "writeonly" };
            return Err(Box::new(
                values.of(block, format!("the file set `{}` is {only}", set.name)).found(format!("`{}`", block.of)),
            ));
        }
        Ok(())
    }
}
