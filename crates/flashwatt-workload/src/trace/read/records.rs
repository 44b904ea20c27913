//! What the binary formats share: records of a known size, counted instead of lines.

use super::super::{Decode, Halt, Record};
use super::input::Input;
use super::text::{Bad, PASSED_OVER_MAX, TextLine};
use flashwatt_base::error::Place;

/// A format of binary records.
pub trait RecordFormat {
    /// Bytes in the fixed part of a record.
    fn bytes(&self) -> usize;

    /// Decodes the fixed part, and says how many more bytes follow it.
    fn record(&mut self, fixed: &[u8]) -> Result<(TextLine, usize), Box<Bad>>;

    /// What every record begins with, if anything: where to go on after a damaged one.
    fn magic(&self) -> Option<&'static [u8]> {
        None
    }
}

/// The decoder of a [`RecordFormat`].
pub struct Records<F> {
    input: Input,
    format: F,
    after_flush: Option<Record>,
    count: u64,
    others: u64,
}

impl<F: RecordFormat + Send + 'static> Records<F> {
    /// Decodes `input` by `format`.
    pub fn boxed(input: Input, format: F) -> Box<dyn Decode> {
        Box::new(Records { input, format, after_flush: None, count: 0, others: 0 })
    }
}

impl<F: RecordFormat + Send> Decode for Records<F> {
    fn next(&mut self) -> Result<Option<Record>, Halt> {
        if let Some(record) = self.after_flush.take() {
            return Ok(Some(record));
        }
        for _ in 0..PASSED_OVER_MAX {
            let fixed = self.input.take(self.format.bytes())?;
            if fixed.is_empty() {
                return Ok(None);
            }
            self.count += 1;
            if fixed.len() < self.format.bytes() {
                return Err(cut_short(fixed.len(), self.format.bytes()).into());
            }
            let (entry, more) = match self.format.record(fixed) {
                Ok(decoded) => decoded,
                Err(bad) => {
                    self.resume()?;
                    return Err(bad.into());
                }
            };
            let rest = self.input.take(more)?.len();
            if rest < more {
                return Err(cut_short(self.format.bytes() + rest, self.format.bytes() + more).into());
            }
            match entry {
                TextLine::Request(record) => return Ok(Some(record)),
                TextLine::FlushThen(record) => {
                    self.after_flush = Some(record);
                    return Ok(Some(record.flush_before()));
                }
                TextLine::Other | TextLine::Header => self.others += 1,
                TextLine::End => return Ok(None),
            }
        }
        Err(Halt::Pause)
    }

    fn position(&self) -> u64 {
        self.count
    }

    fn place(&self, position: u64, column: &str) -> Place {
        Place { key: Some(format!("record {position}: {column}")), ..self.input.place() }
    }

    fn others(&self) -> u64 {
        self.others
    }
}

impl<F: RecordFormat> Records<F> {
    /// Goes on where the next record begins, in a format that can tell.
    fn resume(&mut self) -> Result<(), Halt> {
        match self.format.magic() {
            Some(magic) => Ok(self.input.skip_to(magic)?),
            None => Ok(()),
        }
    }
}

#[cold]
fn cut_short(found: usize, whole: usize) -> Box<Bad> {
    let found = Some(format!("{found} bytes of {whole}"));
    Box::new(Bad {
        column: "record",
        what: "the file ends in the middle of a record",
        found,
        expected: Some("all of it"),
        records: 1,
    })
}

/// A little-endian number of two bytes at `at`; 0 beyond the end, which callers have excluded.
pub fn u16_at(record: &[u8], at: usize) -> u16 {
    record.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes)
}

/// The same of four bytes.
pub fn u32_at(record: &[u8], at: usize) -> u32 {
    record.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// The same of eight bytes.
pub fn u64_at(record: &[u8], at: usize) -> u64 {
    record.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}
