//! Streams that fio 3.33 gave (engine null, `--write_iolog`), for jobs whose order it fixes; and counts where it draws.

use super::*;

/// Requests of a job as fio logged them, in KiB: `W4+8` is a write of 8 KiB at 4 KiB, `S` a flush.
const STREAMS: &[(&str, &str)] = &[
    ("rw=write|size=16k|fsync=2", "W0+4 W4+4 S W8+4 W12+4"),
    ("rw=write|size=16k|fsync=2|end_fsync=1", "W0+4 W4+4 S W8+4 W12+4 S"),
    ("rw=write|size=8k|end_fsync=1|loops=2", "W0+4 W4+4 S W0+4 W4+4 S"),
    ("rw=write|size=24k|fdatasync=2|fsync=3", "W0+4 W4+4 S W8+4 S W12+4 S W16+4 W20+4"),
    ("rw=read|size=8k|fsync=1|end_fsync=1", "R0+4 R4+4"),
    ("rw=write|size=20000", "W0+4 W4+4 W8+4 W12+4"),
    ("rw=write|size=1536k|bs=1m", "W0+1024"),
    ("rw=write|size=200k|bs=64k", "W0+64 W64+64 W128+64"),
    ("rw=read:8k|size=64k", "R0+4 R12+4 R24+4 R36+4 R48+4 R60+4"),
    ("rw=read:-8k|size=20k", "R0+4 R12+4 R8+4 R4+4 R0+4"),
    ("rw=read:-8k|size=16k|offset=64k", "R72+4 R68+4 R64+4 R72+4"),
    ("rw=trimwrite|size=8k", "T0+4 W0+4 T4+4 W4+4"),
    ("rw=trimwrite|size=64k|number_ios=2", "T0+4 W0+4 T4+4 W4+4"),
    ("rw=trimwrite|size=64k|io_size=8k", "T0+4 W0+4 T4+4 W4+4"),
    ("rw=write|filesize=64k|size=25%", "W0+4 W4+4 W8+4 W12+4"),
    ("rw=write|filesize=64k|size=25%|offset=8k", "W8+4 W12+4 W16+4 W20+4"),
    ("rw=write|filesize=16k|size=100%%", "W0+4 W4+4 W8+4 W12+4"),
    ("rw=write|size=32k|io_size=50%", "W0+4 W4+4 W8+4 W12+4"),
    ("rw=write|size=64k|number_ios=3|loops=2", "W0+4 W4+4 W8+4 W12+4 W16+4 W20+4"),
    ("rw=write|size=16k|io_size=24k", "W0+4 W4+4 W8+4 W12+4 W0+4 W4+4"),
    ("rw=write|size=8k|io_size=12k|loops=2", "W0+4 W4+4 W0+4 W4+4"),
    ("rw=write|size=16k|io_size=4k|loops=2", "W0+4 W4+4"),
    ("rw=write|size=10k|io_size=20k", "W0+4 W4+4 W0+4 W4+4 W0+4"),
    // A pass of an asynchronous engine ends at size, one of a synchronous engine goes on to the end of the file.
    ("rw=read:-8k|size=16k|loops=2|ioengine=libaio", "R0+4 R8+4 R4+4 R0+4 R0+4 R8+4 R4+4 R0+4"),
    ("rw=read:-8k|size=16k|loops=2|ioengine=psync", "R0+4 R8+4 R4+4 R0+4 R8+4 R4+4 R0+4 R8+4"),
    ("rw=read:-8k|size=16k|loops=2", "R0+4 R8+4 R4+4 R0+4 R8+4 R4+4 R0+4 R8+4"),
    ("rw=write|size=16k|fsync=2|loops=2", "W0+4 W4+4 S W8+4 W12+4 S S W0+4 W4+4 S W8+4 W12+4"),
    // A file that is longer than size has no end there; a device neither (here fio had engine psync on a file that was there).
    ("rw=write:8k|filesize=64k|size=50%|loops=2", "W0+4 W12+4 W24+4 W0+4 W12+4 W24+4"),
    ("rw=write:8k|size=28k", "W0+4 W12+4 W24+4"),
    ("rw=write:8k|size=36k", "W0+4 W12+4 W24+4 W0+4 W12+4 W24+4 W0+4 W12+4 W24+4"),
    ("rw=write:8k|size=36k|filename=/dev/sdx", "W0+4 W12+4 W24+4"),
    // Files lie one behind the other, 12 KiB apart in the first line.
    ("rw=write|size=32k|nrfiles=3", "W0+4 W12+4 W24+4 W4+4 W16+4 W28+4"),
    ("rw=write|size=16k|filename=a:b", "W0+4 W8+4 W4+4 W12+4"),
    ("rw=write|size=16k|nrfiles=2|file_service_type=sequential", "W0+4 W4+4 W8+4 W12+4"),
    ("rw=write|size=32k|nrfiles=2|file_service_type=roundrobin:2", "W0+4 W4+4 W16+4 W20+4 W8+4 W12+4 W24+4 W28+4"),
    ("rw=write|size=24k|nrfiles=3|openfiles=1", "W0+4 W4+4 W8+4 W12+4 W16+4 W20+4"),
    ("rw=write|filesize=16k|nrfiles=2|size=16k", "W0+4 W16+4 W4+4 W20+4"),
    ("rw=write|filesize=8k|nrfiles=2|size=64k", "W0+4 W8+4 W4+4 W12+4"),
    (
        "rw=write|size=64k|number_ios=8|zonemode=strided|zonesize=8k|zonerange=16k|zoneskip=8k",
        "W0+4 W4+4 W24+4 W28+4 W48+4 W52+4 W0+4 W4+4",
    ),
    ("rw=write|size=8k|verify=crc32c", "W0+4 W4+4 R0+4 R4+4"),
    ("rw=write|size=8k|verify=crc32c|loops=2", "W0+4 W4+4 R0+4 R4+4 W0+4 W4+4 R0+4 R4+4"),
    ("rw=write|size=8k|verify=crc32c|do_verify=0", "W0+4 W4+4"),
    (
        "rw=write|size=12k|verify=md5|time_based|runtime=6ms|ioengine=libaio",
        "W0+4 W4+4 W8+4 R0+4 R4+4 R8+4 W0+4 W4+4 W8+4",
    ),
    ("rw=write|size=12k|verify=md5|time_based|runtime=6ms", "W0+4 W4+4 W8+4 W0+4 W4+4 W8+4"),
    ("rw=write|size=8k|io_size=12k|do_verify=0", "W0+4 W4+4"),
    ("rw=write|size=8k|io_size=12k|do_verify=0|ioengine=libaio", "W0+4 W4+4 W0+4"),
    ("rw=write|size=8k|io_size=20k|do_verify=0|loops=2", "W0+4 W4+4 W0+4 W4+4 W0+4 W4+4"),
    ("rw=write:8k|size=16k|verify=md5", "W0+4 W12+4 R0+4 R12+4"),
    ("rw=write:-8k|size=16k|verify=md5", "W0+4 W8+4 W4+4 W0+4 R0+4 R4+4 R8+4"),
    ("rw=trimwrite|size=8k|verify=md5", "T0+4 W0+4 T4+4 W4+4 R0+4 R4+4"),
    ("rw=write|size=12k|verify=md5|verify_backlog=1", "W0+4 R0+4 W4+4 R4+4 W8+4 R8+4"),
    ("rw=write|size=12k|verify=md5|verify_backlog=2", "W0+4 W4+4 R0+4 R4+4 W8+4 R8+4"),
    ("rw=write|size=20k|verify=md5|verify_backlog=2|number_ios=5", "W0+4 W4+4 R0+4 R4+4 W8+4 R8+4"),
    (
        "rw=write|size=16k|verify=md5|number_ios=5|loops=2",
        "W0+4 W4+4 W8+4 W12+4 R0+4 R4+4 R8+4 R12+4 W0+4 W4+4 R0+4 R4+4",
    ),
    (
        "rw=write|size=24k|verify=md5|verify_backlog=4|verify_backlog_batch=2",
        "W0+4 W4+4 W8+4 W12+4 R0+4 R4+4 W16+4 W20+4 R8+4 R12+4 R16+4 R20+4",
    ),
    ("rw=write|size=16k|verify=md5|verify_backlog=3|fsync=2", "W0+4 W4+4 S W8+4 R0+4 R4+4 R8+4 W12+4 R12+4"),
    (
        "rw=write|size=16k|verify=md5|verify_backlog=2|loops=2|ioengine=libaio",
        "W0+4 W4+4 R0+4 R4+4 W8+4 W12+4 R8+4 R12+4 W0+4 W4+4 R0+4 R4+4 W8+4 W12+4 R8+4 R12+4",
    ),
    ("rw=write|size=20k|bs=8k|time_based|runtime=5ms", "W0+8 W8+8 W0+8 W8+8 W0+8"),
    ("rw=write|size=16k|io_size=4k|number_ios=1|time_based|runtime=5ms", "W0+4 W4+4 W8+4 W12+4 W0+4"),
];

