//! Inodes: which blocks a file has, and the indirect blocks that lead to them (Linux 6.1, fs/ext2/inode.c).

use std::ops::Range;

use super::few::Few;
use super::windows::Reservation;
use crate::system::{Block, Run};

/// Pages that an inode leads to without an indirect block.
const DIRECT: u32 = 12;
/// Addresses of an indirect block.
const ADDRESSES: u32 = 1024;
/// Most pages of a file: direct ones, and those below the single, the double and the triple indirect block.
pub const PAGES_MAX: u64 = 12 + 1024 + 1024 * 1024 + 1024 * 1024 * 1024;
/// Most indirect blocks that lead to a page.
pub const NODES_MAX: usize = 3;

/// An indirect block of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Node(u32);

impl Node {
    /// Bits of a number below those of the height.
    const BITS: u32 = 30;

    /// The node with this number among those that have `height` levels of indirect blocks below them.
    pub const fn new(height: u32, number: u32) -> Self {
        Node(height << Self::BITS | number)
    }

    /// Levels of indirect blocks below it.
    pub const fn height(self) -> usize {
        (self.0 >> Self::BITS) as usize
    }

    /// Its number among those of its height.
    pub const fn number(self) -> u32 {
        self.0 & ((1 << Self::BITS) - 1)
    }

    /// The first one of its height that has the same parent. Number 0 is the inode's own.
    const fn first_sibling(self) -> Node {
        match self.number() {
            0 => self,
            number => Node::new(self.0 >> Self::BITS, (number - 1) / ADDRESSES * ADDRESSES + 1),
        }
    }
}

/// The nodes that lead to a page, the one that the inode points to first.
#[inline]
pub fn path(page: u32) -> impl DoubleEndedIterator<Item = Node> {
    let leaf = page.checked_sub(DIRECT).map(|behind| behind / ADDRESSES);
    // Leaf 0 is the inode's own; the next 1024 are below the double indirect block, all others below the triple one.
    let double = leaf.and_then(|leaf| leaf.checked_sub(1)).map(|leaf| leaf / ADDRESSES);
    let triple = double.filter(|&double| double > 0).map(|_| 0);
    let nodes = [(2, triple), (1, double), (0, leaf)];
    nodes.into_iter().filter_map(|(height, number)| Some(Node::new(height, number?)))
}

/// The first page behind those of the same leaf, or behind the direct ones.
#[inline]
fn leaf_end(page: u32) -> u32 {
    match page.checked_sub(DIRECT) {
        None => DIRECT,
        Some(behind) => (behind / ADDRESSES + 1).saturating_mul(ADDRESSES).saturating_add(DIRECT),
    }
}

/// Whether the same indirect blocks, or none, lead to two pages.
pub fn has_the_same_leaf(page: u32, other: u32) -> bool {
    leaf_end(page) == leaf_end(other)
}

/// Pages on consecutive blocks.
#[derive(Clone, Copy, Debug, Default)]
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
    /// The directory that it has an entry in, and the block of that directory.
    pub dir: u32,
    pub slot: u32,
    /// When it was changed last, in steps of time.
    step: u32,
    /// Its length in bytes.
    bytes: u64,
    /// The blocks that it has for itself while it is written.
    pub own: Reservation,
    /// The page and the block that were allocated last, of a file; block 0: none.
    last: (u32, Block),
    extents: Few<Extent, 2>,
    /// Indirect blocks by node, in order.
    nodes: Few<(Node, Block), 1>,
}

impl Inode {
    /// An empty file with an entry in a block of a directory.
    pub fn new(number: u32, dir: u32, slot: u32) -> Self {
        Inode { number, dir, slot, ..Inode::default() }
    }

    /// The file has been written in a step of time. Says whether its length has changed, and whether the step of its last change has.
    #[inline]
    pub fn written(&mut self, bytes: u64, step: u32) -> [bool; 2] {
        let changed = [self.bytes != bytes, self.step != step];
        (self.bytes, self.step) = (bytes, step);
        changed
    }

    /// When it was changed last, in steps of time.
    pub fn changed_at(&self) -> u32 {
        self.step
    }

    /// The block of a page, and how many pages from it on follow on the disk and have the same leaf.
    #[inline]
    pub fn run(&self, page: u32) -> Option<Run> {
        let extents = self.extents.all();
        let at = extents.partition_point(|extent| extent.page <= page);
        let extent = extents.get(at.checked_sub(1)?)?;
        let skip = page - extent.page;
        let pages = extent.pages.checked_sub(skip).filter(|&pages| pages > 0)?;
        Some(Run { block: extent.block + skip, pages: pages.min(leaf_end(page) - page) })
    }

    /// The block of the last of these pages that has one.
    fn last_block(&self, pages: Range<u32>) -> Option<Block> {
        let extents = self.extents.all();
        let at = extents.partition_point(|extent| extent.page < pages.end);
        let extent = extents.get(at.checked_sub(1)?)?;
        let last = (extent.page + extent.pages).min(pages.end) - 1;
        (last >= pages.start).then(|| extent.block + (last - extent.page))
    }

