//! Snapshots: the state of a drive at rest in a file, from which runs begin.
//!
//! ```text
//! magic     8 bytes   \x89FWSNAP\n
//! version   u32       of this format, little-endian as everything here
//! length    u32       of the header
//! crc       u32       of the three before it and the header
//! header    JSON      engine, resolved configuration, warnings of the preparation
//! chunks              see `persist`: array, blocks, random numbers, number of the next operation, translation layer
//! ```
//!
//! [`bound`] lists the configuration keys that a run must share with the header; other values are refused. State that
//! follows from other state (the map from the content of each block, counts of valid pages, directories) is not in the
//! file but computed when it is read, so it cannot contradict the rest.
//!
//! A file may be damaged or forged, and the engine indexes tables without checks. So each struct that restores itself
//! checks that every die, block and page exists in this drive, and that its parts agree with each other.

mod bound;

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::config::Config;
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::output::{Aside, io_error};
use flashwatt_base::persist::{Flaw, StateReader, StateWriter, require};
use flashwatt_base::progress::Watch;
use flashwatt_base::rng::Rng;
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::ftl::{PlanNumber, RestoredDrive};
use flashwatt_ssd::nand::Array;

/// The version of the format. A file of another version is refused.
pub const VERSION: u32 = 2;
const MAGIC: [u8; 8] = *b"\x89FWSNAP\n";
const HEADER_BYTES_MAX: u32 = 4 << 20;
/// Operation numbers in a snapshot are below this, so that those of a run have room in the number of a die's place, which has 55
/// bits for them.
const PLAN_NUMBER_MAX: u64 = 1 << 54;

/// The snapshot that a run began from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// The base name of the file.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The version of the engine that made it.
    pub engine: String,
    /// The seed of its preparation.
    pub seed: u64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    engine: String,
    config: Value,
    /// Whether the drive ran the workload of the configuration after its start state.
    #[serde(default)]
    ran: bool,
    warnings: Vec<String>,
}

/// A drive that can be saved and restored.
pub(crate) struct DriveState<'a> {
    pub firmware: &'a mut Firmware,
    pub array: &'a mut Array,
}

/// How a drive came into its state.
pub(crate) struct Prepared {
    /// Whether it ran the workload of its configuration after its start state.
    pub ran: bool,
    pub warnings: Vec<String>,
}

/// The header's data besides the state.
pub(crate) struct Loaded {
    pub identity: Identity,
    pub warnings: Vec<String>,
}

/// Whether this file looks like a snapshot.
pub(crate) fn is_one(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == MAGIC
}

/// Writes a drive at rest. Returns the SHA-256 and the length of the file.
pub(crate) fn save(
    config: &Config,
    state: DriveState,
    prepared: &Prepared,
    to: &Aside,
) -> Result<(String, u64), Error> {
    let mut hashed = Hashed { inner: BufWriter::new(to.file()?), hash: Sha256::new(), bytes: 0 };
    write(config, state, prepared, &mut hashed).map_err(|flaw| unsaved(flaw, |source| to.error(source)))?;
    hashed.inner.flush().map_err(|source| to.error(source))?;
    Ok((hashed.digest(), hashed.bytes))
}

/// The length of the file that [`save`] would write.
pub(crate) fn length(config: &Config, state: DriveState, prepared: &Prepared) -> Result<u64, Error> {
    let mut counted = Counted(0);
    write(config, state, prepared, &mut counted).map_err(|flaw| unsaved(flaw, io_error(Path::new("snapshot"))))?;
    Ok(counted.0)
}

/// The error of a drive that cannot be saved.
fn unsaved(flaw: Flaw, io_error: impl FnOnce(io::Error) -> Error) -> Error {
    match flaw {
        Flaw::Io(source) => io_error(source),
        Flaw::Ended(error) => *error,
        Flaw::Damaged(what) => Fault::key("snapshot", "the drive cannot be saved").found(what).into(),
    }
}

/// Counts the bytes that are written to it, and forgets them.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(config: &Config, state: DriveState, prepared: &Prepared, to: &mut impl Write) -> Result<(), Flaw> {
    let header = Header {
        engine: env!("CARGO_PKG_VERSION").into(),
        config: serde_json::to_value(config).map_err(io::Error::from)?,
        ran: prepared.ran,
        warnings: prepared.warnings.clone(),
    };
    let json = serde_json::to_vec(&header).map_err(io::Error::from)?;
    let length = u32::try_from(json.len()).ok().filter(|&length| length <= HEADER_BYTES_MAX);
    let length = length.ok_or_else(|| Flaw::damaged("a configuration that is too long for a header"))?;
    let mut start = [&MAGIC[..], &VERSION.to_le_bytes(), &length.to_le_bytes()].concat();
    let crc = header_crc(&start, &json);
    start.extend(crc.to_le_bytes());
    to.write_all(&start)?;
    to.write_all(&json)?;
    let mut out = StateWriter::new(to, crc);
    let DriveState { firmware, array } = state;
    array.save(&mut out);
    firmware.blocks.save(&mut out);
    out.u64(firmware.rng.state());
    out.u64(firmware.plan.next().0);
    firmware.ftl.save(&mut out);
    out.finish()
}

fn header_crc(start: &[u8], json: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(start);
    crc.update(json);
    crc.finalize()
}

