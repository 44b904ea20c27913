//! Lengths of a job's requests in one direction.

use flashwatt_base::rng::Rng;

/// How a length is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lengths {
    /// Always the same.
    One(u64),
    /// fio's `bsrange`: multiples of the least, evenly; the greatest where a multiple would lie beyond it.
    Range { least: u64, most: u64 },
    /// fio's `bssplit`: lengths, each with the percentage of the requests that have it or one before it.
    Split(Vec<(u64, f64)>),
}

/// Draws before the least length is taken. A draw is repeated where the length reaches beyond the end of the file.
const DRAWS_MAX: u32 = 10_000;

impl Lengths {
    /// Lengths from the least to the greatest.
    pub fn range(least: u64, most: u64) -> Self {
        if least == most { Lengths::One(least) } else { Lengths::Range { least, most } }
    }

    /// Lengths and their percentages, which add up to 100.
    pub fn split(shares: &[(u64, f64)]) -> Self {
        let used: Vec<_> = shares.iter().filter(|(_, percent)| *percent > 0.0).collect();
        if let Some((first, _)) = used.first().filter(|(first, _)| used.iter().all(|(bytes, _)| bytes == first)) {
            return Lengths::One(*first);
        }
        let sums = used.iter().scan(0.0, |sum, (bytes, percent)| {
            *sum += percent;
            Some((*bytes, *sum))
        });
        Lengths::Split(sums.collect())
    }

    /// The only length, if there is one.
    pub fn one(&self) -> Option<u64> {
        match self {
            Lengths::One(bytes) => Some(*bytes),
            _ => None,
        }
    }

    pub fn least(&self) -> u64 {
        match self {
            Lengths::One(bytes) | Lengths::Range { least: bytes, .. } => *bytes,
            Lengths::Split(shares) => shares.iter().map(|(bytes, _)| *bytes).min().unwrap_or(512),
        }
    }

    pub fn most(&self) -> u64 {
        match self {
            Lengths::One(bytes) | Lengths::Range { most: bytes, .. } => *bytes,
            Lengths::Split(shares) => shares.iter().map(|(bytes, _)| *bytes).max().unwrap_or(512),
        }
    }

    /// A length for which `fits` holds; none if it does not hold for the least. A job with one length takes it also where it does
    /// not fit, as in fio: the file is then used up.
    pub fn draw(&self, rng: &mut Rng, fits: impl Fn(u64) -> bool) -> Option<u64> {
        if let Lengths::One(bytes) = self {
            return Some(*bytes);
        }
        let (least, most) = (self.least(), self.most());
        if !fits(least) {
            return None;
        }
        for _ in 0..DRAWS_MAX {
            let drawn = self.drawn(rng.f64(), &fits);
            let bytes = (drawn - drawn % least).min(most);
            if fits(bytes) {
                return Some(bytes);
            }
        }
        Some(least)
    }

    fn drawn(&self, unit: f64, fits: impl Fn(u64) -> bool) -> u64 {
        match self {
            Lengths::One(bytes) => *bytes,
            Lengths::Range { least, most } => least + (*most as f64 * unit) as u64,
            Lengths::Split(shares) => {
                let chosen = shares.iter().find(|(bytes, sum)| unit * 100.0 <= *sum && fits(*bytes));
                chosen.or(shares.last()).map_or(512, |(bytes, _)| *bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_even_and_ends_at_its_greatest_length() {
        let (lengths, mut rng) = (Lengths::range(4096, 10_240), Rng::new(1));
        let drawn: Vec<u64> = (0..10_000).filter_map(|_| lengths.draw(&mut rng, |_| true)).collect();
        let share = |bytes| drawn.iter().filter(|&&one| one == bytes).count() as f64 / 10_000.0;
        // 4096 + u * 10240 lies below 8192 for u < 0.4, below 12288 for u < 0.8; the rest is cut to 10240.
        for (bytes, expected) in [(4096, 0.4), (8192, 0.4), (10_240, 0.2)] {
            assert!((share(bytes) - expected).abs() < 0.02, "{bytes}: {}", share(bytes));
        }
    }

    #[test]
    fn a_length_fits_or_there_is_none() {
        let (lengths, mut rng) = (Lengths::split(&[(4096, 50.0), (16_384, 50.0)]), Rng::new(1));
        assert!((0..100).all(|_| lengths.draw(&mut rng, |bytes| bytes <= 8192) == Some(4096)));
        assert_eq!(lengths.draw(&mut rng, |_| false), None);
        assert_eq!(Lengths::split(&[(4096, 0.0), (8192, 100.0)]), Lengths::One(8192));
        assert_eq!(Lengths::One(4096).draw(&mut rng, |_| false), Some(4096));
    }
}
