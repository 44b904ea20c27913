//! Inodes and directories: files come into being and go.

use super::{Dir, File, NONE, NOWHERE, Tree, inodes_of, is_block};
use crate::operation::{DirId, FileId};
use crate::system::Block;
use crate::systems::lfs::meta::{INODES_PER_BLOCK, Meta, NAMES_PER_BLOCK};

impl Tree {
    /// The blocks of an inode, of a name and of the directory's inode.
    pub fn name_blocks(&self, file: FileId) -> [Meta; 3] {
        let of = self.file(file);
        let dir = &self.dirs[of.dir.idx()];
        [self.inode_block(file), Meta::Node(dir.nodes[(of.name / NAMES_PER_BLOCK) as usize]), inodes_of(dir.inode)]
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
}

/// Numbers from 0 on. The one that was given back last is the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    free: Vec<u32>,
    next: u32,
}

impl Numbers {
    fn peek(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.next)
    }

    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }
}
