//! The power budget: the number of dies that may work at a time so that the drive's power stays within it.

use super::super::{PowerBudget, raw};
use flashwatt_base::settings::{Checker, field};
use flashwatt_ssd::energy::settings::Energy;
use flashwatt_ssd::energy::{DieState, ExtraState, PriceTable};
use flashwatt_ssd::nand::settings::Bus;

/// Largest budget: 1000 A, at up to 100 V.
const MA_MAX: f64 = 1e6;
const W_MAX: f64 = 1e5;

const KEY_MA: &str = "controller.power_budget_ma";
const KEY_W: &str = "controller.power_budget_w";

/// k = ⌊(P_budget − P_base) / (P_op − P_idle)⌋ dies, of a drive with `dies`. P_base is the highest power while no die
/// works: the active controller and DRAM, the host interface, all dies idle. P_op is the power of the most expensive
/// phase of an operation, with what works beside it: further planes, and a bus beside the array. A budget in mA is a current at the voltage at which the drive's current is stated.
pub(super) fn power_budget(
    c: &mut Checker,
    raw: &raw::Controller,
    energy: &Energy,
    dies: u32,
    beside: &Beside,
) -> Option<PowerBudget> {
    let table = PriceTable::new(energy);
    let (key, budget_nw) = asked(c, raw, &table)?;
    let idle = table.die[DieState::Idle as usize];
    let base_nw = (table.controller[1] + table.dram[1] + table.host_interface + idle * dies).nw;
    let of_state = |state: DieState| (table.die[state as usize] - idle).nw + beside.nw(state, &table);
    let operation_nw = DieState::ALL.into_iter().map(of_state).max().unwrap_or(0);
    if c.clean("controller") && c.clean("energy") && c.clean("device") && budget_nw < base_nw + operation_nw {
        let amount = |nw: i64| match key {
            KEY_W => format!("{:?} W", nw as f64 / 1e9),
            _ => format!("{:?} mA", table.ma(nw.into())),
        };
        let expected = format!(
            "at least {}: {} while no die works, and {} for one operation",
            amount(base_nw + operation_nw),
            amount(base_nw),
            amount(operation_nw)
        );
        let fault = c.fault(key, "no operation fits into the power budget").found(amount(budget_nw));
        c.push(fault.expected(expected));
    }
    let fits = (budget_nw - base_nw).max(0).checked_div(operation_nw).unwrap_or(i64::from(dies));
    Some(PowerBudget { budget_nw, base_nw, operation_nw, active_dies: fits.min(i64::from(dies)) as u32 })
}

/// What works beside a die at most.
pub(super) struct Beside {
    /// Planes that work at once.
    pub planes: u32,
    /// What moves over the bus while the array reads, and while it programs.
    pub bus: Bus,
}

impl Beside {
    /// The power in nW of what works beside a die in this state.
    fn nw(&self, state: DieState, table: &PriceTable) -> i64 {
        let of = |extra: ExtraState| table.extra[extra as usize].nw;
        let planes = ExtraState::of_plane(state).map_or(0, |extra| of(extra) * i64::from(self.planes - 1));
        let bus = match state {
            DieState::Read if self.bus.cache_read => of(ExtraState::ReadBus),
            DieState::Program if self.bus.cache_program => of(ExtraState::ProgramBus),
            _ => 0,
        };
        planes + bus
    }
}

/// The budget in nW, by whichever key it is given.
fn asked(c: &mut Checker, raw: &raw::Controller, table: &PriceTable) -> Option<(&'static str, i64)> {
    let ma = c.optional(field!("controller", raw.power_budget_ma), 0.0..=MA_MAX);
    let watts = c.optional(field!("controller", raw.power_budget_w), 0.0..=W_MAX);
    match (ma, watts) {
        (None, None) => None,
        (Some(ma), None) => Some((KEY_MA, (ma * 1000.0).round() as i64 * i64::from(table.supply_mv))),
        (None, Some(watts)) => Some((KEY_W, (watts * 1e9).round() as i64)),
        (Some(ma), Some(watts)) => {
            let fault = c.fault(c.culprit(&[KEY_W, KEY_MA]), "power_budget_ma and power_budget_w exclude each other");
            let found = format!("power_budget_ma = {ma:?}, power_budget_w = {watts:?}");
            c.push(fault.found(found).expected("one of them"));
            None
        }
    }
}
