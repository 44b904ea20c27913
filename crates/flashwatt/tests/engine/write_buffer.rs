//! The write buffer: when writes are acknowledged, when data goes to flash, and that none of it is lost.

use crate::common::delays::{COMMAND, P, PROGRAM, R, READ, TRANSFER};
use crate::common::{
    self, Log, PAGE, Script, load, merging_drive, play, preset, read, request, run_logged, run_own, run_plain, tier,
    write,
};
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::Config;
use flashwatt::report::ssd::WriteBufferReport;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Request, RequestKind};
use flashwatt_ssd::ftl::{Cause, OpKind};
use proptest::prelude::*;

/// The drive is idle after so long.
const IDLE: Nanos = 10_000_019;

/// The probe drive, with a buffer of `pages` pages, and overrides.
fn drive(pages: u64, sets: &[&str]) -> Config {
    let bytes = format!("write_buffer.bytes={}", pages * PAGE);
    let idle = format!("write_buffer.idle_ns={IDLE}");
    let mut all = vec![&*bytes, &*idle];
    all.extend(sets);
    load(common::PROBE_DRIVE, &all)
}

fn flush(at: Nanos) -> Request {
    Request { bytes: 0, ..request(at, RequestKind::Flush, 0, 0) }
}

fn trim(at: Nanos, first_page: u64, pages: u64) -> Request {
    request(at, RequestKind::Trim, first_page, pages)
}

fn forced(write: Request) -> Request {
    Request { fua: true, ..write }
}

/// When each request completed, in the order in which they were issued (all at different times).
fn ends(log: &Log) -> Vec<Nanos> {
    let mut requests = log.requests.clone();
    requests.sort_by_key(|request| request.admitted_ns);
    requests.iter().map(|request| request.end_ns).collect()
}

fn buffer(report: &Report) -> &WriteBufferReport {
    report.ssd().write_buffer.as_ref().unwrap_or_else(|| panic!("a drive with a buffer reports it"))
}

fn programs(log: &Log) -> usize {
    log.all(OpKind::Program, Cause::Host).len()
}

// ---------------------------------------------------------------- acknowledgement

/// A write completes when it is in the buffer: at once over a link that takes no time.
#[test]
fn a_write_completes_when_it_is_in_the_buffer() {
    let (report, log) = play(&drive(8, &[]), &[write(0, 0, 3), write(100, 10, 1)]);
    assert_eq!(ends(&log), [0, 100]);
    assert_eq!(report.latency_ns.write.max, Some(0));
    assert_eq!(programs(&log), 4, "everything reaches flash in the end");
}

/// Command and data cross the host's link first.
#[test]
fn the_link_takes_its_time() {
    let config = drive(8, &["device.host_link.bandwidth_mb_s=4096", "device.host_link.command_ns=700"]);
    let (_, log) = play(&config, &[write(0, 0, 2), write(50_000, 10, 1)]);
    assert_eq!(ends(&log), [700 + 2 * 1000, 50_000 + 700 + 1000]);
}

/// A read of data in the buffer takes the link's time only.
#[test]
fn a_hit_crosses_the_link_too() {
    let config = drive(8, &["device.host_link.bandwidth_mb_s=4096", "device.host_link.command_ns=700"]);
    let (_, log) = play(&config, &[write(0, 0, 2), read(50_000, 0, 2), read(60_000, 1, 2)]);
    assert_eq!(ends(&log)[1], 50_000 + 700 + 2000);
    assert_eq!(ends(&log)[2], 60_000 + 700 + R + 1000, "one page of two from flash");
}

/// A full buffer delays the acknowledgement until a program has ended, first come, first served.
#[test]
fn a_full_buffer_delays_writes_in_their_order() {
    let config = drive(2, &["write_buffer.destage_fraction=1"]);
    let (report, log) = play(&config, &[write(0, 0, 2), write(10, 2, 1), write(20, 1, 1), write(30, 3, 1)]);
    // Full at 0: two programs, one after the other. The write at 10 waits for the first; that at 20, of a page under way,
    // for the second; the one at 30 for the program of the page that came at 10.
    assert_eq!(ends(&log), [0, P, 2 * P, 3 * P]);
    assert_eq!(buffer(&report).writes_delayed, 3);
}

