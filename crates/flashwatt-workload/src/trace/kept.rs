//! Traces that are kept in memory, so that several runs of a process read them once.
//!
//! Off by default: a run reads a trace as a stream, in memory that does not depend on its length. A program that makes many
//! runs of the same traces sets a bound by [`keep`]. Then what the first reading finds is kept with the records, as far as
//! there is room; later runs read no file. They have the same reports: the same requests, hash, warnings and doubts.
//!
//! A trace is known by its settings and, for each file, by what the system says of it: its place on the disk, its length, and when
//! its content and its properties changed last. A file that is written to while a run replays it from memory is no error, as
//! it is without [`keep`]; the next run reads it again.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::clock::Times;
use super::dense::{Dense, Touched};
use super::layout::Layout;
use super::logged;
use super::read::meter::RecordCounter;
use super::read::seal::{Seal, seal};
use super::read::traces::Traces;
use super::replay::no_request;
use super::{DeviceId, Process, Record};
use crate::settings;
use flashwatt_base::error::{Error, Place};
use flashwatt_core::connector::RequestKind;

/// What the first reading of a trace finds: all that does not depend on the drive.
#[derive(Clone)]
pub(super) struct Resolved {
    /// Of all files, one after another.
    pub sha256: String,
    pub seals: Vec<Arc<Seal>>,
    pub layout: Layout,
    /// New addresses, if the trace's own are not taken.
    pub dense: Option<Dense>,
    pub times: Times,
    /// What no drive could have done.
    pub doubts: Vec<String>,
    /// What is to be said to a scheduler that gets the requests.
    pub of_log_point: Vec<String>,
    /// The files, for messages.
    pub file: Place,
    /// The requests, if they are kept.
    pub records: Option<Arc<Records>>,
}

/// The requests of one pass, in their order.
pub(super) struct Records {
    items: Vec<Packed>,
    devices: Vec<DeviceId>,
    processes: Vec<Process>,
    cfg: settings::Trace,
    seals: Vec<Arc<Seal>>,
    file: Place,
    /// What there is to say before the first request, and behind the last one.
    warnings: [Vec<String>; 2],
}

impl Records {
    /// The files, for messages.
    pub fn file(&self) -> Place {
        self.file.clone()
    }
}

/// A request in 24 bytes.
struct Packed {
    time_ns: u64,
    /// The offset; in the highest bits the kind, the forced unit access, and whether somebody waits.
    offset_and_flags: u64,
    bytes: u32,
    /// Numbers in [`Records::devices`] and [`Records::processes`].
    device: u16,
    process: u16,
}

const OFFSET_BITS: u32 = 60;
const KINDS: [RequestKind; 4] = [RequestKind::Read, RequestKind::Write, RequestKind::Trim, RequestKind::Flush];

impl Packed {
    /// `None` for a request with a number that has no room.
    fn new(record: &Record, device: u16, process: u16) -> Option<Self> {
        let kind = KINDS.iter().position(|kind| *kind == record.kind)? as u64;
        let flags = kind | u64::from(record.fua) << 2 | u64::from(record.is_sync) << 3;
        let bytes = u32::try_from(record.bytes).ok()?;
        let fits = record.offset_bytes >> OFFSET_BITS == 0;
        let offset_and_flags = record.offset_bytes | flags << OFFSET_BITS;
        fits.then_some(Packed { time_ns: record.time_ns, offset_and_flags, bytes, device, process })
    }

    fn record(&self, device: u64, process: Process) -> Record {
        let flags = self.offset_and_flags >> OFFSET_BITS;
        let offset_bytes = self.offset_and_flags & ((1 << OFFSET_BITS) - 1);
        let kind = KINDS[(flags & 3) as usize];
        let request = Record::new(self.time_ns, device, offset_bytes, self.bytes.into(), kind);
        Record { fua: flags & 4 != 0, is_sync: flags & 8 != 0, process, ..request }
    }
}

