//! Errors that end a simulation: a workload or a device that breaks its contract, and the end of simulated time.

use super::sim::{Outstanding, Sim};
use crate::connector::{Device, Request, Tag, Workload};
use flashwatt_base::error::{Error, Fault};
use flashwatt_base::units::Nanos;

impl<W: Workload, D: Device> Sim<W, D> {
    #[cold]
    pub(super) fn arrives_in_future(&self, request: &Request) -> Error {
        let fault = Fault::key("workload", "a request that has not arrived yet");
        let found = format!("an arrival at {} ns", request.arrival_ns);
        fault.found(found).expected(format!("one at {} ns at the latest", self.agenda.now())).into()
    }

    /// The next event lies beyond the last instant that can be simulated.
    #[cold]
    pub(super) fn beyond_time(&self, key: &str, at: Nanos) -> Fault {
        let horizon = self.agenda.horizon();
        Fault::key(key, "the run reaches beyond the end of simulated time")
            .found(format!("an event at {at} ns"))
            .expected(format!("at most {horizon} ns on this device"))
    }
}

#[cold]
pub(super) fn waits_for_nothing() -> Error {
    Fault::key("workload", "it waits for a completion, and no request is outstanding").into()
}

/// The device completed a request that it never received.
#[cold]
pub(super) fn unknown_tag(tag: Tag) -> Error {
    let fault = Fault::key("device", "it completed a request that it was not given");
    fault.found(format!("tag {}", tag.0)).expected("a tag that `submit` gave it").into()
}

/// The workload requested a range that is not on the device.
#[cold]
pub(super) fn refused(request: &Outstanding) -> Error {
    let Outstanding { kind, offset_bytes, bytes, .. } = request;
    let fault = Fault::key("workload", "a request that the device cannot take");
    let found = format!("{kind:?} of {bytes} bytes at byte {offset_bytes}");
    fault.found(found).expected("whole sectors of 512 bytes, all on the device").into()
}
