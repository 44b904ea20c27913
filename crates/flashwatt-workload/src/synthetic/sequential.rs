//! Sequential places: each request starts where the one before ended, in one stream or in several that take turns.

use super::settings;
use super::{Model, Places, Region, Synthetic};
use flashwatt_base::registry::Param;
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const ENTRY: Model = Model {
    name: "sequential",
    doc: "one request after the other; several streams, each in its part of the range, take turns at random",
    params: &[
        Param {
            name: "streams",
            doc: "number of streams, each in an equal part of the range; in a closed loop that many of each process",
            default: 1.0,
            min: 1.0,
            max: 65_536.0,
            integer: true,
        },
        Param {
            name: "run_requests",
            doc: "mean number of requests of a stream before another stream's turn (geometric)",
            default: 1.0,
            min: 1.0,
            max: 1e9,
            integer: false,
        },
    ],
    build: |cfg, seed| Synthetic::open(cfg, Sequential::new(cfg), seed),
};

/// Sequential streams. A request starts at the first place after the end of the stream's last request. If it would not
/// fit into the stream's part of the range, it starts at the beginning of the part.
#[derive(Clone, Debug)]
struct Sequential {
    region: Region,
    /// Length of a stream's part of the range, in places.
    part_slots: u64,
    /// Next place of each stream, counted from the first place of its part: the streams of one process after those of
    /// another.
    next: Vec<u64>,
    /// Streams of a process.
    streams: u64,
    /// The stream that each process is at, and the process whose turn it is.
    at: Vec<u64>,
    process: usize,
    /// Chance threshold of drawing a stream anew before a request.
    turn_below: u64,
}

impl Sequential {
    fn new(cfg: &settings::Synthetic) -> Self {
        let (region, streams) = (cfg.region(), cfg.parameter("streams") as u64);
        let processes = cfg.loops();
        let all = streams * u64::from(processes);
        let turn_below = Rng::threshold(1.0 / cfg.parameter("run_requests"));
        let part_slots = region.range_bytes / region.align_bytes / all;
        let at = (0..u64::from(processes)).map(|process| process * streams).collect();
        Sequential { region, part_slots, next: vec![0; all as usize], streams, at, process: 0, turn_below }
    }

    /// Length in bytes of a stream's part. A single stream has the whole range, even if its length is no multiple of
    /// the alignment.
    fn part_bytes(&self) -> u64 {
        if self.next.len() == 1 { self.region.range_bytes } else { self.part_slots * self.region.align_bytes }
    }
}

impl Places for Sequential {
    #[inline]
    fn place(&mut self, _kind: RequestKind, bytes: u64, rng: &mut Rng) -> u64 {
        let stream = &mut self.at[self.process];
        if self.streams > 1 && rng.chance(self.turn_below) {
            *stream = self.process as u64 * self.streams + rng.below(self.streams);
        }
        let stream = *stream;
        let (align, part_bytes) = (self.region.align_bytes, self.part_bytes());
        let next = &mut self.next[stream as usize];
        let slot = if *next * align + bytes <= part_bytes { *next } else { 0 };
        *next = slot + bytes.div_ceil(align);
        self.region.byte(stream * self.part_slots + slot)
    }

    fn turn_to(&mut self, process: usize) {
        self.process = process;
    }
}