/// A write that is larger than the buffer passes through it.
#[test]
fn a_write_may_be_larger_than_the_buffer() {
    let (_, log) = play(&drive(2, &[]), &[write(0, 0, 5)]);
    assert_eq!(ends(&log), [3 * P], "the last two pages are in when three programs have ended");
    assert_eq!(programs(&log), 5);
}

// ---------------------------------------------------------------- destaging

/// Below the fraction nothing is written until the drive has been idle for so long.
#[test]
fn an_idle_drive_destages() {
    let far = 100_000_000;
    let (report, log) = play(&drive(8, &[]), &[write(0, 0, 1), write(500, 1, 1), read(far, 9, 1)]);
    assert_eq!(log.program_starts(), [500 + IDLE, 500 + IDLE + COMMAND + TRANSFER + PROGRAM]);
    assert_eq!(report.window.drain_s, Some(0.0));
}

/// A request keeps the drive from being idle.
#[test]
fn a_request_keeps_the_drive_from_being_idle() {
    let script = [write(0, 0, 1), read(IDLE - 1, 9, 1), read(100_000_000, 9, 1)];
    let (_, log) = play(&drive(8, &[]), &script);
    assert_eq!(log.program_starts(), [IDLE - 1 + R + IDLE]);
}

/// At the fraction the oldest entry leaves, and no other.
#[test]
fn destaging_starts_at_the_fraction() {
    let at = |pages: u64| {
        let script: Vec<Request> = (0..pages).map(|page| write(page, page, 1)).chain([read(5_000_000, 9, 1)]).collect();
        let (report, log) = play(&drive(8, &["write_buffer.destage_fraction=0.5"]), &script);
        let measured = log.window[1];
        (buffer(&report).destaged, log.program_starts().iter().filter(|&&start| start < measured).count())
    };
    assert_eq!(at(3), (0, 0));
    assert_eq!(at(4), (1, 1));
    assert_eq!(at(6), (3, 3));
}

/// Oldest first, whatever the addresses: of five entries two are under way, and the other three can be overwritten.
#[test]
fn the_oldest_leave_first() {
    let coalesced = |pages: &[u64]| {
        let all = [[5, 3, 9, 1, 7].as_slice(), pages].concat();
        let script: Vec<Request> = all.iter().zip(0..).map(|(&page, at)| write(at, page, 1)).collect();
        let (report, log) = play(&drive(10, &["write_buffer.destage_fraction=0"]), &script);
        assert!(log.program_starts().is_sorted());
        buffer(&report).writes_coalesced
    };
    assert_eq!(coalesced(&[5, 3]), 0);
    assert_eq!(coalesced(&[9, 1, 7]), 3);
}

/// What the last request leaves behind is destaged in the drain: not part of the measured window, and never lost.
#[test]
fn the_drain_empties_the_buffer() {
    let (report, log) = play(&drive(8, &[]), &[write(0, 0, 3)]);
    assert_eq!(programs(&log), 3);
    assert_eq!(buffer(&report).destaged, 0);
    assert_eq!(report.ssd().flash.programs.total, 0);
    assert_eq!(report.window.drain_s, Some((3 * P) as f64 * 1e-9));
    let (report, _) = play(&drive(8, &["run.count_drain=true"]), &[write(0, 0, 3)]);
    assert_eq!((buffer(&report).destaged, report.ssd().flash.programs.host), (3, 3));
}

/// The same with a device that takes one request at a time: the host has ended before it is asked again.
#[test]
fn the_drain_empties_the_buffer_at_depth_one() {
    let config = drive(8, &["device.host_link.queue_depth=1"]);
    let (report, log) = play(&config, &[write(0, 0, 3)]);
    assert_eq!(programs(&log), 3);
    assert_eq!(report.window.drain_s, Some((3 * P) as f64 * 1e-9));
}

