//! A drive that is fed by another program does what it does in a run.

use crate::common::{self, PAGE, PROBE_DRIVE, figures, load, merging_drive, play};
use flashwatt::Done;
use flashwatt::Drive;
use flashwatt::Report;
use flashwatt::config::Config;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};

#[path = "../../examples/embedded.rs"]
#[allow(dead_code)] // its main function
mod embedded;

fn drive(config: &Config) -> Drive {
    Drive::new(config).unwrap_or_else(|error| panic!("{error}"))
}

/// Requests at growing times, with reads, writes, trims and flushes.
fn script(rng: &mut Rng, requests: u64) -> Vec<Request> {
    let mut at = 0;
    let one = |_| {
        at += rng.below(400_000);
        match rng.below(10) {
            0 => Request::new(at, RequestKind::Flush, 0, 0),
            1 => common::request(at, RequestKind::Trim, rng.below(30), 1),
            2..=4 => common::read(at, rng.below(30), 1 + rng.below(4)),
            _ => common::write(at, rng.below(30), 1 + rng.below(4)),
        }
    };
    (0..requests).map(one).collect()
}

/// Sends a script in steps of any length, some requests long before their time and some at it.
fn driven(config: &Config, script: &[Request], rng: &mut Rng) -> (Report, Vec<Done>) {
    let mut drive = drive(config);
    let (mut left, mut done) = (script, Vec::new());
    while !left.is_empty() {
        let (now, known) = left.split_at((1 + rng.below(5) as usize).min(left.len()));
        for &request in now {
            drive.send(request).unwrap_or_else(|error| panic!("{error}"));
        }
        left = known;
        let until = left.first().map_or(drive.now_ns(), |next| next.arrival_ns);
        if rng.below(2) == 0 {
            let middle = drive.now_ns() + (until - drive.now_ns()) / 2;
            done.extend(drive.advance(middle).unwrap_or_else(|error| panic!("{error}")));
        }
        done.extend(drive.advance(until).unwrap_or_else(|error| panic!("{error}")));
    }
    while let Some(at) = drive.next_event_ns().unwrap_or_else(|error| panic!("{error}")) {
        done.extend(drive.advance(at).unwrap_or_else(|error| panic!("{error}")));
    }
    let (energy_j, simulated_ns) = (drive.energy_j(), drive.now_ns());
    let report = drive.report();
    common::assert_close(energy_j, report.ssd().energy_j.total, "the energy so far is that of the report");
    common::assert_close(simulated_ns as f64 / 1e9, report.throughput.simulated_s, "nothing is left to be done");
    (report, done)
}

/// The energy of an array grows while nothing happens in its members: two idle drives draw twice what one draws, at any time.
#[test]
fn the_energy_of_an_idle_array_goes_on() {
    let mut one = drive(&load(PROBE_DRIVE, &[]));
    let mut two = drive(&load(PROBE_DRIVE, &["array.members=2"]));
    for at in [1, 1_000_000, 1_500_007, 999_999_999, 2_300_000_000] {
        for drive in [&mut one, &mut two] {
            drive.advance(at).unwrap_or_else(|error| panic!("{error}"));
        }
        assert!(one.energy_j() > 0.0);
        common::assert_close(two.energy_j(), 2.0 * one.energy_j(), "the energy of two");
        common::assert_close(two.power_w(), 2.0 * one.power_w(), "their power");
    }
}

/// What came of it, but for the name of the workload, and for where the drain begins: a drive is not told which request is
/// the last one.
fn compared(report: &Report) -> serde_json::Value {
    let mut report = figures(report);
    report["workload"]["name"].take();
    for key in ["window", "drain_ledger", "warnings"] {
        report[key].take();
    }
    report
}

