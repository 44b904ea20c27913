//! The power of a drive by what its parts do, from the price table alone: without a run.

use serde::Serialize;

use crate::config::Config;
use crate::run::needs_an_ssd;
use flashwatt_base::error::{Error, Fault};
use flashwatt_core::energy::Draw;
use flashwatt_ssd::energy::die_state::OpStates;
use flashwatt_ssd::energy::parts::{DRAM_WORKS, LINK_WORKS, drive_state, parts};
use flashwatt_ssd::energy::settings::DramRule;
use flashwatt_ssd::energy::{DieState, ExtraState, Phase, PriceTable};
use flashwatt_ssd::nand::settings::JointReads;
use flashwatt_ssd::operation::{OpClass, OpKind};

/// Power of a drive by what its parts do.
///
/// A drive with n dies at work draws `busy` and n times what one such die adds. What else is at work at that moment
/// (a page on a bus, DRAM, the host interface) adds to it.
#[derive(Clone, Debug, Serialize)]
pub struct PowerLevels {
    /// Voltage in V that currents are stated at, as in a report.
    pub supply_v: f64,
    /// Dies of the drive.
    pub dies: u32,
    /// No request in the drive, no die at work.
    pub quiet: PowerLevel,
    /// A request in the drive, no die at work.
    pub outstanding: PowerLevel,
    /// A die at work in its array, without what it adds to an idle die.
    pub busy: PowerLevel,
    /// The fixed parts of the levels above.
    pub parts: FixedParts,
    /// What one part at work adds.
    pub adds: Additions,
    /// The drive with several dies at work at the same time.
    pub at_work: Vec<AtWork>,
}

/// Power of the parts that do not depend on the number of dies at work.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct FixedParts {
    pub controller_idle: PowerLevel,
    pub controller_active: PowerLevel,
    pub dram_idle: PowerLevel,
    pub dram_active: PowerLevel,
    /// All dies, idle.
    pub dies_idle: PowerLevel,
}

/// Power that one part at work adds to that of the drive. Of a die: less the power of an idle die. Where a block spans planes, all of them
/// program and erase at once, and read at once with `device.bus.joint_reads`.
#[derive(Clone, Debug, Serialize)]
pub struct Additions {
    /// A die that reads a page from its array.
    pub read: PowerLevel,
    /// A die that programs a page.
    pub program: PowerLevel,
    /// A die that erases a block.
    pub erase: PowerLevel,
    /// A die that sends the data of a read over its bus.
    pub read_transfer: PowerLevel,
    /// A die that takes the data of a program from its bus.
    pub program_transfer: PowerLevel,
    /// DRAM at work for an operation: nothing with the rule `with_controller`, where it works with the controller.
    pub dram: PowerLevel,
    /// Data on the host interface.
    pub host_interface: PowerLevel,
}

/// Power of the whole drive while `dies` dies do the same.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct AtWork {
    pub dies: u32,
    pub read: PowerLevel,
    pub program: PowerLevel,
    pub erase: PowerLevel,
}

/// A power in W, and the current in mA that it is at `supply_v`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct PowerLevel {
    pub w: f64,
    pub ma: f64,
}

/// The power levels of a configured drive, with each of these numbers of dies at work. A power budget of the
/// configuration is not applied.
///
/// # Errors
/// For a number of dies that the drive does not have.
pub fn power_levels(config: &Config, dies: &[u32]) -> Result<PowerLevels, Error> {
    if config.drive.ssd().is_none() {
        return Err(needs_an_ssd("dies", config));
    }
    let all = config.ssd().device.channels * config.ssd().device.ways;
    if let Some(wrong) = dies.iter().find(|&&n| n == 0 || n > all) {
        let fault = Fault::key("dies", "not a number of dies of this drive").found(wrong);
        return Err(fault.expected(format!("1 to {all} (device.channels × device.ways)")).into());
    }
    let table = PriceTable::new(&config.ssd().energy);
    let declared = parts(&table, all);
    let level = |draw: Draw| PowerLevel { w: draw.nw as f64 * 1e-9, ma: table.ma(draw.nw.into()) };
    let phase = |phase| declared.draw(drive_state(phase));
    let die = |state: DieState| declared.draw(state.id());
    let states = |kind| OpStates::of(OpClass::plain(kind));
    let device = &config.ssd().device;
    let planes = |kind| match kind {
        OpKind::Read if device.bus.joint_reads == JointReads::None => 1,
        _ => device.block_planes(),
    };
    let array = |kind| {
        let state = states(kind).array;
        let further = ExtraState::of_plane(state).map_or(Draw::default(), |extra| declared.draw(extra.id()));
        die(state) + further * (planes(kind) - 1)
    };
    let with = |n: u32, kind| level(phase(Phase::Array) + array(kind) * n);
    Ok(PowerLevels {
        supply_v: f64::from(table.supply_mv) / 1e3,
        dies: all,
        quiet: level(phase(Phase::Quiet)),
        outstanding: level(phase(Phase::Outstanding)),
        busy: level(phase(Phase::Array)),
        parts: FixedParts {
            controller_idle: level(table.controller[0]),
            controller_active: level(table.controller[1]),
            dram_idle: level(table.dram[0]),
            dram_active: level(table.dram[1]),
            dies_idle: level(table.die[DieState::Idle as usize] * all),
        },
        adds: Additions {
            read: level(array(OpKind::Read)),
            program: level(array(OpKind::Program)),
            erase: level(array(OpKind::Erase)),
            read_transfer: level(die(states(OpKind::Read).last)),
            program_transfer: level(die(states(OpKind::Program).bus)),
            dram: level(if table.dram_rule == DramRule::PerOp { declared.draw(DRAM_WORKS) } else { Draw::default() }),
            host_interface: level(declared.draw(LINK_WORKS)),
        },
        at_work: dies
            .iter()
            .map(|&dies| AtWork {
                dies,
                read: with(dies, OpKind::Read),
                program: with(dies, OpKind::Program),
                erase: with(dies, OpKind::Erase),
            })
            .collect(),
    })
}
