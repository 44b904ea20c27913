//! Power cuts: every translation layer comes back, and holds what the host was promised.

mod arrays;
mod checkpoints;
mod dump;
mod files;
mod hosts;
mod journal;
mod pairs;
mod registers;
mod rows;
mod scans;
mod shrink;
mod trims;

use std::collections::BTreeSet;

use self::shrink::shrink;
use crate::common;
use crate::common::{PAGE, Script, tier, write};
use crate::contracts::schemes::{
    Scheme, draw_request, for_each_scheme, in_turn, load_scheme, load_sets, schemes, tiny_sets,
};
use flashwatt::config::{Config, Precondition};
use flashwatt::crash::{Bug, Cost, Held, Powered, Recovered, Remains, come_back, recover};
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};

/// Flash operations of a run in which every instant is a cut. With 200 `faults_on_purpose_are_found` finds each fault; with 150 it does not.
fn operations() -> u64 {
    tier::size(200, 300).min(3_000) as u64
}

/// A volatile write buffer of a few pages.
const BUFFER: [&str; 3] =
    ["write_buffer.bytes=49152", "write_buffer.destage_fraction=0.5", "write_buffer.idle_ns=1000000"];

/// The same with capacitors.
const CAPACITORS: [&str; 4] = [BUFFER[0], BUFFER[1], BUFFER[2], "write_buffer.protection=\"capacitors\""];

/// The same with a journal on flash.
const JOURNAL: [&str; 4] = [BUFFER[0], BUFFER[1], BUFFER[2], "write_buffer.protection=\"journal\""];

/// Multi-level cells without protection.
const PAIRED: &str = "device.nand.paired_pages=\"unprotected\"";

/// Trims are recorded.
const TRIMS: &str = "recovery.trim_records=\"page\"";

/// A checkpoint after sixteen pages.
const CHECKPOINTS: &str = "recovery.checkpoint_interval_bytes=65536";

/// A tiny drive whose power can be cut: one block of each die more than the least. Layers that merge blocks need it. Page maps that
/// collect blocks with hardly a page to gain need it after two cuts of one collection, each of which spoils a page. With
/// capacitors there are also blocks for the twelve pages of the buffer, each of four pages or more; with backups of lower pages one for
/// what a recovery writes anew; and with a journal one for pages whose trims are not on flash.
fn drive(scheme: &Scheme, rng: &mut Rng, more: &[&str]) -> Config {
    let more: Vec<String> = more.iter().map(ToString::to_string).collect();
    let mut sets = tiny_sets(scheme, rng, &more);
    let key = "device.blocks_per_plane=";
    let blocks = sets.iter().find_map(|set| set.strip_prefix(key)).and_then(|blocks| blocks.parse::<u32>().ok());
    let for_dumps = if more.iter().any(|set| set == CAPACITORS[3]) { 12 / 4 } else { 0 };
    let is_protected = |set: &String| set.starts_with("device.nand.paired_pages=") && set != PAIRED;
    let for_restores = u32::from(more.iter().any(is_protected));
    let for_trimmed = u32::from(more.iter().any(|set| set == JOURNAL[3]));
    let blocks = blocks.expect("a number of blocks") + 1 + for_dumps + for_restores + for_trimmed;
    sets.push(format!("{key}{blocks}"));
    load_sets(&sets)
}

/// Requests of all kinds, some of them at the same time; to a drive that records trims many trims and flushes.
fn requests(rng: &mut Rng, number: usize, drive_bytes: u64, more: &[&str]) -> Vec<Request> {
    let mut now = 0;
    let trims = more.contains(&TRIMS);
    let draw = |_| {
        now += [0, 0, rng.below(300_000), rng.below(6_000_000)][rng.below(4) as usize];
        let drawn = draw_request(rng, drive_bytes);
        let (kind, bytes) = match rng.below(20) {
            0 => (RequestKind::Flush, 0),
            1..4 if trims => (RequestKind::Flush, 0),
            4..10 if trims => (RequestKind::Trim, drawn.bytes.min(8 * PAGE)),
            _ => (drawn.kind, drawn.bytes.min(8 * PAGE)),
        };
        let offset_bytes = if kind == RequestKind::Flush { 0 } else { drawn.offset_bytes };
        let fua = kind == RequestKind::Write && rng.below(8) == 0;
        Request { fua, ..Request::new(now, kind, offset_bytes, bytes) }
    };
    (0..number).map(draw).collect()
}

