//! Static wear levelling by swapping (EnergySim, section 4.1): the data of the coldest block moves into a victim whose
//! erases are far above the mean (15 % by default). The coldest block is the one erased longest ago of those with fewer
//! erases than the victim.

use super::{Policy, Wear, WearPolicy};
use crate::blocks::BlockView;
use flashwatt_base::units::BlockId;

/// The registry line.
pub const ENTRY: Policy = Policy {
    name: "static_swap",
    doc: "as dynamic, and a victim worn far above the mean is swapped with the coldest block (EnergySim 4.1)",
    params: &[],
    build: |config: &Wear| Box::new(StaticSwap { ratio: config.ratio, min_gap: f64::from(config.min_gap) }),
};

struct StaticSwap {
    ratio: f64,
    /// Least excess over the mean, in erases. On a young drive 15 % of the mean is less than one erase, so that without
    /// this bound every victim worn above the mean would be swapped.
    min_gap: f64,
}

impl WearPolicy for StaticSwap {
    fn least_worn_first(&self) -> bool {
        true
    }

    fn swap(&self, victim: BlockId, view: &BlockView) -> Option<BlockId> {
        let (worn, mean) = (f64::from(view.erases(victim)), view.mean_erases());
        if worn <= self.ratio * mean || worn - mean < self.min_gap {
            return None;
        }
        let cold = view.closed().filter(|&b| b != victim && view.erases(b) < view.erases(victim));
        cold.max_by_key(|&b| view.since_erase(b))
    }
}
