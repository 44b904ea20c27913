//! Operations whose ends are not known when they start: the ledger, priced, and the meter come to the same energy.

use proptest::prelude::*;

use super::*;
use crate::energy::price::{Priced, price};
use crate::energy::settings::{Dram, EnergyMode, HostInterface, IdleAccounting, NandEnergy, Part};
use crate::observe::probe::Recording;

const DIES: u32 = 3;
const PAGE_BYTES: u32 = 16_384;

/// Currents that all differ, at 1 V: 1 mA is 10⁶ nW.
fn energy(idle_accounting: IdleAccounting) -> Energy {
    Energy {
        mode: EnergyMode::Component,
        idle_accounting,
        dram_rule: DramRule::PerOp,
        controller: Part { active_ua: 90_000, idle_ua: 40_000, millivolts: 1_000 },
        dram: Dram {
            part: Part { active_ua: 70_000, idle_ua: 30_000, millivolts: 1_000 },
            map_access_ns: 2,
            page_data_ns: 3,
        },
        nand: NandEnergy {
            read_ua: 25_000,
            program_ua: 30_000,
            erase_ua: 35_000,
            transfer_ua: Some(7_000),
            transfer: None,
            slc_program_ua: Some(22_000),
            extra_plane_read_ua: 4_000,
            extra_plane_program_ua: 5_000,
            extra_plane_erase_ua: 6_000,
            slc_extra_plane_program_ua: Some(3_000),
            idle_ua: 2_000,
            millivolts: 1_000,
        },
        host_interface: HostInterface {
            active_ua: 0,
            millivolts: 1_000,
            bandwidth_mb_s: 1_000.0,
            charged_data: ChargedData::HostBytes,
        },
        host_memory_pj_per_bit: None,
    }
}

/// A part that works beside its die: its state, the number of such parts, and the time since which it does.
type Beside = (ExtraState, u32, Nanos);

/// What a die does, and since when.
#[derive(Clone, Copy, Default)]
struct Doing {
    /// Its state in an operation; none while it idles.
    state: Option<DieState>,
    since: Nanos,
    planes: Option<Beside>,
    bus: Option<Beside>,
    /// The state that it will go to, the further planes from then on, and the time: told already.
    ahead: Option<(DieState, u32, Nanos)>,
}

/// A drive that does what it is told, and books what ends.
struct Bench {
    accounts: SsdAccounts<Recording>,
    table: PriceTable,
    dies: [Doing; DIES as usize],
}

impl Bench {
    fn new(accounting: IdleAccounting) -> Self {
        let energy = energy(accounting);
        let accounts = SsdAccounts::new(&energy, PAGE_BYTES, DIES, None, Recording);
        Bench { accounts, table: PriceTable::new(&energy), dies: Default::default() }
    }

    fn book_state(&mut self, die: usize, now: Nanos) {
        let Doing { state, since, .. } = self.dies[die];
        if let Some(state) = state {
            let ns = self.accounts.in_window_ns(since, now);
            self.accounts.book(state, Cause::Host, ns);
        }
    }

    fn book_beside(&mut self, beside: Option<Beside>, now: Nanos) {
        if let Some((state, parts, since)) = beside {
            let ns = self.accounts.in_window_ns(since, now);
            self.accounts.book_extra(state, Cause::Gc, ns * u64::from(parts));
        }
    }

    /// A die changes its state now; none: it idles. Further planes work with its array.
    fn go(&mut self, die: usize, to: Option<DieState>, planes: u32) {
        let now = self.accounts.now();
        self.book_state(die, now);
        let doing = self.dies[die];
        let is_array = |state: Option<DieState>| state.is_some_and(DieState::is_of_array);
        if let Some((state, parts, _)) = doing.planes {
            self.book_beside(doing.planes, now);
            self.accounts.extra(now, Some(state), None, parts);
        }
        if is_array(doing.state) {
            self.accounts.array_ended(now);
        }
        match (doing.state, to) {
            (None, Some(to)) => self.accounts.die_begins(now, to),
            (Some(from), Some(to)) => self.accounts.die_at(now, from, to),
            (Some(from), None) => self.accounts.die_ends(now, from),
            (None, None) => {}
        }
        if is_array(to) {
            self.accounts.array_begins(now);
        }
        let plane = to.and_then(ExtraState::of_plane).filter(|_| planes > 0);
        self.accounts.extra(now, None, plane, if plane.is_some() { planes } else { 0 });
        let planes = plane.map(|state| (state, planes, now));
        self.dies[die] = Doing { state: to, since: now, planes, bus: doing.bus, ahead: None };
    }

