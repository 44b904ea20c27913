//! A power cut of a drive in a simulation that goes on with it: [`crate::Drive::cut`].

use super::campaign::Cut;
use super::outcome::comes_back;
use super::witness::{Use, Witness};
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{AtEnd, Device, Workload};
use flashwatt_core::kernel::{End, Sim};
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::operation::OpKind;

/// Cuts the power of the drive at the present time. It comes back at once, and recovers in simulated time; requests wait for the
/// end of that. Returns what the cut leaves, and what comes back from it: found out with a copy of the drive that is left alone.
///
/// # Errors
/// If the drive cannot come back, or the simulation cannot go on.
pub(crate) fn cut_in_place<W: Workload>(sim: &mut Sim<W, Ssd<Witness>>) -> Result<Cut, End> {
    sim.next_event_ns()?; // requests of this instant enter the drive
    let at_ns = sim.now_ns();
    let remains = Witness::cut(sim.device(), at_ns);
    let accounts = &sim.device().flash.accounts;
    let cut = Cut {
        at_ns,
        operations: accounts.probe.ended,
        operations_under_way: sim.device().under_way().count() as u32,
        requests_lost: accounts.outstanding(),
        host: None,
        files: None,
        array: None,
        outcome: comes_back(&remains).map_err(End::Failed)?,
        again: None,
    };
    let erases = sim.device().under_way().filter(|op| op.kind == OpKind::Erase).count() as u64;
    let ended_erases = if remains.work.is_some() { erases } else { 0 };
    sim.lose_power(|drive, now| {
        drive.flash.accounts.power_lost(now);
        let mut back = remains.power_on(Use::GoesOn);
        back.flash.array.count_before(ended_erases);
        back.flash.accounts.probe.ended = drive.flash.accounts.probe.ended;
        begin_at(&mut back, now);
        back
    });
    Ok(cut)
}

/// Lets the accounts of a drive begin at a time.
fn begin_at(drive: &mut Ssd<Witness>, now: Nanos) {
    drive.pass_time(now);
    drive.end_window(now, AtEnd::Restart);
}
