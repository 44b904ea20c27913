//! The host's side and the buffer.

use serde::{Deserialize, Serialize};

use schemars::JsonSchema;

use flashwatt_base::units::Nanos;

/// The host's side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interface {
    /// Rate in 10^6 bytes/s.
    pub rate_mb_s: f64,
    /// Rate of data to the host; `rate_mb_s` unless given.
    pub read_rate_mb_s: Option<f64>,
    /// Rate of data to the disk; `rate_mb_s` unless given.
    pub write_rate_mb_s: Option<f64>,
    /// Time that the electronics take for each command.
    pub command_ns: Nanos,
    /// The same for reads and writes, by what becomes of them; `command_ns` for all unless given.
    pub commands: Option<CommandTimes>,
    /// Time from the end of a read's data to the end of the read.
    pub read_completion_ns: Nanos,
    /// Time from the end of a write's data to the end of the write.
    pub write_completion_ns: Nanos,
    /// Share of a read that must be in the buffer before its data moves. Without it the interface moves parts of sectors while they
    /// pass the head.
    pub read_fill_fraction: Option<f64>,
    /// Time from when that share is there to when its data moves.
    pub read_start_delay_ns: Nanos,
    /// When the arm of a write that goes to the medium starts.
    pub write_start: WriteStart,
    /// Share of such a write that must be in the buffer before it is written; overlapped only.
    pub write_fill_fraction: f64,
    /// Time from when the data of such a write comes fast enough to when the medium takes it; overlapped only.
    pub write_start_delay_ns: Nanos,
    /// Time from the end of the command of such a write to when its data begins to move; overlapped only.
    pub write_data_delay_ns: Nanos,
    /// Commands that the disk accepts at a time.
    pub queue_depth: u32,
}

impl Default for Interface {
    fn default() -> Self {
        Interface {
            rate_mb_s: 100.0,
            read_rate_mb_s: None,
            write_rate_mb_s: None,
            command_ns: 0,
            commands: None,
            read_completion_ns: 0,
            write_completion_ns: 0,
            read_fill_fraction: None,
            read_start_delay_ns: 0,
            write_start: WriteStart::Transferred,
            write_fill_fraction: 0.0,
            write_start_delay_ns: 0,
            write_data_delay_ns: 0,
            queue_depth: 32,
        }
    }
}

/// Which way data moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the host.
    ToHost,
    /// To the disk.
    ToDisk,
}

impl Interface {
    /// Time in ns of this number of bytes on the interface.
    pub fn time(&self, bytes: u64, way: Way) -> Nanos {
        let given = match way {
            Way::ToHost => self.read_rate_mb_s,
            Way::ToDisk => self.write_rate_mb_s,
        };
        (bytes as f64 * 1e3 / given.unwrap_or(self.rate_mb_s)).round() as Nanos
    }
}

/// Times of commands by what becomes of them, each after a read and after a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CommandTimes {
    /// A read that finds its first sectors in the buffer or the cache.
    pub read_hit_ns: [Nanos; 2],
    /// A read that needs the medium for its first sector.
    pub read_miss_ns: [Nanos; 2],
    /// A write that ends in the cache.
    pub write_hit_ns: [Nanos; 2],
    /// A write that ends on the medium.
    pub write_miss_ns: [Nanos; 2],
}

/// When the arm of a write that ends on the medium starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteStart {
    /// When all its data is in the disk.
    Transferred,
    /// After its command, while its data moves. Sectors are written as soon as the data comes fast enough.
    Overlapped,
}

/// How far a disk reads ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadAheadTo {
    /// As far as `read_ahead_bytes` says; after a hit it goes on once half of that is used up.
    Bytes,
    /// To the end of the track of the last sector. What does not fit into the segment overwrites its beginning, as with the next two.
    Track,
    /// To the end of the track of the next sector; in a stream, which has read all of that track so far, to the end of the next track.
    NextTrack,
    /// To the end of the cylinder of the last sector.
    Cylinder,
    /// Until the segment is full.
    Segment,
}

/// What becomes of sectors in a segment that the host has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Returned {
    /// They stay until sectors that are read ahead need their room.
    Overwritten,
    /// They stay until another read needs their room: reading ahead ends when the segment is full.
    Kept,
    /// They are given up at once.
    Dropped,
}

/// The track buffer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Buffer {
    /// Segments, each with a range of sectors that were read; 0 for none.
    pub segments: u32,
    /// Bytes of a segment.
    pub segment_bytes: u64,
    /// Bytes that are read beyond the end of a read while nothing else waits, at most.
    pub read_ahead_bytes: u64,
    /// Of these, bytes that are read in any case, even if a request waits.
    pub read_ahead_least_bytes: u64,
    /// How far the disk reads ahead within `read_ahead_bytes`.
    pub read_ahead_to: ReadAheadTo,
    /// Whether only a read that goes on where its segment ended starts reading ahead.
    pub read_ahead_in_streams: bool,
    /// Whether a read that was in the buffer starts reading ahead.
    pub read_ahead_after_hits: bool,
    /// What becomes of sectors that the host has read.
    pub returned: Returned,
    /// Whether sectors before the first one that pass the head meanwhile are kept.
    pub keeps_passing_sectors: bool,
    /// Whether sectors that were written stay in a segment.
    pub holds_writes: bool,
    /// Whether a write that ends in the cache stops reading ahead.
    pub writes_stop_read_ahead: bool,
    /// Whether a read takes the sectors of a track in the order in which they come by.
    pub reads_on_arrival: bool,
    /// Whether a write does so.
    pub writes_on_arrival: bool,
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer {
            segments: 0,
            segment_bytes: 0,
            read_ahead_bytes: 0,
            read_ahead_least_bytes: 0,
            read_ahead_to: ReadAheadTo::Bytes,
            read_ahead_in_streams: false,
            read_ahead_after_hits: true,
            returned: Returned::Overwritten,
            keeps_passing_sectors: false,
            holds_writes: false,
            writes_stop_read_ahead: true,
            reads_on_arrival: false,
            writes_on_arrival: false,
        }
    }
}
