//! A power cut of an array: each member comes back as a single drive does.

use super::hole::{After, InArray};
use super::{FollowedArray, Powered, Witness};
use crate::config::{Array, Config};
use crate::crash::dump::Dump;
use crate::crash::outcome::{CutOutcome, outcome};
use crate::crash::scans::come_back_by;
use crate::crash::trial::{Cost, MapLoadCost};
use crate::crash::{Held, Remains, Scans};
use flashwatt_base::error::Error;
use flashwatt_core::connector::Workload;
use flashwatt_devices::raid::layout::Piece;
use flashwatt_devices::raid::settings::Layout;

/// What a power cut leaves of an array, and what comes back from it.
pub struct ArrayCut {
    /// What was cut, and what came back: the sums of the members, and the time until the last of them is back.
    pub outcome: CutOutcome,
    /// What does not match.
    pub in_array: InArray,
    /// What a scrub writes anew.
    pub repairs: Vec<Piece>,
    /// By member what it holds of each unit; none of a member that has failed.
    pub held: Vec<Option<Vec<Held>>>,
    pub(super) remains: Vec<Option<Remains>>,
    pub(super) layout: Layout,
}

/// The scans of the members: equal drives share one.
pub struct ScansOfMembers {
    scans: Vec<Scans>,
    /// By member, which of them is its own.
    of_member: Vec<usize>,
}

impl ScansOfMembers {
    /// Of an array; of a single drive there are none.
    pub fn new(config: &Config) -> Self {
        let drives: Vec<_> = config.drive.array().into_iter().flat_map(Array::places).collect();
        let of_member =
            drives.iter().map(|drive| drives.iter().position(|other| other == drive).unwrap_or(0)).collect();
        ScansOfMembers { scans: drives.iter().map(|_| Scans::default()).collect(), of_member }
    }
}

impl ArrayCut {
    /// Whether the array has redundancy that a scrub can check.
    pub fn can_be_scrubbed(&self) -> bool {
        self.layout.level.is_redundant() && self.remains.iter().all(Option::is_some)
    }
}

impl<W: Workload> Powered<W, FollowedArray> {
    /// Cuts the power of all members at this instant, and lets each come back. The run goes on as if there were no cut.
    ///
    /// # Errors
    /// If a recovery does not end before the end of simulated time.
    pub fn cut_array(&self, scans: &mut ScansOfMembers) -> Result<ArrayCut, Error> {
        let array = self.sim.device();
        let now = self.now_ns();
        let remains: Vec<Option<Remains>> =
            array.raid.devices().map(|drive| drive.map(|drive| Witness::cut(drive, now))).collect();
        let (mut backs, mut held) = (Vec::new(), Vec::new());
        for (place, remains) in remains.iter().enumerate() {
            let Some(remains) = remains else {
                held.push(None);
                continue;
            };
            let (cost, back) = come_back_by(remains, &mut scans.scans[scans.of_member[place]])?;
            held.push(Some(remains.held(back.drive())));
            backs.push((outcome(remains, cost, &back)?, back));
        }
        let recovery_ns = backs.iter().map(|(one, _)| one.cost.recovery_ns).max().unwrap_or(0);
        let mut outcomes = Vec::new();
        for (mut one, mut back) in backs {
            back.advance(recovery_ns)?; // the last member is not back yet
            one.cost.energy_j = back.energy_j();
            outcomes.push(one);
        }
        let (in_array, repairs) = After::new(&array.contents, &held).check();
        let outcome = sum(&outcomes, recovery_ns);
        Ok(ArrayCut { outcome, in_array, repairs, held, remains, layout: array.layout().clone() })
    }
}

/// The sums of the members. Their time is that of the last, and a capacitance the greatest.
fn sum(outcomes: &[CutOutcome], recovery_ns: u64) -> CutOutcome {
    let of = |figure: fn(&CutOutcome) -> u32| outcomes.iter().map(figure).sum();
    let cost = |figure: fn(&Cost) -> u64| outcomes.iter().map(|one| figure(&one.cost)).sum();
    let dumps: Vec<Dump> = outcomes.iter().filter_map(|one| one.dump).collect();
    let dump = (!dumps.is_empty()).then(|| Dump {
        dump_pages: dumps.iter().map(|dump| dump.dump_pages).sum(),
        dump_ns: dumps.iter().map(|dump| dump.dump_ns).max().unwrap_or(0),
        dump_energy_j: dumps.iter().map(|dump| dump.dump_energy_j).sum(),
        capacitance_f: dumps.iter().map(|dump| dump.capacitance_f).fold(0.0, f64::max),
    });
    let loads: Vec<MapLoadCost> = outcomes.iter().filter_map(|one| one.cost.map_load).collect();
    let map_load = (!loads.is_empty()).then(|| MapLoadCost {
        map_load_ns: loads.iter().map(|load| load.map_load_ns).max().unwrap_or(0),
        map_load_energy_j: loads.iter().map(|load| load.map_load_energy_j).sum(),
        map_load_reads: loads.iter().map(|load| load.map_load_reads).sum(),
    });
    CutOutcome {
        torn_pages: of(|one| one.torn_pages),
        spoilt_pages: of(|one| one.spoilt_pages),
        half_erased_blocks: of(|one| one.half_erased_blocks),
        kept_units: of(|one| one.kept_units),
        rolled_back_units: of(|one| one.rolled_back_units),
        pair_lost_units: of(|one| one.pair_lost_units),
        lost_units: of(|one| one.lost_units),
        cost: Cost {
            recovery_ns,
            energy_j: outcomes.iter().map(|one| one.cost.energy_j).sum(),
            spare_reads: cost(|one| one.spare_reads),
            reads: cost(|one| one.reads),
            programs: cost(|one| one.programs),
            erases: cost(|one| one.erases),
            scan_memory_bytes: cost(|one| one.scan_memory_bytes),
            map_load,
        },
        dump,
    }
}
