//! Inodes: which blocks a file has, and the indirect blocks that lead to them.

use crate::files::system::{Block, Run};
use crate::units::Nanos;

const SECOND_NS: Nanos = 1_000_000_000;

/// Pages that an inode leads to without an indirect block.
const DIRECT: u32 = 12;
/// Addresses of an indirect block.
const ADDRESSES: u32 = 1024;
/// Most pages of a file.
pub const PAGES_MAX: u64 = 12 + 1024 + 1024 * 1024 + 1024 * 1024 * 1024;

/// An indirect block of a file: how many levels are below it, and its number among those of this height.
pub type Node = (u8, u32);

/// Pages on consecutive blocks.
#[derive(Clone, Copy, Debug)]
struct Extent {
    page: u32,
    block: Block,
    pages: u32,
}

/// An inode.
#[derive(Debug, Default)]
pub struct Inode {
    /// Its number, from 0.
    pub number: u32,
    /// The directory, and the block of it that has the entry.
    pub dir: u32,
    pub slot: u32,
    extents: Vec<Extent>,
    /// Indirect blocks by node, in order.
    nodes: Vec<(Node, Block)>,
    /// The page and the block that were allocated last.
    pub last: Option<(u32, Block)>,
    /// Its length in bytes, and the second of its last change: times of ext2 are whole seconds.
    bytes: u64,
    second: u64,
    /// Whether it has changed since it was last made durable; and whether its length or its blocks have.
    pub is_changed: bool,
    pub is_longer: bool,
}

impl Inode {
    /// An empty file with an entry in a block of a directory.
    pub fn new(number: u32, dir: u32, slot: u32) -> Self {
        Inode { number, dir, slot, ..Inode::default() }
    }

    /// The file has been written at a time in ns. Returns whether the inode has changed: its length, or the second.
    pub fn written(&mut self, bytes: u64, now: Nanos) -> bool {
        let second = now / SECOND_NS;
        let changed = (self.bytes, self.second) != (bytes, second);
        self.is_longer |= self.bytes != bytes;
        (self.bytes, self.second) = (bytes, second);
        self.is_changed |= changed;
        changed
    }

    /// The block of a page, and how many pages from it on follow on the disk.
    pub fn run(&self, page: u32) -> Option<Run> {
        let at = self.extents.partition_point(|extent| extent.page <= page);
        let extent = self.extents.get(at.checked_sub(1)?)?;
        let skip = page - extent.page;
        (skip < extent.pages).then(|| Run { block: extent.block + skip, pages: extent.pages - skip })
    }

    /// The block of the page before, or of one still before that.
    pub fn block_before(&self, page: u32) -> Option<Block> {
        let at = self.extents.partition_point(|extent| extent.page < page);
        let extent = self.extents.get(at.checked_sub(1)?)?;
        Some(extent.block + (extent.pages - 1).min(page - 1 - extent.page))
    }

    /// A page gets a block.
    pub fn add(&mut self, page: u32, block: Block) {
        self.last = Some((page, block));
        let at = self.extents.partition_point(|extent| extent.page < page);
        if let Some(before) = at.checked_sub(1).map(|at| &mut self.extents[at])
            && before.page + before.pages == page
            && before.block + before.pages == block
        {
            before.pages += 1;
            return;
        }
        self.extents.insert(at, Extent { page, block, pages: 1 });
    }

    /// The runs of the file.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        self.extents.iter().map(|extent| Run { block: extent.block, pages: extent.pages })
    }

    /// The block of a node, if it has one.
    pub fn node(&self, node: Node) -> Option<Block> {
        let at = self.nodes.binary_search_by_key(&node, |&(node, _)| node).ok()?;
        Some(self.nodes[at].1)
    }

    /// A node gets a block.
    pub fn add_node(&mut self, node: Node, block: Block) {
        let at = self.nodes.partition_point(|&(other, _)| other < node);
        self.nodes.insert(at, (node, block));
    }

    /// The indirect blocks of the file.
    pub fn node_blocks(&self) -> impl Iterator<Item = Block> {
        self.nodes.iter().map(|&(_, block)| block)
    }
}

/// The nodes that lead to a page, the one below the inode first.
pub fn path(page: u32) -> impl Iterator<Item = Node> {
    let at = |height: u8| -> Option<Node> {
        let behind = page.checked_sub(DIRECT)?;
        let leaf = behind / ADDRESSES;
        // Leaf 0 is the inode's own; the next 1024 are below the double indirect block, all others below the triple one.
        let double = leaf.checked_sub(1).map(|leaf| leaf / ADDRESSES);
        match height {
            0 => Some((0, leaf)),
            1 => double.map(|double| (1, double)),
            _ => double.filter(|&double| double > 0).map(|_| (2, 0)),
        }
    };
    [at(2), at(1), at(0)].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indirect_blocks_begin_where_ext2_has_them() {
        let of = |page| path(page).collect::<Vec<_>>();
        assert_eq!(of(11), []);
        assert_eq!(of(12), [(0, 0)]);
        assert_eq!(of(12 + 1023), [(0, 0)]);
        assert_eq!(of(12 + 1024), [(1, 0), (0, 1)]);
        let triple = 12 + 1024 + 1024 * 1024;
        assert_eq!(of(triple - 1), [(1, 0), (0, 1024)]);
        assert_eq!(of(triple), [(2, 0), (1, 1), (0, 1025)]);
    }

    #[test]
    fn pages_on_consecutive_blocks_are_one_run() {
        let mut inode = Inode::default();
        for (page, block) in [(0, 100), (1, 101), (3, 110), (2, 102)] {
            inode.add(page, block);
        }
        assert_eq!(inode.run(0), Some(Run { block: 100, pages: 3 }));
        assert_eq!(inode.run(3), Some(Run { block: 110, pages: 1 }));
        assert_eq!(inode.run(4), None);
        assert_eq!(inode.block_before(3), Some(102));
        assert_eq!(inode.runs().count(), 2);
    }
}
