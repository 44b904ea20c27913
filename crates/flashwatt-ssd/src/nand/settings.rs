//! `[device]`: the settings of a drive's flash and of its link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reserve::Reserves;
use crate::operation::OpKind;
use flashwatt_base::units::Nanos;

/// The settings of a drive's flash and of its link, checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceTable {
    /// The preset it was laid over, if any.
    pub preset: Option<String>,
    /// One line about it.
    pub description: String,
    /// Channels, ≥ 1.
    pub channels: u32,
    /// Dies per channel, 1..=64.
    pub ways: u32,
    /// Planes per die, ≥ 1.
    pub planes: u32,
    /// Erase blocks per plane.
    pub blocks_per_plane: u32,
    /// Pages per erase block, 2..=65535.
    pub pages_per_block: u32,
    /// Bytes per page: a power of two ≥ 512.
    pub page_bytes: u32,
    /// Bytes that the host sees: a whole number of pages.
    pub logical_bytes: u64,
    /// (physical − logical) / physical, as it came out.
    pub spare_fraction: f64,
    /// (physical − logical) / logical, as it came out.
    pub op_ratio: f64,
    /// The same as it was asked for, if whole blocks of every plane made it notably different.
    #[serde(skip)]
    pub asked_op_ratio: Option<f64>,
    /// How layers that map blocks lay logical pages out over the dies.
    #[serde(default, skip_serializing_if = "BlockStripe::is_default")]
    pub block_stripe: BlockStripe,
    /// Blocks of each die that are kept for a purpose of the drive's own.
    #[serde(flatten)]
    pub reserves: Reserves,
    /// Its share of the drive that was configured, if that was scaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Whether a block spans the planes of its die. `pages_per_block` then is that of one plane, and `blocks_per_plane` the number of
    /// such blocks in a die.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plane_blocks: bool,
    /// The cells, if they are programmed row by row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<Cells>,
    /// Timing.
    pub timing: Timing,
    /// What goes over the buses of the flash.
    #[serde(skip_serializing_if = "Bus::is_default")]
    pub bus: Bus,
    /// What reads suspend; none if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<Suspend>,
    /// The host's link.
    pub host_link: HostLink,
    /// The time of the firmware; none if it takes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<FirmwareTime>,
    /// The host's memory, if the cached part of the map lies there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory: Option<HostMemory>,
    /// Rules of the NAND.
    pub nand: Nand,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(ns: &Nanos) -> bool {
    *ns == 0
}

fn one() -> u32 {
    1
}

fn is_one(passes: &u32) -> bool {
    *passes == 1
}

fn is_none(rows: &u32) -> bool {
    *rows == 0
}

impl DeviceTable {
    /// Planes that a block spans.
    pub fn block_planes(&self) -> u32 {
        if self.plane_blocks { self.planes } else { 1 }
    }

    /// Erase blocks in a die.
    pub fn die_blocks(&self) -> u32 {
        if self.plane_blocks { self.blocks_per_plane } else { self.planes * self.blocks_per_plane }
    }

    /// Pages in a block of the translation layer: on all the planes that it spans.
    pub fn block_pages(&self) -> u32 {
        self.block_planes() * self.pages_per_block
    }

    /// Bits of a cell.
    pub fn cell_bits(&self) -> u32 {
        self.cells.as_ref().map_or(1, |cells| cells.bits)
    }

    /// Rows of a block whose first pass comes before the second pass of a row; 0 if rows are programmed in one pass.
    pub fn pass_distance(&self) -> u32 {
        self.cells.as_ref().map_or(0, |cells| cells.pass_distance)
    }

    /// Whether dies do more than one thing at a time, or to more than one page.
    pub fn has_cells(&self) -> bool {
        self.row_pages() > 1 || !self.bus.is_plain() || self.suspend.is_some()
    }

    /// Pages that are programmed at once: those of a row of cells, on all the planes that a block spans.
    pub fn row_pages(&self) -> u32 {
        self.block_planes() * self.cell_bits()
    }
}

/// `[device.cells]`: cells of several bits, whose pages are programmed together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cells {
    /// Bits of a cell, 1 to [`Cells::BITS_MAX`].
    pub bits: u32,
    /// tR of each type of page, from the lower one on.
    pub read_ns: Vec<Nanos>,
    /// Array time of the program of a row: all its pages, on all the planes that a block spans. Of two passes it is that of the second one.
    pub program_ns: Nanos,
    /// Passes in which a native row is programmed: 1 or 2.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub passes: u32,
    /// Array time of the first of two passes; 0 with one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_pass_ns: Nanos,
    /// How many rows behind a row have their first pass before its second one; 0 with one pass.
    #[serde(default, skip_serializing_if = "is_none")]
    pub pass_distance: u32,
    /// Time after its last page came after which a row that is not whole is padded.
    pub pad_after_ns: Nanos,
    /// How pages of the host are dealt out to the dies.
    pub stripe: RowStripe,
    /// Times of blocks in SLC mode, if there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcTiming>,
}