/// At most two programs a die are under way: an entry that is not may still be overwritten.
#[test]
fn two_programs_a_die_are_under_way() {
    let config = drive(8, &["write_buffer.destage_fraction=0"]);
    let (report, log) = play(&config, &[write(0, 0, 4), write(100, 0, 4)]);
    assert_eq!(buffer(&report).writes_coalesced, 2, "pages 2 and 3");
    assert_eq!(programs(&log), 6);
}

// ---------------------------------------------------------------- coalescing, reads, trims

#[test]
fn overwrites_coalesce() {
    let (report, log) =
        play(&drive(8, &["run.count_drain=true"]), &[write(0, 0, 2), write(100, 1, 2), write(200, 0, 3)]);
    assert_eq!((buffer(&report).writes, buffer(&report).writes_coalesced), (7, 4));
    assert_eq!(programs(&log), 3);
    let flash = &report.ssd().flash;
    assert_eq!((flash.write_amplification, flash.buffer_factor), (Some(3.0 / 7.0), Some(3.0 / 7.0)));
    assert_eq!((flash.rmw_factor, flash.gc_factor), (Some(1.0), Some(1.0)));
}

/// An entry under way serves reads until its program ends, then flash does; one that is overwritten meanwhile is another.
#[test]
fn an_entry_serves_reads_until_its_program_ends() {
    let config = drive(8, &["write_buffer.destage_fraction=0"]);
    let script = [write(0, 0, 1), read(P - 1, 0, 1), read(P + 1, 0, 1), write(2 * P, 0, 1), write(2 * P + 9, 0, 1)];
    let (report, log) = play(&config, &script);
    assert_eq!(ends(&log), [0, P - 1, P + 1 + R, 2 * P, 2 * P + 9]);
    assert_eq!((buffer(&report).read_hits, buffer(&report).writes_coalesced), (1, 0));
    assert_eq!(programs(&log), 3);
}

/// Only what the buffer does not hold is read from flash.
#[test]
fn a_read_takes_the_rest_from_flash() {
    let (report, log) = play(&drive(8, &[]), &[write(0, 1, 1), read(100, 0, 3), read(1_000_000, 1, 1)]);
    assert_eq!(ends(&log)[1..], [100 + R + READ + TRANSFER + COMMAND, 1_000_000]);
    assert_eq!((buffer(&report).read_hits, report.ssd().flash.reads.host), (2, 2));
}

#[test]
fn a_trim_drops_entries() {
    let (report, log) = play(
        &drive(8, &["run.count_drain=true"]),
        &[write(0, 0, 3), trim(100, 1, 1), read(200, 0, 3), write(300_000, 1, 1), trim(400_000, 0, 1)],
    );
    assert_eq!(buffer(&report).trimmed, 2);
    assert_eq!((buffer(&report).read_hits, report.ssd().flash.unwritten_reads), (2, 1));
    assert_eq!(programs(&log), 2);
}

/// A flush waits for an entry that is trimmed: it is released.
#[test]
fn a_trim_releases_a_flush() {
    let config = drive(8, &[]);
    let (_, log) = play(&config, &[write(0, 0, 3), flush(100), trim(200, 2, 1)]);
    assert_eq!(ends(&log)[1], 100 + 2 * P);
}

/// Parts of a page merge in the buffer; what is still missing is read when the entry leaves.
#[test]
fn parts_of_a_page_merge() {
    let part = |at, sector: u64, sectors: u64| Request {
        offset_bytes: 5 * PAGE + sector * 512,
        bytes: sectors * 512,
        ..write(at, 5, 1)
    };
    let run = |script: &[Request]| {
        let (report, log) = play(&drive(8, &["run.count_drain=true"]), script);
        (report.ssd().flash.reads.host, programs(&log), buffer(&report).writes_coalesced)
    };
    assert_eq!(run(&[part(0, 0, 3), part(10, 3, 5)]), (0, 1, 1), "the halves make a whole");
    assert_eq!(run(&[part(0, 0, 3), part(10, 4, 4)]), (1, 1, 1), "a sector is missing");
    let read_part = |at, sector, sectors| Request { kind: RequestKind::Read, ..part(at, sector, sectors) };
    assert_eq!(run(&[part(0, 2, 3), read_part(10, 2, 3)]), (1, 1, 0), "read for the merge only");
    assert_eq!(run(&[part(0, 2, 3), read_part(10, 1, 3)]), (2, 1, 0), "the first sector is not there");
}

