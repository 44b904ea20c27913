//! The start state `mapped`: every page has a place, nothing was written. Operations of scripted requests against values worked
//! by hand.

use crate::common::{PAGE, half_write, play, preset, read, request, write};
use flashwatt::Report;
use flashwatt::config::Config;
use flashwatt_base::units::{Nanos, OpId, Ppn};
use flashwatt_core::connector::RequestKind;
use flashwatt_ssd::ftl;
use flashwatt_ssd::nand::reserve::Reserve;
use flashwatt_ssd::nand::{Array, FlashAddress, Geometry};

/// Pages of a block.
const BLOCK: u64 = 8;
/// Between two requests: each completes before the next one comes.
const GAP: Nanos = 1_000_000_000;
/// The layers whose pages have their places in blocks of their own.
const LAYERS: [&str; 7] = ["block", "nftl", "bast", "bast_star", "fast", "last", "superblock"];
/// The layers that give a page its place with the write. One block of each die stands for what was written before.
const BY_PAGE: [&str; 4] = ["page", "dftl", "tpftl", "rftl"];

/// A drive of one die with four logical blocks of eight pages, ten more than it needs.
fn drive(ftl: &str, start: &str, more: &[&str]) -> Config {
    let layer = if ftl == "rftl" { "ftl.rftl.replicas=0".to_string() } else { format!("ftl=\"{ftl}\"") };
    let sets = [
        &layer,
        "device.channels=1",
        "device.ways=1",
        &format!("device.pages_per_block={BLOCK}"),
        "device.blocks_per_plane=14",
        &format!("device.logical_bytes={}", 4 * BLOCK * PAGE),
        &format!("run.precondition=\"{start}\""),
    ];
    preset("limit", &[&sets[..], more].concat())
}

/// Reads and programs for the host, copies of merges, erases.
fn counts(report: &Report) -> (u64, u64, u64, u64) {
    let flash = &report.ssd().flash;
    (flash.reads.host, flash.programs.host, flash.programs.merge, flash.erases.merge)
}

/// A read of a page that was never written costs what a read of data costs, to the nanosecond and the joule. From an empty
/// drive it costs nothing.
#[test]
fn a_read_of_a_place_is_a_read() {
    for ftl in LAYERS.into_iter().chain(BY_PAGE) {
        let reads = [read(0, 3, 1), read(GAP, 8, 4), read(2 * GAP, 31, 1)];
        let run = |start: &str| play(&drive(ftl, start, &[]), &reads);
        let ((mapped, log), (filled, of_filled), (empty, _)) = (run("mapped"), run("filled"), run("empty"));
        assert_eq!(counts(&mapped), (6, 0, 0, 0), "{ftl}");
        assert_eq!(counts(&mapped), counts(&filled), "{ftl}");
        assert_eq!((mapped.ssd().flash.unwritten_reads, empty.ssd().flash.unwritten_reads), (0, 6), "{ftl}");
        assert_eq!(counts(&empty), (0, 0, 0, 0), "{ftl}");
        assert_eq!(mapped.ssd().energy_j.total, filled.ssd().energy_j.total, "{ftl}");
        assert_eq!(mapped.ssd().flash.reads.map, filled.ssd().flash.reads.map, "{ftl}: the map was on flash before");
        let ends = |log: &crate::common::Log| log.requests.iter().map(|done| done.end_ns).collect::<Vec<_>>();
        assert_eq!(ends(&log), ends(&of_filled), "{ftl}");
    }
}

/// Block mapping: the first write of a page goes to its place. An overwrite moves what was written to a fresh block; a page that
/// was not written keeps a place there and costs no copy. A trimmed page has none.
#[test]
fn places_move_with_their_block() {
    let requests = [
        write(0, 0, 2),                            // in place: 2 programs
        write(GAP, 0, 1),                          // a fresh block: 1 program, 1 copy, 1 erase
        read(2 * GAP, 0, 8),                       // 8 reads, 6 of them of places
        request(3 * GAP, RequestKind::Trim, 3, 1), // no place any more
        read(4 * GAP, 0, 8),                       // 7 reads, and one page that was never written
        write(5 * GAP, 3, 1),                      // in place again: 1 program
        read(6 * GAP, 3, 1),                       // 1 read
    ];
    let (report, _) = play(&drive("block", "mapped", &[]), &requests);
    assert_eq!(counts(&report), (16, 4, 1, 1));
    assert_eq!(report.ssd().flash.unwritten_reads, 1);
}

/// The drive does not know that a page was never written: the write of a part of it reads the place first.
#[test]
fn a_part_of_a_page_reads_its_place_first() {
    for ftl in LAYERS {
        let (report, log) = play(&drive(ftl, "mapped", &[]), &[half_write(0, 5)]);
        assert_eq!(counts(&report), (1, 1, 0, 0), "{ftl}");
        let [read, program] = &log.ops[..] else { panic!("{ftl}: {:?}", log.ops.len()) };
        assert!(read.op.at == program.op.at && read.t.end <= program.t.start, "{ftl}: both of the same page");
        let (report, _) = play(&drive(ftl, "empty", &[]), &[half_write(0, 5)]);
        assert_eq!(counts(&report), (0, 1, 0, 0), "{ftl}: nothing to read");
    }
}