fn written(requests: &[Request]) -> String {
    let kib = |bytes: u64| bytes as f64 / 1024.0;
    let one = |r: &Request| match r.kind {
        RequestKind::Read => format!("R{}+{}", kib(r.offset_bytes), kib(r.bytes)),
        RequestKind::Write => format!("W{}+{}", kib(r.offset_bytes), kib(r.bytes)),
        RequestKind::Trim => format!("T{}+{}", kib(r.offset_bytes), kib(r.bytes)),
        RequestKind::Flush => "S".into(),
    };
    requests.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn job(options: &str) -> String {
    format!("[a]\n{}\n", options.replace('|', "\n"))
}

#[test]
fn streams_are_those_that_fio_gave() {
    for (options, expected) in STREAMS {
        assert_eq!(written(&drain(&job(options))), *expected, "{options}");
    }
}

/// Jobs that draw, and the numbers of reads, writes and trims that fio gave; exact in all, and to what chance allows each.
const COUNTS: &[(&str, u64, u64, u64)] = &[
    ("rw=randwrite|size=50k", 0, 12, 0),
    ("rw=randwrite|size=50k|norandommap", 0, 13, 0),
    ("rw=randwrite|size=50k|io_size=100k", 0, 25, 0),
    ("rw=randtrimwrite|size=16k|fsync=2", 0, 4, 4),
    ("rw=randread|size=64k|bs=4k|percentage_random=50", 16, 0, 0),
    ("rw=randread:4|size=64k|bs=4k|rw_sequencer=identical", 16, 0, 0),
    ("rw=randwrite|size=32k|verify=crc32c", 8, 8, 0),
    ("rw=randrw|size=1m|rwmixread=100|number_ios=5", 5, 0, 0),
    ("rw=randread|size=64k|random_generator=lfsr|norandommap|io_size=128k", 32, 0, 0),
];

#[test]
fn counts_are_those_that_fio_gave() {
    for &(options, reads, writes, trims) in COUNTS {
        let requests = drain(&job(options));
        let count = |kind| requests.iter().filter(|r| r.kind == kind).count() as u64;
        let found = (count(RequestKind::Read), count(RequestKind::Write), count(RequestKind::Trim));
        assert_eq!(found, (reads, writes, trims), "{options}");
    }
}

/// A write goes to the place of the trim before it; verifying reads go where the writes went, in their order.
#[test]
fn pairs_and_verifying_reads_follow_their_writes() {
    let pairs = drain(&job("rw=randtrimwrite|size=1m|offset=1m"));
    assert!(pairs.len() == 512 && pairs.chunks(2).all(|pair| pair[0].offset_bytes == pair[1].offset_bytes));
    let verified = offsets(&drain(&job("rw=randwrite|size=1m|verify=md5")));
    assert_eq!(verified[..256], verified[256..]);
    let lfsr = offsets(&drain(&job("rw=randwrite|size=1m|verify=md5|random_generator=lfsr")))[256..].to_vec();
    assert_eq!(lfsr, (0..256).map(|at| at * 4096).collect::<Vec<u64>>());
    let sorted = offsets(&drain(&job("rw=randwrite|size=1m|verify=md5|norandommap")))[256..].to_vec();
    assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]) && sorted.len() < 256, "each place once, in order");
}

#[test]
fn zones_may_be_blank_and_have_bytes() {
    for (law, end) in [("zoned:50/5:30/15:20/", 0.05), ("zoned:50/5:50/", 0.05), ("zoned_abs:50/8m:50/", 0.125)] {
        let text = format!("rw=randread|size=64m|norandommap|number_ios=4000|random_distribution={law}");
        let first = offsets(&drain(&job(&text))).iter().filter(|at| (**at as f64) < end * DRIVE as f64).count();
        assert!(first.abs_diff(2000) < 130, "{law}: {first}");
    }
    let center =
        offsets(&drain(&job("rw=randread|size=4m|norandommap|number_ios=2000|random_distribution=zipf:1.2:0.5")));
    assert!(center.iter().filter(|at| **at == 2 << 20).count() > 200, "the most popular place lies in the middle");
}
