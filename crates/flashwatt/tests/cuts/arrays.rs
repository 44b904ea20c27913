//! Power cuts of arrays: rows that do not match, against an account that knows nothing of the one in the engine.
//!
//! The account here computes by itself where data and parity lie, takes the requests that the members got from the array's recording, and
//! counts versions. The content of a sector is a set of writes; parity is the symmetric difference of the sets of a row.

use std::collections::{BTreeMap, BTreeSet};

use flashwatt::config::Config;
use flashwatt::crash::array::{ArrayCut, FollowedArray, ScansOfMembers};
use flashwatt::crash::{Held, Powered};
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::{Request, RequestKind};

use crate::common::{Script, small_drive, tier};

const SECTOR: u64 = 512;
const UNIT: u64 = 4_096;
/// The number of no request: what the start state holds.
const START: usize = usize::MAX;

/// A write of the host to a member; of parity several.
type Content = BTreeSet<(usize, u64)>;

/// What happened to a unit of a member.
#[derive(Clone)]
struct Step {
    version: u64,
    /// By sector of the member.
    sectors: BTreeMap<u64, Content>,
}

/// The account of an array of four members, or two mirrors.
struct Account {
    level: &'static str,
    members: u64,
    chunk: u64,
    rows: u64,
    failed: Option<u64>,
    /// By member and sector of it, the writes of the host that it should hold one after the other.
    sent: BTreeMap<(u64, u64), Vec<Content>>,
}

impl Account {
    fn parity(&self, row: u64) -> Option<u64> {
        (self.level == "raid5").then(|| self.members - 1 - row % self.members)
    }

    /// The members that hold a sector of the host, and the sector of them.
    fn places(&self, sector: u64) -> (Vec<u64>, u64) {
        let of_chunk = self.chunk / SECTOR;
        let (chunk, within) = (sector / of_chunk, sector % of_chunk);
        let (columns, mirrors) = match self.level {
            "raid5" => (self.members - 1, 1),
            "raid1" => (1, self.members),
            _ => (self.members / 2, 2),
        };
        let (row, column) = (chunk / columns, chunk % columns);
        let first = match self.parity(row) {
            Some(parity) => (parity + 1 + column) % self.members,
            None => column * mirrors,
        };
        ((first..first + mirrors).collect(), row * of_chunk + within)
    }

    fn at_start(&self, member: u64, sector: u64) -> Content {
        match self.parity(sector * SECTOR / self.chunk) {
            Some(parity) if parity == member => {
                (0..self.members).filter(|&data| data != parity).map(|data| (START, data)).collect()
            }
            Some(_) => [(START, member)].into(),
            None => [(START, self.places_of(member))].into(),
        }
    }

    /// The first of a member's mirrors.
    fn places_of(&self, member: u64) -> u64 {
        if self.level == "raid1" { 0 } else { member / 2 * 2 }
    }

    fn last(&self, member: u64, sector: u64) -> Content {
        let sent = self.sent.get(&(member, sector)).and_then(|sent| sent.last());
        sent.cloned().unwrap_or_else(|| self.at_start(member, sector))
    }

    /// What each member should get for each write of the host: by member, the number of the write and its sectors.
    fn expected(&mut self, list: &[Request]) -> Vec<Vec<BTreeMap<u64, Content>>> {
        let mut expected = vec![Vec::new(); self.members as usize];
        for (number, request) in list.iter().enumerate().filter(|(_, request)| request.kind == RequestKind::Write) {
            let mut of_request = vec![BTreeMap::new(); self.members as usize];
            let sectors = request.offset_bytes / SECTOR..(request.offset_bytes + request.bytes) / SECTOR;
            let mut parity: BTreeSet<u64> = BTreeSet::new();
            for sector in sectors {
                let (members, at) = self.places(sector);
                let content: Content = [(number, members[0])].into();
                for member in members {
                    self.sent.entry((member, at)).or_default().push(content.clone());
                    of_request[member as usize].insert(at, content.clone());
                }
                parity.insert(at);
            }
            for at in parity {
                let Some(on) = self.parity(at * SECTOR / self.chunk) else { continue };
                let data = (0..self.members).filter(|&member| member != on);
                let content = data.fold(Content::new(), |sum, member| &sum ^ &self.last(member, at));
                of_request[on as usize].insert(at, content);
            }
            expected.iter_mut().zip(of_request).for_each(|(all, one)| all.push(one));
        }
        expected
    }

