//! Parameters of log-structured file systems, and how one lies on a disk.

use super::log::summaries;
use super::meta::INODES_PER_BLOCK;
use super::shape::Shape;
use super::{Lfs, Style};
use crate::system::{BLOCK_BYTES, Block, FileSystem};
use crate::systems::{Recipe, Registered};
use flashwatt_base::error::Fault;
use flashwatt_base::registry::{Param, Parameters};
use flashwatt_base::units::Nanos;

const MIB: f64 = 1_048_576.0;

/// The values by default in which the two file systems differ.
struct Defaults {
    segment_bytes: f64,
    clean_low: f64,
    clean_high: f64,
    clean_idle_ms: f64,
    clean_segments: f64,
    clean_whole: f64,
}

const fn params(default: &Defaults) -> [Param; 9] {
    [
        param("segment_bytes", "bytes of a segment; a multiple of 4096", default.segment_bytes, 65_536.0, 64.0 * MIB),
        percent("clean_low", LOW, default.clean_low),
        percent("clean_high", HIGH, default.clean_high),
        Param { integer: false, ..param("clean_idle_ms", IDLE, default.clean_idle_ms, 0.0, 1e6) },
        param("clean_segments", PASS, default.clean_segments, 1.0, 64.0),
        param("cost_benefit", POLICY, 1.0, 0.0, 1.0),
        param("clean_whole", WHOLE, default.clean_whole, 0.0, 1.0),
        Param { integer: false, ..param("checkpoint_s", CHECKPOINT, 30.0, 0.01, 1e5) },
        param("trim", TRIM, 0.0, 0.0, 1.0),
    ]
}

const fn param(name: &'static str, doc: &'static str, default: f64, min: f64, max: f64) -> Param {
    Param { name, doc, default, min, max, integer: true }
}

const fn percent(name: &'static str, doc: &'static str, default: f64) -> Param {
    Param { name, doc, default, min: 0.0, max: 50.0, integer: false }
}

const LOW: &str = "clean segments below which the cleaner starts, in % of all, above a reserve";
const HIGH: &str = "clean segments at which it stops, in % of all, above the reserve";
const IDLE: &str = "after this time in ms without a call of a thread the cleaner goes on up to clean_high; 0: never";
const PASS: &str = "segments that are cleaned before they are released together";
const POLICY: &str = "which segment: that of greatest (1 - u) * age / (1 + u) (1), or with the fewest live blocks (0)";
const WHOLE: &str = "does the cleaner read a segment whole (1), or its live blocks (0)?";
const CHECKPOINT: &str = "time in s between checkpoints";
const TRIM: &str = "are segments that become clean trimmed? (0 or 1)";

/// Segments of 1 MiB are a choice; Sprite LFS had 512 KiB. Watermarks: its cleaner starts at a few tens of clean segments and stops at 50
/// to 100, of 600 to 2600; whole segments, cost and benefit, 30 s as there. Passes and idle time are choices.
pub const LFS: Registered = Registered {
    name: "lfs",
    doc: "a log in segments, with a cleaner (Sprite LFS, Rosenblum and Ousterhout 1992)",
    params: &params(&Defaults {
        segment_bytes: MIB,
        clean_low: 2.0,
        clean_high: 5.0,
        clean_idle_ms: 1_000.0,
        clean_segments: 8.0,
        clean_whole: 1.0,
    }),
    build: Recipe { make: |parameters, bytes| make(Style::Sprite, parameters, bytes), has_options: false },
};

/// Segments of 8 MiB and checkpoints of 30 s are the defaults of mkfs.nilfs2 and of fs/nilfs2 (NILFS_SC_DEFAULT_SR_FREQ); watermarks and two
/// segments at a time those of nilfs_cleanerd. It takes the oldest segments (its timestamp policy), to which cost and benefit comes nearest.
pub const NILFS2: Registered = Registered {
    name: "nilfs2",
    doc: "a log whose every fsync is a checkpoint of the whole file system (NILFS2, Linux 6.1)",
    params: &params(&Defaults {
        segment_bytes: 8.0 * MIB,
        clean_low: 10.0,
        clean_high: 20.0,
        clean_idle_ms: 0.0,
        clean_segments: 2.0,
        clean_whole: 0.0,
    }),
    build: Recipe { make: |parameters, bytes| make(Style::Nilfs2, parameters, bytes), has_options: false },
};

