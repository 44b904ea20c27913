//! How the drive is laid out, and where an address lies.
//!
//! A physical page holds one or (under sub-page mapping) several *map units*; [`Ppn`] and [`Lpn`] count map units.
//! Dies are numbered channel first, blocks die by die, map units block by block.

use std::ops::Range;

use super::reserve::Reserves;
use super::settings::DeviceTable;
use crate::operation::{OpClass, OpKind};
use flashwatt_base::units::{BlockId, ChannelId, DieId, Lpn, Ppn};
use flashwatt_core::connector::{Extent, Request};

/// The layout of a drive.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Dies on each channel.
    pub ways: u32,
    /// Dies.
    pub dies: u32,
    /// Erase blocks in a die.
    pub blocks_per_die: u32,
    /// Erase blocks in the drive.
    pub blocks: u32,
    /// Pages in an erase block, on all the planes that it spans.
    pub pages_per_block: u32,
    /// Planes that a block spans. Consecutive pages of a row lie on different ones.
    pub planes: u32,
    /// Bits of a cell.
    pub bits: u32,
    /// Whether blocks can be used in SLC mode.
    pub has_slc: bool,
    /// Pages that are programmed at once: `planes` · `bits`. A block has a whole number of such rows.
    pub row_pages: u32,
    /// Rows of a block whose first pass comes before the second pass of a row; 0 if rows are programmed in one pass.
    pub pass_distance: u32,
    /// Map units in a page.
    pub units_per_page: u32,
    /// Map units in an erase block.
    pub units_per_block: u32,
    /// Bytes in a map unit.
    pub unit_bytes: u32,
    /// Map units that the host can address.
    pub logical_units: u32,
    /// Blocks of each die that are kept for a purpose of the drive's own. Those for a power cut are there in runs that can be cut.
    pub reserves: Reserves,
    /// log2 of `unit_bytes`, which is a power of two.
    unit_shift: u32,
    block_div: Divisor,
    die_div: Divisor,
    dies_div: Divisor,
    /// log2 of `units_per_page`, which is a power of two.
    page_shift: u32,
}

impl Geometry {
    /// The layout that a configuration describes, with map units of `unit_bytes`.
    pub fn new(device: &DeviceTable, unit_bytes: u32) -> Self {
        let units_per_page = device.page_bytes / unit_bytes;
        let dies = device.channels * device.ways;
        let blocks_per_die = device.die_blocks();
        let units_per_block = device.block_pages() * units_per_page;
        Geometry {
            channels: device.channels,
            ways: device.ways,
            dies,
            blocks_per_die,
            blocks: blocks_per_die * dies,
            pages_per_block: device.block_pages(),
            planes: device.block_planes(),
            bits: device.cell_bits(),
            has_slc: device.cells.as_ref().is_some_and(|cells| cells.slc.is_some()),
            row_pages: device.row_pages(),
            pass_distance: device.pass_distance(),
            units_per_page,
            units_per_block,
            unit_bytes,
            unit_shift: unit_bytes.trailing_zeros(),
            logical_units: (device.logical_bytes / u64::from(unit_bytes)) as u32,
            reserves: device.reserves,
            block_div: Divisor::new(units_per_block),
            die_div: Divisor::new(blocks_per_die),
            dies_div: Divisor::new(dies),
            page_shift: units_per_page.trailing_zeros(),
        }
    }

    /// The logical page that holds a byte.
    #[inline(always)]
    pub fn lpn_of_byte(&self, offset_bytes: u64) -> Lpn {
        Lpn((offset_bytes >> self.unit_shift) as u32)
    }

    /// Bytes in a page.
    pub fn page_bytes(&self) -> u32 {
        self.unit_bytes * self.units_per_page
    }

    /// Map units in the drive.
    pub fn physical_units(&self) -> u32 {
        self.blocks * self.units_per_block
    }

    /// The logical pages that a request covers, wholly or in part.
    #[inline(always)]
    pub fn extent(&self, request: &Request) -> Extent {
        let in_unit = u64::from(self.unit_bytes) - 1;
        let end = request.offset_bytes + request.bytes;
        let first = request.offset_bytes >> self.unit_shift;
        let pages = (((end + in_unit) >> self.unit_shift) - first) as u32;
        Extent {
            first: Lpn(first as u32),
            pages,
            request_pages: pages,
            head_partial: request.offset_bytes & in_unit != 0,
            tail_partial: end & in_unit != 0,
        }
    }

    /// The bytes of a logical page that a request covers, as a range within the page.
    #[inline]
    pub fn bytes_in(&self, request: &Request, lpn: Lpn) -> Range<u32> {
        let first = u64::from(lpn.0) << self.unit_shift;
        let from = request.offset_bytes.saturating_sub(first);
        let to = (request.offset_bytes + request.bytes).saturating_sub(first).min(u64::from(self.unit_bytes));
        from as u32..to as u32
    }

