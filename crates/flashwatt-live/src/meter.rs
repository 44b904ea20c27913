//! Readings of a meter that the kernel shows as a file with a number: hwmon, powercap.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::load::Reading;

/// A thread that reads a number from a file at equal intervals until it is stopped.
#[derive(Debug)]
pub struct Meter {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Vec<Reading>, Error>>>,
}

impl Meter {
    /// Begins to read. A reading that comes late does not delay the later ones.
    ///
    /// # Errors
    /// If the file cannot be read now, or holds no whole number.
    pub fn start(path: impl AsRef<Path>, interval: Duration) -> Result<Self, Error> {
        let path = path.as_ref().to_path_buf();
        let opened = File::open(&path);
        let file = opened.map_err(|source| fault(&path, source))?;
        let first = read(&file, &path)?;
        let stop = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&stop);
        let thread = thread::spawn(move || watch(&file, &path, first, interval, &theirs));
        Ok(Meter { stop, thread: Some(thread) })
    }

    /// Stops, after one more reading; all readings.
    ///
    /// # Errors
    /// If a reading failed.
    pub fn stop(mut self) -> Result<Vec<Reading>, Error> {
        self.stop.store(true, Relaxed);
        let Some(thread) = self.thread.take() else { return Ok(Vec::new()) };
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
    }
}

fn watch(
    file: &File,
    path: &Path,
    first: Reading,
    interval: Duration,
    stop: &AtomicBool,
) -> Result<Vec<Reading>, Error> {
    let (mut readings, mut due) = (vec![first], Instant::now());
    loop {
        due += interval;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let last = stop.load(Relaxed);
        readings.push(read(file, path)?);
        if last {
            return Ok(readings);
        }
        due = due.max(Instant::now() - interval);
    }
}

fn read(file: &File, path: &Path) -> Result<Reading, Error> {
    let mut text = [0; 32];
    let bytes = file.read_at(&mut text, 0).map_err(|source| fault(path, source))?;
    let unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let text = String::from_utf8_lossy(&text[..bytes]);
    let value = text.trim().parse().map_err(|_| Error::Refused {
        name: path.display().to_string(),
        fault: format!("not a meter; found {:?}; expected a file with one whole number", text.trim()),
    })?;
    Ok(Reading { unix_ns, value })
}

fn fault(path: &Path, source: std::io::Error) -> Error {
    let name = PathBuf::from(path).display().to_string();
    Error::Io { name, what: "the meter cannot be read".into(), source }
}
