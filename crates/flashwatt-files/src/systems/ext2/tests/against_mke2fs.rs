//! What is laid down, against mke2fs and dumpe2fs (e2fsprogs).

use std::process::Command;

use super::super::geometry::{FIRST_INODES, GROUP_BLOCKS, Geometry};
use super::super::journal::Journal;
use super::super::{ENTRY, EXT3, with_journal};
use super::{MIB, of_entry, parameters};
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

/// First and last blocks.
type Runs = &'static [(u32, u32)];

/// The journal that mke2fs 1.47 makes (`mke2fs -t ext3 -b 4096`, debugfs): the disk in MiB, blocks, indirect blocks, and runs of all of them.
const JOURNALS: [(u64, u32, usize, Runs); 6] = [
    (64, 1024, 1, &[(1037, 2061)]),
    (128, 4096, 5, &[(2065, 6165)]),
    (512, 4096, 5, &[(553, 4653)]),
    (1024, 8192, 9, &[(585, 8785)]),
    (16_384, 32_768, 33, &[(1545, 32_767), (34_307, 35_884)]),
    (
        65_536,
        131_072,
        129,
        &[(1545, 32_767), (34_307, 65_535), (66_050, 98_303), (99_843, 131_071), (131_586, 136_851)],
    ),
];

/// All blocks of a journal's file.
fn blocks_of(journal: &Journal) -> Vec<u32> {
    let (runs, nodes) = journal.file();
    let data = runs.iter().flat_map(|run| run.block..run.block + run.pages);
    let mut blocks: Vec<u32> = data.chain(nodes.iter().copied()).collect();
    blocks.sort_unstable();
    blocks
}

#[test]
fn the_journal_lies_where_mke2fs_puts_it() {
    for (mib, blocks, nodes, runs) in JOURNALS {
        let parameters = of_entry(&EXT3, &[]);
        let system = with_journal(&Parameters(&parameters), mib * MIB).expect("a disk for ext3");
        let journal = system.journal.as_ref().expect("a journal");
        let (file, of_nodes) = journal.file();
        assert_eq!((file.iter().map(|run| run.pages).sum::<u32>(), of_nodes.len()), (blocks, nodes), "{mib} MiB");
        let all = blocks_of(journal);
        let found = all.chunk_by(|a, b| a + 1 == *b).map(|run| (run[0], run[run.len() - 1]));
        assert_eq!(found.collect::<Vec<_>>(), runs, "{mib} MiB");
    }
    // The first twelve blocks, an indirect one, 1,024 more, the double indirect block and the next one.
    let system = with_journal(&Parameters(&of_entry(&EXT3, &[])), 512 * MIB).expect("a disk for ext3");
    let (_, nodes) = system.journal.as_ref().expect("a journal").file();
    assert_eq!(*nodes, [565, 1591, 2616, 3641, 1590]);
}

#[test]
fn a_disk_without_room_for_a_journal_is_refused() {
    let fault = |bytes: u64, journal: f64| {
        let parameters = of_entry(&EXT3, &[("journal_bytes", journal)]);
        with_journal(&Parameters(&parameters), bytes).err().map(|fault| fault.to_string()).unwrap_or_default()
    };
    assert_eq!(fault(8 * MIB, 0.0), "");
    for (bytes, journal, part) in [
        (8 * MIB - 4096, 0.0, "no room for the journal"),
        (8 * MIB, 8_388_608.0, "8388608 bytes on 8388608 bytes"),
        (64 * MIB, 4_190_208.0, "expected 0, or a multiple of 4096 from 4194304 on"),
        (64 * MIB, 4_194_305.0, "found 4194305"),
    ] {
        let found = fault(bytes, journal);
        assert!(found.contains("ext3.journal_bytes") && found.contains(part), "{found}");
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
        if disk_bytes >= 8 * MIB {
            let made = tool("mke2fs").args(["-q", "-F", "-t", "ext3", "-b", "4096"]).arg(&image).status();
            assert!(made.expect("mke2fs runs").success());
            let dump = tool("dumpe2fs").arg("-h").arg(&image).output().expect("dumpe2fs runs").stdout;
            let dump = String::from_utf8_lossy(&dump);
            let blocks = tool("debugfs").args(["-R", "blocks <8>"]).arg(&image).output().expect("debugfs runs").stdout;
            let blocks = String::from_utf8_lossy(&blocks);
            let mut blocks: Vec<u32> = blocks.split_whitespace().filter_map(|block| block.parse().ok()).collect();
            blocks.sort_unstable();
            let system = with_journal(&Parameters(&of_entry(&EXT3, &[])), disk_bytes).expect("a disk for ext3");
            assert_eq!(system.blocks.bitmap.free(), number(&dump, "Free blocks"), "{disk_bytes} bytes");
            assert_eq!(blocks_of(system.journal.as_ref().expect("a journal")), blocks, "{disk_bytes} bytes");
        }
        disk_bytes = disk_bytes * 8 / 5 + 1_234_567;
    }
    std::fs::remove_file(&image).expect("the image is ours");
}