    /// Pages get consecutive blocks. They had none.
    pub fn add(&mut self, page: u32, block: Block, pages: u32) {
        let at = self.extents.all().partition_point(|extent| extent.page < page);
        let extents = self.extents.all_mut();
        let joins_next = extents.get(at).is_some_and(|next| next.page == page + pages && next.block == block + pages);
        let before = at.checked_sub(1).map(|at| extents[at]);
        let follows = before.is_some_and(|b| b.page + b.pages == page && b.block + b.pages == block);
        match (follows, joins_next) {
            (true, false) => extents[at - 1].pages += pages,
            (false, true) => extents[at] = Extent { page, block, pages: extents[at].pages + pages },
            (false, false) => self.extents.insert(at, Extent { page, block, pages }),
            (true, true) => {
                extents[at - 1].pages += pages + extents[at].pages;
                self.extents.remove(at);
            }
        }
    }

    /// A page of a file, and the nodes that lead to it, have got blocks.
    pub fn allocated(&mut self, page: u32, block: Block) {
        self.last = (page, block);
    }

    /// The runs of the file.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        self.extents.all().iter().map(|extent| Run { block: extent.block, pages: extent.pages })
    }

    /// The block of a node, if it has one.
    #[inline]
    pub fn node(&self, node: Node) -> Option<Block> {
        let nodes = self.nodes.all();
        let at = nodes.binary_search_by_key(&node, |&(node, _)| node).ok()?;
        Some(nodes[at].1)
    }

    /// A node gets a block.
    pub fn add_node(&mut self, node: Node, block: Block) {
        let at = self.nodes.all().partition_point(|&(other, _)| other < node);
        self.nodes.insert(at, (node, block));
    }

    /// The indirect blocks of the file.
    pub fn node_blocks(&self) -> impl Iterator<Item = Block> {
        self.nodes.all().iter().map(|&(_, block)| block)
    }

    /// Blocks that these pages still need, with the indirect blocks that lead to them.
    pub fn needed(&self, pages: Range<u32>) -> u64 {
        let mut needed = 0;
        let mut counted = [None; NODES_MAX];
        let mut page = pages.start;
        while page < pages.end {
            if let Some(run) = self.run(page) {
                page += run.pages;
                continue;
            }
            for node in path(page).rev() {
                if counted[node.height()].replace(node) == Some(node) {
                    break; // and so are those above it
                }
                needed += u64::from(self.node(node).is_none());
            }
            let end = self.missing_until(page, pages.end);
            needed += u64::from(end - page);
            page = end;
        }
        needed
    }

    /// Where the pages without blocks from this one on end: at one that has a block, with their leaf, or here.
    pub fn missing_until(&self, page: u32, end: u32) -> u32 {
        let extents = self.extents.all();
        let next = extents.get(extents.partition_point(|extent| extent.page <= page));
        end.min(leaf_end(page)).min(next.map_or(u32::MAX, |next| next.page))
    }

    /// Near which block a page's block, and the nodes that it still needs, should be; none: anywhere in the inode's group. After the
    /// block that was allocated last if this page follows on that one (ext2_find_goal); else near what the same block of addresses
    /// points to before it, or near that block itself (ext2_find_near).
    pub fn goal(&self, page: u32) -> Option<Block> {
        let (last, block) = self.last;
        if block != 0 && page == last + 1 {
            return Some(block + 1);
        }
        let mut parent = None;
        for node in path(page) {
            match self.node(node) {
                Some(block) => parent = Some(block),
                None => return self.last_sibling(node).or(parent),
            }
        }
        let first = if page < DIRECT { 0 } else { leaf_end(page) - ADDRESSES };
        self.last_block(first..page).or(parent)
    }

    /// The block of what comes before a node in the block of addresses that points to it.
    fn last_sibling(&self, node: Node) -> Option<Block> {
        if node.number() > 0 {
            let nodes = self.nodes.all();
            let at = nodes.partition_point(|&(other, _)| other < node);
            let &(before, block) = nodes.get(at.checked_sub(1)?)?;
            return (before >= node.first_sibling()).then_some(block);
        }
        // The inode's own: the lower ones, and the direct pages.
        let lower = (0..node.height() as u32).rev().find_map(|height| self.node(Node::new(height, 0)));
        lower.or_else(|| self.last_block(0..DIRECT))
    }
}

/// There may be a million of them.
const _: () = assert!(size_of::<Option<Inode>>() <= 96, "an inode takes less than 100 bytes");

#[cfg(test)]
mod tests {
    use super::*;

    const LEAF: u32 = 12 + 1024;
    const TRIPLE: u32 = LEAF + 1024 * 1024;

    fn with(extents: &[(u32, Block)], nodes: &[(Node, Block)]) -> Inode {
        let mut inode = Inode::default();
        extents.iter().for_each(|&(page, block)| inode.add(page, block, 1));
        nodes.iter().for_each(|&(node, block)| inode.add_node(node, block));
        inode
    }