/// A part of a unit that is under way starts with the data that is there: nothing is read.
#[test]
fn a_part_of_an_entry_under_way_needs_no_read() {
    let config = drive(8, &["write_buffer.destage_fraction=0", "run.count_drain=true"]);
    let (report, log) = play(&config, &[write(0, 0, 1), common::half_write(100, 0)]);
    assert_eq!((report.ssd().flash.reads.host, programs(&log), buffer(&report).writes_coalesced), (0, 2, 0));
}

// ---------------------------------------------------------------- flush, forced writes

/// A flush completes when everything that was there before it is on flash; what comes after it stays.
#[test]
fn a_flush_waits_for_what_was_there() {
    let (report, log) = play(&drive(8, &[]), &[write(0, 0, 3), flush(100), write(200, 4, 1), flush(20_000_000)]);
    assert_eq!(ends(&log), [0, 100 + 3 * P, 200, 20_000_000]);
    assert_eq!(programs(&log), 4, "the last one when the drive was idle");
    assert_eq!(report.workload.flushes, 2);
}

/// What is in a buffer with capacitors outlives a power cut: flushes and forced writes wait for nothing.
#[test]
fn nothing_waits_for_a_protected_buffer() {
    let config = drive(8, &["write_buffer.protection=\"capacitors\""]);
    let (_, log) = play(&config, &[write(0, 0, 3), flush(100), forced(write(200, 4, 1)), write(20_000_000, 5, 1)]);
    assert_eq!(ends(&log), [0, 100, 200, 20_000_000]);
    assert_eq!(programs(&log), 5, "an idle drive writes them to flash");
}

/// Without a buffer, or with nothing in it, a flush completes at once.
#[test]
fn a_flush_of_nothing_completes_at_once() {
    for pages in [0, 8] {
        let (_, log) = play(&drive(pages, &[]), &[flush(100)]);
        assert_eq!(ends(&log), [100]);
    }
}

/// A forced write completes when it is on flash itself; it goes before what came earlier.
#[test]
fn a_forced_write_waits_for_its_own_program_only() {
    let (_, log) = play(&drive(8, &[]), &[write(0, 0, 2), forced(write(100, 5, 1)), read(1_000_000, 0, 2)]);
    assert_eq!(ends(&log), [0, 100 + P, 1_000_000], "pages 0 and 1 are still in the buffer");
}

/// Two forced writes of the same page wait for one program.
#[test]
fn forced_writes_of_one_page_share_a_program() {
    let script = [forced(write(0, 0, 1)), forced(write(1, 1, 1)), forced(write(2, 7, 1)), forced(write(3, 7, 1))];
    let (report, log) = play(&drive(8, &[]), &script);
    assert_eq!(ends(&log), [P, 2 * P, 3 * P, 3 * P]);
    assert_eq!((programs(&log), buffer(&report).writes_coalesced), (3, 1));
}

// ---------------------------------------------------------------- parts of pages (X26)

/// A drive of 16 KiB pages at 1600 µs, 20 mA, 3.3 V (X26), and overrides.
fn large_pages(sets: &[&str]) -> Config {
    let mut all = vec![
        "device.page_bytes=16384",
        "device.timing.program_ns=1600000",
        "device.blocks_per_plane=32",
        "run.count_drain=true",
    ];
    all.extend(sets);
    preset("energysim", &all)
}

/// Joules of programming for `n` scattered writes of 4 KiB.
fn program_joules(config: &Config, n: u64) -> f64 {
    let script: Vec<Request> = (0..n).map(|i| write(i, 4 * i + i % 4, 1)).collect();
    let (report, _) = play(config, &script);
    report.ssd().energy_j.nand.program
}

