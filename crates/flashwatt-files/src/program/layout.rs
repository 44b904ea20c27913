//! The directories and files of a file set, by filebench's rules.

use super::bits::Bits;
use super::draw::{Quantity, Shape};
use super::fileset::{Entry, FileSet};
use crate::operation::{DirId, FileId, FileSpec, Tree};
use flashwatt_base::rng::Rng;

/// What a program says of a file set.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub entries: u32,
    /// The size of each file.
    pub size: Quantity,
    /// Mean number of entries of a directory.
    pub width: f64,
    /// Shape of the gamma distributions of the directories' widths and depths; 0: all have the mean.
    pub dir_gamma: f64,
    /// Chance in percent that a file exists when the run begins.
    pub prealloc_percent: u64,
}

/// Lays out a file set below the root: adds its directories and files to the tree, and an entry for each file.
///
/// The set's own directory holds directories only, as many as it takes. Each directory draws a depth and a width; if it lies
/// as deep as its draw or deeper, its entries are files, else directories. The mean depth is the logarithm of the number of
/// files to the base of the mean width.
///
/// Entries are numbered in the order of the tree, in which a program takes them in turn. Files are numbered in the order in
/// which filebench makes them before a run: again and again the next entry behind a random place that is not made yet.
pub(super) fn lay_out(plan: &Plan, rng: &mut Rng, tree: &mut Tree, entries: &mut Vec<Entry>) -> FileSet {
    let first = entries.len();
    let mean_depth = libm::log(f64::from(plan.entries)) / libm::log(plan.width);
    let top = add_dir(tree, DirId::ROOT);
    let mut builder = Builder { plan, rng, tree, mean_depth, files: Vec::with_capacity(plan.entries as usize) };
    builder.fill(top, 1);
    let files = builder.files;
    let mut set = FileSet::new(first as u32, plan.entries);
    let made = tree.files.len();
    entries.extend(files.iter().map(|&(_, size)| Entry::new(size)));
    for (number, entry) in order(plan.entries, rng).into_iter().enumerate() {
        let (dir, size) = files[entry as usize];
        let exists = rng.below(100) < plan.prealloc_percent;
        tree.files.push(FileSpec { dir, bytes: exists.then_some(size) });
        let state = &mut entries[first + entry as usize];
        state.file = FileId((made + number) as u32);
        state.length = if exists { size } else { 0 };
        set.add(entry, exists);
    }
    set
}

fn add_dir(tree: &mut Tree, parent: DirId) -> DirId {
    tree.parents.push(parent);
    DirId(tree.parents.len() as u32)
}

/// The entries of a set in a random order.
fn order(entries: u32, rng: &mut Rng) -> Vec<u32> {
    let mut free = Bits::new(entries as usize);
    (0..entries).for_each(|entry| free.insert(entry));
    let mut draw = || {
        let entry = free.next(rng.below(u64::from(entries)) as u32)?;
        free.remove(entry);
        Some(entry)
    };
    std::iter::from_fn(&mut draw).collect()
}

struct Builder<'p> {
    plan: &'p Plan,
    rng: &'p mut Rng,
    tree: &'p mut Tree,
    mean_depth: f64,
    files: Vec<(DirId, u64)>,
}

impl Builder<'_> {
    /// A draw around a mean.
    fn around(&mut self, mean: f64) -> f64 {
        let gamma = self.plan.dir_gamma;
        if gamma > 0.0 { Shape::gamma(gamma, mean).draw(self.rng) } else { mean }
    }

    fn fill(&mut self, dir: DirId, depth: u32) {
        let deepest = self.around(self.mean_depth) as u32;
        let width = self.around(self.plan.width);
        let (is_top, is_leaf) = (depth == 1, depth >= deepest.max(1));
        let mut placed = 0.0;
        while self.files.len() < self.plan.entries as usize && (is_top || placed < width.max(1.0)) {
            if is_leaf && !is_top {
                let size = self.plan.size.draw(self.rng);
                self.files.push((dir, size));
            } else {
                let below = add_dir(self.tree, dir);
                self.fill(below, depth + 1);
            }
            placed += 1.0;
        }
    }
}