/// Times of blocks whose cells hold one bit, in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlcTiming {
    /// tR.
    pub read_ns: Nanos,
    /// Array time of the program of a row: a page on each plane that a block spans.
    pub program_ns: Nanos,
}

impl Cells {
    /// The largest number of bits of a cell.
    pub const BITS_MAX: u32 = 4;

    /// Array time of a native row in all its passes, in ns.
    pub fn row_ns(&self) -> Nanos {
        self.first_pass_ns.saturating_add(self.program_ns)
    }
}

/// How pages of the host are dealt out to the dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowStripe {
    /// Page by page: each die in turn gets one. All dies have a row open.
    #[default]
    Page,
    /// Row by row: a die gets the pages of a row before the next die gets some.
    Row,
}

/// `[device.bus]`: what goes over the bus of a die, and what the die does meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bus {
    /// Whether a read moves only what is wanted of its page.
    #[serde(skip_serializing_if = "is_false")]
    pub partial_pages: bool,
    /// In which units, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_unit: Option<PartialUnit>,
    /// Whether the array reads the next pages while data of a read moves out.
    #[serde(skip_serializing_if = "is_false")]
    pub cache_read: bool,
    /// Whether the pages of a row move in while the array programs the row before it.
    #[serde(skip_serializing_if = "is_false")]
    pub cache_program: bool,
    /// Time from the end of an array operation to the start of one that has waited for it behind such a transfer.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_busy_ns: Nanos,
    /// Which reads of a die are one operation of its array.
    #[serde(skip_serializing_if = "JointReads::is_none")]
    pub joint_reads: JointReads,
}

impl Bus {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a die does nothing beside a transfer, and one read at a time.
    pub fn is_plain(&self) -> bool {
        !self.cache_read && !self.cache_program && self.joint_reads == JointReads::None
    }
}

/// Which reads of a die are one operation of its array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointReads {
    /// Each is one by itself.
    #[default]
    None,
    /// Reads of one row's pages of one type, each on another plane.
    SameRow,
    /// Reads of any pages, each on another plane.
    Any,
}

impl JointReads {
    fn is_none(&self) -> bool {
        *self == JointReads::None
    }
}

/// The most times that an operation is suspended, whatever `device.suspend.max` allows: by then as many reads have gone ahead of it as may.
pub const SUSPENSIONS_MAX: u32 = 64;

/// `[device.suspend]`: programs and erases that stop for reads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspend {
    /// Time from the decision to suspend a program until the die serves reads, in ns; none if programs are not suspended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_ns: Option<Nanos>,
    /// The same of an erase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erase_ns: Option<Nanos>,
    /// What a resumption adds to the array time that was left, in ns.
    #[serde(skip_serializing_if = "is_zero")]
    pub resume_ns: Nanos,
    /// How often one operation is suspended at most; none if as often as reads come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// How long the array works at least before an operation is suspended, and between two suspensions, in ns.
    #[serde(skip_serializing_if = "is_zero")]
    pub min_run_ns: Nanos,
    /// What becomes of an erase that is resumed.
    #[serde(skip_serializing_if = "Resume::is_default")]
    pub resume: Resume,
    /// Which reads suspend.
    #[serde(skip_serializing_if = "SuspendReads::is_default")]
    pub reads: SuspendReads,
}

impl Suspend {
    /// Time from the decision to suspend an operation until the die serves reads, in ns; none if such operations are not suspended.
    pub fn wind_down_ns(&self, kind: OpKind) -> Option<Nanos> {
        if kind == OpKind::Erase { self.erase_ns } else { self.program_ns }
    }

    /// How often one operation is suspended at most.
    pub fn times(&self) -> u32 {
        self.max.unwrap_or(SUSPENSIONS_MAX).min(SUSPENSIONS_MAX)
    }

    /// The most time in ns that the array needs beyond what the operation itself takes, when it has just been told to wind down: each
    /// resumption before that was suspended at its begin.
    pub fn longest_ns(&self, kind: OpKind) -> Nanos {
        let Some(wind_down_ns) = self.wind_down_ns(kind) else { return 0 };
        wind_down_ns.saturating_add(self.resume_ns.saturating_mul(self.times().into()))
    }
}

/// What becomes of an erase that is resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    /// It goes on where it was.
    #[default]
    Continue,
    /// It begins anew.
    Restart,
}

