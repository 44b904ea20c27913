//! Configurations of drives whose power can be cut.

use super::{Array, Config, Drive, Replay, Run, Workload};
use flashwatt_base::error::{Error, Fault};
use flashwatt_ssd::drive::settings::Settings;
use flashwatt_ssd::ftl::DriveSize;
use flashwatt_ssd::nand::reserve::Runs;
use flashwatt_ssd::nand::{Reserve, Reserves};
use flashwatt_ssd::recovery::spare;

/// Erased blocks of each die that a layer keeps for its recovery: the target of one merge, or of one collection of pages of a map on
/// flash that is kept.
const RECOVERY_BLOCKS: u32 = 1;

/// The same beside that if pages come back from backups: what a recovery writes anew may begin a log block.
const RESTORE_BLOCKS: u32 = 1;

impl Config {
    /// Whether the SSD, or a member of the array, has a write buffer whose content is lost at a cut.
    pub(crate) fn has_volatile_buffer(&self) -> bool {
        let is_volatile = |ssd: &&Settings| {
            let buffer = &ssd.write_buffer;
            buffer.bytes >= u64::from(ssd.map_unit_bytes()) && !buffer.is_protected()
        };
        self.ssds().iter().any(is_volatile)
    }

    /// The same configuration, whose run cuts no power.
    pub(crate) fn without_power_cuts(&self) -> Config {
        let run = Run { power_cuts: None, ..self.run.clone() };
        Config { run, ..self.clone() }.sealed()
    }

    /// The same drive, prepared for power cuts: a translation layer that merges blocks keeps an erased block of each die for its
    /// recovery, and with capacitors there are blocks for the content of the write buffer.
    ///
    /// # Errors
    /// If it is no SSD, or array of SSDs, with a clock, or has no such block to spare.
    pub(crate) fn with_power_cuts(&self) -> Result<Config, Error> {
        if self.run.replay != Replay::Timed {
            let fault = Fault::key("run.replay", "a power cut needs a clock").found("flashsim");
            return Err(fault.expected("timed").into());
        }
        let mut config = self.clone();
        match &mut config.drive {
            Drive::Ssd(ssd) => prepare(ssd)?,
            Drive::Hdd(_) => return Err(keeps_sectors("a hard disk")),
            Drive::Array(table) => {
                self.check_array(&table.array)?;
                let Array { drives, .. } = &mut table.array;
                drives.iter_mut().filter_map(Drive::ssd_mut).try_for_each(prepare)?;
            }
        }
        Ok(config.sealed())
    }

    /// Checks that the power of an array can be cut.
    fn check_array(&self, array: &Array) -> Result<(), Error> {
        let refused = |key: &str, what: &str, found: &str, expected: &str| {
            Err(Fault::key(key, what).found(found).expected(expected).into())
        };
        if array.places().flatten().any(|drive| drive.ssd().is_none()) {
            return Err(keeps_sectors("an array with a hard disk"));
        }
        if array.spare.is_some() {
            let what = "a cut of an array that fills a spare is not simulated: what is kept of the rebuild's place is not known";
            return refused("array.spare", what, "a spare", "no such key");
        }
        if self.host.is_some() {
            let what =
                "a cut of an array behind a block layer is not simulated: promises to processes are those of one drive";
            return refused("host", what, "[host]", "no such table");
        }
        if matches!(self.workload, Workload::Files(_)) {
            let what = "a cut of an array under files is not simulated: a mount looks for the versions of one drive";
            return refused("workload.files", what, "[workload.files]", "another workload");
        }
        if self.run.power_cuts.as_ref().is_some_and(|cuts| cuts.twice) {
            let what = "an array is not cut again during its recovery";
            return refused("run.power_cuts.twice", what, "true", "false, or one SSD");
        }
        Ok(())
    }

    /// The settings of the SSDs that are there: of the drive, or of the members of an array.
    pub(crate) fn ssds(&self) -> Vec<&Settings> {
        match &self.drive {
            Drive::Ssd(ssd) => vec![ssd],
            Drive::Hdd(_) => Vec::new(),
            Drive::Array(table) => table.array.places().flatten().filter_map(Drive::ssd).collect(),
        }
    }
}

/// Why the power of a disk is not cut.
fn keeps_sectors(found: &str) -> Error {
    let what = "a hard disk has nothing to recover: a sector stays where it is written, and a cut takes only what the write cache holds";
    Fault::key("power_cuts", what).found(found).expected("an SSD, or an array of SSDs").into()
}

