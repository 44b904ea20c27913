//! How a file's inode points to its blocks: directly at first, then through blocks of pointers.
//!
//! Pages behind the direct ones belong to leaves of `fan` pages each. The inode points to the first `roots` leaves. The others come
//! in groups of `fan` leaves, each under a node of its own, to which the inode points.

use std::ops::Range;

/// The numbers of a file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    direct: u32,
    fan: u32,
    roots: u32,
}

impl Shape {
    /// 12 pointers, and a single and a double indirect block of 1024 pointers (FFS, whose inodes Sprite LFS has).
    pub const FFS: Shape = Shape { direct: 12, fan: 1024, roots: 1 };

    /// 7 pointers in an inode (NILFS_INLINE_BMAP_SIZE), nodes of 254 (NILFS_BTREE_NODE_NCHILDREN_MAX), a root of 3. As far as a B-tree that is
    /// filled from left to right looks like this.
    pub const NILFS2: Shape = Shape { direct: 7, fan: 254, roots: 3 };

    /// The nodes on the way to a page, as places in a file's list of nodes.
    pub fn path(self, page: u32) -> [Option<usize>; 2] {
        let Some(behind) = page.checked_sub(self.direct) else { return [None; 2] };
        let leaf = behind / self.fan;
        match leaf.checked_sub(self.roots) {
            None => [Some(leaf as usize), None],
            Some(leaf) => {
                let group = self.roots + leaf / self.fan * (self.fan + 1);
                [Some(group as usize), Some((group + 1 + leaf % self.fan) as usize)]
            }
        }
    }

    /// The nodes on the way to a range of pages, each once, in ascending order.
    pub fn nodes(self, pages: Range<u32>) -> impl Iterator<Item = usize> {
        let place = move |page: u32| self.path(page).into_iter().flatten();
        let leaves = pages.start.max(self.direct).saturating_sub(self.direct) / self.fan;
        let end = pages.end.saturating_sub(self.direct).div_ceil(self.fan);
        let mut last = None;
        (leaves..end).flat_map(move |leaf| place(self.direct + leaf * self.fan)).filter(move |&at| {
            let is_new = last.is_none_or(|last| at > last);
            last = last.max(Some(at));
            is_new
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FFS: pages 12 to 1035 in the single indirect block (node 0); page 1036 is the first one behind the double indirect block (1), in
    /// its first leaf (2).
    #[test]
    fn pages_are_found_through_the_nodes_that_were_worked_out_by_hand() {
        assert_eq!(Shape::FFS.path(11), [None; 2]);
        assert_eq!(Shape::FFS.path(12), [Some(0), None]);
        assert_eq!(Shape::FFS.path(1035), [Some(0), None]);
        assert_eq!(Shape::FFS.path(1036), [Some(1), Some(2)]);
        assert_eq!(Shape::FFS.path(1036 + 1024), [Some(1), Some(3)]);
        assert_eq!(Shape::FFS.path(1036 + 1024 * 1024), [Some(1026), Some(1027)]);
    }

    #[test]
    fn a_range_needs_each_node_once() {
        let nodes = |pages| Shape::FFS.nodes(pages).collect::<Vec<_>>();
        assert!(nodes(0..12).is_empty());
        assert_eq!(nodes(0..13), [0]);
        assert_eq!(nodes(1000..3000), [0, 1, 2, 3]);
        assert_eq!(Shape::NILFS2.nodes(6..7 + 4 * 254).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }
}
