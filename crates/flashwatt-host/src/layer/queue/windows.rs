//! The figures of a window, and the time that it books.

use super::{PASSED, Queue, Unqueued};
use crate::figures::Depths;
use crate::figures::HostFigures;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::AtEnd;

/// The time integral of the number of requests in the device, from the times at which they come and go.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Integral {
    /// The sum of the times at which requests came: of those that were there before the window, of its begin.
    came_ns: u128,
    went_ns: u128,
}

impl Integral {
    #[inline(always)]
    pub fn comes(&mut self, now: Nanos) {
        self.came_ns += u128::from(now);
    }

    #[inline(always)]
    pub fn goes(&mut self, now: Nanos) {
        self.went_ns += u128::from(now);
    }

    /// The integral of the window that ends now, with this many requests there, in request-nanoseconds. The next one begins.
    pub fn take(&mut self, now: Nanos, there: u32) -> u128 {
        let until_now = u128::from(there) * u128::from(now);
        let sum = self.went_ns + until_now - self.came_ns;
        *self = Integral { came_ns: until_now, went_ns: 0 };
        sum
    }
}

impl Queue {
    /// Records the requests over time.
    pub fn record(&mut self, depths: Option<Depths>) {
        self.depths = depths;
    }

    /// The figures of the window that ends now. Its recording ends as that of the device's meter does.
    pub fn end_window(&mut self, now: Nanos, at_end: AtEnd) -> HostFigures {
        self.pass_time(now);
        self.figures.in_device_ns = self.in_device_time.take(now, self.in_device());
        if let Some(depths) = &mut self.depths {
            match at_end {
                AtEnd::ReadOn => {}
                AtEnd::Restart => depths.restart(now),
                AtEnd::Deliver => self.figures.series = Some(depths.series(now)),
            }
        }
        self.take_figures()
    }

    fn take_figures(&mut self) -> HostFigures {
        for (unqueued, figures) in self.unqueued.iter_mut().zip(&mut self.figures.kinds) {
            let Unqueued { passed, sectors, latency } = std::mem::take(unqueued);
            figures.came += passed;
            figures.came_sectors += sectors;
            figures.pieces += passed;
            figures.dispatched += passed;
            figures.dispatched_sectors += sectors;
            figures.queue.add_many(0, latency.count());
            figures.clat = figures.clat.plus(&latency);
            figures.device = figures.device.plus(&latency);
            figures.slat.add_many(0, figures.clat.count() - figures.slat.count());
        }
        let figures = std::mem::take(&mut self.figures);
        // Who has requests under way takes part in the next window, even if none of them ends there.
        let mut is_passing: Vec<bool> = self.in_device.iter().map(|inside| inside.id == PASSED).collect();
        self.free.iter().for_each(|tag| is_passing[tag.0 as usize] = false);
        let inside = self.in_device.iter().zip(is_passing);
        let passed = inside.filter_map(|(inside, is_passing)| is_passing.then_some(inside.process));
        let queued = self.ios.iter().filter(|io| io.left > 0).map(|io| io.process);
        let under_way: Vec<_> = queued.chain(passed).collect();
        under_way.into_iter().for_each(|process| self.figures.moved(process, 0));
        figures
    }

    /// Books the time up to `now`. Without queued requests there is none to book, unless it is recorded.
    #[inline(always)]
    pub fn pass_time(&mut self, now: Nanos) {
        if self.is_busy() || self.depths.is_some() {
            self.book(now);
        }
    }

    #[inline(never)]
    fn book(&mut self, now: Nanos) {
        let (outside, in_device) = (self.outside(), self.in_device());
        if let Some(depths) = &mut self.depths {
            depths.pass(self.since_ns, now, [outside, in_device]);
        }
        let elapsed = u128::from(now - self.since_ns);
        self.since_ns = now;
        if outside > 0 {
            self.figures.queued_ns += elapsed * u128::from(outside);
            if !self.free.is_empty() {
                self.figures.withheld_ns += elapsed;
            }
        }
    }
}
