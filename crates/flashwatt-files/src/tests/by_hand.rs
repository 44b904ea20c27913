//! Small cases whose requests were worked out by hand from the rules.

use super::flat::{FILE_BLOCKS, Flat};
use super::harness::{Script, moves, moves_as, plain, run, run_seen, sent, settings, workload};
use crate::settings::PageCacheSettings;
use crate::{Mode, OpError, OpKind, Step};
use flashwatt_core::connector::RequestKind::{Flush, Read, Write};

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
const F1: u64 = FILE_BLOCKS as u64;

/// What a script sends to a drive on which a request takes 1 ms.
fn requests(files: &[Option<u64>], steps: Vec<Step>) -> Vec<super::harness::Sent> {
    run(&mut workload(Script::new(files, vec![steps]), Flat::default(), settings()), MS)
}

/// Four pages are written at 0. The flusher looks every 5 s for pages that have been dirty for 30 s: at 30 s they have not, at
/// 35 s they have. The thread sleeps to 40 s; the unmount then finds nothing dirty and flushes.
#[test]
fn pages_are_written_back_when_they_have_been_dirty_for_30_s() {
    let steps = vec![plain(OpKind::Create, 0), moves(OpKind::Append, 0, 0, 16384), Step::Sleep(40 * S)];
    assert_eq!(requests(&[None], steps), [sent(35 * S, Write, 0, 4), sent(40 * S, Flush, 0, 0)]);
}

/// A create (1 µs) and an append of four calls (4 µs); then fsync sends the pages, and a flush when they are there.
#[test]
fn an_fsync_writes_waits_and_flushes() {
    let steps = vec![plain(OpKind::Create, 1), moves(OpKind::Append, 1, 0, 16384), plain(OpKind::Fsync, 1)];
    let script = Script::new(&[None, None], vec![steps]);
    let ended = script.ended.clone();
    let requests = run(&mut workload(script, Flat::default(), settings()), MS);
    assert_eq!(requests[..2], [sent(5_000, Write, F1, 4), sent(5_000 + MS, Flush, 0, 0)]);
    let ended = ended.lock().expect("one thread");
    assert_eq!((ended[2].kind, ended[2].at_ns), (OpKind::Fsync, 5_000 + 2 * MS + 1_000));
}

/// Windows of 4, 8, 16, 32, 32 pages, each started when the marked page of the one before is read.
#[test]
fn a_file_that_is_read_in_order_is_read_ahead() {
    let read = moves(OpKind::ReadWhole, 0, 0, 0);
    let requests = requests(&[Some(100 * 4096)], vec![read]);
    let reads: Vec<_> =
        requests.iter().filter(|sent| sent.kind == Read).map(|sent| (sent.block, sent.blocks)).collect();
    assert_eq!(reads, [(0, 4), (4, 8), (12, 16), (28, 32), (60, 32), (92, 8)]);
}

