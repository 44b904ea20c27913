//! How large a drive is: of blocks, logical size and over-provisioning two determine the third. And how much of it must
//! be spare.

use super::raw;
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_ssd::drive::settings::Recovery;
use flashwatt_ssd::ftl::{self, DriveSize, Room};
use flashwatt_ssd::nand::reserve::ReserveRow;
use flashwatt_ssd::nand::{Reserve, Reserves};
use flashwatt_ssd::recovery::{checkpoint, journal, log};

mod remedy;
mod scale;

/// Bytes of an entry of a map in a checkpoint: an address.
const MAP_ENTRY_BYTES: u128 = 4;

/// Physical map units are numbered by 32 bits, of which two numbers are taken.
const UNITS_MAX: u128 = (1 << 32) - 3;

/// What the size of a drive follows from, apart from the size itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlashShape {
    pub channels: u32,
    pub ways: u32,
    /// Blocks side by side in a die: its planes, or 1 if a block spans them.
    pub planes: u32,
    /// Pages in a block, on all the planes that it spans.
    pub pages_per_block: u32,
    /// Pages that are programmed at once.
    pub row_pages: u32,
    /// Rows of a block whose first pass comes before the second pass of a row; 0 with one pass.
    pub pass_distance: u32,
    /// Bits of a cell: a block in SLC mode holds this share of its pages.
    pub bits: u32,
    pub page_bytes: u32,
    pub map_unit_bytes: u32,
}

impl FlashShape {
    pub fn dies(&self) -> u32 {
        self.channels * self.ways
    }

    fn planes(&self) -> u128 {
        u128::from(self.dies()) * u128::from(self.planes)
    }

    /// Blocks of each die that hold these bytes in SLC mode.
    pub fn slc_blocks(&self, bytes: u64) -> u32 {
        let block_bytes = u64::from(self.pages_per_block / self.bits) * u64::from(self.page_bytes);
        u32::try_from(bytes.div_ceil(block_bytes.max(1)).div_ceil(self.dies().into())).unwrap_or(u32::MAX)
    }

    fn units_per_page(&self) -> u32 {
        self.page_bytes / self.map_unit_bytes
    }
}

/// Over-provisioning, by either definition.
#[derive(Clone, Copy, Debug)]
enum OverProvisioning {
    /// (physical − logical) / physical
    SpareFraction(f64),
    /// (physical − logical) / logical
    Ratio(f64),
}

/// Two of the three.
#[derive(Clone, Copy, Debug)]
enum GivenSize {
    BlocksAndLogical(u32, u64),
    BlocksAndOp(u32, OverProvisioning),
    LogicalAndOp(u64, OverProvisioning),
}

/// The size of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Capacity {
    pub blocks_per_plane: u32,
    pub pages_per_block: u32,
    pub logical_bytes: u64,
    pub spare_fraction: f64,
    pub op_ratio: f64,
    /// The `op_ratio` that was asked for, in either form; none if blocks and logical bytes are given.
    pub asked_op_ratio: Option<f64>,
    pub reserves: Reserves,
}

/// What garbage collection asks for, before the size is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watermarks {
    pub low_blocks: u32,
    pub low_fraction: f64,
    pub reserved_blocks: u32,
}

impl Watermarks {
    /// Collection starts when a die of `die_blocks` has fewer free blocks than this.
    pub fn low(&self, die_blocks: u64) -> u32 {
        let share = (self.low_fraction * die_blocks as f64).ceil() as u32;
        self.low_blocks.max(share)
    }
}

impl GivenSize {
    /// Blocks per plane and logical pages.
    ///
    /// The factors 1 ± 1e-12 keep a size that comes out whole from being pushed over by the last bit of a product.
    fn solve(&self, geometry: &FlashShape) -> (u128, u128) {
        let block_pages = u128::from(geometry.pages_per_block) * geometry.planes();
        let pages = |bytes: u64| u128::from(bytes / u64::from(geometry.page_bytes));
        match *self {
            GivenSize::BlocksAndLogical(blocks, bytes) => (u128::from(blocks), pages(bytes)),
            GivenSize::BlocksAndOp(blocks, op) => {
                let physical = (u128::from(blocks) * block_pages) as f64;
                (u128::from(blocks), (physical / op.physical_per_logical() * (1.0 + 1e-12)).floor() as u128)
            }
            GivenSize::LogicalAndOp(bytes, op) => {
                let physical = pages(bytes) as f64 * op.physical_per_logical();
                ((physical / block_pages as f64 * (1.0 - 1e-12)).ceil() as u128, pages(bytes))
            }
        }
    }

