//! Translation layers: the mapping of logical pages to flash pages.
//!
//! A translation layer decides and does not act. It owns the map. It sees blocks, policies and random numbers, and it puts
//! operations into a [`Plan`]. It knows no clock, no queue and no energy. The map changes when a request is planned; the array
//! changes when the operations end. The controller starts each operation only once its data and blocks are ready.

mod blocked;
mod demand;
mod flat_map;
mod paged;
pub mod plan;
mod restored;
mod scheme;
pub mod schemes;

use crate::blocks::BlockTable;
pub use crate::gc::Steady;
use crate::nand::{Array, Geometry, Pace, WearView};
pub use crate::operation::{Cause, OpKind};
use crate::recovery::scan::Found;
use crate::recovery::spare::Ties;
use flashwatt_base::error::Error;
use flashwatt_base::persist::{Flaw, StateReader, StateWriter};
use flashwatt_base::progress::Watch;
use flashwatt_base::rng::Rng;
use flashwatt_base::units::{BlockId, DieId, Lpn, Nanos, Ppn};
use flashwatt_core::connector::Extent;
pub use paged::{Allocation, Frontiers};
pub use plan::{
    BusyBy, MapEntry, MapNotes, Mapping, Merges, PartialReads, Plan, PlanIndex, PlanNumber, PlannedOp, ReplicaChoice,
};
pub use restored::{Claims, RestoredDrive};
pub use scheme::{DriveSize, Room, Scheme, Setup};
pub use schemes::{Options, REGISTRY, Settings};

/// The state that a translation layer plans with.
pub struct Context<'a> {
    /// Validity of pages, free blocks, victim candidates.
    pub blocks: &'a mut BlockTable,
    /// The wear of the flash.
    pub wear: WearView<'a>,
    /// The drive's random numbers.
    pub rng: &'a mut Rng,
}

/// The pace of work in an idle drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdlePace {
    /// Time without a request in the drive before the first piece of work, ≥ 1.
    pub start_ns: Nanos,
    /// Time from the end of a piece of work to the start of the next one.
    pub gap_ns: Nanos,
}

/// The units in which data leaves the write buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grain {
    /// Single map units from any addresses, up to the number that a physical page holds. For a layer that can put any
    /// units into one page.
    Page,
    /// The buffered pages around one page, as one extent: at most this number of neighbours, or the pages of one request.
    /// For a layer that may have to read its map, which it then reads once for all of them.
    Run(u32),
    /// All buffered pages of one logical block of this number of pages; neighbours form one extent. For a layer that maps
    /// blocks, which may need a merge for each page that arrives alone.
    Block(u32),
}

/// The map of a layer that has it on flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapOnFlash {
    /// Entries of a page of the map.
    pub entries_per_page: u32,
    /// Copies of each page.
    pub copies: u32,
}

/// A translation layer.
///
/// Contract: after a call the map is as if every operation of the plan had ended. A read names a page that plans so far have
/// programmed; a program names an erased page. A write that finds no page returns how many pages it placed, and is called
/// again for the rest after a block has been erased. Background work must be able to proceed without requests of the host.
///
/// An [`Extent`] comes by reference, because the caller has just written its fields: a copy by one wide load would have to wait until
/// each of them has reached the processor's cache.
pub trait Ftl: Send {
    /// Plans a read of all pages of the extent.
    fn read(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan);

    /// Plans a write. Returns how many of the extent's pages, from the first on, found room; the rest waits.
    fn write(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan) -> u32;

    /// The units in which data leaves the write buffer for this layer.
    fn grain(&self) -> Grain {
        Grain::Page
    }

    /// The die that a logical page is written to, if its address alone decides that.
    fn home(&self, _lpn: Lpn) -> Option<DieId> {
        None
    }

    /// Plans a write of extents that leave the write buffer together, in units of [`Self::grain`]. Returns how many of their
    /// pages, from the first on, found room.
    fn write_together(&mut self, extents: &[Extent], cx: &mut Context, plan: &mut Plan) -> u32 {
        let mut done = 0;
        for extent in extents {
            let found = self.write(extent, cx, plan);
            done += found;
            if found < extent.pages {
                break;
            }
        }
        done
    }

    /// Plans a trim. Only pages that it covers completely become unmapped.
    fn trim(&mut self, extent: &Extent, cx: &mut Context, plan: &mut Plan);

    /// Whether a die has background work.
    fn wants_background(&self, die: DieId, blocks: &BlockTable) -> bool;

    /// Plans the next step of a die's background work: one copy or one erase, and the map pages that must be written with it,
    /// which may lie on other dies. An empty plan says that no step is possible now.
    fn background(&mut self, die: DieId, cx: &mut Context, plan: &mut Plan);

    /// Plans programs of pages without data ([`Cause::Pad`]) up to page `end` of an open block, the end of a row, and skips these pages. For a
    /// layer that writes row by row ([`Scheme::HAS_ROWS`]). The plan stays empty while a collection needs these pages for its copies.
    fn pad(&mut self, _block: BlockId, _end: u32, _cx: &mut Context, _plan: &mut Plan) {
        unreachable!("a layer without rows");
    }

    /// Whether a die's background work is such that writes of the host always go before it, however many there are.
    fn is_lazy(&self, _die: DieId, _blocks: &BlockTable) -> bool {
        false
    }

    /// The pace of the layer's work that waits until the drive is idle; none if it has no such work.
    fn idle_pace(&self) -> Option<IdlePace> {
        None
    }

    /// Whether there is work for an idle drive now.
    fn has_idle_work(&self, _blocks: &BlockTable) -> bool {
        false
    }