    /// A die takes data now, and programs it on several planes after some time.
    fn load(&mut self, die: usize, ns: Nanos, to: DieState, planes: u32) {
        let (now, at) = (self.accounts.now(), self.accounts.now() + ns);
        self.go(die, Some(DieState::ProgramBus), 0);
        self.accounts.die_at(at, DieState::ProgramBus, to);
        self.accounts.array_begins(at);
        self.accounts.extra(at, None, ExtraState::of_plane(to), planes);
        self.dies[die].ahead = Some((to, planes, at));
        self.arrive(now);
    }

    /// Passes time up to `now`.
    fn pass(&mut self, now: Nanos) {
        self.accounts.pass_time(now);
        self.arrive(now);
    }

    /// Books what dies have done until they came to a state that was told ahead.
    fn arrive(&mut self, now: Nanos) {
        for die in 0..DIES as usize {
            let Some((to, planes, at)) = self.dies[die].ahead.filter(|&(.., at)| at <= now) else { continue };
            self.book_state(die, at);
            let planes = ExtraState::of_plane(to).filter(|_| planes > 0).map(|state| (state, planes, at));
            self.dies[die] = Doing { state: Some(to), since: at, planes, bus: None, ahead: None };
        }
    }

    /// The bus of a die begins or ends to move data beside its array.
    fn bus(&mut self, die: usize, to: Option<ExtraState>) {
        let now = self.accounts.now();
        let from = self.dies[die].bus;
        self.book_beside(from, now);
        self.accounts.extra(now, from.map(|(state, ..)| state), to, 1);
        self.dies[die].bus = to.map(|state| (state, 1, now));
    }

    /// Ends the window, and begins another one. Returns the priced ledger and the meter's energy in J.
    fn window(&mut self, now: Nanos) -> (Priced, f64) {
        self.pass(now);
        for die in 0..DIES as usize {
            self.book_state(die, now);
            self.book_beside(self.dies[die].planes, now);
            self.book_beside(self.dies[die].bus, now);
        }
        let window = self.accounts.close(now, 0, false);
        self.accounts.restart(now, false);
        let ledger = &window.figures.ledger;
        let by_count: u64 = (0..).zip(&ledger.busy_dies_ns).map(|(dies, ns)| dies * ns).sum();
        assert_eq!(ledger.active_ns(), by_count, "die time: no part beside a die counts");
        assert_eq!(ledger.total_ns(), window.elapsed_ns());
        (price(ledger, &self.table), window.reading.expect("read at each window's end").energy_j)
    }
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{what}: {found}, expected {expected}");
}