    fn with_op_ratio(self, ratio: f64) -> GivenSize {
        match self {
            GivenSize::BlocksAndLogical(blocks, _) | GivenSize::BlocksAndOp(blocks, _) => {
                GivenSize::BlocksAndOp(blocks, OverProvisioning::Ratio(ratio))
            }
            GivenSize::LogicalAndOp(bytes, _) => GivenSize::LogicalAndOp(bytes, OverProvisioning::Ratio(ratio)),
        }
    }

    /// Over-provisioning as a share of the host's capacity, if it is given.
    fn op_ratio(&self) -> Option<f64> {
        match self {
            GivenSize::BlocksAndLogical(..) => None,
            GivenSize::BlocksAndOp(_, op) | GivenSize::LogicalAndOp(_, op) => Some(op.physical_per_logical() - 1.0),
        }
    }

    /// Is there room for what must be spare?
    fn fits(&self, geometry: &FlashShape, needs: Needs) -> bool {
        let (blocks, logical) = self.solve(geometry);
        let physical = blocks * geometry.planes() * u128::from(geometry.pages_per_block);
        physical >= needs.room(geometry, blocks, logical).pages
    }
}

/// What a scheme, collection on it, and reserves take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs<'a> {
    pub ftl: &'a ftl::Settings,
    pub watermarks: &'a Watermarks,
    /// Is the drive full when it starts? If not, the host's data takes no room yet.
    pub filled: bool,
    /// The recovery log, if there is one.
    pub log: Option<LogNeeds<'a>>,
    /// Reserves whose blocks do not depend on the size of the drive.
    pub fixed: Reserves,
    /// The journal of the write buffer, if it has one.
    pub journal: Option<JournalNeeds>,
    /// Bytes of the static part of a cache in SLC mode.
    pub slc_bytes: u64,
}

/// What the size of a journal depends on besides that of the drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct JournalNeeds {
    pub buffer_bytes: u64,
    /// Whether pages share cells.
    pub is_paired: bool,
}

/// What the size of a recovery log depends on besides that of the drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogNeeds<'a> {
    pub recovery: &'a Recovery,
    pub buffer_bytes: u64,
    /// Whether pages share cells.
    pub is_paired: bool,
}

