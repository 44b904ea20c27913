//! Rows of the table of two constraints in `docs/workloads.md` that are about lengths, places, flushes and queues. Lengths and flushes
//! are those that fio 3.33 gave; times and queues were worked out from its rules.

use super::*;

fn job(options: &str) -> Vec<Request> {
    drain(&format!("[a]\n{}\n", options.replace('|', "\n")))
}

fn lengths_kib(options: &str) -> Vec<u64> {
    job(options).iter().map(|r| r.bytes / 1024).collect()
}

#[test]
fn a_delay_a_ramp_and_the_runtime_follow_each_other() {
    let text = "[global]\nfilename=x\nrw=write\n[a]\nstartdelay=1\nramp_time=2\ntime_based\nruntime=3\nrate_iops=10\n\
                [after]\nstonewall\nsize=4k\n";
    let requests = drain(text);
    assert_eq!((requests[0].arrival_ns, requests[requests.len() - 1].arrival_ns), (1000 * MS, 6000 * MS));
    assert_eq!(requests.len(), 51);
}

#[test]
fn without_time_based_the_first_end_counts() {
    for (options, expected) in [
        ("size=40k|runtime=5ms", 5),
        ("size=40k|runtime=50ms", 10),
        ("size=40k|io_size=8k|runtime=5ms", 2),
        ("size=8k|loops=9|runtime=5ms", 5),
        ("size=8k|loops=2|runtime=50ms", 4),
    ] {
        assert_eq!(job(&format!("rw=write|{options}")).len(), expected, "{options}");
    }
}

/// A length of 16 KiB that reaches beyond the end is drawn anew, so that the last ones are of 4 KiB.
#[test]
fn only_lengths_that_fit_are_drawn() {
    for seed in 0..20 {
        for lengths in ["bssplit=4k/50:16k/50", "bsrange=4k-16k"] {
            let requests = job(&format!("rw=write|{lengths}|size=24k|randseed={seed}"));
            assert_eq!(requests.iter().map(|r| r.bytes).sum::<u64>(), 24 << 10, "{requests:?}");
        }
    }
}

#[test]
fn bssplit_goes_before_bsrange_and_bsrange_before_bs() {
    assert_eq!(lengths_kib("rw=write|size=64k|bs=64k|bsrange=4k-8k|bssplit=16k/100"), [16; 4]);
    assert_eq!(lengths_kib("rw=write|size=64k|bssplit=16k/100|bs=64k"), [16; 4]);
    let ranged = lengths_kib("rw=write|size=64k|bsrange=4k-8k|bs=16k");
    assert!(ranged.iter().all(|kib| [4, 8].contains(kib)) && ranged.iter().sum::<u64>() == 64);
    let mixed = job("rw=rw|size=512k|bs=64k,32k|bssplit=16k/100,");
    let of = |kind| if kind == RequestKind::Read { 16 << 10 } else { 32 << 10 };
    assert!(mixed.iter().all(|r| r.bytes == of(r.kind)), "for each direction");
}

#[test]
fn alignment_and_laws_draw_places_independently() {
    for options in ["blockalign=512", "random_distribution=zipf:1.2", "random_distribution=zoned:50/5:50/"] {
        let mut places = offsets(&job(&format!("rw=randwrite|size=256k|io_size=1m|{options}")));
        assert_eq!(places.len(), 256, "{options}");
        places[..64].sort_unstable();
        assert!(places[..64].windows(2).any(|pair| pair[1] - pair[0] < 4096), "{options}: places overlap");
    }
}

/// A full queue of 8 reaps 3 at a time until at most 4 are outstanding: with 5 left it reaps again.
#[test]
fn a_full_queue_reaps_whole_batches_down_to_the_low_mark() {
    let mut workload = parse("[a]\nrw=write\nsize=1m\niodepth=8\niodepth_batch_complete_min=3\niodepth_low=4\n");
    let mut tags = VecDeque::new();
    while let Next::Request(tag, _) = workload.next(0).expect("no errors") {
        tags.push_back(tag);
    }
    assert_eq!(tags.len(), 8);
    for completed in 1..=6 {
        let tag = tags.pop_front().expect("it is outstanding");
        workload.completed(&Completion::done(tag), 1);
        let goes_on = matches!(workload.next(1), Ok(Next::Request(..)));
        assert_eq!(goes_on, completed == 6, "{completed} completed");
    }
}

#[test]
fn no_flush_parts_a_trim_from_its_write() {
    let kinds: Vec<_> = job("rw=trimwrite|size=8k|fsync=1").iter().map(|r| r.kind).collect();
    assert_eq!(kinds, [RequestKind::Trim, RequestKind::Write, RequestKind::Trim, RequestKind::Write]);
}

/// While the number of writes is a multiple of 2, each request is followed by a flush.
#[test]
fn in_a_mix_a_flush_follows_each_read_until_the_next_write() {
    let requests = job("rw=rw|size=256k|fsync=2");
    let mut writes = 0;
    for pair in requests.windows(2) {
        writes += u64::from(pair[0].kind == RequestKind::Write);
        let is_due = pair[0].kind != RequestKind::Flush && writes > 0 && writes % 2 == 0;
        assert_eq!(pair[1].kind == RequestKind::Flush, is_due, "{writes}: {pair:?}");
    }
    assert!(writes > 10);
}

#[test]
fn a_pause_is_due_by_count_or_by_time() {
    let times = |options: &str| -> Vec<Nanos> {
        let options =
            format!("rw=write|size=32k|thinktime=5ms|thinktime_blocks_type=issue|thinktime_iotime=1ms|{options}");
        job(&options).iter().map(|r| r.arrival_ns / MS).collect()
    };
    assert_eq!(times("thinktime_blocks=3")[..4], [0, 1, 2, 8], "three requests come first");
    assert_eq!(times("thinktime_blocks=100"), [0, 1, 2, 3, 4, 5, 11, 17], "the time comes first: 1 ms between pauses");
}

/// 100 requests of the least length, 4 KiB, are 400 KiB a second.
#[test]
fn a_rate_of_requests_is_one_of_the_least_length() {
    let requests = job("rw=write|size=8m|bssplit=4k/50:16k/50|rate_iops=100|time_based|runtime=1");
    let bytes: u64 = requests.iter().map(|r| r.bytes).sum();
    assert!(bytes.abs_diff(400 << 10) <= 16 << 10 && requests.len() < 60, "{bytes} in {}", requests.len());
}