/// The program energy of a 4 KiB write: 105.6 µJ on a 16 KiB page, 59.4 µJ on a 4 KiB page, and with sub-page mapping
/// behind a buffer a quarter of the former.
#[test]
fn f81_energy_of_a_small_write() {
    let unit = "ftl.page.map_unit_bytes=4096";
    let buffer = "write_buffer.bytes=1048576";
    let per_write = |config: &Config| program_joules(config, 64) / 64.0;
    common::assert_close(per_write(&large_pages(&[])), 105.6e-6, "16 KiB pages");
    common::assert_close(per_write(&large_pages(&[unit])), 105.6e-6, "sub-page mapping, a page for each write");
    common::assert_close(per_write(&large_pages(&[unit, buffer])), 105.6e-6 / 4.0, "sub-page mapping with a buffer");
    common::assert_close(per_write(&large_pages(&[buffer])), 105.6e-6, "a buffer alone gathers nothing");
    let small = preset("energysim", &["device.blocks_per_plane=32"]);
    common::assert_close(per_write(&small), 59.4e-6, "4 KiB pages");
}

/// Without sub-page mapping a small write also reads the page that it changes a part of; with it, it does not.
#[test]
fn sub_page_mapping_saves_the_read() {
    let reads = |sets: &[&str]| play(&large_pages(sets), &[write(0, 5, 1)]).0.ssd().flash.reads.host;
    assert_eq!(reads(&[]), 1);
    assert_eq!(reads(&["ftl.page.map_unit_bytes=4096"]), 0);
    assert_eq!(reads(&["ftl.page.map_unit_bytes=4096", "write_buffer.bytes=65536"]), 0);
    assert_eq!(reads(&["write_buffer.bytes=65536"]), 1);
}

/// Scattered units that share a page are found there again, each by a read of that one page; neighbours by one for all.
#[test]
fn gathered_units_are_read_back() {
    let config = large_pages(&["ftl.page.map_unit_bytes=4096", "write_buffer.bytes=65536"]);
    let later = 100_000_000;
    let scattered: Vec<Request> = (0..4).map(|i| write(i, 40 * i, 1)).collect();
    let (report, _) = play(&config, &[&*scattered, &[read(later, 0, 1), read(later + 1, 80, 1)]].concat());
    assert_eq!((report.ssd().flash.programs.host, report.ssd().flash.reads.host), (1, 2));
    let together: Vec<Request> = [2, 0, 3, 1].into_iter().zip(0..).map(|(page, at)| write(at, page, 1)).collect();
    let (report, _) = play(&config, &[&*together, &[read(later, 0, 4)]].concat());
    assert_eq!((report.ssd().flash.programs.host, report.ssd().flash.reads.host), (1, 1));
    let (report, _) = play(&config, &[&*together, &[write(later, 1, 1), read(later + 1, 0, 4)]].concat());
    assert_eq!(report.ssd().flash.reads.host, 1, "the page on flash is read once although the buffer holds its middle");
}

/// A buffer turns a load of small random writes into a quarter of the programs, collection and all.
#[test]
fn a_buffer_saves_programs_under_load() {
    let run = |sets: &[&str]| {
        let mut all = vec![
            "ftl.page.map_unit_bytes=4096",
            "workload.uniform.requests=20000",
            "workload.uniform.request_bytes=4096",
            "device.spare_fraction=0.3",
            "device.blocks_per_plane=8",
            "device.pages_per_block=32",
        ];
        all.extend(sets);
        run_plain(&large_pages(&all))
    };
    let (without, with) = (run(&[]), run(&["write_buffer.bytes=262144"]));
    assert_eq!(without.ssd().flash.programs.host, 20_000);
    assert!(with.ssd().flash.programs.host <= 5_100, "{}", with.ssd().flash.programs.host);
    assert!(with.ssd().energy_j.total < without.ssd().energy_j.total / 2.0);
}

// ---------------------------------------------------------------- laws

fn mixed(sets: &[&str]) -> Config {
    let mut all = vec![
        "device.ways=2",
        "device.channels=2",
        "run.count_drain=true",
        "workload.uniform.requests=4000",
        "workload.uniform.read_fraction=0.3",
        "workload.uniform.trim_fraction=0.05",
        "workload.uniform.request_bytes=6144",
        "workload.uniform.align_bytes=2048",
    ];
    all.extend(sets);
    drive(16, &all)
}

