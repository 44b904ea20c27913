//! Memory of the mapping tables: the model of Park et al. 2011, section 3.3.
//!
//! An entry that distinguishes n things takes ⌈⌈log2 n⌉ / 8⌉ bytes. Real controllers would use whole words; the report
//! has the memory of the simulated drive beside this (`ftl.mapping_bytes`).

use serde::Serialize;

/// The flash of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FlashModel {
    /// Bytes of flash, ≥ one block.
    pub capacity_bytes: u64,
    /// Bytes in a page.
    pub page_bytes: u64,
    /// Bytes in an erase block.
    pub block_bytes: u64,
}

/// Share of log blocks among all blocks, in per cent: "approximately 5 %" (Park et al. 2011, section 3.1).
pub const LOG_PERCENT: u64 = 5;

/// Cache of DFTL in the paper: 32 KB for every capacity.
pub const DFTL_CACHE_BYTES: u64 = 32 * 1024;

/// Bytes of tables, by scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tables {
    /// Page mapping: an entry for each page.
    pub page: u64,
    /// Block mapping: an entry for each block.
    pub block: u64,
    /// FAST: the block table, and an entry for each page of the log blocks.
    pub fast: u64,
    /// LAST: as FAST.
    pub last: u64,
    /// DFTL: the block table and the cache. This is the paper's own approximation: DFTL has no block table, but a
    /// directory of translation pages, which is smaller.
    pub dftl: u64,
}

/// Bytes of an entry that tells `things` apart: ⌈⌈log2 n⌉ / 8⌉, at least 1.
pub fn entry_bytes(things: u64) -> u64 {
    let bits = u64::from(things.max(2).next_power_of_two().trailing_zeros());
    bits.div_ceil(8)
}

/// The tables of each scheme on this flash.
pub fn tables(flash: &FlashModel) -> Tables {
    let (pages, blocks) = (flash.capacity_bytes / flash.page_bytes, flash.capacity_bytes / flash.block_bytes);
    let block = blocks * entry_bytes(blocks);
    let log_pages = blocks * LOG_PERCENT / 100 * (flash.block_bytes / flash.page_bytes);
    let log = block + log_pages * entry_bytes(pages);
    Tables { page: pages * entry_bytes(pages), block, fast: log, last: log, dftl: block + DFTL_CACHE_BYTES }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(capacity_mib: u64) -> Tables {
        tables(&FlashModel { capacity_bytes: capacity_mib << 20, page_bytes: 2048, block_bytes: 128 * 1024 })
    }

    /// 512 MB: 262,144 pages of 3 bytes each.
    #[test]
    fn f53_the_paper_s_example() {
        assert_eq!(of(512).page, 786_432);
    }

    /// All twelve capacities of the paper: page, block and DFTL in KB, FAST and LAST in tenths of a KB.
    #[test]
    fn f54_every_capacity_of_d7() {
        let table = [
            (768, 8, 462, 40),
            (1536, 16, 927, 48),
            (3072, 32, 1856, 64),
            (6144, 64, 3711, 96),
            (12_288, 128, 7422, 160),
            (24_576, 384, 16_127, 416),
            (49_152, 768, 32_256, 800),
            (131_072, 1536, 80_895, 1568),
            (262_144, 3072, 161_790, 3104),
            (524_288, 6144, 323_582, 6176),
            (1_048_576, 12_288, 647_168, 12_320),
            (2_097_152, 24_576, 1_294_335, 24_608),
        ];
        for (at, (page, block, fast_tenths, dftl)) in table.into_iter().enumerate() {
            let tables = of(512 << at);
            assert_eq!((tables.page, tables.block, tables.dftl), (page << 10, block << 10, dftl << 10));
            // The reference prints one decimal, rounded to even.
            assert_eq!(tables.fast, tables.last);
            assert!((tables.fast as f64 / 102.4 - f64::from(fast_tenths)).abs() <= 0.51, "{}", tables.fast);
        }
    }

    /// Page ≫ FAST = LAST > DFTL > block; DFTL is always 32,768 bytes above block mapping.
    #[test]
    fn f55_f56_the_order_and_the_distance() {
        for at in 0..12 {
            let Tables { page, block, fast, dftl, .. } = of(512 << at);
            assert!(page > fast && fast > dftl && dftl > block && page >= 64 * block);
            assert_eq!(dftl - block, 32_768);
        }
    }

    #[test]
    fn entries_grow_with_what_they_tell_apart() {
        assert_eq!([1, 2, 256, 257, 65_536, 65_537, 1 << 24, 1 << 25].map(entry_bytes), [1, 1, 1, 2, 2, 3, 3, 4]);
    }
}
