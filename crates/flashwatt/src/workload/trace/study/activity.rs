//! How busy a trace is, and how its requests follow each other in time and space.

use std::collections::{BTreeMap, VecDeque};

use super::super::read::sort::Disorder;
use super::super::{DeviceId, Record};

const NS_PER_S: u64 = 1_000_000_000;
/// Streams of one device that are followed at a time.
pub const STREAMS_MAX: usize = 64;

/// When requests arrive. One whose time goes back arrives with the one before it, as in a replay.
#[derive(Default)]
pub struct Arrivals {
    first_ns: Option<u64>,
    last_ns: u64,
    latest_ns: u64,
    /// The second that the last request arrived in, counted from the first request, and requests in it so far.
    second: u64,
    in_second: u64,
    /// The most requests in one second.
    pub peak: u64,
    /// How far times go back.
    pub disorder: Disorder,
}

impl Arrivals {
    /// Adds a request.
    pub fn add(&mut self, time_ns: u64) {
        let first_ns = *self.first_ns.get_or_insert(time_ns);
        self.disorder.add(time_ns, self.last_ns, self.latest_ns);
        self.last_ns = time_ns;
        self.latest_ns = self.latest_ns.max(time_ns);
        let second = (self.latest_ns - first_ns) / NS_PER_S;
        if second != self.second {
            (self.second, self.in_second) = (second, 0);
        }
        self.in_second += 1;
        self.peak = self.peak.max(self.in_second);
    }

    /// The first request's time; 0 before it.
    pub fn start_ns(&self) -> u64 {
        self.first_ns.unwrap_or(0)
    }

    /// From the first request's time to the latest one's.
    pub fn duration_ns(&self) -> u64 {
        self.latest_ns - self.start_ns()
    }
}

/// Sequential streams that are interleaved: a request continues one if it starts where that one's last request ended.
#[derive(Default)]
pub struct Streams {
    /// Of each device: where the streams that were continued last end, and how many requests they have; the last one last.
    open: BTreeMap<DeviceId, VecDeque<(u64, u64)>>,
    /// Streams of two requests or more.
    pub count: u64,
    /// Requests that continue a stream.
    pub continued: u64,
}

impl Streams {
    /// Adds a request with a range.
    pub fn add(&mut self, record: &Record, id: DeviceId) {
        let open = self.open.entry(id).or_default();
        let end = record.offset_bytes + record.bytes;
        let Some(at) = open.iter().rposition(|&(end, _)| end == record.offset_bytes) else {
            if open.len() == STREAMS_MAX {
                open.pop_front();
            }
            open.push_back((end, 1));
            return;
        };
        let requests = open.remove(at).map_or(1, |(_, requests)| requests);
        self.count += u64::from(requests == 1);
        self.continued += 1;
        open.push_back((end, requests + 1));
    }

    /// Requests in a stream of two or more, on average.
    pub fn mean_requests(&self) -> Option<f64> {
        // The first request of each continues none.
        (self.count > 0).then(|| (self.continued + self.count) as f64 / self.count as f64)
    }
}