/// Everything that enters the buffer leaves it: into an older entry, to flash, or trimmed.
#[test]
fn nothing_is_lost() {
    for fraction in ["0", "0.5", "1"] {
        let fraction = format!("write_buffer.destage_fraction={fraction}");
        let (report, _) = run_own(&mixed(&[&fraction]));
        let b = buffer(&report);
        assert_eq!(b.writes, b.writes_coalesced + b.trimmed + b.destaged);
        assert!(b.writes_coalesced > 0 && b.trimmed > 0 && b.read_hits > 0 && b.writes_delayed > 0, "{b:?}");
    }
}

/// The same configuration and seed give the same bytes.
#[test]
fn runs_are_alike() {
    let text = || serde_json::to_string(&run_plain(&mixed(&[]))).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(text(), text());
}

/// The priced ledger and the integral of the current agree, under both DRAM rules.
#[test]
fn two_paths_to_the_energy_agree() {
    for rule in ["per_op", "with_controller"] {
        let rule = format!("energy.dram_rule=\"{rule}\"");
        let report = run_plain(&mixed(&[&rule]));
        common::assert_close(report.energy_integral_j, report.ssd().energy_j.total, &rule);
    }
}

/// Data passes DRAM once on its way in and once on its way out, and a hit on its way to the host.
#[test]
fn data_passes_dram_twice() {
    let dram = |config: &Config, script: &[Request]| {
        let report = play(config, script).0;
        report.ssd().ledger.dram_op_ns - report.ssd().ledger.map_accesses * config.ssd().energy.dram.map_access_ns
    };
    let config = drive(8, &["run.count_drain=true"]);
    let page = config.ssd().energy.dram.page_data_ns;
    assert_eq!(dram(&config, &[write(0, 0, 3)]), 6 * page);
    assert_eq!(dram(&config, &[write(0, 0, 1), write(1, 0, 1), read(2, 0, 1)]), 4 * page);
    assert_eq!(dram(&config, &[common::half_write(0, 0)]), page / 2 + 2 * page, "half in; a read and a program out");
    assert_eq!(dram(&drive(0, &["run.count_drain=true"]), &[write(0, 0, 3)]), 3 * page);
}

