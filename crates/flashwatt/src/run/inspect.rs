//! Where the files of a workload lie: `flashwatt fs inspect`.

use std::ops::Range;

use serde::Serialize;

use crate::config::{Config, Workload as Settings};
use crate::report::files::SpaceReport;
use crate::run::{RunOptions, run_with};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::progress::Progress;
use flashwatt_files::FileWorkload;
use flashwatt_files::system::{Block, Run};
use flashwatt_workload as workload;

/// The files of a file system, and where they lie.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The file system's name.
    pub system: &'static str,
    /// How full it is.
    pub space: SpaceReport,
    /// Files that have blocks.
    pub files_with_blocks: u64,
    /// Mean number of extents of those; none without such files.
    pub extents_mean: Option<f64>,
    /// Of those, the share that has more than one extent; none without such files.
    pub fragmented_fraction: Option<f64>,
    /// Pieces of the disk that hold nothing: of a log, runs of clean segments.
    pub free_extents: u64,
    /// Their mean length in blocks; none of a disk without a free block.
    pub free_extent_blocks_mean: Option<f64>,
    /// Every file, in the order of numbers.
    pub files: Vec<FileLayout>,
}

/// A file, and where it lies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileLayout {
    /// Its number.
    pub file: u32,
    /// The number of its directory; 0 is the root.
    pub directory: u32,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its parts in the order of its pages: first block, and number of blocks. Neighbours on the disk are one part.
    pub extents: Vec<[u32; 2]>,
}

/// Lays the files of a configuration's workload down, or also runs the workload, and looks where they lie then.
///
/// # Errors
/// If the workload is not `files`; as [`crate::run()`]; and if the workload does not run to its end.
pub fn inspect(
    config: &Config,
    after_run: bool,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Inspection, Error> {
    let Settings::Files(settings) = &config.workload else {
        let fault = Fault::key("workload", "it has no files").found(config.workload.name());
        return Err(fault.expected("workload = \"files\", or a table [workload.files]").into());
    };
    let mut files = workload::open_files(settings, config.run.seed, progress)?;
    if after_run {
        let report = run_with(config, &RunOptions::default(), &mut files, progress)?;
        if report.status != "complete" {
            return Err(Fault::key("workload.files", "the run is not complete").found(report.status).into());
        }
    }
    Ok(inspection(&files))
}

fn inspection(workload: &FileWorkload) -> Inspection {
    let tree = workload.source().tree();
    let files: Vec<_> = workload
        .files()
        .map(|(file, bytes)| FileLayout {
            file: file.0,
            directory: tree.file(file).dir.0,
            bytes,
            extents: joined(&workload.system().extents(file)),
        })
        .collect();
    let extents = || files.iter().map(|file| file.extents.len()).filter(|&extents| extents > 0);
    let with_blocks = extents().count();
    let share = |part: usize| (with_blocks > 0).then(|| part as f64 / with_blocks as f64);
    let usage = workload.system().usage();
    let free = free_extents(&workload.system().used(), usage.blocks as Block);
    let free_blocks: u64 = free.iter().map(|extent| u64::from(extent.end - extent.start)).sum();
    Inspection {
        system: workload.system_name(),
        space: SpaceReport::new(usage),
        free_extents: free.len() as u64,
        free_extent_blocks_mean: (!free.is_empty()).then(|| free_blocks as f64 / free.len() as f64),
        files_with_blocks: with_blocks as u64,
        extents_mean: share(extents().sum()),
        fragmented_fraction: share(extents().filter(|&extents| extents > 1).count()),
        files,
    }
}

/// What lies between the ranges in use, which are in ascending order.
fn free_extents(used: &[Range<Block>], blocks: Block) -> Vec<Range<Block>> {
    let ends = std::iter::once(0).chain(used.iter().map(|range| range.end));
    let begins = used.iter().map(|range| range.start).chain([blocks]);
    ends.zip(begins).map(|(end, begin)| end..begin).filter(|range| !range.is_empty()).collect()
}

/// Runs, those that follow one another on the disk as one.
fn joined(runs: &[Run]) -> Vec<[u32; 2]> {
    let mut extents: Vec<[u32; 2]> = Vec::new();
    for &Run { block, pages } in runs {
        match extents.last_mut() {
            Some([first, blocks]) if *first + *blocks == block => *blocks += pages,
            _ => extents.push([block, pages]),
        }
    }
    extents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_extents_lie_between_those_in_use() {
        assert_eq!(free_extents(&[0..2, 2..5, 8..9], 12), [5..8, 9..12]);
        assert_eq!(free_extents(&[1..4, 4..12], 14), [0..1, 12..14]);
        assert_eq!(free_extents(&[0..6, 6..12], 12), []);
    }

    #[test]
    fn runs_that_follow_one_another_are_one_extent() {
        let runs = [(10, 2), (12, 1), (20, 4), (13, 1)].map(|(block, pages)| Run { block, pages });
        assert_eq!(joined(&runs), [[10, 3], [20, 4], [13, 1]]);
    }
}
