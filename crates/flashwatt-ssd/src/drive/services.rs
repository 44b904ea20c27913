//! What works in a drive beside requests.
//!
//! A service is one file, which implements [`Service`], and one line of the list at the end of this file. Services are asked in the order
//! of the list; results depend on it. What all services have in common goes through the trait. What is special to one of them, as the
//! entries of the write buffer to the journal, or what a scan has found to the recovery log, goes to it by its name in the list.
//!
//! The recovery from a power cut is none of them: requests wait for it before they are planned, it works before the write buffer does,
//! and only runs that can be cut have it.

use std::hint::cold_path;

use super::host_memory::HostMemory;
use super::idle::IdleWork;
use super::recovery::backups::Backups;
use super::recovery::journal::BufferJournal;
use super::recovery::log::RecoveryLog;
use super::rows::RowPadding;
use super::service::Service;
use super::settings::Settings;
use super::{NO_SEAT, Ssd};
use crate::controller::{Controller, EndedOp};
use crate::firmware::Firmware;
use crate::observe::probe::Probe;
use flashwatt_base::units::RequestId;
use flashwatt_core::connector::{Cx, Extent};

/// Makes [`Services`] of a list, and what the drive asks of each of them in turn.
macro_rules! services {
    ($($(#[$doc:meta])* $name:ident: $Service:ty,)*) => {
        /// The services of a drive.
        #[derive(Default)]
        pub(super) struct Services {
            $($(#[$doc])* pub $name: Option<Box<$Service>>,)*
            /// Whether there is one.
            is_any: bool,
            /// Whether one is asked again.
            settle_again: bool,
            /// Whether requests may complete while they settle.
            complete: bool,
        }

        impl Services {
            /// The services of a drive. Sets its controller up for them.
            pub fn new(settings: &Settings, firmware: &Firmware, controller: &mut Controller) -> Self {
                let mut services = Services::default();
                $(if let Some(service) = <$Service>::of_drive(settings, firmware, firmware.blocks.geometry()) {
                    service.prepare(settings, controller);
                    services.$name = Some(Box::new(service));
                    services.is_any = true;
                    services.settle_again |= <$Service>::SETTLES_AGAIN;
                    services.complete |= <$Service>::COMPLETES;
                })*
                services
            }

            /// The number of their seats. Fewer seats leave more bits for time: a service without events has none.
            pub fn seats(&mut self) -> u32 {
                0 $(+ u32::from(self.$name.as_mut().is_some_and(|service| service.seat().is_some())))*
            }

            /// They get the seats from this one on.
            pub fn enrol(&mut self, mut seat: u32) {
                $(if let Some(place) = self.$name.as_mut().and_then(|service| service.seat()) {
                    *place = seat;
                    seat += 1;
                })*
                debug_assert!(seat < NO_SEAT, "a drive has few seats");
            }

            /// A request has come.
            #[inline(always)]
            pub fn request_came(&mut self) {
                if !self.is_any {
                    return; // one question for all
                }
                $(if let Some(service) = &mut self.$name {
                    service.request_came();
                })*
            }

            /// The erase of a block has ended.
            pub fn erased(&mut self) {
                $(if let Some(service) = &mut self.$name {
                    service.erased();
                })*
            }

            /// How many of them a flush waits for.
            fn hold_back(&mut self, flush: RequestId) -> u32 {
                0 $(+ u32::from(self.$name.as_mut().is_some_and(|service| service.holds_back(flush))))*
            }

            fn settle<P: Probe>(drive: &mut Ssd<P>, cx: &mut Cx) {
                $(if let Some(mut service) = drive.services.$name.take() {
                    service.settle(drive, cx);
                    drive.services.$name = Some(service);
                })*
            }

            fn settle_again<P: Probe>(drive: &mut Ssd<P>, cx: &mut Cx) -> bool {
                let mut may_go_on = false;
                $(if <$Service>::SETTLES_AGAIN && let Some(mut service) = drive.services.$name.take() {
                    may_go_on |= service.settle_again(drive, cx);
                    drive.services.$name = Some(service);
                })*
                may_go_on
            }

            fn event<P: Probe>(seat: u32, drive: &mut Ssd<P>, cx: &mut Cx) {
                $(if let Some(mut service) = drive.services.$name.take_if(|service| service.seat().is_some_and(|own| *own == seat)) {
                    service.event(drive, cx);
                    drive.services.$name = Some(service);
                })*
            }

            /// Returns whether the operation was of one of them.
            #[inline(always)]
            fn op_ended<P: Probe>(ended: EndedOp, drive: &mut Ssd<P>, cx: &mut Cx) -> bool {
                $(if ended.request == <$Service>::REQUEST {
                    cold_path();
                    if let Some(mut service) = drive.services.$name.take() {
                        service.op_ended(ended, drive, cx);
                        drive.services.$name = Some(service);
                    }
                    return true;
                })*
                false
            }

            fn trim_comes<P: Probe>(extent: Extent, drive: &mut Ssd<P>) {
                $(if let Some(mut service) = drive.services.$name.take() {
                    service.trim_comes(extent, drive);
                    drive.services.$name = Some(service);
                })*
            }

            fn window_ends<P: Probe>(drive: &mut Ssd<P>) {
                $(if let Some(mut service) = drive.services.$name.take() {
                    service.window_ends(drive);
                    drive.services.$name = Some(service);
                })*
            }
        }
    };
}

services! {
    /// The journal of the write buffer, if it has one.
    journal: BufferJournal,
    /// The work of an idle drive, if its layer has any.
    idle_work: IdleWork,
    /// What the drive writes to flash for its recovery from a power cut, if it does.
    recovery_log: RecoveryLog,
    /// Backups of pages that share cells with others, if the drive makes some.
    backups: Backups,
    /// Rows that wait for pages, if the drive has rows.
    rows: RowPadding,
    /// The cached part of the map in the host's memory, if it lies there. The last one: it moves what the others have planned.
    host_memory: HostMemory,
}

impl Services {
    /// Whether there is one.
    #[inline(always)]
    pub fn is_any(&self) -> bool {
        self.is_any
    }

    /// Whether requests may complete, or the write buffer may change, while they are looked after.
    #[inline(always)]
    fn may_complete(&self) -> bool {
        self.complete
    }
}

impl<P: Probe> Ssd<P> {
    /// The end of an instant in which the write buffer changed, or of a drive with services. Returns whether requests may have ended that
    /// waited or were held back, or the journal has made entries urgent: then there is more to do in this instant.
    #[inline(never)]
    pub(super) fn settle_beside_requests(&mut self, cx: &mut Cx) -> bool {
        let has_ended = self.services.rows.is_some() && self.tell_of_ended(cx);
        if self.buffer_changed {
            self.settle_buffer(cx);
        }
        Services::settle(self, cx);
        self.controller.dispatch(cx.agenda, &mut self.firmware, &mut self.flash);
        let mut goes_on = self.services.settle_again;
        while goes_on {
            goes_on = Services::settle_again(self, cx);
            self.controller.dispatch(cx.agenda, &mut self.firmware, &mut self.flash); // what they have planned
        }
        let may_have_ended = P::CAN_BE_CUT || self.services.may_complete();
        let has_ended = has_ended || may_have_ended && (!cx.done.is_empty() || self.buffer_changed);
        // Memory may serve what was planned while operations started, and an erase may wait for rows.
        has_ended || self.controller.has_more_ended() || self.controller.has_new_deadlines()
    }

    /// The time of an event of a service has come.
    #[cold]
    pub(super) fn service_event(&mut self, seat: u32, cx: &mut Cx) {
        Services::event(seat, self, cx);
    }

    /// An operation has ended. Returns whether it was one of a service.
    #[inline(always)]
    pub(super) fn service_op_ended(&mut self, ended: EndedOp, cx: &mut Cx) -> bool {
        Services::op_ended(ended, self, cx)
    }

    /// A trim is about to be planned.
    #[inline(never)]
    pub(super) fn tell_services_of_trim(&mut self, extent: Extent) {
        Services::trim_comes(extent, self);
    }

    /// Makes a flush wait for what services have to do before it.
    pub(super) fn wait_for_services(&mut self, flush: RequestId) {
        self.requests[flush.idx()].remaining += self.services.hold_back(flush);
    }

    /// Takes a request that has waited for a service on its way.
    pub(super) fn released(&mut self, id: RequestId, cx: &mut Cx) {
        self.requests[id.idx()].remaining -= 1;
        self.complete_if_done(id, cx);
    }

    /// A window of the run ends.
    pub(super) fn window_ends(&mut self) {
        Services::window_ends(self);
    }
}
