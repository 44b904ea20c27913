//! Pricing: computes joules from a ledger and a price table. A pure function, so another table needs no new simulation.
//!
//! Energy equations of EnergySim, I in A, V in V, T in s: controller (1)–(3), DRAM (4)–(7), flash (8)–(13), bus (14).

use serde::{Deserialize, Serialize};

use super::components::{NAND_ERASE, NAND_PROGRAM, NAND_READ, NAND_TRANSFER};
use super::die_state::DieState;
use super::extra_state::ExtraState;
use super::ledger::{Ledger, Phase};
use super::settings::{DramRule, Energy, IdleAccounting};
use super::table::PriceTable;
use crate::operation::Cause;
use flashwatt_core::energy::Draw;

/// Whether this accounting charges flash, and all other components, in a phase.
fn charged(accounting: IdleAccounting, phase: Phase) -> (bool, bool) {
    match accounting {
        IdleAccounting::AlwaysOn => (true, true),
        IdleAccounting::FlashOff => (phase != Phase::Quiet, true),
        IdleAccounting::BusyOrLoading => {
            let is_busy = matches!(phase, Phase::Array | Phase::Transfer);
            (is_busy, is_busy)
        }
        IdleAccounting::BusyOnly => (phase == Phase::Array, phase == Phase::Array),
    }
}

/// Whether idle dies are charged in a phase, under the table's accounting.
pub fn charges_idle_dies(table: &PriceTable, phase: Phase) -> bool {
    charged(table.accounting, phase).0
}

/// Power of controller, DRAM and one idle die in a phase, under the table's accounting.
pub fn base(table: &PriceTable, phase: Phase) -> [Draw; 3] {
    let (flash_on, rest_on) = charged(table.accounting, phase);
    let active = usize::from(phase != Phase::Quiet);
    let dram_active = if table.dram_rule == DramRule::WithController { active } else { 0 };
    let when = |on: bool, draw: Draw| if on { draw } else { Draw::default() };
    [
        when(rest_on, table.controller[active]),
        when(rest_on, table.dram[dram_active]),
        when(flash_on, table.die[DieState::Idle as usize]),
    ]
}

/// Energy in J, by component.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Energies {
    pub total: f64,
    pub controller: ActiveIdle,
    pub dram: ActiveIdle,
    pub nand: NandEnergies,
    pub host_interface: f64,
}

/// Energy in J of a part with two states.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ActiveIdle {
    pub active: f64,
    pub idle: f64,
}

/// Energy in J of all dies. `transfer` includes the time that data waits for the bus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct NandEnergies {
    pub read: f64,
    pub program: f64,
    pub erase: f64,
    pub transfer: f64,
    pub idle: f64,
    pub total: f64,
}

/// Energy in J by cause: flash operations by their cause, everything else as `shared`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ByCause {
    pub host: f64,
    pub gc: f64,
    pub merge: f64,
    pub map: f64,
    pub wear: f64,
    #[serde(default, skip_serializing_if = "is_none")]
    pub backup: f64,
    #[serde(default, skip_serializing_if = "is_none")]
    pub journal: f64,
    #[serde(default, skip_serializing_if = "is_none")]
    pub pad: f64,
    #[serde(default, skip_serializing_if = "is_none")]
    pub fold: f64,
    pub shared: f64,
}

/// Energy in J of the accesses to the map: in DRAM, and on flash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapEnergy {
    /// Energy of DRAM, which is there for the map, without the share of page data that passes it.
    pub dram: f64,
    /// Flash operations of cause `map`.
    pub flash: f64,
}

/// All figures that follow from a ledger and a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Priced {
    pub energy_j: Energies,
    pub by_cause: ByCause,
    pub map_j: MapEnergy,
    /// Mean power in W.
    pub mean_w: f64,
    /// Mean current in mA, at the supply voltage of the table.
    pub mean_ma: f64,
    /// Total energy in J under each of [`IdleAccounting::ALL`].
    pub totals_j: [f64; IdleAccounting::ALL.len()],
}

/// Prices a ledger.
pub fn price(ledger: &Ledger, table: &PriceTable) -> Priced {
    let energy_j = energies(ledger, table);
    let seconds = ledger.total_ns() as f64 * 1e-9;
    let per_second = |x: f64| if seconds > 0.0 { x / seconds } else { 0.0 };
    let totals_j =
        IdleAccounting::ALL.map(|accounting| energies(ledger, &PriceTable { accounting, ..table.clone() }).total);
    let by_cause = by_cause(ledger, table, energy_j.total);
    Priced {
        map_j: MapEnergy { dram: map_dram_j(ledger, table, &energy_j.dram), flash: by_cause.map },
        by_cause,
        mean_w: per_second(energy_j.total),
        mean_ma: per_second(energy_j.total) * 1e6 / f64::from(table.supply_mv),
        totals_j,
        energy_j,
    }
}

/// Energy in J of the host's memory for the drive's map, if a bit's is known. It is the host's, and in no figure of the drive.
pub fn host_memory_j(ledger: &Ledger, energy: &Energy) -> Option<f64> {
    let bytes: u64 = ledger.host_memory_bytes.iter().sum();
    Some(bytes as f64 * 8.0 * energy.host_memory_pj_per_bit? * 1e-12)
}

