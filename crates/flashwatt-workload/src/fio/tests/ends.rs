//! Ends of jobs, rates and pauses: which of two constraints yields. `docs/workloads.md` has the table.

use super::*;

fn count(requests: &[Request], kind: RequestKind) -> usize {
    requests.iter().filter(|r| r.kind == kind).count()
}

/// When a job of one write begins whose stage follows this one.
fn next_stage_begins(job: &str) -> Nanos {
    let text = format!("[global]\nfilename=x\n[a]\n{job}\n[after]\nstonewall\nrw=write\nsize=4k\nbs=4k\n");
    drain(&text).last().map(|r| r.arrival_ns).expect("a request")
}

/// A rate goes before the share of reads: fio 3.33 gave 400 reads and 100 writes in 2 s.
#[test]
fn a_rate_goes_before_the_share_of_reads() {
    let text = "[a]\nrw=randrw\nrwmixread=50\nsize=32m\nrate_iops=200,50\ntime_based\nruntime=2\niodepth=4\n";
    let requests = drain(text);
    assert_eq!((count(&requests, RequestKind::Read), count(&requests, RequestKind::Write)), (400, 100));
    // No share for writes: their rate does not count.
    let reads = drain("[a]\nrw=rw\nrwmixread=100\nrate_iops=100,50\nsize=32m\ntime_based\nruntime=1\n");
    assert_eq!((reads.len(), count(&reads, RequestKind::Read)), (100, 100));
    // A direction without a rate takes all turns that the other one leaves.
    let mix = drain("[a]\nrw=rw\nrate_iops=10,\nsize=32m\ntime_based\nruntime=100ms\n");
    assert!(count(&mix, RequestKind::Read) <= 2 && mix.len() > 95, "{}", mix.len());
}

/// A pause, a rate's slot and a delay end with the runtime, and the next stage begins then.
#[test]
fn the_runtime_cuts_what_sleeps() {
    for job in [
        "rw=write\ntime_based\nruntime=2\nthinktime=100s",
        "rw=write\ntime_based\nruntime=2\nrate_iops=1\nbs=4k\nthinktime=7s",
        "rw=write\ntime_based\nruntime=2\nrate=1000",
        "rw=write\nsize=1m\nruntime=2\nrate_iops=1,1\nthinktime=5s",
        "rw=write\nramp_time=1\ntime_based\nruntime=1\nthinktime=100s",
    ] {
        assert_eq!(next_stage_begins(job), 2000 * MS, "{job}");
    }
    // The delay comes before the runtime.
    assert_eq!(next_stage_begins("rw=write\nstartdelay=3\ntime_based\nruntime=2\nthinktime=9s"), 5000 * MS);
}

/// fio 3.33: `time_based` goes on where `size`, `io_size`, `number_ios` and `loops` end.
#[test]
fn time_goes_before_size_and_number() {
    for given in ["number_ios=3", "io_size=8k", "loops=2"] {
        let requests = drain(&format!("[a]\nrw=write\nsize=16k\ntime_based\nruntime=50ms\n{given}\n"));
        assert_eq!(requests.len(), 50, "{given}");
    }
    assert_eq!(drain("[a]\nrw=write\nsize=16m\nruntime=50ms\nnumber_ios=3\n").len(), 3, "else what is first");
}

/// `exitall`: ten reads, 1 ms apart after 0.25 ms each, end a job of 100 writes a second.
#[test]
fn the_first_end_ends_all() {
    let text = |what: &str| {
        format!(
            "[global]\nfilename=x\nsize=32m\nbs=4k\n{what}\n[a]\nrw=read\nnumber_ios=10\nthinktime=1000\n[b]\nrw=write\n\
             rate_iops=100\ntime_based\nruntime=3\n[c]\nstonewall\nrw=trim\nnumber_ios=4\n"
        )
    };
    let counts = |what: &str| {
        let requests = drain(&text(what));
        [RequestKind::Read, RequestKind::Write, RequestKind::Trim].map(|kind| count(&requests, kind))
    };
    assert_eq!(counts(""), [10, 300, 4]);
    assert_eq!(counts("exitall"), [10, 2, 4], "its group: [c] begins another one");
    assert_eq!(counts("exitall\nexit_what=stonewall"), [10, 2, 4]);
    assert_eq!(counts("exitall\nexit_what=all"), [10, 2, 0]);
    let grouped = text("exitall").replace("[b]\n", "[b]\nnew_group\n");
    assert_eq!(count(&drain(&grouped), RequestKind::Write), 300, "another group goes on");
}

