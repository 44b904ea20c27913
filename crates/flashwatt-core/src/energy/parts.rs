//! The energy model of a device: components, the states of their parts, and the power of each state.
//!
//! A device declares its [`Parts`] once. Meter, series and edges use only this declaration, so a new state or component
//! is one line of it.
//!
//! Power is linear in the number of parts in each state. A state may therefore add to one component and take from another: a
//! busy die draws its own power as `nand_program`, and no longer that of an idle die as `nand_idle`.

use serde::{Serialize, Serializer};

use super::draw::Draw;
use super::window::Figures;
use flashwatt_base::units::Nanos;

/// The largest number of states of a device, over all of its parts: a number has five bits. The number after the last one is
/// [`StateId::NONE`].
pub const STATES_MAX: usize = 31;
/// States and [`StateId::NONE`].
pub(super) const NUMBERS: usize = STATES_MAX + 1;

/// The number of a state, in the order of declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateId(u8);

impl StateId {
    /// In no state: for a part that appears or vanishes.
    pub const NONE: StateId = StateId(STATES_MAX as u8);

    /// The `number`th state of a declaration, counted from 0.
    ///
    /// # Panics
    /// If no device can have that many states.
    pub const fn new(number: usize) -> Self {
        assert!(number < STATES_MAX, "a device has at most STATES_MAX states");
        StateId(number as u8)
    }

    /// As [`Self::new`], for a number that the device knows to be one of its own. Only debug builds check it.
    #[inline(always)]
    pub const fn numbered(number: usize) -> Self {
        debug_assert!(number < STATES_MAX);
        StateId(number as u8)
    }

    /// Its number.
    #[inline(always)]
    pub(super) const fn number(self) -> usize {
        self.0 as usize % NUMBERS // it is less: said again so that the compiler omits the check of each index
    }
}

/// A value for each state. The last entry belongs to [`StateId::NONE`] and has no meaning.
pub(super) type PerState<T> = [T; NUMBERS];

/// The power that one part in a state adds to a component.
#[derive(Clone, Copy, Debug)]
pub struct PowerShare {
    /// The component's place in the declaration.
    pub component: usize,
    /// Added power in nW; negative for power that the part stops drawing elsewhere.
    pub draw: Draw,
}

/// The declaration of a device's parts.
#[derive(Clone, Debug)]
pub struct Parts {
    components: &'static [&'static str],
    states: Vec<Vec<PowerShare>>,
    supply_mv: u32,
}

impl Parts {
    /// A device with these components and no states yet. Currents are stated at `supply_mv`, a voltage in mV.
    pub fn new(components: &'static [&'static str], supply_mv: u32) -> Self {
        Parts { components, states: Vec::new(), supply_mv }
    }

    /// Declares the next state, by the power of one part in it.
    ///
    /// # Panics
    /// If the device has [`STATES_MAX`] states already.
    pub fn state(&mut self, shares: &[PowerShare]) -> StateId {
        let id = StateId::new(self.states.len());
        self.states.push(shares.to_vec());
        id
    }

    /// Number of states declared.
    pub(super) fn states(&self) -> usize {
        self.states.len()
    }

    /// Total power of one part in a state.
    pub fn draw(&self, state: StateId) -> Draw {
        let shares = self.states.get(state.number()).map_or(&[][..], Vec::as_slice);
        shares.iter().fold(Draw::default(), |sum, share| sum + share.draw)
    }

    /// Total power by a state's number.
    pub(super) fn draws(&self) -> PerState<Draw> {
        std::array::from_fn(
            |number| if number < STATES_MAX { self.draw(StateId::new(number)) } else { Draw::default() },
        )
    }

    /// Power in nW by component for a number of parts in each state; energy in nW·ns for part-nanoseconds.
    pub(super) fn drawn(&self, amounts: impl IntoIterator<Item = u64>) -> Vec<i128> {
        let mut sums = vec![0; self.components.len()];
        for (shares, amount) in self.states.iter().zip(amounts) {
            for share in shares {
                sums[share.component] += i128::from(amount) * i128::from(share.draw.nw);
            }
        }
        sums
    }

    /// Energy in J of part-nanoseconds in each state.
    pub(super) fn energies(&self, times: &PartTimes) -> ComponentEnergies {
        let joules = |nw_ns: i128| nw_ns as f64 * 1e-18;
        let sums = self.drawn(times.0);
        let total = joules(sums.iter().sum());
        ComponentEnergies {
            total,
            components: self.components.iter().copied().zip(sums.into_iter().map(joules)).collect(),
        }
    }

    /// The voltage in mV that currents are stated at.
    pub fn supply_mv(&self) -> u32 {
        self.supply_mv
    }

    /// The device's current in mA at a power of `nw`.
    pub(super) fn ma(&self, nw: i128) -> f64 {
        nw as f64 / f64::from(self.supply_mv) / 1e3
    }

    /// Empty columns, one for each component.
    pub(super) fn columns(&self) -> Columns {
        Columns(self.components.iter().map(|&name| (name, Vec::new())).collect())
    }
}

