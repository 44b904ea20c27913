//! Traces as input of a scheduler: taken at submission, refused if they were logged behind a scheduler.

use std::path::{Path, PathBuf};

use flashwatt::RunOptions;
use flashwatt::config::load;
use flashwatt::run;
use flashwatt_core::connector::{Next, Request, RequestKind};
use flashwatt_workload as workload;
use flashwatt_workload::settings::Workload as Settings;
use flashwatt_workload::trace::{FORMATS, LogPoint};
use serde_json::Value;

use crate::common::traces::real_traces;

const HOST: &str = "host.scheduler=mq_deadline";

/// A file that is removed when it is no longer needed.
struct File(PathBuf);

impl File {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("flashwatt-host-{}-{name}", std::process::id()));
        std::fs::write(&path, content).expect("a temporary file");
        File(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn sets(path: &Path, more: &[&str]) -> Vec<String> {
    let trace = [format!("workload.trace.path={}", path.display()), "workload.trace.fold=true".into()];
    trace.into_iter().chain(more.iter().map(ToString::to_string)).collect()
}

/// The requests and warnings of a trace, or the error.
fn opened(path: &Path, more: &[&str]) -> Result<(Vec<Request>, Vec<String>), String> {
    let config = load("", "test", &sets(path, more)).map_err(|error| error.to_string())?;
    assert!(matches!(config.workload, Settings::Trace(_)));
    let opened = workload::open(&config.workload, config.partition_bytes(), 1);
    let mut workload = opened.map_err(|error| error.to_string())?;
    let mut requests = Vec::new();
    while let Next::Request(_, request) = workload.next(u64::MAX).map_err(|error| error.to_string())? {
        requests.push(request);
    }
    Ok((requests, workload.warnings()))
}

fn refused(path: &Path, more: &[&str]) -> String {
    opened(path, more).expect_err("it was logged behind a scheduler")
}

/// One request through the block layer: queued by process 7, issued by a kernel thread, and completed.
const BLKPARSE: &[u8] = b"\
    8,0 0 1 0.000000000 7 Q W 64 + 8 [dd]\n\
    8,0 0 2 0.000001000 7 Q W 72 + 8 [dd]\n\
    8,0 0 3 0.000002000 9 Q WS 800 + 8 [sync]\n\
    8,0 0 4 0.000003000 9 Q R 400 + 8 [cat]\n\
    8,0 0 5 0.000004000 11 D W 64 + 16 [kworker]\n\
    8,0 0 6 0.000005000 11 D WS 800 + 8 [kworker]\n\
    8,0 0 7 0.000006000 11 D R 400 + 8 [kworker]\n\
    8,0 0 8 0.000900000 0 C W 64 + 16 [0]\n";

#[test]
fn every_format_says_where_it_logs() {
    for format in FORMATS {
        assert_eq!(format.logged.len(), format.events.len().max(1), "{}", format.name);
    }
}

#[test]
fn blkparse_is_taken_at_submission_with_its_processes() {
    let file = File::new("q.blkparse", BLKPARSE);
    let (straight, _) = opened(&file.0, &[]).expect("a good trace");
    assert_eq!(straight.iter().map(|request| request.bytes).collect::<Vec<_>>(), [8192, 4096, 4096], "as issued");
    for named in [&[HOST][..], &[HOST, "workload.trace.format=blkparse"], &[HOST, "workload.trace.format=blkparse:Q"]] {
        let (requests, warnings) = opened(&file.0, named).expect("a good trace");
        let found: Vec<_> = requests.iter().map(|one| (one.process, one.bytes, one.kind, one.is_sync)).collect();
        let write = |process, is_sync| (process, 4096, RequestKind::Write, is_sync);
        let expected = [write(0, false), write(0, false), write(1, true), (1, 4096, RequestKind::Read, true)];
        assert_eq!(found, expected, "{named:?}");
        let told = "read as blkparse:Q: the scheduler of [host] gets requests as processes send them, not D events";
        let is_told = warnings.iter().any(|warning| warning.contains(told));
        assert_eq!(is_told, named.last() != Some(&"workload.trace.format=blkparse:Q"), "{warnings:?}");
    }
}

#[test]
fn a_stream_behind_a_scheduler_is_refused_unless_it_is_accepted() {
    let file = File::new("d.blkparse", BLKPARSE);
    let dispatched = "workload.trace.format=blkparse:D";
    let message = refused(&file.0, &[HOST, dispatched]);
    for part in [
        "d.blkparse",
        "logged behind a scheduler",
        "found blkparse:D: requests as a drive gets them",
        "expected requests as processes send them, such as blkparse:Q",
        "workload.trace.dispatched = \"accept\"",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(refused(&file.0, &[HOST, "workload.trace.format=blkparse:C"]).contains("found blkparse:C"));
    assert!(opened(&file.0, &[dispatched]).is_ok(), "without a scheduler");
    let accept = "workload.trace.dispatched=accept";
    let (requests, warnings) = opened(&file.0, &[HOST, dispatched, accept]).expect("accepted");
    assert_eq!(requests.len(), 3);
    let is_told = |warning: &String| warning.contains("logged behind a scheduler (blkparse:D)");
    assert!(warnings.iter().any(is_told), "{warnings:?}");
}

/// Our own log of dispatches is one, too: as the drive gets it, after merging.
#[test]
fn our_dispatch_log_is_a_stream_behind_a_scheduler() {
    let source = File::new("source.csv", b"0,0,W,0,4096\n0,0,W,4096,4096\n0,0,R,65536,4096\n");
    let log = File(std::env::temp_dir().join(format!("flashwatt-host-{}-dispatched.csv", std::process::id())));
    let config = load("", "test", &sets(&source.0, &[HOST, "host.queue_depth=1"])).expect("a configuration");
    let options = RunOptions { dispatch_log: Some(log.0.clone()), ..RunOptions::default() };
    for _ in 0..2 {
        // The second log replaces the first one: it is recognised.
        run(&config, &options, &mut |_| true).expect("a run");
    }
    let message = refused(&log.0, &[HOST]);
    for part in [
        "dispatched.csv",
        "logged behind a scheduler",
        "found csv that begins with `# logged at dispatch`: requests as a drive gets them",
        "expected requests as processes send them, such as blkparse:Q",
        "workload.trace.dispatched = \"accept\"",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let (straight, warnings) = opened(&log.0, &[]).expect("without a scheduler");
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(straight.iter().map(|request| request.bytes).sum::<u64>(), 3 * 4096);
    let (accepted, warnings) = opened(&log.0, &[HOST, "workload.trace.dispatched=accept"]).expect("accepted");
    assert_eq!(accepted.len(), 3);
    let is_told =
        |warning: &String| warning.contains("behind a scheduler (csv that begins with `# logged at dispatch`)");
    assert!(warnings.iter().any(is_told), "{warnings:?}");
}

/// The mark is that of a whole line, with any end, and of the first one.
#[test]
fn the_mark_of_a_dispatch_log_is_its_first_line() {
    let of = |first: &str| {
        let file = File::new("marked.csv", format!("{first}0,0,W,0,4096\n").as_bytes());
        opened(&file.0, &[HOST]).map(|(requests, _)| requests.len())
    };
    for marked in ["# logged at dispatch\n", "# logged at dispatch\r\n", "\u{feff}# logged at dispatch\n"] {
        assert!(of(marked).expect_err("marked").contains("behind a scheduler"), "{marked:?}");
    }
    for other in ["", "# logged at dispatches\n", "# logged\n", "0,0,R,0,512\n# logged at dispatch\n"] {
        assert!(of(other).is_ok(), "{other:?}");
    }
}

/// The option in the report's configuration, the warning in its list; neither without them.
#[test]
fn the_report_carries_the_warning() {
    let file = File::new("r.blkparse", BLKPARSE);
    let of = |more: &[&str]| -> Value {
        let config = load("", "test", &sets(&file.0, more)).expect("a configuration");
        let report = run(&config, &RunOptions::default(), &mut |_| true).expect("a run");
        serde_json::to_value(&report).expect("a report is JSON")
    };
    let small = "device.scale=1/64";
    let accepted = of(&[HOST, small, "workload.trace.format=blkparse:D", "workload.trace.dispatched=accept"]);
    assert!(accepted["warnings"].to_string().contains("logged behind a scheduler"), "{}", accepted["warnings"]);
    assert_eq!(accepted["config"]["workload"]["trace"]["dispatched"], "accept");
    let queued = of(&[HOST, small]);
    assert!(!queued["warnings"].to_string().contains("logged behind"), "{}", queued["warnings"]);
    assert!(queued["config"]["workload"]["trace"].get("dispatched").is_none());
}

#[test]
fn the_option_needs_a_scheduler() {
    let message = refused(Path::new("a"), &["workload.trace.dispatched=accept"]);
    assert!(message.contains("workload.trace.dispatched: has no effect"), "{message}");
    assert!(message.contains("[host]"), "{message}");
}

/// The examples of the formats: what is logged at dispatch is refused, at submission taken, and of others nobody knows.
#[test]
fn each_format_is_treated_as_it_says() {
    for format in FORMATS {
        let file = File::new(&format!("example.{}", format.name), format.example);
        for event in 0..format.events.len().max(1) {
            let name = format.events.get(event).map_or(format.name.to_string(), |one| format!("{}:{one}", format.name));
            let named = format!("workload.trace.format={name}");
            let result = opened(&file.0, &[HOST, &named]);
            let text = result.as_ref().map_or_else(Clone::clone, |(_, warnings)| warnings.join("; "));
            match format.logged_at(event) {
                LogPoint::Dispatch => assert!(result.is_err() && text.contains("behind a scheduler"), "{name}: {text}"),
                LogPoint::Submission => assert!(!text.contains("behind a scheduler"), "{name}: {text}"),
                LogPoint::Unknown => assert!(result.is_ok() && text.contains("does not say"), "{name}: {text}"),
            }
        }
    }
}

/// The real traces: the captures at submission have processes; logs of drives, servers and hypervisors are refused.
#[test]
fn real_traces_are_treated_as_their_formats_say() {
    let Some(folder) = real_traces() else { return };
    let (few, skip) = ("workload.trace.max_requests=2000", "workload.trace.skip_bad=true");
    for name in ["ext2-fio.tracefs.gz", "java-ext4.blkparse.gz", "ycsb-rocksdb.blkparse.gz", "nilfs2-sample.blktrace.0"]
    {
        match opened(&folder.join(name), &[HOST, few, skip]) {
            Ok((requests, warnings)) => {
                assert!(
                    warnings.iter().any(|warning| warning.contains("gets requests as processes send them")),
                    "{name}"
                );
                assert!(requests.len() > 100, "{name}: {}", requests.len());
            }
            Err(message) => {
                // A capture of dispatches alone.
                assert!(
                    message.contains("logged behind a scheduler") && message.contains("accept"),
                    "{name}: {message}"
                );
                let accept = "workload.trace.dispatched=accept";
                assert!(opened(&folder.join(name), &[HOST, few, skip, accept]).is_ok(), "{name}");
            }
        }
    }
    for name in ["desktop-87k.diskmon.gz", "varmail-ext2.nbdlog.csv.gz", "cloudphysics-114k.vscsi.gz"] {
        assert!(refused(&folder.join(name), &[HOST, few]).contains("logged behind a scheduler"), "{name}");
        assert!(opened(&folder.join(name), &[few]).is_ok(), "{name} without a scheduler");
    }
    for name in ["prxy0-20k.msr.csv.gz", "financial1-949.spc.gz", "msnfs-150k.disksim.gz"] {
        let (_, warnings) =
            opened(&folder.join(name), &[HOST, few]).unwrap_or_else(|message| panic!("{name}: {message}"));
        assert!(warnings.iter().any(|warning| warning.contains("does not say whether")), "{name}: {warnings:?}");
    }
}
