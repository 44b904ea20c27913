//! The translation layers that a configuration can name: one file each, one line each in the list below, the default first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scheme::schemes;
use super::{DriveSize, Ftl, Room, Scheme};
use crate::ftl::Setup;
use crate::models::mapping_memory::Tables;
use crate::nand::Geometry;
use flashwatt_base::registry::Entry;
use flashwatt_base::settings::Checker;

schemes! {
    Page(page::PageFtl),
    Dftl(dftl::Dftl),
    Rftl(rftl::Rftl),
    Tpftl(tpftl::Tpftl),
    Block(block::BlockFtl),
    Nftl(nftl::NftlFtl),
    Bast(bast::BastFtl),
    BastStar(bast_star::BastStarFtl),
    Fast(fast::FastFtl),
    Last(last::LastFtl),
    Superblock(superblock::Superblock),
}
