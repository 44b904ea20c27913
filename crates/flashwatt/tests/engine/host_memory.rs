//! The cached part of the map in the host's memory: latencies, bytes and energy by hand.

use crate::common::delays::{P, R};
use crate::common::{Log, PROBE_DRIVE, assert_within, half_write, load, play, read, request, run_plain, write};
use flashwatt::Report;
use flashwatt::config::Config;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};

const ROUND_TRIP: &str = "device.host_memory.read_ns=801";
/// A link of 1,000 MB/s: 64 ns for a line, 4,096 ns for a page.
const LINK: &str = "device.host_link.bandwidth_mb_s=1000";
const MS: Nanos = 1_000_000;

/// The probe drive under DFTL, of 4 KiB pages. A translation page of 16 entries of 256 bytes: a line of 64 bytes has a part of one, and
/// holds one entry.
fn probe(sets: &[&str]) -> Config {
    let layer = ["ftl.dftl.entry_bytes=256", "ftl.dftl.cmt_entries=16", "device.blocks_per_plane=32"];
    load(PROBE_DRIVE, &[&layer[..], sets].concat())
}

/// Latencies of requests, in the order of their admission.
fn latencies(log: &Log) -> Vec<Nanos> {
    let mut all: Vec<_> =
        log.requests.iter().map(|done| (done.admitted_ns, done.id.0, done.end_ns - done.admitted_ns)).collect();
    all.sort_unstable();
    all.into_iter().map(|(.., ns)| ns).collect()
}

/// Bytes read from the host's memory, and written to it.
fn bytes(report: &Report) -> [u64; 2] {
    let memory = report.ssd().host_memory.as_ref().expect("the map is in the host's memory");
    [memory.read_bytes, memory.written_bytes]
}

/// A cached entry: the round trip and its line on the link. A miss: those, the read of the translation page, and a line back that nobody
/// waits for. The look-up that misses has asked, too.
#[test]
fn a_read_takes_the_round_trip_and_its_line() {
    let requests = [read(0, 3, 1), read(MS, 3, 1)];
    for (link, page, line) in [(&[][..], 0, 0), (&[LINK][..], 4_096, 64)] {
        let plain = latencies(&play(&probe(link), &requests).1);
        assert_eq!(plain, [2 * R + page, R + page]);
        let (report, log) = play(&probe(&[link, &[ROUND_TRIP]].concat()), &requests);
        assert_eq!(latencies(&log), [2 * R + page + 801 + line, R + page + 801 + line]);
        assert_eq!(bytes(&report), [2 * 64, 64]);
        assert_eq!(report.energy_integral_j, report.ssd().energy_j.total);
    }
}

/// Entries of one line share it; a request has one round trip, however many lines it needs.
#[test]
fn entries_share_lines() {
    // Entries of 8 bytes: 8 in a line of 64.
    let of = |sets: &[&str], first: u64, pages: u64| {
        let config = load(PROBE_DRIVE, &[&["ftl=\"dftl\"", "device.blocks_per_plane=32", LINK], sets].concat());
        play(&config, &[read(0, 0, 1), read(MS, first, pages)])
    };
    for (first, pages, lines) in [(0, 1, 1), (0, 8, 1), (7, 2, 2), (4, 12, 2), (5, 12, 3)] {
        let (report, log) = of(&[ROUND_TRIP], first, pages);
        let plain = latencies(&of(&[], first, pages).1)[1];
        assert_eq!(latencies(&log)[1], plain + 801 + 64 * lines, "{pages} pages from {first}");
        assert_eq!(bytes(&report)[0], 64 * (1 + lines));
        let longer = [ROUND_TRIP, "device.host_memory.line_bytes=128"];
        let lines = (first + pages - 1) / 16 - first / 16 + 1;
        assert_eq!(latencies(&of(&longer, first, pages).1)[1], plain + 801 + 128 * lines);
    }
}

/// Writes of whole pages and trims are posted: bytes, and no time. A write of a part of a page needs the entry, unless a buffer takes it.
#[test]
fn updates_are_posted() {
    let trim = request(4 * MS, RequestKind::Trim, 3, 1);
    let requests = [write(0, 3, 1), half_write(2 * MS, 3), trim];
    let posted = [LINK, "ftl.dftl.fetch_on_write=false"]; // a fetch would be before the write on its die
    let plain = latencies(&play(&probe(&posted), &requests).1);
    let (report, log) = play(&probe(&[&posted[..], &[ROUND_TRIP]].concat()), &requests);
    assert_eq!(plain, [P + 4_096, R + P + 2_048, 0]);
    assert_eq!(latencies(&log), [P + 4_096, R + P + 2_048 + 801 + 64, 0]);
    assert_eq!(bytes(&report), [64, 64 * 3], "a look-up; two entries written, and one trimmed");
    let buffer = ["write_buffer.bytes=65536", "write_buffer.idle_ns=100000000", LINK, ROUND_TRIP];
    let (_, log) =
        play(&probe(&buffer), &[half_write(0, 3), read(MS, 3, 1), Request { bytes: 512, ..read(2 * MS, 3, 1) }]);
    let whole = 2 * R + 4_096 + 801 + 64;
    assert_eq!(latencies(&log), [2_048, whole, 512], "what the buffer holds needs no entry");
}