/// Who feeds it and in which steps changes nothing: the same bytes of report as a run of the same requests, to the end of
/// what they leave to be done. The last request is a flush, for a drive that is not told so destages when it is idle.
#[test]
fn a_driven_drive_is_a_run() {
    let drives = [
        load(PROBE_DRIVE, &["device.channels=2"]),
        load(
            PROBE_DRIVE,
            &["device.channels=2", "device.host_link.bandwidth_mb_s=200", "device.host_link.queue_depth=3"],
        ),
        load(PROBE_DRIVE, &["ftl=\"dftl\"", "device.spare_fraction=0.6"]),
        load(PROBE_DRIVE, &["write_buffer.bytes=16384", "write_buffer.idle_ns=300000"]),
        merging_drive(&["ftl=\"fast\"", "device.spare_fraction=0.6"]),
    ];
    for (config, seed) in drives.iter().zip(1..) {
        let mut rng = Rng::new(seed);
        let mut script = script(&mut rng, 200);
        script.push(Request::new(script[199].arrival_ns, RequestKind::Flush, 0, 0));
        let config = &config.clone().changed(|config| config.run.count_drain = true);
        let (run, log) = play(config, &script);
        for steps in 0..3 {
            let (report, done) = driven(config, &script, &mut Rng::new(steps));
            assert_eq!(report.status, "complete");
            assert_eq!(compared(&report), compared(&run), "drive {seed}, steps {steps}");
            let ends: Vec<Nanos> = log.requests.iter().map(|request| request.end_ns).collect();
            assert!(
                done.len() <= ends.len() && done.iter().map(|done| done.end_ns).eq(ends[..done.len()].iter().copied())
            );
        }
    }
}

#[test]
fn what_cannot_be_sent_is_refused_and_changes_nothing() {
    let config = load(PROBE_DRIVE, &[]);
    let mut drive = drive(&config);
    assert_eq!(drive.advance(500).map(|done| done.len()).ok(), Some(0));
    let end = config.logical_bytes();
    for (offset, bytes) in [(end, 512), (0, 0), (100, 512), (0, 100), (u64::MAX - 511, 512)] {
        let said = drive.submit(RequestKind::Read, offset, bytes, 500).map_err(|error| error.to_string());
        assert!(said.as_ref().is_err_and(|said| said.contains("does not lie on the drive")), "{said:?}");
    }
    let said = drive.submit(RequestKind::Read, 0, PAGE, 499).map_err(|error| error.to_string());
    assert!(
        said.as_ref().is_err_and(|said| said.contains("a time that is over; found 499 ns; expected 500 ns")),
        "{said:?}"
    );
    let said = drive.advance(499).map_err(|error| error.to_string()).expect_err("a time that is over");
    assert_eq!(said, "until_ns: a time that is over; found 499 ns; expected 500 ns or later");
    assert!(drive.submit(RequestKind::Read, 0, PAGE, 500).is_ok());
    assert!(drive.advance(Nanos::MAX).is_err_and(|error| error.to_string().contains("end of simulated time")));
    assert_eq!(drive.advance(10_000_000).map(|done| done.len()).ok(), Some(1), "the read goes on");
    let report = drive.report();
    assert_eq!((report.status.as_str(), report.workload.requests), ("complete", 1));
}