/// Gives the kept requests of a pass one after another.
pub(super) struct Replayed {
    records: Arc<Records>,
    /// Requests given.
    given: usize,
    /// Whether it was asked for one more than there are.
    ended: bool,
    /// The device of the last one.
    device: DeviceId,
}

impl Replayed {
    pub fn new(records: &Arc<Records>) -> Self {
        Replayed { records: Arc::clone(records), given: 0, ended: false, device: DeviceId::default() }
    }

    pub fn next_record(&mut self) -> Option<Record> {
        let Some(packed) = self.records.items.get(self.given) else {
            self.ended = true;
            return None;
        };
        self.given += 1;
        self.device = self.records.devices[usize::from(packed.device)];
        Some(packed.record(self.device.device, self.records.processes[usize::from(packed.process)]))
    }

    /// Whose device the last record's is.
    pub fn device(&self) -> DeviceId {
        self.device
    }

    /// What a reading has to say that has come as far as this one. Where it depends on how far that is, and the run has ended
    /// early, the files are read again up to there.
    pub fn warnings(&self) -> Vec<String> {
        let [before, behind] = &self.records.warnings;
        let is_all = self.ended || before == behind;
        if is_all { behind.clone() } else { self.read_again().unwrap_or_else(|_| behind.clone()) }
    }

    fn read_again(&self) -> Result<Vec<String>, Error> {
        let mut traces = Traces::open_sealed(&self.records.cfg, &self.records.seals)?;
        for _ in 0..self.given {
            traces.next_record()?;
        }
        Ok(traces.warnings())
    }
}

/// Collects records up to a number of bytes.
struct Collector {
    items_max: u64,
    items: Vec<Packed>,
    devices: Numbered<DeviceId>,
    processes: Numbered<Process>,
}

impl Collector {
    fn new(bytes_max: u64) -> Self {
        let items_max = bytes_max / size_of::<Packed>() as u64;
        Collector { items_max, items: Vec::new(), devices: Numbered::default(), processes: Numbered::default() }
    }

    /// Takes a record; false if there is no room for it.
    fn add(&mut self, record: &Record, id: DeviceId) -> bool {
        if self.items.len() as u64 >= self.items_max {
            return false;
        }
        let numbers = self.devices.number(id).zip(self.processes.number(record.process));
        let Some(packed) = numbers.and_then(|(device, process)| Packed::new(record, device, process)) else {
            return false;
        };
        let is_room = self.items.len() < self.items.capacity() || self.items.try_reserve(1).is_ok();
        if is_room {
            self.items.push(packed);
        }
        is_room
    }
}

/// Values by the order in which they were met first.
struct Numbered<T> {
    values: Vec<T>,
    numbers: BTreeMap<T, u16>,
    last: usize,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { values: Vec::new(), numbers: BTreeMap::new(), last: 0 }
    }
}

impl<T: Copy + Ord> Numbered<T> {
    /// The number of a value; `None` for one too many.
    fn number(&mut self, value: T) -> Option<u16> {
        if self.values.get(self.last) != Some(&value) {
            self.last = match self.numbers.get(&value) {
                Some(&number) => number.into(),
                None => {
                    let number = u16::try_from(self.values.len()).ok()?;
                    self.numbers.insert(value, number);
                    self.values.push(value);
                    number.into()
                }
            };
        }
        Some(self.last as u16)
    }
}

/// Traces that are kept, the one that was used last at the end.
struct Kept {
    bytes_max: u64,
    entries: Vec<Entry>,
}

struct Entry {
    cfg: settings::Trace,
    files: Vec<FileState>,
    resolved: Arc<Resolved>,
    bytes: u64,
}

/// What the system says of a file; another one if it was written to.
#[derive(Clone, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device, number there, and when its properties changed, where the system has these.
    identity: [i64; 4],
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { bytes_max: 0, entries: Vec::new() });
static READINGS: AtomicU64 = AtomicU64::new(0);

