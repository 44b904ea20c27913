//! Arrival rates of a trace, and sequential streams among its requests.

use std::collections::{BTreeMap, VecDeque};

use super::super::read::sort::Disorder;
use super::super::{DeviceId, Record};

const NS_PER_S: u64 = 1_000_000_000;
/// Greatest number of streams of one device that are followed at the same time.
pub const STREAMS_MAX: usize = 64;

/// Statistics of arrival times. A request with an earlier time than the one before it arrives together with that one,
/// as in a replay.
#[derive(Default)]
pub struct ArrivalStats {
    first_ns: Option<u64>,
    requests: u64,
    last_ns: u64,
    latest_ns: u64,
    /// The second of the last arrival, counted from the first request.
    second: u64,
    /// Requests in that second so far.
    in_second: u64,
    /// The most requests in one second.
    pub peak: u64,
    /// How far times go back.
    pub disorder: Disorder,
}

impl ArrivalStats {
    /// Adds a request.
    pub fn add(&mut self, time_ns: u64) {
        let first_ns = *self.first_ns.get_or_insert(time_ns);
        self.requests += 1;
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

    /// What is said of a trace whose times are all the same: it has none.
    pub fn without_times(&self) -> Option<String> {
        let missing = self.requests > 1 && self.latest_ns == self.start_ns() && self.disorder.records == 0;
        missing.then(|| {
            format!(
                "no times in the trace: all {} requests have the same; a replay is a closed loop (workload.trace.closed_loop = false lets \
                 all of them arrive at once)",
                self.requests
            )
        })
    }

    /// Time of the first request in ns; 0 if there was none.
    pub fn start_ns(&self) -> u64 {
        self.first_ns.unwrap_or(0)
    }

    /// Time in ns from the first request to the latest one.
    pub fn duration_ns(&self) -> u64 {
        self.latest_ns - self.start_ns()
    }
}

/// Interleaved sequential streams: a request continues a stream if it starts where the stream's last request ended.
#[derive(Default)]
pub struct Streams {
    /// The followed streams of each device as `(end, requests)`; the most recently continued stream is last.
    open: BTreeMap<DeviceId, VecDeque<(u64, u64)>>,
    /// Number of streams of two requests or more.
    pub count: u64,
    /// Number of requests that continue a stream.
    pub continued: u64,
}

impl Streams {
    /// Adds a request that has an address and a length.
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

    /// Mean number of requests in the streams of two requests or more; none if there is no such stream.
    pub fn mean_requests(&self) -> Option<f64> {
        // The first request of a stream does not count as continued.
        (self.count > 0).then(|| (self.continued + self.count) as f64 / self.count as f64)
    }
}