    /// What the units of a member went through, by what it got.
    fn steps(received: &[Request], expected: &mut [BTreeMap<u64, Content>]) -> BTreeMap<u64, Vec<Step>> {
        let (mut units, mut version) = (BTreeMap::<u64, Vec<Step>>::new(), 1);
        for request in received.iter().filter(|request| request.kind == RequestKind::Write) {
            let sectors = request.offset_bytes / SECTOR..(request.offset_bytes + request.bytes) / SECTOR;
            let has_all = |one: &&mut BTreeMap<u64, Content>| sectors.clone().all(|sector| one.contains_key(&sector));
            let write = expected.iter_mut().find(has_all).expect("a write of the host that it belongs to");
            let mut content: BTreeMap<u64, Content> =
                sectors.map(|sector| (sector, write.remove(&sector).expect("it has all"))).collect();
            for unit in request.offset_bytes / UNIT..(request.offset_bytes + request.bytes).div_ceil(UNIT) {
                version += 1;
                let later = content.split_off(&((unit + 1) * UNIT / SECTOR));
                let sectors = std::mem::replace(&mut content, later);
                units.entry(unit).or_default().push(Step { version, sectors });
            }
        }
        units
    }

    /// What a sector holds if its unit holds this version.
    fn content(&self, member: u64, sector: u64, held: Held, steps: &BTreeMap<u64, Vec<Step>>) -> Content {
        let Held::Version(version) = held else { panic!("every unit is there: {held:?}") };
        let steps = steps.get(&(sector * SECTOR / UNIT)).into_iter().flatten();
        let until = steps.take_while(|step| step.version <= version);
        let last = until.filter_map(|step| step.sectors.get(&sector)).last();
        last.cloned().unwrap_or_else(|| self.at_start(member, sector))
    }

    /// Whether data of a member is what it was at any time, or was to be.
    fn was_sent(&self, member: u64, sector: u64, content: &Content) -> bool {
        *content == self.at_start(member, sector)
            || self.sent.get(&(member, sector)).is_some_and(|sent| sent.contains(content))
    }
}

/// What the account finds after a cut.
#[derive(Debug, Default, PartialEq)]
struct Found {
    rows: BTreeSet<u64>,
    /// Sectors of members that a scrub must write anew.
    repairs: BTreeSet<(u64, u64)>,
    hole_bytes: u64,
    hole_lost_bytes: u64,
}

fn judge(
    account: &Account,
    received: &[&[Request]],
    mut expected: Vec<Vec<BTreeMap<u64, Content>>>,
    cut: &ArrayCut,
) -> Found {
    let steps: Vec<_> =
        received.iter().zip(&mut expected).map(|(received, expected)| Account::steps(received, expected)).collect();
    let mut found = Found::default();
    let mut wrong: BTreeMap<u64, u64> = BTreeMap::new();
    let written: BTreeSet<u64> =
        steps.iter().flat_map(|steps| steps.values().flatten()).flat_map(|s| s.sectors.keys().copied()).collect();
    for sector in written.into_iter().filter(|sector| sector * SECTOR < account.rows * account.chunk) {
        let row = sector * SECTOR / account.chunk;
        let content = |member: u64| {
            let held = cut.held[member as usize].as_ref().expect("a member that is there");
            account.content(member, sector, held[(sector * SECTOR / UNIT) as usize], &steps[member as usize])
        };
        let there = || (0..account.members).filter(|&member| account.failed != Some(member));
        let Some(parity) = account.parity(row) else {
            for first in
                (0..account.members).step_by(if account.level == "raid1" { account.members as usize } else { 2 })
            {
                let mirrors = if account.level == "raid1" { account.members } else { 2 };
                for member in first + 1..first + mirrors {
                    if content(member) != content(first) {
                        found.rows.insert(row);
                        found.repairs.insert((member, sector));
                    }
                }
            }
            continue;
        };
        let others =
            |member: u64| there().filter(|&one| one != member).fold(Content::new(), |sum, one| &sum ^ &content(one));
        if let Some(failed) = account.failed {
            let is_lost = failed != parity && !account.was_sent(failed, sector, &others(failed));
            found.hole_lost_bytes += if is_lost { SECTOR } else { 0 };
        } else if !others(account.members).is_empty() {
            found.rows.insert(row);
            found.repairs.insert((parity, sector));
            for member in there().filter(|&member| member != parity) {
                let is_wrong = !account.was_sent(member, sector, &others(member));
                *wrong.entry(member).or_default() += if is_wrong { SECTOR } else { 0 };
            }
        }
    }
    found.hole_bytes = wrong.into_values().max().unwrap_or(0);
    found
}

