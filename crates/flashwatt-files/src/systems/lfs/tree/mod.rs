//! Files, directories, inodes and the blocks of metadata: which there are, and where each lies.

mod names;

use std::ops::Range;

use names::Numbers;

use super::meta::{INODES_PER_BLOCK, Meta};
use super::shape::Shape;
use crate::operation::{DirId, FileId};
use crate::system::{Block, PageKey};

/// The place of a page that was never written, and has none reserved.
pub const NOWHERE: Block = Block::MAX;
/// The place of a page that has room reserved, and gets its block when it is written out.
pub const RESERVED: Block = Block::MAX - 1;

/// No node, no inode.
pub const NONE: u32 = u32::MAX;

/// Whether a place is a block of the disk.
pub fn is_block(place: Block) -> bool {
    place < RESERVED
}

/// A file.
#[derive(Clone, Debug)]
pub struct File {
    /// [`NONE`] if the file does not exist.
    pub inode: u32,
    dir: DirId,
    /// Its place in the directory.
    name: u32,
    /// Where its pages lie.
    pages: Vec<Block>,
    /// Its nodes in the order of [`Shape::path`].
    nodes: Vec<u32>,
}

impl File {
    const ABSENT: File = File { inode: NONE, dir: DirId::ROOT, name: 0, pages: Vec::new(), nodes: Vec::new() };
}

#[derive(Clone, Debug, Default)]
struct Dir {
    inode: u32,
    /// Its blocks.
    nodes: Vec<u32>,
    names: u32,
    free_names: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    place: Block,
    /// Whose it is.
    inode: u32,
}

/// All files and all metadata.
#[derive(Clone, Debug)]
pub struct Tree {
    shape: Shape,
    files: Vec<File>,
    dirs: Vec<Dir>,
    nodes: Vec<Node>,
    node_numbers: Numbers,
    inode_numbers: Numbers,
    /// Where blocks of inodes lie, and inodes in use of each.
    inodes: Vec<(Block, u32)>,
    tables: Vec<Block>,
    /// Pages of files that have a block or a reservation.
    pub data: u64,
    /// Pages of metadata that have a block, or will have one.
    pub metas: u64,
    /// Inodes in use.
    pub inodes_used: u64,
}

impl Tree {
    /// No files. Of tables of this number of blocks.
    pub fn new(shape: Shape, tables: u32) -> Self {
        Tree {
            shape,
            files: Vec::new(),
            dirs: Vec::new(),
            nodes: Vec::new(),
            node_numbers: Numbers::default(),
            inode_numbers: Numbers::default(),
            inodes: Vec::new(),
            tables: vec![NOWHERE; tables as usize],
            data: 0,
            metas: u64::from(tables),
            inodes_used: 0,
        }
    }

    /// A file that exists.
    pub fn file(&self, file: FileId) -> &File {
        &self.files[file.idx()]
    }

    /// Where a page lies.
    #[inline]
    pub fn place(&self, key: PageKey) -> Block {
        let Some(file) = key.owner.file() else { return self.meta_place(key.index) };
        let pages = self.files.get(file.idx()).map(|file| &file.pages);
        pages.and_then(|pages| pages.get(key.index as usize)).copied().unwrap_or(NOWHERE)
    }

    fn meta_place(&self, index: u32) -> Block {
        match Meta::of(index) {
            Meta::Node(at) => self.nodes.get(at as usize).map_or(NOWHERE, |node| node.place),
            Meta::Inodes(at) => self.inodes.get(at as usize).map_or(NOWHERE, |block| block.0),
            Meta::Table(at) => self.tables.get(at as usize).copied().unwrap_or(NOWHERE),
            Meta::Summary(_) => NOWHERE,
        }
    }

    /// A page, which exists, lies here from now on. Returns where it lay.
    #[inline]
    pub fn set_place(&mut self, key: PageKey, block: Block) -> Block {
        let place = match key.owner.file() {
            Some(file) => &mut self.files[file.idx()].pages[key.index as usize],
            None => match Meta::of(key.index) {
                Meta::Node(at) => &mut self.nodes[at as usize].place,
                Meta::Inodes(at) => &mut self.inodes[at as usize].0,
                Meta::Table(at) => &mut self.tables[at as usize],
                Meta::Summary(_) => return NOWHERE,
            },
        };
        std::mem::replace(place, block)
    }

    /// The metadata that has to change when a page gets another place.
    pub fn parents(&self, key: PageKey) -> impl Iterator<Item = Meta> {
        let (nodes, inode) = match (key.owner.file(), Meta::of(key.index)) {
            (Some(file), _) => {
                let file = self.file(file);
                (file.path(self.shape, key.index), Some(file.inode))
            }
            (None, Meta::Node(at)) => ([None; 2], Some(self.nodes[at as usize].inode)),
            (None, Meta::Inodes(_) | Meta::Table(_) | Meta::Summary(_)) => ([None; 2], None),
        };
        nodes.into_iter().flatten().map(Meta::Node).chain(inode.map(inodes_of))
    }

