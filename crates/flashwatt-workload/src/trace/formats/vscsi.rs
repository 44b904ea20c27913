//! VMware's virtual SCSI traces (CloudPhysics), binary, versions 1 and 2: fixed little-endian records with the SCSI
//! command, its length in bytes, its logical block and the time in microseconds.

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::records::{RecordFormat, Records, u16_at, u32_at, u64_at};
use super::super::read::text::{Bad, TextLine, range};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "vscsi",
    aliases: &["cloudphysics"],
    doc: "VMware vscsi (binary), versions 1 and 2 (of which 2 was not tried on a real file)",
    columns: "version 1 (32 bytes): serial number, length (B), segments, command, version, block (512 B), time (µs); \
              version 2 (40 bytes): command, version, serial number, length, segments, block, time, response time",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: true,
    units: None,
    example: EXAMPLE,
    detect: |sample| Vscsi::of(sample).is_some_and(|version| version.fits(sample)),
    decode: |mut input, _| {
        // A first record that fits neither version is then told as a bad one.
        let version = input.peek(V2_BYTES).ok().and_then(|(head, _)| Vscsi::of(head)).unwrap_or(Vscsi::V1);
        Records::boxed(input, version)
    },
};

const UNITS: ColumnUnits = ColumnUnits::sectors_and_bytes(Tick::US);
const V1_BYTES: usize = 32;
const V2_BYTES: usize = 40;
/// Records of a sample that recognition looks at.
const SAMPLE_RECORDS: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Vscsi {
    V1,
    V2,
}

/// What SCSI's commands ask; everything else moves no data of the disk.
fn kind(command: u16) -> Option<RequestKind> {
    match command {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(RequestKind::Read),
        // Writes of 6, 10, 12 and 16 bytes, and those that verify.
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Some(RequestKind::Write),
        0x35 | 0x91 => Some(RequestKind::Flush),
        _ => None,
    }
}

impl Vscsi {
    fn of(head: &[u8]) -> Option<Self> {
        [Vscsi::V1, Vscsi::V2].into_iter().find(|version| version.is_of(head))
    }

    /// The high byte of the version field says it.
    fn is_of(self, record: &[u8]) -> bool {
        match self {
            Vscsi::V1 => record.len() >= V1_BYTES && u16_at(record, 14) >> 8 == 1,
            Vscsi::V2 => record.len() >= V2_BYTES && u16_at(record, 2) >> 8 == 2,
        }
    }

    fn fits(self, sample: &[u8]) -> bool {
        let records = || sample.chunks_exact(self.bytes()).take(SAMPLE_RECORDS);
        let command = |record| u16_at(record, if self == Vscsi::V1 { 12 } else { 0 });
        records().all(|record| self.is_of(record) && command(record) <= 0xff)
            && records().any(|record| kind(command(record)).is_some())
    }
}

impl RecordFormat for Vscsi {
    fn bytes(&self) -> usize {
        match self {
            Vscsi::V1 => V1_BYTES,
            Vscsi::V2 => V2_BYTES,
        }
    }

    #[inline]
    fn record(&mut self, fixed: &[u8]) -> Result<(TextLine, usize), Box<Bad>> {
        if !self.is_of(fixed) {
            return Err(Bad::new("version", "not a vscsi record of the same version as the first"));
        }
        let (command, length, block, time) = match self {
            Vscsi::V1 => (u16_at(fixed, 12), u32_at(fixed, 4), u64_at(fixed, 16), u64_at(fixed, 24)),
            Vscsi::V2 => (u16_at(fixed, 0), u32_at(fixed, 8), u64_at(fixed, 16), u64_at(fixed, 24)),
        };
        if command > 0xff {
            let found = format!("{command:#x}");
            return Err(Bad::field("command", "unknown operation", found.as_bytes(), "a SCSI command of one byte"));
        }
        let Some(time_ns) = time.checked_mul(Tick::US.ns) else {
            let expected = "a time below 2^64 ns (584 years)";
            return Err(Bad::field("time (µs)", "time too large", time.to_string().as_bytes(), expected));
        };
        let entry = match kind(command) {
            None => TextLine::Other,
            Some(RequestKind::Flush) => TextLine::Request(Record::flush(time_ns, 0)),
            Some(kind) => {
                let (offset_bytes, bytes) = range(("block", block), ("length", u64::from(length)), &UNITS)?;
                believed(Record::new(time_ns, 0, offset_bytes, bytes, kind), "length")?
            }
        };
        Ok((entry, 0))
    }
}

/// A read of 4096 bytes at block 8, a write of 512 bytes at block 16, an inquiry.
const EXAMPLE: &[u8] = b"\
    \x01\0\0\0\x00\x10\0\0\x01\0\0\0\x28\0\0\x01\x08\0\0\0\0\0\0\0\x40\x42\x0f\0\0\0\0\0\
    \x02\0\0\0\x00\x02\0\0\x01\0\0\0\x2a\0\0\x01\x10\0\0\0\0\0\0\0\x41\x42\x0f\0\0\0\0\0\
    \x03\0\0\0\x24\x00\0\0\x01\0\0\0\x12\0\0\x01\x00\0\0\0\0\0\0\0\x42\x42\x0f\0\0\0\0\0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_2_has_other_places() {
        let mut record = Vec::new();
        record.extend(0x2a_u16.to_le_bytes());
        record.extend(0x0200_u16.to_le_bytes());
        for word in [7_u32, 8192, 1] {
            record.extend(word.to_le_bytes());
        }
        for word in [24_u64, 1_000_000, 55] {
            record.extend(word.to_le_bytes());
        }
        assert!((FORMAT.detect)(&record));
        let Ok((TextLine::Request(got), 0)) = Vscsi::V2.record(&record) else { panic!("a write") };
        let kind = RequestKind::Write;
        let expected = Record::new(10_u64.pow(9), 0, 12_288, 8192, kind);
        assert_eq!(got, expected);
    }
}
