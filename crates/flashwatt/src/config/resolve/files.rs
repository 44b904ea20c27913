//! `[workload.files]`: a program, a file system and a page cache.

use super::bounds::Bounds;
use super::{COUNT_MAX, MB_S, SECONDS_MAX, chosen, registered};
use crate::config::raw;
use flashwatt_base::settings::{Checker, Field, field};
use flashwatt_files::Aged;
use flashwatt_files::program::PERSONALITIES;
use flashwatt_files::settings::{ChosenSystem, Files, PageCacheSettings, ProcessorSettings, Program};
use flashwatt_files::system::{AccessTimes, BLOCK_BYTES, MountOptions};
use flashwatt_files::systems;

/// A cache with fewer pages could not hold what one operation needs.
const MEMORY_BYTES_MIN: u64 = 4 << 20;
const MEMORY_BYTES_MAX: u64 = 1 << 44;
const REQUEST_BYTES_MAX: u64 = 1 << 30;
const CORES_MAX: u32 = 65_536;
/// The mean of file systems of 2004, 189 KiB (Agrawal et al., *A five-year study of file-system metadata*, FAST 2007).
const MEAN_FILE_BYTES: u64 = 189 << 10;
/// 11 days.
const CENTISECONDS_MAX: u64 = 100_000_000;
const CENTISECOND_NS: u64 = 10_000_000;

pub(super) fn files(c: &mut Checker, table: &str, raw: &raw::Files, bounds: &Bounds) -> Files {
    let key = format!("{table}.system");
    let (entry, parameters) = chosen(c, &key, raw.system.as_ref(), "unknown file system", systems::REGISTRY);
    let options = options(c, table, raw, entry);
    let seconds = c.optional(field!(table, raw.seconds), 1e-6..=SECONDS_MAX);
    Files {
        program: program(c, table, raw),
        set: raw.set.iter().flatten().map(|(name, value)| (name.clone(), value.0.clone())).collect(),
        system: ChosenSystem { entry, parameters },
        options,
        aged: raw.aged.as_ref().map(|raw| aged(c, &format!("{table}.aged"), raw)),
        operations: c.optional(field!(table, raw.operations), 1..=COUNT_MAX),
        seconds,
        cache: cache(c, &format!("{table}.cache"), &raw.cache),
        processor: processor(c, &format!("{table}.processor"), &raw.processor),
        disk_bytes: bounds.logical_bytes / BLOCK_BYTES * BLOCK_BYTES,
    }
}

fn options(c: &mut Checker, table: &str, raw: &raw::Files, system: &systems::Registered) -> MountOptions {
    let default = MountOptions::default();
    let given = [("atime", raw.atime.is_some()), ("fsync_flush", raw.fsync_flush.is_some())];
    for (key, _) in given.into_iter().filter(|&(_, is_given)| is_given && !system.build.has_options) {
        let fault =
            c.fault(&format!("{table}.{key}"), "has no effect").found(format!("the file system {}", system.name));
        let others = systems::REGISTRY.iter().filter(|entry| entry.build.has_options).map(|entry| entry.name);
        c.push(fault.expected(format!("one of {}, or no such key", others.collect::<Vec<_>>().join(", "))));
    }
    let atime = raw.atime.map(|atime| match atime {
        raw::AccessTimes::Noatime => AccessTimes::Noatime,
        raw::AccessTimes::Relatime => AccessTimes::Relatime,
        raw::AccessTimes::Strictatime => AccessTimes::Strictatime,
    });
    MountOptions {
        atime: c.choice(Field { key: format!("{table}.atime"), value: atime }, default.atime),
        fsync_flush: c.choice(field!(table, raw.fsync_flush), default.fsync_flush),
    }
}

