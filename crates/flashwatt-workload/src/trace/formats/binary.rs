//! FlashWatt's own compact binary form: what requests carry and nothing else, in checked blocks.
//!
//! ```text
//! file    16 bytes   89 46 57 54 0d 0a 1a 0a | version u16 = 2 | flags u16 = 0 | CRC-32 of these 12 bytes
//! block   32 bytes   "FWTB" | records u32 | payload bytes u32 | CRC-32 of the payload
//!                    number of the first record u64 | 0 u32 | CRC-32 of these 28 bytes
//!         payload    the records, see below
//! end     32 bytes   a block of no records; the number of its "first record" is that of all records
//!
//! record  1 byte     bits 0-1 kind (0 read, 1 write, 2 trim, 3 flush), 2 FUA, 3 device as before, 4 offset and length in
//!                    sectors of 512 bytes instead of bytes, 5 length as before, 6 another process than before; 7 is 0
//!         varints    [device] | [process + 1, or 0 for none] | time less the time before | [offset less the end of the request before | [length]]
//! ```
//!
//! Numbers are little-endian, times in nanoseconds; varints are LEB128 (7 bits to a byte, the lowest first), differences
//! zigzag-coded (0, -1, 1, -2, ... as 0, 1, 2, 3, ...) and taken modulo 2^64. Offset and length are missing from a flush.
//! "Before" starts anew in each block: device, time, end and length are 0, and no process is named. Version 1 has no bit 6
//! and no processes; it is still read. So a damaged block costs its own records only,
//! and the next one's number says how many those were. The first bytes are chosen as PNG's are: a transfer that treats the
//! file as text, or clears the eighth bit, breaks them. The checksum is that of gzip.

use super::super::read::input::Input;
use super::super::read::records::{u16_at, u32_at, u64_at};
use super::super::read::text::{Bad, OFFSET_BYTES_MAX, believable};
use super::super::{Decode, Format, Halt, LogPoint, Process, Record, trace_error};
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_core::connector::RequestKind;

mod write;

pub use write::Writer;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "binary",
    aliases: &["flashwatt", "fwt"],
    doc: "FlashWatt's own: compact, checked, keeps all that requests carry but who waits for a write",
    columns: "blocks of records: kind and flags, device, process, time (ns), offset (B), bytes; each block with its checksum",
    events: &[],
    logged: &[LogPoint::Unknown],
    tried: true,
    units: None,
    example: EXAMPLE,
    detect: |sample| sample.starts_with(MAGIC),
    decode: |input, _| Box::new(Binary::new(input)),
};

/// What a file begins with.
pub const MAGIC: &[u8] = b"\x89FWT\r\n\x1a\n";
const VERSION: u16 = 2;
const FILE_HEADER_BYTES: usize = 16;
const BLOCK_MAGIC: &[u8] = b"FWTB";
const BLOCK_HEADER_BYTES: usize = 32;
/// Blocks of more records are refused: a block is held in memory.
const BLOCK_RECORDS_MAX: u32 = 1 << 16;
/// The longest record: its first byte, four varints of ten bytes and one of five.
const RECORD_BYTES_MAX: u32 = 46;

/// Bits of a record's first byte.
const KIND: u8 = 0b11;
const FUA: u8 = 1 << 2;
const SAME_DEVICE: u8 = 1 << 3;
const SECTORS: u8 = 1 << 4;
const SAME_BYTES: u8 = 1 << 5;
const NEW_PROCESS: u8 = 1 << 6;
const RESERVED: u8 = 1 << 7;
/// Bits that version 1 has not.
const RESERVED_1: u8 = RESERVED | NEW_PROCESS;

const KINDS: [RequestKind; 4] = [RequestKind::Read, RequestKind::Write, RequestKind::Trim, RequestKind::Flush];

/// What "before" means for the next record of a block.
#[derive(Clone, Copy)]
struct Before {
    device: u64,
    process: Process,
    time_ns: u64,
    end: u64,
    bytes: u64,
}

impl Before {
    /// At the beginning of a block.
    const NONE: Before = Before { device: 0, process: Process::NONE, time_ns: 0, end: 0, bytes: 0 };

    fn then(record: &Record, before: Self) -> Self {
        let (device, process, time_ns) = (record.device, record.process, record.time_ns);
        if record.kind == RequestKind::Flush {
            return Before { device, process, time_ns, ..before };
        }
        Before { device, process, time_ns, end: record.offset_bytes + record.bytes, bytes: record.bytes }
    }
}

struct BlockHeader {
    records: u32,
    payload_bytes: u32,
    payload_crc: u32,
    first: u64,
}

