//! A window of a run in two halves, by a count that grows: how much another count grew in each.

/// Samples kept; a power of two.
const SAMPLES: usize = 128;

/// Samples of two counts that grow through a window. It keeps at most a fixed number of them: when they are too many, every
/// other one goes, and only every other later one is kept. So the halves are found to about 1 % of the window.
#[derive(Clone, Debug, Default)]
pub struct Halves {
    samples: Vec<[u64; 2]>,
    taken: u64,
    /// Base-2 logarithm of the calls for each sample kept.
    every: u32,
}

impl Halves {
    /// Takes a sample of the counts, `x` and `y`.
    pub fn take(&mut self, x: u64, y: u64) {
        self.taken += 1;
        if !self.taken.is_multiple_of(1 << self.every) {
            return;
        }
        self.samples.push([x, y]);
        if self.samples.len() == SAMPLES {
            let mut at = 0;
            self.samples.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.every += 1;
        }
    }

    /// Number of samples that were taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The growth of `y` for each `x` before and after the sample at which `x` is nearest to half of its value at the end.
    /// None without such a sample strictly between.
    pub fn split(&self, x_end: u64, y_end: u64) -> Option<[f64; 2]> {
        let &[x, y] = self.samples.iter().min_by_key(|[x, _]| (2 * x).abs_diff(x_end))?;
        let rest = [x_end.checked_sub(x)?, y_end.checked_sub(y)?];
        (x > 0 && rest[0] > 0).then(|| [y as f64 / x as f64, rest[1] as f64 / rest[0] as f64])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `y` grows by 2 for each `x` in the first half and by 3 in the second.
    #[test]
    fn halves_of_any_length() {
        for n in [2_u64, 10, 127, 128, 129, 1_000, 100_000] {
            let y = |x: u64| 2 * x.min(n / 2) + 3 * x.saturating_sub(n / 2);
            let mut halves = Halves::default();
            (1..=n).for_each(|x| halves.take(x, y(x)));
            let [first, second] = halves.split(n, y(n)).expect("there are samples between");
            assert!((first - 2.0).abs() < 0.03 && (second - 3.0).abs() < 0.03, "{n}: {first} {second}");
            assert_eq!(halves.taken(), n);
            assert!(halves.samples.len() < SAMPLES);
        }
    }

    #[test]
    fn no_halves_of_nothing() {
        assert_eq!(Halves::default().split(10, 10), None);
        let mut one = Halves::default();
        one.take(10, 10);
        assert_eq!(one.split(10, 10), None, "nothing after it");
    }
}
