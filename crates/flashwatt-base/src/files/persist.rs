//! The format of a drive's state: little-endian numbers in checked and compressed chunks.
//!
//! A chunk is its length, its packed length and a CRC-32, four bytes each, and then its bytes: packed by LZ4, or
//! unpacked if packing gains nothing. The CRC also covers the chunk before, so that a missing chunk is detected. An
//! empty chunk marks the end. No number spans two chunks.

use std::io::{self, Read, Write};

use crate::error::Error;
use crate::progress::Watch;

/// Largest size in bytes of an unpacked chunk.
const CHUNK_BYTES: usize = 256 << 10;

/// Writes the state of a drive. Writing continues silently after an error; [`StateWriter::finish`] returns the first one.
pub struct StateWriter<'a> {
    to: &'a mut dyn Write,
    chunk: Vec<u8>,
    packed: Vec<u8>,
    crc: u32,
    result: Result<(), Flaw>,
}

/// Why a snapshot could not be written or read.
#[derive(Debug)]
pub enum Flaw {
    /// The file could not be written or read.
    Io(io::Error),
    /// The content cannot be the state of this drive; the reason in words.
    Damaged(String),
    /// The user stopped it.
    Ended(Box<Error>),
}

impl From<io::Error> for Flaw {
    fn from(error: io::Error) -> Self {
        Flaw::Io(error)
    }
}

impl Flaw {
    /// The file contradicts itself or the drive.
    pub fn damaged(what: impl Into<String>) -> Self {
        Flaw::Damaged(what.into())
    }
}

/// Fails unless `holds` is true.
///
/// # Errors
/// [`Flaw::Damaged`] with `what`.
#[inline]
pub fn require(holds: bool, what: &str) -> Result<(), Flaw> {
    if holds { Ok(()) } else { Err(Flaw::damaged(what)) }
}

impl<'a> StateWriter<'a> {
    /// Writes to `to`; `seed` is the CRC of the preceding part of the file.
    pub fn new(to: &'a mut dyn Write, seed: u32) -> Self {
        let packed = vec![0; lz4_flex::block::get_maximum_output_size(CHUNK_BYTES)];
        StateWriter { to, chunk: Vec::with_capacity(CHUNK_BYTES), packed, crc: seed, result: Ok(()) }
    }

    /// Records that the drive is in a state that cannot be saved.
    pub fn refuse(&mut self, what: &str) {
        if self.result.is_ok() {
            self.result = Err(Flaw::damaged(what));
        }
    }

    /// Writes a byte.
    pub fn u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    /// Writes a truth value.
    pub fn bool(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    /// Writes a number.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    /// Writes a number.
    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    /// Writes numbers, each as the difference to the one before, because evenly rising numbers then pack well. The
    /// reader must know their count.
    pub fn u32s(&mut self, values: impl IntoIterator<Item = u32>) {
        let mut before = 0u32;
        for value in values {
            self.u32(value.wrapping_sub(before));
            before = value;
        }
    }

    /// Writes numbers whose count the reader knows.
    pub fn u64s(&mut self, values: &[u64]) {
        values.iter().for_each(|&value| self.u64(value));
    }

    /// Writes the length of a list, then its numbers.
    pub fn list(&mut self, values: impl ExactSizeIterator<Item = u32>) {
        self.u32(values.len() as u32);
        values.for_each(|value| self.u32(value));
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        if self.chunk.len() + bytes.len() > CHUNK_BYTES {
            self.end_chunk();
        }
        self.chunk.extend_from_slice(bytes);
    }

    #[cold]
    fn end_chunk(&mut self) {
        let chunk = std::mem::take(&mut self.chunk);
        if self.result.is_ok() {
            self.result = self.write_chunk(&chunk).map_err(Flaw::Io);
        }
        self.chunk = chunk;
        self.chunk.clear();
    }

    fn write_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
        let packed = lz4_flex::block::compress_into(chunk, &mut self.packed).ok().filter(|&len| len < chunk.len());
        let bytes = packed.map_or(chunk, |len| &self.packed[..len]);
        let lengths = lengths(chunk.len() as u32, bytes.len() as u32);
        self.crc = crc(self.crc, &lengths, bytes);
        self.to.write_all(&lengths)?;
        self.to.write_all(&self.crc.to_le_bytes())?;
        self.to.write_all(bytes)
    }