fn array(level: &str, members: u64, more: &[&str]) -> Config {
    let sets = [format!("array.level={level}"), format!("array.members={members}"), "array.chunk_bytes=16384".into()];
    let sets: Vec<&str> =
        sets.iter().map(String::as_str).chain(["run.precondition=filled"]).chain(more.iter().copied()).collect();
    small_drive(&sets)
}

/// Writes of sectors and pages, some of them at the same time, and to few rows, so that they meet.
fn writes(rng: &mut Rng, number: usize, bytes: u64) -> Vec<Request> {
    let mut now = 0;
    let draw = |_| {
        now += [0, 0, rng.below(200_000), rng.below(2_000_000)][rng.below(4) as usize];
        let grain = [SECTOR, UNIT, UNIT][rng.below(3) as usize];
        let bytes_of = grain * (1 + rng.below(12));
        let offset_bytes = rng.below((bytes / 4 - bytes_of) / grain) * grain;
        let kind =
            [RequestKind::Write, RequestKind::Write, RequestKind::Write, RequestKind::Read][rng.below(4) as usize];
        match rng.below(24) {
            0 => Request::new(now, RequestKind::Flush, 0, 0),
            fua => Request {
                fua: fua == 1 && kind == RequestKind::Write,
                ..Request::new(now, kind, offset_bytes, bytes_of)
            },
        }
    };
    (0..number).map(draw).collect()
}

/// Cuts an array while writes are under way, and scrubs it. Returns the rows that did not match, and the bytes that are lost.
fn cut_often(level: &'static str, members: u64, cuts: usize, more: &[&str], seed: u64) -> (usize, u64) {
    let config = array(level, members, more);
    let mut rng = Rng::new(seed + tier::seed());
    let list = writes(&mut rng, 400.max(cuts), config.logical_bytes());
    let layout = &config.drive.array().expect("an array").layout;
    let failed = config.drive.array().and_then(|array| array.failed.as_ref()).map(|failed| u64::from(failed.member));
    let mut account =
        Account { level, members, chunk: layout.chunk_bytes, rows: layout.rows(), failed, sent: BTreeMap::new() };
    let expected = account.expected(&list);
    let mut powered: Powered<_, FollowedArray> =
        Powered::array(&config, Script::new(&list), true, &mut |_| true).expect("its power can be cut");
    let (mut scans, mut made, mut rows, mut lost) = (ScansOfMembers::new(&config), 0, 0, 0);
    while made < cuts && powered.step().expect("it goes on") {
        if powered.requests_inside() == 0 || rng.below(9) > 0 {
            continue;
        }
        made += 1;
        let cut = powered.cut_array(&mut scans).expect("it comes back");
        let found = judge(&account, &powered.received(), expected.clone(), &cut);
        let of_engine: BTreeSet<(u64, u64)> = cut.repairs.iter().flat_map(sectors_of).collect();
        assert_eq!(of_engine, found.repairs, "{level} at {} ns", powered.now_ns());
        let bytes = found.repairs.len() as u64 * SECTOR;
        let in_array = cut.in_array;
        assert_eq!((in_array.inconsistent_rows, in_array.inconsistent_bytes), (found.rows.len() as u64, bytes));
        assert_eq!((in_array.hole_bytes, in_array.hole_lost_bytes), (found.hole_bytes, found.hole_lost_bytes));
        assert_eq!(cut.outcome.lost_units, 0);
        if cut.can_be_scrubbed() {
            scrubs(&config, &cut, &found, powered.now_ns());
        }
        rows += found.rows.len();
        lost += found.hole_lost_bytes + found.hole_bytes;
    }
    assert_eq!(made, cuts, "{level} is long enough under way");
    (rows, lost)
}

fn sectors_of(piece: &flashwatt_devices::raid::layout::Piece) -> Vec<(u64, u64)> {
    let sectors = piece.offset_bytes / SECTOR..(piece.offset_bytes + piece.bytes) / SECTOR;
    sectors.map(|sector| (u64::from(piece.member), sector)).collect()
}

