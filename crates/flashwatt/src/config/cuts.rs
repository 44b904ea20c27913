//! Configurations of drives whose power can be cut.

use super::{Config, Drive, Replay};
use crate::error::{Error, Fault};
use crate::ftl::DriveSize;
use crate::ssd::settings::Settings;

/// Erased blocks of each die that a layer which merges blocks keeps for its recovery: the target of one merge.
const RECOVERY_BLOCKS: u32 = 1;

impl Config {
    /// The same drive, prepared for power cuts: a translation layer that merges blocks keeps an erased block of each die for its
    /// recovery.
    ///
    /// # Errors
    /// If it is no SSD with a clock and without a block layer before it, or has no such block to spare.
    pub(crate) fn with_power_cuts(&self) -> Result<Config, Error> {
        if self.drive.ssd().is_none() {
            let fault = Fault::key("power_cuts", "power cuts are simulated of one SSD").found(self.drive.kind());
            return Err(fault.expected("one SSD").into());
        }
        if self.run.replay != Replay::Timed {
            let fault = Fault::key("run.replay", "a power cut needs a clock").found("flashsim");
            return Err(fault.expected("timed").into());
        }
        if self.host.is_some() {
            let fault = Fault::key("host", "power cuts are simulated of a drive without a block layer before it");
            return Err(fault.found("[host]").expected("no such table").into());
        }
        let mut config = self.clone();
        if let Drive::Ssd(ssd) = &mut config.drive
            && ssd.ftl.merges_at_recovery()
        {
            check_room(ssd)?;
            ssd.device.recovery_blocks = RECOVERY_BLOCKS;
        }
        Ok(config.sealed())
    }
}

/// Checks that a drive has a block of each die beyond what its layer needs.
fn check_room(ssd: &Settings) -> Result<(), Error> {
    let device = &ssd.device;
    let dies = u128::from(device.channels) * u128::from(device.ways);
    let die_blocks = u128::from(device.planes) * u128::from(device.blocks_per_plane);
    let pages_per_block = u128::from(device.pages_per_block);
    let room = ssd.ftl.room(&DriveSize {
        dies,
        die_blocks,
        pages_per_block,
        units_per_page: u128::from(device.page_bytes / ssd.map_unit_bytes()),
        logical_pages: u128::from(device.logical_bytes / u64::from(device.page_bytes)),
        low_watermark_blocks: ssd.gc.low_watermark_blocks,
        reserved_blocks: ssd.gc.reserved_blocks,
    });
    let (has, needs) = (dies * die_blocks * pages_per_block, room.pages + dies * pages_per_block);
    if has >= needs {
        return Ok(());
    }
    let fault = Fault::key("device", "too little spare flash for the recovery from a power cut");
    let fault = fault
        .found(format!("{has} pages"))
        .expected(format!("{needs} pages or more: {}, and one block of each die for the recovery", room.what));
    Err(fault.help("raise device.op_ratio or device.spare_fraction").into())
}
