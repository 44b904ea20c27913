//! What the bytes of files were when they were first read, so that a later reading is known to have seen the same.
//!
//! Each file has marks, every mebibyte or more: digests of everything up to there. A reading compares its own digest at each
//! mark, so that it fails soon after the first byte that differs, and one that ends early has only to go on to the next mark.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use flashwatt_base::error::Error;

/// Bytes between marks, in a file of at most [`MARKS_MAX`] of them.
const STEP_BYTES: u64 = 1 << 20;
/// A longer file has its marks twice as far apart, and so on: memory does not depend on its length.
const MARKS_MAX: usize = 1024;
/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// One file's bytes as they were.
#[derive(Clone)]
pub struct Seal {
    /// The digest of the files before it, to which its bytes are added.
    start: Sha256,
    marks: Vec<Mark>,
    /// Its length.
    end: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Mark {
    at: u64,
    digest: [u8; 32],
}

/// Reads the files as they lie on the disk (packed, if they are): their SHA-256 one after another, in lower-case hex, and the
/// seal of each. `tick` is asked now and then; its error ends it.
pub fn seal(paths: &[PathBuf], tick: &mut dyn FnMut() -> Result<(), Error>) -> Result<(String, Vec<Arc<Seal>>), Error> {
    let (mut hash, mut seals) = (Sha256::new(), Vec::new());
    for path in paths {
        let mut maker = Maker::new(hash);
        each_block(path, tick, &mut |block| maker.add(block))?;
        let (seal, whole) = maker.finish();
        seals.push(Arc::new(seal));
        hash = whole;
    }
    Ok((hex(&hash.finalize()), seals))
}

/// The SHA-256 of one file, in lower-case hex.
pub fn sha256(path: &Path) -> Result<String, Error> {
    let mut hash = Sha256::new();
    each_block(path, &mut || Ok(()), &mut |block| hash.update(block))?;
    Ok(hex(&hash.finalize()))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn each_block(
    path: &Path,
    tick: &mut dyn FnMut() -> Result<(), Error>,
    take: &mut dyn FnMut(&[u8]),
) -> Result<(), Error> {
    let io_error = |source| Error::Io { path: path.display().to_string(), source };
    let mut file = File::open(path).map_err(io_error)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(got) => take(&buffer[..got]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(io_error(e)),
        }
        tick()?;
    }
}

/// Makes the seal of one file.
struct Maker {
    start: Sha256,
    hash: Sha256,
    at: u64,
    step: u64,
    marks: Vec<Mark>,
}

impl Maker {
    fn new(start: Sha256) -> Self {
        Maker { hash: start.clone(), start, at: 0, step: STEP_BYTES, marks: Vec::new() }
    }

    fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min((self.step - self.at % self.step) as usize));
            self.hash.update(now);
            self.at += now.len() as u64;
            bytes = rest;
            if self.at.is_multiple_of(self.step) {
                self.mark();
            }
        }
    }

    fn mark(&mut self) {
        self.marks.push(Mark { at: self.at, digest: self.hash.clone().finalize().into() });
        if self.marks.len() == MARKS_MAX {
            self.step *= 2;
            let step = self.step;
            self.marks.retain(|mark| mark.at.is_multiple_of(step));
        }
    }

    fn finish(mut self) -> (Seal, Sha256) {
        if self.marks.last().is_none_or(|mark| mark.at < self.at) && self.at > 0 {
            self.marks.push(Mark { at: self.at, digest: self.hash.clone().finalize().into() });
        }
        (Seal { start: self.start, marks: self.marks, end: self.at }, self.hash)
    }
}

/// Compares what is read of a file with its seal.
pub struct SealCheck {
    seal: Arc<Seal>,
    hash: Sha256,
    at: u64,
    /// The mark that comes next.
    next: usize,
    changed: Option<Changed>,
}

/// How a file differs from what it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    /// It has grown beyond this length.
    Longer(u64),
    /// It ends at the first of these instead of the second.
    Shorter(u64, u64),
    /// Something before this byte is different.
    Different(u64),
}

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Changed::Longer(was) => write!(f, "more than its {was} bytes"),
            Changed::Shorter(is, was) => write!(f, "{is} of its {was} bytes"),
            Changed::Different(at) => write!(f, "other bytes before byte {at}"),
        }
    }
}

