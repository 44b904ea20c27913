//! The greatest mean power over stretches of one length.

use flashwatt_base::units::Nanos;

/// Mean power over stretches of one length, laid end to end from the start of the run's window.
#[derive(Clone, Copy, Debug)]
pub struct MeanWindow {
    /// Length of a stretch.
    pub len: Nanos,
    /// End of the present stretch.
    pub end: Nanos,
    energy_at_start: u128,
    /// The greatest energy of a stretch in nW·ns; none before one has ended.
    pub greatest: Option<u128>,
}

impl MeanWindow {
    /// The first stretch begins at `start`, where energy counts from 0.
    pub fn new(len: Nanos, start: Nanos) -> Self {
        MeanWindow { len, end: start + len, energy_at_start: 0, greatest: None }
    }

    /// Ends the present stretch. `energy` is the energy since the first start.
    #[inline]
    pub fn close(&mut self, energy: u128) {
        self.note(energy - self.energy_at_start);
        self.energy_at_start = energy;
        self.end += self.len;
    }

    /// Ends all stretches up to `now`, if power is constant since the present one's start or a boundary in it.
    /// `energy_at` is the energy since the first start.
    pub fn close_equal(&mut self, now: Nanos, energy_at: impl Fn(Nanos) -> u128) {
        if now < self.end {
            return;
        }
        self.close(energy_at(self.end));
        let equal = (now + self.len).saturating_sub(self.end) / self.len;
        if equal > 0 {
            self.close(energy_at(self.end));
            self.end += (equal - 1) * self.len;
            self.energy_at_start = energy_at(self.end - self.len);
        }
    }

    /// As [`Self::close_equal`], of power that is constant at `nw` from a time `from` in the present stretch on. `energy` is the energy
    /// up to that time. `LEN` is the length of a stretch, given once more so that the compiler divides by a constant.
    #[inline(always)]
    pub fn close_constant<const LEN: Nanos>(&mut self, now: Nanos, from: Nanos, energy: u128, nw: u64) {
        debug_assert_eq!(self.len, LEN);
        if now < self.end {
            return;
        }
        let area = |ns: Nanos| u128::from(nw) * u128::from(ns);
        self.close(energy + area(self.end - from));
        if now >= self.end {
            let whole = (now - self.end) / LEN + 1;
            self.note(area(LEN));
            self.energy_at_start += area(whole * LEN);
            self.end += whole * LEN;
        }
    }

    #[inline]
    fn note(&mut self, energy: u128) {
        self.greatest = Some(self.greatest.map_or(energy, |greatest| greatest.max(energy)));
    }
}
