//! Counts over the records of one file from which [`super::doubts`] sees whether a drive could have done this. A trace whose columns
//! count something else than its format says is read without a fault, and is 8 to 10^6 times off.

use super::super::Record;
use super::clock_steps::ClockSteps;
use super::ratios::Ratios;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};
use flashwatt_core::connector::RequestKind;

/// Units that a size is a multiple of if it counts sectors in whole blocks of 4 KiB.
const SECTORS_IN_BLOCK: u64 = 8;
/// A block of a file system.
pub const BLOCK_BYTES: u64 = SECTORS_IN_BLOCK * SECTOR_BYTES;

/// Counts over the records of one file, as they are read.
#[derive(Clone, Debug, Default)]
pub struct Census {
    pub requests: u64,
    pub clock: ClockSteps,
    pub first_ns: u64,
    /// Reads and writes, and their bytes.
    pub moving: u64,
    pub bytes: u64,
    /// Reads and writes whose sizes are no multiples of a sector, of a block, of eight units.
    pub within_sector_sizes: u64,
    pub within_block_sizes: u64,
    pub odd_sizes: u64,
    /// The bits that are set in any of the sizes; the first size, and whether there are others.
    pub size_bits: u64,
    pub first_size: u64,
    pub varied: bool,
    pub ratios: Ratios,
    /// Requests with an offset, the bits that are set in any of these, how many of them start within a sector, and how many begin
    /// elsewhere than the one before.
    pub placed: u64,
    pub offset_bits: u64,
    pub within_sector: u64,
    pub moved: u64,
    pub end: u64,
    last_offset: u64,
}

impl Census {
    /// Counts over a file whose steps of the clock beyond `max_gap_ns` are cut.
    pub fn new(max_gap_ns: Option<Nanos>) -> Self {
        Census { clock: ClockSteps::new(max_gap_ns), ..Census::default() }
    }

    /// Counts a record, and sets its time to that of the mended clock.
    #[inline]
    pub fn add(&mut self, record: &mut Record, position: impl Fn() -> u64) {
        record.time_ns = self.clock.mend(record.time_ns, position);
        if self.requests == 0 {
            self.first_ns = record.time_ns;
        }
        self.requests += 1;
        match record.kind {
            RequestKind::Flush => return,
            RequestKind::Trim => {}
            RequestKind::Read | RequestKind::Write => self.moves(record),
        }
        self.placed += 1;
        self.offset_bits |= record.offset_bytes;
        self.within_sector += u64::from(!record.offset_bytes.is_multiple_of(SECTOR_BYTES));
        self.moved += u64::from(record.offset_bytes != self.last_offset);
        self.last_offset = record.offset_bytes;
        self.end = self.end.max(record.offset_bytes + record.bytes);
    }

    #[inline]
    fn moves(&mut self, record: &Record) {
        let Record { device, offset_bytes, bytes, .. } = *record;
        if self.moving == 0 {
            self.first_size = bytes;
        }
        self.moving += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.size_bits |= bytes;
        self.varied |= bytes != self.first_size;
        self.odd_sizes += u64::from(!bytes.is_multiple_of(SECTORS_IN_BLOCK));
        self.within_sector_sizes += u64::from(!bytes.is_multiple_of(SECTOR_BYTES));
        self.within_block_sizes += u64::from(!bytes.is_multiple_of(BLOCK_BYTES));
        self.ratios.add(device, offset_bytes, bytes);
    }

    pub fn mean_bytes(&self) -> f64 {
        self.bytes as f64 / self.moving as f64
    }

    /// The largest power of two that all offsets are multiples of; 0 if all are 0.
    pub fn offset_step(&self) -> u64 {
        if self.offset_bits == 0 { 0 } else { 1 << self.offset_bits.trailing_zeros() }
    }

    /// The same of the sizes.
    pub fn size_step(&self) -> u64 {
        if self.size_bits == 0 { 0 } else { 1 << self.size_bits.trailing_zeros() }
    }
}
