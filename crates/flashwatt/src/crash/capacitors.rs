//! What capacitors do at a power cut: they hold the drive until operations under way have ended, and the content of the write
//! buffer is on flash.
//!
//! Reads under way are given up. When all programs and erases under way have ended, the newest content of each unit is programmed
//! into the blocks kept for it, one page of each die after the other. A drive of its own simulates these programs, so that buses,
//! dies and prices are those of every run. The energy counts all of the drive's parts from the cut on.

use std::sync::Arc;

use super::dump::{Dump, Part, Sizing, Work};
use super::remains::Remains;
use super::trial::Powered;
use super::witness::Witness;
use crate::config::Config;
use flashwatt_base::error::Error;
use flashwatt_base::units::{DieId, Nanos};
use flashwatt_core::energy::Draw;
use flashwatt_core::energy::Parts;
use flashwatt_ssd::cache::settings::Capacitors;
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::drive::settings::Settings;
use flashwatt_ssd::energy::parts::{drive_state, parts};
use flashwatt_ssd::energy::{DieState, ExtraState, Phase, PriceTable};
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::nand::phases::{Course, Courses};
use flashwatt_ssd::nand::settings::DeviceTable;
use flashwatt_ssd::nand::{Array, Geometry, Reserve};
use flashwatt_ssd::operation::{OpClass, OpKind};
use flashwatt_ssd::recovery::dump;

impl Remains {
    /// What capacitors did at the cut; none if the drive has none, or they were not charged.
    ///
    /// # Errors
    /// If the simulated time comes to its end.
    pub fn dump(&self) -> Result<Option<Dump>, Error> {
        let capacitors = self.config.ssd().write_buffer.capacitors;
        let of = |(work, capacitors): (&Work, _)| work.cost(&self.config, &capacitors);
        self.work.as_ref().zip(capacitors).map(of).transpose()
    }
}

impl Work {
    /// What it takes.
    ///
    /// # Errors
    /// If the simulated time comes to its end.
    pub fn cost(&self, config: &Arc<Config>, capacitors: &Capacitors) -> Result<Dump, Error> {
        let (end_ns, end_j) = self.end_operations(config.ssd());
        let (program_ns, program_j) = self.program(config)?;
        let energy_j = end_j + program_j;
        Ok(Dump {
            dump_pages: self.pages,
            dump_ns: end_ns + program_ns,
            dump_energy_j: energy_j,
            capacitance_f: capacitors.farads(energy_j),
        })
    }

    /// Time in ns and energy in J until the operations under way have ended.
    fn end_operations(&self, ssd: &Settings) -> (Nanos, f64) {
        let (device, dies) = (&ssd.device, ssd.device.channels * ssd.device.ways);
        let parts = parts(&PriceTable::new(&ssd.energy), dies);
        let courses = Courses::new(&ssd.device.timing, ssd.controller.read_transfer);
        let rest = |part: &Part| {
            let course = courses.of(part.class);
            let is_row = device.has_cells() && part.class.kind != OpKind::Erase;
            let moved_in = if is_row { course.array_start_ns } else { 0 };
            rest(course, &Part { elapsed: moved_in + part.elapsed, ..*part }, device.block_planes(), &parts)
        };
        let (longest, of_dies) =
            self.under_way.iter().map(rest).fold((0, 0), |(longest, sum), (ns, aj)| (longest.max(ns), sum + aj));
        let aj = of_dies + charge(parts.draw(drive_state(Phase::Array)), longest);
        (longest, aj as f64 * 1e-18)
    }

    /// Time in ns and energy in J of the programs.
    fn program(&self, config: &Arc<Config>) -> Result<(Nanos, f64), Error> {
        if self.pages == 0 {
            return Ok((0, 0.0));
        }
        let ssd = config.ssd();
        let geometry = Geometry::new(&ssd.device, ssd.map_unit_bytes());
        let mut firmware = Firmware::new(&ssd.ftl, &ssd.ftl_setup(), config.run.seed, &geometry);
        self.blocks.iter().for_each(|&block| firmware.blocks.keep_apart(block));
        let array = Array::new(geometry.clone(), ssd.device.nand.program_order);
        let mut drive = Ssd::new(ssd, firmware, array, None, Witness::blind(Arc::clone(config), &geometry));
        drive.begin_dump(dump::pages(&self.blocks, &geometry).take(self.pages as usize).collect());
        let (powered, times) = Powered::alone(config.run.stages(), drive).until_recovered()?;
        Ok((times.recovery_ns, powered.energy_j()))
    }
}

