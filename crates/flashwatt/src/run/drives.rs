//! A drive of any kind in its start state.

use super::StartState;
use super::start::Start;
use crate::any::AnyDrive;
use crate::config::{Array, Config, Drive, Precondition};
use crate::energy::Series;
use crate::error::Error;
use crate::hdd::Hdd;
use crate::progress::Progress;
use crate::raid::Raid;

/// Gives a recording over time to each drive that is laid down, or none.
type Record<'a> = &'a dyn Fn() -> Option<Box<Series>>;

/// The drive that a configuration describes, in its start state. `record` gives each SSD its recording over time, if any.
///
/// # Errors
/// As [`StartState::watched`].
pub(crate) fn laid_down(
    config: &Config,
    record: Record,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(AnyDrive, Start), Error> {
    match &config.drive {
        Drive::Ssd(_) => {
            let (ssd, start) = StartState::watched(config, progress)?.into_recording_ssd(config, record());
            Ok((AnyDrive::Ssd(Box::new(ssd)), start))
        }
        Drive::Hdd(tables) => {
            config.check_seal()?;
            Ok((AnyDrive::Hdd(Box::new(Hdd::new(tables.hdd.clone(), record()))), Start::default()))
        }
        Drive::Array(table) => {
            let (array, start) = array(config, &table.array, record, progress)?;
            Ok((AnyDrive::Array(Box::new(array)), start))
        }
    }
}

/// The members of an array, each in its start state. A spare holds nothing.
pub(super) fn array(
    config: &Config,
    array: &Array,
    record: Record,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(Raid<AnyDrive>, Start), Error> {
    config.check_seal()?;
    let failed = array.failed.as_ref().map(|failed| failed.member as usize);
    let (mut devices, mut start) = (Vec::new(), Start::default());
    for (place, drive) in array.places().enumerate() {
        let Some(drive) = drive else {
            devices.push(None);
            continue;
        };
        let of_drive = config.of_drive(drive);
        let is_spare = failed == Some(place);
        let of_drive = if is_spare { of_drive.starting(Precondition::Empty) } else { of_drive };
        let (device, of_member) = laid_down(&of_drive, record, progress)?;
        start.warnings.extend(of_member.warnings);
        devices.push(Some(device));
    }
    start.warnings.dedup();
    Ok((Raid::new(&array.layout, array.failed.as_ref(), devices), start))
}