    /// How many bytes of a request lie in these of its pages.
    pub fn bytes_within(&self, request: &Request, extent: Extent) -> u64 {
        let start = |lpn: u64| lpn << self.unit_shift;
        let first = u64::from(extent.first.0);
        let end = start(first + u64::from(extent.pages)).min(request.offset_bytes + request.bytes);
        end.saturating_sub(start(first).max(request.offset_bytes))
    }

    /// The block that holds a physical address.
    #[inline(always)]
    pub fn block_of(&self, ppn: Ppn) -> BlockId {
        BlockId(self.block_div.divide(ppn.0))
    }

    /// The die that holds a block.
    #[inline(always)]
    pub fn die_of_block(&self, block: BlockId) -> DieId {
        DieId(self.die_div.divide(block.0))
    }

    /// The die that holds a physical address.
    #[inline(always)]
    pub fn die_of(&self, ppn: Ppn) -> DieId {
        self.die_of_block(self.block_of(ppn))
    }

    /// The physical page that holds a physical address, counted over the whole drive.
    #[inline(always)]
    pub fn page_of(&self, ppn: Ppn) -> u32 {
        ppn.0 >> self.page_shift
    }

    /// Where a physical address lies.
    #[inline(always)]
    pub fn place(&self, ppn: Ppn) -> FlashAddress {
        let block = self.block_of(ppn);
        let page = self.page_of(ppn) - block.0 * self.pages_per_block;
        FlashAddress { die: self.die_of_block(block), block, page }
    }

    /// A block's first physical address.
    #[inline(always)]
    pub fn first_ppn(&self, block: BlockId) -> Ppn {
        Ppn(block.0 * self.units_per_block)
    }

    /// The first physical address of the page at a place.
    pub fn ppn_at(&self, at: FlashAddress) -> Ppn {
        Ppn(self.first_ppn(at.block).0 + at.page * self.units_per_page)
    }

    /// The position of a physical address within its block, in map units.
    #[inline(always)]
    pub fn unit_in_block(&self, ppn: Ppn) -> u32 {
        ppn.0 - self.block_of(ppn).0 * self.units_per_block
    }

    /// The channel of a die.
    #[inline(always)]
    pub fn channel_of(&self, die: DieId) -> ChannelId {
        ChannelId(die.0 % self.channels)
    }

    /// The position of a die on its channel.
    #[inline(always)]
    pub fn way_of(&self, die: DieId) -> u32 {
        die.0 / self.channels
    }

    /// The die at a position on a channel.
    #[inline(always)]
    pub fn die_at(&self, channel: ChannelId, way: u32) -> DieId {
        DieId(way * self.channels + channel.0)
    }

    /// The plane of a page, by its number in its block.
    pub fn plane_of(&self, page: u32) -> u32 {
        page % self.planes
    }

    /// The type of a page, by its number in its block: 0 for the lower page of its cells.
    pub fn type_of(&self, page: u32) -> u32 {
        page % self.row_pages / self.planes
    }

    /// Pages of a block that is used in SLC mode.
    pub fn slc_pages(&self) -> u32 {
        self.pages_per_block / self.bits
    }

    /// Map units of a row, and of the rows behind it that its second pass needs.
    pub fn units_to_end_a_row(&self) -> u32 {
        (1 + self.pass_distance) * self.row_pages * self.units_per_page
    }

    /// The number of pages, rounded up to whole rows.
    pub fn whole_rows(&self, pages: u32) -> u32 {
        pages.div_ceil(self.row_pages) * self.row_pages
    }

    /// The blocks of a die.
    pub fn blocks_of(&self, die: DieId) -> impl Iterator<Item = BlockId> + Clone + use<> {
        let first = die.0 * self.blocks_per_die;
        (first..first + self.blocks_per_die).map(BlockId)
    }

    /// The pages of a block, each by the address of its first unit.
    pub fn pages_of(&self, block: BlockId) -> impl Iterator<Item = Ppn> + Clone + use<> {
        let (first, units) = (self.first_ppn(block).0, self.units_per_page);
        (0..self.pages_per_block).map(move |page| Ppn(first + page * units))
    }

    /// The addresses of the units of a page, which begins at this one.
    pub fn units_of(&self, page: Ppn) -> impl Iterator<Item = Ppn> + Clone + use<> {
        (page.0..page.0 + self.units_per_page).map(Ppn)
    }

