//! The energy of an SSD: its parts, the accounts of its operations, and their prices.
//!
//! * [`parts`]: the declaration by which the meter and the series know an SSD.
//! * [`DieState`], [`Phase`]: the states of a die, and those of the whole drive. [`ExtraState`]: what parts of a die do beside it.
//! * [`Ledger`]: nanoseconds and counts per (state, cause), and elapsed time by phase. Energies, means and all four idle
//!   accountings are priced from it after the run ([`price`]), with any [`PriceTable`].
//! * [`activity`]: what the drive did in each bin of a series.

pub mod activity;
pub mod array_times;
mod components;
pub mod die_state;
pub mod extra_state;
pub mod ledger;
pub mod parts;
pub mod price;
pub mod settings;
pub mod table;

pub use die_state::DieState;
pub use extra_state::ExtraState;
pub use ledger::{Ledger, Phase};
pub use table::PriceTable;
