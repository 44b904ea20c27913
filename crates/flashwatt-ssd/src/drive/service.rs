//! What a drive expects of something that works in it beside requests.

use super::Ssd;
use super::settings::Settings;
use crate::controller::{Controller, EndedOp};
use crate::firmware::Firmware;
use crate::nand::Geometry;
use crate::observe::probe::Probe;
use flashwatt_base::units::RequestId;
use flashwatt_core::connector::{Cx, Extent};

/// Something that works in a drive beside requests.
///
/// # Contract
/// - **Work** is planned at the end of an instant, in [`Self::settle`]: after all events and requests of that instant, and after the write
///   buffer has sent what must leave it, but before the controller starts operations. The service gives its plans to the controller under
///   its own [`Self::REQUEST`], and learns of each operation that ends by [`Self::op_ended`].
/// - **Events**: a service with a seat sets and cancels the seat's event itself, never beyond the horizon of the agenda. The event only
///   wakes the drive, unless [`Self::event`] does something: the drive calls `settle` at the end of that instant in any case.
/// - **Requests**: a flush may wait for a service ([`Self::holds_back`]). The service then takes 1 from what the request still waits for
///   when it need not wait any more, and completes it if nothing is left.
/// - **Draining**: after the host's last request `Ssd::draining` is true. The run ends when no request is left and the write buffer is
///   empty, whatever a service has still to do. So no promise of the drive depends on work that no request waits for, and work that can
///   wait for ever, as that of an idle drive, is not begun then.
/// - **Blocks** of its own come from a row of [`crate::nand::reserve::Reserve`]; the service alone programs and erases them.
/// - While a function with the drive runs, the drive does not have the service: what the function calls must not look for it.
pub(super) trait Service: Sized {
    /// The owner of its operations.
    const REQUEST: RequestId;

    /// Whether it is asked again when operations have been started at the end of an instant ([`Self::settle_again`]).
    const SETTLES_AGAIN: bool = false;

    /// Whether requests may complete, or the write buffer may change, while it settles.
    const COMPLETES: bool = false;

    /// The service, if the drive has it.
    fn of_drive(settings: &Settings, firmware: &Firmware, geometry: &Geometry) -> Option<Self>;

    /// Sets the controller up for it.
    fn prepare(&self, _settings: &Settings, _controller: &mut Controller) {}

    /// The place of its seat, if it has events.
    fn seat(&mut self) -> Option<&mut u32> {
        None
    }

    /// The time of its event has come; the drive does not settle before.
    fn event<P: Probe>(&mut self, _drive: &mut Ssd<P>, _cx: &mut Cx) {}

    /// A request has come.
    #[inline(always)]
    fn request_came(&mut self) {}

    /// A trim is about to be planned.
    fn trim_comes<P: Probe>(&mut self, _extent: Extent, _drive: &mut Ssd<P>) {}

    /// Whether a flush waits for what the service has still to do.
    fn holds_back(&mut self, _flush: RequestId) -> bool {
        false
    }

    /// The erase of a block has ended: one of this service, or any other.
    #[inline(always)]
    fn erased(&mut self) {}

    /// One of its operations has ended.
    fn op_ended<P: Probe>(&mut self, ended: EndedOp, drive: &mut Ssd<P>, cx: &mut Cx);

    /// All events and requests of an instant are done.
    fn settle<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx);

    /// The controller has started what can start, with what the services had planned. Returns whether operations may start now that could
    /// not before. Erases that are planned now may wait for a service, and programs, too: these go on in the same instant, since perhaps
    /// nothing else happens any more.
    fn settle_again<P: Probe>(&mut self, _drive: &mut Ssd<P>, _cx: &mut Cx) -> bool {
        false
    }

    /// A window of the run ends; the figures of the drive begin anew.
    fn window_ends<P: Probe>(&mut self, _drive: &Ssd<P>) {}
}