/// What came back from the last cut. At the next instant often nothing has changed on flash; then the same comes back, and the promises
/// alone are looked at anew.
#[derive(Default)]
struct LastCut(Option<(Remains, Vec<Held>)>);

impl LastCut {
    /// What comes back from a cut, by the promises of its instant.
    fn judge(&mut self, remains: &Remains) -> Recovered {
        if let Some((last, held)) = &self.0
            && last.is_same_flash(remains)
        {
            return remains.judge(held);
        }
        let (cost, back) = come_back(remains).expect("it comes back");
        assert!(cost.recovery_ns > 0 && cost.energy_j > 0.0, "{cost:?}");
        let held = remains.held(back.drive());
        let recovered = remains.judge(&held);
        self.0 = Some((remains.clone(), held));
        recovered
    }
}

/// What comes back depends on what is on flash alone: that of the cut before is found again where nothing has changed.
#[test]
fn what_comes_back_depends_on_flash_alone() {
    let some: Vec<Scheme> = some_schemes().into_iter().step_by(3).collect();
    for more in [&BUFFER[..], &CAPACITORS, &JOURNAL, &[TRIMS]] {
        for (seed, scheme) in (0..).zip(&some) {
            let mut rng = Rng::new(seed);
            let config = drive(scheme, &mut rng, more);
            let list = requests(&mut rng, 100, config.logical_bytes(), more);
            let mut powered = Powered::new(&config, Script::new(&list), &mut |_| true).expect("its power can be cut");
            let (mut last, mut instants) = (LastCut::default(), 0);
            while powered.operations() < 50 && powered.step().expect("it goes on") {
                let remains = powered.cut();
                assert_eq!(last.judge(&remains), recover(&remains).expect("it comes back").1);
                instants += 1;
            }
            assert!(instants > 0, "{scheme:?}");
        }
    }
}

/// Comes back from a cut, with nothing lost. Returns the time that takes, in ns.
fn comes_back(remains: &Remains) -> Nanos {
    let (cost, recovered) = recover(remains).expect("it comes back");
    assert!(cost.recovery_ns > 0 && cost.energy_j > 0.0, "{cost:?}");
    assert_eq!(recovered.lost_by_pairs as usize, remains.spoilt_units.len(), "{recovered:?}");
    assert_eq!(recovered.lost, 0, "{recovered:?}");
    cost.recovery_ns
}

/// Whether a cut at any instant of a run of these requests loses something.
fn loses(config: &Config, list: &[Request], bug: Bug) -> bool {
    let mut powered = Powered::faulty(config, Script::new(list), bug, &mut |_| true).expect("its power can be cut");
    let mut last = LastCut::default();
    while powered.operations() < operations() && powered.step().expect("it goes on") {
        let lost = last.judge(&powered.cut());
        if lost.lost + lost.lost_by_pairs > 0 {
            return true;
        }
    }
    false
}

/// Goes on after a cut, and serves requests to the end: then every unit holds what was written last.
fn goes_on(config: &Config, remains: &Remains, rng: &mut Rng) {
    let script = Script::new(&requests(rng, 40, config.logical_bytes(), &[]));
    let drive = Powered::again(remains, script).finish().expect("it serves requests");
    let remains = flashwatt::crash::Witness::cut(&drive, 0); // nothing is under way
    assert!(remains.torn.is_empty() && remains.half_erased.is_empty());
    let held = remains.compare(&drive);
    assert_eq!((held.lost, held.rolled_back), (0, 0), "{held:?}");
}