/// 512 bytes into the middle of page 1 of two: the page is read before it changes. A whole page and one behind the end are not.
#[test]
fn a_page_of_which_a_part_is_written_is_read_first() {
    let write = |offset, bytes| vec![moves(OpKind::Write, 0, offset, bytes), plain(OpKind::Fsync, 0)];
    let kinds = |steps| {
        requests(&[Some(8192)], steps).iter().map(|sent| (sent.kind, sent.block, sent.blocks)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(write(5000, 512)), [(Read, 1, 1), (Write, 1, 1), (Flush, 0, 0), (Flush, 0, 0)]);
    assert_eq!(kinds(write(4096, 4096))[0], (Write, 1, 1));
    assert_eq!(kinds(write(8192, 512))[0], (Write, 2, 1));
}

/// The cache holds 256 pages, of which 51 may be dirty (20 %) and 25 before they are written back (10 %). Of the 100 calls of an
/// append, 1 µs each, the 26th starts the flusher. The 53rd, at 53 µs, waits until the first pages are on the disk, at 1026 µs.
#[test]
fn too_many_dirty_pages_are_written_back_and_then_writers_wait() {
    let settings = PageCacheSettings { memory_bytes: 256 * 4096, ..settings() };
    let script = Script::new(&[None], vec![vec![plain(OpKind::Create, 0), moves(OpKind::Append, 0, 0, 100 * 4096)]]);
    let mut workload = workload(script, Flat::default(), settings);
    let requests = run(&mut workload, MS);
    assert_eq!(requests[0], sent(26_000, Write, 0, 26));
    assert_eq!(requests.iter().map(|sent| sent.blocks).sum::<u64>(), 100, "every page once");
    assert_eq!(workload.figures().io.throttled_ns, 973_000);
}

/// As above, but the append ends with its 26th call. Page 0 changes again while it is on its way to the disk, until 1026 µs: the
/// unmount writes it when it has arrived.
#[test]
fn a_page_that_changes_on_its_way_to_the_disk_is_written_again() {
    let settings = PageCacheSettings { memory_bytes: 256 * 4096, ..settings() };
    let append = moves(OpKind::Append, 0, 0, 26 * 4096);
    let steps = vec![plain(OpKind::Create, 0), append, moves(OpKind::Write, 0, 0, 4096)];
    let requests = run(&mut workload(Script::new(&[None], vec![steps]), Flat::default(), settings), MS);
    let later = [sent(26_000 + MS, Write, 0, 1), sent(26_000 + 2 * MS, Flush, 0, 0)];
    assert_eq!((requests[0], &requests[1..]), (sent(26_000, Write, 0, 26), &later[..]));
}

#[test]
fn synchronous_and_direct_writes_are_on_the_drive_when_they_end() {
    let synchronous = moves_as(Mode::Synchronous, OpKind::Write, 0, 0, 8192);
    let requests_of = |step| {
        requests(&[Some(8192)], vec![step]).iter().map(|sent| (sent.kind, sent.block, sent.blocks)).collect::<Vec<_>>()
    };
    assert_eq!(requests_of(synchronous)[..4], [(Write, 0, 1), (Flush, 0, 0), (Write, 1, 1), (Flush, 0, 0)]);
    let direct = moves_as(Mode::Direct, OpKind::Write, 0, 0, 8192);
    assert_eq!(requests_of(direct), [(Write, 0, 1), (Write, 1, 1), (Flush, 0, 0)]);
    let read = moves_as(Mode::Direct, OpKind::Read, 0, 0, 8192);
    assert_eq!(requests_of(read), [(Read, 0, 1), (Read, 1, 1), (Flush, 0, 0)]);
}

#[test]
fn operations_that_cannot_be_done_say_why() {
    let steps =
        vec![plain(OpKind::Open, 0), plain(OpKind::Create, 0), plain(OpKind::Create, 0), plain(OpKind::Remove, 0)];
    let script = Script::new(&[None], vec![steps]);
    let ended = script.ended.clone();
    run(&mut workload(script, Flat::default(), settings()), MS);
    let results: Vec<_> = ended.lock().expect("one thread").iter().map(|ended| ended.result).collect();
    assert_eq!(results, [Err(OpError::NoFile), Ok(0), Err(OpError::Exists), Ok(0)]);
}

/// A second thread that reads a page on its way waits for it, and does not ask for it again.
#[test]
fn threads_share_what_is_read() {
    let read = || vec![moves(OpKind::Read, 0, 0, 4096)];
    let script = Script::new(&[Some(4096)], vec![read(), read()]);
    let ended = script.ended.clone();
    let requests = run(&mut workload(script, Flat::default(), settings()), MS);
    assert_eq!(requests.iter().filter(|sent| sent.kind == Read).count(), 1);
    assert!(ended.lock().expect("one thread").iter().all(|ended| ended.at_ns == MS + 1_000));
}

/// Schedulers go by the process, each thread one of its own, and by whether somebody waits. For the flusher's write of what the first
/// thread has written nobody does.
#[test]
fn requests_name_their_thread_and_say_whether_somebody_waits() {
    let dirties = vec![moves(OpKind::Append, 0, 0, 4096), Step::Sleep(40 * S)];
    let syncs = vec![moves(OpKind::Append, 1, 0, 4096), plain(OpKind::Fsync, 1), moves(OpKind::Read, 2, 0, 4096)];
    let script = Script::new(&[Some(0), Some(0), Some(4096)], vec![dirties, syncs]);
    let mut found = Vec::new();
    run_seen(&mut workload(script, Flat::default(), settings()), MS, |_, request| {
        found.push((request.kind, request.process, request.is_sync));
    });
    assert_eq!(found, [(Write, 2, true), (Flush, 2, true), (Read, 2, true), (Write, 0, false), (Flush, 0, true)]);
}