    /// Where the start state `filled` puts a logical page: in address order over the dies, channel first.
    #[inline]
    pub fn filled_ppn(&self, lpn: Lpn) -> Ppn {
        let page = lpn.0 >> self.page_shift;
        let unit = lpn.0 - (page << self.page_shift);
        let page_in_die = self.dies_div.divide(page);
        let die = page - page_in_die * self.dies;
        Ppn(die * self.blocks_per_die * self.units_per_block + (page_in_die << self.page_shift) + unit)
    }

    /// The logical page that the start state `filled` puts at an address, if any.
    #[inline]
    pub fn filled_lpn(&self, ppn: Ppn) -> Option<Lpn> {
        let die = self.die_of(ppn).0;
        let in_die = ppn.0 - die * self.blocks_per_die * self.units_per_block;
        let page_in_die = in_die >> self.page_shift;
        let unit = in_die - (page_in_die << self.page_shift);
        let lpn = ((page_in_die * self.dies + die) << self.page_shift) + unit;
        (lpn < self.logical_units).then_some(Lpn(lpn))
    }
}

/// Where a physical page lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlashAddress {
    /// Its die.
    pub die: DieId,
    /// Its block.
    pub block: BlockId,
    /// Its position in the block.
    pub page: u32,
}

impl FlashAddress {
    /// Nowhere.
    pub const NONE: FlashAddress = FlashAddress { die: DieId(u32::MAX), block: BlockId::NONE, page: 0 };

    /// Whether it is the upper page of its cells: every other page of a block, from its second one on.
    #[inline(always)]
    pub fn is_upper(self) -> bool {
        self.page & 1 != 0
    }

    /// The class of a kind of operation here. It says of which type a page is and in which mode its block: each page is of the one type
    /// and each block in the one mode that there are.
    #[inline(always)]
    pub const fn class(self, kind: OpKind) -> OpClass {
        OpClass::plain(kind)
    }

    /// Of an upper page, the lower page of the same cells.
    pub fn lower(self) -> Option<FlashAddress> {
        self.is_upper().then(|| FlashAddress { page: self.page - 1, ..self })
    }
}

/// Division by a number fixed at the start, by one multiplication: exact for all 32-bit operands.
///
/// With m = ⌊(2^64 − 1) / d⌋, ⌊x / d⌋ = ⌊(x + 1)·m / 2^64⌋: m falls short of 2^64 / d by at most 1, so the product falls
/// short of (x + 1) / d by more than 0 and at most (x + 1) / 2^64 < 1 / d, which never crosses the integer below.
#[derive(Clone, Copy, Debug)]
struct Divisor(u64);

impl Divisor {
    fn new(divisor: u32) -> Self {
        Divisor(u64::MAX / u64::from(divisor.max(1)))
    }

    #[inline(always)]
    fn divide(self, x: u32) -> u32 {
        (((u128::from(x) + 1) * u128::from(self.0)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::drive::fixture::{Shape, device};

    proptest! {
        #[test]
        fn division_is_exact(x: u32, d in 1u32..) {
            prop_assert_eq!(Divisor::new(d).divide(x), x / d);
        }

        #[test]
        fn division_is_exact_at_multiples(q in 0u32..1000, d in 1u32..4_000_000) {
            let x = q * d;
            prop_assert_eq!(Divisor::new(d).divide(x), q);
            if x > 0 {
                prop_assert_eq!(Divisor::new(d).divide(x - 1), (x - 1) / d);
            }
        }
    }

    #[test]
    fn each_address_holds_the_page_that_the_filled_start_state_puts_there() {
        for (channels, ways, unit_bytes) in [(1, 1, 4096), (3, 2, 4096), (2, 3, 1024)] {
            // 75 pages for the host: in 6 dies three of them have one more than the others.
            let shape = Shape { channels, ways, blocks: 40, pages_per_block: 5, logical_bytes: 307_200 };
            let geometry = Geometry::new(&device(shape), unit_bytes);
            let pages: Vec<_> = (0..geometry.logical_units).map(|lpn| geometry.filled_ppn(Lpn(lpn))).collect();
            for ppn in (0..geometry.physical_units()).map(Ppn) {
                let at = pages.iter().position(|&page| page == ppn);
                assert_eq!(geometry.filled_lpn(ppn), at.map(|lpn| Lpn(lpn as u32)), "{ppn}");
            }
        }
    }

    #[test]
    fn division_holds_at_the_edges() {
        for d in [1, 2, 3, 127, 128, u32::MAX - 1, u32::MAX] {
            for x in [0, 1, d - 1, d, d.wrapping_add(1), u32::MAX - 1, u32::MAX] {
                assert_eq!(Divisor::new(d).divide(x), x / d, "{x} / {d}");
            }
        }
    }
}
