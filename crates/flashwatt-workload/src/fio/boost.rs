//! fio's `cmdprio_*`: requests of a job with another priority than its own.

use super::reader::OptionReader;
use super::units::bytes;
use super::values::{directions, sectors};
use flashwatt_core::connector::{Priority, PriorityClass, RequestKind};

/// Which reads and writes have another priority.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Boost {
    /// These percentages of reads and writes.
    Share([u64; 2], [Priority; 2]),
    /// Percentages for each length of reads and writes.
    ByLength([Vec<LengthShare>; 2]),
}

/// Of the requests of one length, those below a percentage that no share before this one has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LengthShare {
    bytes: u64,
    below: u64,
    priority: Priority,
}

impl Boost {
    /// The priority of a request, where `draw` is from 0 to 99.
    pub fn priority(&self, kind: RequestKind, bytes: u64, draw: u64) -> Option<Priority> {
        let at = kind as usize;
        if at > RequestKind::Write as usize {
            return None;
        }
        match self {
            Boost::Share(percents, priorities) => (draw < percents[at]).then_some(priorities[at]),
            Boost::ByLength(shares) => {
                let share = shares[at].iter().find(|share| share.bytes == bytes && draw < share.below);
                share.map(|share| share.priority)
            }
        }
    }
}

impl OptionReader<'_> {
    /// The requests of another priority.
    pub fn boost(&mut self) -> Option<Boost> {
        let percent = |text: &str| text.parse().ok().filter(|percent| (0..=100).contains(percent));
        let shares = self.read("cmdprio_percentage", "a whole percentage, or two", |text| {
            directions(text, percent).map(|all| all.map(|one: Option<u64>| one.unwrap_or(0)))
        });
        let classes = self.read("cmdprio_class", "1 (realtime), 2 (best effort) or 3 (idle), or two", |text| {
            directions(text, class_of)
        });
        let levels = self.read("cmdprio", "a level from 0 to 7, or two", |text| directions(text, level_of));
        let (classes, levels) = (classes.unwrap_or([None; 3]), levels.unwrap_or([None; 3]));
        let usual = [0, 1]
            .map(|at: usize| Priority::new(classes[at].unwrap_or(PriorityClass::Realtime), levels[at].unwrap_or(0)));
        let base = self.kb_base();
        let expected = "LENGTH/PERCENT or LENGTH/PERCENT/CLASS/LEVEL, with colons: 64k/40:1m/10/1/0, one list or two";
        let lists = self.read("cmdprio_bssplit", expected, |text| lists(text, base, usual));
        if let (Some(_), Some(_)) = (&shares, &lists) {
            let (found, expected) = ("cmdprio_percentage and cmdprio_bssplit".to_string(), "one of them".to_string());
            self.refuse(&["cmdprio_bssplit"], "two rules for priorities", found, expected);
        }
        lists.map(Boost::ByLength).or(shares.map(|[reads, writes, _]| Boost::Share([reads, writes], usual)))
    }
}

/// The class of a number.
pub(super) fn class_of(text: &str) -> Option<PriorityClass> {
    match text {
        "0" | "2" => Some(PriorityClass::BestEffort),
        "1" => Some(PriorityClass::Realtime),
        "3" => Some(PriorityClass::Idle),
        _ => None,
    }
}

/// A level.
pub(super) fn level_of(text: &str) -> Option<u8> {
    text.parse().ok().filter(|&level: &u8| level <= 7)
}

fn lists(text: &str, base: u64, usual: [Priority; 2]) -> Option<[Vec<LengthShare>; 2]> {
    let (reads, writes) = text.split_once(',').unwrap_or((text, text));
    let list = |text: &str, at: usize| {
        let mut shares: Vec<LengthShare> = Vec::new();
        for entry in text.split(':').map(str::trim).filter(|entry| !entry.is_empty()) {
            let share = entry_of(entry, base, usual[at])?;
            let before = shares.iter().filter(|other| other.bytes == share.bytes).map(|other| other.below).max();
            let below = share.below + before.unwrap_or(0);
            shares.push(LengthShare { below, ..share });
        }
        shares.iter().all(|share| share.below <= 100).then_some(shares)
    };
    Some([list(reads, 0)?, list(writes, 1)?])
}

/// `LENGTH/PERCENT`, `LENGTH/PERCENT/CLASS/LEVEL` or that with a hint, which the drive does not look at.
fn entry_of(text: &str, base: u64, usual: Priority) -> Option<LengthShare> {
    let parts: Vec<&str> = text.split('/').map(str::trim).collect();
    let (length, percent) = (sectors(bytes(parts.first()?, base)?)?, parts.get(1)?.parse().ok()?);
    let priority = match parts.get(2..)? {
        [] => usual,
        [class, level] => Priority::new(class_of(class)?, level_of(level)?),
        [class, level, hint] => {
            hint.parse::<u16>().ok()?;
            Priority::new(class_of(class)?, level_of(level)?)
        }
        _ => return None,
    };
    Some(LengthShare { bytes: length, below: percent, priority })
}
