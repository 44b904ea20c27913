//! A call of a write that waits and begins again.
//!
//! It begins at its first page: what it has asked for may have left memory meanwhile. A call that is longer than the cache can lose a
//! block of metadata each time before it comes to the page that needs it, and would never end. So one that has stopped often without
//! coming further goes on with the page where it stopped, however much is dirty.

/// Stops without coming further, after which a call goes on where it stopped. A page needs fewer blocks of metadata than that.
const VAIN_MAX: u32 = 64;

/// Where a call has stopped, and how often in vain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restarts {
    /// The furthest page.
    reached: u32,
    /// Stops since it came so far.
    vain: u32,
}

impl Restarts {
    /// The call has to wait before it changes this page, or has changed all before it.
    pub fn stopped_at(&mut self, page: u32) {
        if page > self.reached && self.goes_on_from().is_none() {
            self.vain = 0;
        } else {
            self.vain = self.vain.saturating_add(1);
        }
        self.reached = self.reached.max(page);
    }

    /// The page with which it goes on; none if it begins with its first one.
    pub fn goes_on_from(&self) -> Option<u32> {
        (self.vain >= VAIN_MAX).then_some(self.reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_comes_further_begins_with_its_first_page() {
        let mut restarts = Restarts::default();
        (1..10_000).for_each(|page| restarts.stopped_at(page));
        assert_eq!(restarts.goes_on_from(), None);
        (0..VAIN_MAX).for_each(|_| restarts.stopped_at(9_000));
        assert_eq!(restarts.goes_on_from(), Some(9_999));
        restarts.stopped_at(10_001);
        assert_eq!(restarts.goes_on_from(), Some(10_001));
    }
}
