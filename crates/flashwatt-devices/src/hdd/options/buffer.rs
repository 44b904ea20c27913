//! `[hdd.buffer]` and `[hdd.write_cache]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::settings::{Buffer, ReadAheadTo, Returned, WriteCache};
use super::{BYTES_MAX, NS_MAX, whole_sectors};
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};

const SEGMENTS_MAX: u32 = 256;
/// 128 KiB unless given: as much as a request of most hosts.
const SEGMENT_BYTES: u64 = 128 << 10;
/// The most bytes of a segment: 1 TiB, so that its sectors can be counted in 32 bits.
const SEGMENT_BYTES_MAX: u64 = 1 << 40;
/// Keys that need a segment.
const BUFFER_KEYS: [&str; 10] = [
    "hdd.buffer.segment_bytes",
    "hdd.buffer.read_ahead_bytes",
    "hdd.buffer.read_ahead_least_bytes",
    "hdd.buffer.read_ahead_to",
    "hdd.buffer.read_ahead_in_streams",
    "hdd.buffer.read_ahead_after_hits",
    "hdd.buffer.returned",
    "hdd.buffer.keeps_passing_sectors",
    "hdd.buffer.holds_writes",
    "hdd.buffer.writes_stop_read_ahead",
];
/// Extents are kept in one sorted list, and data sheets speak of some dozens.
const EXTENTS_MAX: u32 = 4_096;

/// `[hdd.buffer]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BufferOptions {
    /// Segments of the buffer, each with one run of sectors that were read; 0 for no buffer.
    pub segments: Option<u32>,
    /// Bytes of a segment, a multiple of 512.
    pub segment_bytes: Option<u64>,
    /// Bytes that the disk reads on after a read, while nothing else waits; 0 for none. At most a segment, and a segment unless given;
    /// with a `read_ahead_to` of tracks or a cylinder any number, and without a limit unless given.
    pub read_ahead_bytes: Option<u64>,
    /// Of `read_ahead_bytes`, what the disk reads on in any case, before the next request (as the minimum pre-fetch of SCSI's
    /// caching page).
    pub read_ahead_least_bytes: Option<u64>,
    /// How far the disk reads ahead, within `read_ahead_bytes`.
    pub read_ahead_to: Option<ReadAheadTo>,
    /// Whether only a read that goes on where the sectors of its segment ended starts reading ahead (adaptive read-ahead).
    pub read_ahead_in_streams: Option<bool>,
    /// Whether a read that was all in the buffer starts reading ahead, if the disk has stopped.
    pub read_ahead_after_hits: Option<bool>,
    /// What becomes of the sectors of a segment that the host has read.
    pub returned: Option<Returned>,
    /// Whether sectors before the first one of a read that pass the head while it waits for that one are kept.
    pub keeps_passing_sectors: Option<bool>,
    /// Whether sectors that were written to the medium stay in a segment, so that reads find them.
    pub holds_writes: Option<bool>,
    /// Whether a write that ends in the cache stops reading ahead.
    pub writes_stop_read_ahead: Option<bool>,
    /// Whether a read begins with the first of its sectors on a track that comes by (also called read on arrival, or zero latency), with
    /// or without segments.
    pub reads_on_arrival: Option<bool>,
    /// Whether a write does so, once all its data is in the disk.
    pub writes_on_arrival: Option<bool>,
}

/// `[hdd.write_cache]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WriteCacheOptions {
    /// Size in bytes, a multiple of 512; 0 for none. A write ends when all its data is in the cache; a forced one (FUA), and
    /// every write without a cache, when it is on the medium. A flush ends when all that was in the cache is.
    pub bytes: Option<u64>,
    /// Runs of consecutive sectors that the cache can hold. A write that continues or overlaps one needs no other.
    pub extents: Option<u32>,
    /// A run that has been in the cache for so long is written before all others.
    pub age_max_ns: Option<Nanos>,
    /// Whether all that is in the cache is written before any request that waits for the medium.
    pub goes_first: Option<bool>,
}