/// The values of the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Shares of the segments.
    pub clean_low: f64,
    pub clean_high: f64,
    pub clean_idle_ns: Nanos,
    pub clean_segments: u32,
    pub is_cost_benefit: bool,
    pub reads_whole: bool,
    pub checkpoint_ns: Nanos,
    pub trims: bool,
}

impl Settings {
    fn new(parameters: &Parameters) -> Self {
        Settings {
            clean_low: parameters.number("clean_low") / 100.0,
            clean_high: parameters.number("clean_high") / 100.0,
            clean_idle_ns: parameters.ms("clean_idle_ms"),
            clean_segments: parameters.count("clean_segments") as u32,
            is_cost_benefit: parameters.is_on("cost_benefit"),
            reads_whole: parameters.is_on("clean_whole"),
            checkpoint_ns: (parameters.number("checkpoint_s") * 1e9) as Nanos,
            trims: parameters.is_on("trim"),
        }
    }
}

/// Where the parts of a file system lie.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Blocks of the disk.
    pub blocks: u32,
    pub segment_blocks: u32,
    /// The first block of the first segment.
    pub first: Block,
    pub segments: u32,
    /// The two places where a checkpoint (`lfs`) or the superblock (`nilfs2`) goes by turns.
    pub regions: [Block; 2],
    /// Blocks of the file of translations, of that of segments, and of that of checkpoints with the super root.
    pub translations: u32,
    pub usages: u32,
    pub checkpoints: u32,
    /// Inodes that it can hold; none if only its blocks bound them.
    pub inodes: Option<u64>,
}

/// Entries of 32 bytes (struct nilfs_dat_entry), and of 16 bytes (struct nilfs_segment_usage).
pub const TRANSLATIONS_PER_BLOCK: u32 = 128;
const USAGES_PER_BLOCK: u32 = 256;
/// Bytes of the address of a block in a checkpoint region.
const ADDRESS_BYTES: u64 = 8;
/// Blocks for each inode that a checkpoint region has room for: one for 16 KiB, as mke2fs counts.
const BLOCKS_PER_INODE: u32 = 4;

/// Reserved segments in % (NILFS_DEF_RESERVED_SEGMENTS), and the least number of them (NILFS_MIN_NRSVSEGS).
const RESERVED_PERCENT: u32 = 5;
const RESERVED_MIN: u32 = 8;
/// Per cent of the other segments' blocks that may be live: the cleaner has to find something to gain.
const FULLEST_PERCENT: u64 = 95;

impl Layout {
    fn new(style: Style, blocks: u32, segment_blocks: u32) -> Self {
        let usages = (blocks / segment_blocks).div_ceil(USAGES_PER_BLOCK);
        let inodes = blocks / BLOCKS_PER_INODE;
        let (regions, ends, tables) = match style {
            Style::Sprite => {
                let region = region_blocks(inodes.div_ceil(INODES_PER_BLOCK), usages);
                ([1, 1 + region], [1 + 2 * region, blocks], [0, 0])
            }
            // The second superblock is the last block. A checkpoint changes the first block of its file and the one with its entry.
            Style::Nilfs2 => ([0, blocks - 1], [1, blocks - 1], [blocks.div_ceil(TRANSLATIONS_PER_BLOCK), 3]),
        };
        let first = ends[0].div_ceil(segment_blocks) * segment_blocks;
        Layout {
            blocks,
            segment_blocks,
            first,
            segments: ends[1].saturating_sub(first) / segment_blocks,
            regions,
            translations: tables[0],
            usages,
            checkpoints: tables[1],
            inodes: (style == Style::Sprite).then_some(u64::from(inodes)),
        }
    }

    /// How inodes point to blocks.
    pub fn shape(&self, style: Style) -> Shape {
        match style {
            Style::Sprite => Shape::FFS,
            Style::Nilfs2 => Shape::NILFS2,
        }
    }

    /// Blocks of the tables of the whole file system.
    pub fn tables(&self) -> u32 {
        self.translations + self.usages + self.checkpoints
    }

    /// The table that says whether a segment is in use.
    pub fn usage_of(&self, segment: u32) -> u32 {
        self.translations + segment / USAGES_PER_BLOCK
    }

    /// The tables that every log with a super root changes, with the super root as the last one.
    pub fn checkpoint_tables(&self) -> std::ops::Range<u32> {
        self.translations + self.usages..self.tables()
    }

