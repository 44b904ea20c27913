//! Energy: integer accounts during the run, priced after it.
//!
//! Nothing here knows what a device is: it declares its parts, and what else it records beside its power is its own
//! ([`device_rows::DeviceRows`]).
//!
//! * [`Parts`]: the components of a device, the states of its parts, and the power of each state.
//! * [`Accounts`]: time by state, which is priced after the run. It is all that a simple device needs.
//! * [`Meter`]: the device's current and power at every change, for the figures that depend on overlaps: peaks
//!   and windows. Its integral is a second path to the total, which must agree with the priced accounts to 1e-9.
//! * [`Series`]: power over time on request: in bins, or every edge in a window.

pub mod accounts;
pub mod bins;
mod changes;
pub mod device_rows;
pub mod draw;
pub mod edges;
pub mod mean_window;
pub mod meter;
pub mod parts;
pub mod series;
pub mod window;

pub use accounts::Accounts;
pub use draw::Draw;
pub use meter::Meter;
pub use parts::Parts;
pub use series::Series;