impl BufferOptions {
    pub(super) fn resolve(&self, c: &mut Checker) -> Buffer {
        const TABLE: &str = "hdd.buffer";
        let buffer = self;
        let segments = c.number(field!(TABLE, buffer.segments), 0, 0..=SEGMENTS_MAX);
        let segment_bytes =
            c.number(field!(TABLE, buffer.segment_bytes), SEGMENT_BYTES, SECTOR_BYTES..=SEGMENT_BYTES_MAX);
        let read_ahead_to = c.choice(field!(TABLE, buffer.read_ahead_to), ReadAheadTo::Bytes);
        let most = match read_ahead_to {
            _ if segments == 0 => 0,
            ReadAheadTo::Bytes | ReadAheadTo::Segment => segment_bytes,
            ReadAheadTo::Track | ReadAheadTo::NextTrack | ReadAheadTo::Cylinder => {
                BYTES_MAX / SECTOR_BYTES * SECTOR_BYTES
            }
        };
        let mut resolved = Buffer {
            segments,
            segment_bytes,
            read_ahead_bytes: c.number(field!(TABLE, buffer.read_ahead_bytes), most, 0..=BYTES_MAX),
            read_ahead_least_bytes: c.number(field!(TABLE, buffer.read_ahead_least_bytes), 0, 0..=BYTES_MAX),
            read_ahead_to,
            read_ahead_in_streams: c.choice(field!(TABLE, buffer.read_ahead_in_streams), false),
            read_ahead_after_hits: c.choice(field!(TABLE, buffer.read_ahead_after_hits), true),
            returned: c.choice(field!(TABLE, buffer.returned), Returned::Overwritten),
            keeps_passing_sectors: c.choice(field!(TABLE, buffer.keeps_passing_sectors), false),
            holds_writes: c.choice(field!(TABLE, buffer.holds_writes), false),
            writes_stop_read_ahead: c.choice(field!(TABLE, buffer.writes_stop_read_ahead), true),
            reads_on_arrival: c.choice(field!(TABLE, buffer.reads_on_arrival), false),
            writes_on_arrival: c.choice(field!(TABLE, buffer.writes_on_arrival), false),
        };
        if segments == 0 {
            for key in BUFFER_KEYS {
                c.has_no_effect(key, "hdd.buffer.segments = 0", "segments, or no such key");
            }
            let Buffer { reads_on_arrival, writes_on_arrival, .. } = resolved;
            return Buffer { segment_bytes, reads_on_arrival, writes_on_arrival, ..Buffer::default() };
        }
        self.check(c, &mut resolved);
        resolved
    }

    fn check(&self, c: &mut Checker, buffer: &mut Buffer) {
        let key = |name: &str| format!("hdd.buffer.{name}");
        let (ahead, least) = (buffer.read_ahead_bytes, buffer.read_ahead_least_bytes);
        let in_segment = matches!(buffer.read_ahead_to, ReadAheadTo::Bytes | ReadAheadTo::Segment);
        let fits = !in_segment || ahead <= buffer.segment_bytes;
        c.rule(&key("read_ahead_bytes"), ahead, fits, "at most hdd.buffer.segment_bytes");
        c.rule(&key("read_ahead_least_bytes"), least, least <= ahead, "at most hdd.buffer.read_ahead_bytes");
        whole_sectors(c, &key("segment_bytes"), buffer.segment_bytes);
        whole_sectors(c, &key("read_ahead_bytes"), ahead);
        whole_sectors(c, &key("read_ahead_least_bytes"), least);
    }
}

impl WriteCacheOptions {
    pub(super) fn resolve(&self, c: &mut Checker) -> WriteCache {
        const TABLE: &str = "hdd.write_cache";
        let write_cache = self;
        let bytes = c.number(field!(TABLE, write_cache.bytes), 0, 0..=BYTES_MAX);
        whole_sectors(c, "hdd.write_cache.bytes", bytes);
        let cache = WriteCache {
            bytes,
            extents: c.number(field!(TABLE, write_cache.extents), 64, 1..=EXTENTS_MAX),
            age_max_ns: c.number(field!(TABLE, write_cache.age_max_ns), 10_000_000_000, 0..=NS_MAX),
            goes_first: c.choice(field!(TABLE, write_cache.goes_first), false),
        };
        if bytes == 0 {
            for key in ["hdd.write_cache.extents", "hdd.write_cache.age_max_ns", "hdd.write_cache.goes_first"] {
                c.has_no_effect(key, "hdd.write_cache.bytes = 0", "a cache, or no such key");
            }
        }
        cache
    }
}