#[test]
fn a_job_waits_for_another() {
    let text = "[global]\nfilename=x\n[a]\nrw=write\nsize=16k\nnumjobs=2\n[b]\nwait_for=a\nrw=read\nsize=4k\n";
    let requests = drain(text);
    assert_eq!(requests.len(), 9);
    assert_eq!((requests[8].kind, requests[8].arrival_ns), (RequestKind::Read, 4 * MS));
}

/// Weights of a flow: eight reads to each write, whatever each takes.
#[test]
fn a_flow_has_its_proportion() {
    let text =
        "[global]\nfilename=x\nsize=32m\ntime_based\nruntime=500ms\n[a]\nrw=write\nflow=1\n[b]\nrw=randread\nflow=8\n";
    let requests = drain(text);
    let (reads, writes) = (count(&requests, RequestKind::Read), count(&requests, RequestKind::Write));
    assert!(writes > 100 && reads.abs_diff(8 * writes) <= 9, "{reads} and {writes}");
}

/// A full queue of 4 takes requests again when 2 have completed; with `iodepth_low=1`, when 1 is left.
#[test]
fn a_full_queue_is_refilled_in_batches() {
    let times = |options: &str| {
        let text = format!("[a]\nrw=write\nsize=32k\niodepth=4\nthinktime=0\n{options}\n");
        drain(&text).iter().map(|r| r.arrival_ns / MS).collect::<Vec<_>>()
    };
    assert_eq!(times(""), [0, 0, 0, 0, 1, 1, 1, 1]);
    let text = "[a]\nrw=rw\nsize=64k\niodepth=4\niodepth_batch_complete_min=4\n";
    let requests = drain(text);
    for batch in requests.chunks(4) {
        assert!(batch.iter().all(|r| r.arrival_ns == batch[0].arrival_ns), "four at a time");
    }
}

/// A synchronous engine has one request outstanding, as in fio, and the report says so.
#[test]
fn a_synchronous_engine_has_one_request_at_a_time() {
    let text = "[a]\nrw=write\nsize=16k\niodepth=4\nioengine=psync\n";
    assert_eq!(drain(text).iter().map(|r| r.arrival_ns / MS).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let warnings = parse(text).warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("job.fio:5: ioengine=psync"), "{warnings:?}");
    assert!(parse("[a]\nioengine=null\n").warnings()[0].contains("moves no data in fio"));
}

/// The ramp comes before the runtime. It is left out of the report: the workload says when it ends.
#[test]
fn a_ramp_ends_the_warm_up() {
    let mut workload = parse("[a]\nrw=write\nsize=1m\nramp_time=10ms\ntime_based\nruntime=10ms\nrate_iops=1000\n");
    assert!(workload.prepares());
    let (mut now, mut before, mut after, mut measured) = (0, 0, 0, false);
    loop {
        match workload.next(now).expect("no errors") {
            Next::Request(tag, _) => {
                workload.completed(&Completion::done(tag), now);
                if measured { after += 1 } else { before += 1 }
            }
            Next::WaitUntil(at) => now = at,
            Next::Measure => {
                assert_eq!(now, 10 * MS);
                measured = true;
            }
            Next::End => break,
            Next::WaitForCompletion => panic!("all have completed"),
        }
    }
    assert_eq!((before, after, now), (10, 10, 20 * MS));
}

#[test]
fn pauses_count_requests_or_time() {
    let times = |options: &str| {
        let text = format!("[a]\nrw=write\nsize=16k\n{options}\n");
        drain(&text).iter().map(|r| r.arrival_ns / MS).collect::<Vec<_>>()
    };
    assert_eq!(times("thinktime=5ms\nthinktime_blocks=2\nthinktime_blocks_type=issue"), [0, 1, 7, 8]);
    assert_eq!(times("thinktime=5ms\nthinktime_iotime=1ms"), [0, 1, 2, 3], "the first pause is due after 6 ms");
    // One write in 10 ms, and a pause of 100 ms: without the option the job would catch up at once.
    let ignoring = times("rate_iops=100\nthinktime=100ms\nthinktime_blocks=2\nrate_ignore_thinktime=1");
    assert_eq!(ignoring, [0, 10, 111, 120]);
}

