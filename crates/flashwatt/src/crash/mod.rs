//! Power cuts: what is lost, and what coming back costs.
//!
//! ```text
//! Witness (a probe) ── follows the spare areas and what the host was promised
//!    │ cut at any instant
//! Remains ── what is on flash then: pages, spare areas, torn pages, half-erased blocks
//!    │ power_on
//! Ssd ── scans, rebuilds its tables, recovers; then every page is compared with the promises
//! ```
//!
//! A cut does not end the run that is cut: the remains are copied, and the run goes on to the next cut.
//!
//! The rules of durability: without a write buffer, or with one that capacitors protect, a write is durable when it has completed.
//! With a volatile one, it is durable when it has completed with forced unit access (FUA), or when a flush has completed that came
//! after its completion. A version may come back
//! after a newer one was written only if the newer one was not durable. A trim is not recorded on flash unless the configuration says
//! so: until the page is written again, old data of that page may be seen, never another page's. A recorded trim is durable when a
//! flush has completed that came after its completion.

pub mod array;
mod backups;
mod bugs;
mod campaign;
mod capacitors;
mod current;
mod cuttable;
mod dump;
mod in_place;
mod in_run;
mod journal;
mod log;
mod map;
mod outcome;
mod power_on;
mod promises;
mod registers;
mod remains;
mod scans;
mod submitter;
mod trial;
mod witness;

pub use bugs::Bug;
pub use campaign::{Again, Crash, Cut, crash, cut_schema};
pub use cuttable::{Cuttable, PoweredDevice};
pub use dump::{Dump, Sizing};
pub(crate) use in_place::cut_in_place;
pub use in_run::run;
pub(crate) use in_run::{losses, summed_up};
pub use outcome::CutOutcome;
pub use promises::{Fate, Promises};
pub use remains::{Held, Recovered, Remains};
pub use scans::{Scans, come_back_by};
pub(crate) use trial::cuttable;
pub use trial::{Cost, InFiles, InHost, MapLoadCost, Powered, come_back, recover};
pub use witness::Witness;
