//! A drive of any kind in its start state.

use super::StartState;
use super::start::Start;
use crate::any::AnyDrive;
use crate::config::{Array, Config, Drive, Precondition};
use flashwatt_base::error::Error;
use flashwatt_base::progress::Progress;
use flashwatt_core::connector::Device;
use flashwatt_core::energy::Series;
use flashwatt_devices::hdd::{Hdd, settings};
use flashwatt_devices::raid::Raid;
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::observe::probe::Recording;

/// What the run of a drive will need of it.
#[derive(Clone, Copy)]
pub(crate) struct Needs<'a> {
    /// Gives each drive its recording over time, if any.
    pub record: &'a dyn Fn() -> Option<Box<Series>>,
    /// Number of requests, if it is known.
    pub requests: Option<u64>,
}

/// The drive that a configuration describes, in its start state.
///
/// # Errors
/// As [`StartState::watched`].
pub(crate) fn laid_down(
    config: &Config,
    needs: Needs,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(AnyDrive, Start), Error> {
    match &config.drive {
        Drive::Ssd(_) => {
            let (ssd, start) =
                StartState::watched(config, progress)?.into_ssd(config, (needs.record)(), needs.requests, Recording)?;
            Ok((AnyDrive::Ssd(Box::new(ssd)), start))
        }
        Drive::Hdd(tables) => {
            Ok((AnyDrive::Hdd(Box::new(disk(config, &tables.hdd, (needs.record)())?)), Start::default()))
        }
        Drive::Array(table) => {
            let (array, start) = array(config, &table.array, needs, progress)?;
            Ok((AnyDrive::Array(Box::new(array)), start))
        }
    }
}

/// A disk, which has one start state.
pub(super) fn disk(config: &Config, settings: &settings::Hdd, series: Option<Box<Series>>) -> Result<Hdd, Error> {
    config.check_seal()?;
    Ok(Hdd::new(settings.clone(), series))
}

/// The members of an array, each in its start state.
pub(super) fn array(
    config: &Config,
    array: &Array,
    needs: Needs,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(Raid<AnyDrive>, Start), Error> {
    array_of(config, array, |of_drive| laid_down(of_drive, needs, progress))
}

/// As [`array()`], of SSDs alone and without recordings over time: the compiler can then join the array's code with theirs.
pub(super) fn array_of_ssds(
    config: &Config,
    array: &Array,
    requests: Option<u64>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(Raid<Ssd<()>>, Start), Error> {
    array_of(config, array, |of_drive| StartState::watched(of_drive, progress)?.into_ssd(of_drive, None, requests, ()))
}

/// The members of an array, each laid down by its own configuration and with draws of its own. A spare holds nothing.
fn array_of<D: Device>(
    config: &Config,
    array: &Array,
    mut lay_down: impl FnMut(&Config) -> Result<(D, Start), Error>,
) -> Result<(Raid<D>, Start), Error> {
    config.check_seal()?;
    let failed = array.failed.as_ref().map(|failed| failed.member as usize);
    let (mut devices, mut start) = (Vec::new(), Start::default());
    for (place, drive) in array.places().enumerate() {
        let Some(drive) = drive else {
            devices.push(None);
            continue;
        };
        let of_drive = config.of_drive(drive).of_member(place);
        let is_spare = failed == Some(place);
        let of_drive = if is_spare { of_drive.starting(Precondition::Empty) } else { of_drive };
        let (device, of_member) = lay_down(&of_drive)?;
        start.warnings.extend(of_member.warnings);
        devices.push(Some(device));
    }
    start.warnings.dedup();
    Ok((Raid::new(&array.layout, array.failed.as_ref(), devices), start))
}