fn program(c: &mut Checker, table: &str, raw: &raw::Files) -> Program {
    let given = [("personality", &raw.personality), ("path", &raw.path), ("fio", &raw.fio)];
    let mut given = given.into_iter().filter_map(|(key, value)| value.as_ref().map(|_| key));
    if let (Some(first), Some(second)) = (given.next(), given.next()) {
        let fault = c.fault(&format!("{table}.{second}"), "a second program").found(format!("{first} and {second}"));
        c.push(fault.expected("one of `personality`, `path` and `fio`"));
    }
    if raw.fio.is_some() && raw.set.is_some() {
        let fault = c.fault(&format!("{table}.set"), "has no effect").found("fio jobs, which have no variables");
        c.push(fault.expected("a `personality` or a `path`, or no such key"));
    }
    match (&raw.path, &raw.fio) {
        (Some(path), _) => Program::File(path.into()),
        (None, Some(path)) => Program::Fio(path.into()),
        (None, None) => {
            let field = Field { key: format!("{table}.personality"), value: raw.personality.clone() };
            Program::Personality(registered(c, field, "unknown personality", PERSONALITIES))
        }
    }
}

fn aged(c: &mut Checker, table: &str, raw: &raw::Aged) -> Aged {
    Aged {
        fill_fraction: c.number(field!(table, raw.fill_fraction), 0.5, 0.01..=0.9),
        churn: c.number(field!(table, raw.churn), 1.0, 0.0..=1000.0),
        mean_file_bytes: c.number(field!(table, raw.mean_file_bytes), MEAN_FILE_BYTES, BLOCK_BYTES..=1 << 40),
    }
}

fn cache(c: &mut Checker, table: &str, raw: &raw::PageCache) -> PageCacheSettings {
    let default = PageCacheSettings::default();
    let background = c.number(field!(table, raw.dirty_background_ratio), default.dirty_background_ratio, 0.0..=100.0);
    let ratio = c.number(field!(table, raw.dirty_ratio), default.dirty_ratio, 0.0..=100.0);
    if c.clean(table) && background >= ratio {
        let keys = [format!("{table}.dirty_background_ratio"), format!("{table}.dirty_ratio")];
        let fault = c.fault(c.culprit(&keys.each_ref().map(String::as_str)), "pages are never written back in time");
        let found = format!("dirty_background_ratio = {background:?}, dirty_ratio = {ratio:?}");
        c.push(fault.found(found).expected("dirty_background_ratio < dirty_ratio"));
    }
    let centiseconds = |c: &mut Checker, field, default_ns: u64| {
        c.number(field, default_ns / CENTISECOND_NS, 1..=CENTISECONDS_MAX) * CENTISECOND_NS
    };
    PageCacheSettings {
        memory_bytes: blocks(
            c,
            field!(table, raw.memory_bytes),
            default.memory_bytes,
            MEMORY_BYTES_MIN,
            MEMORY_BYTES_MAX,
        ),
        dirty_background_ratio: background,
        dirty_ratio: ratio,
        dirty_expire_ns: centiseconds(c, field!(table, raw.dirty_expire_centisecs), default.dirty_expire_ns),
        dirty_writeback_ns: centiseconds(c, field!(table, raw.dirty_writeback_centisecs), default.dirty_writeback_ns),
        read_ahead_bytes: blocks(
            c,
            field!(table, raw.read_ahead_bytes),
            default.read_ahead_bytes,
            0,
            REQUEST_BYTES_MAX,
        ),
        max_request_bytes: blocks(
            c,
            field!(table, raw.max_request_bytes),
            default.max_request_bytes,
            BLOCK_BYTES,
            REQUEST_BYTES_MAX,
        ),
    }
}

fn processor(c: &mut Checker, table: &str, raw: &raw::Processor) -> ProcessorSettings {
    let default = ProcessorSettings::default();
    ProcessorSettings {
        cores: c.number(field!(table, raw.cores), default.cores, 1..=CORES_MAX),
        call_ns: c.number(field!(table, raw.call_ns), default.call_ns, 1..=super::NS_MAX),
        copy_bytes_per_s: c.number(field!(table, raw.copy_mb_s), default.copy_bytes_per_s / 1e6, MB_S) * 1e6,
    }
}

/// A number of bytes in whole blocks.
fn blocks(c: &mut Checker, field: Field<u64>, default: u64, min: u64, max: u64) -> u64 {
    let key = field.key.clone();
    let bytes = c.number(field, default, min..=max);
    c.rule(&key, bytes, bytes.is_multiple_of(BLOCK_BYTES), "a multiple of 4096");
    bytes
}
