//! The pace of a drive under endless writes, for start states: how long operations keep a die busy, and how many requests there are
//! at a time.

use super::settings::{DeviceTable, ReadTransfer, Timing};
use crate::operation::OpKind;
use flashwatt_base::units::Nanos;

/// The pace of a drive that is never short of requests.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    read_ns: Nanos,
    program_ns: Nanos,
    erase_ns: Nanos,
    copy_ns: Nanos,
    copyback_ns: Nanos,
    /// The kind of collection's copies.
    pub copies: OpKind,
    /// Requests inside the drive at any time.
    pub requests: u32,
}

impl Pace {
    /// The pace of a drive with these settings. Buses are taken to be free. Of a row that is programmed at once each page takes its share.
    pub fn new(device: &DeviceTable, read_transfer: ReadTransfer) -> Self {
        let (timing, nand, link) = (&device.timing, &device.nand, &device.host_link);
        let Timing { command_ns, page_transfer_ns, .. } = *timing;
        let program_ns = timing.program_upper_ns.map_or(timing.program_ns, |upper| (timing.program_ns + upper) / 2);
        let program_ns = program_ns.div_ceil(Nanos::from(device.row_pages()));
        let out_ns = read_transfer.ns(timing);
        let again_ns = if device.pass_distance() > 0 { command_ns + page_transfer_ns } else { 0 }; // a page moves in for each pass
        let (read, program) = (command_ns + timing.read_ns, command_ns + program_ns + again_ns);
        Pace {
            read_ns: read + out_ns,
            program_ns: program + page_transfer_ns,
            erase_ns: command_ns + timing.erase_ns,
            copy_ns: read + program + out_ns + page_transfer_ns,
            copyback_ns: read + program,
            copies: OpKind::of_copies(nand.copyback),
            requests: link.queue_depth,
        }
    }

    /// How long an operation keeps its die busy, in ns.
    pub fn of(&self, kind: OpKind) -> Nanos {
        match kind {
            OpKind::Read | OpKind::SpareRead => self.read_ns,
            OpKind::Program => self.program_ns,
            OpKind::Copy => self.copy_ns,
            OpKind::Copyback => self.copyback_ns,
            OpKind::Erase => self.erase_ns,
        }
    }
}
