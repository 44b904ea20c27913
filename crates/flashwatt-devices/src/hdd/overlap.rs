//! Data on the interface while sectors pass the head: that of a read on its way out, that of a write on its way in.
//!
//! A read's data moves as late as the interface allows without holding the read up, in one piece: the power of the interface is
//! that of whole sectors, whenever each of them moves.

use super::geometry::Lba;
use super::job::{Kind, MediumJob};
use super::mechanism::Access;
use super::parts::TRANSFER;
use super::settings::{Way, WriteStart};
use super::{Hdd, Inside};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::{Cx, RequestKind, Tag};
use flashwatt_core::energy::parts::StateId;

/// The data of a write on its way into the disk.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// The first sector.
    first: Lba,
    /// The sector after the last one.
    end: Lba,
    /// When the first one begins to move.
    start_ns: Nanos,
    /// Time that all take.
    ns: Nanos,
}

impl Incoming {
    /// When the sectors up to this one are in the disk.
    fn arrived_ns(&self, end: Lba) -> Nanos {
        let share = u128::from(self.ns) * u128::from(end - self.first);
        self.start_ns + share.div_ceil(u128::from(self.end - self.first)) as Nanos
    }

    /// When all are.
    pub fn end_ns(&self) -> Nanos {
        self.start_ns + self.ns
    }

    /// From when on sectors `first` to `end` can be written, one each `sector_ns`, without waiting for data.
    fn ready_ns(&self, first: Lba, end: Lba, sector_ns: Nanos) -> Nanos {
        let until_last = (end - first - 1) * sector_ns;
        self.arrived_ns(first + 1).max(self.arrived_ns(end).saturating_sub(until_last))
    }
}

/// The data of a read on its way out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outgoing {
    /// When the interface has moved all that it could move so far.
    free_ns: Nanos,
    /// Time of transfers that the accounts do not have yet.
    pending_ns: Nanos,
    /// Sectors that must still come into the buffer before data moves.
    short: u64,
}

impl Outgoing {
    /// A read that needs this number of sectors in the buffer before its data moves.
    pub fn new(short: u64) -> Self {
        Outgoing { short, ..Outgoing::default() }
    }
}

impl Hdd {
    /// Whether a write ends on the medium while its data comes.
    pub(super) fn writes_while_data_comes(&self, request: &Inside) -> bool {
        self.settings.interface.write_start == WriteStart::Overlapped && self.ends_on_medium(request)
    }

    /// Whether a write ends on the medium.
    pub(super) fn ends_on_medium(&self, request: &Inside) -> bool {
        request.kind == RequestKind::Write && (self.settings.write_cache.bytes == 0 || request.fua)
    }

    /// A write's data begins to move, and the write waits for the medium meanwhile.
    pub(super) fn write_while_data_comes(&mut self, tag: Tag, cx: &mut Cx) {
        let Inside { first, end, .. } = self.inside(tag);
        let ns = self.link.time(&self.settings.interface, end - first, Way::ToDisk);
        self.pause(self.settings.interface.write_data_delay_ns, cx);
        let start_ns = self.link.free_ns(cx.now());
        self.transfer(None, ns, cx);
        self.begin_write(tag, Some(Incoming { first, end, start_ns, ns }), cx);
    }

    /// From when on the sectors of a write, whose data may still come, can be written up to `end`: one each `sector_ns`.
    pub(super) fn ready_ns(&self, data: Option<&Incoming>, first: Lba, end: Lba, sector_ns: Nanos) -> Nanos {
        let Some(data) = data else { return 0 };
        let interface = &self.settings.interface;
        let filled = ((data.end - data.first) as f64 * interface.write_fill_fraction) as u64;
        let filled_ns = if filled > 0 { data.arrived_ns(data.first + filled) } else { 0 };
        data.ready_ns(first, end, sector_ns).max(filled_ns) + interface.write_start_delay_ns
    }

    /// Sectors that must be in the buffer before the data of a read moves, of which the first `ready` are there.
    pub(super) fn sectors_to_fill(&self, request: &Inside, ready: u64) -> u64 {
        let Some(fraction) = self.settings.interface.read_fill_fraction else { return 0 };
        let most = match self.settings.buffer.segment_bytes / SECTOR_BYTES {
            0 => u64::MAX,
            sectors => sectors,
        };
        let all = ((request.end - request.first).min(most) as f64 * fraction) as u64;
        all.saturating_sub(ready).max(1)
    }

    /// The data of a read crosses the interface while its sectors pass the head, as far as the interface can.
    pub(super) fn transfer_with_access(&mut self, cx: &mut Cx) {
        let Some(job) = self.job.as_mut().filter(|job| matches!(job.kind, Kind::Read(..))) else { return };
        let (end_ns, sectors) = (job.access.end_ns, job.access.end - job.host_from);
        let needed_ns = self.link.time(&self.settings.interface, sectors, Way::ToHost);
        if self.settings.interface.read_fill_fraction.is_none() {
            let begins_ns = job.access.start_ns.max(cx.now()).max(job.outgoing.free_ns);
            job.outgoing.free_ns = end_ns.max(begins_ns + needed_ns);
        } else if job.outgoing.short > sectors {
            job.outgoing.short -= sectors;
            job.outgoing.pending_ns += needed_ns;
            return;
        } else {
            let sector_ns = self.link.time(&self.settings.interface, 1, Way::ToHost);
            let filled = job.host_from + job.outgoing.short.max(1);
            let delay_ns = if job.outgoing.short > 0 { self.settings.interface.read_start_delay_ns } else { 0 };
            let from_ns = (self.mechanism.arrived_ns(&job.access, filled) + delay_ns).max(job.outgoing.free_ns);
            let held_ns = if job.outgoing.short > 0 { job.outgoing.pending_ns } else { 0 };
            job.outgoing.free_ns = (from_ns + held_ns + needed_ns).max(end_ns + sector_ns);
            job.outgoing.short = 0;
        }
        let pending_ns = job.outgoing.pending_ns + needed_ns;
        let from_ns = job.outgoing.free_ns.saturating_sub(pending_ns);
        job.transfers = from_ns < end_ns && pending_ns > 0;
        job.outgoing.pending_ns = pending_ns;
        if job.transfers {
            job.outgoing.pending_ns = job.outgoing.free_ns - end_ns;
            self.accounts.change_at(from_ns, StateId::NONE, TRANSFER);
        }
    }
}

impl MediumJob {
    /// Time that the data of a read needs beyond the end of its last access.
    pub(super) fn lag_ns(&self) -> Nanos {
        self.outgoing.free_ns.saturating_sub(self.access.end_ns).max(self.outgoing.pending_ns)
    }

    /// The first sector of the access whose data is the host's, for an access that has changed.
    pub(super) fn next(&mut self, access: Access, host_from: Lba) {
        (self.access, self.host_from, self.transfers) = (access, host_from, false);
    }
}