    /// Writes the last chunk and the end mark.
    ///
    /// # Errors
    /// The first error of any write.
    pub fn finish(mut self) -> Result<(), Flaw> {
        if !self.chunk.is_empty() {
            self.end_chunk();
        }
        self.end_chunk();
        self.result
    }
}

fn lengths(raw: u32, packed: u32) -> [u8; 8] {
    (u64::from(raw) | u64::from(packed) << 32).to_le_bytes()
}

fn crc(before: u32, lengths: &[u8], bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&before.to_le_bytes());
    hasher.update(lengths);
    hasher.update(bytes);
    hasher.finalize()
}

/// Reads the state of a drive, and checks everything it reads.
pub struct StateReader<'a, 'w> {
    from: &'a mut dyn Read,
    watch: &'a mut Watch<'w>,
    chunk: Vec<u8>,
    packed: Vec<u8>,
    at: usize,
    crc: u32,
}

impl<'a, 'w> StateReader<'a, 'w> {
    /// Reads the output of a [`StateWriter`] with this `seed`.
    pub fn new(from: &'a mut dyn Read, seed: u32, watch: &'a mut Watch<'w>) -> Self {
        StateReader { from, watch, chunk: Vec::new(), packed: Vec::new(), at: 0, crc: seed }
    }

    /// Reads a byte.
    ///
    /// # Errors
    /// If the data has ended, or the file is damaged. This holds for all methods here.
    pub fn u8(&mut self) -> Result<u8, Flaw> {
        self.take::<1>().map(|[byte]| byte)
    }

