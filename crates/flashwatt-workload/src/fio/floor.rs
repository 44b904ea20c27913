//! fio's `rate_min` and `rate_iops_min`: a job ends when it is slower.

use flashwatt_base::units::Nanos;
use flashwatt_core::connector::RequestKind;

/// The least rates of a job, by kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FloorSpec {
    pub bytes_per_s: [Option<u64>; 3],
    pub requests_per_s: [Option<u64>; 3],
    /// The time over which a rate is a mean.
    pub cycle_ns: Nanos,
}

/// How much a job has sent of each kind, and at the last check.
pub(super) struct Floor {
    spec: FloorSpec,
    sent: [Sent; 3],
    checked: [Option<(Nanos, Sent)>; 3],
}

#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    bytes: u64,
    requests: u64,
}

/// fio checks no rate before this time after the start.
const SETTLES_NS: Nanos = 2_000_000_000;

impl Floor {
    pub fn new(spec: FloorSpec) -> Self {
        Floor { spec, sent: [Sent::default(); 3], checked: [None; 3] }
    }

    /// A request was issued.
    pub fn count(&mut self, kind: RequestKind, bytes: u64) {
        if let Some(sent) = self.sent.get_mut(kind as usize) {
            sent.bytes = sent.bytes.saturating_add(bytes);
            sent.requests += 1;
        }
    }

    /// Whether the job, which has run for `ran_ns`, is slower than it must be. Called when a request completes.
    pub fn is_missed(&mut self, ran_ns: Nanos) -> bool {
        (0..3).any(|at| self.is_missed_by(at, ran_ns))
    }

    fn is_missed_by(&mut self, at: usize, ran_ns: Nanos) -> bool {
        let (bytes, requests) = (self.spec.bytes_per_s[at], self.spec.requests_per_s[at]);
        let sent = self.sent[at];
        if ran_ns < SETTLES_NS || sent.requests == 0 || (bytes.is_none() && requests.is_none()) {
            return false;
        }
        if let Some((before_ns, before)) = self.checked[at] {
            let spent_ns = ran_ns.saturating_sub(before_ns);
            if spent_ns < self.spec.cycle_ns.max(1) {
                return false;
            }
            let per_s = |count: u64| u128::from(count) * 1_000_000_000 / u128::from(spent_ns);
            let is_slow = match (bytes, requests) {
                (Some(least), _) => per_s(sent.bytes - before.bytes) < u128::from(least),
                (None, Some(least)) => per_s(sent.requests - before.requests) < u128::from(least),
                (None, None) => false,
            };
            if is_slow {
                return true;
            }
        }
        self.checked[at] = Some((ran_ns, sent));
        false
    }
}