/// Dirty entries come back from the host's memory when their translation page is written.
#[test]
fn dirty_entries_are_read_for_their_translation_page() {
    let small = ["ftl.dftl.cmt_entries=2", ROUND_TRIP];
    let (report, _) =
        play(&probe(&small), &[write(0, 3, 1), write(2 * MS, 4, 1), read(8 * MS, 20, 1), read(12 * MS, 21, 1)]);
    // Two entries written; one look-up each of the two reads, which fetch their entries; both dirty ones at once.
    assert_eq!(bytes(&report), [64 * (2 + 2), 64 * (2 + 2)]);
    let (report, _) = play(
        &probe(&[&small[..], &["ftl.dftl.evict_page=false"]].concat()),
        &[write(0, 3, 1), write(2 * MS, 4, 1), read(8 * MS, 20, 1)],
    );
    assert_eq!(bytes(&report), [64 * (1 + 1), 64 * (2 + 1)], "one dirty entry has gone");
}

/// Look-ups overlap. Alone each of them is added to a latency, here a fifth of it; at depth, where the dies have work meanwhile, they cost next to nothing.
#[test]
fn look_ups_overlap() {
    let run = |depth: u32, sets: &[&str]| {
        let depth = format!("workload.uniform.queue_depth={depth}");
        let work = [
            "device.preset=limit",
            "ftl=\"dftl\"",
            "device.op_ratio=0.3",
            "device.blocks_per_plane=64",
            "device.channels=2",
            "device.ways=4",
            "device.host_link.queue_depth=256",
            "run.warmup.requests=2000",
            "workload.uniform.requests=12000",
            "workload.uniform.read_fraction=1",
            &depth,
        ];
        run_plain(&load("", &[&work[..], sets].concat()))
    };
    let memory = ["device.host_memory.read_ns=20000", "device.host_memory.line_bytes=64"];
    let mean = |report: &Report| report.latency_ns.all.mean.expect("there are requests");
    let [alone, alone_slow] = [run(1, &[]), run(1, &memory)];
    assert_within(mean(&alone_slow) - mean(&alone), 20_000.0, 1e-9, "one at a time");
    for (depth, least) in [(32, 0.93), (256, 0.96)] {
        let [deep, deep_slow] = [run(depth, &[]), run(depth, &memory)].map(|report| report.throughput.iops);
        assert!(deep_slow > least * deep && deep_slow <= deep, "depth {depth}: {deep_slow} of {deep}");
    }
    assert!(alone_slow.throughput.iops < 0.85 * alone.throughput.iops);
}

/// The energy of one read: a line more on the host interface, and the drive is awake for longer. The bits in the host's memory are the
/// host's.
#[test]
fn the_energy_of_a_read_by_hand() {
    let requests = [read(0, 3, 1), read(MS, 3, 1)];
    let link = [
        "energy.host_interface.active_ma=9",
        "energy.host_interface.volts=3.3",
        "energy.host_interface.bandwidth_mb_s=1000",
        LINK,
    ];
    let of = |sets: &[&str]| play(&probe(&[&link[..], sets].concat()), &requests).0;
    let (plain, with) = (of(&[]), of(&[ROUND_TRIP, "energy.host_memory.pj_per_bit=22.5"]));
    assert_eq!(with.ssd().ledger.host_interface_ns - plain.ssd().ledger.host_interface_ns, 3 * 64);
    let more = with.ssd().energy_j.host_interface - plain.ssd().energy_j.host_interface;
    assert_within(more, 9e-3 * 3.3 * 192e-9, 1e-9, "three lines at 29.7 mW");
    let elapsed = |report: &Report| report.ssd().ledger.elapsed_ns.outstanding;
    assert_eq!(elapsed(&with) - elapsed(&plain), 2 * (801 + 64), "a request is in the drive");
    let memory = with.ssd().host_memory.as_ref().expect("it is there");
    assert_within(memory.energy_j.expect("a price"), 192.0 * 8.0 * 22.5e-12, 1e-12, "bits");
    let parts = &with.ssd().energy_j;
    let sum = parts.controller.active
        + parts.controller.idle
        + parts.dram.active
        + parts.dram.idle
        + parts.nand.total
        + parts.host_interface;
    assert_within(sum, parts.total, 1e-12, "no part of the drive is the host's memory");
    assert!(plain.ssd().host_memory.is_none());
}

/// A look-up waits for what is on the link before it, and data out does not wait for it.
#[test]
fn look_ups_share_the_link_with_written_data() {
    // The write's page is on the link until 4,096 ns; the read's command comes behind it, and its line behind that.
    let requests: [Request; 2] = [write(0, 3, 1), read(0, 5, 1)];
    let (_, log) =
        play(&probe(&[LINK, ROUND_TRIP, "write_buffer.bytes=65536", "write_buffer.idle_ns=100000000"]), &requests);
    assert_eq!(latencies(&log), [4_096, 4_096 + 64 + 801 + 2 * R + 4_096]);
}