    /// Reads a truth value.
    pub fn bool(&mut self) -> Result<bool, Flaw> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Flaw::damaged(format!("{other} where 0 or 1 is expected"))),
        }
    }

    /// Reads a number.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Flaw> {
        self.take().map(u32::from_le_bytes)
    }

    /// Reads a number below `end`; `what` names it in an error.
    pub fn below(&mut self, end: u32, what: &str) -> Result<u32, Flaw> {
        let value = self.u32()?;
        if value < end { Ok(value) } else { Err(Flaw::damaged(format!("{what} {value} of {end}"))) }
    }

    /// Reads a number.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, Flaw> {
        self.take().map(u64::from_le_bytes)
    }

    /// Reads `count` numbers written by [`StateWriter::u32s`], and passes each with its index to `put`.
    pub fn u32s(&mut self, count: usize, mut put: impl FnMut(usize, u32)) -> Result<(), Flaw> {
        let mut value = 0u32;
        for at in 0..count {
            value = value.wrapping_add(self.u32()?);
            put(at, value);
        }
        Ok(())
    }

    /// Fills a table of zeros. Zeros are not written, so that a large drive takes only the memory of its data.
    pub fn fill_u32s(&mut self, table: &mut [u32]) -> Result<(), Flaw> {
        self.u32s(table.len(), |at, value| {
            if value != 0 {
                table[at] = value;
            }
        })
    }

    /// As [`Self::fill_u32s`], for the output of [`StateWriter::u64s`].
    pub fn fill_u64s(&mut self, table: &mut [u64]) -> Result<(), Flaw> {
        for slot in table {
            let value = self.u64()?;
            if value != 0 {
                *slot = value;
            }
        }
        Ok(())
    }

    /// Reads the length of a list of at most `most`.
    pub fn len(&mut self, most: usize, what: &str) -> Result<usize, Flaw> {
        let len = self.u32()? as usize;
        if len <= most { Ok(len) } else { Err(Flaw::damaged(format!("{len} {what}, of {most} at most"))) }
    }

    /// Reads a list of at most `most` numbers, each below `end`.
    pub fn list(&mut self, most: usize, end: u32, what: &str) -> Result<Vec<u32>, Flaw> {
        let len = self.len(most, what)?;
        (0..len).map(|_| self.below(end, what)).collect()
    }

    /// Checks that the end mark follows.
    pub fn finish(mut self) -> Result<(), Flaw> {
        require(self.at == self.chunk.len(), "more in a chunk than the drive has")?;
        self.next_chunk()?;
        require(self.chunk.is_empty(), "more chunks than the drive fills")?;
        let behind = io::copy(&mut self.from.take(1), &mut io::sink())?;
        require(behind == 0, "something follows its end")
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Flaw> {
        if self.at == self.chunk.len() {
            self.next_chunk()?;
        }
        let bytes = self.chunk.get(self.at..self.at + N).and_then(|bytes| bytes.try_into().ok());
        self.at += N;
        bytes.ok_or_else(|| Flaw::damaged("a chunk ends too soon"))
    }

    #[cold]
    fn next_chunk(&mut self) -> Result<(), Flaw> {
        let mut header = [0; 12];
        self.read(&mut header)?;
        let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (raw, packed) = (number(0) as usize, number(4) as usize);
        require(raw <= CHUNK_BYTES && packed <= raw, "a chunk has an impossible length")?;
        let mut bytes = std::mem::take(&mut self.packed);
        bytes.resize(packed, 0);
        self.read(&mut bytes)?;
        self.crc = crc(self.crc, &header[..8], &bytes);
        require(self.crc == number(8), "a checksum is wrong")?;
        self.unpack(&bytes, raw)?;
        self.packed = bytes;
        self.watch.step(raw as u64 / 4).map_err(|error| Flaw::Ended(Box::new(error)))
    }

    fn unpack(&mut self, bytes: &[u8], raw: usize) -> Result<(), Flaw> {
        self.at = 0;
        self.chunk.resize(raw, 0);
        if bytes.len() == raw {
            self.chunk.copy_from_slice(bytes);
            return Ok(());
        }
        let len = lz4_flex::block::decompress_into(bytes, &mut self.chunk);
        require(len.is_ok_and(|len| len == raw), "a chunk cannot be unpacked")
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), Flaw> {
        self.from.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Flaw::damaged("it ends too soon"),
            _ => Flaw::Io(error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut StateWriter)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = StateWriter::new(&mut bytes, 7);
        write(&mut writer);
        assert!(writer.finish().is_ok());
        bytes
    }

    fn read<T>(mut bytes: &[u8], read: impl FnOnce(&mut StateReader) -> Result<T, Flaw>) -> Result<T, Flaw> {
        let mut watch = |_: &crate::progress::Progress| true;
        let mut watch = Watch::new(&mut watch);
        let mut reader = StateReader::new(&mut bytes, 7, &mut watch);
        let value = read(&mut reader)?;
        reader.finish().map(|()| value)
    }

    /// Long enough for several chunks, some of which pack well and others not at all.
    #[test]
    fn what_is_written_is_read() {
        let even: Vec<u32> = (0..200_000).map(|i| i * 16).collect();
        let mut rng = crate::rng::Rng::new(1);
        let random: Vec<u32> = (0..200_000).map(|_| rng.bits() as u32).collect();
        let bytes = written(|to| {
            to.u8(3);
            to.u32s(even.iter().copied());
            to.u32s(random.iter().copied());
            to.list([1, 2].into_iter());
        });
        assert!((800_000..900_000).contains(&bytes.len()), "{}", bytes.len());
        let got = read(&bytes, |from| {
            let mut tables = [vec![0; 200_000], vec![0; 200_000]];
            let first = from.u8()?;
            from.fill_u32s(&mut tables[0])?;
            from.fill_u32s(&mut tables[1])?;
            Ok((first, tables, from.list(2, 3, "numbers")?))
        });
        assert_eq!(got.expect("it is whole"), (3, [even, random], vec![1, 2]));
    }

    #[test]
    fn chunks_that_are_missing_or_too_many_are_seen() {
        let chunk = vec![5; CHUNK_BYTES / 4];
        let bytes = written(|to| (0..3).for_each(|_| to.u32s(chunk.iter().copied())));
        let take = |bytes: &[u8], tables: usize| {
            let mut table = vec![0; CHUNK_BYTES / 4];
            match read(bytes, |from| (0..tables).try_for_each(|_| from.fill_u32s(&mut table))) {
                Ok(()) => "whole".to_string(),
                Err(Flaw::Damaged(what)) => what,
                Err(other) => panic!("{other:?}"),
            }
        };
        assert_eq!(take(&bytes, 3), "whole");
        let first = 12 + u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]) as usize;
        assert_eq!(take(&[&bytes[..first], &bytes[2 * first..]].concat(), 2), "a checksum is wrong");
        assert_eq!(take(&bytes, 2), "more chunks than the drive fills");
        assert_eq!(take(&bytes[..bytes.len() - 1], 3), "it ends too soon");
        assert_eq!(take(&[&bytes[..], b"x"].concat(), 3), "something follows its end");
    }
}
