//! Over-provisioning: what was asked for, what the drive has, and what of it collection can use.

use serde::Serialize;

use crate::config::Config;
use flashwatt_ssd::ftl::DriveSize;
use flashwatt_ssd::nand::Geometry;
use flashwatt_ssd::nand::settings::DeviceTable;

/// Spare flash of an SSD. A share is one of the pages, a ratio one to the pages of the host.
#[derive(Clone, Debug, Serialize)]
pub struct SpareReport {
    /// `device.op_ratio` as it was asked for; that of the drive, if it follows from other keys.
    pub asked_op_ratio: f64,
    /// (physical - logical) / logical bytes.
    pub op_ratio: f64,
    /// (physical - logical) / physical bytes.
    pub fraction: f64,
    /// Bytes of blocks that hold no data of the host: kept erased for collection or merges, for the map, for what a recovery needs,
    /// for the static part of an SLC cache.
    pub kept_bytes: u64,
    /// Of these, what the low watermark of collection keeps; 0 for a layer that merges blocks.
    pub watermark_bytes: u64,
    /// (physical - kept - logical) / logical bytes; none if the host's data does not fit beside what is kept.
    pub effective_op_ratio: Option<f64>,
    /// (physical - kept - logical) / (physical - kept) bytes: 1 - the valid share of the pages that theory calls ρ. None as above.
    pub effective_fraction: Option<f64>,
    /// 1 - `gc.mean_valid_fraction`, of the run: a drive under full load takes blocks down to `gc.reserved_blocks`, and has more than
    /// `effective_fraction`. None without a victim.
    pub measured_fraction: Option<f64>,
}

impl SpareReport {
    pub(super) fn new(config: &Config, geometry: &Geometry, mean_valid_fraction: Option<f64>) -> Self {
        let (ssd, device) = (config.ssd(), &config.ssd().device);
        let size = size(config, geometry);
        let page_bytes = u128::from(device.page_bytes);
        let withheld = u128::from(geometry.reserves.total() + ssd.static_slc_blocks());
        let kept = ssd.ftl.room(&size).idle_pages + size.dies * withheld * size.pages_per_block;
        let collects = u128::from(ssd.ftl.collects());
        let watermark = collects * size.dies * u128::from(size.low_watermark_blocks) * size.pages_per_block;
        let usable = (size.dies * size.die_blocks * size.pages_per_block).saturating_sub(kept);
        let spare = usable.checked_sub(size.logical_pages).map(|pages| pages as f64);
        SpareReport {
            asked_op_ratio: device.asked_op_ratio.unwrap_or(device.op_ratio),
            op_ratio: device.op_ratio,
            fraction: device.spare_fraction,
            kept_bytes: bytes(kept * page_bytes),
            watermark_bytes: bytes(watermark * page_bytes),
            effective_op_ratio: spare.map(|spare| spare / size.logical_pages as f64),
            measured_fraction: mean_valid_fraction.map(|valid| 1.0 - valid),
            effective_fraction: spare.filter(|_| usable > 0).map(|spare| spare / usable as f64),
        }
    }

    /// The warning about a low watermark that keeps much of the spare flash.
    pub(super) fn eaten(&self, config: &Config) -> Option<String> {
        let (device, low) = (&config.ssd().device, config.ssd().gc.low_watermark_blocks);
        let spare_bytes = self.op_ratio * device.logical_bytes as f64;
        let share = self.watermark_bytes as f64 / spare_bytes;
        (spare_bytes > 0.0 && share > EATEN_MAX).then(|| {
            let die_blocks = device.die_blocks();
            let left = self.effective_op_ratio.map_or("nothing".into(), |ratio| format!("an over-provisioning of {ratio:.4}"));
            format!(
                "the low watermark keeps {low} of the {die_blocks} blocks of each die from data, {:.0} % of the spare flash: of \
                 device.op_ratio = {:.4} it leaves {left} (spare.effective_op_ratio), and drives of other dies or blocks are left \
                 with other shares; {}",
                share * 100.0,
                self.op_ratio,
                remedy(device, low)
            )
        })
    }
}

/// Share of the spare flash that the low watermark may keep without a warning.
const EATEN_MAX: f64 = 0.4;

/// What leaves more of the spare flash: blocks of fewer pages, fewer blocks, or fewer dies.
fn remedy(device: &DeviceTable, low: u32) -> String {
    let smaller = device.pages_per_block / 4;
    let blocks = (smaller >= 8).then(|| format!("device.pages_per_block = {smaller} keeps a quarter of that"));
    let fewer = (low > 2).then(|| "gc.low_watermark_blocks = 2 keeps less".to_string());
    let found: Vec<_> = [blocks, fewer].into_iter().flatten().collect();
    if found.is_empty() { "fewer dies keep less".into() } else { found.join(", ") }
}

fn size(config: &Config, geometry: &Geometry) -> DriveSize {
    let (device, gc) = (&config.ssd().device, &config.ssd().gc);
    DriveSize {
        dies: geometry.dies.into(),
        die_blocks: geometry.blocks_per_die.into(),
        pages_per_block: geometry.pages_per_block.into(),
        row_pages: geometry.row_pages.into(),
        pass_distance: geometry.pass_distance.into(),
        units_per_page: geometry.units_per_page.into(),
        logical_pages: u128::from(device.logical_bytes / u64::from(device.page_bytes)),
        low_watermark_blocks: gc.low_watermark_blocks,
        reserved_blocks: gc.reserved_blocks,
    }
}

fn bytes(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