impl Needs<'_> {
    /// The flash that they need on a drive with this number of blocks in a plane.
    fn room(&self, geometry: &FlashShape, blocks_per_plane: u128, logical_pages: u128) -> Room {
        let die_blocks = blocks_per_plane * u128::from(geometry.planes);
        let room = self.ftl.room(&DriveSize {
            dies: u128::from(geometry.dies()),
            die_blocks,
            pages_per_block: u128::from(geometry.pages_per_block),
            row_pages: u128::from(geometry.row_pages),
            pass_distance: u128::from(geometry.pass_distance),
            units_per_page: u128::from(geometry.units_per_page()),
            logical_pages,
            low_watermark_blocks: self.watermarks.low(u64::try_from(die_blocks).unwrap_or(u64::MAX)),
            reserved_blocks: self.watermarks.reserved_blocks,
        });
        let blocks = blocks_per_plane * geometry.planes();
        let kept = |room, row: &ReserveRow| {
            with_kept(room, geometry, self.reserve(row.reserve, geometry, blocks, logical_pages), row.purpose)
        };
        let room = Reserve::rows().fold(room, kept);
        let room = with_kept(room, geometry, geometry.slc_blocks(self.slc_bytes).into(), "the static SLC cache");
        if self.filled { room } else { Room { pages: room.pages.saturating_sub(logical_pages), ..room } }
    }

    /// Blocks of each die that a reserve takes on a drive with this number of blocks.
    fn reserve(&self, reserve: Reserve, geometry: &FlashShape, blocks: u128, logical_pages: u128) -> u128 {
        match reserve {
            Reserve::Log => self.log_blocks(geometry, blocks, logical_pages),
            Reserve::Journal => self.journal_blocks(geometry),
            fixed => self.fixed[fixed].into(),
        }
    }

    /// The same of all reserves.
    fn reserves(&self, geometry: &FlashShape, blocks: u128, logical_pages: u128) -> Option<Reserves> {
        Reserve::rows().try_fold(Reserves::default(), |reserves, row| {
            let blocks = self.reserve(row.reserve, geometry, blocks, logical_pages);
            Some(reserves.with(row.reserve, u32::try_from(blocks).ok()?))
        })
    }

    /// Blocks of each die for the journal of the write buffer.
    fn journal_blocks(&self, geometry: &FlashShape) -> u128 {
        let Some(JournalNeeds { buffer_bytes, is_paired }) = self.journal else { return 0 };
        let pages = u128::from(buffer_bytes).div_ceil(u128::from(geometry.page_bytes));
        let used = log::used_pages(geometry.pages_per_block, is_paired);
        journal::blocks_per_die(pages, used, u128::from(geometry.dies()))
    }

    /// Records that the journal of the write buffer holds at most: each takes a sector or more.
    fn journal_records(&self, geometry: &FlashShape) -> u128 {
        let pages = self.journal_blocks(geometry) * u128::from(geometry.dies()) * u128::from(geometry.pages_per_block);
        pages * (u128::from(geometry.page_bytes) / u128::from(SECTOR_BYTES))
    }

    /// Blocks of each die for the recovery log of a drive with this number of blocks.
    fn log_blocks(&self, geometry: &FlashShape, blocks: u128, logical_pages: u128) -> u128 {
        let Some(LogNeeds { recovery, buffer_bytes, is_paired }) = self.log else { return 0 };
        let logical_units = logical_pages * u128::from(geometry.units_per_page());
        let units_per_block = u128::from(geometry.pages_per_block) * u128::from(geometry.units_per_page());
        let physical_units = blocks * units_per_block;
        let of_map_on_flash = self.ftl.checkpoint_bytes_max(logical_pages);
        // Beside a map on flash a snapshot keeps the trims of units with records in the journal.
        let reads_map = of_map_on_flash.is_some() && recovery.checkpoint_interval_bytes.is_some();
        let journaled_units = if reads_map { self.journal_records(geometry).min(logical_units) } else { 0 };
        let map_bytes = match of_map_on_flash {
            // Of a map on flash also the entries that a collection on each die has moved, of one block at most.
            Some(of_map_on_flash) => {
                of_map_on_flash
                    + u128::from(checkpoint::LISTED_ENTRY_BYTES) * u128::from(geometry.dies()) * units_per_block
            }
            None if self.ftl.collects() => MAP_ENTRY_BYTES * logical_units,
            // Of a layer that merges blocks: each block, and at most each page that is spare.
            None => MAP_ENTRY_BYTES * (blocks + physical_units.saturating_sub(logical_units)),
        };
        let checkpoint_bytes = checkpoint::checkpoint_bytes(map_bytes, blocks);
        let size = log::LogShape {
            logical_units,
            recorded_units: u128::from(buffer_bytes / u64::from(geometry.map_unit_bytes)) + journaled_units,
            has_records: recovery.records_trims(),
            checkpoint_bytes: recovery.checkpoint_interval_bytes.map_or(0, |_| checkpoint_bytes),
        };
        let used = log::used_pages(geometry.pages_per_block, is_paired);
        log::blocks_per_die(size.area_pages(geometry.page_bytes), used, u128::from(geometry.dies()))
    }
}

/// The same with this number of blocks of each die, which are kept for something.
fn with_kept(room: Room, geometry: &FlashShape, blocks: u128, what: &str) -> Room {
    if blocks == 0 {
        return room;
    }
    let kept = u128::from(geometry.dies()) * blocks * u128::from(geometry.pages_per_block);
    let (pages, idle_pages) = (room.pages + kept, room.idle_pages + kept);
    Room { pages, idle_pages, what: format!("{}, and {blocks} of each die for {what}", room.what) }
}

impl OverProvisioning {
    fn physical_per_logical(self) -> f64 {
        match self {
            OverProvisioning::SpareFraction(fraction) => 1.0 / (1.0 - fraction),
            OverProvisioning::Ratio(ratio) => 1.0 + ratio,
        }
    }
}

