//! The price table in integers: the power of each state in nW.
//!
//! In component mode the power of a part is its current times its own voltage; in terminal mode every current is drawn
//! from the drive's supply. µA × mV = nW exactly, and nW × ns = 10⁻¹⁸ J, so totals are sums of integers.
//!
//! Currents of parts at different voltages cannot be added; their powers can. So the engine computes with power only,
//! and the drive's current is its power divided by one voltage, [`PriceTable::supply_mv`].

use super::die_state::DieState;
use super::extra_state::ExtraState;
use super::settings::{ChargedTransfer, Dram, DramRule, Energy, EnergyMode, IdleAccounting, NandEnergy};
use flashwatt_base::units::Nanos;
use flashwatt_core::energy::Draw;

/// The power of every part in each state.
#[derive(Clone, Debug)]
pub struct PriceTable {
    /// A die in each [`DieState`].
    pub die: [Draw; DieState::COUNT],
    /// A part of a die in each [`ExtraState`], in addition to the die.
    pub extra: [Draw; ExtraState::COUNT],
    /// The controller: idle, active.
    pub controller: [Draw; 2],
    /// The DRAM: idle, active.
    pub dram: [Draw; 2],
    /// The host interface while data moves.
    pub host_interface: Draw,
    /// When DRAM is active.
    pub dram_rule: DramRule,
    /// Nanoseconds of one look-up or update of the map in DRAM.
    pub map_access_ns: Nanos,
    /// Which idle accounting the totals use.
    pub accounting: IdleAccounting,
    /// The voltage in mV at which the drive's current is stated: its supply in terminal mode; else the highest voltage
    /// of a part that draws current, which is assumed to feed the lower ones without loss.
    pub supply_mv: u32,
}

impl PriceTable {
    /// The table of a configuration.
    pub fn new(energy: &Energy) -> Self {
        let volts = |component: u32| match energy.mode {
            EnergyMode::Component => component,
            EnergyMode::Terminal(millivolts) => millivolts,
        };
        let nand = &energy.nand;
        let die = |ua: u32| Draw::new(ua, volts(nand.millivolts));
        let bus = |operation: u32| die(nand.transfer_ua.unwrap_or(operation));
        let page_bus = |operation: u32| die(charged(nand, nand.transfer_ua.unwrap_or(operation)));
        let pair = |part: &super::settings::Part| {
            let millivolts = volts(part.millivolts);
            [Draw::new(part.idle_ua, millivolts), Draw::new(part.active_ua, millivolts)]
        };
        let idle = die(nand.idle_ua);
        PriceTable {
            extra: ExtraState::ALL.map(|state| match state {
                ExtraState::Read => die(nand.extra_plane_read_ua),
                ExtraState::Program => die(nand.extra_plane_program_ua),
                ExtraState::Erase => die(nand.extra_plane_erase_ua),
                ExtraState::SlcProgram => die(nand.slc_extra_plane_program_ua.unwrap_or(nand.extra_plane_program_ua)),
                // The idle current is in that of the array which works beside it.
                ExtraState::ReadBus => page_bus(nand.read_ua) - idle,
                ExtraState::ProgramBus => page_bus(nand.program_ua) - idle,
            }),
            die: DieState::ALL.map(|state| match state {
                DieState::Idle => die(nand.idle_ua),
                DieState::Read => die(nand.read_ua),
                DieState::Program => die(nand.program_ua),
                DieState::Erase => die(nand.erase_ua),
                DieState::ReadBus => page_bus(nand.read_ua),
                DieState::ProgramBus => page_bus(nand.program_ua),
                DieState::EraseBus => bus(nand.erase_ua),
                DieState::DataWait => die(nand.idle_ua), // data in the page register: no array operation
                DieState::SlcProgram => die(nand.slc_program_ua.unwrap_or(nand.program_ua)),
                DieState::Suspended => die(nand.idle_ua),
            }),
            controller: pair(&energy.controller),
            dram: pair(&energy.dram.part),
            host_interface: Draw::new(energy.host_interface.active_ua, volts(energy.host_interface.millivolts)),
            dram_rule: energy.dram_rule,
            map_access_ns: energy.dram.map_access_ns,
            accounting: energy.idle_accounting,
            supply_mv: supply_mv(energy),
        }
    }

    /// The drive's current in mA at its supply voltage, at a power of `nw`.
    pub fn ma(&self, nw: i128) -> f64 {
        nw as f64 / f64::from(self.supply_mv) / 1e3
    }
}

/// See [`PriceTable::supply_mv`].
fn supply_mv(energy: &Energy) -> u32 {
    let Energy { controller, dram: Dram { part: dram, .. }, nand, host_interface, .. } = energy;
    let die_ua = [nand.read_ua, nand.program_ua, nand.erase_ua, nand.idle_ua, nand.transfer_ua.unwrap_or(0)];
    let plane_ua = [nand.extra_plane_read_ua, nand.extra_plane_program_ua, nand.extra_plane_erase_ua];
    let slc_ua = [nand.slc_program_ua, nand.slc_extra_plane_program_ua].map(Option::unwrap_or_default);
    let nand_ua = die_ua.into_iter().chain(plane_ua).chain(slc_ua).max().unwrap_or(0);
    let parts = [
        (controller.active_ua.max(controller.idle_ua), controller.millivolts),
        (dram.active_ua.max(dram.idle_ua), dram.millivolts),
        (nand_ua, nand.millivolts),
        (host_interface.active_ua, host_interface.millivolts),
    ];
    match energy.mode {
        EnergyMode::Terminal(millivolts) => millivolts,
        EnergyMode::Component => {
            let drawing = parts.iter().filter(|(ua, _)| *ua > 0).map(|&(_, mv)| mv).max();
            drawing.unwrap_or(controller.millivolts)
        }
    }
}

/// Current in µA of a die on the bus with a page whose charged time differs from its real time. The charge above that
/// of an idle die is `transfer_ua` over the charged time, spread over the real time, to the nearest µA.
fn charged(nand: &NandEnergy, transfer_ua: u32) -> u32 {
    let Some(ChargedTransfer { charged_ns, taken_ns }) = nand.transfer else { return transfer_ua };
    let more = u128::from(transfer_ua.saturating_sub(nand.idle_ua));
    let spread = (more * u128::from(charged_ns) + u128::from(taken_ns / 2)) / u128::from(taken_ns);
    nand.idle_ua.saturating_add(spread.try_into().unwrap_or(u32::MAX))
}
