//! Where the requests of a load lie.

use flashwatt_base::rng::Rng;

/// The order of the requests of a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// One behind the other from byte 0; from there again at the end of the span.
    Sequential,
    /// Uniform over the span, independent of each other.
    Random {
        /// Equal seeds give equal offsets.
        seed: u64,
    },
}

/// The part of a target that a load works on: its first `bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Length of the part.
    pub bytes: u64,
    /// Random offsets are multiples of this. Choice of the callers: 4096, the block of a file system.
    pub align_bytes: u64,
}

/// The offsets of the requests of a load, without end. Simulated and real targets take theirs from here.
#[derive(Clone, Debug)]
pub struct Offsets {
    rng: Option<Rng>,
    align_bytes: u64,
    /// Offsets to choose from.
    places: u64,
    request_bytes: u64,
    next: u64,
    end: u64,
}

impl Offsets {
    /// The offsets of requests of this length; `None` if not one fits into the span, or a length is 0.
    pub fn new(order: Order, span: Span, request_bytes: u64) -> Option<Self> {
        let room = span.bytes.checked_sub(request_bytes)?;
        let places = room.checked_div(span.align_bytes)? + 1;
        let rng = match order {
            Order::Sequential => None,
            Order::Random { seed } => Some(Rng::new(seed)),
        };
        let whole = (span.bytes / request_bytes.max(1)) * request_bytes;
        (request_bytes > 0).then_some(Offsets {
            rng,
            align_bytes: span.align_bytes,
            places,
            request_bytes,
            next: 0,
            end: whole,
        })
    }
}

impl Iterator for Offsets {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if let Some(rng) = &mut self.rng {
            return Some(rng.below(self.places) * self.align_bytes);
        }
        let offset = self.next;
        self.next += self.request_bytes;
        if self.next >= self.end {
            self.next = 0;
        }
        Some(offset)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a panic is how a test fails
mod tests {
    use super::*;

    const SPAN: Span = Span { bytes: 10_240, align_bytes: 512 };

    #[test]
    fn sequential_requests_begin_again_before_one_would_cross_the_end() {
        let offsets: Vec<u64> = Offsets::new(Order::Sequential, SPAN, 4096).unwrap().take(5).collect();
        assert_eq!(offsets, [0, 4096, 0, 4096, 0]); // two of 4096 fit into 10,240
    }

    #[test]
    fn random_requests_reach_every_place_that_they_fit_into_and_no_other() {
        let mut seen = [false; 20];
        for offset in Offsets::new(Order::Random { seed: 3 }, SPAN, 1024).unwrap().take(2000) {
            assert_eq!(offset % 512, 0);
            seen[(offset / 512) as usize] = true;
        }
        assert_eq!(seen.iter().filter(|&&one| one).count(), 19); // 0, 512, … 9216; at 9728 one would cross the end
        assert!(!seen[19]);
    }

    #[test]
    fn a_seed_names_a_stream() {
        let of = |seed| Offsets::new(Order::Random { seed }, SPAN, 512).unwrap().take(50).collect::<Vec<_>>();
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }

    #[test]
    fn a_request_longer_than_the_span_has_no_offset() {
        assert!(Offsets::new(Order::Sequential, SPAN, 10_241).is_none());
        assert!(Offsets::new(Order::Sequential, SPAN, 10_240).is_some());
        assert!(Offsets::new(Order::Sequential, SPAN, 0).is_none());
        assert!(Offsets::new(Order::Sequential, Span { bytes: 512, align_bytes: 0 }, 512).is_none());
    }
}
