//! The interface: transfers one after the other.

use std::collections::VecDeque;

use super::parts::TRANSFER;
use super::settings::Interface;
use super::{Hdd, LINK};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Cx, RequestKind, Tag};
use flashwatt_core::energy::parts::StateId;

/// A transfer that waits for the interface, or is under way.
struct Transfer {
    /// The request that goes on after it, if any does.
    tag: Option<Tag>,
    ns: Nanos,
}

/// The transfers of the interface, of which the first is under way.
#[derive(Default)]
pub struct Link {
    transfers: VecDeque<Transfer>,
    /// Sectors and time of the last transfer whose time was asked for: most requests are of one length.
    last: (u64, Nanos),
}

impl Link {
    /// Time of this number of sectors on the interface, always the same one.
    #[inline]
    pub(super) fn time(&mut self, interface: &Interface, sectors: u64) -> Nanos {
        if sectors != self.last.0 {
            self.last = (sectors, interface.time(sectors * SECTOR_BYTES));
        }
        self.last.1
    }
}

impl Hdd {
    /// Whether no data moves but with an access.
    pub(super) fn link_is_free(&self) -> bool {
        self.link.transfers.is_empty()
    }

    /// Moves data for so long after what the interface has to move already. Then the request goes on, if there is one.
    pub(super) fn transfer(&mut self, tag: Option<Tag>, ns: Nanos, cx: &mut Cx) {
        self.link.transfers.push_back(Transfer { tag, ns });
        if self.link.transfers.len() == 1 {
            self.start_transfer(ns, cx);
        }
    }

    fn start_transfer(&mut self, ns: Nanos, cx: &mut Cx) {
        self.accounts.change(StateId::NONE, TRANSFER);
        cx.agenda.set_free(self.seat + LINK, cx.now() + ns);
    }

    /// A transfer has ended.
    pub(super) fn transferred(&mut self, cx: &mut Cx) {
        self.accounts.change(TRANSFER, StateId::NONE);
        let ended = self.link.transfers.pop_front();
        if let Some(next) = self.link.transfers.front() {
            self.start_transfer(next.ns, cx);
        }
        if let Some(tag) = ended.and_then(|transfer| transfer.tag) {
            match self.inside(tag).kind {
                RequestKind::Write => self.data_arrived(tag, cx),
                _ => self.complete(tag, cx),
            }
        }
    }
}
