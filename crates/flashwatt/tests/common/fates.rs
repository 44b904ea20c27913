//! What becomes of every record of a damaged trace: given, or counted as bad, or as no request. Shared by the tests and by
//! `make fuzz`; it uses what the engine offers to anyone.

use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;
use flashwatt_workload::trace::{Format, Halt, Input, ReadOptions, Record};

/// What some editors put before a text; it is no part of the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The fates of a trace's records, which must add up to what was read.
#[derive(Debug, Default)]
pub struct Fates {
    /// What came out.
    pub records: Vec<Record>,
    /// Lines (or binary records) that a record came from: a flush and the request after it come from one.
    pub good: u64,
    /// Records that were said to be bad.
    pub bad: u64,
    /// Lines, events and binary records that are no requests.
    pub others: u64,
    /// Lines that the format begins with.
    pub headers: u64,
    /// Lines read, or binary records.
    pub position: u64,
    /// What was wrong: column and words, in the order in which it was met.
    pub faults: Vec<(&'static str, &'static str)>,
    /// It gave up with an error.
    pub stopped: bool,
    /// That error.
    pub stop: String,
}

/// Decodes `content` by a format, past every bad record.
pub fn fates(format: &Format, content: &[u8]) -> Fates {
    let input = Input::new(Box::new(std::io::Cursor::new(content.to_vec())), "t").expect("reading memory");
    let mut decoder = (format.decode)(input, ReadOptions::default());
    let (mut fates, mut last) = (Fates::default(), 0);
    loop {
        match decoder.next() {
            Ok(Some(record)) => {
                check(&record);
                fates.records.push(record);
                fates.good += u64::from(decoder.position() != last);
                last = decoder.position();
            }
            Ok(None) => break,
            Err(Halt::Pause) => {}
            Err(Halt::Bad(fault)) => {
                assert!(!fault.what.is_empty() && !fault.column.is_empty());
                fates.bad += fault.records.max(1);
                fates.faults.push((fault.column, fault.what));
                last = decoder.position();
            }
            Err(Halt::Stop(error)) => {
                (fates.stopped, fates.stop) = (true, error.to_string());
                assert!(!fates.stop.is_empty());
                break;
            }
        }
        assert!(fates.faults.len() <= content.len() + 1, "it goes round in circles");
    }
    (fates.others, fates.headers) = (decoder.others(), decoder.headers());
    fates.position = decoder.position();
    fates
}

/// What every decoder owes to those who use its records.
fn check(record: &Record) {
    assert!(record.offset_bytes < 1 << 62 && record.bytes <= 1 << 62);
    assert_eq!(record.bytes == 0, record.kind == RequestKind::Flush);
    assert!(!record.fua || record.kind != RequestKind::Flush);
}

/// Decodes `content`, asserts that nothing of it was lost in silence, and that recognition stands it.
pub fn nothing_is_silent(format: &Format, content: &[u8]) -> Fates {
    (format.detect)(content);
    let fates = fates(format, content);
    if format.name == "binary" {
        // Counted by blocks, of which a damaged one may hold any number of records.
        assert!(fates.good <= fates.position);
        return fates;
    }
    if fates.stopped {
        let begins_with_names = fates.stop.contains("column names") && fates.good + fates.bad + fates.others == 0;
        assert!(
            begins_with_names && !is_binary(format),
            "only a binary trace of another version, or column names of another format"
        );
        return fates;
    }
    let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content);
    let lines = content.split(|&c| c == b'\n').collect::<Vec<_>>();
    // A blank in a binary record is no empty line.
    let empty = if is_binary(format) { 0 } else { blank_lines(&lines, fates.position) };
    let told = fates.good + fates.bad + fates.others + fates.headers + empty;
    // What ends a text early (blkparse's summary) is one line more.
    let end = u64::from(format.name == "blkparse" && told + 1 == fates.position);
    assert_eq!(told + end, fates.position, "{}: {}", format.name, content.escape_ascii());
    let whole = lines.len() as u64 - u64::from(content.is_empty() || content.ends_with(b"\n"));
    assert!(is_binary(format) || end == 1 || fates.position == whole, "{}: not read to its end", format.name);
    fates
}

fn is_binary(format: &Format) -> bool {
    format.example.contains(&0)
}

fn blank_lines(lines: &[&[u8]], read: u64) -> u64 {
    lines.iter().take(read as usize).filter(|line| is_empty_or_comment(line)).count() as u64
}

fn is_empty_or_comment(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let first = line.iter().find(|&&c| c != b' ' && c != b'\t');
    first.is_none_or(|&c| c == b'#')
}

/// Flips, deletes, inserts or doubles up to eight bytes, or cuts the end off.
pub fn mutate(content: &mut Vec<u8>, rng: &mut Rng) {
    const LIKELY: &[u8] = b"0123456789-+.,:/ \t\n\r#RWDFNTZ[]()\0\xff";
    for _ in 0..=rng.below(8) {
        let byte = LIKELY[rng.below(LIKELY.len() as u64) as usize];
        if content.is_empty() {
            content.push(byte);
        }
        let at = rng.below(content.len() as u64) as usize;
        match rng.below(6) {
            0 => content[at] ^= 1 << rng.below(8),
            1 => content[at] = byte,
            2 => content.insert(at, byte),
            3 => drop(content.remove(at)),
            4 => content.extend_from_within(at..),
            5 if rng.below(8) == 0 => content.truncate(at + 1),
            _ => content.insert(at, b'9'),
        }
    }
}