/// Time in ns that an operation on these planes still takes, and the energy of its die beyond that of an idle one, in 10⁻¹⁸ J.
fn rest(course: &Course, part: &Part, planes: u32, parts: &Parts) -> (Nanos, i128) {
    let Part { is_upper, elapsed, .. } = *part;
    let end = course.whole_ns + if is_upper { course.upper_ns } else { 0 };
    let phases = [
        (course.bus, 0, course.array_start_ns),
        (course.array, course.array_start_ns, course.array_end_ns),
        (course.last, course.array_end_ns, end),
    ];
    let further = |state| ExtraState::of_plane(state).map_or(Draw::default(), |extra| parts.draw(extra.id()));
    let draw = |state: DieState| parts.draw(state.id()) + further(state) * (planes - 1);
    if let Some(left_ns) = part.left_ns {
        return (left_ns, charge(draw(course.array), left_ns));
    }
    let left =
        |&(state, from, to): &(DieState, Nanos, Nanos)| charge(draw(state), to.saturating_sub(from.max(elapsed)));
    (end.saturating_sub(elapsed), phases.iter().map(left).sum())
}

/// Energy in 10⁻¹⁸ J of a power over a time in ns.
fn charge(draw: Draw, ns: Nanos) -> i128 {
    i128::from(draw.nw) * i128::from(ns)
}

/// What of a die takes the longest from a cut on: an erase, or of a drive that programs rows such a program.
fn longest_part(device: &DeviceTable) -> Part {
    let timing = &device.timing;
    let program_ns = timing.program_upper_ns.unwrap_or(timing.program_ns);
    let of_kind = |kind, ns: Nanos| {
        let suspended_ns = device.suspend.as_ref().map_or(0, |suspend| suspend.longest_ns(kind));
        let left_ns = (suspended_ns > 0).then(|| ns.saturating_add(suspended_ns));
        (left_ns.unwrap_or(ns), Part { class: OpClass::plain(kind), is_upper: false, elapsed: 0, left_ns })
    };
    let (erase, program) = (of_kind(OpKind::Erase, timing.erase_ns), of_kind(OpKind::Program, program_ns));
    if device.has_cells() && program.0 > erase.0 { program.1 } else { erase.1 }
}

/// What the capacitors of a drive must be able to do, if it has any; in an array those of the member that needs the most.
///
/// # Errors
/// If the simulated time comes to its end.
pub(super) fn sizing(config: &Config) -> Result<Option<Sizing>, Error> {
    let config = config.with_power_cuts()?;
    let Some(array) = config.drive.array() else { return sizing_of(&Arc::new(config)) };
    let mut greatest: Option<Sizing> = None;
    for drive in array.places().flatten() {
        let farads = |sizing: &Sizing| sizing.full.capacitance_f;
        let of_drive = sizing_of(&Arc::new(config.of_drive(drive)))?;
        greatest = match (greatest, of_drive) {
            (Some(one), Some(other)) if farads(&other) > farads(&one) => Some(other),
            (one, other) => one.or(other),
        };
    }
    Ok(greatest)
}

/// As [`sizing`], of a drive that is prepared for power cuts.
fn sizing_of(config: &Arc<Config>) -> Result<Option<Sizing>, Error> {
    let ssd = config.ssd();
    let Some(capacitors) = ssd.write_buffer.capacitors else { return Ok(None) };
    let geometry = Geometry::new(&ssd.device, ssd.map_unit_bytes());
    let units = ssd.write_buffer.bytes / u64::from(geometry.unit_bytes);
    let work = Work {
        under_way: vec![longest_part(&ssd.device); geometry.dies as usize],
        pages: units.div_ceil(u64::from(geometry.units_per_page)) as u32,
        blocks: (0..geometry.dies)
            .map(DieId)
            .flat_map(|die| geometry.blocks_of(die).take(geometry.reserves[Reserve::Dump] as usize))
            .collect(),
    };
    let full = work.cost(config, &capacitors)?;
    Ok(Some(Sizing { max_v: capacitors.max_v, min_v: capacitors.min_v, full }))
}
