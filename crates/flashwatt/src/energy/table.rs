//! The price table in whole numbers: what each state draws, in µA and nW.
//!
//! In component mode each part's power is its current at its own voltage; in terminal mode every current is drawn from
//! the drive's supply (SPEC E3). µA × mV = nW exactly, and nW × ns = 10⁻¹⁸ J, so that totals are sums of integers.

use crate::config::{ChargedTransfer, DramRule, Energy, EnergyMode, IdleAccounting, NandEnergy};
use crate::units::Nanos;

/// What a die is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum DieState {
    /// Nothing.
    Idle,
    /// Reading a page from the array.
    Read,
    /// Programming a page.
    Program,
    /// Erasing a block.
    Erase,
    /// On the bus for a read: command in, data out.
    ReadBus,
    /// On the bus for a program: command and data in.
    ProgramBus,
    /// On the bus for an erase: command in.
    EraseBus,
    /// Holding data that waits for the bus.
    DataWait,
}

impl DieState {
    /// How many there are.
    pub const COUNT: usize = 8;
    /// All of them, in the order of their numbers.
    pub const ALL: [DieState; Self::COUNT] = [
        DieState::Idle,
        DieState::Read,
        DieState::Program,
        DieState::Erase,
        DieState::ReadBus,
        DieState::ProgramBus,
        DieState::EraseBus,
        DieState::DataWait,
    ];

    /// As it is called in reports.
    pub const fn name(self) -> &'static str {
        match self {
            DieState::Idle => "idle",
            DieState::Read => "read",
            DieState::Program => "program",
            DieState::Erase => "erase",
            DieState::ReadBus => "read_transfer",
            DieState::ProgramBus => "program_transfer",
            DieState::EraseBus => "erase_transfer",
            DieState::DataWait => "data_wait",
        }
    }
}

/// A current and the power that it means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Draw {
    /// Current in µA.
    pub ua: i64,
    /// Power in nW.
    pub nw: i64,
}

impl Draw {
    fn new(ua: u32, millivolts: u32) -> Self {
        Draw { ua: i64::from(ua), nw: i64::from(ua) * i64::from(millivolts) }
    }
}

impl std::ops::Add for Draw {
    type Output = Draw;
    #[inline(always)]
    fn add(self, other: Draw) -> Draw {
        Draw { ua: self.ua + other.ua, nw: self.nw + other.nw }
    }
}

impl std::ops::Sub for Draw {
    type Output = Draw;
    #[inline(always)]
    fn sub(self, other: Draw) -> Draw {
        Draw { ua: self.ua - other.ua, nw: self.nw - other.nw }
    }
}

impl std::ops::Mul<u32> for Draw {
    type Output = Draw;
    fn mul(self, n: u32) -> Draw {
        Draw { ua: self.ua * i64::from(n), nw: self.nw * i64::from(n) }
    }
}

/// What everything draws.
#[derive(Clone, Debug)]
pub struct Table {
    /// A die in each [`DieState`].
    pub die: [Draw; DieState::COUNT],
    /// The controller: idle, active.
    pub controller: [Draw; 2],
    /// The DRAM: idle, active.
    pub dram: [Draw; 2],
    /// The host interface while data moves.
    pub host_interface: Draw,
    /// When DRAM is active.
    pub dram_rule: DramRule,
    /// How long one look-up or update of the map takes in it.
    pub map_access_ns: Nanos,
    /// Which idle accounting the totals use.
    pub accounting: IdleAccounting,
}

impl Table {
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
        let pair = |part: &crate::config::Part| {
            let millivolts = volts(part.millivolts);
            [Draw::new(part.idle_ua, millivolts), Draw::new(part.active_ua, millivolts)]
        };
        Table {
            die: [
                die(nand.idle_ua),
                die(nand.read_ua),
                die(nand.program_ua),
                die(nand.erase_ua),
                page_bus(nand.read_ua),
                page_bus(nand.program_ua),
                bus(nand.erase_ua),
                die(nand.idle_ua), // data in the page register: nothing runs
            ],
            controller: pair(&energy.controller),
            dram: pair(&energy.dram.part),
            host_interface: Draw::new(energy.host_interface.active_ua, volts(energy.host_interface.millivolts)),
            dram_rule: energy.dram_rule,
            map_access_ns: energy.dram.map_access_ns,
            accounting: energy.idle_accounting,
        }
    }
}

/// What a die draws in µA on the bus with a page that is charged for another time than it takes: above an idle die the charge
/// is that of `transfer_ua` for the former, spread over the latter, to the nearest µA.
fn charged(nand: &NandEnergy, transfer_ua: u32) -> u32 {
    let Some(ChargedTransfer { charged_ns, taken_ns }) = nand.transfer else { return transfer_ua };
    let more = u128::from(transfer_ua.saturating_sub(nand.idle_ua));
    let spread = (more * u128::from(charged_ns) + u128::from(taken_ns / 2)) / u128::from(taken_ns);
    nand.idle_ua.saturating_add(spread.try_into().unwrap_or(u32::MAX))
}