/// Shares of a drive that a scaled one may have.
const SCALES: std::ops::RangeInclusive<f64> = 1e-9..=1.0;

const KEYS: [&str; 4] = ["device.op_ratio", "device.spare_fraction", "device.logical_bytes", "device.blocks_per_plane"];

/// Works out the size of the drive. Without a fault it is what the user asked for. The translation layer needs room beside the
/// host's data, and, if the drive starts `filled`, room for that.
pub(super) fn resolve(c: &mut Checker, device: &raw::Device, geometry: &FlashShape, needs: &Needs) -> Option<Capacity> {
    let given = given(c, device)?;
    c.number(field!("device", device.scale), 1.0, SCALES);
    if !["device", "ftl", "gc"].iter().all(|table| c.clean(table)) {
        return None;
    }
    let scale = device.scale.filter(|scale| SCALES.contains(scale)).unwrap_or(1.0);
    let (given, geometry) = &scale::scaled(c, scale, given, geometry)?;
    let (blocks, logical) = given.solve(geometry);
    let physical = blocks * geometry.planes() * u128::from(geometry.pages_per_block);
    if check_addresses(c, geometry, physical)
        && check_logical(c, geometry, logical, physical)
        && check_static_cache(c, geometry, needs.slc_bytes, physical - logical, scale)
        && check_spare(c, given, geometry, *needs, scale != 1.0)
    {
        let spare = (physical - logical) as f64;
        return Some(Capacity {
            blocks_per_plane: u32::try_from(blocks).ok()?,
            pages_per_block: geometry.pages_per_block,
            logical_bytes: u64::try_from(logical).ok()? * u64::from(geometry.page_bytes),
            spare_fraction: spare / physical as f64,
            op_ratio: spare / logical as f64,
            asked_op_ratio: given.op_ratio(),
            reserves: needs.reserves(geometry, blocks * geometry.planes(), logical)?,
        });
    }
    None
}

fn given(c: &mut Checker, device: &raw::Device) -> Option<GivenSize> {
    let blocks = c.optional(field!("device", device.blocks_per_plane), 1..=u32::MAX);
    let logical = c.optional(field!("device", device.logical_bytes), 1..=1 << 50);
    let fraction = c.optional(field!("device", device.spare_fraction), 0.0..=0.99);
    let ratio = c.optional(field!("device", device.op_ratio), 0.0..=100.0);
    if let (Some(fraction), Some(ratio)) = (fraction, ratio) {
        let fault = c.fault(c.culprit(&KEYS[..2]), "over-provisioning given twice");
        let found = format!("op_ratio = {ratio:?} and spare_fraction = {fraction:?}");
        c.push(fault.found(found).expected(
            "op_ratio = (physical − logical) / logical, or spare_fraction = (physical − logical) / physical",
        ));
        return None;
    }
    let op = fraction.map(OverProvisioning::SpareFraction).or(ratio.map(OverProvisioning::Ratio));
    match (blocks, logical, op) {
        (Some(blocks), Some(logical), None) => Some(GivenSize::BlocksAndLogical(blocks, logical)),
        (Some(blocks), None, Some(op)) => Some(GivenSize::BlocksAndOp(blocks, op)),
        (None, Some(logical), Some(op)) => Some(GivenSize::LogicalAndOp(logical, op)),
        _ => {
            let found = if op.is_some() && blocks.is_some() { "all three" } else { "one or none" };
            let fault = c.fault(c.culprit(&KEYS), "the size of the drive is not determined").found(found);
            c.push(fault.expected("two of blocks_per_plane, logical_bytes, and op_ratio or spare_fraction"));
            None
        }
    }
}

fn check_addresses(c: &mut Checker, geometry: &FlashShape, physical: u128) -> bool {
    let units = physical * u128::from(geometry.units_per_page());
    if units <= UNITS_MAX {
        return true;
    }
    let bytes = UNITS_MAX * u128::from(geometry.map_unit_bytes);
    let key = c.culprit(&[KEYS[3], KEYS[2], KEYS[0], KEYS[1], "device.channels", "device.ways", "device.planes"]);
    let fault = c.fault(key, "the drive is too large");
    let found = format!("{} bytes of flash", physical * u128::from(geometry.page_bytes));
    c.push(
        fault.found(found).expected(format!(
            "at most {UNITS_MAX} map units, {bytes} bytes at {} bytes each",
            geometry.map_unit_bytes
        )),
    );
    false
}

