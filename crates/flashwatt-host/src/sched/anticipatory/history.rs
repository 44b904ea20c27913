//! What the scheduler knows of processes: how long they think between two requests, and how far they seek.
//!
//! The means are in the fixed point of the kernel: a sample counts 256, and an old one loses an eighth with each new one.

/// Think times are cut to less than this, in jiffies: MAX_THINKTIME, HZ / 50.
const THINK_MAX: u64 = 20;
/// Up to this sum of samples a process is new, and a long seek is believed.
const FEW_SAMPLES: u64 = 60;
/// A seek counts at most 4 times the mean and this many sectors: of a new process, and of another one.
const SEEK_MARGIN: [u64; 2] = [2 * 1024 * 1024, 2 * 1024 * 64];

/// A process.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Its requests that have not gone to the driver.
    pub queued: u32,
    has_sent: bool,
    /// The jiffy in which a request that it waited for has ended for the last time.
    ended: Option<u64>,
    /// Where its last request ends.
    position: u64,
    think: Mean,
    seek: Mean,
}

/// A mean that forgets.
#[derive(Clone, Debug, Default)]
struct Mean {
    samples: u64,
    total: u64,
    mean: u64,
}

impl Mean {
    /// Adds a sample. `half` rounds: it is half of 256, or half of the samples, as the kernel has it.
    fn add(&mut self, value: u64, half: fn(u64) -> u64) {
        self.samples = (7 * self.samples + 256) / 8;
        self.total = (7 * self.total + 256 * value) / 8;
        self.mean = (self.total + half(self.samples)) / self.samples;
    }

    fn get(&self) -> Option<u64> {
        (self.samples > 0).then_some(self.mean)
    }
}

/// The first think times and seeks of processes, which stand for those of a process without any.
#[derive(Clone, Debug, Default)]
pub struct Newcomers {
    think_total: u64,
    seek_total: u64,
}

/// Adds a sample to a sum that loses an eighth with each.
fn add(total: &mut u64, value: u64) {
    *total = (7 * *total + 256 * value) / 8;
}

impl Process {
    /// Learns from a request that a process waits for: of its own, or of one that works in the same place.
    pub fn learn(&mut self, newcomers: &mut Newcomers, first: u64, end: u64, jiffy: u64) {
        if self.has_sent || self.ended.is_some() {
            let thinks = self.ended.filter(|_| self.queued == 0);
            let think = thinks.map_or(0, |ended| (jiffy - ended).min(THINK_MAX - 1));
            if self.think.samples == 0 {
                add(&mut newcomers.think_total, think);
            }
            self.think.add(think, |_| 128);
            let seek = self.position.abs_diff(first);
            if self.seek.samples == 0 {
                add(&mut newcomers.seek_total, seek);
            }
            let margin = SEEK_MARGIN[usize::from(self.seek.samples > FEW_SAMPLES)];
            self.seek.add(seek.min(4 * self.seek.mean + margin), |samples| samples / 2);
        }
        self.position = end;
        self.has_sent = true;
    }

    /// A request that it waits for has ended.
    pub fn woken(&mut self, jiffy: u64) {
        self.ended = Some(jiffy);
    }

    /// Its mean think time in jiffies.
    pub fn think(&self, newcomers: &Newcomers) -> u64 {
        self.think.get().unwrap_or(newcomers.think_total / 256)
    }

    /// Its mean seek in sectors.
    pub fn seek(&self, newcomers: &Newcomers) -> u64 {
        self.seek.get().unwrap_or(newcomers.seek_total / 256)
    }
}
