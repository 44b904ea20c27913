//! Fragmentation, against ext2 of Linux 6.1.
//!
//! The captured job (`tests/python/data/files`, `docs/validation-files.md`): eight threads write 50 files of 512 KiB each, at the same
//! time, into the root of an empty disk of 512 MiB. In ten runs filefrag found 2.96 to 3.11 extents in a file. Most have 2 to 4, one or
//! two of the 400 have 6 or 7. How long a thread of the guest wrote before another one had its turn is not known.

use super::Rig;
use crate::operation::FileId;
use crate::system::FileSystem;
use flashwatt_base::rng::Rng;

const THREADS: u16 = 8;
const FILES: u32 = 50;
/// Pages of a file, and of a call.
const PAGES: u32 = 128;
const CALL: u32 = 4;
/// Pages that a thread writes in a turn: chosen so that the mean is met; half and double of it miss it on either side.
const TURN_PAGES: u32 = 32;
/// The means of the captured runs, least and most.
const LINUX: [f64; 2] = [2.9575, 3.1125];

/// Extents of the files when threads, the first one of this number, take turns of this length at random.
fn extents(first_process: u16, turn_pages: u32) -> Vec<usize> {
    let mut rig = Rig::new(512, &[]);
    let mut rng = Rng::new(u64::from(first_process));
    let mut written = [0; THREADS as usize];
    let mut busy: Vec<usize> = (0..THREADS.into()).collect();
    while !busy.is_empty() {
        let at = rng.below(busy.len() as u64) as usize;
        let thread = busy[at];
        rig.process = first_process + thread as u16;
        for _ in 0..turn_pages / CALL {
            write_call(&mut rig, thread as u32 * FILES + written[thread] / PAGES, written[thread] % PAGES);
            written[thread] += CALL;
            if written[thread] == FILES * PAGES {
                busy.swap_remove(at);
                break;
            }
        }
    }
    (0..u32::from(THREADS) * FILES).map(|file| rig.runs(file).len()).collect()
}

/// The file is made before its first page, and closed behind its last one.
fn write_call(rig: &mut Rig, file: u32, page: u32) {
    if page == 0 {
        rig.create(file, 0).expect("room");
    }
    rig.write(file, page..page + CALL).expect("room");
    if page + CALL == PAGES {
        rig.system.closed(FileId(file));
    }
}

/// The mean over all places in a group where the first thread may begin, and the most extents of a file.
fn mean_and_most(turn_pages: u32) -> (f64, usize) {
    let all: Vec<usize> = (0..16).flat_map(|first| extents(first, turn_pages)).collect();
    (all.iter().sum::<usize>() as f64 / all.len() as f64, all.into_iter().max().unwrap_or(0))
}

#[test]
fn files_that_are_laid_out_together_have_as_many_extents() {
    let (mean, most) = mean_and_most(TURN_PAGES);
    assert!((LINUX[0] * 0.9..LINUX[1] * 1.1).contains(&mean), "{mean}");
    assert!((5..=8).contains(&most), "{most}");
    let [(short, _), (long, _)] = [TURN_PAGES / 2, 2 * TURN_PAGES].map(mean_and_most);
    assert!(short > LINUX[1] && long < LINUX[0], "{short} {long}: longer turns break files less");
}

/// Two a file are the least: the indirect block is in between.
#[test]
fn a_thread_alone_breaks_a_file_at_its_indirect_block() {
    let mut rig = Rig::new(512, &[]);
    for file in 0..FILES {
        (0..PAGES / CALL).for_each(|call| write_call(&mut rig, file, call * CALL));
        assert_eq!(rig.runs(file).len(), 2, "file {file}");
    }
}
