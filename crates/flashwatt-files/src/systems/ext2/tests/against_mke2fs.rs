//! What is laid down, against mke2fs and dumpe2fs (e2fsprogs).

use std::process::Command;

use super::super::ENTRY;
use super::super::geometry::{FIRST_INODES, GROUP_BLOCKS, Geometry};
use super::{MIB, parameters};
use flashwatt_base::registry::Parameters;

/// The table of tools/ext2_figures.py.
const FIGURES: &str = include_str!("figures.txt");

/// Blocks before the first block for files, as runs of groups: count x blocks.
fn overheads(geometry: &Geometry) -> String {
    let overheads: Vec<u32> = (0..geometry.groups).map(|group| geometry.overhead(group)).collect();
    let runs = overheads.chunk_by(|before, after| before == after);
    runs.map(|run| format!("{}x{}", run.len(), run[0])).collect::<Vec<_>>().join(",")
}

/// A line of the table, from our own layout.
fn line(disk_bytes: u64, bytes_per_inode: u64) -> String {
    let ratio = Some(bytes_per_inode).filter(|&ratio| ratio > 0);
    let geometry = Geometry::new(disk_bytes, ratio).expect("a disk for ext2");
    let inodes = geometry.inodes();
    let numbers = [
        disk_bytes,
        bytes_per_inode,
        u64::from(geometry.blocks),
        geometry.free_blocks(),
        geometry.reserved_blocks(5.0),
        u64::from(inodes),
        u64::from(inodes - FIRST_INODES),
        u64::from(geometry.inodes_per_group),
        u64::from(geometry.overhead(0)), // the root directory is the first block behind it
    ];
    let mut line: Vec<String> = numbers.iter().map(u64::to_string).collect();
    line.push(overheads(&geometry));
    line.join("\t")
}

#[test]
fn an_empty_file_system_is_that_of_mke2fs() {
    let lines: Vec<&str> = FIGURES.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).collect();
    assert!(lines.len() >= 20, "{} disks", lines.len());
    for expected in lines {
        let mut columns = expected.split('\t').map(|column| column.parse::<u64>());
        let mut column = || columns.next().expect("a column").expect("a number");
        assert_eq!(line(column(), column()), expected);
    }
}

/// The blocks of the first groups of 1 GiB, as dumpe2fs prints them.
#[test]
fn the_metadata_of_a_group_lies_where_mke2fs_puts_it() {
    let geometry = Geometry::new(1024 * MIB, None).expect("a disk for ext2");
    assert_eq!((geometry.block_bitmap(0), geometry.inode_bitmap(0), geometry.inode_block(0)), (65, 66, 67));
    assert_eq!((geometry.block_bitmap(2), geometry.inode_bitmap(2)), (2 * GROUP_BLOCKS, 2 * GROUP_BLOCKS + 1));
    assert_eq!(geometry.block_bitmap(3), 3 * GROUP_BLOCKS + 65, "group 3 has a copy");
    assert_eq!(geometry.inode_block(8192), GROUP_BLOCKS + 67);
    assert_eq!(geometry.inode_block(16), geometry.inode_block(0) + 1, "16 inodes of 256 bytes in a block");
    for inode in [0, 16, 8191 / 16 * 16, 8192, 3 * 8192] {
        assert_eq!(geometry.first_inode(geometry.inode_block(inode)), Some(inode));
    }
    for block in [0, 66, 579, 2 * GROUP_BLOCKS + 1] {
        assert_eq!(geometry.first_inode(block), None, "block {block}");
    }
}

#[test]
fn a_disk_without_room_for_a_file_is_refused() {
    assert_eq!(Geometry::new(0, None), None);
    assert_eq!(Geometry::new(64 << 10, None), None);
    assert_eq!(Geometry::new(16 << 40, None), None, "2^32 blocks");
    assert!(Geometry::new((16 << 40) - 4096, None).is_some());
}

#[test]
fn what_cannot_be_laid_down_is_named() {
    let fault = |disk_bytes, per_inode| {
        let parameters = parameters(&[("bytes_per_inode", per_inode)]);
        (ENTRY.build.make)(&Parameters(&parameters), disk_bytes)
            .err()
            .map(|fault| fault.to_string())
            .unwrap_or_default()
    };
    assert_eq!(fault(64 * MIB, 0.0), "");
    assert_eq!(fault(64 * MIB, 4096.0), "");
    for part in ["workload.files.system.ext2.bytes_per_inode", "found 4095", "expected 0, or 4096 to 67108864"] {
        assert!(fault(64 * MIB, 4095.0).contains(part), "{}", fault(64 * MIB, 4095.0));
    }
    assert!(fault(64 << 10, 0.0).contains("ext2 on 65536 bytes"), "{}", fault(64 << 10, 0.0));
}

/// A number that a tool prints behind a title.
fn number(dump: &str, title: &str) -> u64 {
    let line = dump.lines().find_map(|line| line.strip_prefix(title)?.strip_prefix(':'));
    line.and_then(|line| line.trim().parse().ok()).unwrap_or_else(|| panic!("no {title} in {dump}"))
}

/// mke2fs of this machine, on disks of sizes without a pattern. Without it the test says that it did nothing.
#[test]
fn mke2fs_of_this_machine_lays_down_the_same() {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let tool = |name: &str| {
        let mut command = Command::new(name);
        command.env("PATH", &path);
        command
    };
    if tool("mke2fs").arg("-V").output().is_err() || tool("dumpe2fs").arg("-V").output().is_err() {
        #[expect(clippy::print_stderr, reason = "a test that does nothing says so")]
        {
            eprintln!("SKIPPED: mke2fs and dumpe2fs are not installed; only the committed table was compared");
        }
        return;
    }
    let image = std::env::temp_dir().join(format!("flashwatt-ext2-{}", std::process::id()));
    let mut disk_bytes: u64 = 1_300_000;
    while disk_bytes < 6 << 30 {
        let file = std::fs::File::create(&image).expect("a file for an image");
        file.set_len(disk_bytes).expect("a sparse file");
        let made = tool("mke2fs").args(["-q", "-F", "-t", "ext2", "-b", "4096"]).arg(&image).status();
        assert!(made.expect("mke2fs runs").success());
        let dump = tool("dumpe2fs").arg("-h").arg(&image).output().expect("dumpe2fs runs").stdout;
        let dump = String::from_utf8_lossy(&dump);
        let titles = ["Block count", "Free blocks", "Reserved block count", "Inode count", "Inodes per group"];
        let geometry = Geometry::new(disk_bytes, None).expect("a disk for ext2");
        let ours = [
            u64::from(geometry.blocks),
            geometry.free_blocks(),
            geometry.reserved_blocks(5.0),
            u64::from(geometry.inodes()),
            u64::from(geometry.inodes_per_group),
        ];
        assert_eq!(ours, titles.map(|title| number(&dump, title)), "{disk_bytes} bytes");
        disk_bytes = disk_bytes * 8 / 5 + 1_234_567;
    }
    std::fs::remove_file(&image).expect("the image is ours");
}
