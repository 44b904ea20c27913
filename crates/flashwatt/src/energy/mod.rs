//! Where the joules go: integer books kept while the run goes on, priced after it.
//!
//! * [`Parts`]: what a device is made of, the states of its parts and the power of each state.
//! * [`Ledger`]: nanoseconds and counts per (state, cause), and elapsed time by phase. Energies, means and all three idle
//!   accountings are priced from it after the run ([`price`]), with any table.
//! * [`Meter`]: the drive's current and power as they change, for what depends on overlaps: peaks and windows. Its integral
//!   is a second path to the total, which must agree with the first to 1e-9.
//! * [`Series`]: the same over time when asked for: in bins, or every edge in a window.

pub mod accounts;
pub mod bins;
pub mod edges;
pub mod ledger;
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