/// Cuts the power of a tiny drive after every instant. Returns the units that are lost with spoilt pages.
fn cut_everywhere(scheme: &Scheme, seed: u64, more: &[&str]) -> usize {
    let mut rng = Rng::new(seed);
    let config = drive(scheme, &mut rng, more);
    let list = requests(&mut rng, operations() as usize * 4 / 3, config.logical_bytes(), more);
    let mut powered = Powered::new(&config, Script::new(&list), &mut |_| true).expect("its power can be cut");
    let (mut cuts, mut lost, mut last) = (0, 0, LastCut::default());
    while powered.operations() < operations() && powered.step().expect("it goes on") {
        let remains = powered.cut();
        let recovered = last.judge(&remains);
        assert_eq!(recovered.lost_by_pairs as usize, remains.spoilt_units.len(), "{recovered:?}");
        if recovered.lost > 0 {
            let enough = shrink(list, |list| loses(&config, list, Bug::None));
            panic!("{recovered:?}; these requests are enough for that: {enough:#?}");
        }
        lost += remains.spoilt_units.len();
        if cuts % 16 == 0 {
            goes_on(&config, &remains, &mut rng);
        }
        cuts += 1;
    }
    lost
}

fn nothing_is_lost_at_any_instant(schemes: &[Scheme], more: &[&str]) {
    for_each_scheme(schemes, 1, |scheme, seed| assert_eq!(cut_everywhere(scheme, seed, more), 0));
}

/// Every combination with greedy victims and wear levelling.
fn all_schemes() -> Vec<Scheme> {
    let mut all = schemes().to_vec();
    all.retain(|scheme| !scheme.iter().any(|set| set.starts_with("gc.policy=") || set == "wear.policy=\"none\""));
    all
}

/// Each layer with each of its options.
fn some_schemes() -> Vec<Scheme> {
    in_turn(&all_schemes())
}

#[test]
fn every_instant_without_a_buffer() {
    nothing_is_lost_at_any_instant(&some_schemes(), &[]);
}

#[test]
fn every_instant_with_a_volatile_buffer() {
    nothing_is_lost_at_any_instant(&some_schemes(), &BUFFER);
}

#[test]
fn every_instant_with_capacitors() {
    nothing_is_lost_at_any_instant(&some_schemes(), &CAPACITORS);
}

/// Schemes whose flash asks for an order of programs, as multi-level cells do.
fn in_order() -> Vec<Scheme> {
    let mut all = all_schemes();
    all.retain(|scheme| scheme.iter().all(|set| set != "device.nand.program_order=\"any\""));
    in_turn(&all)
}

/// Requests spend most of their time in the firmware; reads move sectors.
const FIRMWARE: [&str; 4] = [
    "device.firmware.command_ns=3000",
    "device.firmware.write_ns=700000",
    "device.bus.partial_pages=true",
    "device.bus.partial_unit=\"sector\"",
];

#[test]
fn every_instant_with_a_time_of_the_firmware() {
    nothing_is_lost_at_any_instant(&some_schemes(), &FIRMWARE);
}

#[test]
fn every_instant_with_a_time_of_the_firmware_and_a_buffer() {
    let sets = [&BUFFER[..], &FIRMWARE].concat();
    nothing_is_lost_at_any_instant(&some_schemes(), &sets);
}

