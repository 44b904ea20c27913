//! A drive under the control of a program, whose power is cut while it works.

use flashwatt::Done;
use flashwatt::Drive;
use flashwatt::Report;
use flashwatt::config::{Config, Cuts, PowerCuts, load};
use flashwatt::crash::crash;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};

use crate::common::{PAGE, assert_close, small_drive};

const BUFFERS: [&[&str]; 4] = [
    &[],
    &["write_buffer.bytes=49152", "write_buffer.idle_ns=1000000"],
    &["write_buffer.bytes=49152", "write_buffer.idle_ns=1000000", "write_buffer.protection=\"capacitors\""],
    &["write_buffer.bytes=49152", "write_buffer.idle_ns=1000000", "write_buffer.protection=\"journal\""],
];

fn cuttable(config: &Config) -> Drive {
    Drive::cuttable(config, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn advance(drive: &mut Drive, until: Nanos) -> Vec<Done> {
    drive.advance(until).unwrap_or_else(|error| panic!("{error}"))
}

fn send(drive: &mut Drive, request: Request) -> u32 {
    drive.send(request).unwrap_or_else(|error| panic!("{error}")).0
}

fn write(at: Nanos, page: u64) -> Request {
    Request::new(at, RequestKind::Write, page * PAGE, PAGE)
}

/// Writes fill a block of each die of an empty drive. Then three writes come at 10 ms: at 10.2 ms one page is being programmed on each die,
/// and the third waits. Each of the two torn pages is alone in its block. The recovery reads the spare areas of 512 pages of each die,
/// 512 × (50,000 + 400) ns, and erases these blocks on both dies at once, 3,500,000 + 400 ns. Its energy is what the drive's account grows
/// by.
#[test]
fn a_cut_by_hand() {
    let mut drive = cuttable(&small_drive(&["run.precondition=empty"]));
    for page in 0..32 {
        send(&mut drive, write(0, page));
    }
    assert_eq!(advance(&mut drive, 10_000_000).len(), 32);
    let mut lost = [2, 3, 4].map(|page| send(&mut drive, write(10_000_000, page)));
    lost.sort_unstable(); // numbers of requests that have ended are used again
    let later = send(&mut drive, write(18_000_000, 5));
    assert!(advance(&mut drive, 10_200_000).is_empty());
    let before_j = drive.energy_j();
    let cut = drive.cut().expect("its power can be cut");
    assert_eq!(cut.lost.iter().map(|done| done.tag.0).collect::<Vec<_>>(), lost);
    assert!(cut.lost.iter().all(|done| (done.submitted_ns, done.end_ns) == (10_000_000, 10_200_000)));
    let outcome = cut.cut.outcome;
    assert_eq!((cut.cut.at_ns, cut.cut.operations, cut.cut.requests_lost), (10_200_000, 32, 3));
    assert_eq!((outcome.torn_pages, outcome.lost_units, outcome.rolled_back_units), (2, 0, 3));
    assert_eq!(outcome.cost.recovery_ns, 512 * 50_400 + 3_500_400);
    assert_close(drive.energy_j(), before_j, "a cut takes no energy");
    let end = 10_200_000 + outcome.cost.recovery_ns;
    assert!(advance(&mut drive, 17_000_000).is_empty());
    let done = advance(&mut drive, end);
    assert!(done.is_empty(), "the request of 18 ms waits for the end of the recovery: {done:?}");
    let done = advance(&mut drive, 100_000_000);
    assert_eq!(done.len(), 1);
    assert_eq!((done[0].tag.0, done[0].submitted_ns), (later, 18_000_000));
    assert!(done[0].end_ns > end);
}

#[test]
fn a_recovery_that_is_left_alone_takes_what_the_cut_says() {
    for ftl in ["page", "dftl", "fast", "last"] {
        for buffer in BUFFERS {
            let mut drive = cuttable(&small_drive(&[&[&*format!("ftl={ftl}")], buffer].concat()));
            for page in 0..200 {
                send(&mut drive, write(0, page));
            }
            advance(&mut drive, 7_654_321);
            let cut = drive.cut().expect("its power can be cut").cut;
            let before_j = drive.energy_j();
            advance(&mut drive, cut.at_ns + cut.outcome.cost.recovery_ns);
            assert_close(drive.energy_j() - before_j, cut.outcome.cost.energy_j, "energy of the recovery");
        }
    }
}

/// A drive that a program cuts at a time leaves what one leaves that a campaign cuts at that time.
#[test]
fn a_cut_is_that_of_a_campaign() {
    let load = ["workload.uniform.requests=400", "workload.uniform.rate_per_s=50000"];
    for buffer in BUFFERS {
        let config = small_drive(&[&load[..], &["ftl=fast"], buffer].concat());
        let at = 6_543_210;
        let campaign = crash(&config, &PowerCuts { cuts: Cuts::At(vec![at]), ..PowerCuts::default() }, &mut |_| true)
            .expect("a cut");
        let mut drive = cuttable(&config);
        let mut workload =
            flashwatt_workload::open(&config.workload, config.partition_bytes(), config.run.seed).expect("it opens");
        let mut now = 0;
        loop {
            match workload.next(now).expect("a request") {
                flashwatt_core::connector::Next::Request(_, request) => {
                    send(&mut drive, request);
                }
                flashwatt_core::connector::Next::WaitUntil(at) => now = at,
                _ => break,
            }
        }
        advance(&mut drive, at);
        let cut = drive.cut().expect("its power can be cut").cut;
        assert_eq!(serde_json::to_string(&cut).ok(), serde_json::to_string(&campaign.cuts[0]).ok());
    }
}

/// A session with cuts at random times: each request ends once, in one way or the other. The run audits its own accounts.
fn session(config: &Config, rng: &mut Rng) -> (Report, f64) {
    let mut drive = cuttable(config);
    let pages = drive.logical_bytes() / PAGE;
    let (mut sent, mut done, mut lost, mut cuts) = (0, 0, 0, 0);
    for _ in 0..12 {
        for _ in 0..rng.below(40) {
            let at = drive.now_ns() + rng.below(3_000_000);
            let page = rng.below(pages);
            let kind =
                [RequestKind::Write, RequestKind::Write, RequestKind::Read, RequestKind::Trim][rng.below(4) as usize];
            let request = Request::new(at, kind, page * PAGE, PAGE * (1 + rng.below(4)).min(pages - page));
            send(&mut drive, Request { fua: rng.below(8) == 0 && kind == RequestKind::Write, ..request });
            sent += 1;
        }
        let until = drive.now_ns() + rng.below(9_000_000);
        done += advance(&mut drive, until).len();
        if rng.below(2) == 0 {
            let cut = drive.cut().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(cut.cut.outcome.lost_units, 0, "{cut:?}");
            lost += cut.lost.len();
            cuts += 1;
            let (wait, is_whole) = (cut.cut.outcome.cost.recovery_ns, rng.below(2) == 0);
            let until = drive.now_ns() + if is_whole { wait } else { rng.below(wait) };
            done += advance(&mut drive, until).len();
        }
    }
    while let Some(at) = drive.next_event_ns().unwrap_or_else(|error| panic!("{error}")) {
        done += advance(&mut drive, at).len();
    }
    assert_eq!(done + lost, sent);
    let energy_j = drive.energy_j();
    let report = drive.report();
    assert_eq!(report.status, "complete", "{cuts} cuts");
    assert_eq!(report.workload.requests, done as u64);
    assert_eq!(report.power_cuts.as_ref().map_or(0, |section| section.cuts), cuts);
    (report, energy_j)
}

#[test]
fn every_layer_goes_on_and_its_accounts_add_up() {
    for (ftl, _) in flashwatt::list("ftls").expect("layers") {
        for (place, buffer) in BUFFERS.iter().enumerate() {
            let config = small_drive(&[&[&*format!("ftl={ftl}")], *buffer].concat());
            let mut rng = Rng::new(17 + place as u64);
            let (report, energy_j) = session(&config, &mut rng);
            assert_close(energy_j, report.ssd().energy_j.total, "the energy so far is that of the report");
            assert_close(report.energy_integral_j, report.ssd().energy_j.total, "two paths to the energy");
        }
    }
}

#[test]
fn a_session_is_the_same_again_and_without_cuts_that_of_any_drive() {
    let config = small_drive(&["ftl=page"]);
    let [once, again] = [0; 2].map(|_| serde_json::to_string(&session(&config, &mut Rng::new(5)).0).expect("JSON"));
    assert_eq!(once, again);
    let mut drives = [cuttable(&config), Drive::new(&config).unwrap_or_else(|error| panic!("{error}"))];
    for drive in &mut drives {
        for page in 0..100 {
            send(drive, write(page * 10_000, page));
        }
    }
    let [cuttable, plain] = drives.map(|drive| serde_json::to_string(&drive.report()).expect("JSON"));
    assert_eq!(cuttable, plain);
}

#[test]
fn a_drive_that_cannot_be_cut_says_so() {
    let mut plain = Drive::new(&small_drive(&[])).unwrap_or_else(|error| panic!("{error}"));
    let error = plain.cut().expect_err("it is refused").to_string();
    assert_eq!(
        error,
        "cut: the power of this drive cannot be cut; found a drive as `new` makes it; expected one that is made cuttable"
    );
    let disk = load("", "test.toml", &["device.preset=laptop-7200".to_string()]).expect("a disk");
    let error = Drive::cuttable(&disk, &mut |_| true).map(|_| ()).expect_err("it is refused").to_string();
    assert!(error.contains("nothing to recover: a sector stays where it is written"), "{error}");
    let error =
        Drive::cuttable(&small_drive(&["array.members=2"]), &mut |_| true).map(|_| ()).expect_err("it is refused");
    assert!(error.to_string().contains("the power of a live array is not cut"), "{error}");
}