/// Keeps traces that are replayed, in at most this number of bytes from now on; 0: none, which is how a process begins. What
/// was used longest ago goes first.
pub fn keep(bytes_max: u64) {
    let mut kept = kept();
    kept.bytes_max = bytes_max;
    kept.make_room(0);
}

/// How many times this process has read traces for their layout, the first reading of each replay.
pub fn readings() -> u64 {
    READINGS.load(Relaxed)
}

/// What the first reading of a trace finds: of this run, or of an earlier one that was kept.
pub(super) fn resolved(cfg: &settings::Trace, meter: &mut RecordCounter<'_>) -> Result<Resolved, Error> {
    let (bytes_max, known) = kept().find(cfg);
    if let Some(known) = known {
        return Ok(Resolved::clone(&known));
    }
    let before = states(cfg);
    let resolved = read(cfg, meter, bytes_max)?;
    if bytes_max > 0
        && let Some(files) = before.filter(|files| states(cfg).as_ref() == Some(files))
    {
        let bytes = resolved.bytes();
        let resolved = Arc::new(resolved.clone());
        kept().add(Entry { cfg: cfg.clone(), files, resolved, bytes });
    }
    Ok(resolved)
}

/// Reads the files: once for their hash, and once for all else.
fn read(cfg: &settings::Trace, meter: &mut RecordCounter<'_>, bytes_max: u64) -> Result<Resolved, Error> {
    READINGS.fetch_add(1, Relaxed);
    // Opened first: that refuses all but files.
    let of_log_point = logged::check(&Traces::open(cfg)?, cfg)?;
    let (sha256, seals) = seal(&cfg.paths, &mut || meter.look(None))?;
    let mut traces = Traces::open_sealed(cfg, &seals)?;
    let before = traces.warnings();
    let (mut times, mut touched) = (Times::default(), cfg.dense.then(Touched::default));
    let mut collected = (bytes_max > 0).then(|| Collector::new(bytes_max));
    let layout = Layout::of(&mut traces, meter, |record, id| {
        times.add(record);
        touched.iter_mut().for_each(|touched| touched.add(record, id));
        let _ = collected.take_if(|collected| !collected.add(record, id));
    })?;
    traces.verify()?;
    times.note_early(traces.early());
    if layout.requests() == 0 {
        return Err(no_request(&traces));
    }
    let records = collected.map(|mut collected| {
        collected.items.shrink_to_fit();
        let warnings = [before, traces.warnings()];
        let (devices, processes) = (collected.devices.values, collected.processes.values);
        let (cfg, seals) = (cfg.clone(), seals.clone());
        let file = traces.file();
        Arc::new(Records { items: collected.items, devices, processes, cfg, seals, file, warnings })
    });
    let (dense, doubts, file) = (touched.map(Touched::numbered), traces.doubts(), traces.file());
    Ok(Resolved { sha256, seals, layout, dense, times, doubts, of_log_point, file, records })
}

impl Resolved {
    /// The memory that it takes, nearly.
    fn bytes(&self) -> u64 {
        let records = self.records.as_ref().map_or(0, |records| size_of_val(&records.items[..]));
        (records + self.layout.heap_bytes() + self.dense.as_ref().map_or(0, Dense::heap_bytes)) as u64
    }
}

impl Kept {
    /// The bound, and the trace with these settings if it is kept and its files are as they were.
    fn find(&mut self, cfg: &settings::Trace) -> (u64, Option<Arc<Resolved>>) {
        let place = self.entries.iter().position(|entry| entry.cfg == *cfg);
        let entry = place.map(|place| self.entries.remove(place));
        let entry = entry.filter(|entry| states(cfg).as_ref() == Some(&entry.files));
        let found = entry.as_ref().map(|entry| Arc::clone(&entry.resolved));
        self.entries.extend(entry);
        (self.bytes_max, found)
    }