/// A write that is in the firmware at a cut was not acknowledged, and nothing of it comes back; after the cut the unit can be written.
#[test]
fn a_write_in_the_firmware_is_lost() {
    let config = common::small_drive(&[&FIRMWARE[..], &["run.precondition=\"empty\""]].concat());
    let script = Script::new(&[write(0, 3, 1)]);
    let mut powered = Powered::new(&config, script, &mut |_| true).expect("its power can be cut");
    assert_eq!(powered.next_event_ns().expect("it goes on"), Some(703_000), "the firmware is done with it");
    for (at, torn) in [(0, 0), (702_999, 0), (703_000, 1)] {
        powered.advance(at).expect("it goes on");
        let remains = powered.cut();
        let (_, recovered) = recover(&remains).expect("it comes back");
        assert_eq!(
            (recovered.lost, remains.torn.len(), powered.requests_inside()),
            (0, torn, 1),
            "{at}: {recovered:?}"
        );
        goes_on(&config, &remains, &mut Rng::new(at));
    }
}

/// Torn upper pages spoil whole lower ones: what is lost then is what a look at the cut alone says, and nothing else.
#[test]
fn every_instant_with_paired_pages() {
    let lost = std::sync::atomic::AtomicUsize::new(0);
    for_each_scheme(&in_order(), 1, |scheme, seed| {
        lost.fetch_add(cut_everywhere(scheme, seed, &[PAIRED]), std::sync::atomic::Ordering::Relaxed);
    });
    assert!(lost.into_inner() > 100, "pairs do harm");
}

/// Capacitors let programs end, so that no page is spoilt. The layer hardly matters for that.
#[test]
fn every_instant_with_paired_pages_and_capacitors() {
    let sets = [&CAPACITORS[..], &[PAIRED]].concat();
    nothing_is_lost_at_any_instant(&in_order(), &sets);
}

#[test]
fn every_instant_with_recorded_trims() {
    nothing_is_lost_at_any_instant(&some_schemes(), &[TRIMS]);
}

#[test]
fn every_instant_with_recorded_trims_and_a_buffer() {
    let sets = [&BUFFER[..], &[TRIMS]].concat();
    nothing_is_lost_at_any_instant(&some_schemes(), &sets);
}

/// The layer of a scheme.
fn layer(scheme: &Scheme) -> &'static str {
    load_scheme(scheme).ssd().ftl.name()
}

/// The first of these schemes with this layer.
fn first_of_layer(schemes: Vec<Scheme>, name: &str) -> Scheme {
    schemes.into_iter().find(|scheme| layer(scheme) == name).expect("every layer has a scheme")
}

/// Whether the scheme's layer has its map on flash.
fn has_map_on_flash(scheme: &Scheme) -> bool {
    ["dftl", "tpftl", "rftl"].contains(&layer(scheme))
}

#[test]
fn every_instant_with_checkpoints() {
    nothing_is_lost_at_any_instant(&some_schemes(), &[CHECKPOINTS]);
}

#[test]
fn every_instant_with_checkpoints_recorded_trims_and_a_buffer() {
    let sets = [&BUFFER[..], &[CHECKPOINTS, TRIMS]].concat();
    nothing_is_lost_at_any_instant(&some_schemes(), &sets);
}

/// Schemes of layers that take checkpoints beside pages that share cells.
fn in_order_with_map_in_memory() -> Vec<Scheme> {
    in_order().into_iter().filter(|scheme| !has_map_on_flash(scheme)).collect()
}

/// Schemes whose layer has its map on flash.
fn with_map_on_flash() -> Vec<Scheme> {
    some_schemes().into_iter().filter(has_map_on_flash).collect()
}

#[test]
fn every_instant_with_checkpoints_beside_a_map_on_flash_and_capacitors() {
    let sets = [&CAPACITORS[..], &[CHECKPOINTS]].concat();
    nothing_is_lost_at_any_instant(&with_map_on_flash(), &sets);
}

/// Faults on purpose, each with the settings under which it shows.
const FAULTS: [(Bug, &[&str]); 8] = [
    (Bug::VersionOfCopy, &[]),
    (Bug::OlderVersion, &[]),
    (Bug::TornBelieved, &[]),
    (Bug::AcknowledgedEarly, &BUFFER),
    (Bug::ErasedBeforeCopied, &[]),
    (Bug::DumpForgotten, &CAPACITORS),
    (Bug::TrimForgotten, &[TRIMS]),
    (Bug::CheckpointOlder, &[CHECKPOINTS]),
];

