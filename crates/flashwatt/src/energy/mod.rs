//! Energy: integer accounts during the run, priced after it.
//!
//! * [`Parts`]: the components of a device, the states of its parts, and the power of each state.
//! * [`Ledger`]: nanoseconds and counts per (state, cause), and elapsed time by phase. Energies, means and all four idle
//!   accountings are priced from it after the run ([`price`]), with any table.
//! * [`Meter`]: the device's current and power at every change, for the figures that depend on overlaps: peaks
//!   and windows. Its integral is a second path to the total, which must agree with the ledger to 1e-9.
//! * [`Series`]: power over time on request: in bins, or every edge in a window.

pub mod accounts;
pub mod activity;
pub mod array_times;
pub mod bins;
mod changes;
pub mod edges;
pub mod ledger;
pub mod mean_window;
pub mod meter;
pub mod parts;
pub mod price;
pub mod series;
pub mod settings;
pub mod ssd;
pub mod table;
pub mod window;

pub use accounts::Accounts;
pub use ledger::{Ledger, Phase};
pub use meter::Meter;
pub use parts::Parts;
pub use series::Series;
pub use table::{DieState, PriceTable};