    /// Blocks of a checkpoint in its region, with this number of blocks of inodes.
    pub fn region(&self, style: Style, inode_blocks: u32) -> u32 {
        match style {
            Style::Sprite => region_blocks(inode_blocks, self.usages),
            Style::Nilfs2 => 1,
        }
    }

    /// Blocks of a segment behind its summary.
    pub fn payload(&self) -> u32 {
        self.segment_blocks - summaries(self.segment_blocks)
    }

    /// Segments that are kept for the cleaner and for metadata.
    pub fn reserved(&self) -> u32 {
        (self.segments * RESERVED_PERCENT / 100).max(RESERVED_MIN)
    }

    /// Blocks that pages of files and of metadata may have together. Metadata counts twice: a checkpoint writes all of it before the
    /// old blocks are free.
    pub fn capacity(&self) -> u64 {
        u64::from(self.segments - self.reserved()) * u64::from(self.payload()) * FULLEST_PERCENT / 100
    }
}

/// A header, the addresses of all blocks of inodes, and those of the table of segments.
fn region_blocks(inode_blocks: u32, usages: u32) -> u32 {
    1 + (u64::from(inode_blocks + usages) * ADDRESS_BYTES).div_ceil(BLOCK_BYTES) as u32
}

/// Segments without which there is no room for a reserve and files.
const SEGMENTS_MIN: u32 = 4 * RESERVED_MIN;

fn make(style: Style, parameters: &Parameters, disk_bytes: u64) -> Result<Box<dyn FileSystem>, Box<Fault>> {
    Ok(Box::new(new(style, parameters, disk_bytes)?))
}

pub(super) fn new(style: Style, parameters: &Parameters, disk_bytes: u64) -> Result<Lfs, Box<Fault>> {
    let name = match style {
        Style::Sprite => "lfs",
        Style::Nilfs2 => "nilfs2",
    };
    let settings = Settings::new(parameters);
    if settings.clean_low > settings.clean_high {
        let fault = Fault::key(format!("workload.files.system.{name}.clean_low"), "the cleaner ends before it begins");
        let [low, high] = ["clean_low", "clean_high"].map(|key| parameters.number(key));
        let found = format!("clean_low = {low}, clean_high = {high}");
        return Err(Box::new(fault.found(found).expected("clean_low, at most clean_high")));
    }
    let fault = |what: &str| Fault::key(format!("workload.files.system.{name}.segment_bytes"), what);
    let segment_bytes = parameters.count("segment_bytes");
    if !segment_bytes.is_multiple_of(BLOCK_BYTES) {
        return Err(Box::new(fault("not whole blocks").found(segment_bytes).expected("a multiple of 4096")));
    }
    let blocks = u32::try_from(disk_bytes / BLOCK_BYTES).unwrap_or(u32::MAX - 2);
    let layout = Layout::new(style, blocks, (segment_bytes / BLOCK_BYTES) as u32);
    if layout.segments < SEGMENTS_MIN {
        let found = format!("{} segments of {segment_bytes} bytes on a disk of {disk_bytes}", layout.segments);
        return Err(Box::new(fault("too few segments").found(found).expected(format!("at least {SEGMENTS_MIN}"))));
    }
    Ok(Lfs::new(style, settings, layout))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What is said of a disk of this size with segments of this length.
    fn fault(entry: &Registered, segment_bytes: f64, disk_bytes: u64) -> String {
        let mut values: BTreeMap<_, _> =
            entry.params.iter().map(|param| (param.name.to_string(), param.default)).collect();
        values.insert("segment_bytes".into(), segment_bytes);
        (entry.build.make)(&Parameters(&values), disk_bytes).err().map_or(String::new(), |fault| fault.to_string())
    }

    #[test]
    fn a_disk_that_it_cannot_lie_on_is_named() {
        let odd = fault(&LFS, 100_000.0, 1 << 30);
        assert!(odd.contains("lfs.segment_bytes") && odd.contains("100000") && odd.contains("4096"), "{odd}");
        // 12.5 segments, of which the first holds the superblock.
        let small = fault(&NILFS2, 8.0 * MIB, 100 << 20);
        assert!(
            small.contains("nilfs2.segment_bytes") && small.contains("11 segments") && small.contains("32"),
            "{small}"
        );
        assert_eq!(fault(&LFS, MIB, 64 << 20), "");
    }
}