/// A closed loop goes on from one end to the next: [`Drive::advance_to_done`] stops at the first end, and no earlier.
#[test]
fn a_closed_loop_stops_at_each_end() {
    let config = load(PROBE_DRIVE, &["device.channels=2"]);
    let (mut by_events, mut by_ends) = (drive(&config), drive(&config));
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    for at in [0, 0, 0, 7_000, 4_000_000] {
        for drive in [&mut by_events, &mut by_ends] {
            drive.submit(RequestKind::Write, 0, PAGE, at).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    while let Some(at) = by_events.next_event_ns().unwrap_or_else(|error| panic!("{error}")) {
        by_events.advance_into(at, &mut expected).unwrap_or_else(|error| panic!("{error}"));
    }
    while found.len() < 5 {
        let known = found.len();
        by_ends.advance_to_done(3_900_000, &mut found).unwrap_or_else(|error| panic!("{error}"));
        let Some(last) = found[known..].last() else { break };
        assert!(found[known..].iter().all(|done| done.end_ns == last.end_ns) && by_ends.now_ns() == last.end_ns);
    }
    assert_eq!((found.len(), by_ends.now_ns()), (4, 3_900_000), "the fifth has not been sent by then");
    by_ends.advance_to_done(1_000_000_000, &mut found).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found, expected);
}

/// One who wants to stop is asked now and then; what has ended by then is given, and the rest by a later call.
#[test]
fn a_long_way_can_be_stopped() {
    let mut drive = drive(&load(PROBE_DRIVE, &[]));
    for at in 0..20_000 {
        drive.submit(RequestKind::Write, 0, PAGE, at).unwrap_or_else(|error| panic!("{error}"));
    }
    let (until, mut done) = (100_000_000_000, Vec::new());
    drive.advance_unless(until, &mut done, &mut || true).unwrap_or_else(|error| panic!("{error}"));
    let (ended, stopped_at) = (done.len(), drive.now_ns());
    assert!((1_000..20_000).contains(&ended) && stopped_at < until, "{ended} at {stopped_at}");
    drive.advance_unless(until, &mut done, &mut || false).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((done.len(), drive.now_ns()), (20_000, until));
}

/// Tags of requests that have not ended differ; one that is free is given again, and a drive may move between threads.
#[test]
fn tags_are_given_again() {
    let mut drive = drive(&load(PROBE_DRIVE, &[]));
    let mut send = |at| drive.submit(RequestKind::Write, 0, PAGE, at).unwrap_or_else(|error| panic!("{error}"));
    let (first, second) = (send(0), send(0));
    assert_ne!(first, second);
    let thread = std::thread::spawn(move || drive.advance(1_000_000_000).map(|done| (drive, done)));
    let Ok(Ok((mut drive, done))) = thread.join() else { panic!("it goes on there") };
    assert_eq!(done.len(), 2);
    let third = drive.submit(RequestKind::Read, 0, PAGE, 1_000_000_000).unwrap_or_else(|error| panic!("{error}"));
    assert!([first, second].contains(&third));
}

/// Requests of one time go in the order of their sending, whatever was sent before for later.
#[test]
fn times_decide_then_the_order_of_sending() {
    let mut drive = drive(&load(PROBE_DRIVE, &["device.channels=1"]));
    let mut send = |at| drive.submit(RequestKind::Write, 0, PAGE, at).unwrap_or_else(|error| panic!("{error}"));
    let tags = [30, 10, 10, 20].map(&mut send);
    let done = drive.advance(1_000_000_000).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(done.iter().map(|done| done.tag).collect::<Vec<_>>(), [tags[1], tags[2], tags[3], tags[0]]);
    assert!(done.iter().all(|done| done.latency_ns() > 0));
    assert!(drive.power_w() >= 0.0);
}

/// The power at an instant is that which follows, under every accounting: also where an array begins to work or ends
/// between two events, and where the next operation follows at once.
#[test]
fn power_is_that_from_an_instant_on() {
    for accounting in ["always_on", "flash_off", "busy_only", "busy_or_loading"] {
        let accounting = format!("energy.idle_accounting=\"{accounting}\"");
        let config = common::preset("energysim", &["device.channels=2", "device.ways=1", &accounting]);
        let (mut at, mut after) = (drive(&config), drive(&config));
        for drive in [&mut at, &mut after] {
            for request in [common::write(0, 0, 2), common::write(0, 2, 1), common::read(1_100_000, 0, 1)] {
                drive.send(request).unwrap_or_else(|error| panic!("{error}"));
            }
        }
        for us in (0..2_200).step_by(2) {
            at.advance(us * 1_000).unwrap_or_else(|error| panic!("{error}"));
            after.advance(us * 1_000 + 1).unwrap_or_else(|error| panic!("{error}"));
            common::assert_close(at.power_w(), after.power_w(), &format!("{accounting} at {us} µs"));
        }
    }
}

#[test]
fn the_example_prints_what_its_page_shows() {
    let page = include_str!("../../../../docs/embed.md");
    let shown =
        page.split("$ cargo run --release --example embedded\n").nth(1).and_then(|rest| rest.split("```").next());
    let printed = embedded::lines().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(shown, Some(format!("{}\n", printed.join("\n")).as_str()));
}

/// An SSD ignores the command to sleep, and nothing changes.
#[test]
fn an_ssd_does_not_sleep() {
    let config = common::small_drive(&[]);
    let energy = |sleeps: bool| {
        let mut drive = drive(&config);
        assert!(!sleeps || !drive.sleep().expect("it goes on"));
        drive.advance(5_000_000).expect("it goes on");
        drive.energy_j()
    };
    assert_eq!(energy(true), energy(false));
}
