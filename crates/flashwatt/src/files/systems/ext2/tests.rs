//! ext2 against mke2fs, and allocations that were worked out by hand.

use super::geometry::{GROUP_BLOCKS, Geometry};

const MIB: u64 = 1 << 20;

/// Sizes in MiB; inodes, blocks, free blocks, free inodes, inodes of a group: as `dumpe2fs -h` prints them of what
/// `mke2fs -t ext2 -b 4096` (e2fsprogs 1.47.0) has laid down on a sparse file.
const LAID_DOWN: [[u64; 6]; 9] = [
    [64, 16384, 16384, 15347, 16373, 16384],
    [200, 51200, 51200, 47962, 51189, 25600],
    [512, 32768, 131072, 128911, 32757, 8192],
    [1024, 65536, 262144, 257701, 65525, 8192],
    [8192, 524288, 2097152, 2059633, 524277, 8192],
    [32768, 2097152, 8388608, 8244718, 2097141, 8192],
    [57220, 3662848, 14648320, 14405165, 3662837, 8176],
    [131072, 8388608, 33554432, 33012715, 8388597, 8192],
    [1048576, 67108864, 268435456, 264205287, 67108853, 8192],
];

#[test]
fn an_empty_file_system_is_that_of_mke2fs() {
    for [mib, inodes, blocks, free_blocks, free_inodes, of_group] in LAID_DOWN {
        let geometry = Geometry::new(mib * MIB, None).expect("a disk for ext2");
        let ours = [
            mib,
            u64::from(geometry.inodes()),
            u64::from(geometry.blocks),
            geometry.free_blocks(),
            u64::from(geometry.inodes() - super::FIRST_INODES),
            u64::from(geometry.inodes_per_group),
        ];
        assert_eq!(ours, [mib, inodes, blocks, free_blocks, free_inodes, of_group]);
    }
}

/// The blocks of the first groups of 1 GiB, as `dumpe2fs` prints them.
#[test]
fn the_metadata_of_a_group_lies_where_mke2fs_puts_it() {
    let geometry = Geometry::new(1024 * MIB, None).expect("a disk for ext2");
    assert_eq!((geometry.block_bitmap(0), geometry.inode_bitmap(0), geometry.inode_block(0)), (65, 66, 67));
    assert_eq!((geometry.block_bitmap(2), geometry.inode_bitmap(2)), (2 * GROUP_BLOCKS, 2 * GROUP_BLOCKS + 1));
    assert_eq!(geometry.block_bitmap(3), 3 * GROUP_BLOCKS + 65, "group 3 has a copy");
    assert_eq!(geometry.inode_block(8192), GROUP_BLOCKS + 67);
    assert_eq!(geometry.inode_block(16), geometry.inode_block(0) + 1, "16 inodes of 256 bytes in a block");
}
