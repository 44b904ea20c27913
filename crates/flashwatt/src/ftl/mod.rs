//! Translation layers: where data goes.
//!
//! A translation layer decides and does not act. It owns the map; it sees blocks, policies and random numbers; it emits
//! operations into a [`Plan`]. It knows no clock, no queue and no joule. The map commits when a request is planned; the
//! array changes when the operations end, and the controller sees to it that every one finds what it needs.

mod blocked;
mod demand;
mod paged;
pub mod plan;
mod restored;
mod scheme;
pub mod schemes;

use crate::blocks::BlockTable;
use crate::connector::Extent;
use crate::device::{Array, Geometry};
use crate::error::Error;
pub use crate::operation::{Cause, OpKind};
use crate::persist::{Flaw, Reader, Writer};
use crate::progress::Watch;
use crate::rng::Rng;
use crate::units::{BlockId, DieId, Lpn, Ppn};
pub use paged::Allocation;
pub use plan::{Mapping, Merges, Plan, PlanIndex, PlanNumber, PlannedOp, ReplicaChoice};
pub use restored::{Claims, RestoredDrive};
pub use scheme::{Room, Scheme, Setup, Size};
pub use schemes::{NAMES, Options, Settings};

/// What a translation layer works with.
pub struct Context<'a> {
    /// Validity, free lists, candidates.
    pub blocks: &'a mut BlockTable,
    /// Wear.
    pub array: &'a Array,
    /// The run's random numbers.
    pub rng: &'a mut Rng,
}

/// How data leaves the write buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grain {
    /// Map units from anywhere, as many as a physical page holds: extents of one unit each, for a layer that can put any
    /// units into one page.
    Page,
    /// What the buffer holds of the pages around one, at most this number of neighbours or those of one request, as one
    /// extent: for a layer that may have to read its map, which then reads it once for all of them.
    Run(u32),
    /// All that the buffer holds of one logical block of this number of pages, neighbours as one extent: for a layer that maps
    /// blocks, which would pay a merge for each page that comes alone.
    Block(u32),
}

/// A translation layer.
///
/// Contract: after a call the map holds as if everything in the plan were done. Every operation names pages that the
/// plans up to now have programmed (reads) or erased (programs). A write that finds no page says how far it came and is
/// asked again for the rest when a block has been erased; background work must then be able to go on without the host.
pub trait Ftl: Send {
    /// Plans a read.
    fn read(&mut self, extent: Extent, cx: &mut Context, plan: &mut Plan);

    /// Plans a write. Returns how many of the extent's pages found room; the caller waits with the others.
    fn write(&mut self, extent: Extent, cx: &mut Context, plan: &mut Plan) -> u32;

    /// How data leaves the write buffer for this layer.
    fn grain(&self) -> Grain {
        Grain::Page
    }

    /// The die that a logical page is written to, if its address decides that.
    fn home(&self, _lpn: Lpn) -> Option<DieId> {
        None
    }

    /// Plans a write of extents that leave the write buffer together, as [`Self::grain`] says. Returns how many of their pages,
    /// from the first on, found room.
    fn write_together(&mut self, extents: &[Extent], cx: &mut Context, plan: &mut Plan) -> u32 {
        let mut done = 0;
        for &extent in extents {
            let found = self.write(extent, cx, plan);
            done += found;
            if found < extent.pages {
                break;
            }
        }
        done
    }

    /// Plans a trim: the pages it covers wholly become unmapped.
    fn trim(&mut self, extent: Extent, cx: &mut Context, plan: &mut Plan);

    /// Does this die have background work?
    fn wants_background(&self, die: DieId, blocks: &BlockTable) -> bool;

    /// Plans the next step of a die's background work: one copy or one erase, and what of the map must be written with it,
    /// which may lie on other dies. An empty plan: none can be done now.
    fn background(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan);

    /// A block's erase has ended. The plan takes no operations here; dies that may have background work now can be woken.
    fn erased(&mut self, block: BlockId, cx: &mut Context, plan: &mut Plan);

    /// Lays down a start state on a fresh drive, without a clock: the whole logical space in address order. `watch` hears
    /// of each page and may end the work.
    fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array, watch: &mut Watch) -> Result<(), Error>;

    /// Lays down the state that uniform random writes of single pages lead to, if theory gives it for this layer and its
    /// policies; false if it does not. `watch` as in [`Self::fill`].
    fn fill_steady(
        &mut self,
        _blocks: &mut BlockTable,
        _array: &mut Array,
        _rng: &mut Rng,
        _watch: &mut Watch,
    ) -> Result<bool, Error> {
        Ok(false)
    }

    /// Where a logical page is, with everything planned done. For checks and tests.
    fn lookup(&self, lpn: Lpn) -> Option<Ppn>;

    /// Where the pages of the map itself lie on flash, one address for each copy. For checks and tests: the drive has no
    /// other valid pages beside these and those of [`Self::lookup`].
    fn map_pages(&self) -> Vec<Ppn> {
        Vec::new()
    }

    /// Fetches into the machine's caches what requests to come will touch: of a far one the map, of a near one, whose map
    /// has been fetched already, what lies behind.
    fn prefetch(&self, _far: Lpn, _near: Lpn, _blocks: &BlockTable, _array: &Array) {}

    /// Bytes that the map takes in the drive's memory.
    fn mapping_bytes(&self) -> u64;

    /// Does it merge blocks? Then reports say how often.
    fn merges(&self) -> bool {
        false
    }

    /// Writes its state, which is that of a drive at rest, into a snapshot: everything that a run's results depend on and that
    /// does not follow from what the blocks hold.
    fn save(&self, out: &mut Writer);

    /// Reads the state of the layer of a fresh drive from a snapshot, whose blocks and array have been restored.
    ///
    /// # Errors
    /// If what is read is not the state of a drive: whatever a file holds, no index may go beyond a table, now or later.
    fn restore(&mut self, from: &mut Reader, drive: &RestoredDrive) -> Result<(), Flaw>;
}

/// The translation layer of these settings.
pub fn build(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Box<dyn Ftl> {
    settings.build(setup, geometry)
}

/// The example of `docs/add-an-ftl.md`, as it stands there.
#[cfg(test)]
#[path = "../../../../docs/examples/wander.rs"]
mod documented_example; // not `wander`: whoever follows the page makes a module of that name

#[cfg(test)]
mod tests;