fn energies(ledger: &Ledger, table: &PriceTable) -> Energies {
    let mut sum = ExactSum::default();
    let mut controller = ActiveIdle::default();
    let (mut dram_base, mut flash_base) = (0.0, 0.0);
    for phase in Phase::ALL {
        let ns = ledger.elapsed_ns[phase as usize];
        let [con, dram, die] = base(table, phase);
        let con = sum.add(con, ns);
        *(if phase == Phase::Quiet { &mut controller.idle } else { &mut controller.active }) += con;
        dram_base += sum.add(dram, ns);
        flash_base += sum.add(die * ledger.dies, ns);
    }
    let dram = dram_energies(ledger, table, dram_base, &mut sum);
    let nand = nand_energies(ledger, table, flash_base, &mut sum);
    let host_interface = sum.add(table.host_interface, ledger.host_interface_ns);
    Energies { total: sum.joules(), controller, dram, nand, host_interface }
}

/// DRAM energy: with the rule `with_controller` from the controller's phases, with `per_op` by equations (4)–(7).
/// With `per_op`, `base` is the idle power times the time that the accounting charges, which covers the operations: the
/// idle power during operations moves from idle to active.
fn dram_energies(ledger: &Ledger, table: &PriceTable, base: f64, sum: &mut ExactSum) -> ActiveIdle {
    let [idle_draw, active_draw] = table.dram;
    match table.dram_rule {
        DramRule::PerOp => {
            let more = sum.add(active_draw - idle_draw, ledger.dram_op_ns);
            let idle_of_ops = joules(i128::from(idle_draw.nw) * i128::from(ledger.dram_op_ns)).min(base);
            ActiveIdle { active: more + idle_of_ops, idle: base - idle_of_ops }
        }
        DramRule::WithController => {
            let (_, quiet_on) = charged(table.accounting, Phase::Quiet);
            let quiet_ns = if quiet_on { ledger.elapsed_ns[Phase::Quiet as usize] } else { 0 };
            let idle = joules(i128::from(idle_draw.nw) * i128::from(quiet_ns));
            ActiveIdle { active: base - idle, idle }
        }
    }
}

/// DRAM energy without that of page data: with the rule `per_op`, the map's share of the operations' time.
fn map_dram_j(ledger: &Ledger, table: &PriceTable, dram: &ActiveIdle) -> f64 {
    let map_share = match table.dram_rule {
        DramRule::PerOp if ledger.dram_op_ns > 0 => {
            ledger.map_accesses as f64 * table.map_access_ns as f64 / ledger.dram_op_ns as f64
        }
        DramRule::PerOp | DramRule::WithController => 1.0, // data adds nothing to DRAM's energy
    };
    dram.idle + dram.active * map_share
}

fn nand_energies(ledger: &Ledger, table: &PriceTable, base: f64, sum: &mut ExactSum) -> NandEnergies {
    let idle_draw = table.die[DieState::Idle as usize];
    // A die at work does not idle. Where idle dies are not charged, `base` holds nothing of it.
    let uncharged_ns = if charges_idle_dies(table, Phase::Transfer) { 0 } else { ledger.transfer_die_ns };
    sum.add(idle_draw, uncharged_ns);
    let idle_ns = i128::from(ledger.active_ns()) - i128::from(uncharged_ns);
    let idle = base - joules(i128::from(idle_draw.nw) * idle_ns);
    let mut of = |component: usize| -> f64 {
        let states = DieState::ALL.into_iter().filter(|state| state.component() == Some(component));
        let of_dies: f64 = states
            .map(|state| {
                let ns = ledger.state_ns(state);
                sum.add(table.die[state as usize] - idle_draw, ns); // `base` already contains the idle power
                joules(i128::from(table.die[state as usize].nw) * i128::from(ns))
            })
            .sum();
        let extra = ExtraState::ALL.into_iter().filter(|state| state.component() == component);
        of_dies + extra.map(|state| sum.add(table.extra[state as usize], ledger.extra_state_ns(state))).sum::<f64>()
    };
    let (read, program) = (of(NAND_READ), of(NAND_PROGRAM));
    let (erase, transfer) = (of(NAND_ERASE), of(NAND_TRANSFER));
    NandEnergies { read, program, erase, transfer, idle, total: read + program + erase + transfer + idle }
}

fn by_cause(ledger: &Ledger, table: &PriceTable, total: f64) -> ByCause {
    let of = |cause: Cause| -> f64 {
        let nw_ns = DieState::ALL.iter().map(|&state| {
            i128::from(table.die[state as usize].nw) * i128::from(ledger.die_ns[state as usize][cause as usize])
        });
        let of_extra = ExtraState::ALL.iter().map(|&state| {
            i128::from(table.extra[state as usize].nw) * i128::from(ledger.extra_ns[state as usize][cause as usize])
        });
        joules(nw_ns.chain(of_extra).sum())
    };
    let [host, gc, merge, map, wear, backup, journal, pad, fold] = Cause::ALL.map(of);
    let shared = total - host - gc - merge - map - wear - backup - journal - pad - fold;
    ByCause { host, gc, merge, map, wear, backup, journal, pad, fold, shared }
}

/// Whether a cause is none of this run's.
fn is_none(energy_j: &f64) -> bool {
    *energy_j == 0.0
}

/// The exact sum of power over time.
#[derive(Default)]
struct ExactSum {
    nw_ns: i128,
}

impl ExactSum {
    /// Adds a power over a time. Returns the energy in J.
    fn add(&mut self, draw: Draw, ns: u64) -> f64 {
        let nw_ns = i128::from(draw.nw) * i128::from(ns);
        self.nw_ns += nw_ns;
        joules(nw_ns)
    }

    fn joules(&self) -> f64 {
        joules(self.nw_ns)
    }
}

fn joules(nw_ns: i128) -> f64 {
    nw_ns as f64 * 1e-18
}
