//! A real file or block device.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::load::{Access, Engine};
use crate::ring;

/// Logical sectors that devices have, and that file systems take for requests past the page cache.
const SECTORS: [usize; 4] = [512, 1024, 2048, 4096];

/// A real file or block device that is open.
#[derive(Debug)]
pub struct Target {
    pub(crate) name: String,
    pub(crate) file: File,
    access: Access,
    is_device: bool,
    size_bytes: u64,
    sector_bytes: u64,
    engine: Engine,
}

impl Target {
    /// Opens a regular file or a block device.
    ///
    /// # Errors
    /// If it cannot be opened, is of another kind, has a size of 0, or refuses O_DIRECT.
    pub fn open(path: impl AsRef<Path>, access: Access) -> Result<Self, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        if std::fs::metadata(path).is_ok_and(|meta| !is_block_device(&meta) && !meta.is_file()) {
            return Err(Error::Refused { name, fault: SPECIAL.into() });
        }
        let direct = if access.buffered { 0 } else { libc::O_DIRECT };
        let opened = OpenOptions::new().read(true).write(access.write).custom_flags(direct).open(path);
        let file = opened.map_err(|source| match source.raw_os_error() {
            Some(libc::EINVAL) if !access.buffered => Error::NoDirect { name: name.clone(), source },
            _ => Error::Io { name: name.clone(), what: "it cannot be opened".into(), source },
        })?;
        let (is_device, size_bytes) = size(&file, &name)?;
        let sector_bytes = if access.buffered { 512 } else { sector(&file, &name, size_bytes)? };
        let engine = if access.threads || !ring::works() { Engine::Threads } else { Engine::IoUring };
        Ok(Target { name, file, access, is_device, size_bytes, sector_bytes, engine })
    }

    /// Size that was found at opening.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Offsets and lengths of requests are multiples of this.
    pub fn sector_bytes(&self) -> u64 {
        self.sector_bytes
    }

    /// Whether it is a block device; else a regular file.
    pub fn is_device(&self) -> bool {
        self.is_device
    }

    /// How it was opened.
    pub fn access(&self) -> Access {
        self.access
    }

    /// How requests are sent.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Waits until everything that was written is on the medium (`fdatasync`).
    ///
    /// # Errors
    /// If the system says so.
    pub fn flush(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(|source| self.failed("the data cannot be brought to the medium", source))
    }

    pub(crate) fn failed(&self, what: impl Into<String>, source: io::Error) -> Error {
        Error::Io { name: self.name.clone(), what: what.into(), source }
    }

    pub(crate) fn refused(&self, fault: impl Into<String>) -> Error {
        Error::Refused { name: self.name.clone(), fault: fault.into() }
    }
}

const SPECIAL: &str = "not a target; found a special file; expected a regular file or a block device";

fn is_block_device(meta: &std::fs::Metadata) -> bool {
    meta.file_type().is_block_device()
}

fn size(mut file: &File, name: &str) -> Result<(bool, u64), Error> {
    let io = |what: &str| {
        let what = what.to_string();
        move |source| Error::Io { name: name.to_string(), what, source }
    };
    let refused = |fault: &str| Err(Error::Refused { name: name.to_string(), fault: fault.to_string() });
    let meta = file.metadata().map_err(io("its kind cannot be read"))?;
    let is_device = is_block_device(&meta);
    let bytes =
        if is_device { file.seek(SeekFrom::End(0)).map_err(io("its size cannot be read"))? } else { meta.len() };
    if bytes == 0 {
        return refused(
            "an empty target; found 0 bytes; expected a file of the size to measure (`truncate -s 1G FILE` makes one)",
        );
    }
    if bytes < SECTORS[0] as u64 {
        return refused(&format!(
            "a target smaller than a sector; found {bytes} bytes; expected {} at least",
            SECTORS[0]
        ));
    }
    Ok((is_device, bytes))
}

/// The smallest request that the target takes past the page cache, found by reading.
fn sector(file: &File, name: &str, size_bytes: u64) -> Result<u64, Error> {
    let mut buffer = Buffer::random(SECTORS[SECTORS.len() - 1], 0);
    let mut refused = io::Error::from_raw_os_error(libc::EINVAL);
    for bytes in SECTORS.into_iter().filter(|&bytes| bytes as u64 <= size_bytes) {
        match file.read_at(&mut buffer[..bytes], 0) {
            Ok(_) => return Ok(bytes as u64),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refused = error,
            Err(source) => {
                return Err(Error::Io { name: name.to_string(), what: "it cannot be read at byte 0".into(), source });
            }
        }
    }
    Err(Error::NoDirect { name: name.to_string(), source: refused })
}