impl BlockHeader {
    fn of(head: &[u8]) -> Result<Self, Box<Bad>> {
        if head.len() < BLOCK_HEADER_BYTES {
            return Err(Bad::new("block", "the file ends in the middle of a block's header"));
        }
        if !head.starts_with(BLOCK_MAGIC) {
            return Err(Bad::field("block", "not a block", &head[..4], "`FWTB`"));
        }
        let header = BlockHeader {
            records: u32_at(head, 4),
            payload_bytes: u32_at(head, 8),
            payload_crc: u32_at(head, 12),
            first: u64_at(head, 16),
        };
        let sane = u64::from(header.payload_bytes) <= u64::from(header.records) * u64::from(RECORD_BYTES_MAX);
        let sane = sane && header.records <= BLOCK_RECORDS_MAX && u32_at(head, 24) == 0;
        if u32_at(head, 28) != crc32fast::hash(&head[..28]) || !sane {
            return Err(Bad::new("block", "a damaged block header"));
        }
        Ok(header)
    }

    fn bytes(&self) -> usize {
        BLOCK_HEADER_BYTES + self.payload_bytes as usize
    }
}

struct Binary {
    input: Input,
    block: Vec<Record>,
    /// The next of `block`.
    at: usize,
    /// Records given or lost so far.
    count: u64,
    stage: ReadStage,
    /// Bits of a record's first byte that must be 0, by the file's version.
    reserved: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadStage {
    Header,
    Blocks,
    /// Behind the end block.
    Trailer,
    Over,
}

impl Binary {
    fn new(input: Input) -> Self {
        Binary { input, block: Vec::new(), at: 0, count: 0, stage: ReadStage::Header, reserved: RESERVED }
    }

    fn header(&mut self) -> Result<(), Halt> {
        self.stage = ReadStage::Blocks;
        let place = self.input.place();
        let head = self.input.take(FILE_HEADER_BYTES)?;
        if head.len() < FILE_HEADER_BYTES || !head.starts_with(MAGIC) {
            self.stage = ReadStage::Over;
            return Err(Bad::new("header", "not a binary trace of FlashWatt, or not its beginning").into());
        }
        let (version, flags) = (u16_at(head, 8), u16_at(head, 10));
        if u32_at(head, 12) != crc32fast::hash(&head[..12]) {
            return Err(Bad { records: 0, ..*Bad::new("header", "a damaged file header") }.boxed().into());
        }
        self.reserved = if version == 1 { RESERVED_1 } else { RESERVED };
        if !(1..=VERSION).contains(&version) || flags != 0 {
            let fault = Fault::at(place, "a binary trace of another version");
            let found = format!("version {version}, flags {flags}");
            return Err(Halt::Stop(trace_error(fault.found(found).expected("version 1 or 2, flags 0"))));
        }
        Ok(())
    }

    /// Makes the next block the current one; false at the end.
    fn load(&mut self) -> Result<bool, Halt> {
        let (head, _) = self.input.peek(BLOCK_HEADER_BYTES)?;
        if head.is_empty() {
            self.stage = ReadStage::Over;
            return Err(Bad::new("end", "the file ends before its end mark: records are missing").into());
        }
        let header = match BlockHeader::of(head) {
            Ok(header) => header,
            Err(bad) => return Err(self.resume(bad, 0, 1)?),
        };
        if header.first > self.count {
            return Err(self.gap(header.first));
        }
        if header.first < self.count {
            let bad = Bad::new("block", "a block that was there before, or out of its order");
            return Err(self.resume(bad, 0, header.bytes())?);
        }
        if header.records == 0 {
            self.input.skip(BLOCK_HEADER_BYTES);
            self.stage = ReadStage::Trailer;
            return Ok(false);
        }
        match self.payload(&header)? {
            Ok(()) => {
                self.input.skip(header.bytes());
                Ok(true)
            }
            Err(bad) => Err(self.resume(bad, u64::from(header.records), BLOCK_HEADER_BYTES)?),
        }
    }

    /// Blocks are missing, without a trace of them.
    fn gap(&mut self, first: u64) -> Halt {
        let records = first - self.count;
        self.count = first;
        let found = Some(format!("record {}", first.saturating_add(1)));
        let what = "records are missing";
        Halt::Bad(Box::new(Bad { column: "block", what, found, expected: Some("the one that follows"), records }))
    }

    fn payload(&mut self, header: &BlockHeader) -> Result<Result<(), Box<Bad>>, Error> {
        let (bytes, _) = self.input.peek(header.bytes())?;
        if bytes.len() < header.bytes() {
            return Ok(Err(Bad::new("block", "the file ends in the middle of a block")));
        }
        let payload = &bytes[BLOCK_HEADER_BYTES..];
        if crc32fast::hash(payload) != header.payload_crc {
            return Ok(Err(Bad::new("block", "a damaged block: its checksum is not that of its records")));
        }
        self.at = 0;
        Ok(records(payload, header.records, self.reserved, &mut self.block))
    }

