//! Rows that wait for pages: when they are padded.
//!
//! A row is programmed when all its pages are there. A drive that has no more pages for it *pads* it: the translation layer skips the
//! rest of the row, and pages without data take its place. That happens when a row has had no new page for
//! `device.cells.pad_after_ns`, and at once when a flush, a forced write, the recovery from a power cut or the end of the run waits for
//! data in it and nothing more is on its way from the write buffer. A row whose pages a collection needs for its copies is padded later.
//!
//! A row in two passes waits for its second one until pages of the rows behind it are there: these rows are padded with it.
//!
//! Every drive whose dies do more than one thing at a time has this service: the drive takes account of the ends of rows before services settle.

use super::service::Service;
use super::settings::Settings;
use super::{NO_SEAT, Ssd};
use crate::controller::{EndedOp, PadWhich};
use crate::firmware::Firmware;
use crate::nand::Geometry;
use crate::observe::probe::{Probe, Purpose};
use flashwatt_base::units::{BlockId, Nanos, RequestId};
use flashwatt_core::connector::Cx;

/// The timer of rows that wait for pages.
pub(super) struct RowPadding {
    seat: u32,
    /// The time that the timer is set to, if it is.
    timer: Option<Nanos>,
    /// Whether data outlives a power cut before it is on flash.
    is_protected: bool,
    /// Whether someone waits for the rows that are open.
    is_urgent: bool,
    /// Kept for its memory.
    blocks: Vec<(BlockId, u32)>,
}

impl RowPadding {
    /// Someone waits for data in rows that are open.
    pub fn hurry(&mut self) {
        self.is_urgent = true;
    }
}

impl Service for RowPadding {
    /// It stands for copies between two passes as well: their step has ended, and nobody waits for their end.
    const REQUEST: RequestId = RequestId::PAD;

    fn of_drive(settings: &Settings, _firmware: &Firmware, _geometry: &Geometry) -> Option<Self> {
        let (seat, is_protected) = (NO_SEAT, settings.write_buffer.is_protected());
        let rows = RowPadding { seat, is_protected, timer: None, is_urgent: false, blocks: Vec::new() };
        (settings.device.has_cells()).then_some(rows)
    }

    fn seat(&mut self) -> Option<&mut u32> {
        Some(&mut self.seat)
    }

    fn event<P: Probe>(&mut self, _drive: &mut Ssd<P>, _cx: &mut Cx) {
        self.timer = None;
    }

    fn holds_back(&mut self, _flush: RequestId) -> bool {
        self.is_urgent |= !self.is_protected;
        false // the flush waits for the data itself
    }

    fn op_ended<P: Probe>(&mut self, _ended: EndedOp, _drive: &mut Ssd<P>, _cx: &mut Cx) {}

    fn settle<P: Probe>(&mut self, drive: &mut Ssd<P>, cx: &mut Cx) {
        let more_comes = drive.buffered.as_ref().is_some_and(|buffered| buffered.more_must_leave());
        let which = match () {
            () if more_comes => PadWhich::Late,
            () if drive.waits_for_recovery() => PadWhich::All,
            () if drive.draining || self.is_urgent => PadWhich::OfHost, // copies fill their rows, and nobody waits for the map's
            () => PadWhich::Late,
        };
        let mut has_waiting = false;
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.clear();
        drive.controller.rows_to_pad(cx.now(), which, &drive.flash.array, &mut blocks);
        for &(block, end) in &blocks {
            drive.firmware.pad(block, end, &drive.flash.array);
            if drive.firmware.plan.ops().is_empty() {
                drive.controller.pad_later(block, cx.now());
                drive.controller.wake(drive.geometry.die_of_block(block), &drive.firmware);
                has_waiting = true;
                continue;
            }
            drive.begin_own(Self::REQUEST, Purpose::Background, false, cx.now());
        }
        self.blocks = blocks;
        self.is_urgent &= more_comes || has_waiting;
        let next = drive.controller.next_pad_at();
        if next == self.timer {
            return;
        }
        self.timer = next.filter(|&at| at <= cx.agenda.horizon());
        match self.timer {
            Some(at) => cx.agenda.reset(self.seat, at.max(cx.now())),
            None => cx.agenda.cancel(self.seat),
        }
    }
}
