//! What helps a drive on which there is too little room for collection.

use super::{FlashShape, GivenSize, Needs};

/// Pages of a block below which no drive is proposed.
const PAGES_MIN: u32 = 8;

/// The remedies in words: smaller blocks of the same flash, a larger share of a scaled drive, more spare flash.
pub(super) fn remedies(given: &GivenSize, geometry: &FlashShape, needs: Needs, scaled: bool) -> String {
    let pages = given.most_pages_per_block(geometry, needs).filter(|_| !scaled);
    let pages = pages.map(|pages| format!("device.pages_per_block = {pages} will do"));
    let scale = scaled.then(|| "a larger device.scale leaves a die more blocks".to_string());
    let ratio = given.least_op_ratio(geometry, needs);
    let ratio = ratio.map(|ratio| format!("device.op_ratio = {ratio} is the least that will do"));
    let found: Vec<_> = [pages, scale, ratio].into_iter().flatten().collect();
    if found.is_empty() {
        return "no over-provisioning will do: a die needs more blocks".to_string();
    }
    found.join("; or ")
}

impl GivenSize {
    /// The most pages of a block, of halves of what there are, with which there is room in the same flash; none if the number
    /// of blocks is given or no block is small enough.
    fn most_pages_per_block(&self, geometry: &FlashShape, needs: Needs) -> Option<u32> {
        let GivenSize::LogicalAndOp(..) = self else { return None };
        let halves = std::iter::successors(Some(geometry.pages_per_block / 2), |pages| Some(pages / 2));
        let fits = |&pages: &u32| self.fits(&FlashShape { pages_per_block: pages, ..*geometry }, needs);
        halves.take_while(|&pages| pages >= PAGES_MIN).find(fits)
    }

    /// The least `op_ratio` (to four decimals) at which there is room, if there is one up to 100.
    pub(super) fn least_op_ratio(&self, geometry: &FlashShape, needs: Needs) -> Option<f64> {
        let fits = |steps: u64| self.with_op_ratio(steps as f64 / 1e4).fits(geometry, needs);
        let (mut below, mut enough) = (0, 1_000_000);
        if !fits(enough) {
            return None;
        }
        while enough - below > 1 {
            let middle = (below + enough) / 2;
            if fits(middle) { enough = middle } else { below = middle }
        }
        Some(enough as f64 / 1e4)
    }
}
