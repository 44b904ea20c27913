//! Calls of writes that are longer than the cache.

use super::harness::{Script, run_seen, settings, workload};
use super::pointed::Pointed;
use crate::operation::{FileId, FileOp, Mode, OpKind, Step};
use crate::settings::PageCacheSettings;

const MS: u64 = 1_000_000;
/// Pages of the calls; the cache holds 1024.
const PAGES: u64 = 3000;
/// More requests than that are sent only by calls that never end.
const REQUESTS_MAX: u32 = 100_000;

/// Each of some threads writes a file of its own by one call. Every page is changed, and no call begins again for ever: while one waits for the block
/// that its page 2000 needs, the pages before it, or those of the other threads, take the room of that block.
fn writes_end(mode: Mode, threads: u32) {
    let write = |file| {
        let bytes = PAGES * 4096;
        Step::Op(0, FileOp { bytes, call_bytes: bytes, mode, ..FileOp::plain(OpKind::Write, FileId(file)) })
    };
    let script = Script::new(&vec![Some(0); threads as usize], (0..threads).map(|file| vec![write(file)]).collect());
    let ended = script.ended.clone();
    let settings = PageCacheSettings { memory_bytes: 4 << 20, ..settings() };
    let mut workload = workload(script, Pointed::new(2000), settings);
    let mut sent = 0;
    run_seen(&mut workload, MS, |_, _| {
        sent += 1;
        assert!(sent < REQUESTS_MAX, "the calls begin again for ever");
    });
    let ended = ended.lock().expect("one thread");
    assert_eq!(ended.iter().map(|ended| ended.result).collect::<Vec<_>>(), vec![Ok(PAGES * 4096); threads as usize]);
    assert!(workload.figures().io.written.iter().flatten().sum::<u64>() >= u64::from(threads) * PAGES);
}

#[test]
fn a_call_past_the_cache_ends() {
    writes_end(Mode::Direct, 1);
}

#[test]
fn calls_of_threads_that_take_each_other_s_room_end() {
    writes_end(Mode::Cached, 4);
}

#[test]
fn synchronous_calls_of_threads_end() {
    writes_end(Mode::Synchronous, 4);
}
