//! A trace's bytes: plain, gzip or zstd (told by the first bytes, not by the name), in one buffer of fixed size.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::pack::Packing;
use super::seal::{Changed, Seal, SealCheck};
use flashwatt_base::error::{Error, Fault, Place};

/// Bytes that are asked of the file, and held unpacked, at a time.
const BUFFER_BYTES: usize = 256 << 10;
/// A longer line is no record of any format (the longest real ones carry a few hundred content hashes).
const LINE_BYTES_MAX: usize = 1 << 20;

/// What some editors put before UTF-8 text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The unpacked bytes of a trace, line by line or in records of fixed size. Needs the same memory for any length.
pub struct Input {
    source: Box<dyn Read + Send>,
    packing: Packing,
    /// What errors call it: the path as the user gave it.
    path: String,
    buffer: Vec<u8>,
    /// `buffer[start..end]` is read and not yet given away.
    start: usize,
    end: usize,
    lines: u64,
    ended: bool,
    gauge: Gauge,
}

/// How much of a file has been read, packed as it is.
#[derive(Clone, Default)]
pub struct Gauge {
    read: Arc<AtomicU64>,
    /// The file's length; 0 if that is not known.
    whole: u64,
    /// Compares what is read with an earlier reading.
    watch: Option<Arc<Mutex<SealCheck>>>,
}

impl Gauge {
    /// Bytes read, and bytes in all.
    pub fn bytes(&self) -> (u64, u64) {
        (self.read.load(Relaxed), self.whole)
    }

    fn watch(&self) -> Option<MutexGuard<'_, SealCheck>> {
        // Nothing panics while it is held.
        self.watch.as_ref().map(|watch| watch.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn changed(&self) -> Option<Changed> {
        self.watch().and_then(|watch| watch.changed())
    }

    /// Compares what was read so far of the file at `path` with the earlier reading.
    pub fn verify(&self, path: &Path) -> Result<(), Error> {
        let Some(mut watch) = self.watch() else { return Ok(()) };
        let io_error = |source| Error::Io { path: path.display().to_string(), source };
        watch.finish(path).map_err(io_error)?.map_err(|changed| trace_changed(path.display().to_string(), changed))
    }
}

fn trace_changed(path: String, changed: Changed) -> Error {
    let place = Place { file: Some(path), ..Place::default() };
    let fault = Fault::at(place, "the trace changed while it was read").found(changed);
    let fault = fault.expected("the bytes that the first reading found");
    Error::Trace(Box::new(fault.help("wait until nothing writes to it, or take a copy; then start again")))
}

/// Counts what is read through it.
struct Gauged {
    source: Box<dyn Read + Send>,
    gauge: Gauge,
}

impl Read for Gauged {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let got = self.source.read(to)?;
        self.gauge.read.fetch_add(got as u64, Relaxed);
        if let Some(mut watch) = self.gauge.watch().filter(|_| !to.is_empty()) {
            watch.saw(&to[..got]).map_err(|changed| io::Error::other(changed.to_string()))?;
        }
        Ok(got)
    }
}

/// What [`Input::line`] came to.
pub enum Line<'a> {
    /// A line without its end.
    Text(&'a [u8]),
    /// A line longer than any record; it was passed over.
    TooLong,
    /// There are no more.
    End,
}

