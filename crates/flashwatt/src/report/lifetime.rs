//! How long the flash lasts at the wear of the measured window.

use serde::Serialize;

use super::counts::{Flash, Spread};

/// Seconds of a year of 365.25 days.
const YEAR_S: f64 = 31_557_600.0;
const DAY_S: f64 = 86_400.0;
/// Erases per block, on average, from which on their spread tells how uneven wear is.
const UNEVEN_FROM: f64 = 1.0;
/// A block with at least this many erases shows uneven wear; fewer may be chance.
const WORN_FROM: u32 = 10;

/// The life of the drive, from new, if the measured window repeats without a pause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lifetime {
    /// Program/erase cycles that a block endures (`device.nand.rated_cycles`).
    pub rated_cycles: Option<u32>,
    /// Program/erase cycles of the window per block: the greater of erases / blocks and pages programmed / pages.
    pub cycles_per_block: f64,
    /// Bytes that the host writes in a day, as a share of the drive's logical bytes.
    pub drive_writes_per_day: Option<f64>,
    /// Until the mean block has its rated cycles: wear is perfectly level.
    pub mean_wear: Option<Endurance>,
    /// Until the block that is worn most has its rated cycles, if the ratio of `wear.erase_count.max` to its mean stays. None
    /// before one erase per block or ten of that block: the ratio would say how short the run is.
    pub worst_block: Option<Endurance>,
    /// Why a figure is missing; none if none is.
    pub reason: Option<String>,
}

/// An endurance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Endurance {
    /// 10^12 bytes that the host can write; none if it wrote nothing.
    pub tbw: Option<f64>,
    /// Years of 365.25 days.
    pub years: f64,
}

/// What the endurance of a drive follows from.
pub(super) struct Worn<'a> {
    pub rated_cycles: Option<u32>,
    pub flash: &'a Flash,
    pub erase_count: &'a Spread,
    pub blocks: u64,
    pub pages_per_block: u32,
    pub logical_bytes: u64,
    /// Bytes that the drive accepted from the host in the window.
    pub host_bytes: u64,
    pub window_s: f64,
}

impl Lifetime {
    pub(super) fn new(worn: &Worn) -> Self {
        let Worn { rated_cycles, flash, erase_count, .. } = *worn;
        let blocks = worn.blocks as f64;
        let filled = flash.programs.total as f64 / f64::from(worn.pages_per_block);
        let cycles_per_block = filled.max(flash.erases.total as f64) / blocks;
        // A share of the windows that the rated cycles allow: 1 for wear that is level, less for the worst block.
        let after = |share: f64| {
            let windows = share * f64::from(rated_cycles?) / cycles_per_block;
            let tbw = (worn.host_bytes > 0).then_some(windows * worn.host_bytes as f64 * 1e-12);
            windows.is_finite().then(|| Endurance { tbw, years: windows * worn.window_s / YEAR_S })
        };
        let per_day = worn.host_bytes as f64 / worn.window_s * DAY_S / worn.logical_bytes as f64;
        Lifetime {
            rated_cycles,
            cycles_per_block,
            drive_writes_per_day: per_day.is_finite().then_some(per_day),
            mean_wear: after(1.0),
            worst_block: after(erase_count.mean / f64::from(erase_count.max)).filter(|_| is_telling(erase_count)),
            reason: reason(rated_cycles, cycles_per_block, erase_count),
        }
    }
}

/// Whether the spread of erases says how uneven wear is.
fn is_telling(erase_count: &Spread) -> bool {
    erase_count.mean >= UNEVEN_FROM || erase_count.max >= WORN_FROM
}

fn reason(rated_cycles: Option<u32>, cycles_per_block: f64, erase_count: &Spread) -> Option<String> {
    let reason = match rated_cycles {
        None => "device.nand.rated_cycles is not known: the preset has no figure, and the configuration gives none",
        Some(_) if cycles_per_block == 0.0 => "no page was programmed and no block erased: nothing wears",
        Some(_) if !is_telling(erase_count) => {
            "worst_block: less than one erase per block so far, too few to tell how uneven wear is: run longer, or begin \
             from an aged drive (run.precondition.snapshot)"
        }
        Some(_) => return None,
    };
    Some(reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::counts::Counts;
    use super::*;

    fn counts(total: u64) -> Counts {
        Counts { host: total, gc: 0, merge: 0, map: 0, wear: 0, backup: 0, journal: 0, pad: 0, fold: 0, total }
    }

    fn life(rated_cycles: Option<u32>, programs: u64, erases: u64, mean: f64) -> Lifetime {
        let flash = Flash {
            reads: counts(0),
            programs: counts(programs),
            erases: counts(erases),
            unwritten_reads: 0,
            write_amplification: None,
            rmw_factor: None,
            buffer_factor: None,
            pad_factor: None,
            fold_factor: None,
            gc_factor: None,
        };
        let erase_count = Spread { min: 0, max: 4, mean, stddev: 0.0 };
        Lifetime::new(&Worn {
            rated_cycles,
            flash: &flash,
            erase_count: &erase_count,
            blocks: 1_000,
            pages_per_block: 100,
            logical_bytes: 400_000_000,
            host_bytes: 100_000_000,
            window_s: 3_155.76,
        })
    }

    /// By hand: 1,000 blocks of 100 pages. 50,000 programs fill half of them, 400 were erased: half a cycle each, and the
    /// window wears more than its erases say. 3,000 rated cycles are 6,000 windows of 100 MB: 0.6 TB. 6,000 windows of
    /// 3,155.76 s are 0.6 years. The worst block has twice the mean of the erases: half of both. A quarter of the drive
    /// is written in a window, of which a day has 27.378.
    #[test]
    fn endurance_follows_from_cycles() {
        let found = life(Some(3_000), 50_000, 400, 2.0);
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
        close(found.cycles_per_block, 0.5);
        let (mean, worst) = (found.mean_wear.expect("known"), found.worst_block.expect("known"));
        close(mean.tbw.expect("written"), 0.6);
        close(mean.years, 0.6);
        close(worst.tbw.expect("written"), 0.3);
        close(worst.years, 0.3);
        close(found.drive_writes_per_day.expect("known"), 0.25 * 86_400.0 / 3_155.76);
        assert_eq!(found.reason, None);
        close(life(Some(3_000), 50_000, 2_000, 2.0).mean_wear.expect("known").years, 0.15);
    }

    #[test]
    fn a_missing_figure_has_a_reason() {
        let unknown = life(None, 50_000, 400, 2.0);
        assert!(unknown.mean_wear.is_none() && unknown.worst_block.is_none());
        assert!(unknown.reason.expect("a reason").contains("device.nand.rated_cycles"));
        let idle = life(Some(3_000), 0, 0, 2.0);
        assert!(idle.mean_wear.is_none() && idle.reason.expect("a reason").contains("nothing wears"));
        let fresh = life(Some(3_000), 50_000, 400, 0.9);
        assert!(fresh.mean_wear.is_some() && fresh.worst_block.is_none());
        assert!(fresh.reason.expect("a reason").contains("less than one erase per block"));
    }

    /// On average a block has 0.15 erases, which a random choice of blocks spreads over 0 to 4: ten of one block are no chance.
    #[test]
    fn few_erases_tell_of_uneven_wear_if_one_block_has_many() {
        let spread = |max| Spread { min: 0, max, mean: 0.15, stddev: 0.4 };
        assert_eq!([4, 9, 10, 183].map(|max| is_telling(&spread(max))), [false, false, true, true]);
    }
}