/// Cuts at every instant of a drive with a fault find it.
#[test]
fn faults_on_purpose_are_found() {
    let of_map_on_flash = [(Bug::EntriesForgotten, &[CHECKPOINTS][..]), (Bug::OldMapErased, &[CHECKPOINTS])];
    for name in ["page", "fast", "dftl"] {
        let scheme = first_of_layer(some_schemes(), name);
        let more_bugs = of_map_on_flash.into_iter().filter(|_| has_map_on_flash(&scheme));
        for (bug, more) in FAULTS.into_iter().chain(more_bugs) {
            let lost = run_that_loses(bug, &scheme, more);
            assert!(lost.is_some(), "{bug:?} is not found with the layer {name}");
        }
    }
}

/// Of a run that fails the requests are left that it takes: one write, after which the older version of its unit is there, or two.
#[test]
fn a_run_that_fails_is_shrunk() {
    let (config, list) = run_that_loses(Bug::OlderVersion, &some_schemes()[0], &[]).expect("it is found");
    let fails = |list: &[Request]| loses(&config, list, Bug::OlderVersion);
    let enough = shrink(list, fails);
    assert!(fails(&enough) && enough.len() <= 2, "{enough:?}");
}

/// A run of a drive with a fault that loses something.
fn run_that_loses(bug: Bug, scheme: &Scheme, more: &[&str]) -> Option<(Config, Vec<Request>)> {
    let of_seed = |seed| {
        let mut rng = Rng::new(seed);
        let config = drive(scheme, &mut rng, more);
        let list = requests(&mut rng, 400, config.logical_bytes(), more);
        (config, list)
    };
    (0..64).map(of_seed).find(|(config, list)| loses(config, list, bug))
}

/// A scan reads the spare area of every page, on all dies at once: what that takes, from its definition.
#[test]
fn a_scan_takes_what_its_closed_form_says() {
    let sets =
        ["device.channels=2", "device.ways=2", "device.blocks_per_plane=16", "device.timing.channel_switch_ns=0"];
    let config = common::merging_drive(&sets);
    let mut powered = Powered::new(&config, Script::new(&[]), &mut |_| true).expect("its power can be cut");
    powered.step().expect("it goes on");
    let (cost, recovered) = recover(&powered.cut()).expect("it comes back");
    let pages_of_die = 16 * 8;
    assert_eq!((cost.spare_reads, cost.programs, cost.erases), (4 * pages_of_die, 0, 0));
    assert_eq!(recovered.kept, 4 * pages_of_die as u32 / 2);
    // A die gives its commands over a bus that it shares with one other; the array works far longer than that.
    let one = common::delays::COMMAND + common::delays::READ;
    let first_of_second_die = common::delays::COMMAND;
    assert_eq!(cost.recovery_ns, pages_of_die * one + first_of_second_die);
}

/// What a recovery takes after a cut at this time of a run of these requests, and what comes back.
fn cut_at(config: &Config, now: Nanos, list: &[Request]) -> (Cost, Recovered) {
    let script = Script::new(&[list, &[write(1_000_000_000, 60, 1)]].concat()); // the run is not over before
    let mut powered = Powered::new(config, script, &mut |_| true).expect("its power can be cut");
    powered.advance(now).expect("it goes on");
    recover(&powered.cut()).expect("it comes back")
}