impl SealCheck {
    /// Over a reading from the file's start.
    pub fn new(seal: Arc<Seal>) -> Self {
        SealCheck { hash: seal.start.clone(), seal, at: 0, next: 0, changed: None }
    }

    /// What the reading has met, if it was not what the seal says.
    pub fn changed(&self) -> Option<Changed> {
        self.changed
    }

    /// These bytes came next; none at all is the file's end.
    pub fn saw(&mut self, mut bytes: &[u8]) -> Result<(), Changed> {
        if bytes.is_empty() && self.at < self.seal.end {
            return self.fail(Changed::Shorter(self.at, self.seal.end));
        }
        while !bytes.is_empty() {
            let Some(mark) = self.seal.marks.get(self.next).copied() else {
                return self.fail(Changed::Longer(self.seal.end));
            };
            let (now, rest) = bytes.split_at(bytes.len().min((mark.at - self.at) as usize));
            self.hash.update(now);
            self.at += now.len() as u64;
            bytes = rest;
            if self.at == mark.at {
                if <[u8; 32]>::from(self.hash.clone().finalize()) != mark.digest {
                    return self.fail(Changed::Different(mark.at));
                }
                self.next += 1;
            }
        }
        Ok(())
    }

    fn fail(&mut self, changed: Changed) -> Result<(), Changed> {
        self.changed = Some(changed);
        Err(changed)
    }

    /// Compares what was read since the last mark: reads on to the next one. For a reading that ends early.
    pub fn finish(&mut self, path: &Path) -> io::Result<Result<(), Changed>> {
        let marked = self.next.checked_sub(1).and_then(|last| self.seal.marks.get(last)).map_or(0, |mark| mark.at);
        let Some(mark) = self.seal.marks.get(self.next).filter(|_| self.at > marked) else { return Ok(Ok(())) };
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.at))?;
        let mut rest = file.take(mark.at - self.at);
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match rest.read(&mut buffer) {
                Ok(0) => break,
                Ok(got) => {
                    if let Err(changed) = self.saw(&buffer[..got]) {
                        return Ok(Err(changed));
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        let end = self.seal.end;
        Ok(if rest.limit() == 0 { Ok(()) } else { self.fail(Changed::Shorter(self.at, end)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(content: &[u8]) -> Arc<Seal> {
        let mut maker = Maker::new(Sha256::new());
        content.chunks(1000).for_each(|block| maker.add(block));
        Arc::new(maker.finish().0)
    }

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i * 7919 % 251) as u8).collect()
    }

    fn read(seal: &Arc<Seal>, content: &[u8]) -> Result<(), Changed> {
        let mut watch = SealCheck::new(Arc::clone(seal));
        content.chunks(300_001).try_for_each(|block| watch.saw(block))?;
        watch.saw(&[])
    }

    #[test]
    fn the_same_bytes_are_the_same_however_they_are_read() {
        for length in [0, 1, 1 << 20, (1 << 20) + 1, 3_000_000] {
            assert_eq!(read(&sealed(&bytes(length)), &bytes(length)), Ok(()), "{length}");
        }
    }

    #[test]
    fn every_change_is_found() {
        let content = bytes(2_500_000);
        let seal = sealed(&content);
        let mut other = content.clone();
        other[1_500_000] ^= 1;
        assert_eq!(read(&seal, &other), Err(Changed::Different(2 << 20)));
        assert_eq!(read(&seal, &content[..2_400_000]), Err(Changed::Shorter(2_400_000, 2_500_000)));
        assert_eq!(read(&seal, &bytes(2_500_001)), Err(Changed::Longer(2_500_000)));
        assert_eq!(read(&sealed(b""), b"x"), Err(Changed::Longer(0)));
    }

    #[test]
    fn a_long_file_has_no_more_marks() {
        let mut maker = Maker::new(Sha256::new());
        maker.step = 16;
        let content = bytes(100_000);
        maker.add(&content);
        let seal = Arc::new(maker.finish().0);
        assert!(seal.marks.len() < MARKS_MAX && seal.marks.len() > MARKS_MAX / 2, "{}", seal.marks.len());
        assert_eq!(read(&seal, &content), Ok(()));
        let mut other = content.clone();
        other[0] ^= 1;
        assert!(matches!(read(&seal, &other), Err(Changed::Different(at)) if at < 1000));
    }
}