/// An amount for each state: number of parts, or part-nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartTimes(PerState<u64>);

impl PartTimes {
    pub(super) fn add(&mut self, state: StateId, amount: u64) {
        self.0[state.number()] = self.0[state.number()].wrapping_add(amount);
    }

    pub(super) fn take(&mut self, state: StateId, amount: u64) {
        self.add(state, amount.wrapping_neg());
    }

    /// Adds `ns` times the number of parts in each state, modulo 2^64.
    pub(super) fn add_over(&mut self, counts: &PartTimes, ns: Nanos) {
        for (sum, count) in self.0[..STATES_MAX].iter_mut().zip(&counts.0) {
            *sum = sum.wrapping_add(count.wrapping_mul(ns));
        }
        self.0[STATES_MAX] = 0;
    }

    /// The reverse of [`Self::add_over`].
    pub(super) fn take_over(&mut self, counts: &PartTimes, ns: Nanos) {
        self.add_over(counts, ns.wrapping_neg());
    }

    /// Part-nanoseconds in a state.
    pub fn ns(&self, state: StateId) -> u64 {
        self.0[state.number()]
    }
}

impl Figures for PartTimes {
    fn plus(&self, next: &Self) -> Self {
        PartTimes(std::array::from_fn(|state| self.0[state].wrapping_add(next.0[state])))
    }

    fn operations(&self) -> u64 {
        0
    }
}

/// Energy in J of a device, by component in the order of declaration. Serialized as a table that begins with `total`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComponentEnergies {
    /// The sum.
    pub total: f64,
    /// Each component's share.
    pub components: Vec<(&'static str, f64)>,
}

impl Serialize for ComponentEnergies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(std::iter::once(&("total", self.total)).chain(&self.components).map(|(k, v)| (k, v)))
    }
}

impl ComponentEnergies {
    /// The sum of the components whose names end in this way; 0 without one.
    pub fn ending_in(&self, end: &str) -> f64 {
        let found = self.components.iter().filter(|(name, _)| name.ends_with(end));
        found.fold(0.0, |sum, (_, joules)| sum + joules) // `sum` begins with −0
    }
}

/// Values over time, a column for each component in the order of declaration. Serialized as a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns(Vec<(&'static str, Vec<f64>)>);

impl Columns {
    /// These columns.
    pub(super) fn of(columns: Vec<(&'static str, Vec<f64>)>) -> Self {
        Columns(columns)
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: &[i128], value: impl Fn(i128) -> f64) {
        for ((_, values), &one) in self.0.iter_mut().zip(row) {
            values.push(value(one));
        }
    }
}

impl Columns {
    /// The sum of each row.
    pub(super) fn sums(&self) -> impl Iterator<Item = f64> {
        let rows = self.0.first().map_or(0, |(_, values)| values.len());
        (0..rows).map(|row| self.0.iter().map(|(_, values)| values[row]).sum())
    }
}

impl std::ops::Index<&str> for Columns {
    type Output = [f64];

    /// The column of a component. Panics if the device has no such component.
    fn index(&self, component: &str) -> &[f64] {
        match self.0.iter().find(|(name, _)| *name == component) {
            Some((_, values)) => values,
            None => panic!("no component {component}"),
        }
    }
}

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, values)| (name, values)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "at most STATES_MAX states")]
    fn a_state_beyond_the_last_is_refused() {
        let mut parts = Parts::new(&["all"], 5_000);
        (0..=STATES_MAX).for_each(|_| {
            parts.state(&[]);
        });
    }

    #[test]
    fn a_state_may_take_from_one_component_what_it_adds_to_another() {
        let nw = |nw| Draw { nw };
        let mut parts = Parts::new(&["idle", "busy"], 2_000);
        let on = parts.state(&[PowerShare { component: 0, draw: nw(50) }]);
        let busy =
            parts.state(&[PowerShare { component: 1, draw: nw(70) }, PowerShare { component: 0, draw: nw(-20) }]);
        assert_eq!((parts.draw(on), parts.draw(busy), parts.draw(StateId::NONE)), (nw(50), nw(50), nw(0)));
        let mut amounts = [0; NUMBERS];
        (amounts[on.number()], amounts[busy.number()]) = (1, 2);
        let row = parts.drawn(amounts);
        assert_eq!(row, [10, 140]);
        let mut columns = parts.columns();
        columns.push(&row, |nw| nw as f64);
        assert_eq!(columns["busy"], [140.0]);
        assert_eq!(serde_json::to_string(&columns).expect("numbers"), r#"{"idle":[10.0],"busy":[140.0]}"#);
        assert_eq!(parts.ma(8_000_000), 4.0, "8 mW at 2 V");
    }
}
