//! `device.scale`: a smaller drive of the same shape.
//!
//! Channels, ways, planes, page size and the share of spare flash stay. Blocks of a plane become fewer, down to
//! [`DIE_BLOCKS_MIN`] in a die; then the pages of a block, down to [`PAGES_MIN`]. Both are rounded to whole numbers, pages of a block to
//! whole rows.

use super::{FlashShape, GivenSize, OverProvisioning};
use flashwatt_base::settings::Checker;

/// Blocks of a die below which a scaled drive gets smaller blocks instead of fewer.
const DIE_BLOCKS_MIN: u32 = 256;
/// Pages that a block of a scaled drive keeps.
const PAGES_MIN: u32 = 16;

const KEY: &str = "device.scale";

/// The size and the shape of a drive with `scale` times the flash; none, with a fault, if that is too little.
pub(super) fn scaled(
    c: &mut Checker,
    scale: f64,
    given: GivenSize,
    geometry: &FlashShape,
) -> Option<(GivenSize, FlashShape)> {
    let (blocks, logical) = given.solve(geometry);
    let pages = u128::from(geometry.pages_per_block);
    let physical = blocks * geometry.planes() * pages;
    if scale == 1.0 || !(1..=physical).contains(&logical) {
        return Some((given, *geometry));
    }
    let least_blocks = u128::from(DIE_BLOCKS_MIN.div_ceil(geometry.planes)).min(blocks);
    let row = u128::from(geometry.row_pages);
    let least_pages = u128::from(PAGES_MIN.min(geometry.pages_per_block)).next_multiple_of(row);
    let least_pages = least_pages.max(row * u128::from(1 + geometry.pass_distance));
    let pages_of_plane = (blocks * pages) as f64 * scale;
    let pages_left = ((pages_of_plane / least_blocks as f64) as u128).min(pages) / row * row;
    let blocks_left = ((pages_of_plane / pages_left.max(1) as f64).round() as u128).max(least_blocks);
    if pages_left < least_pages {
        let least = (least_blocks * least_pages) as f64 / (blocks * pages) as f64;
        let found = format!("{scale:?}: {pages_left} pages in a block, {least_blocks} blocks in a plane");
        let fault = c.fault(KEY, "too small a share of the drive").found(found);
        let fault = fault.expected(format!("at least 1/{}: {least_pages} pages in a block", (1.0 / least) as u64));
        c.push(fault.help("or fewer device.channels or device.ways, which make the drive smaller too"));
        return None;
    }
    let spare = OverProvisioning::SpareFraction((physical - logical) as f64 / physical as f64);
    let shape = FlashShape { pages_per_block: u32::try_from(pages_left).ok()?, ..*geometry };
    Some((GivenSize::BlocksAndOp(u32::try_from(blocks_left).ok()?, spare), shape))
}
