//! `[device.cells]`, `[device.bus]` and `[device.suspend]`, as the user writes them.

use schemars::JsonSchema;
use serde::Deserialize;

use flashwatt_ssd::drive::settings::{AfterFull, FoldWhen};
use flashwatt_ssd::nand::settings::{JointReads, PartialUnit, Resume, RowStripe, SuspendReads};

/// `[device.cells]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cells {
    /// Bits of a cell: 3 for TLC, 4 for QLC. A row of cells then holds that many pages on each plane that a block spans, of as many
    /// types, and all of them are programmed at once. With this key the other keys of the table have an effect.
    ///
    /// Page n of a block of p planes lies on plane n mod p and is of type (n mod p·bits) / p, so that consecutive pages lie on different
    /// planes.
    pub bits: Option<u32>,
    /// Array time of a page read (tR) by type of page, the lower one first: as many as there are bits. It takes the place of
    /// `device.timing.read_ns`.
    pub read_ns: Option<Vec<u64>>,
    /// Array time of the program of a row: of all its pages, on all planes. It takes the place of `device.timing.program_ns`.
    /// Data sheets often print this time divided by `bits`. With `passes = 2` it is the time of the second pass.
    pub program_ns: Option<u64>,
    /// In how many passes a row is programmed, 1 or 2. Only the layer `page` has two.
    ///
    /// With 1 all of the array time is `program_ns`: to program a row of two passes in one, add `first_pass_ns` to it.
    /// With 2 the pages of a row move in and are programmed coarsely, and move in again and are programmed finely when `pass_distance`
    /// rows behind it have had their first pass; at the end of a block when its last row has. A program ends with the second pass: until
    /// then the controller's memory holds the data, and the source of a copy stays. A flush, a forced write, the end of the run
    /// and `pad_after_ns` pad the rows behind as well. A row without data has one pass. Blocks in SLC mode have one pass.
    pub passes: Option<u32>,
    /// Array time of the first of two passes, of all pages of a row.
    pub first_pass_ns: Option<u64>,
    /// How many rows behind a row have their first pass before its second one.
    pub pass_distance: Option<u32>,
    /// A row that is not whole is padded when this time has passed since a page was last added to it. A flush, a forced write and the
    /// end of the run pad rows at once.
    pub pad_after_ns: Option<u64>,
    /// How pages of the host are dealt out to the dies: `page` (each die in turn gets a page, and all dies have a row open) or `row` (a
    /// die gets a whole row before the next die gets a page).
    pub stripe: Option<RowStripe>,
    /// Times of blocks in SLC mode, whose cells hold one bit. `[slc_cache]` needs them.
    pub slc: SlcTiming,
}

/// `[device.bus]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bus {
    /// Whether a read moves only what is wanted of its page, and not the whole page.
    ///
    /// With `true` the data of a host's read holds the bus for its share of `device.timing.page_transfer_ns`, rounded up to a whole ns.
    /// Units of a page between those that are wanted are not moved. A read for other causes moves its whole page, unless some units are
    /// enough: a collection moves the units that it takes from the page, and a write of a part of a map unit the unit that it completes.
    /// The data moved is what passes DRAM, and what `energy.host_interface.charged_data = "flash_pages"` charges for.
    pub partial_pages: Option<bool>,
    /// With `partial_pages`, what a host's read moves of a page: the map units in which it asks for something (`map_unit`), or
    /// the sectors of 512 bytes that it asks for (`sector`).
    ///
    /// Map units are pages unless `ftl.page.map_unit_bytes` is smaller.
    pub partial_unit: Option<PartialUnit>,
    /// Does the array of a die read the next pages while data of a read waits for the bus or moves out (cache read)?
    pub cache_read: Option<bool>,
    /// Do the pages of a row move in while the array programs the row before it (cache program)?
    pub cache_program: Option<bool>,
    /// Time from the end of an array operation to the start of one that has waited for it (tRCBSY, tCBSY).
    pub cache_busy_ns: Option<u64>,
    /// Which reads of a die are one operation of its array, each on another plane: `none`, `same_row` (pages of one type of one row) or
    /// `any`. It needs `device.plane_blocks`.
    pub joint_reads: Option<JointReads>,
}

/// `[device.suspend]`
///
/// A read that is ready on a die whose array programs or erases suspends that operation: the array winds down, the die serves reads, and
/// then the operation goes on. `page`, `dftl`, `tpftl` and `rftl` have it, with `controller.policy = "out_of_order"`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Suspend {
    /// Time from the decision to suspend a program until the die serves reads. Without this key programs are not suspended.
    ///
    /// The array works for the program until then: the time counts as array time of the program, with its energy. The command itself takes
    /// no time on the bus. The times of chips with cells of three bits are not public; 5 to 100 µs are in use.
    pub program_ns: Option<u64>,
    /// The same of an erase. Without this key erases are not suspended.
    pub erase_ns: Option<u64>,
    /// What a resumption adds to the array time that was left.
    pub resume_ns: Option<u64>,
    /// How often one operation is suspended at most; 0: never. Without this key as often as reads come. Either way an operation runs to its
    /// end once 64 reads have gone ahead of it.
    pub max: Option<u32>,
    /// How long the array works at least, from its begin or from a resumption on, before an operation is suspended.
    pub min_run_ns: Option<u64>,
    /// What becomes of an erase that is resumed: `continue` (the time that was left) or `restart` (the whole time, as on chips that begin
    /// such an erase anew). Programs always go on.
    pub resume: Option<Resume>,
    /// Which reads suspend: `host` (those of the host) or `map_and_host` (and those of the map that a read of the host waits for). Other
    /// reads are the drive's own, and nobody waits for them. `host` needs a layer with its map on flash.
    pub reads: Option<SuspendReads>,
}

/// `[device.cells.slc]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SlcTiming {
    /// Array time of a page read (tR) in a block in SLC mode.
    pub read_ns: Option<u64>,
    /// Array time of the program of a row in SLC mode: of a page on each plane that a block spans.
    pub program_ns: Option<u64>,
}

/// `[slc_cache]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SlcCache {
    /// Bytes that blocks kept for SLC mode hold in it; rounded up to whole blocks of each die. Their flash is no room for other data.
    pub static_bytes: Option<u64>,
    /// Are free blocks used in SLC mode as well, as long as there are some above the low watermark?
    pub dynamic: Option<bool>,
    /// The most bytes that free blocks hold in SLC mode; without it as many as are free.
    pub dynamic_bytes: Option<u64>,
    /// When data is folded, that is moved to native blocks: `eager` (as soon as a block in SLC mode is full, whenever the host writes
    /// nothing to that die), `idle` (when the drive is idle) or `full` (when the cache is full). A write that finds no block waits for
    /// folds in any case.
    pub fold: Option<FoldWhen>,
    /// Where the host's data goes when the cache is full: to `native` blocks, or `through` the cache when folds have made room.
    pub after: Option<AfterFull>,
    /// Do folds stay within a die, without the bus (copyback)?
    pub on_die: Option<bool>,
    /// Time without a request in the drive after which it folds, with `fold = "idle"`.
    pub idle_start_ns: Option<u64>,
    /// Time from one folded row of each die to the next one, with `fold = "idle"`.
    pub idle_gap_ns: Option<u64>,
}

impl SlcCache {
    /// Whether the table asks for a cache.
    pub fn is_there(&self) -> bool {
        self.static_bytes.is_some_and(|bytes| bytes > 0) || self.dynamic == Some(true)
    }
}