impl Input {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_sealed(path, None)
    }

    /// Opens a file that was read before; an error if it is another one now, as soon as that shows.
    pub(super) fn open_sealed(path: &Path, seal: Option<Arc<Seal>>) -> Result<Self, Error> {
        let io_error = |source| Error::Io { path: path.display().to_string(), source };
        // Asked before it is opened: to open a FIFO is to wait for a writer.
        let metadata = std::fs::metadata(path).map_err(io_error)?;
        if metadata.is_dir() {
            return Err(io_error(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        if !metadata.is_file() {
            let place = Place { file: Some(path.display().to_string()), ..Place::default() };
            let fault =
                Fault::at(place, "not a regular file").help("a trace is read more than once: save it to a file first");
            return Err(Error::Trace(Box::new(fault)));
        }
        let file = File::open(path).map_err(io_error)?;
        let watch = seal.map(|seal| Arc::new(Mutex::new(SealCheck::new(seal))));
        let gauge = Gauge { whole: metadata.len(), watch, ..Gauge::default() };
        let shown = || path.display().to_string();
        Input::gauged(Box::new(file), gauge.clone(), shown())
            .map_err(|e| gauge.changed().map_or_else(|| io_error(e), |changed| trace_changed(shown(), changed)))
    }

    /// Reads from anywhere; `path` is what errors call it.
    pub fn new(source: Box<dyn Read + Send>, path: &str) -> io::Result<Self> {
        Self::gauged(source, Gauge::default(), path.to_string())
    }

    fn gauged(source: Box<dyn Read + Send>, gauge: Gauge, path: String) -> io::Result<Self> {
        let (packing, source) = unpacked(Box::new(Gauged { source, gauge: gauge.clone() }))?;
        let buffer = vec![0; BUFFER_BYTES];
        Ok(Input { source, packing, path, buffer, start: 0, end: 0, lines: 0, ended: false, gauge })
    }

    /// The file as the user named it, as the place of an error.
    pub fn place(&self) -> Place {
        Place { file: Some(self.path.clone()), ..Place::default() }
    }

    /// Shows how far the file has been read, also when the input has been given away.
    pub(super) fn gauge(&self) -> Gauge {
        self.gauge.clone()
    }

    /// Lines given away so far: the number of the line that was read last.
    pub(super) fn line_number(&self) -> u64 {
        self.lines
    }

    /// Passes over the mark that some editors put before UTF-8 text.
    pub(super) fn skip_byte_order_mark(&mut self) -> Result<(), Error> {
        if self.lines == 0 && self.peek(BYTE_ORDER_MARK.len())?.0 == BYTE_ORDER_MARK {
            self.start += BYTE_ORDER_MARK.len();
        }
        Ok(())
    }

    /// Up to `bytes` bytes from the present place, without moving on, and whether the input ends there.
    pub(in crate::trace) fn peek(&mut self, bytes: usize) -> Result<(&[u8], bool), Error> {
        while self.end - self.start < bytes && self.fill()? {}
        let shown = bytes.min(self.end - self.start);
        Ok((&self.buffer[self.start..self.start + shown], self.ended && shown == self.end - self.start))
    }

    /// The next `bytes` bytes, fewer only at the end.
    pub(in crate::trace) fn take(&mut self, bytes: usize) -> Result<&[u8], Error> {
        while self.end - self.start < bytes && self.fill()? {}
        let start = self.start;
        self.start = self.end.min(start + bytes);
        Ok(&self.buffer[start..self.start])
    }

    /// Passes over `bytes` bytes that [`Self::peek`] has shown.
    pub(in crate::trace) fn skip(&mut self, bytes: usize) {
        self.start = self.end.min(self.start + bytes);
    }

    /// Goes to the next place where `magic` stands, or to the end.
    pub(in crate::trace) fn skip_to(&mut self, magic: &[u8]) -> Result<(), Error> {
        loop {
            if let Some(at) = memchr::memmem::find(&self.buffer[self.start..self.end], magic) {
                self.start += at;
                return Ok(());
            }
            // The bytes read may end with the beginning of one.
            self.start = self.start.max(self.end.saturating_sub(magic.len() - 1));
            if !self.fill()? {
                self.start = self.end;
                return Ok(());
            }
        }
    }

    /// The next line, without LF or CR LF.
    #[inline]
    pub(super) fn line(&mut self) -> Result<Line<'_>, Error> {
        let mut searched = 0;
        loop {
            let unsearched = &self.buffer[self.start + searched..self.end];
            if let Some(at) = memchr::memchr(b'\n', unsearched) {
                let line = self.start..self.start + searched + at;
                self.start = line.end + 1;
                self.lines += 1;
                return Ok(Line::Text(without_cr(&self.buffer[line])));
            }
            searched = self.end - self.start;
            if searched > LINE_BYTES_MAX {
                return self.pass_over_line();
            }
            if !self.fill()? {
                return Ok(self.last_line());
            }
        }
    }

    /// What stands after the last line end, if anything.
    fn last_line(&mut self) -> Line<'_> {
        if self.start == self.end {
            return Line::End;
        }
        let line = self.start..self.end;
        self.start = self.end;
        self.lines += 1;
        Line::Text(without_cr(&self.buffer[line]))
    }

    fn pass_over_line(&mut self) -> Result<Line<'_>, Error> {
        self.lines += 1;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += at + 1;
                return Ok(Line::TooLong);
            }
            self.start = self.end;
            if !self.fill()? {
                return Ok(Line::TooLong);
            }
        }
    }

    /// Reads some more; false at the end. The buffer only grows for a line or a record that does not fit.
    #[cold]
    fn fill(&mut self) -> Result<bool, Error> {
        if self.ended {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(got) => {
                    self.end += got;
                    return Ok(true);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.error(e)),
            }
        }
    }

    /// A damaged archive is a fault of the trace, with the line that was reached; anything else the system's.
    fn error(&self, source: io::Error) -> Error {
        if let Some(changed) = self.gauge.changed() {
            return trace_changed(self.path.clone(), changed);
        }
        if self.packing == Packing::Plain || source.raw_os_error().is_some() {
            return Error::Io { path: self.path.clone(), source };
        }
        let packing = self.packing.name();
        let place = Place { line: Some(self.lines + 1), ..self.place() };
        let fault = if source.kind() == io::ErrorKind::UnexpectedEof {
            Fault::at(place, format!("truncated {packing} file: it ends in the middle of its data"))
                .help("copy or download the file again")
        } else {
            Fault::at(place, format!("damaged {packing} file")).found(source)
        };
        Error::Trace(Box::new(fault))
    }
}

fn unpacked(source: Box<dyn Read + Send>) -> io::Result<(Packing, Box<dyn Read + Send>)> {
    let mut raw = BufReader::with_capacity(BUFFER_BYTES, source);
    let packing = Packing::of_head(raw.fill_buf()?);
    Ok((
        packing,
        match packing {
            Packing::Plain => Box::new(raw),
            // A file may hold several gzip members one after another, as `cat a.gz b.gz` makes them.
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
            Packing::Zstd => Box::new(super::zstd::Frames::new(raw)),
        },
    ))
}

#[inline(always)]
fn without_cr(line: &[u8]) -> &[u8] {
    match line {
        [line @ .., b'\r'] => line,
        line => line,
    }
}

/// A path's last part, for reports: they do not depend on where the file lies.
pub fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