/// Cuts at random times of a longer run, and cuts during the recovery from each.
fn cut_at_random(scheme: &Scheme, seed: u64, cuts: usize, more: &[&str]) {
    let mut rng = Rng::new(!seed);
    let config = drive(scheme, &mut rng, more);
    let script = Script::new(&requests(&mut rng, 2_000, config.logical_bytes(), more));
    let mut powered = Powered::new(&config, script, &mut |_| true).expect("its power can be cut");
    for _ in 0..cuts {
        powered.advance(powered.now_ns() + 1 + rng.below(20_000_000)).expect("it goes on");
        let remains = powered.cut();
        let recovery_ns = comes_back(&remains);
        let mut again = Powered::recovering(&remains);
        again.advance(rng.below(recovery_ns)).expect("it goes on");
        let again = again.cut();
        comes_back(&again);
        goes_on(&config, &again, &mut rng);
    }
}

/// Cuts at random times of a scheme in `make test`. The seeds of a test's schemes differ, so that a layer has a hundred or more.
const LEAST_RANDOM_CUTS: usize = 6;

/// Cuts at random times of each of these schemes. In the soak the schemes of a layer share 10,000 with a factor of 100.
fn random_cuts(schemes: &[Scheme]) -> impl Fn(&Scheme) -> usize + use<> {
    let layers: Vec<&str> = schemes.iter().map(layer).collect();
    move |scheme| {
        let alike = layers.iter().filter(|&&other| other == layer(scheme)).count();
        tier::size(LEAST_RANDOM_CUTS, 100).div_ceil(alike).max(LEAST_RANDOM_CUTS)
    }
}

fn nothing_is_lost_at_random(schemes: &[Scheme], more: &[&str]) {
    let cuts = random_cuts(schemes);
    for_each_scheme(schemes, 1, |scheme, seed| cut_at_random(scheme, seed, cuts(scheme), more));
}

#[test]
fn random_cuts_without_a_buffer_and_during_recovery() {
    nothing_is_lost_at_random(&in_turn(schemes()), &[]);
}

#[test]
fn random_cuts_with_a_volatile_buffer_and_during_recovery() {
    nothing_is_lost_at_random(&some_schemes(), &BUFFER);
}

#[test]
fn random_cuts_with_capacitors_and_during_recovery() {
    nothing_is_lost_at_random(&some_schemes(), &CAPACITORS);
}

#[test]
fn random_cuts_with_paired_pages_and_during_recovery() {
    nothing_is_lost_at_random(&in_order(), &[PAIRED]);
}

#[test]
fn random_cuts_with_recorded_trims_and_during_recovery() {
    let sets = [&CAPACITORS[..], &[TRIMS]].concat();
    nothing_is_lost_at_random(&some_schemes(), &sets);
}

/// An erase that waits for a record, at the head of its die's queue, does not keep the program of that record from starting.
#[test]
fn random_cuts_with_recorded_trims_as_planned() {
    for policy in ["in_order", "reads_first"] {
        let policy = format!("controller.policy={policy}");
        for_each_scheme(&some_schemes(), 1, |scheme, seed| cut_at_random(scheme, seed, 10, &[TRIMS, &policy]));
    }
}

#[test]
fn random_cuts_with_checkpoints_and_during_recovery() {
    let sets = [&CAPACITORS[..], &[CHECKPOINTS]].concat();
    nothing_is_lost_at_random(&some_schemes(), &sets);
    let sets = [PAIRED, CHECKPOINTS, TRIMS];
    nothing_is_lost_at_random(&in_order_with_map_in_memory(), &sets);
}

#[test]
fn random_cuts_with_checkpoints_beside_a_map_on_flash_and_during_recovery() {
    let sets = [&BUFFER[..], &[CHECKPOINTS, TRIMS]].concat();
    nothing_is_lost_at_random(&with_map_on_flash(), &[CHECKPOINTS]);
    nothing_is_lost_at_random(&with_map_on_flash(), &sets);
}

