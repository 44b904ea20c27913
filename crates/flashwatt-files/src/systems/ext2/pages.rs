//! Pages and the blocks that they get.

use std::ops::Range;

use super::blocks::Want;
use super::geometry::GROUP_BLOCKS;
use super::inode::{Inode, NODES_MAX, Node, has_the_same_leaf, path};
use super::journal::CREDITS;
use super::windows::Reservation;
use super::{Ext2, Who};
use crate::operation::OpError;
use crate::system::{Block, Cx, Stop, Tried};

/// Places of a group where processes begin files, by their numbers (ext2_find_near).
const COLOURS: u32 = 16;

/// What one call has changed already: it need not be asked for again.
#[derive(Debug, Default)]
pub struct Touched {
    /// The group whose bitmap and descriptor are dirty.
    group: Option<u32>,
    /// The block of addresses that is dirty.
    addresses: Option<Block>,
}

/// The way from an inode to a page that has no block.
struct Way {
    /// The last indirect block that is there.
    parent: Option<Block>,
    /// Those that are missing, and how many they are.
    missing: [Node; NODES_MAX],
    count: usize,
}

impl Way {
    fn new(inode: &Inode, page: u32) -> Self {
        let mut way = Way { parent: None, missing: [Node::default(); NODES_MAX], count: 0 };
        for node in path(page) {
            match inode.node(node) {
                Some(block) => way.parent = Some(block),
                None => {
                    way.missing[way.count] = node;
                    way.count += 1;
                }
            }
        }
        way
    }
}

impl Ext2 {
    /// Free blocks that an application may have.
    pub(super) fn available(&self) -> u64 {
        self.blocks.bitmap.free().saturating_sub(self.reserved)
    }

    /// Gives every page of a range that has none a block. The block of the inode is in memory.
    pub(super) fn allocate_all(&mut self, who: Who, pages: Range<u32>, cx: &mut Cx) -> Tried<()> {
        let inode = self.inode(who)?;
        let (number, needed) = (inode.number, inode.needed(pages.clone()));
        if needed == 0 {
            return Ok(());
        }
        while needed > self.available() {
            if !self.wait_for_freed(cx)? {
                return Err(Stop::Failed(OpError::NoSpace));
            }
        }
        self.admit(CREDITS, cx)?;
        self.change_inode(number, true, cx);
        self.touch(who, true, cx);
        let mut touched = Touched::default();
        let mut page = pages.start;
        while page < pages.end {
            if let Some(run) = self.inode(who)?.run(page) {
                page += run.pages;
                continue;
            }
            // If one has to wait, those before it keep their blocks: the next try goes on from there.
            self.allocate(who, page, &mut touched, cx)?;
            page = self.allocate_following(who, page + 1, pages.end, cx)?;
        }
        Ok(())
    }

    /// Pages behind one that got a block now get the blocks behind that one, as far as these are free in the file's window, and as no
    /// other indirect block leads to them. Returns the page behind them.
    fn allocate_following(&mut self, who: Who, page: u32, end: u32, cx: &mut Cx) -> Tried<u32> {
        let Who::File(file) = who else { return Ok(page) };
        let Some(inode) = self.files[file.idx()].as_mut() else { return Ok(page) };
        if page == end || !has_the_same_leaf(page - 1, page) || inode.run(page).is_some() {
            return Ok(page);
        }
        let most = inode.missing_until(page, end) - page;
        let Some(first) = inode.goal(page) else { return Ok(page) };
        let count = self.blocks.take_following(&mut inode.own, first, most);
        if count > 0 {
            inode.add(page, first, count);
            inode.allocated(page + count - 1, first + count - 1);
            if let Some(journal) = &mut self.journal {
                journal.allocated(file, page, first..first + count, cx);
            }
        }
        Ok(page + count)
    }

    /// A page without a block gets one, and so do the indirect blocks that lead to it, in this order on the disk.
    fn allocate(&mut self, who: Who, page: u32, touched: &mut Touched, cx: &mut Cx) -> Tried<()> {
        let inode = self.inode(who)?;
        let goal = inode.goal(page).unwrap_or_else(|| self.colour(inode.number, cx.process));
        let mut there =
            path(page).filter_map(|node| inode.node(node)).filter(|&block| touched.addresses != Some(block));
        there.try_for_each(|block| Self::read(block, cx))?;
        drop(there);
        let (way, mut own) = (Way::new(inode, page), inode.own);
        self.admit(CREDITS, cx)?;
        let got = self.take_blocks(goal, way.count + 1, &mut own, touched, cx)?;
        let (nodes, block) = (&got[..way.count], got[way.count]);
        for &addresses in nodes.iter().chain(&way.parent) {
            if touched.addresses != Some(addresses) {
                self.dirty(addresses, cx);
            }
        }
        touched.addresses = nodes.last().copied().or(way.parent);
        let inode = self.inode_mut(who)?;
        way.missing.iter().zip(nodes).for_each(|(&node, &block)| inode.add_node(node, block));
        inode.add(page, block, 1);
        if let Who::File(file) = who {
            inode.own = own;
            inode.allocated(page, block);
            if let Some(journal) = &mut self.journal {
                journal.allocated(file, page, block..block + 1, cx);
            }
        }
        Ok(())
    }

    /// Takes this number of blocks near the goal, all or none: consecutive ones, as far as there are.
    fn take_blocks(
        &mut self,
        goal: Block,
        needed: usize,
        own: &mut Reservation,
        touched: &mut Touched,
        cx: &mut Cx,
    ) -> Tried<[Block; NODES_MAX + 1]> {
        let before = *own;
        let mut got = [0; NODES_MAX + 1];
        let mut count = 0;
        while count < needed {
            let want = Want { goal, count: (needed - count) as u32, own: *own };
            let found = self.blocks.find(want, |group| {
                let is_there = touched.group == Some(group);
                if is_there { Ok(()) } else { Self::read(self.geometry.block_bitmap(group), cx) }
            });
            let Ok(Some(found)) = found else {
                self.blocks.give(&got[..count], own, &before);
                *own = before;
                return found.and(Err(Stop::Failed(OpError::NoSpace)));
            };
            self.blocks.take(own, &found);
            *own = found.own;
            for block in found.blocks {
                got[count] = block;
                count += 1;
            }
        }
        got[..count].iter().for_each(|&block| self.change_group(block / GROUP_BLOCKS, touched, cx));
        Ok(got)
    }

    /// Where the first block of an inode should be: in its group, at a place by the process.
    fn colour(&self, inode: u32, process: u16) -> Block {
        let start = self.geometry.group_start(self.geometry.group_of_inode(inode));
        start + u32::from(process) % COLOURS * (GROUP_BLOCKS / COLOURS)
    }

    /// Blocks of a group have been taken or given back.
    pub(super) fn change_group(&mut self, group: u32, touched: &mut Touched, cx: &mut Cx) {
        if touched.group != Some(group) {
            self.dirty(self.geometry.block_bitmap(group), cx);
            self.dirty(self.geometry.descriptor(group), cx);
            touched.group = Some(group);
        }
    }
}
