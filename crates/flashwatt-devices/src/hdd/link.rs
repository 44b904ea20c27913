//! The interface: transfers one after the other.

use std::collections::VecDeque;

use super::parts::TRANSFER;
use super::settings::{Interface, Way};
use super::{Hdd, LINK};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Cx, RequestKind, Tag};
use flashwatt_core::energy::parts::StateId;

/// A transfer that waits for the interface, or is under way.
struct Transfer {
    /// The request that goes on after it, if any does.
    tag: Option<Tag>,
    ns: Nanos,
    /// Whether data moves. Else the electronics end the request, whose data has moved.
    moves: bool,
}

/// The transfers of the interface, of which the first is under way.
#[derive(Default)]
pub struct Link {
    transfers: VecDeque<Transfer>,
    /// When the last of them will have ended.
    free_ns: Nanos,
    /// Sectors, way and time of the last transfer whose time was asked for: most requests are of one length.
    last: Option<(u64, Way, Nanos)>,
}

impl Link {
    /// Time of this number of sectors on the interface, always the same one.
    #[inline]
    pub(super) fn time(&mut self, interface: &Interface, sectors: u64, way: Way) -> Nanos {
        match self.last {
            Some((last, of, ns)) if (last, of) == (sectors, way) => ns,
            _ => {
                let ns = interface.time(sectors * SECTOR_BYTES, way);
                self.last = Some((sectors, way, ns));
                ns
            }
        }
    }

    /// When a transfer that comes now would begin.
    pub(super) fn free_ns(&self, now: Nanos) -> Nanos {
        self.free_ns.max(now)
    }
}

impl Hdd {
    /// Whether no data moves but with an access.
    pub(super) fn link_is_free(&self) -> bool {
        self.link.transfers.is_empty()
    }

    /// Moves data for so long after what the interface has to move already. Then the request goes on, if there is one.
    pub(super) fn transfer(&mut self, tag: Option<Tag>, ns: Nanos, cx: &mut Cx) {
        self.occupy(Transfer { tag, ns, moves: true }, cx);
    }

    /// The data of a request has moved, or is on the medium: it ends, after the time that the electronics take for that.
    pub(super) fn end_request(&mut self, tag: Tag, way: Way, cx: &mut Cx) {
        let interface = &self.settings.interface;
        let ns = if way == Way::ToHost { interface.read_completion_ns } else { interface.write_completion_ns };
        if ns > 0 {
            self.occupy(Transfer { tag: Some(tag), ns, moves: false }, cx);
        } else {
            self.complete(tag, cx);
        }
    }

    /// Moves nothing for so long.
    pub(super) fn pause(&mut self, ns: Nanos, cx: &mut Cx) {
        if ns > 0 {
            self.occupy(Transfer { tag: None, ns, moves: false }, cx);
        }
    }

    fn occupy(&mut self, transfer: Transfer, cx: &mut Cx) {
        self.link.free_ns = self.link.free_ns(cx.now()) + transfer.ns;
        self.link.transfers.push_back(transfer);
        if self.link.transfers.len() == 1 {
            self.start_transfer(cx);
        }
    }

    fn start_transfer(&mut self, cx: &mut Cx) {
        let Some(next) = self.link.transfers.front() else { return };
        if next.moves {
            self.accounts.change(StateId::NONE, TRANSFER);
        }
        cx.agenda.set_free(self.seat + LINK, cx.now() + next.ns);
    }

    /// A transfer has ended.
    pub(super) fn transferred(&mut self, cx: &mut Cx) {
        let Some(ended) = self.link.transfers.pop_front() else { unreachable!("a transfer was under way") };
        if ended.moves {
            self.accounts.change(TRANSFER, StateId::NONE);
        }
        self.start_transfer(cx);
        let Some(tag) = ended.tag else { return };
        match self.inside(tag).kind {
            _ if !ended.moves => self.complete(tag, cx),
            RequestKind::Write => self.data_arrived(tag, cx),
            _ => self.end_request(tag, Way::ToHost, cx),
        }
    }
}
