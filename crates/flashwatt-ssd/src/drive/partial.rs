//! Reads that move a part of their page over the bus of the flash.
//!
//! A read of the host moves each map unit of a page of which it asks for something, or the sectors of it that it asks for, and nothing
//! between them: a die sends from any place of its register. What the drive reads for itself says how many units of a page it needs
//! where it is planned, in the translation layer.

use super::Ssd;
use super::host_link::reader;
use crate::ftl::PlanIndex;
use crate::nand::settings::PartialUnit;
use crate::observe::probe::Probe;
use flashwatt_base::units::{RequestId, SECTOR_BYTES};
use flashwatt_core::connector::Extent;

impl<P: Probe> Ssd<P> {
    /// Tells the operations of a read that has just been planned what they move. `runs`: the units that do not come from the write buffer.
    #[inline(never)]
    pub(super) fn want_parts(&mut self, id: RequestId, runs: &[Extent], unit: PartialUnit) {
        let request = self.requests[id.idx()].request;
        let (sector, mut at) = (SECTOR_BYTES as u32, 0);
        for lpn in runs.iter().flat_map(Extent::lpns) {
            let (ftl, ops) = (self.firmware.ftl.as_ref(), self.firmware.plan.ops());
            let place = ftl.lookup(lpn).or_else(|| ftl.blank_place(lpn));
            let Some(op) = place.and_then(|ppn| reader(ops, at, ppn, &self.geometry)) else { continue };
            let bytes = match unit {
                PartialUnit::MapUnit => 0..self.geometry.unit_bytes,
                PartialUnit::Sector => self.geometry.bytes_in(&request, lpn),
            };
            at = op;
            self.firmware.plan.wants_sectors(PlanIndex(op as u32), bytes.end.div_ceil(sector) - bytes.start / sector);
        }
    }
}