#[test]
fn a_delay_may_be_drawn() {
    for seed in 1..20 {
        let text = format!("[a]\nrw=write\nsize=4k\nstartdelay=1-2\nrandseed={seed}\n");
        let at = drain(&text)[0].arrival_ns;
        assert!((1000 * MS..=2000 * MS).contains(&at), "{at}");
    }
}

/// Requests of another priority, for the schedulers of the host.
#[test]
fn a_percentage_has_another_priority() {
    let requests = drain("[a]\nrw=randread\nsize=16m\ncmdprio_percentage=20\ncmdprio_class=1\nprioclass=3\n");
    let urgent =
        requests.iter().filter(|r| r.priority.class() == flashwatt_core::connector::PriorityClass::Realtime).count();
    assert!(urgent.abs_diff(requests.len() / 5) < 120, "{urgent} of {}", requests.len());
}

/// Of the requests of one length a percentage has a priority, and others of them another one.
#[test]
fn a_length_has_its_priorities() {
    use flashwatt_core::connector::PriorityClass::{BestEffort, Idle, Realtime};
    let text = "[a]\nrw=randwrite\nsize=32m\nnumber_ios=4000\nnorandommap\nbssplit=4k/50:8k/50\n\
                cmdprio_bssplit=4k/0,4k/20/1/3:4k/30/3/5/1:8k/100\ncmdprio_class=1,3\ncmdprio=2,6\n";
    let requests = drain(text);
    let share = |bytes: u64, class, level| {
        let of =
            |r: &&Request| r.bytes == bytes && r.priority == flashwatt_core::connector::Priority::new(class, level);
        let all = requests.iter().filter(|r| r.bytes == bytes).count() as f64;
        requests.iter().filter(of).count() as f64 / all
    };
    for (bytes, class, level, expected) in
        [(4096, Realtime, 3, 0.2), (4096, Idle, 5, 0.3), (4096, BestEffort, 4, 0.5), (8192, Idle, 6, 1.0)]
    {
        assert!((share(bytes, class, level) - expected).abs() < 0.04, "{bytes}: {}", share(bytes, class, level));
    }
    for wrong in ["4k", "4k/70:4k/40", "4k/10/1", "4k/10/7/1", "4k/10/1/1/x", "4k/10/1/1/1/1"] {
        assert!(fault(&format!("[a]\ncmdprio_bssplit={wrong}\n")).contains("job.fio:2: cmdprio_bssplit"), "{wrong}");
    }
    assert!(fault("[a]\ncmdprio_percentage=5\ncmdprio_bssplit=4k/5\n").contains("two rules for priorities"));
}

/// One read in 100.25 ms is 40 kB/s. The first check is after 2 s, at the end of read 21; the second one when another second is
/// over, at the end of read 31.
#[test]
fn a_job_that_is_too_slow_ends() {
    let count = |options: &str| drain(&format!("[a]\nrw=read\nsize=1m\nthinktime=100ms\n{options}\n")).len();
    assert_eq!((count("rate_min=100k"), count("rate_iops_min=20"), count("rate_min=,100k")), (31, 31, 256));
    assert_eq!((count("rate_min=30k"), count("rate_min=100k\nrate_cycle=2000")), (256, 41));
    let mut workload = parse("[a]\nrw=read\nsize=1m\nthinktime=100ms\nrate_min=100k\n");
    let mut now = 0;
    assert!(workload.warnings().is_empty());
    loop {
        match workload.next(now).expect("no errors") {
            Next::Request(tag, _) => workload.completed(&Completion::done(tag), now),
            Next::WaitUntil(at) => now = at,
            Next::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(workload.warnings()[0].contains("job a: a clone ended because it was slower"), "{:?}", workload.warnings());
}

/// Drives of other machines: their requests go to the simulated one, and the report says so.
#[test]
fn a_remote_block_device_is_the_drive() {
    for engine in ["nbd", "rbd", "libiscsi"] {
        let text = format!("[a]\nrw=write\nsize=16k\niodepth=2\nioengine={engine}\n");
        assert_eq!(drain(&text).iter().map(|r| r.arrival_ns / MS).collect::<Vec<_>>(), [0, 0, 1, 1], "{engine}");
        assert!(parse(&text).warnings()[0].contains("over a network"), "{engine}");
    }
    for engine in ["nfs", "http", "rados"] {
        assert!(fault(&format!("[a]\nioengine={engine}\n")).contains("files or objects of a server"), "{engine}");
    }
}