impl Resume {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Which reads suspend programs and erases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuspendReads {
    /// Those of the host.
    Host,
    /// Those of the host, and those of the map that one of them waits for.
    #[default]
    MapAndHost,
}

impl SuspendReads {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How layers that map blocks lay logical pages out over the dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockStripe {
    /// A logical block holds consecutive pages. Its neighbour lies on the next die.
    #[default]
    Block,
    /// Consecutive pages go round the dies, channels first. A logical block holds every n-th page, n the number of dies.
    Page,
}

impl BlockStripe {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Timing of the flash array and its buses, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// tR.
    pub read_ns: Nanos,
    /// tPROG.
    pub program_ns: Nanos,
    /// tPROG of upper pages (every other page of a block, from its second one on), > `program_ns`; `None`: no difference.
    #[serde(default)]
    pub program_upper_ns: Option<Nanos>,
    /// tBERS.
    pub erase_ns: Nanos,
    /// Command time on the bus.
    pub command_ns: Nanos,
    /// One page's data over the bus; the way switch delay as well.
    pub page_transfer_ns: Nanos,
    /// Channel switch delay.
    pub channel_switch_ns: Nanos,
}

/// Whether the data of a read takes its channel's bus on the way out of the die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadTransfer {
    /// The data waits for the bus and holds it for a page's transfer.
    #[default]
    OnBus,
    /// A read ends when its page is in the die's register. Its data takes no time and holds no bus.
    Free,
}

impl ReadTransfer {
    /// Whether it is the default, which reports leave out.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// How long the data of a read holds the bus on a drive with this timing, in ns.
    pub fn ns(self, timing: &Timing) -> Nanos {
        match self {
            ReadTransfer::OnBus => timing.page_transfer_ns,
            ReadTransfer::Free => 0,
        }
    }
}

/// The units in which a read of the host moves what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialUnit {
    /// Whole map units.
    MapUnit,
    /// Sectors of 512 bytes.
    Sector,
}

/// The time of the firmware.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirmwareTime {
    /// Commands that it works on at a time, ≥ 1.
    pub cores: u32,
    /// How long a command takes a core, in ns.
    pub command_ns: Nanos,
    /// What a read takes beside that, in ns, however many there are.
    pub read_ns: Nanos,
    /// The same of a write, in ns.
    pub write_ns: Nanos,
}

/// The host's memory, which holds the cached part of the map.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostMemory {
    /// Time of a round trip to it, in ns, without that of the lines on the link.
    pub read_ns: Nanos,
    /// Bytes of a line, the unit of reads and writes; 0: they take no time and no energy.
    pub line_bytes: u32,
}

/// The host's link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostLink {
    /// 10^6 bytes/s; `None`: takes no time.
    pub bandwidth_mb_s: Option<f64>,
    /// Per command, in nanoseconds.
    pub command_ns: Nanos,
    /// Requests that the device accepts at a time, ≥ 1.
    pub queue_depth: u32,
}

/// Rules of the NAND.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nand {
    /// Order of programs in a block.
    pub program_order: ProgramOrder,
    /// Copies within a die without the bus.
    pub copyback: bool,
    /// Program/erase cycles that a block endures; none if unknown. For the report only.
    pub rated_cycles: Option<u32>,
    /// Whether two pages share cells, and what is done for them; none if each page has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paired_pages: Option<PairedPages>,
    /// Longest time in ns for which the acknowledgement of a write to a lower page is held; none if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_ack_max_ns: Option<Nanos>,
    /// Bytes of a page's spare area for what a recovery from a power cut reads there; none if there is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare_bytes: Option<u32>,
}

/// What is done for pages that share cells with another one, which a power cut during its program spoils.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PairedPages {
    /// Nothing.
    Unprotected,
    /// A lower page with data that counts is copied to a block kept for that, before its upper page is programmed.
    Backup,
    /// A write to a lower page is acknowledged when its upper page is programmed as well, or after a time. Then the lower page is copied
    /// before the upper one is programmed.
    HoldAck,
}

/// Blocks of each die that are kept for backups. Choice: one takes them while another one is erased, and one may hold what a
/// recovery from a power cut has yet to bring back.
const BACKUP_BLOCKS: u32 = 3;

impl PairedPages {
    /// Blocks of each die that are kept for backups of lower pages.
    pub fn backup_blocks(self) -> u32 {
        match self {
            PairedPages::Unprotected => 0,
            PairedPages::Backup | PairedPages::HoldAck => BACKUP_BLOCKS,
        }
    }
}

/// In which order the pages of a block may be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgramOrder {
    /// Ascending; gaps are allowed.
    Ascending,
    /// Any, as the small-block SLC of the older papers did.
    Any,
}