/// Restores a fresh drive from a file.
///
/// # Errors
/// [`Error::Snapshot`] if the file is no snapshot, of another version, of another drive, or damaged.
pub(crate) fn restore(path: &Path, config: &Config, state: DriveState, watch: &mut Watch) -> Result<Loaded, Error> {
    if !fs::metadata(path).map_err(io_error(path))?.is_file() {
        return Err(refused(path, Fault::default().found("a directory or a device").expected("a snapshot")));
    }
    let file = File::open(path).map_err(io_error(path))?;
    let mut hashed = Hashed { inner: BufReader::new(file), hash: Sha256::new(), bytes: 0 };
    let (header, crc) = read_header(path, &mut hashed)?;
    bound::check(path, config, &header.config)?;
    let seed = header.config["run"]["seed"].as_u64().unwrap_or_default();
    let is_same_seed = config.run.seed == seed;
    let state_read = read(is_same_seed, state, &mut hashed, crc, watch);
    state_read.map_err(|flaw| match flaw {
        Flaw::Io(source) => io_error(path)(source),
        Flaw::Ended(error) => *error,
        Flaw::Damaged(what) => damaged(path, &what),
    })?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let identity = Identity { file, sha256: hashed.digest(), engine: header.engine, seed };
    let mut warnings = header.warnings;
    if header.ran && is_same_seed && is_workload_of(config, &header.config) {
        warnings.push(format!(
            "run.precondition.snapshot: {} ran the same workload with the same seed, so the same requests come again, and \
             overwrite what they have just written (run.seed)",
            identity.file
        ));
    }
    Ok(Loaded { identity, warnings })
}

/// Whether the configuration of a snapshot has the same workload.
fn is_workload_of(config: &Config, saved: &Value) -> bool {
    serde_json::to_value(&config.workload).is_ok_and(|workload| saved["workload"] == workload)
}

fn read(same_seed: bool, state: DriveState, from: &mut impl Read, crc: u32, watch: &mut Watch) -> Result<(), Flaw> {
    let DriveState { firmware, array } = state;
    let mut from = StateReader::new(from, crc, watch);
    array.restore(&mut from)?;
    firmware.blocks.restore(&mut from, array)?;
    let random = Rng::from_state(from.u64()?);
    if same_seed {
        firmware.rng = random;
    }
    let next = from.u64()?;
    require(next < PLAN_NUMBER_MAX, "an impossible number of operations")?;
    firmware.plan.number_from(PlanNumber(next));
    firmware.ftl.restore(&mut from, &RestoredDrive { blocks: &firmware.blocks, array })?;
    from.finish()
}

fn read_header(path: &Path, from: &mut impl Read) -> Result<(Header, u32), Error> {
    let mut start = [0; MAGIC.len() + 12];
    read_exact(path, from, &mut start[..MAGIC.len()])?;
    if start[..MAGIC.len()] != MAGIC {
        return Err(refused(path, Fault::default().found("a file of another kind").expected("a snapshot")));
    }
    read_exact(path, from, &mut start[MAGIC.len()..])?;
    let number = |at: usize| u32::from_le_bytes([start[at], start[at + 1], start[at + 2], start[at + 3]]);
    let (version, length, crc) = (number(8), number(12), number(16));
    if version != VERSION {
        let fault = Fault::default().found(format!("version {version} of the format"));
        return Err(refused(path, fault.expected(format!("version {VERSION}"))));
    }
    if length > HEADER_BYTES_MAX {
        return Err(damaged(path, "its header has an impossible length"));
    }
    let mut json = vec![0; length as usize];
    read_exact(path, from, &mut json)?;
    if header_crc(&start[..16], &json) != crc {
        return Err(damaged(path, "the checksum of its header is wrong"));
    }
    let header = serde_json::from_slice(&json).map_err(|error| damaged(path, &format!("its header: {error}")))?;
    Ok((header, crc))
}

fn read_exact(path: &Path, from: &mut impl Read, bytes: &mut [u8]) -> Result<(), Error> {
    from.read_exact(bytes).map_err(|source| match source.kind() {
        io::ErrorKind::UnexpectedEof => damaged(path, "it ends too soon"),
        _ => io_error(path)(source),
    })
}

fn place(path: &Path) -> Place {
    Place { file: Some(path.display().to_string()), ..Place::default() }
}

/// The error of a file from which no run can begin.
fn refused(path: &Path, fault: Fault) -> Error {
    let fault = Fault { place: place(path), what: "not a snapshot of this version".into(), ..fault };
    Error::Snapshot(vec![fault.help("make one: flashwatt age CONFIG.toml -o FILE")])
}

fn damaged(path: &Path, what: &str) -> Error {
    let fault = Fault::at(place(path), "the snapshot is damaged").found(what);
    Error::Snapshot(vec![fault.help("make it anew: flashwatt age CONFIG.toml -o FILE")])
}

/// Computes hash and length of the data that passes through it.
struct Hashed<T> {
    inner: T,
    hash: Sha256,
    bytes: u64,
}

impl<T> Hashed<T> {
    fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    fn digest(&self) -> String {
        format!("{:x}", self.hash.clone().finalize())
    }
}

impl<T: Write> Write for Hashed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Hashed<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.add(&bytes[..read]);
        Ok(read)
    }
}
