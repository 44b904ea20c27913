//! The power budget: how many dies may work at a time so that the drive's current stays within it.

use super::super::check::{Checker, field};
use super::super::{Energy, PowerBudget, raw};
use crate::energy::{DieState, Table};

/// No budget is larger: 1000 A.
const MA_MAX: f64 = 1e6;

/// k = ⌊(I_budget − I_base) / (I_op − I_idle)⌋ dies (SPEC A21), of a drive with `dies`. The base is what everything draws
/// at the most while no die works: the active controller and DRAM, the host interface, all dies idle. An operation draws
/// as much as the hungriest of its phases.
pub(super) fn power_budget(c: &mut Checker, raw: &raw::Controller, energy: &Energy, dies: u32) -> Option<PowerBudget> {
    const KEY: &str = "controller.power_budget_ma";
    let budget_ua = (c.optional(field!("controller", raw.power_budget_ma), 0.0..=MA_MAX)? * 1000.0).round() as i64;
    let table = Table::new(energy);
    let idle = table.die[DieState::Idle as usize];
    let base_ua = (table.controller[1] + table.dram[1] + table.host_interface + idle * dies).ua;
    let operation_ua = table.die.iter().map(|&draw| (draw - idle).ua).max().unwrap_or(0);
    if c.clean("controller") && c.clean("energy") && c.clean("device") && budget_ua < base_ua + operation_ua {
        let ma = |ua: i64| ua as f64 / 1000.0;
        let expected = format!(
            "at least {:?} mA: {:?} mA while no die works, and {:?} mA for one operation",
            ma(base_ua + operation_ua),
            ma(base_ua),
            ma(operation_ua)
        );
        let fault = c.fault(KEY, "no operation fits into the power budget").found(format!("{:?} mA", ma(budget_ua)));
        c.push(fault.expected(expected));
    }
    let fits = (budget_ua - base_ua).max(0).checked_div(operation_ua).unwrap_or(i64::from(dies));
    Some(PowerBudget { budget_ua, base_ua, operation_ua, active_dies: fits.min(i64::from(dies)) as u32 })
}