    /// Plans the next piece of the work for an idle drive. An empty plan says that none is possible before an erase has ended.
    fn idle_work(&mut self, _cx: &mut Context, _plan: &mut Plan) {}

    /// The erase of a block has ended. The plan takes no operations here, but may wake dies that now have background work.
    fn erased(&mut self, block: BlockId, cx: &mut Context, plan: &mut Plan);

    /// Lays down a start state on a fresh drive, without a clock: the whole logical space in address order. `watch` counts
    /// the pages and may end the work.
    fn fill(&mut self, blocks: &mut BlockTable, array: &mut Array, watch: &mut Watch) -> Result<(), Error>;

    /// Gives every logical page a place on a fresh drive without writing anything (start state `mapped`). Returns false if the
    /// layer cannot. A layer that gives a page its place with the write reads unwritten pages in the blocks `before`, one of each die.
    fn fill_mapped(&mut self, _blocks: &mut BlockTable, _array: &mut Array, _before: &[BlockId]) -> bool {
        false
    }

    /// Lays down the steady state of uniform random writes of single pages at this pace, as far as theory gives it for this layer and
    /// its policies; [`Steady::Unknown`]: nothing was laid down. `watch` counts the pages and may end the work.
    fn fill_steady(
        &mut self,
        _blocks: &mut BlockTable,
        _array: &mut Array,
        _rng: &mut Rng,
        _pace: Pace,
        _watch: &mut Watch,
    ) -> Result<Steady, Error> {
        Ok(Steady::Unknown)
    }

    /// The flash address of a logical page, as if all planned operations had ended. For checks and tests.
    fn lookup(&self, lpn: Lpn) -> Option<Ppn>;

    /// Where the drive reads a logical page that has no address, if it reads such pages on flash ([`Plan::read_blank`]).
    fn blank_place(&self, _lpn: Lpn) -> Option<Ppn> {
        None
    }

    /// The flash addresses of the map's own pages, one for each copy. For checks and tests: these and the addresses of
    /// [`Self::lookup`] are all valid pages of the drive.
    fn map_pages(&self) -> Vec<Ppn> {
        Vec::new()
    }

    /// Prefetches into the machine's caches: for a far request its map entry; for a near one, whose map entry is there,
    /// the tables behind it. Changes no result.
    fn prefetch(&self, _far: Lpn, _near: Lpn, _blocks: &BlockTable, _array: &Array) {}

    /// Asks the system for huge pages for tables that have an entry for each page of the drive: they will be used in most places.
    /// Changes no result.
    fn on_huge_pages(&self) {}

    /// Bytes of the drive's memory that the map takes.
    fn mapping_bytes(&self) -> u64;

    /// The map of a layer that has it on flash; none if all of it is in memory.
    fn map_on_flash(&self) -> Option<MapOnFlash> {
        None
    }

    /// What the map on flash says of a logical page, as if all planned operations had ended.
    fn map_entry(&self, lpn: Lpn) -> MapEntry {
        MapEntry::Says(self.lookup(lpn))
    }

    /// Bytes of what a checkpoint holds of the map now: all of it, or of a map on flash what memory alone has, and where its pages are.
    fn checkpoint_bytes(&self) -> u64 {
        self.mapping_bytes()
    }

    /// Whether the layer merges blocks. Reports then count merges.
    fn merges(&self) -> bool {
        false
    }

    /// Whether [`Self::rebuild`] is there: a drive with this layer comes back after a power cut.
    fn survives_cuts(&self) -> bool {
        false
    }

    /// Which of two addresses with the same version of a page a scan takes.
    fn ties(&self) -> Ties {
        Ties::Copy
    }

    /// Rebuilds the tables of a fresh layer after a power cut, from what a scan of all spare areas found. `blocks` has been
    /// rebuilt from that already ([`BlockTable::rebuilt`]). Later versions of a page than the newest one found are lost.
    fn rebuild(&mut self, _found: &Found, _blocks: &mut BlockTable, _array: &mut Array) {
        unreachable!("it was asked whether the layer survives a cut");
    }

    /// Plans the next piece of the work that a rebuilt layer must do before it serves requests. All operations of the piece
    /// before it have ended. An empty plan says that nothing is left.
    fn recover(&mut self, _cx: &mut Context, _plan: &mut Plan) {}

    /// Plans the read of a page of the map on flash, whose entries then are in memory, after a power cut: those of the first `units`
    /// logical pages. For a layer that has its map on flash, when [`Self::recover`] has nothing left.
    fn load_map(&mut self, _page: u32, _units: u32, _plan: &mut Plan) {
        unreachable!("it was asked whether the layer has its map on flash");
    }

    /// Writes the state of a drive at rest to a snapshot: everything that results depend on and that does not follow from
    /// the content of the blocks.
    fn save(&self, out: &mut StateWriter);

    /// Restores the state of a fresh drive from a snapshot whose blocks and array are restored already.
    ///
    /// # Errors
    /// If the data is not the state of a drive. No content of a file may lead to an index beyond a table, now or later.
    fn restore(&mut self, from: &mut StateReader, drive: &RestoredDrive) -> Result<(), Flaw>;
}

/// Builds the translation layer of these settings.
pub fn build(settings: &Settings, setup: &Setup, geometry: &Geometry) -> Box<dyn Ftl> {
    settings.build(setup, geometry)
}

/// The example of `docs/add-an-ftl.md`, compiled from that page.
#[cfg(test)]
#[path = "../../examples/guides/wander.rs"]
mod documented_example; // not `wander`: a reader who follows the page adds a module of that name

#[cfg(test)]
mod tests;