    /// Goes on at the next sound block header, at least `skip` bytes on. Its number says how many records were lost; at the
    /// end of the file `known` of them are.
    fn resume(&mut self, mut bad: Box<Bad>, known: u64, skip: usize) -> Result<Halt, Error> {
        self.block.clear();
        self.at = 0;
        let mut skip = skip;
        let next = loop {
            self.input.peek(skip)?;
            self.input.skip(skip);
            self.input.skip_to(BLOCK_MAGIC)?;
            let (head, _) = self.input.peek(BLOCK_HEADER_BYTES)?;
            match BlockHeader::of(head) {
                Ok(header) => break Some(header.first),
                Err(_) if head.is_empty() => break None,
                Err(_) => skip = 1,
            }
        };
        bad.records = next.map_or(known, |first| first.saturating_sub(self.count));
        self.count = self.count.saturating_add(bad.records);
        Ok(Halt::Bad(bad))
    }
}

impl Decode for Binary {
    #[inline]
    fn next(&mut self) -> Result<Option<Record>, Halt> {
        loop {
            if let Some(record) = self.block.get(self.at) {
                self.at += 1;
                self.count += 1;
                return Ok(Some(*record));
            }
            match self.stage {
                ReadStage::Header => self.header()?,
                ReadStage::Blocks => drop(self.load()?),
                ReadStage::Trailer => {
                    self.stage = ReadStage::Over;
                    if !self.input.peek(1)?.0.is_empty() {
                        let bad = Bad::new("end", "something follows the end mark");
                        return Err(Bad { records: 0, ..*bad }.boxed().into());
                    }
                }
                ReadStage::Over => return Ok(None),
            }
        }
    }

    fn position(&self) -> u64 {
        self.count
    }

    fn place(&self, position: u64, column: &str) -> Place {
        Place { key: Some(format!("record {position}: {column}")), ..self.input.place() }
    }

    fn others(&self) -> u64 {
        0
    }
}

/// Decodes a block's records. None of them is wrong unless the writer was.
fn records(mut payload: &[u8], count: u32, reserved: u8, to: &mut Vec<Record>) -> Result<(), Box<Bad>> {
    to.clear();
    let mut before = Before::NONE;
    for _ in 0..count {
        let record = record(&mut payload, before, reserved).ok_or_else(|| Bad::new("record", "not a record"))?;
        believable(record.kind, record.bytes, "bytes")?;
        before = Before::then(&record, before);
        to.push(record);
    }
    if payload.is_empty() { Ok(()) } else { Err(Bad::new("block", "more than its records in a block")) }
}

#[inline]
fn record(from: &mut &[u8], before: Before, reserved: u8) -> Option<Record> {
    let (&tag, rest) = from.split_first()?;
    *from = rest;
    if tag & reserved != 0 {
        return None;
    }
    let kind = KINDS[usize::from(tag & KIND)];
    let device = if tag & SAME_DEVICE != 0 { before.device } else { varint(from)? };
    let process = if tag & NEW_PROCESS == 0 { before.process } else { process(varint(from)?)? };
    let time_ns = before.time_ns.wrapping_add(unzigzag(varint(from)?));
    if kind == RequestKind::Flush {
        return (tag & (FUA | SECTORS | SAME_BYTES) == 0).then(|| Record { process, ..Record::flush(time_ns, device) });
    }
    let unit = if tag & SECTORS != 0 { SECTOR_BYTES } else { 1 };
    let offset_bytes = before.end.wrapping_add(unzigzag(varint(from)?).wrapping_mul(unit));
    let bytes = if tag & SAME_BYTES != 0 { before.bytes } else { varint(from)?.checked_mul(unit)? };
    let sound = offset_bytes < OFFSET_BYTES_MAX && bytes < OFFSET_BYTES_MAX && bytes > 0;
    sound.then_some(Record { fua: tag & FUA != 0, process, ..Record::new(time_ns, device, offset_bytes, bytes, kind) })
}

fn process(coded: u64) -> Option<Process> {
    coded.checked_sub(1).map_or(Some(Process::NONE), Process::new)
}

#[inline]
fn varint(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// A read, a write that follows it on the drive with FUA, a flush, and an odd trim of another device.
const EXAMPLE: &[u8] = b"\
    \x89FWT\r\n\x1a\n\x02\x00\x00\x00\xb1v\xb1\xb1\
    FWTB\x04\x00\x00\x00\x16\x00\x00\x00\xa6~\x19\xa5\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc6\xe4\xa6\x91\
    \x18\xd0\x0f\x10\x08=\xe8\x07\x00\x0b\xc8\x01\x02\x05\xa0\x06\xad\xb0\x01\xff\xff\x03\
    FWTB\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x7fT\xe0\xaa";

#[cfg(test)]
mod tests;