    /// The metadata that is read before a file's pages are found or changed.
    pub fn nodes_of(&self, file: FileId, pages: Range<u32>) -> impl Iterator<Item = Meta> {
        let known = &self.file(file).nodes;
        let nodes = self.shape.nodes(pages).filter_map(|at| known.get(at).copied());
        nodes.filter(|&node| node != NONE).map(Meta::Node)
    }

    /// The block of a file's inode.
    pub fn inode_block(&self, file: FileId) -> Meta {
        inodes_of(self.file(file).inode)
    }

    /// All nodes of a file and of its directory: what an fsync writes of those that are dirty.
    pub fn all_nodes(&self, file: FileId) -> impl Iterator<Item = Meta> {
        let of = self.file(file);
        let nodes = of.nodes.iter().chain(&self.dirs[of.dir.idx()].nodes);
        nodes.filter(|&&node| node != NONE).map(|&node| Meta::Node(node))
    }

    /// The nodes that these pages of a file need and do not have, and the pages without a place.
    pub fn lacking(&self, file: FileId, pages: Range<u32>) -> [u64; 2] {
        let of = self.file(file);
        let nodes =
            self.shape.nodes(pages.clone()).filter(|&at| of.nodes.get(at).is_none_or(|&node| node == NONE)).count();
        let have = of.pages.iter().take(pages.end as usize).skip(pages.start as usize).filter(|&&at| at != NOWHERE);
        [nodes as u64, u64::from(pages.len() as u32) - have.count() as u64]
    }

    /// Reserves what [`Self::lacking`] counted.
    pub fn reserve(&mut self, file: FileId, pages: Range<u32>) {
        let inode = self.file(file).inode;
        for at in self.shape.nodes(pages.clone()) {
            let known = &mut self.files[file.idx()].nodes;
            if known.len() <= at {
                known.resize(at + 1, NONE);
            }
            if known[at] == NONE {
                let node = self.add_node(inode);
                self.files[file.idx()].nodes[at] = node;
            }
        }
        let places = &mut self.files[file.idx()].pages;
        if places.len() < pages.end as usize {
            places.resize(pages.end as usize, NOWHERE);
        }
        for place in &mut places[pages.start as usize..pages.end as usize] {
            if *place == NOWHERE {
                *place = RESERVED;
                self.data += 1;
            }
        }
    }

    fn add_node(&mut self, inode: u32) -> u32 {
        let node = self.node_numbers.take();
        if self.nodes.len() <= node as usize {
            self.nodes.push(Node { place: NOWHERE, inode });
        }
        self.nodes[node as usize] = Node { place: NOWHERE, inode };
        self.metas += 1;
        node
    }

    /// Blocks of inodes.
    pub fn inode_blocks(&self) -> u32 {
        self.inodes.len() as u32
    }

    /// The nodes of a file.
    pub fn own_nodes(&self, file: FileId) -> impl Iterator<Item = Meta> {
        self.file(file).nodes.iter().filter(|&&node| node != NONE).map(|&node| Meta::Node(node))
    }

    /// Pages of a file that lie at consecutive blocks from one on.
    pub fn run(&self, key: PageKey, longest: u32) -> u32 {
        let first = self.place(key);
        let follows = |&at: &u32| self.place(PageKey { index: key.index + at, ..key }) == first + at;
        1 + (1..longest).take_while(follows).count() as u32
    }

    /// Where the pages of a file lie.
    pub fn places(&self, file: FileId) -> &[Block] {
        self.files.get(file.idx()).map_or(&[], |file| &file.pages)
    }

    /// Every page that has a block.
    #[cfg(test)]
    pub fn all(&self) -> Vec<(PageKey, Block)> {
        let data = self.files.iter().enumerate().flat_map(|(file, of)| {
            let owner = crate::system::Owner(file as u32);
            of.pages.iter().enumerate().map(move |(index, &place)| (PageKey::new(owner, index as u32), place))
        });
        let nodes = self.nodes.iter().enumerate().map(|(at, node)| (Meta::Node(at as u32).key(), node.place));
        let inodes = self.inodes.iter().enumerate().map(|(at, block)| (Meta::Inodes(at as u32).key(), block.0));
        let tables = self.tables.iter().enumerate().map(|(at, &place)| (Meta::Table(at as u32).key(), place));
        data.chain(nodes).chain(inodes).chain(tables).filter(|&(_, place)| is_block(place)).collect()
    }
}

impl File {
    /// The nodes on the way to a page.
    fn path(&self, shape: Shape, page: u32) -> [Option<u32>; 2] {
        shape.path(page).map(|at| at.and_then(|at| self.nodes.get(at).copied()).filter(|&node| node != NONE))
    }
}

/// The block of an inode.
fn inodes_of(inode: u32) -> Meta {
    Meta::Inodes(inode / INODES_PER_BLOCK)
}
