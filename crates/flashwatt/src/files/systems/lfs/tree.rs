//! Files, directories, inodes and the blocks of metadata: which there are, and where each lies.

use std::ops::Range;

use super::shape::Shape;
use crate::files::operation::{DirId, FileId};
use crate::files::system::{Block, PageKey};

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

/// What a page of metadata is. The kinds stand in the order in which a log holds them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meta {
    /// Pointers to a file's blocks, or a block of a directory.
    Node(u32),
    /// 32 inodes: a block of the inode file.
    Inodes(u32),
    /// A block of the tables of the whole file system.
    Table(u32),
    /// A summary or a super root, by the block where it lies.
    Summary(u32),
}

/// Pages of metadata of one kind.
const KIND: u32 = 1 << 30;

impl Meta {
    pub const fn key(self) -> PageKey {
        PageKey::meta(self.index())
    }

    pub const fn index(self) -> u32 {
        match self {
            Meta::Node(at) => at,
            Meta::Inodes(at) => KIND + at,
            Meta::Table(at) => 2 * KIND + at,
            Meta::Summary(block) => 3 * KIND + block % KIND,
        }
    }

    pub const fn of(index: u32) -> Meta {
        let at = index % KIND;
        match index / KIND {
            0 => Meta::Node(at),
            1 => Meta::Inodes(at),
            2 => Meta::Table(at),
            _ => Meta::Summary(at),
        }
    }
}

/// Inodes of a block: of 128 bytes each (struct nilfs_inode, struct dinode of FFS).
pub const INODES_PER_BLOCK: u32 = 32;
/// Names in a block of a directory: entries of 24 bytes, for names of up to 16 (8 bytes, and the name in multiples of 8).
pub const NAMES_PER_BLOCK: u32 = 4096 / 24;

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

/// Numbers from 0 on. The one that was given back last is the next one.
#[derive(Clone, Debug, Default)]
struct Numbers {
    free: Vec<u32>,
    next: u32,
}

impl Numbers {
    fn peek(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.next)
    }

    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }
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

    /// The blocks of an inode, of a name and of the directory's inode.
    pub fn name_blocks(&self, file: FileId) -> [Meta; 3] {
        let of = self.file(file);
        let dir = &self.dirs[of.dir.idx()];
        [self.inode_block(file), Meta::Node(dir.nodes[(of.name / NAMES_PER_BLOCK) as usize]), inodes_of(dir.inode)]
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

    /// The block in which the next inode is, and whether it is new.
    pub fn next_inode_block(&self) -> (Meta, bool) {
        let at = self.inode_numbers.peek() / INODES_PER_BLOCK;
        (Meta::Inodes(at), self.inodes.get(at as usize).is_none_or(|block| block.1 == 0))
    }

    fn add_inode(&mut self) -> u32 {
        let inode = self.inode_numbers.take();
        let at = (inode / INODES_PER_BLOCK) as usize;
        if self.inodes.len() <= at {
            self.inodes.push((NOWHERE, 0));
        }
        self.metas += u64::from(self.inodes[at].1 == 0);
        self.inodes[at].1 += 1;
        self.inodes_used += 1;
        inode
    }

    /// The block in which the next name of a directory is; none if a new one is needed.
    pub fn next_name_block(&self, dir: DirId) -> Option<Meta> {
        let of = &self.dirs[dir.idx()];
        let name = of.free_names.last().copied().unwrap_or(of.names);
        of.nodes.get((name / NAMES_PER_BLOCK) as usize).map(|&node| Meta::Node(node))
    }

    /// The block of a directory's inode.
    pub fn dir_inode_block(&self, dir: DirId) -> Meta {
        inodes_of(self.dirs[dir.idx()].inode)
    }

    fn add_name(&mut self, dir: DirId) -> u32 {
        let of = &mut self.dirs[dir.idx()];
        let name = of.free_names.pop().unwrap_or(of.names);
        of.names = of.names.max(name + 1);
        if of.nodes.len() as u32 * NAMES_PER_BLOCK <= name {
            let inode = of.inode;
            let node = self.add_node(inode);
            self.dirs[dir.idx()].nodes.push(node);
        }
        name
    }

    /// Makes a directory, with the block of its own two names.
    pub fn add_dir(&mut self, dir: DirId) {
        let inode = self.add_inode();
        if self.dirs.len() <= dir.idx() {
            self.dirs.resize_with(dir.idx() + 1, Dir::default);
        }
        self.dirs[dir.idx()] = Dir { inode, nodes: Vec::new(), names: 0, free_names: Vec::new() };
        self.add_name(dir);
        self.add_name(dir);
    }

    /// Makes a name for a directory in another one. Returns the block of the name.
    pub fn name_dir(&mut self, parent: DirId) -> Meta {
        let name = self.add_name(parent);
        Meta::Node(self.dirs[parent.idx()].nodes[(name / NAMES_PER_BLOCK) as usize])
    }

    /// The block of a directory's first names.
    pub fn first_name_block(&self, dir: DirId) -> Meta {
        Meta::Node(self.dirs[dir.idx()].nodes[0])
    }

    /// Makes a file.
    pub fn add_file(&mut self, file: FileId, dir: DirId) {
        let (inode, name) = (self.add_inode(), self.add_name(dir));
        if self.files.len() <= file.idx() {
            self.files.resize(file.idx() + 1, File::ABSENT);
        }
        let of = &mut self.files[file.idx()];
        *of = File { inode, dir, name, ..std::mem::replace(of, File::ABSENT) };
    }

    /// Removes a file. Gives the blocks that are not used any more, and the metadata of it.
    pub fn remove(&mut self, file: FileId, mut each_block: impl FnMut(Block), mut each_meta: impl FnMut(Meta)) {
        let File { inode, dir, name, mut pages, mut nodes } =
            std::mem::replace(&mut self.files[file.idx()], File::ABSENT);
        self.data -= pages.iter().filter(|&&place| place != NOWHERE).count() as u64;
        pages.drain(..).filter(|&place| is_block(place)).for_each(&mut each_block);
        for node in nodes.drain(..).filter(|&node| node != NONE) {
            let place = std::mem::replace(&mut self.nodes[node as usize].place, NOWHERE);
            self.forget(Meta::Node(node), place, &mut each_block, &mut each_meta);
            self.node_numbers.free.push(node);
        }
        self.dirs[dir.idx()].free_names.push(name);
        self.inode_numbers.free.push(inode);
        self.inodes_used -= 1;
        let at = inode / INODES_PER_BLOCK;
        let block = &mut self.inodes[at as usize];
        block.1 -= 1;
        if block.1 == 0 {
            let place = std::mem::replace(&mut block.0, NOWHERE);
            self.forget(Meta::Inodes(at), place, &mut each_block, &mut each_meta);
        }
        // The next file of this number uses the memory again.
        let of = &mut self.files[file.idx()];
        (of.pages, of.nodes) = (pages, nodes);
    }

    fn forget(&mut self, meta: Meta, place: Block, block: &mut impl FnMut(Block), each: &mut impl FnMut(Meta)) {
        self.metas -= 1;
        if is_block(place) {
            block(place);
        }
        each(meta);
    }

    /// Whether the last inode of its block is this file's: removing the file removes the block.
    pub fn is_last_inode(&self, file: FileId) -> bool {
        self.inodes[(self.file(file).inode / INODES_PER_BLOCK) as usize].1 == 1
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
            let owner = crate::files::system::Owner(file as u32);
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
