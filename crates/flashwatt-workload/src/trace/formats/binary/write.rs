//! Writes the binary form.

use std::io::{self, Write};

use super::{
    BLOCK_HEADER_BYTES, BLOCK_MAGIC, Before, FUA, KINDS, MAGIC, NEW_PROCESS, Record, SAME_BYTES, SAME_DEVICE, SECTORS,
    VERSION,
};
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_core::connector::RequestKind;

/// Records in a block: enough that its header is lost among them, few enough that damage costs little.
const BLOCK_RECORDS: u32 = 4096;

/// Writes records one after another. What was written is whole only after [`Writer::finish`].
pub struct Writer<W> {
    to: W,
    payload: Vec<u8>,
    /// Records in `payload`.
    records: u32,
    /// Records before those.
    count: u64,
    before: Before,
}

impl<W: Write> Writer<W> {
    /// Writes the file's header.
    ///
    /// # Errors
    /// Those of `to`, as everywhere here.
    pub fn new(mut to: W) -> io::Result<Self> {
        let mut header = MAGIC.to_vec();
        header.extend(VERSION.to_le_bytes());
        header.extend([0, 0]);
        let crc = crc32fast::hash(&header);
        header.extend(crc.to_le_bytes());
        to.write_all(&header)?;
        Ok(Writer { to, payload: Vec::new(), records: 0, count: 0, before: Before::NONE })
    }

    /// Writes a record. Records of decoders are within the form's limits: offsets and lengths below 2^62.
    pub fn record(&mut self, record: &Record) -> io::Result<()> {
        encode(record, self.before, &mut self.payload);
        self.before = Before::then(record, self.before);
        self.records += 1;
        if self.records == BLOCK_RECORDS { self.block() } else { Ok(()) }
    }

    /// Writes the rest and the end mark, and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        if self.records > 0 {
            self.block()?;
        }
        self.block()?;
        Ok(self.to)
    }

    fn block(&mut self) -> io::Result<()> {
        let mut header = Vec::with_capacity(BLOCK_HEADER_BYTES);
        header.extend(BLOCK_MAGIC);
        header.extend(self.records.to_le_bytes());
        header.extend((self.payload.len() as u32).to_le_bytes());
        header.extend(crc32fast::hash(&self.payload).to_le_bytes());
        header.extend(self.count.to_le_bytes());
        header.extend([0; 4]);
        let crc = crc32fast::hash(&header);
        header.extend(crc.to_le_bytes());
        self.to.write_all(&header)?;
        self.to.write_all(&self.payload)?;
        self.count += u64::from(self.records);
        (self.records, self.before) = (0, Before::NONE);
        self.payload.clear();
        Ok(())
    }
}

fn encode(record: &Record, before: Before, to: &mut Vec<u8>) {
    let flush = record.kind == RequestKind::Flush;
    let aligned = |bytes: u64| bytes.is_multiple_of(SECTOR_BYTES);
    let sectors = !flush && aligned(record.offset_bytes) && aligned(record.bytes) && aligned(before.end);
    let same_bytes = !flush && record.bytes == before.bytes;
    let same_device = record.device == before.device;
    let kind = KINDS.iter().position(|kind| *kind == record.kind).unwrap_or_default() as u8;
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    let fua = flag(record.fua && !flush, FUA);
    let same_process = record.process == before.process;
    to.push(
        kind | fua
            | flag(same_device, SAME_DEVICE)
            | flag(!same_process, NEW_PROCESS)
            | flag(sectors, SECTORS)
            | flag(same_bytes, SAME_BYTES),
    );
    if !same_device {
        varint(record.device, to);
    }
    if !same_process {
        varint(record.process.number().map_or(0, |number| u64::from(number) + 1), to);
    }
    varint(zigzag(record.time_ns.wrapping_sub(before.time_ns) as i64), to);
    if flush {
        return;
    }
    let unit = if sectors { SECTOR_BYTES } else { 1 };
    // Both lie below 2^63: the difference is no larger, and divisible as they are.
    varint(zigzag((record.offset_bytes as i64 - before.end as i64) / unit as i64), to);
    if !same_bytes {
        varint(record.bytes / unit, to);
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}