/// A row of two pages on two planes, with data of the next row beside its array; then a program in single-level mode that is suspended for
/// a read of four planes. All by hand.
#[test]
fn a_row_and_a_suspended_program_by_hand() {
    use DieState::{ProgramBus, Read, ReadBus, SlcProgram, Suspended};
    // Of a total of 100 ns: die 0 works for all of it; its array from 20 to 50, 60 to 70, 76 to 86 and 92 to 100.
    let (array_ns, busy_ns) = (30 + 10 + 10 + 8, 100);
    for accounting in IdleAccounting::ALL {
        let mut bench = Bench::new(accounting);
        let at = |now: Nanos, bench: &mut Bench, to: Option<DieState>, planes: u32| {
            bench.accounts.pass_time(now);
            bench.go(0, to, planes);
        };
        at(0, &mut bench, Some(ProgramBus), 0);
        at(20, &mut bench, Some(DieState::Program), 1);
        bench.accounts.pass_time(30);
        bench.bus(0, Some(ExtraState::ProgramBus));
        bench.accounts.pass_time(40);
        bench.bus(0, None);
        at(50, &mut bench, Some(ProgramBus), 0);
        at(60, &mut bench, Some(SlcProgram), 2);
        at(70, &mut bench, Some(Suspended), 0);
        at(75, &mut bench, Some(ReadBus), 0);
        at(76, &mut bench, Some(Read), 3);
        at(86, &mut bench, Some(ReadBus), 0);
        at(90, &mut bench, Some(Suspended), 0);
        at(92, &mut bench, Some(SlcProgram), 2);
        at(100, &mut bench, None, 0);
        let (priced, integral_j) = bench.window(100);
        let e = &priced.energy_j;
        let mj = 1e-12; // mA · V · ns
        assert_close(e.nand.program, (30.0 * (30.0 + 5.0) + 18.0 * (22.0 + 2.0 * 3.0)) * mj, "programs");
        assert_close(e.nand.read, 10.0 * (25.0 + 3.0 * 4.0) * mj, "the read");
        let transfer = 35.0 * 7.0 + 7.0 * 2.0 + 10.0 * (7.0 - 2.0);
        assert_close(e.nand.transfer, transfer * mj, "35 ns of the bus, 7 ns suspended, 10 ns beside the array");
        let flash_ns = if accounting == IdleAccounting::BusyOnly { array_ns } else { busy_ns };
        assert_close(e.nand.idle, 2.0 * 2.0 * f64::from(flash_ns) * mj, "the two other dies");
        assert_close(e.total, integral_j, "the meter");
    }
}

/// What may happen next to a die.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Go(usize, Option<DieState>, u32),
    Load(usize, Nanos, DieState, u32),
    Bus(usize, bool),
    Window,
}

fn turn() -> impl Strategy<Value = Turn> {
    let die = 0..DIES as usize;
    let state = prop::sample::select(DieState::ALL.to_vec()).prop_map(|to| (to != DieState::Idle).then_some(to));
    prop_oneof![
        12 => (die.clone(), state, 0..4u32).prop_map(|(die, to, planes)| Turn::Go(die, to, planes)),
        5 => (die.clone(), 0..4_000u64, any::<bool>(), 0..4u32).prop_map(|(die, ns, slc, planes)| {
            Turn::Load(die, ns, if slc { DieState::SlcProgram } else { DieState::Program }, planes)
        }),
        3 => (die, any::<bool>()).prop_map(|(die, reads)| Turn::Bus(die, reads)),
        1 => Just(Turn::Window),
    ]
}

proptest! {
    /// Dies that go from any state to any other, with planes and buses beside them, under each accounting, over several windows.
    #[test]
    fn the_ledger_and_the_meter_agree(
        turns in prop::collection::vec((0..3_000u64, turn()), 1..80),
        accounting in prop::sample::select(IdleAccounting::ALL.to_vec()),
    ) {
        let (mut bench, mut now) = (Bench::new(accounting), 0);
        for (passed, turn) in turns.into_iter().chain([(7, Turn::Window)]) {
            now += passed;
            bench.pass(now);
            match turn {
                Turn::Go(die, ..) | Turn::Load(die, ..) | Turn::Bus(die, _) if bench.dies[die].ahead.is_some() => {}
                Turn::Go(die, to, planes) => {
                    bench.bus(die, None);
                    bench.go(die, to, planes);
                }
                Turn::Load(die, ns, to, planes) => {
                    bench.bus(die, None);
                    bench.load(die, ns, to, planes);
                }
                Turn::Bus(die, reads) => {
                    let is_array = bench.dies[die].state.is_some_and(DieState::is_of_array);
                    let bus = if reads { ExtraState::ReadBus } else { ExtraState::ProgramBus };
                    let to = (is_array && bench.dies[die].bus.is_none()).then_some(bus);
                    bench.bus(die, to);
                }
                Turn::Window => {
                    let (priced, integral_j) = bench.window(now);
                    let total = priced.energy_j.total;
                    prop_assert!((total - integral_j).abs() <= 1e-9 * integral_j.max(total) + 1e-15, "{total}, {integral_j}");
                    prop_assert!(priced.by_cause.shared >= -1e-9 * total - 1e-15);
                }
            }
        }
    }
}