/// A scrub reads everything, and writes exactly what does not match.
fn scrubs(config: &Config, cut: &ArrayCut, found: &Found, at_ns: u64) {
    let (scrub, received) = cut.scrub(at_ns, config.run.stages()).expect("it comes back");
    let layout = &config.drive.array().expect("an array").layout;
    let mut written = BTreeSet::new();
    for (member, received) in (0..).zip(&received) {
        let of_kind = |kind| received.iter().filter(move |request| request.kind == kind);
        let mut reads: Vec<_> = of_kind(RequestKind::Read).map(|read| (read.offset_bytes, read.bytes)).collect();
        reads.sort_unstable();
        let whole = (0..layout.rows()).map(|row| (row * layout.chunk_bytes, layout.chunk_bytes));
        assert!(reads.into_iter().eq(whole), "it reads each chunk once");
        let sectors = |write: &Request| write.offset_bytes / SECTOR..(write.offset_bytes + write.bytes) / SECTOR;
        written.extend(of_kind(RequestKind::Write).flat_map(sectors).map(|sector| (member, sector)));
    }
    assert_eq!(written, found.repairs);
    assert_eq!((scrub.repaired_rows, scrub.written_bytes), (found.rows.len() as u64, written.len() as u64 * SECTOR));
    assert_eq!(scrub.read_bytes, layout.member_bytes * u64::from(layout.members));
    assert!(scrub.scrub_ns > 0 && scrub.energy_j > 0.0);
}

const BUFFER: [&str; 2] = ["write_buffer.bytes=49152", "write_buffer.idle_ns=1000000"];
const CAPACITORS: [&str; 3] = [BUFFER[0], BUFFER[1], "write_buffer.protection=\"capacitors\""];
const JOURNAL: [&str; 3] = [BUFFER[0], BUFFER[1], "write_buffer.protection=\"journal\""];

#[test]
fn rows_that_do_not_match_are_those_of_an_account_of_writes() {
    let (rows, wrong) = cut_often("raid5", 4, tier::size(24, 1_000), &[], 1);
    assert!(rows > 0 && wrong > 0, "a write hole");
    for (seed, more) in (2..).zip([&BUFFER[..], &CAPACITORS, &JOURNAL]) {
        cut_often("raid5", 3 + seed % 3, tier::size(8, 200), more, seed);
    }
}

#[test]
fn copies_that_differ_are_those_of_an_account_of_writes() {
    let (rows, _) = cut_often("raid1", 2, tier::size(16, 400), &[], 5);
    assert!(rows > 0, "copies differ");
    cut_often("raid1", 3, tier::size(8, 100), &BUFFER, 6);
    cut_often("raid10", 4, tier::size(8, 200), &JOURNAL, 7);
}

/// Without a member nothing says that a row does not match, and what it gives of that member is lost.
#[test]
fn a_failed_member_makes_a_loss_of_the_write_hole() {
    let (rows, lost) = cut_often("raid5", 4, tier::size(24, 400), &["array.failed_member=1"], 8);
    assert!(rows == 0 && lost > 0, "{rows} rows, {lost} bytes");
}

/// Two mirrors of one die each. A read goes to the first one, and a write comes with it: the second mirror programs at once, the first one
/// when the read has left its die, 400 + 50,000 + 3,413 ns later. Between the ends of both programs the copies of that page differ, and a
/// scrub copies it.
#[test]
fn a_copy_that_is_late_by_hand() {
    let config = array("raid1", 2, &["device.channels=1", "device.blocks_per_plane=64"]);
    let list = [Request::new(0, RequestKind::Read, 0, UNIT), Request::new(0, RequestKind::Write, 8 * UNIT, UNIT)];
    let differ = |at_ns: u64| {
        let mut powered: Powered<_, FollowedArray> =
            Powered::array(&config, Script::new(&list), true, &mut |_| true).expect("its power can be cut");
        powered.advance(at_ns).expect("it goes on");
        let cut = powered.cut_array(&mut ScansOfMembers::new(&config)).expect("it comes back");
        let (scrub, _) = cut.scrub(at_ns, config.run.stages()).expect("it comes back");
        (cut.in_array.inconsistent_rows, cut.in_array.inconsistent_bytes, scrub.written_bytes)
    };
    let program_ends = 400 + 3_413 + 600_000;
    let read_ns = 400 + 50_000 + 3_413;
    let (none, one) = ((0, 0, 0), (1, UNIT, UNIT));
    let at = [program_ends - 1, program_ends, program_ends + read_ns - 1, program_ends + read_ns];
    assert_eq!(at.map(differ), [none, one, one, none]);
}
