//! Logs that were worked out by hand.
//!
//! A disk of 64 MiB (16,384 blocks), segments of 256 blocks. `lfs`: the superblock, two regions of 2 blocks each (a header, and
//! addresses of 128 blocks of inodes and one table of segments: 1032 bytes), so the first segment begins at 256. It holds its summary (88 + 4096
//! bytes: 2 blocks), the root directory's names at 258, inodes at 259 and the table at 260. The log goes on at 261.

use super::bench::system;
use crate::systems::lfs::Style::{self, Nilfs2, Sprite};
use crate::tests::harness::{Script, moves, plain, run, settings, workload};
use crate::{OpKind, Step};
use flashwatt_core::connector::RequestKind::{Flush, Read, Write};

const MS: u64 = 1_000_000;
const DISK: u64 = 64 << 20;

/// What a script on new files sends, a thread for each: kinds, blocks, lengths. The first create reads the directory's inode and names.
fn requests(style: Style, steps: Vec<Vec<Step>>) -> Vec<(flashwatt_core::connector::RequestKind, u64, u64)> {
    let system = system(style, DISK, &[("segment_bytes", 1_048_576.0), ("clean_idle_ms", 0.0)]);
    let mut workload = workload(Script::new(&vec![None; steps.len()], steps), system, settings());
    let sent: Vec<_> = run(&mut workload, MS).iter().map(|sent| (sent.kind, sent.block, sent.blocks)).collect();
    assert_eq!(sent[..2], [(Read, 259, 1), (Read, 258, 1)]);
    sent[2..].to_vec()
}

fn append(bytes: u64) -> [Step; 2] {
    [moves(OpKind::Append, 0, 0, bytes), plain(OpKind::Fsync, 0)]
}

fn created(more: &[Step]) -> Vec<Vec<Step>> {
    vec![[&[plain(OpKind::Create, 0)], more].concat()]
}

/// A summary, four pages, the directory's names, a block of inodes (the file's and the directory's): 7 blocks. The checkpoint at the end finds all
/// metadata written: a region of a header and one block of addresses.
#[test]
fn an_fsync_of_16_kib_appends_seven_blocks() {
    let sent = requests(Sprite, created(&append(16_384)));
    assert_eq!(sent, [(Write, 261, 7), (Flush, 0, 0), (Write, 1, 2), (Flush, 0, 0)]);
}

/// The second fsync: a summary, a page, the inode's block. The directory is as it was.
#[test]
fn an_overwrite_takes_a_summary_a_page_and_the_inode() {
    let again = [moves(OpKind::Write, 0, 4096, 4096), plain(OpKind::Fsync, 0)];
    let sent = requests(Sprite, created(&[append(16_384), again].concat()));
    assert_eq!(sent[2..4], [(Write, 268, 3), (Flush, 0, 0)]);
}

/// The 13th page needs the indirect block: 1 + 13 + 2 nodes + 1.
#[test]
fn a_longer_file_takes_an_indirect_block() {
    assert_eq!(requests(Sprite, created(&append(13 * 4096)))[0], (Write, 261, 17));
}

/// 300 pages. Segment 0 has 251 blocks left: two of summary (64 + 24 + 249 · 16 = 4072: one), so a summary and 250 pages; 50 pages, 2 nodes, inodes
/// and a summary in the next segment, at 512.
#[test]
fn a_log_goes_on_in_the_next_segment() {
    let sent = requests(Sprite, created(&append(300 * 4096)));
    assert_eq!(sent[..3], [(Write, 261, 251), (Write, 512, 54), (Flush, 0, 0)]);
}

/// An fsync of a file that is durable sends nothing.
#[test]
fn a_durable_file_is_not_written_again() {
    let sent = requests(Sprite, created(&[append(4096).to_vec(), vec![plain(OpKind::Fsync, 0)]].concat()));
    assert_eq!(sent[..3], [(Write, 261, 4), (Flush, 0, 0), (Write, 1, 2)]);
}

/// `nilfs2`: behind the summary of segment 1 (256) lie names, inodes, 128 tables of translations, one of segments and three of
/// checkpoints, up to 391. An fsync takes a summary, 4 pages, names, inodes; translations 2 (of blocks 256 to 383, where names and
/// inodes lay) and 3 (where all of them go); two blocks of the checkpoints' file and the super root: 12. At the end a checkpoint of its own.
#[test]
fn an_fsync_of_nilfs2_is_a_checkpoint() {
    let sent = requests(Nilfs2, created(&append(16_384)));
    assert_eq!(sent, [(Write, 392, 12), (Flush, 0, 0), (Write, 404, 4), (Flush, 0, 0)]);
}

/// Three threads with a file each: the first fsync finds all three dirty, and writes them as one log, which the others wait for.
#[test]
fn threads_of_nilfs2_share_a_log() {
    let steps =
        |file| vec![plain(OpKind::Create, file), moves(OpKind::Append, file, 0, 16_384), plain(OpKind::Fsync, file)];
    let sent = requests(Nilfs2, (0..3).map(steps).collect());
    assert_eq!(sent[..2], [(Write, 392, 20), (Flush, 0, 0)]);
    assert_eq!(sent.iter().filter(|sent| sent.0 == Flush).count(), 2, "{sent:?}");
}