/// The log of operations tells all that DRAM did.
#[test]
fn the_log_tells_of_dram() {
    let path = std::env::temp_dir().join(format!("flashwatt-buffer-{}.csv", std::process::id()));
    let config = mixed(&[]);
    let options = RunOptions { op_log: Some(path.clone()), ..RunOptions::default() };
    let report = flashwatt::run(&config, &options, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
    std::fs::remove_file(&path).unwrap_or_else(|error| panic!("{error}"));
    let dram = &config.ssd().energy.dram;
    let mut ns = 0;
    for line in text.lines().skip(1) {
        let column: Vec<&str> = line.split(',').collect();
        let number = |i: usize| column[i].parse::<u64>().unwrap_or_else(|_| panic!("{line}"));
        ns += match (column[0], column[1]) {
            ("map", _) => number(10) * dram.map_access_ns,
            ("buffer", _) => (number(11) * dram.page_data_ns).div_ceil(PAGE),
            ("read" | "program", "host") => dram.page_data_ns,
            _ => 0,
        };
    }
    assert_eq!(ns, report.ssd().ledger.dram_op_ns);
}

// ---------------------------------------------------------------- any drive, any sequence

/// A drive with a buffer: layout, map units, timing and rules as the numbers say.
fn any_drive(n: [usize; 9]) -> Config {
    let of = |list: &[&str], n: usize| list[n % list.len()].to_string();
    let page = [
        format!("ftl.page.map_unit_bytes={}", of(&["4096", "2048", "1024", "512"], n[1])),
        format!("ftl.page.allocation=\"{}\"", of(&["dynamic", "static"], n[2])),
    ];
    let layers = ["block", "nftl", "bast", "bast_star", "fast", "last", "dftl", "tpftl", "rftl"];
    let layer = layers.get(n[8] % 12).map(|name| [format!("ftl=\"{name}\""), "device.spare_fraction=0.6".to_string()]);
    let is_replicated = layer.as_ref().is_some_and(|[name, _]| name.contains("rftl"));
    let [layer, more] = layer.unwrap_or(page);
    let sets = [
        format!("device.channels={}", (1 + n[0] % 3).max(1 + usize::from(is_replicated))),
        layer,
        more,
        format!("write_buffer.destage_fraction={}", of(&["0", "0.3", "0.8", "1"], n[3])),
        format!("device.host_link.queue_depth={}", of(&["1", "4", "32"], n[4])),
        format!("device.host_link.bandwidth_mb_s={}", of(&["0", "300"], n[5])),
        format!("controller.policy=\"{}\"", of(&["in_order", "reads_first", "out_of_order"], n[6])),
        format!("write_buffer.idle_ns={}", of(&["1", "700000", "900000000"], n[7])),
        "run.count_drain=true".to_string(),
    ];
    let bytes = format!("write_buffer.bytes={}", (1 + (n[7] / 3 % 12) as u64) * PAGE);
    let sets: Vec<&str> = sets.iter().chain([&bytes]).map(String::as_str).collect();
    if n[8] % 12 < 6 { merging_drive(&sets) } else { load(common::PROBE_DRIVE, &sets) }
}

/// A request to the first 40 pages, on sector bounds.
fn any_request(at: Nanos, [kind, place, bytes, forced]: [u64; 4]) -> Request {
    let kind = match kind {
        0..10 => RequestKind::Write,
        10..16 => RequestKind::Read,
        16..18 => RequestKind::Trim,
        _ => return flush(at),
    };
    let sectors = if bytes < 12 { 8 } else { bytes - 11 };
    let place = if bytes % 3 == 0 { place } else { place / 8 * 8 };
    Request { fua: forced == 0, ..Request::new(at, kind, place * 512, sectors * 512) }
}

fn any_requests() -> impl Strategy<Value = Vec<Request>> {
    let one = ([0u64..19, 0..300, 0..36, 0..6], prop_oneof![Just(0), 0..2_000u64, 0..3_000_000u64]);
    prop::collection::vec(one, 1..80).prop_map(|drawn| {
        let mut at = 1_000_000; // trims take no time, and DRAM's work for them must fit the run
        drawn
            .into_iter()
            .map(|(numbers, gap)| {
                at += gap;
                any_request(at, numbers)
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tier::size(60, 300) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    /// Under the shadow check: every request completes, what is read is what was written last, nothing is lost, and the three
    /// ways in which an entry ends account for all that was written.
    #[test]
    fn any_sequence(numbers in prop::array::uniform9(0usize..36), script in any_requests()) {
        let (report, _) = play(&any_drive(numbers), &script);
        let b = buffer(&report);
        prop_assert_eq!(b.writes, b.writes_coalesced + b.trimmed + b.destaged);
    }

    /// One request at a time: a flush leaves nothing to be written, a forced write takes a program's time, and what needs no
    /// flash takes none.
    #[test]
    fn any_sequence_one_by_one(numbers in prop::array::uniform9(0usize..36), script in any_requests()) {
        let config = any_drive(numbers);
        let config = config.changed(|config| config.drive.ssd_mut().expect("an SSD").write_buffer.idle_ns = 1 << 40);
        let (_, log) = run_logged(&config, &mut Script::in_groups(&script, 1));
        prop_assert_eq!(log.requests.len(), script.len());
        let programs = log.all(OpKind::Program, Cause::Host);
        for (at, request) in log.requests.iter().enumerate() {
            let next = log.requests.get(at + 1).map_or(Nanos::MAX, |next| next.admitted_ns);
            let running = programs.iter().any(|done| done.t.end > request.end_ns && done.t.start < next);
            prop_assert!(request.kind != RequestKind::Flush || !running, "a program after a flush");
            let is_forced = script[at].fua && request.kind == RequestKind::Write;
            prop_assert!(!is_forced || request.end_ns - request.admitted_ns >= PROGRAM, "a forced write is on flash");
            let used_flash = log.ops.iter().any(|done| done.t.end > request.admitted_ns && done.t.start < request.end_ns);
            let is_instant = config.ssd().device.host_link.bandwidth_mb_s.is_none();
            prop_assert!(used_flash || !is_instant || request.end_ns == request.admitted_ns);
        }
    }
}
