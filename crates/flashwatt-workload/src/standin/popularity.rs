//! Zipf–Mandelbrot's law over a growing number of ranks.

use flashwatt_base::rng::Rng;

/// Draws ranks 1 to n with probabilities ~ (k + shift)^−exponent.
///
/// Method: rejection-inversion (Hörmann and Derflinger, *Rejection-inversion to generate variates from monotone discrete
/// distributions*, ACM TOMACS 6, 1996). It needs no table, so n may grow between two draws.
#[derive(Clone, Debug)]
pub(super) struct Popularity {
    exponent: f64,
    shift: f64,
    /// Area under the density from the left border of rank 1 on.
    lower: f64,
    ranks: u64,
    /// Area up to the right border of the last rank.
    upper: f64,
}

impl Popularity {
    /// A law without ranks. `exponent` ≥ 0, `shift` ≥ 0.
    pub fn new(exponent: f64, shift: f64) -> Self {
        let mut law = Popularity { exponent, shift, lower: 0.0, ranks: 0, upper: 0.0 };
        law.lower = law.area(1.5) - law.density(1.0);
        law
    }

    /// Adds a rank, the least popular one.
    pub fn grow(&mut self) {
        self.ranks += 1;
        self.upper = self.area(self.ranks as f64 + 0.5);
    }

    /// A rank from 1 on. There must be one.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.lower + rng.f64() * (self.upper - self.lower);
            let rank = (self.inverse(area) + 0.5).clamp(1.0, self.ranks as f64) as u64;
            if area >= self.area(rank as f64 + 0.5) - self.density(rank as f64) {
                return rank;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        libm::pow(x + self.shift, -self.exponent)
    }

    /// The integral of the density, up to a constant.
    fn area(&self, x: f64) -> f64 {
        let (x, power) = (x + self.shift, 1.0 - self.exponent);
        if power.abs() < NEAR_ONE { libm::log(x) } else { libm::pow(x, power) / power }
    }

    fn inverse(&self, area: f64) -> f64 {
        let power = 1.0 - self.exponent;
        let x = if power.abs() < NEAR_ONE { libm::exp(area) } else { libm::pow(area * power, 1.0 / power) };
        x - self.shift
    }
}

/// With an exponent so close to 1 the density is integrated as 1 / x.
const NEAR_ONE: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    /// Frequencies of all ranks agree with the law: χ² of 19 degrees of freedom lies below 43.8 with probability 0.999.
    #[test]
    fn frequencies_are_those_of_the_law() {
        for (exponent, shift) in [(0.0, 0.0), (0.7, 0.0), (1.0, 0.0), (1.0, 3.5), (1.3, 10.0), (2.0, 0.5)] {
            let (mut law, mut rng, ranks, draws) = (Popularity::new(exponent, shift), Rng::new(5), 20_u64, 100_000);
            (0..ranks).for_each(|_| law.grow());
            let mut counts = [0_u32; 20];
            (0..draws).for_each(|_| counts[law.draw(&mut rng) as usize - 1] += 1);
            let weights: Vec<f64> = (1..=ranks).map(|k| (k as f64 + shift).powf(-exponent)).collect();
            let total: f64 = weights.iter().sum();
            let expected = weights.iter().map(|weight| weight / total * f64::from(draws));
            let chi: f64 = counts.iter().zip(expected).map(|(&n, e)| (f64::from(n) - e).powi(2) / e).sum();
            assert!(chi < 43.8, "exponent {exponent}, shift {shift}: {chi}");
        }
    }

    #[test]
    fn a_new_rank_is_drawn_from_then_on() {
        let (mut law, mut rng) = (Popularity::new(0.5, 0.0), Rng::new(1));
        law.grow();
        assert!((0..100).all(|_| law.draw(&mut rng) == 1));
        law.grow();
        assert!((0..100).any(|_| law.draw(&mut rng) == 2));
    }
}