/// A layer of pages reads the place of what was there before, too, and writes the page elsewhere. From then on the page has its
/// own address. A trimmed page has no place any more.
#[test]
fn a_layer_of_pages_reads_what_was_there_before() {
    for ftl in BY_PAGE {
        let requests = [
            half_write(0, 5),                          // 1 read of the place, 1 program
            read(GAP, 5, 1),                           // 1 read of the program's page
            request(2 * GAP, RequestKind::Trim, 6, 1), // no place any more
            read(3 * GAP, 6, 2),                       // 1 read of the place of page 7, and one page without
        ];
        let (report, log) = play(&drive(ftl, "mapped", &[]), &requests);
        assert_eq!(counts(&report), (3, 1, 0, 0), "{ftl}");
        assert_eq!(report.ssd().flash.unwritten_reads, 1, "{ftl}");
        let of_host: Vec<_> = log.ops.iter().filter(|done| done.op.cause == ftl::Cause::Host).collect();
        let [before, program, read, other] = &of_host[..] else { panic!("{ftl}: {:?}", of_host.len()) };
        assert!(before.op.at != program.op.at && before.t.end <= program.t.start, "{ftl}");
        assert_eq!((read.op.at, other.op.at.block), (program.op.at, before.op.at.block), "{ftl}");
    }
}

/// Overwrites of the whole drive, many times, leave the block alone from which unwritten pages are read: the last page, never
/// written, is read from an erased page of it, and collection has erased every other one.
#[test]
fn collection_spares_the_block_of_what_was_there_before() {
    for ftl in BY_PAGE {
        let writes = (0..1_000).map(|i| write(i * GAP, i * 7 % 31, 1));
        let requests: Vec<_> = writes.chain([read(1_000 * GAP, 31, 1)]).collect();
        let (report, log) = play(&drive(ftl, "mapped", &[]), &requests);
        assert_eq!((report.ssd().flash.reads.host, report.ssd().flash.unwritten_reads), (1, 0), "{ftl}");
        let place = log.ops.iter().rfind(|done| done.op.cause == ftl::Cause::Host).expect("the read").op.at.block;
        assert!(log.ops.iter().all(|done| done.op.at.block != place || done.op.kind == ftl::OpKind::Read), "{ftl}");
        assert!(report.ssd().flash.erases.total > 20, "{ftl}");
    }
}

/// NFTL: with a replacement block, a page is searched in its spare areas first, and then read at its place. Two overwrites make
/// two spare areas; with `one` the last is enough.
#[test]
fn nftl_searches_before_it_reads_a_place() {
    for (probe, spares) in [("scan", 2), ("one", 1), ("none", 0)] {
        let requests = [write(0, 0, 1), write(GAP, 0, 1), write(2 * GAP, 0, 1), read(3 * GAP, 6, 1)];
        let probe = format!("ftl.nftl.probe=\"{probe}\"");
        let (report, log) = play(&drive("nftl", "mapped", &[&probe]), &requests);
        assert_eq!(counts(&report), (1, 3, 0, 0), "{probe}");
        let found = log.ops.iter().filter(|done| done.op.kind == ftl::OpKind::SpareRead).count();
        assert_eq!(found, spares, "{probe}");
    }
}

/// FAST with one block for random writes of single pages: the ninth overwrite finds it full. The full merge copies the two pages
/// that were written, the newest version of each, and none of the other six places; both old blocks are erased. On a full drive
/// it copies eight pages.
#[test]
fn merges_copy_no_place() {
    let overwrites = (0..9).map(|i| write((2 + i) * GAP, 1, 1));
    let requests: Vec<_> = [write(0, 1, 1), write(GAP, 2, 1)].into_iter().chain(overwrites).collect();
    for (start, copies) in [("mapped", 2), ("filled", 8)] {
        let (report, _) = play(&drive("fast", start, &["ftl.fast.log_blocks=2"]), &requests);
        assert_eq!(report.ssd().ftl.merges.expect("it merges").full, 1, "{start}");
        assert_eq!(counts(&report), (0, 11, copies, 2), "{start}");
    }
}

/// Every layer that comes with the simulator can start so.
#[test]
fn every_layer_can_start_so() {
    for name in ftl::REGISTRY.iter().map(|entry| entry.name) {
        let sets = [format!("ftl=\"{name}\""), "run.precondition=\"mapped\"".into(), "device.op_ratio=1".into()];
        let loaded = flashwatt::config::load("device.preset = \"limit\"", "my.toml", &sets);
        assert!(loaded.is_ok(), "{name}: {:?}", loaded.err().map(|error| error.to_string()));
        let before = loaded.expect("it is valid").ssd().device.reserves[Reserve::Before];
        assert_eq!(before, u32::from(BY_PAGE.contains(&name)), "{name}");
    }
}

fn array() -> (Array, FlashAddress) {
    let config = drive("block", "empty", &[]);
    let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
    let at = geometry.place(Ppn(3));
    (Array::new(geometry, config.ssd().device.nand.program_order), at)
}

/// The referee lets a read of an erased page pass only if it is planned as one.
#[test]
#[should_panic(expected = "a read of a page that is not programmed")]
fn a_plain_read_of_an_erased_page_is_refused() {
    let (array, at) = array();
    array.plan_blank_read(at);
    array.start_read(at);
}

/// And no page with data, or with a planned program, passes for an erased one.
#[test]
#[should_panic(expected = "a read that takes a page for erased")]
fn a_page_with_a_planned_program_is_not_erased() {
    let (mut array, at) = array();
    array.plan_program(at, OpId(0));
    array.plan_blank_read(at);
}