fn check_logical(c: &mut Checker, geometry: &FlashShape, logical: u128, physical: u128) -> bool {
    let bytes = |pages: u128| pages * u128::from(geometry.page_bytes);
    if (1..=physical).contains(&logical) {
        return true;
    }
    let fault = c.fault(c.culprit(&[KEYS[2], KEYS[3], KEYS[0], KEYS[1]]), "the host's share does not fit the flash");
    let found = format!("{} bytes for the host, {} bytes of flash", bytes(logical), bytes(physical));
    let expected = match logical {
        0 => format!("a page ({} bytes) or more for the host", geometry.page_bytes),
        _ => format!("{} to {} bytes for the host", geometry.page_bytes, bytes(physical)),
    };
    c.push(fault.found(found).expected(expected));
    false
}

/// The blocks of a static cache in SLC mode hold nothing else, so they are beside the flash of the host's data, also on a drive that is empty
/// yet. `slc_bytes` are those of the drive as scaled.
fn check_static_cache(c: &mut Checker, geometry: &FlashShape, slc_bytes: u64, spare_pages: u128, scale: f64) -> bool {
    let block_pages = u128::from(geometry.pages_per_block) * u128::from(geometry.dies());
    let blocks = u128::from(geometry.slc_blocks(slc_bytes));
    let most = spare_pages / block_pages;
    if blocks <= most {
        return true;
    }
    let bytes = |pages: u128| pages * u128::from(geometry.page_bytes);
    let most_bytes = bytes(most * u128::from(geometry.dies()) * u128::from(geometry.pages_per_block / geometry.bits));
    let fault = c.fault("slc_cache.static_bytes", "the cache needs more flash than there is beside the host's data");
    let found = format!("{} bytes of flash, {} beside the host's", bytes(blocks * block_pages), bytes(spare_pages));
    let fault = fault.found(found).expected(format!("at most {:.0} bytes in SLC mode", most_bytes as f64 / scale));
    c.push(fault.help("a larger device.op_ratio, or a smaller device.logical_bytes, leaves more flash"));
    false
}