    fn add(&mut self, entry: Entry) {
        if entry.bytes <= self.bytes_max {
            self.make_room(entry.bytes);
            self.entries.push(entry);
        }
    }

    /// Drops entries until there is room for this number of bytes.
    fn make_room(&mut self, bytes: u64) {
        while self.entries.iter().map(|entry| entry.bytes).sum::<u64>() + bytes > self.bytes_max {
            self.entries.remove(0);
        }
    }
}

/// Nothing panics while it is held.
fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the system says of the files of a trace; `None` if one is not there.
fn states(cfg: &settings::Trace) -> Option<Vec<FileState>> {
    cfg.paths.iter().map(|path| std::fs::metadata(path).ok().map(|found| FileState::of(&found))).collect()
}

impl FileState {
    fn of(found: &Metadata) -> Self {
        FileState { bytes: found.len(), modified: found.modified().ok(), identity: identity(found) }
    }
}

#[cfg(unix)]
fn identity(found: &Metadata) -> [i64; 4] {
    use std::os::unix::fs::MetadataExt;
    [found.dev() as i64, found.ino() as i64, found.ctime(), found.ctime_nsec()]
}

#[cfg(not(unix))]
fn identity(_found: &Metadata) -> [i64; 4] {
    [0; 4]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::super::FORMATS;
    use super::super::source::Source;
    use super::*;

    /// A file in a folder of its own, which goes with it.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str, content: &[u8]) -> Self {
            let folder = std::env::temp_dir().join(format!("flashwatt-kept-{}-{name}", std::process::id()));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join(name), content).expect("a file");
            Temporary(folder.join(name))
        }

        fn cfg(&self) -> settings::Trace {
            settings::Trace::of(&self.0)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            // A folder that stays behind does no harm.
            let _ = self.0.parent().map(fs::remove_dir_all);
        }
    }

    fn read_up_to(cfg: &settings::Trace, bytes_max: u64) -> Resolved {
        let mut tell = |_: &_| true;
        read(cfg, &mut RecordCounter::new(&mut tell), bytes_max).expect("a good trace")
    }

    /// Compares the requests, their devices, and what there is to say after each of them, with those of the files. Gives the requests.
    fn compare(cfg: &settings::Trace) -> usize {
        let resolved = read_up_to(cfg, 1 << 20);
        let records = resolved.records.as_ref().expect("there is room");
        let open = |records| Source::open(cfg, &resolved.seals, records).expect("a good trace");
        let (mut files, mut memory) = (open(None), open(Some(records)));
        let mut requests = 0;
        loop {
            assert_eq!(memory.warnings(), files.warnings(), "after {requests} requests");
            let (one, other) = (files.next_record().expect("a record"), memory.next_record().expect("a record"));
            assert_eq!(other, one, "request {requests}");
            let Some(record) = one else { break };
            assert_eq!(memory.device(&record), files.device(&record));
            requests += 1;
        }
        assert_eq!((memory.warnings(), memory.file()), (files.warnings(), files.file()));
        files.verify().expect("unchanged");
        memory.verify().expect("unchanged");
        requests
    }

    #[test]
    fn every_format_is_the_same_from_memory() {
        for format in FORMATS {
            let file = Temporary::new(format.name, format.example);
            assert!(
                compare(&settings::Trace { format: Some(format.name.into()), ..file.cfg() }) > 0,
                "{}",
                format.name
            );
        }
    }

    /// Damaged lines, times that go back, flushes, devices, processes.
    const ODD: &[u8] =
        b"time_us,device,op,offset,bytes\n5,0,W,4096,4096\n1,7,R,0,512\nnonsense\n9,0,F,0,0\n3,7,T,8192,4096\n\
                         x,0,R,0,512\n8,3,W,1000000,512\n12,0,R,4096,1\n";

    #[test]
    fn every_setting_is_the_same_from_memory() {
        let (file, other) = (Temporary::new("odd.csv", ODD), Temporary::new("other.csv", ODD));
        let bad = settings::Trace { skip_bad: true, ..file.cfg() };
        let both = settings::Trace { paths: vec![file.0.clone(), other.0.clone()], ..bad.clone() };
        assert_eq!((compare(&bad), compare(&both)), (6, 12));
        for cfg in [bad, both] {
            compare(&settings::Trace { sort: true, ..cfg.clone() });
            compare(&settings::Trace { align_starts: true, ..cfg.clone() });
            compare(&settings::Trace { share_devices: true, ..cfg.clone() });
            compare(&settings::Trace { speed: 3.0, space_scale: 0.5, ..cfg.clone() });
            compare(&settings::Trace { max_gap_ns: Some(2000), ..cfg.clone() });
            compare(&settings::Trace { from_ns: 1000, until_ns: Some(5000), sort: true, ..cfg.clone() });
            assert_eq!(compare(&settings::Trace { max_requests: Some(3), ..cfg.clone() }), 3);
            compare(&settings::Trace { devices: vec![7], ..cfg });
        }
    }

    #[test]
    fn what_has_no_room_is_read_as_a_stream() {
        let file = Temporary::new("long.csv", b"time_us,device,op,offset,bytes\n1,0,T,0,4294967296\n2,0,W,0,512\n");
        assert!(read_up_to(&file.cfg(), 1 << 20).records.is_none(), "a length of 33 bits");
        let file = Temporary::new("bound.csv", b"time_us,device,op,offset,bytes\n1,0,W,0,512\n2,0,W,0,512\n");
        assert!(read_up_to(&file.cfg(), 48).records.is_some());
        assert!(read_up_to(&file.cfg(), 47).records.is_none());
        assert!(read_up_to(&file.cfg(), 0).records.is_none());
    }

    const GOOD: &[u8] = b"time_us,device,op,offset,bytes\n5,0,W,4096,4096\n";

    fn entry(file: &Temporary) -> Entry {
        let resolved = read_up_to(&file.cfg(), 1 << 20);
        let files = states(&file.cfg()).expect("it is there");
        Entry { cfg: file.cfg(), files, bytes: resolved.bytes(), resolved: Arc::new(resolved) }
    }

    #[test]
    fn the_one_that_was_used_longest_ago_goes_first() {
        let files = ["a.csv", "b.csv", "c.csv"].map(|name| Temporary::new(name, GOOD));
        let bytes = entry(&files[0]).bytes;
        let mut kept = Kept { bytes_max: 2 * bytes, entries: Vec::new() };
        kept.add(entry(&files[0]));
        kept.add(entry(&files[1]));
        assert!(kept.find(&files[0].cfg()).1.is_some());
        kept.add(entry(&files[2]));
        let is_there = files.each_ref().map(|file| kept.find(&file.cfg()).1.is_some());
        assert_eq!(is_there, [true, false, true]);
        kept.bytes_max = bytes - 1;
        kept.add(entry(&files[1]));
        assert_eq!(kept.entries.len(), 2, "what has no room pushes nothing out");
        kept.make_room(0);
        assert!(kept.entries.is_empty());
    }

    #[test]
    fn a_file_that_was_written_to_is_another_one() {
        let file = Temporary::new("written.csv", GOOD);
        let mut kept = Kept { bytes_max: 1 << 20, entries: Vec::new() };
        kept.add(entry(&file));
        assert!(kept.find(&settings::Trace { speed: 2.0, ..file.cfg() }).1.is_none(), "other settings");
        assert!(kept.find(&file.cfg()).1.is_some());
        fs::rename(&file.0, file.0.with_extension("old")).expect("renamed");
        fs::write(&file.0, GOOD).expect("the same content in another file");
        assert!(kept.find(&file.cfg()).1.is_none());
        assert!(kept.entries.is_empty());
    }
}
