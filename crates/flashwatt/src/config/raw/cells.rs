//! `[device.cells]` and `[device.bus]`, as the user writes them.

use schemars::JsonSchema;
use serde::Deserialize;

use flashwatt_ssd::nand::settings::{JointReads, PartialUnit, RowStripe};

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
    /// Data sheets often print this time divided by `bits`.
    pub program_ns: Option<u64>,
    /// A row that is not whole is padded when this time has passed since a page was last added to it. A flush, a forced write and the
    /// end of the run pad rows at once.
    pub pad_after_ns: Option<u64>,
    /// How pages of the host are dealt out to the dies: `page` (each die in turn gets a page, and all dies have a row open) or `row` (a
    /// die gets a whole row before the next die gets a page).
    pub stripe: Option<RowStripe>,
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