fn check_spare(c: &mut Checker, given: &GivenSize, geometry: &FlashShape, needs: Needs, scaled: bool) -> bool {
    if given.fits(geometry, needs) {
        return true;
    }
    let (blocks, logical) = given.solve(geometry);
    let block_pages = u128::from(geometry.pages_per_block);
    let all = blocks * geometry.planes();
    let room = needs.room(geometry, blocks, logical);
    let fault = if needs.filled {
        let host = logical.div_ceil(block_pages);
        let (spare, needed) = (all - host, room.pages.div_ceil(block_pages) - host);
        let keys = [KEYS[0], KEYS[1], KEYS[2], KEYS[3], "gc.low_watermark_blocks", "gc.low_watermark_fraction"];
        c.fault(c.culprit(&keys), "too little spare flash for garbage collection")
            .found(format!("{spare} spare blocks of {all}"))
            .expected(format!("at least {needed}: {}", room.what))
    } else {
        let reserved = format!("ftl.{}.map_reserved_blocks", needs.ftl.name());
        let keys = [&reserved, "gc.low_watermark_blocks", "gc.low_watermark_fraction", KEYS[3], KEYS[2]];
        c.fault(c.culprit(&keys), "too few blocks for the translation layer, even on an empty drive")
            .found(format!("{all} blocks"))
            .expected(format!("at least {}: {}", room.pages.div_ceil(block_pages), room.what))
    };
    c.push(fault.help(remedy::remedies(given, geometry, needs, scaled)));
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashwatt_ssd::ftl::Allocation;
    use flashwatt_ssd::ftl::schemes::page;
    use proptest::prelude::*;

    const GEOMETRY: FlashShape = FlashShape {
        channels: 2,
        ways: 2,
        planes: 1,
        pages_per_block: 10,
        row_pages: 1,
        pass_distance: 0,
        bits: 1,
        page_bytes: 4096,
        map_unit_bytes: 4096,
    };

    #[test]
    fn both_definitions_of_over_provisioning() {
        // 4 dies × 25 blocks × 10 pages = 1000 pages.
        let by_physical = GivenSize::BlocksAndOp(25, OverProvisioning::SpareFraction(0.2)).solve(&GEOMETRY);
        let by_logical = GivenSize::BlocksAndOp(25, OverProvisioning::Ratio(0.25)).solve(&GEOMETRY);
        assert_eq!(by_physical, (25, 800), "(1000 − 800) / 1000 = 0.2");
        assert_eq!(by_logical, (25, 800), "(1000 − 800) / 800 = 0.25");
        assert_eq!(
            GivenSize::LogicalAndOp(800 * 4096, OverProvisioning::SpareFraction(0.2)).solve(&GEOMETRY),
            (25, 800)
        );
        assert_eq!(GivenSize::LogicalAndOp(800 * 4096, OverProvisioning::Ratio(0.25)).solve(&GEOMETRY), (25, 800));
    }

    #[test]
    fn a_size_between_blocks_is_rounded_up_and_one_between_pages_down() {
        assert_eq!(GivenSize::LogicalAndOp(801 * 4096, OverProvisioning::Ratio(0.25)).solve(&GEOMETRY), (26, 801));
        assert_eq!(GivenSize::BlocksAndOp(25, OverProvisioning::Ratio(0.3)).solve(&GEOMETRY), (25, 769));
        assert_eq!(GivenSize::BlocksAndLogical(25, 4096 * 10 - 1).solve(&GEOMETRY), (25, 9));
    }

    #[test]
    fn the_watermark_is_a_count_or_a_share() {
        let watermarks = Watermarks { low_blocks: 3, low_fraction: 0.05, reserved_blocks: 1 };
        assert_eq!([10, 60, 61, 1024].map(|blocks| watermarks.low(blocks)), [3, 3, 4, 52]);
    }

    fn given_strategy() -> impl Strategy<Value = GivenSize> {
        let op = prop_oneof![
            (0.0..0.6).prop_map(OverProvisioning::SpareFraction),
            (0.0..2.0).prop_map(OverProvisioning::Ratio)
        ];
        prop_oneof![
            (1_u32..10_000, 4096_u64..1 << 36).prop_map(|(blocks, bytes)| GivenSize::BlocksAndLogical(blocks, bytes)),
            (1_u32..10_000, op.clone()).prop_map(|(blocks, op)| GivenSize::BlocksAndOp(blocks, op)),
            (4096_u64..1 << 36, op).prop_map(|(bytes, op)| GivenSize::LogicalAndOp(bytes, op)),
        ]
    }

    proptest! {
        #[test]
        fn the_least_op_ratio_is_enough(
            given in given_strategy(),
            low_blocks in 2_u32..50,
            low_fraction in 0.0..0.2,
            reserved_blocks in 1_u32..10,
        ) {
            let watermarks = &Watermarks { low_blocks, low_fraction, reserved_blocks };
            let page = page::Settings { allocation: Allocation::Dynamic, separate_frontiers: true, map_unit_bytes: 4096 };
            let ftl = &ftl::Settings::Page(page);
            let needs = Needs { ftl, watermarks, filled: true, log: None, fixed: Reserves::default(), journal: None, slc_bytes: 0 };
            if let Some(ratio) = given.least_op_ratio(&GEOMETRY, needs) {
                prop_assert!(given.with_op_ratio(ratio).fits(&GEOMETRY, needs));
                let less = given.with_op_ratio(ratio - 1e-4);
                prop_assert!(ratio < 2e-4 || !less.fits(&GEOMETRY, needs));
            }
        }

        #[test]
        fn the_size_obeys_the_over_provisioning(blocks in 1_u32..100_000, ratio in 0.0..3.0) {
            let (_, logical) = GivenSize::BlocksAndOp(blocks, OverProvisioning::Ratio(ratio)).solve(&GEOMETRY);
            let (back, _) = GivenSize::LogicalAndOp(logical as u64 * 4096, OverProvisioning::Ratio(ratio)).solve(&GEOMETRY);
            prop_assert_eq!(back, u128::from(blocks), "there and back");
        }
    }
}
