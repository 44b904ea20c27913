//! What the three views of Linux's block tracer share: device numbers, and what a request is.

use super::super::read::column_units::ColumnUnits;
use super::super::read::text::{Bad, TextLine, number, range};
use super::super::{Process, Record, believed};
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_core::connector::RequestKind;

/// Bits of a minor number in the kernel's device numbers.
const MINOR_BITS: u32 = 20;
/// Major numbers have twelve.
const MAJOR_MAX: u64 = (1 << 12) - 1;

/// The kernel's number of a device: `major << 20 | minor`.
pub fn device_number(major: &[u8], minor: &[u8]) -> Result<u64, Box<Bad>> {
    let (high, low) = (number(major, "major device number")?, number(minor, "minor device number")?);
    if high > MAJOR_MAX {
        return Err(Bad::field("major device number", "number too large", major, "at most 4095"));
    }
    if low >> MINOR_BITS != 0 {
        return Err(Bad::field("minor device number", "number too large", minor, "less than 2^20"));
    }
    Ok(high << MINOR_BITS | low)
}

/// `8,16`.
pub fn device(field: &[u8]) -> Result<u64, Box<Bad>> {
    match field.iter().position(|&c| c == b',') {
        Some(comma) => device_number(&field[..comma], &field[comma + 1..]),
        None => Err(Bad::field("device", "not a device number", field, "major,minor")),
    }
}

/// What the flags of a request say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// `None`: no data and no flush, such as a packet command.
    pub kind: Option<RequestKind>,
    /// A flush goes before it.
    pub preflush: bool,
    /// Forced unit access.
    pub fua: bool,
    /// The flag of a request that somebody waits for. Reads are waited for without it.
    pub sync: bool,
}

/// The letters that say what a request is, as the kernel writes them: `F` for a flush that goes before it, one letter
/// for the operation, and then its flags.
pub fn rwbs(field: &[u8]) -> Result<Flags, Box<Bad>> {
    let unknown = || Bad::field("RWBS", "unknown operation", field, "[F] R, W, D, DE, F or N, then F, A, S, M");
    let (preflush, letters) = match field {
        [b'F', letters @ ..] if b"RWDEFN".contains(letters.first().unwrap_or(&b' ')) => (true, letters),
        letters => (false, letters),
    };
    let (kind, flags) = match letters {
        [b'R', flags @ ..] => (Some(RequestKind::Read), flags),
        [b'W', flags @ ..] => (Some(RequestKind::Write), flags),
        // A secure erase (`DE`, or `E` in between) unmaps as a discard does.
        [b'D', b'E', flags @ ..] | [b'D' | b'E', flags @ ..] => (Some(RequestKind::Trim), flags),
        [b'F', flags @ ..] => (Some(RequestKind::Flush), flags),
        [b'N', flags @ ..] => (None, flags),
        _ => return Err(unknown()),
    };
    if !flags.iter().all(|c| b"FASMB".contains(c)) {
        return Err(unknown());
    }
    Ok(Flags { kind, preflush, fua: flags.contains(&b'F'), sync: flags.contains(&b'S') })
}

/// The process with this number.
pub fn process(number: u64) -> Result<Process, Box<Bad>> {
    let too_large =
        || Bad::field("process id", "number too large", number.to_string().as_bytes(), "less than 2^32 - 1");
    Process::new(number).ok_or_else(too_large)
}

/// A request of the block layer, from its flags and its range: first sector and sectors. Without data it is a flush or, as the
/// completion of a write that was nothing but a flush, no request.
pub fn request(
    time_ns: u64,
    (device, process): (u64, Process),
    flags: Flags,
    (sector, sectors): (u64, u64),
    units: &ColumnUnits,
) -> Result<TextLine, Box<Bad>> {
    let flush = flags.kind == Some(RequestKind::Flush) || flags.preflush && sectors == 0;
    if flush {
        return Ok(TextLine::Request(Record { process, ..Record::flush(time_ns, device) }));
    }
    let Some(kind) = flags.kind.filter(|_| sectors > 0) else {
        return Ok(TextLine::Other);
    };
    let (offset_bytes, bytes) = range(("sector", sector), ("sectors", sectors), units)?;
    let record = Record::new(time_ns, device, offset_bytes, bytes, kind);
    // op_is_sync() of include/linux/blk_types.h.
    let is_sync = kind != RequestKind::Write || flags.sync || flags.fua || flags.preflush;
    let entry = believed(Record { fua: flags.fua, is_sync, process, ..record }, "sectors")?;
    match entry {
        TextLine::Request(record) if flags.preflush => Ok(TextLine::FlushThen(record)),
        entry => Ok(entry),
    }
}

/// Bytes as sectors, rounded up.
pub fn sectors_of(bytes: u64) -> u64 {
    bytes.div_ceil(SECTOR_BYTES)
}

#[cfg(test)]
mod tests {
    use super::super::super::read::column_units::Tick;
    use super::*;

    #[test]
    fn operations_and_flags() {
        let of = |letters: &str| rwbs(letters.as_bytes()).ok().map(|f| (f.kind, f.preflush, f.fua));
        assert_eq!(of("R"), Some((Some(RequestKind::Read), false, false)));
        assert_eq!(of("RAM"), Some((Some(RequestKind::Read), false, false)));
        assert_eq!(of("WS"), Some((Some(RequestKind::Write), false, false)));
        assert_eq!(of("WFS"), Some((Some(RequestKind::Write), false, true)));
        assert_eq!(of("FWFS"), Some((Some(RequestKind::Write), true, true)));
        assert_eq!(of("FF"), Some((Some(RequestKind::Flush), true, false)));
        assert_eq!(of("FN"), Some((None, true, false)));
        assert_eq!(of("F"), Some((Some(RequestKind::Flush), false, false)));
        assert_eq!(of("DS"), Some((Some(RequestKind::Trim), false, false)));
        assert_eq!(of("DE"), Some((Some(RequestKind::Trim), false, false)));
        assert_eq!((of(""), of("X"), of("RX")), (None, None, None));
    }

    /// Whether the request with these letters is waited for.
    fn is_waited_for(letters: &str) -> Option<bool> {
        let flags = rwbs(letters.as_bytes()).ok()?;
        match request(0, (0, Process::NONE), flags, (8, 8), &ColumnUnits::sectors(Tick::NS)).ok()? {
            TextLine::Request(record) | TextLine::FlushThen(record) => Some(record.is_sync),
            _ => None,
        }
    }

    #[test]
    fn a_page_cache_writes_without_anybody_waiting() {
        for waited_for in ["R", "RA", "RM", "WS", "WSM", "WF", "WFS", "FWS", "FW", "D"] {
            assert_eq!(is_waited_for(waited_for), Some(true), "{waited_for}");
        }
        for not_waited_for in ["W", "WM"] {
            assert_eq!(is_waited_for(not_waited_for), Some(false), "{not_waited_for}");
        }
    }

    #[test]
    fn device_numbers() {
        assert_eq!(device(b"8,16").ok(), Some(8 << 20 | 16));
        assert!(device(b"8").is_err() && device(b"4096,0").is_err() && device(b"1,1048576").is_err());
    }
}