/// A drive that has come back writes its next checkpoints from what it has found. Cuts of it later, one after the other.
#[test]
fn cuts_of_a_drive_with_checkpoints_beside_a_map_on_flash_that_has_come_back() {
    let cuts = random_cuts(&with_map_on_flash());
    for_each_scheme(&with_map_on_flash(), 1, |scheme, seed| {
        let mut rng = Rng::new(seed);
        let config = drive(scheme, &mut rng, &[CHECKPOINTS]);
        let script = Script::new(&requests(&mut rng, 400, config.logical_bytes(), &[]));
        let mut powered = Powered::new(&config, script, &mut |_| true).expect("its power can be cut");
        for _ in 0..cuts(scheme) {
            powered.advance(powered.now_ns() + 1 + rng.below(200_000_000)).expect("it goes on");
            let remains = powered.cut();
            comes_back(&remains);
            let script = Script::new(&requests(&mut rng, 400, config.logical_bytes(), &[]));
            powered = Powered::again(&remains, script);
        }
    });
}

/// Old copies of pages of the map are kept under policies that work a queue off as planned, too, and nothing waits for ever.
#[test]
fn random_cuts_with_checkpoints_beside_a_map_on_flash_as_planned() {
    for policy in ["in_order", "reads_first"] {
        let policy = format!("controller.policy={policy}");
        for_each_scheme(&with_map_on_flash(), 1, |scheme, seed| {
            cut_at_random(scheme, seed, 10, &[CHECKPOINTS, &policy])
        });
    }
}

#[test]
fn random_cuts_with_recorded_trims_and_paired_pages() {
    nothing_is_lost_at_random(&in_order(), &[PAIRED, TRIMS]);
}

/// Schemes of RFTL with a replica of each page of the map.
fn with_replicas() -> Vec<Scheme> {
    let has_replica = |scheme: &Scheme| {
        let config = load_scheme(scheme);
        config.ssd().ftl.name() == "rftl" && scheme.iter().any(|set| set == "ftl.rftl.replicas=1")
    };
    some_schemes().into_iter().filter(has_replica).collect()
}

/// Cuts a drive with a replica of each page of the map at every instant. Returns the first page of which no version is there in both
/// copies.
fn page_without_copy(scheme: &Scheme, seed: u64, bug: Bug) -> Option<String> {
    let mut rng = Rng::new(seed);
    let config = drive(scheme, &mut rng, &[]).changed(|config| config.run.precondition = Precondition::Filled);
    let logical = config.logical_bytes() / PAGE;
    let entries_per_page = 4096 / 512;
    let pages = logical.div_ceil(entries_per_page);
    let script = Script::new(&requests(&mut rng, 400, config.logical_bytes(), &[]));
    let mut powered = Powered::faulty(&config, script, bug, &mut |_| true).expect("its power can be cut");
    let mut writes = 0;
    while powered.operations() < 600 && powered.step().expect("it goes on") {
        let mut versions = vec![[BTreeSet::new(), BTreeSet::new()]; pages as usize];
        for (owner, version) in powered.cut().readable().filter(|(owner, _)| u64::from(owner.0) >= logical) {
            let at = u64::from(owner.0) - logical;
            versions[(at % pages) as usize][(at / pages) as usize].insert(version);
            writes = writes.max(version);
        }
        let mut of_pages = versions.iter().enumerate();
        if let Some((page, [original, replica])) = of_pages.find(|(_, [one, other])| one.is_disjoint(other)) {
            return Some(format!("page {page}: {original:?}, {replica:?}"));
        }
    }
    assert!(writes > 1, "pages of the map were written");
    None
}

/// Of each page of the map all copies of one version are on flash at any time, so that no cut leaves a part of them alone.
#[test]
fn a_cut_leaves_all_copies_of_a_page_of_the_map() {
    for_each_scheme(&with_replicas(), 4, |scheme, seed| {
        assert_eq!(page_without_copy(scheme, seed, Bug::None), None);
    });
}

#[test]
fn a_copy_that_is_not_written_is_found() {
    let scheme = &with_replicas()[0];
    assert!((0..16).any(|seed| page_without_copy(scheme, seed, Bug::OneCopyOnly).is_some()));
}
