//! The section `files` of a report: what applications asked of a file system, and what came of it.

use serde::Serialize;

use flashwatt_base::stats::Latency;
use flashwatt_files::{FileWorkload, FlowFigures, IoFigures, WriteCause, system::BLOCK_BYTES, system::Usage};

/// A file system in the window of the figures.
#[derive(Clone, Debug, Serialize)]
pub struct FilesReport {
    /// The file system's name.
    pub system: &'static str,
    /// How full it is at the end.
    pub space: SpaceReport,
    /// Operations that ended, of all flows.
    pub operations: OperationsReport,
    /// The same by flow: what a program calls an operation.
    pub flows: Vec<FlowReport>,
    /// The page cache.
    pub cache: CacheReport,
    /// Blocks that went to the drive, in bytes.
    pub written: Vec<WrittenReport>,
    /// Of all bytes that went to the drive, the share of metadata; none if none did.
    pub metadata_fraction: Option<f64>,
    /// Flushes that were sent to the drive.
    pub flushes: u64,
}

/// How full a file system is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpaceReport {
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Blocks of the file system.
    pub blocks: u64,
    /// Blocks that nothing uses.
    pub free_blocks: u64,
    /// Blocks that an empty file system uses.
    pub overhead_blocks: u64,
    /// Files and directories that it can hold; none if only its blocks bound them.
    pub inodes: Option<u64>,
    /// Of these, how many more.
    pub free_inodes: Option<u64>,
}

/// Operations of all flows.
#[derive(Clone, Debug, Serialize)]
pub struct OperationsReport {
    /// Operations that ended.
    pub count: u64,
    /// Of these, how many failed for want of space.
    pub no_space: u64,
    /// Of these, how many failed for another reason: no such file, or one that was there already.
    pub failed: u64,
    /// Bytes that applications read and wrote.
    pub bytes: u64,
    /// Simulated seconds from the start of the window until the last thread ended.
    pub seconds: f64,
    /// Operations per second of that time; none without operations.
    pub per_s: Option<f64>,
    /// Energy in J of the whole window, divided by the operations; none without operations. The window ends with the unmount, unless a number of
    /// requests is measured (`--requests`).
    pub per_operation_j: Option<f64>,
}

/// Operations of a flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowReport {
    /// Its name.
    pub name: String,
    /// Operations that ended.
    pub count: u64,
    /// Of these, how many failed for want of space.
    pub no_space: u64,
    /// Of these, how many failed for another reason.
    pub failed: u64,
    /// Bytes that were read or written.
    pub bytes: u64,
    /// Times in ns of those that did not fail.
    pub latency_ns: Latency,
}

/// The page cache.
#[derive(Clone, Debug, Serialize)]
pub struct CacheReport {
    /// Pages that threads read.
    pub looked: u64,
    /// Of these, the share that was in memory; none without reads.
    pub hit_ratio: Option<f64>,
    /// Pages of files that were read from the drive, those read ahead included.
    pub data_reads: u64,
    /// Blocks of metadata that were read from the drive.
    pub metadata_reads: u64,
    /// Blocks that the file system's cleaner read.
    pub cleaning_reads: u64,
    /// Time in s that threads waited because too much was dirty.
    pub throttled_s: f64,
}

/// Bytes that were written for a cause.
#[derive(Clone, Debug, Serialize)]
pub struct WrittenReport {
    /// Why.
    pub cause: &'static str,
    /// Bytes of files.
    pub data_bytes: u64,
    /// Bytes of the file system's own.
    pub metadata_bytes: u64,
}

impl FilesReport {
    /// The section of a window in which the drive used this energy in J.
    pub(super) fn new(workload: &FileWorkload, energy_j: f64) -> Self {
        let figures = workload.figures();
        let flows = workload.source().flows().iter().zip(&figures.flows);
        let io = &figures.io;
        let blocks = |is_meta: usize| io.written.iter().map(|written| written[is_meta]).sum::<u64>();
        let (data, metadata) = (blocks(0), blocks(1));
        FilesReport {
            system: workload.system_name(),
            space: SpaceReport::new(workload.system().usage()),
            operations: operations(&figures.flows, workload.seconds(), energy_j),
            flows: flows.map(|(flow, figures)| FlowReport::new(&flow.name, figures)).collect(),
            cache: cache(io),
            written: WriteCause::ALL
                .iter()
                .filter(|cause| is_listed(io, **cause))
                .map(|&cause| written(io, cause))
                .collect(),
            metadata_fraction: ratio(metadata as f64, (data + metadata) as f64),
            flushes: io.flushes,
        }
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

impl SpaceReport {
    /// How full a file system is.
    pub(crate) fn new(usage: Usage) -> Self {
        let Usage { blocks, free_blocks, overhead_blocks, inodes, free_inodes } = usage;
        SpaceReport { block_bytes: BLOCK_BYTES, blocks, free_blocks, overhead_blocks, inodes, free_inodes }
    }
}

fn operations(flows: &[FlowFigures], seconds: f64, energy_j: f64) -> OperationsReport {
    let sum = |of: fn(&FlowFigures) -> u64| flows.iter().map(of).sum::<u64>();
    let count = sum(|flow| flow.count);
    OperationsReport {
        count,
        no_space: sum(|flow| flow.no_space),
        failed: sum(|flow| flow.failed),
        bytes: sum(|flow| flow.bytes),
        seconds,
        per_s: ratio(count as f64, seconds).filter(|_| count > 0),
        per_operation_j: ratio(energy_j, count as f64),
    }
}

impl FlowReport {
    fn new(name: &str, figures: &FlowFigures) -> Self {
        let &FlowFigures { count, no_space, failed, bytes, .. } = figures;
        FlowReport { name: name.to_string(), count, no_space, failed, bytes, latency_ns: figures.latency.summary() }
    }
}

fn cache(io: &IoFigures) -> CacheReport {
    CacheReport {
        looked: io.looked,
        hit_ratio: ratio(io.hits as f64, io.looked as f64),
        data_reads: io.data_reads,
        metadata_reads: io.meta_reads,
        cleaning_reads: io.cleaning_reads,
        throttled_s: io.throttled_ns as f64 / 1e9,
    }
}

/// Whether a cause has a line: commits only where there is a journal.
fn is_listed(io: &IoFigures, cause: WriteCause) -> bool {
    cause != WriteCause::Commit || io.written[cause as usize] != [0, 0]
}

fn written(io: &IoFigures, cause: WriteCause) -> WrittenReport {
    let [data, metadata] = io.written[cause as usize].map(|blocks| blocks * BLOCK_BYTES);
    WrittenReport { cause: cause.name(), data_bytes: data, metadata_bytes: metadata }
}
