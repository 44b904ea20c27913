//! Memory that a drive takes, checked against the memory of the machine: a drive that is too large gives an error
//! before the run, instead of a process killed by the system.
//!
//! Each table counts its own bytes, beside its definition. `tests/footprint.rs` compares the sum with the memory that
//! the system reports for the process.

use crate::config::{Config, Precondition};
use crate::run::limits::{self, MemoryLimit};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::mem;
use flashwatt_ssd::blocks::BlockTable;
use flashwatt_ssd::cache::WriteBuffer;
use flashwatt_ssd::drive::settings::Settings;
use flashwatt_ssd::nand::{Array, Geometry};
use flashwatt_ssd::observe::check::Shadow;

/// Largest memory in bytes of one die's queues, operations and events, and of one request in the device.
const DIE_BYTES: u64 = 2_048;
const REQUEST_BYTES: u64 = 512;
/// Histograms, buffers of files, the report.
const REST_BYTES: u64 = 4 << 20;

/// Bytes of memory that a drive takes once all its tables are in use; `checked`: with the shadow check.
pub fn footprint_bytes(config: &Config, checked: bool) -> u64 {
    let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
    let buffered = config.ssd().write_buffer.bytes / u64::from(geometry.unit_bytes);
    let planned_programs = u64::from(geometry.dies) * u64::from(geometry.pages_per_block) * 16;
    Array::memory_bytes(&geometry)
        + BlockTable::memory_bytes(&geometry)
        + config.ssd().ftl.memory_bytes(&geometry)
        + WriteBuffer::memory_bytes(buffered.min(u64::from(u32::MAX)))
        + if checked { Shadow::memory_bytes(&geometry) } else { 0 }
        + u64::from(geometry.dies) * DIE_BYTES
        + planned_programs
        + u64::from(config.ssd().device.host_link.queue_depth) * REQUEST_BYTES
        + REST_BYTES
}

/// Bytes of memory that a run of this configuration takes at most: its drives and, with power cuts, their copies.
pub fn memory_bytes(config: &Config) -> u64 {
    let of_drive = |config: &Config| match (&config.run.power_cuts, config.drive.ssd()) {
        (_, None) => REST_BYTES,
        (None, Some(_)) => footprint_bytes(config, false),
        (Some(cuts), Some(_)) => footprint_of_cuts(config, cuts.twice),
    };
    match config.drive.array() {
        None => of_drive(config),
        Some(array) => array.places().flatten().map(|drive| of_drive(&config.of_drive(drive))).sum(),
    }
}

/// Checks that there is memory for a drive.
///
/// # Errors
/// If the address space has no room for it, or if it is filled at the start and the machine, or a control group that this
/// process belongs to, has less than it will take. (A drive that starts empty, or with an image, takes as much as is written to it.)
pub(crate) fn check(config: &Config, checked: bool) -> Result<(), Error> {
    let bytes = footprint_bytes(config, checked);
    let filled = !matches!(config.run.precondition, Precondition::Empty | Precondition::Image);
    check_against(config, bytes, mem::is_there(bytes), limits::least().filter(|_| filled))
}

/// Bytes of memory for each map unit of flash and for each one of the host in a drive whose power can be cut: its spare areas and
/// versions; what the host was promised. What a cut leaves shares them.
const CUT_BYTES: [u64; 2] = [24, 24];
/// The same for what a scan finds; for the promises of a drive that goes on, and for the comparison with processes and files.
const SCAN_BYTES: [u64; 2] = [12, 40];

/// Bytes of memory that power cuts take: the drive that is cut, and what the drive that comes back has of its own; with a second cut
/// during the recovery the drive that comes back from that, too.
pub(crate) fn footprint_of_cuts(config: &Config, twice: bool) -> u64 {
    let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
    let units = [geometry.physical_units(), geometry.logical_units].map(u64::from);
    let all = |each: [u64; 2]| units[0] * each[0] + units[1] * each[1];
    let remains = Array::memory_bytes(&geometry) + all(SCAN_BYTES);
    let drives = if twice { 3 } else { 2 };
    all(CUT_BYTES) + drives * footprint_bytes(config, false) + (drives - 1) * remains
}

/// Checks that there is memory for power cuts.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_cuts(config: &Config, twice: bool) -> Result<(), Error> {
    let bytes = match config.drive.array() {
        None if config.drive.ssd().is_none() => return Ok(()),
        None => footprint_of_cuts(config, twice),
        Some(array) => {
            let ssds = array.places().flatten().filter(|drive| drive.ssd().is_some());
            ssds.map(|drive| footprint_of_cuts(&config.of_drive(drive), twice)).sum()
        }
    };
    check_against(config, bytes, mem::is_there(bytes), limits::least())
}

fn check_against(config: &Config, bytes: u64, is_there: bool, limit: Option<MemoryLimit>) -> Result<(), Error> {
    let broken = limit.filter(|limit| limit.bytes < bytes);
    if is_there && broken.is_none() {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    let units = |ssd: &&Settings| Geometry::new(&ssd.device, ssd.map_unit_bytes()).physical_units();
    let units: u64 = config.ssds().iter().map(units).map(u64::from).sum();
    let expected = broken.map_or_else(
        || "what the system gives this process (its address space may be limited: ulimit -v)".to_string(),
        |limit| format!("at most {} MB, which are free {}", megabytes(limit.bytes), limit.whose),
    );
    let fault = Fault::key("device", "the drive needs more memory than there is")
        .found(format!("{} map units: {} MB of memory", units, megabytes(bytes)))
        .expected(expected)
        .help("simulate a smaller drive, or one with larger map units: device.logical_bytes, device.page_bytes");
    Err(Error::from(fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_beyond_a_limit_is_refused_and_the_limit_named() {
        let config = crate::config::load("", "test", &[]).expect("the default drive");
        let bytes = footprint_bytes(&config, false);
        let limit = |bytes: u64| Some(MemoryLimit { bytes, whose: "in the control group /a".into() });
        assert!(check_against(&config, bytes, true, limit(bytes)).is_ok());
        assert!(check_against(&config, bytes, true, None).is_ok());
        let error = check_against(&config, bytes, true, limit(3_000_000)).expect_err("too little").to_string();
        assert!(error.contains("at most 3 MB, which are free in the control group /a"), "{error}");
        let error = check_against(&config, bytes, false, None).expect_err("too little").to_string();
        assert!(error.contains("ulimit -v"), "{error}");
    }

    #[test]
    fn the_shadow_check_counts() {
        let config = crate::config::load("", "test", &[]).expect("the default drive");
        let units = u64::from(Geometry::new(&config.ssd().device, config.map_unit_bytes()).logical_units);
        assert!(footprint_bytes(&config, true) > footprint_bytes(&config, false) + 30 * units);
    }
}
