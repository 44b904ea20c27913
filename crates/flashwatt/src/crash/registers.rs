//! The registers of dies, which may keep a page of the map through a power cut: the part of the observer that follows them.

use std::collections::BTreeMap;

use super::map::MapWitness;
use crate::config::Config;
use flashwatt_base::units::{DieId, Lpn, Nanos, Ppn};
use flashwatt_ssd::controller::UnderWay;
use flashwatt_ssd::drive::settings::DieRegisters;
use flashwatt_ssd::nand::phases::Courses;
use flashwatt_ssd::recovery::registers::InRegister;
use flashwatt_ssd::recovery::spare::Spare;

/// Follows what the register of each die has kept through a power cut. A die has one register for pages of the map: the next page that is
/// programmed there takes its place.
#[derive(Clone, Default)]
pub(super) struct RegisterWitness {
    /// From the start of a program until its page is in the register; none of a drive whose registers keep nothing.
    courses: Option<Courses>,
    kept: BTreeMap<DieId, InRegister>,
}

impl RegisterWitness {
    /// Follows the registers of a drive. `kept`: what they have kept through a cut.
    pub fn new(config: &Config, kept: &[InRegister], die_of: impl Fn(Ppn) -> DieId) -> Self {
        let ssd = config.ssd();
        let keeps = ssd.recovery.die_registers == DieRegisters::Kept;
        let courses = keeps.then(|| Courses::new(&ssd.device.timing, ssd.controller.read_transfer));
        RegisterWitness { courses, kept: kept.iter().map(|held| (die_of(held.ppn), held.clone())).collect() }
    }

    /// The page of the map in the register for which this page stands.
    pub fn get(&self, held: Ppn) -> Option<&InRegister> {
        self.kept.values().find(|kept| kept.ppn == held)
    }

    /// The program of a page of the map on this die has ended.
    pub fn program_ended(&mut self, die: DieId) {
        self.kept.remove(&die);
    }

    /// What registers hold when the power goes at the time `now`. `programs`: those under way, each with the pages of the map that it
    /// writes.
    pub fn cut<'a>(
        &self,
        now: Nanos,
        programs: impl Iterator<Item = (UnderWay, &'a (Ppn, Spare))>,
        map: &MapWitness,
    ) -> Vec<InRegister> {
        let Some(courses) = &self.courses else { return Vec::new() };
        let mut kept = self.kept.clone();
        for (op, &(ppn, Spare { owner, version, .. })) in programs {
            let is_same = |held: &InRegister| (held.owner, held.version) == (owner, version);
            if kept.get(&op.at.die).is_some_and(is_same) {
                continue; // the register is what is programmed
            }
            kept.remove(&op.at.die);
            let is_there = now - op.since >= courses.of(op.at.class(op.kind)).array_start_ns;
            if let Some(content) = map.contents.get(&ppn).filter(|_| is_there) {
                kept.insert(op.at.die, InRegister { ppn, owner, version, content: content.clone() });
            }
        }
        kept.into_values().collect()
    }
}

impl MapWitness {
    /// A page of the map that a register has kept is programmed.
    pub fn programmed_from(&mut self, held: &InRegister, to: Ppn) {
        self.contents.insert(to, held.content.clone());
        if let Some((page, _)) = self.page_of(held.owner) {
            self.set_newest(page, held.content.clone());
        }
    }

    fn page_of(&self, owner: Lpn) -> Option<(u32, u32)> {
        self.layout?.page_of(owner)
    }
}
