use std::collections::VecDeque;

use super::*;
use flashwatt_core::connector::{Completion, Request, RequestKind, Tag};

mod against_fio;
mod constraints;
mod ends;

const DRIVE: u64 = 64 << 20;
const MS: Nanos = 1_000_000;

fn parse(text: &str) -> FioWorkload {
    FioWorkload::parse(text, "job.fio", true, DRIVE, 1).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// Every request with its issue time as arrival time. Reads take a quarter of a millisecond, all other requests 1 ms.
fn drain(text: &str) -> Vec<Request> {
    let mut workload = parse(text);
    let (mut now, mut requests, mut ends) = (0, Vec::new(), VecDeque::<(Nanos, Tag)>::new());
    loop {
        let next = workload.next(now).expect("no errors");
        let first = ends.iter().map(|(at, _)| *at).min();
        match (next, first) {
            (Next::Request(tag, request), _) => {
                assert_eq!(request.arrival_ns, now, "fio's loops are closed");
                requests.push(request);
                ends.push_back((now + if request.kind == RequestKind::Read { MS / 4 } else { MS }, tag));
            }
            (Next::WaitUntil(at), end) if end.is_none_or(|end| at < end) => {
                assert!(at > now);
                now = at;
            }
            (Next::Measure, _) => {}
            (Next::End, None) => return requests,
            (_, Some(end)) => {
                let at = ends.iter().position(|(at, _)| *at == end).expect("it is the least of them");
                now = end;
                let (_, tag) = ends.remove(at).expect("it was found");
                workload.completed(&Completion::done(tag), now);
            }
            (wait, None) => panic!("{wait:?} with nothing outstanding"),
        }
        assert!(requests.len() < 1_000_000, "no end");
    }
}

fn offsets(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(|r| r.offset_bytes).collect()
}

fn fault(text: &str) -> String {
    FioWorkload::parse(text, "job.fio", true, DRIVE, 1).err().expect("it is wrong").to_string()
}

/// fio's `rw=randwrite:N`: N requests in a row from each random place.
#[test]
fn a_row_of_requests_starts_at_each_random_place() {
    let requests = drain("[a]\nrw=randwrite:4\nbs=4k\nblockalign=16k\nsize=1m\nio_size=64k\n");
    let offsets = offsets(&requests);
    for row in offsets.chunks(4) {
        assert_eq!(row, [0, 4096, 8192, 12_288].map(|at| row[0] + at), "four in a row");
        assert!(row[0].is_multiple_of(16_384));
    }
    for (rw, found) in [("randwrite:0", "randwrite:0"), ("write:8", "write:8"), ("randread:x", "randread:x")] {
        let error = fault(&format!("[a]\nrw={rw}\nsize=64k\n"));
        assert!(error.contains(found) && error.contains("in a row"), "{error}");
    }
}

#[test]
fn a_sequential_job_goes_over_its_size_once() {
    let requests = drain("[a]\nrw=write\nbs=8k\nsize=32k\noffset=1m\n");
    assert_eq!(offsets(&requests), [0, 8, 16, 24].map(|k| (1 << 20) + k * 1024));
    assert!(requests.iter().all(|r| r.kind == RequestKind::Write && r.bytes == 8192));
    assert_eq!(requests[3].arrival_ns, 3 * MS, "one at a time");
}

#[test]
fn global_options_hold_for_the_jobs_after_them() {
    let requests =
        drain("# comment\n; comment\n[global]\nbs=4k\nsize=8k\n\n[a]\nrw=write\n[global]\nsize=4k\n[b]\nstonewall\n");
    let seen: Vec<_> = requests.iter().map(|r| (r.kind, r.offset_bytes)).collect();
    let (read, write) = (RequestKind::Read, RequestKind::Write);
    assert_eq!(seen, [(write, 0), (write, 4096), (read, 0)]);
}

#[test]
fn random_jobs_touch_every_block_once_and_then_again() {
    let requests = drain("[a]\nrw=randread\nbs=4k\nsize=1m\nio_size=2m\n");
    let (first, second) = requests.split_at(256);
    assert_eq!(offsets(first), offsets(second), "fio's randrepeat");
    let requests = drain("[a]\nrw=randread\nbs=4k\nsize=1m\nio_size=2m\nrandseed=3\n");
    let (first, second) = requests.split_at(256);
    assert_ne!(offsets(first), offsets(second));
    for pass in [first, second] {
        let mut sorted = offsets(pass);
        assert_ne!(sorted, (0..256).map(|k| k * 4096).collect::<Vec<_>>());
        sorted.sort_unstable();
        assert_eq!(sorted, (0..256).map(|k| k * 4096).collect::<Vec<_>>());
    }
    let mut drawn = offsets(&drain("[a]\nrw=randread\nsize=1m\nnorandommap\n"));
    drawn.sort_unstable();
    drawn.dedup();
    assert!((140..190).contains(&drawn.len()), "1 - 1/e of 256: {}", drawn.len());
}

#[test]
fn a_mix_has_its_share_and_each_direction_its_sequence_and_size() {
    let requests = drain("[a]\nrw=rw\nbs=4k,16k\nsize=16m\nrwmixread=70\nnumber_ios=2000\n");
    let reads: Vec<_> = requests.iter().filter(|r| r.kind == RequestKind::Read).collect();
    let writes: Vec<_> = requests.iter().filter(|r| r.kind == RequestKind::Write).collect();
    assert!(reads.len().abs_diff(1400) < 80 && reads.len() + writes.len() == 2000, "{}", reads.len());
    assert!(reads.iter().zip(0..).all(|(r, n)| (r.offset_bytes, r.bytes) == (n * 4096, 4096)));
    assert!(writes.iter().zip(0..).all(|(r, n)| (r.offset_bytes, r.bytes) == (n * 16_384, 16_384)));
    assert_eq!(
        drain("[a]\nrw=randrw\nrwmixwrite=0\nsize=64k\n").iter().filter(|r| r.kind == RequestKind::Write).count(),
        0
    );
}

#[test]
fn block_sizes_split_and_range() {
    let requests = drain("[a]\nrw=randwrite\nbssplit=4k/60:16k/:64k/10\nsize=32m\nnumber_ios=10000\nnorandommap\n");
    let share = |bytes| requests.iter().filter(|r| r.bytes == bytes).count() as f64 / requests.len() as f64;
    for (bytes, expected) in [(4096, 0.6), (16_384, 0.3), (65_536, 0.1)] {
        assert!((share(bytes) - expected).abs() < 0.02, "{bytes}: {}", share(bytes));
    }
    let requests = drain("[a]\nrw=randwrite\nbsrange=4k-16k\nsize=32m\nio_size=8m\n");
    assert_eq!(requests.iter().map(|r| r.bytes / 4096).collect::<std::collections::BTreeSet<_>>().len(), 4);
}

#[test]
fn depth_clones_and_stages() {
    let text =
        "[a]\nrw=randread\nsize=64k\niodepth=4\nnumjobs=2\noffset_increment=1m\n[b]\nstonewall\nrw=write\nsize=8k\n";
    let requests = drain(text);
    assert_eq!(requests.len(), 34);
    assert_eq!(requests.iter().filter(|r| r.arrival_ns == 0).count(), 8, "four of each clone");
    assert_eq!(requests.iter().filter(|r| (1 << 20..2 << 20).contains(&r.offset_bytes)).count(), 16);
    assert_eq!((requests[32].kind, requests[32].arrival_ns), (RequestKind::Write, MS), "after all of the first stage");
    assert_ne!(offsets(&requests[..4]), offsets(&requests[4..8]));
}

/// Each job keeps its own queue depth, independent of the times of the other job's requests.
#[test]
fn different_jobs_run_at_the_same_time() {
    let requests = drain("[global]\nsize=1m\n[r]\nrw=randread\niodepth=2\n[w]\nrw=write\niodepth=3\n");
    for (kind, depth, takes) in [(RequestKind::Read, 2, MS / 4), (RequestKind::Write, 3, MS)] {
        let mine: Vec<Nanos> = requests.iter().filter(|r| r.kind == kind).map(|r| r.arrival_ns).collect();
        let expected: Vec<Nanos> = (0..256).map(|n| n / depth * takes).collect();
        assert_eq!(mine, expected, "{kind:?}");
    }
}

#[test]
fn time_is_simulated() {
    let of = |text: &str| drain(text).len();
    assert_eq!(of("[a]\nrw=write\nsize=8k\nruntime=100ms\ntime_based\n"), 100, "one a millisecond");
    assert_eq!(of("[a]\nrw=write\nsize=8k\nruntime=100ms\n"), 2, "whichever ends first");
    assert_eq!(of("[a]\nrw=write\nsize=16m\nruntime=0.1\n"), 100);
    let late = drain("[a]\nrw=write\nsize=8k\nstartdelay=3ms\n");
    assert_eq!(late[0].arrival_ns, 3 * MS);
    assert_eq!(of("[a]\nrw=write\nsize=8k\nloops=3\n"), 6);
}

#[test]
fn rates_limit_each_direction() {
    let last = |text: &str| drain(text).last().map(|r| r.arrival_ns).unwrap_or_default();
    assert_eq!(last("[a]\nrw=write\nsize=44k\nrate_iops=100\n"), 100 * MS, "eleven, 10 ms apart");
    assert_eq!(last("[a]\nrw=write\nsize=44k\nrate=400k\niodepth=8\n"), 100 * MS, "4k each 10 ms");
    let mix = drain("[a]\nrw=randrw\nsize=16m\nrate_iops=100,50\nruntime=10\niodepth=16\n");
    let reads = mix.iter().filter(|r| r.kind == RequestKind::Read).count();
    assert!(mix.len() <= 1500 && mix.len() - reads <= 501 && reads <= 1001, "{reads} of {}", mix.len());
    let limited = |rate: &str| last(&format!("[a]\nrw=write\nsize=44k\nrate_iops={rate}\n"));
    assert_eq!(
        (limited(",100"), limited("100,"), limited("7,100")),
        (100 * MS, 10 * MS, 100 * MS),
        "writes alone, reads alone"
    );
    let poisson = drain("[a]\nrw=randread\nsize=64m\nrate_iops=100\nrate_process=poisson\nruntime=100\niodepth=32\n");
    assert!(poisson.len().abs_diff(10_000) < 400, "{}", poisson.len());
}

#[test]
fn a_job_thinks_when_its_requests_are_done() {
    let requests = drain("[a]\nrw=write\nsize=16k\nthinktime=5ms\nthinktime_blocks=2\niodepth=2\n");
    // As fio reaps one at a time: at the second check two have completed, and one is under way.
    assert_eq!(requests.iter().map(|r| r.arrival_ns / MS).collect::<Vec<_>>(), [0, 0, 1, 7]);
    let requests = drain("[a]\nrw=write\nsize=12k\nthinktime=500\n");
    assert_eq!(requests.iter().map(|r| r.arrival_ns).collect::<Vec<_>>(), [0, 1_500_000, 3_000_000]);
}

#[test]
fn syncs_are_flushes_or_forced_writes() {
    let kinds = |text: &str| drain(text).iter().map(|r| (r.kind == RequestKind::Flush, r.fua)).collect::<Vec<_>>();
    let (write, flush) = ((false, false), (true, false));
    assert_eq!(kinds("[a]\nrw=write\nsize=16k\nfsync=2\n"), [write, write, flush, write, write]);
    assert_eq!(kinds("[a]\nrw=write\nsize=8k\nsync=1\n"), [(false, true), (false, true)]);
}

#[test]
fn distributions_are_skewed() {
    let hottest = |distribution: &str| {
        let text = format!("[a]\nrw=randread\nsize=4m\nio_size=40m\nrandseed=1\nrandom_distribution={distribution}\n");
        let mut counts = vec![0; 1024];
        drain(&text).iter().for_each(|r| counts[(r.offset_bytes / 4096) as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts[..205].iter().sum::<u32>() as f64 / 10_240.0
    };
    assert!((hottest("random") - 0.2).abs() < 0.001);
    assert!((hottest("pareto:0.2") - 0.8).abs() < 0.02);
    assert!((hottest("zoned:80/20:20/80") - 0.8).abs() < 0.03, "{}", hottest("zoned:80/20:20/80"));
    assert!(hottest("zipf:1.2") > 0.85);
    // The mean of twelve draws deviates by 1/12, a draw of width 0.1 by 0.1/√12: 0.088 together, so that a fifth of the places, 1.136
    // deviations on each side of the middle, has 74 % of the requests.
    assert!((hottest("normal:10") - 0.74).abs() < 0.03, "{}", hottest("normal:10"));
}

#[test]
fn the_number_of_requests_is_known_beforehand_where_it_can_be() {
    let len = |text: &str| parse(text).len_hint();
    assert_eq!(len("[a]\nsize=1m\nnumjobs=3\n"), Some(768));
    assert_eq!(len("[a]\nsize=1m\nruntime=1\n"), None);
    assert_eq!(len("[a]\nsize=1m\nbs=4k,8k\n"), Some(256), "it reads only");
    assert_eq!(len("[a]\nrw=rw\nsize=1m\nbs=4k,8k\n"), None);
}

#[test]
fn one_seed_is_one_stream_and_a_job_may_have_its_own() {
    let of = |text: &str, seed| {
        let mut workload = FioWorkload::parse(text, "job.fio", true, DRIVE, seed).expect("a good job");
        let mut offsets = Vec::new();
        while let Ok(Next::Request(_, r)) = workload.next(0) {
            offsets.push(r.offset_bytes);
        }
        offsets
    };
    let (free, fixed) = ("[a]\nrw=randread\niodepth=64\n", "[a]\nrw=randread\niodepth=64\nrandseed=5\n");
    assert_eq!(of(free, 1), of(free, 1));
    assert_ne!(of(free, 1), of(free, 2));
    assert_eq!(of(fixed, 1), of(fixed, 2));
}

#[test]
fn several_sizes_use_each_place_once() {
    let requests = drain("[a]\nrw=randwrite\nbsrange=4k-16k\nsize=1m\n");
    let mut places: Vec<(u64, u64)> = requests.iter().map(|r| (r.offset_bytes, r.bytes)).collect();
    places.sort_unstable();
    let end = places.iter().fold(0, |end, (first, bytes)| {
        assert_eq!(*first, end, "neither a gap nor an overlap");
        first + bytes
    });
    assert_eq!(end, 1 << 20);
}

/// In fio each clone without `filename` has a file of its own.
#[test]
fn jobs_that_share_the_drive_are_warned_of() {
    let shares = |text: &str| parse(text).warnings().iter().any(|one| one.contains("files of their own"));
    assert!(shares("[a]\nsize=1m\n[b]\nsize=1m\n") && shares("[a]\nsize=1m\nnumjobs=2\n"));
    assert!(shares("[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\n"));
    assert!(!shares("[a]\nsize=1m\n") && !shares("[a]\nfilename=x\nnumjobs=2\n[b]\nfilename=x\n"));
    assert!(!shares("[a]\nsize=1m\nnumjobs=2\noffset_increment=1m\n"));
}

#[test]
fn an_option_that_counts_for_nothing_is_warned_of() {
    let twice = parse("[global]\nbs=4k\n[a]\nbs=8k\nrw=read\nrw=randread\n").warnings();
    assert_eq!(twice, ["job.fio:6: rw: given twice; `randread` replaces `read` of line 5"]);
    let share = parse("[a]\nrw=randread\nrwmixread=70\n").warnings();
    assert_eq!(share, ["job.fio:3: rwmixread has no effect; found rw=randread; expected rw or randrw"]);
    assert_eq!(
        parse("[global]\nfilename=x\nrwmixread=70\n[a]\nrw=read\n[b]\nrw=rw\n").warnings(),
        Vec::<String>::new()
    );
}

/// fio's `buffered` is the opposite of its `direct`; of both the later one counts, and those of the job come after [global].
#[test]
fn a_page_cache_is_warned_of() {
    let lines = |text: &str| -> Vec<String> {
        let warnings = parse(text).warnings();
        assert!(warnings.iter().all(|one| one.contains("no page cache") && one.contains("host.async_writes")));
        warnings.iter().map(|one| one.split(" has no effect").next().expect("a place").to_string()).collect()
    };
    let none: [&str; 0] = [];
    assert_eq!(lines("[a]\nrw=write\n"), none);
    assert_eq!(lines("[a]\nrw=write\ndirect=1\n"), none);
    assert_eq!(lines("[a]\nrw=write\ndirect\n"), none);
    assert_eq!(lines("[a]\nrw=write\nbuffered=0\n"), none);
    assert_eq!(lines("[a]\nrw=write\ndirect=0\n"), ["job.fio:3: direct=0"]);
    assert_eq!(lines("[a]\nrw=write\nbuffered\n"), ["job.fio:3: buffered"]);
    assert_eq!(lines("[a]\nrw=write\nbuffered=1\ndirect=1\n"), none);
    assert_eq!(lines("[a]\nrw=write\ndirect=1\nbuffered=1\n"), ["job.fio:4: buffered=1"]);
    assert_eq!(
        lines("[global]\nbuffered=1\nfilename=x\n[a]\nrw=read\n[b]\nrw=write\n"),
        ["job.fio:2: buffered=1"],
        "once"
    );
    assert_eq!(lines("[global]\nbuffered=1\nfilename=x\n[a]\ndirect=1\n[b]\ndirect=0\n"), ["job.fio:7: direct=0"]);
    assert!(fault("[a]\ndirect=2\n").contains("job.fio:2: direct: not a value of this option"));
    assert_eq!(drain("[a]\nrw=write\nsize=64k\ndirect=0\n"), drain("[a]\nrw=write\nsize=64k\n"));
}

/// Broken files, and the parts of the message that names the fault.
const BROKEN: &[(&str, &[&str])] = &[
    ("[a]\nrw=randread\nblocksze=4k\n", &["job.fio:3: blocksze", "not understood", "did you mean `blocksize`?"]),
    ("[a]\nrw=randreed\n", &["job.fio:2: rw", "`randreed`", "randread", "did you mean `randread`?"]),
    ("[a]\nzonemode=zbd\n", &["job.fio:2: zonemode", "zoned drives (ZNS) are not simulated"]),
    ("[a]\nsize=2z\n", &["job.fio:2: size", "zoned drives (ZNS) are not simulated"]),
    ("[a]\nioengine=filecreate\n", &["job.fio:2: ioengine", "filecreate: it works on the names of files"]),
    ("[a]\nioengine=libiao\n", &["job.fio:2: ioengine", "did you mean `libaio`?"]),
    ("[a]\npre_read=1\n", &["job.fio:2: pre_read", "page cache"]),
    ("[a]\nrate_iops=0.01\n", &["job.fio:2: rate_iops", "a whole rate"]),
    ("[a]\nrw=${RW}\n", &["job.fio:2: rw", "the environment does not have", "`${RW}`"]),
    ("[a]\nwait_for=b\n[b]\n", &["job.fio:2: wait_for", "no job of this name before"]),
    ("[a]\nfilesize=4k-8k\n", &["job.fio:2: filesize", "range of sizes"]),
    ("[a]\nverify=md5\ntrim_backlog=4\n", &["job.fio:3: trim_backlog", "between verified writes"]),
    ("[a]\nbs=5000\n", &["job.fio:2: bs", "`5000`", "multiples of 512"]),
    ("[a]\nbs=4k,8k,4k,4k\n", &["job.fio:2: bs"]),
    ("[a]\nbssplit=4k/60:8k/60\n", &["job.fio:2: bssplit", "4k/60:64k/40"]),
    ("[a]\niodepth=0\n", &["job.fio:2: iodepth", "from 1 to 65536"]),
    ("[a]\nrwmixread=170\n", &["job.fio:2: rwmixread", "percentage"]),
    ("[a]\nrw=rw\nrwmixread=70\nrwmixwrite=70\n", &["job.fio:4: rwmixwrite", "contradicts", "30"]),
    ("[a]\nsize=65m\n", &["job.fio:2: size", "beyond the drive", "67108864"]),
    ("[a]\nsize=32m\nnumjobs=3\noffset_increment=32m\n", &["job.fio:4: offset_increment", "beyond the drive"]),
    ("[a]\nsize=1m\noffset=100g\n", &["job.fio:3: offset", "beyond the drive", "67108864"]),
    ("[a]\nsize=4k\nbs=8k\n", &["job.fio:2: size", "longer than the size of the job"]),
    ("[a]\nruntime=abc\n", &["job.fio:2: runtime", "`abc`", "2m"]),
    ("[a]\ntime_based\n", &["job.fio:2: time_based", "runtime"]),
    ("[a]\nrandom_distribution=zipff:1.2\n", &["job.fio:2: random_distribution", "zipf:1.2"]),
    ("[a]\nrandom_distribution=zoned:50/50:40/50\n", &["job.fio:2: random_distribution"]),
    ("[a]\nrate=1m\nrate_iops=100\n", &["job.fio:3: rate_iops", "one of them"]),
    ("[a]\nbssplit=4k/50:8k/50\nbsrange=4k-8k\n", &["job.fio:3: bsrange", "two rules for the lengths"]),
    ("[a]\nrate_process=poisson\n", &["job.fio:2: rate_process", "rate_iops"]),
    ("rw=read\n[a]\n", &["job.fio:1", "before any section"]),
    ("[global]\nbs=4k\n", &["no job in the file", "no section but [global]", "[NAME]"]),
    ("", &["job.fio", "no job in the file", "an empty file"]),
    ("[a\nrw=read\n", &["job.fio:1", "the bracket is not closed", "`[a]`"]),
    ("[a]\nrw: randread\n", &["job.fio:2: rw: randread", "a colon for an equals sign", "`rw=randread`"]),
    ("[a]\ninclude base.fio\n", &["job.fio:2", "write the options into one file"]),
];

#[test]
fn every_fault_is_named() {
    for (text, parts) in BROKEN {
        let Err(Error::Config(faults)) = FioWorkload::parse(text, "job.fio", true, DRIVE, 1) else {
            panic!("{text}: accepted")
        };
        let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let named = lines.iter().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(named, "{text}: {parts:?} not in\n{}", lines.join("\n"));
    }
}

/// No simulated time passes while a start state is laid down, so `runtime` is a fault there.
#[test]
fn a_start_state_has_no_runtime() {
    let of = |text: &str| FioWorkload::parse(text, "job.fio", false, DRIVE, 1).map(|_| ());
    assert!(of("[a]\nrw=write\nthinktime=5\n").is_ok());
    let Err(error) = of("[a]\nrw=write\ntime_based\nruntime=5\n") else { panic!("it would never end") };
    assert!(error.to_string().contains("job.fio:4: runtime") && error.to_string().contains("io_size"), "{error}");
}

#[test]
fn all_faults_come_at_once() {
    let text = "[a]\nrw=nothing\nbs=x\niodepth=-1\nunheard_of=1\n";
    let Err(Error::Config(faults)) = FioWorkload::parse(text, "job.fio", true, DRIVE, 1) else { panic!("accepted") };
    assert_eq!(faults.iter().map(|fault| fault.place.line).collect::<Vec<_>>(), [Some(2), Some(3), Some(4), Some(5)]);
}

#[test]
fn options_without_effect_are_accepted_and_have_none() {
    let plain = drain("[a]\nrw=randwrite\nsize=1m\n");
    for name in WITHOUT_EFFECT {
        assert_eq!(drain(&format!("[a]\nrw=randwrite\nsize=1m\n{name}=1\n")), plain, "{name}");
        assert!(options::canonical(name, &[]).is_none(), "{name} is understood as well");
    }
}

/// Every option that is understood, and every option that is accepted without effect, stands in the documentation.
#[test]
fn the_documentation_lists_every_option() {
    // Read when the test runs: the crate is also built where the documentation is not.
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/workloads.md");
    let text = std::fs::read_to_string(page).expect("the page");
    let names = UNDERSTOOD.iter().flat_map(|(names, _)| names.iter()).chain(WITHOUT_EFFECT);
    for name in names {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "(\\[[a-z]{1,6}\\]\n|(rw|bs|size|bssplit|bsrange|rate|offset|numjobs|random_distribution|runtime)=[0-9a-z:/,.%-]{0,12}\n){0,12}") {
        if let Ok(mut workload) = FioWorkload::parse(&text, "job.fio", true, DRIVE, 1) {
            for now in 0..50 {
                proptest::prop_assert!(workload.next(now).is_ok());
            }
        }
    }
}