/// Prepares an SSD for power cuts.
fn prepare(ssd: &mut Settings) -> Result<(), Error> {
    check_spare_area(ssd)?;
    let reserves = &ssd.device.reserves;
    let reserves = reserves.with(Reserve::Recovery, recovery_blocks(ssd)).with(Reserve::Dump, dump_blocks(ssd));
    check_room(ssd, &reserves)?;
    ssd.device.reserves = reserves;
    Ok(())
}

/// Checks that what a recovery reads of each page fits its spare area.
fn check_spare_area(ssd: &Settings) -> Result<(), Error> {
    let units = ssd.device.page_bytes / ssd.map_unit_bytes();
    let (Some(has), needs) = (ssd.device.nand.spare_bytes, spare::bytes_of_page(units)) else { return Ok(()) };
    if has >= needs {
        return Ok(());
    }
    let fault = Fault::key("device.nand.spare_bytes", "too small for what a recovery from a power cut reads of a page");
    let [owner, version, program] = spare::ENTRY_BYTES;
    let each = if units == 1 { String::new() } else { format!("{units} times ") };
    let expected = format!(
        "{needs} or more: {each}{owner} bytes for the owner and {version} for the version of a map unit, and {program} for the program's number"
    );
    Err(fault.found(has).expected(expected).into())
}

/// Erased blocks of each die that a recovery needs.
fn recovery_blocks(ssd: &Settings) -> u32 {
    let restore_blocks = if ssd.device.reserves[Reserve::Backup] > 0 { RESTORE_BLOCKS } else { 0 };
    let keeps_map = ssd.recovery.checkpoint_interval_bytes.is_some() && ssd.ftl.has_map_on_flash();
    match ssd.ftl.merges_at_recovery() {
        true => RECOVERY_BLOCKS + restore_blocks,
        false if keeps_map => RECOVERY_BLOCKS,
        false => 0,
    }
}

/// Blocks of each die that hold a full write buffer with capacitors, spread over the dies page by page.
fn dump_blocks(ssd: &Settings) -> u32 {
    if ssd.write_buffer.capacitors.is_none() {
        return 0;
    }
    let device = &ssd.device;
    let units_per_page = u64::from(device.page_bytes / ssd.map_unit_bytes());
    let pages = (ssd.write_buffer.bytes / u64::from(ssd.map_unit_bytes())).div_ceil(units_per_page);
    let of_die = pages.div_ceil(u64::from(device.channels) * u64::from(device.ways));
    u32::try_from(of_die.div_ceil(u64::from(device.block_pages()))).unwrap_or(u32::MAX)
}

/// Checks that a drive has these reserves beside what its layer needs.
fn check_room(ssd: &Settings, reserves: &Reserves) -> Result<(), Error> {
    let device = &ssd.device;
    let dies = u128::from(device.channels) * u128::from(device.ways);
    let die_blocks = u128::from(device.die_blocks());
    let pages_per_block = u128::from(device.block_pages());
    let room = ssd.ftl.room(&DriveSize {
        dies,
        die_blocks,
        pages_per_block,
        row_pages: device.row_pages().into(),
        pass_distance: device.pass_distance().into(),
        units_per_page: u128::from(device.page_bytes / ssd.map_unit_bytes()),
        logical_pages: u128::from(device.logical_bytes / u64::from(device.page_bytes)),
        low_watermark_blocks: ssd.gc.low_watermark_blocks,
        reserved_blocks: ssd.gc.reserved_blocks,
    });
    let static_blocks = ssd.static_slc_blocks();
    let kept = dies * u128::from(reserves.total() + static_blocks) * pages_per_block;
    let (has, needs) = (dies * die_blocks * pages_per_block, room.pages + kept);
    if reserves.total_of(Runs::Cut) == 0 || has >= needs {
        return Ok(());
    }
    let kept = Reserve::rows().map(|row| match (reserves[row.reserve], row.purpose) {
        (0, _) => String::new(),
        (1, purpose) => format!(", and one block of each die for {purpose}"),
        (blocks, purpose) => format!(", and {blocks} blocks of each die for {purpose}"),
    });
    let of_cache = if static_blocks == 0 { "" } else { ", and the blocks of the static SLC cache" };
    let expected = format!("{needs} pages or more: {}{}{of_cache}", room.what, kept.collect::<String>());
    let fault = Fault::key("device", "too little spare flash for power cuts");
    let fault = fault.found(format!("{has} pages")).expected(expected);
    Err(fault.help("raise device.op_ratio or device.spare_fraction").into())
}