    #[test]
    fn indirect_blocks_begin_where_ext2_has_them() {
        let of = |page| path(page).map(|node| (node.height(), node.number())).collect::<Vec<_>>();
        assert_eq!(of(11), []);
        assert_eq!(of(12), [(0, 0)]);
        assert_eq!(of(LEAF - 1), [(0, 0)]);
        assert_eq!(of(LEAF), [(1, 0), (0, 1)]);
        assert_eq!(of(LEAF + 1024), [(1, 0), (0, 2)]);
        assert_eq!(of(TRIPLE - 1), [(1, 0), (0, 1024)]);
        assert_eq!(of(TRIPLE), [(2, 0), (1, 1), (0, 1025)]);
        assert_eq!(of((PAGES_MAX - 1) as u32), [(2, 0), (1, 1024), (0, 1024 * 1025)]);
    }

    #[test]
    fn pages_on_consecutive_blocks_are_one_run() {
        let mut inode = with(&[(0, 100), (1, 101), (3, 110), (2, 102)], &[]);
        assert_eq!(inode.run(0), Some(Run { block: 100, pages: 3 }));
        assert_eq!(inode.run(3), Some(Run { block: 110, pages: 1 }));
        assert_eq!(inode.run(4), None);
        assert_eq!(inode.runs().count(), 2);
        // A page between two runs joins them.
        inode.add(5, 112, 1);
        inode.add(4, 111, 1);
        assert_eq!(inode.runs().last(), Some(Run { block: 110, pages: 3 }));
        assert_eq!(inode.runs().count(), 2);
    }

    /// The pages behind the leaf need another indirect block to be read, wherever that lies.
    #[test]
    fn a_run_ends_with_its_leaf() {
        let inode = with(&[(10, 100), (11, 101), (12, 102), (13, 103)], &[]);
        assert_eq!(inode.run(10), Some(Run { block: 100, pages: 2 }));
        assert_eq!(inode.run(12), Some(Run { block: 102, pages: 2 }));
    }

    #[test]
    fn the_goal_is_behind_what_was_allocated_last() {
        let mut inode = with(&[(0, 100), (1, 101), (7, 300)], &[]);
        inode.allocated(1, 101);
        assert_eq!(inode.goal(2), Some(102));
        assert_eq!(inode.goal(5), Some(101), "the page before it with a block");
        assert_eq!(inode.goal(9), Some(300));
        assert_eq!(with(&[(7, 300)], &[]).goal(5), None);
    }

    #[test]
    fn the_goal_is_near_the_block_of_addresses() {
        let (single, double, leaf1, leaf2) = (Node::new(0, 0), Node::new(1, 0), Node::new(0, 1), Node::new(0, 2));
        // The first indirect block follows on the direct pages.
        assert_eq!(with(&[(11, 50)], &[]).goal(20), Some(50));
        // Pages of a leaf: the page before, or the leaf.
        let inode = with(&[(11, 50), (14, 90)], &[(single, 70)]);
        assert_eq!((inode.goal(12), inode.goal(14 + 9)), (Some(70), Some(90)));
        // The double indirect block: near the single one, not near that one's pages.
        assert_eq!(inode.goal(LEAF), Some(70));
        // A leaf below it: near the leaf before, or near the double indirect block.
        let inode = with(&[], &[(single, 70), (double, 200), (leaf1, 201)]);
        assert_eq!(inode.goal(LEAF + 1024), Some(201));
        assert_eq!(with(&[], &[(single, 70), (double, 200), (leaf2, 202)]).goal(LEAF), Some(200));
        // Double ones below the triple one: the last leaf of the double indirect block has another parent.
        let (last_leaf, triple) = (Node::new(0, 1024), Node::new(2, 0));
        let inode = with(&[], &[(last_leaf, 10), (double, 200), (Node::new(1, 1), 500), (triple, 400)]);
        assert_eq!(inode.goal(TRIPLE), Some(500));
        assert_eq!(inode.goal(TRIPLE + 1024 * 1024), Some(500), "the double one before");
        assert_eq!(with(&[], &[(double, 200)]).goal(TRIPLE), Some(200));
    }

    #[test]
    fn what_pages_need_is_counted_with_their_indirect_blocks() {
        let empty = Inode::default();
        assert_eq!([0..12, 0..13, 12..LEAF].map(|pages| empty.needed(pages)), [12, 14, 1025]);
        assert_eq!(empty.needed(LEAF - 1..LEAF + 1025), 1026 + 1 + 1 + 2);
        assert_eq!(empty.needed(TRIPLE - 1..TRIPLE + 1), 2 + 2 + 3);
        let some = with(&[(11, 50), (13, 90)], &[(Node::new(0, 0), 70)]);
        assert_eq!(some.needed(10..15), 3);
    }

    #[test]
    fn an_inode_changes_with_its_length_and_once_a_step() {
        let mut inode = Inode::default();
        assert_eq!(inode.written(4096, 0), [true, false]);
        assert_eq!(inode.written(4096, 0), [false, false]);
        assert_eq!(inode.written(4096, 1), [false, true]);
        assert_eq!(inode.written(8192, 2), [true, true]);
    }
}
