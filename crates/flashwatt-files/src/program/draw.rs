//! Numbers of a program: constants, and draws from distributions.

use flashwatt_base::rng::Rng;

/// A number that stands in a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Quantity {
    Fixed(u64),
    Drawn(Drawn),
}

impl Quantity {
    /// The number now: the same always, or a new draw.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            Quantity::Fixed(value) => *value,
            Quantity::Drawn(drawn) => drawn.draw(rng) as u64,
        }
    }

    /// As [`Self::draw`], with its fraction.
    pub fn draw_exact(&self, rng: &mut Rng) -> f64 {
        match self {
            Quantity::Fixed(value) => *value as f64,
            Quantity::Drawn(drawn) => drawn.draw(rng),
        }
    }

    /// The number, if it is the same always.
    pub fn fixed(&self) -> Option<u64> {
        match self {
            Quantity::Fixed(value) => Some(*value),
            Quantity::Drawn(_) => None,
        }
    }
}

/// A random variable: a distribution, the grid that its draws are rounded to, and their bounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Drawn {
    pub shape: Shape,
    /// Added to every draw.
    pub shift: f64,
    /// Draws are rounded to the nearest multiple of this; 0: they are not.
    pub round: f64,
    pub min: f64,
    pub max: f64,
}

impl Drawn {
    fn draw(&self, rng: &mut Rng) -> f64 {
        let exact = self.shape.draw(rng) + self.shift;
        let rounded = if self.round > 0.0 { libm::round(exact / self.round) * self.round } else { exact };
        rounded.min(self.max).max(self.min)
    }
}

/// A distribution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// The gamma distribution of this shape; its mean is `shape * scale` and its variance `shape * scale²`.
    Gamma { shape: f64, scale: f64 },
    /// The normal distribution.
    Normal { mean: f64, sigma: f64 },
    /// Every number of a range is as likely as any other.
    Uniform { lower: f64, upper: f64 },
    /// The exponential distribution.
    Exponential { mean: f64 },
}

impl Shape {
    /// The gamma distribution of a mean.
    pub fn gamma(shape: f64, mean: f64) -> Self {
        Shape::Gamma { shape, scale: mean / shape }
    }

    pub fn draw(&self, rng: &mut Rng) -> f64 {
        match *self {
            Shape::Gamma { shape, scale } => scale * gamma(shape, rng),
            Shape::Normal { mean, sigma } => mean + sigma * normal(rng),
            Shape::Uniform { lower, upper } => lower + (upper - lower) * rng.f64(),
            Shape::Exponential { mean } => -mean * libm::log(1.0 - rng.f64()),
        }
    }
}

/// A draw from the normal distribution of mean 0 and variance 1, by Box and Muller.
fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.f64()));
    radius * libm::cos(2.0 * std::f64::consts::PI * rng.f64())
}

/// A draw from the gamma distribution of this shape and scale 1: Marsaglia and Tsang, *A Simple Method for Generating Gamma
/// Variables*, ACM TOMS 26(3), 2000. Below shape 1 a draw of shape + 1 is multiplied by a power of a uniform draw.
fn gamma(shape: f64, rng: &mut Rng) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, rng) * libm::pow(1.0 - rng.f64(), 1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
        if v > 0.0 && libm::log(1.0 - rng.f64()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of 200,000 draws.
    fn moments(shape: Shape) -> (f64, f64) {
        let mut rng = Rng::new(11);
        let draws: Vec<f64> = (0..200_000).map(|_| shape.draw(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        (mean, draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / draws.len() as f64)
    }

    #[test]
    fn moments_are_those_of_theory() {
        let cases = [
            (Shape::gamma(1.5, 16_384.0), 16_384.0, 16_384.0 * 16_384.0 / 1.5),
            (Shape::gamma(0.5, 10.0), 10.0, 200.0),
            (Shape::gamma(9.0, 3.0), 3.0, 1.0),
            (Shape::Normal { mean: 5.0, sigma: 2.0 }, 5.0, 4.0),
            (Shape::Uniform { lower: 2.0, upper: 8.0 }, 5.0, 3.0),
            (Shape::Exponential { mean: 7.0 }, 7.0, 49.0),
        ];
        for (shape, mean, variance) in cases {
            let (found_mean, found_variance) = moments(shape);
            assert!((found_mean / mean - 1.0).abs() < 0.01, "{shape:?}: mean {found_mean}, {mean} expected");
            assert!((found_variance / variance - 1.0).abs() < 0.03, "{shape:?}: {found_variance}, {variance} expected");
        }
    }

    #[test]
    fn the_shape_of_gamma_is_that_of_theory() {
        // Shape 1.5, mean 3 (scale 2) is the chi-squared distribution of three degrees: its median is 2.366, and a tenth of
        // it lies above 6.251 (any table).
        let mut rng = Rng::new(5);
        let draws: Vec<f64> = (0..100_000).map(|_| Shape::gamma(1.5, 3.0).draw(&mut rng)).collect();
        let above = |bound: f64| draws.iter().filter(|&&x| x > bound).count() as f64 / draws.len() as f64;
        assert!((above(2.366) - 0.5).abs() < 0.006, "{}", above(2.366));
        assert!((above(6.251) - 0.1).abs() < 0.004, "{}", above(6.251));
    }

    #[test]
    fn draws_keep_to_grid_and_bounds() {
        let shape = Shape::Uniform { lower: 0.0, upper: 100.0 };
        let drawn = Quantity::Drawn(Drawn { shape, shift: 1.0, round: 8.0, min: 16.0, max: 80.0 });
        let mut rng = Rng::new(1);
        let values: Vec<u64> = (0..1000).map(|_| drawn.draw(&mut rng)).collect();
        assert!(values.iter().all(|v| v % 8 == 0 && (16..=80).contains(v)));
        assert!(values.contains(&16) && values.contains(&80) && values.contains(&40));
    }
}
