//! Fits the parameters of reuse, so that a stand-in accesses pages again as a trace does.

use super::Standin;
use super::character::{Character, OfKind, Window, sketch};
use super::data::StandinModel;
use flashwatt_base::error::Error;
use flashwatt_base::rng::Rng;

/// The parameters of reuse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reuse {
    /// As [`StandinModel::recent_fraction`].
    pub recent_fraction: f64,
    /// As [`StandinModel::recent_starts`].
    pub recent_starts: u32,
    /// As [`StandinModel::popularity_exponent`].
    pub popularity_exponent: f64,
    /// As [`StandinModel::popularity_shift`].
    pub popularity_shift: f64,
}

impl Reuse {
    /// Those of a model.
    pub fn of(model: &StandinModel) -> Self {
        Reuse {
            recent_fraction: model.recent_fraction.value,
            recent_starts: model.recent_starts.value,
            popularity_exponent: model.popularity_exponent.value,
            popularity_shift: model.popularity_shift.value,
        }
    }

    /// Sets them in a model.
    pub fn set(self, model: &mut StandinModel) {
        model.recent_fraction.value = self.recent_fraction;
        model.recent_starts.value = self.recent_starts;
        model.popularity_exponent.value = self.popularity_exponent;
        model.popularity_shift.value = self.popularity_shift;
    }

    /// The parameters at a point of the search: a number from 0 to 1 for each, rounded to what a file shows.
    fn at(point: Point) -> Self {
        let between = |(least, most): (f64, f64), at: f64| least + at * (most - least);
        let log_between = |(least, most): (f64, f64), at: f64| least * libm::pow(most / least, at);
        let rounded = |value: f64, to: f64| (value * to).round() / to;
        let shift = log_between(SHIFT, point[3]);
        Reuse {
            recent_fraction: rounded(between(RECENT_FRACTION, point[0]), 1e3),
            recent_starts: log_between(RECENT_STARTS, point[1]).round() as u32,
            popularity_exponent: rounded(between(EXPONENT, point[2]), 1e3),
            popularity_shift: rounded(shift, if shift < 10.0 { 1e2 } else { 1.0 }),
        }
    }
}

type Point = [f64; 4];

/// Least and greatest values of the search.
const RECENT_FRACTION: (f64, f64) = (0.0, 0.95);
const RECENT_STARTS: (f64, f64) = (1.0, 1024.0);
const EXPONENT: (f64, f64) = (0.0, 2.5);
const SHIFT: (f64, f64) = (0.01, 10_000.0);

/// Number of random points that the search begins with.
const FIRST_POINTS: usize = 96;
/// Number of these, the best, from which it goes on.
const STARTS: usize = 4;
/// First and last length of a step.
const STEPS: (f64, f64) = (0.16, 0.01);
/// Seed of the search, and of the stand-ins that it draws.
const SEED: u64 = 1;
/// Least number of writes to fit these; with fewer the reads are fitted.
const WRITES_MIN: u64 = 1000;

/// How far two streams differ in their reuse: the root of the mean square of the relative differences of shares of popular
/// pages and of hit ratios, of the writes or, with few writes, of the reads. Each percentage is taken 2 points higher,
/// so that small ones do not decide.
pub fn distance(found: &Character, wanted: &Character) -> f64 {
    let of: fn(&Character) -> &OfKind = if is_of_writes(wanted) { |c| &c.writes } else { |c| &c.reads };
    let (found, wanted) = (of(found), of(wanted));
    let pairs =
        found.top_percent.iter().zip(&wanted.top_percent).chain(found.hit_percent.iter().zip(&wanted.hit_percent));
    let (sum, count) = pairs.fold((0.0, 0.0), |(sum, count), (found, wanted)| {
        let difference = (found - wanted) / (wanted + 2.0);
        (sum + difference * difference, count + 1.0)
    });
    libm::sqrt(sum / count)
}

/// Whether a stream has enough writes to fit these.
pub fn is_of_writes(character: &Character) -> bool {
    character.writes.requests >= WRITES_MIN
}

/// Finds the parameters with which a window of the stand-in differs least from `wanted`, and that difference. All other
/// values of the stand-in stay. The search is random at first, then goes by steps along each parameter; it depends on
/// its input alone. `progress` is called after each step with the share of the search that is over, and ends it by
/// returning `false`.
///
/// # Errors
/// [`Error::InterruptedReading`] if `progress` returned `false`.
pub fn fit_reuse(
    standin: &Standin,
    drive_bytes: u64,
    window: Window,
    wanted: &Character,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<(Reuse, f64), Error> {
    let standin = standin.clone();
    let mut search = Search { standin, drive_bytes, window, wanted, rng: Rng::new(SEED), tried: 0, progress };
    let mut points = vec![(f64::INFINITY, [0.5; 4]); FIRST_POINTS];
    for (distance, point) in &mut points {
        *point = std::array::from_fn(|_| search.rng.f64());
        *distance = search.distance_at(*point)?;
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut best = points[0];
    for &start in &points[..STARTS] {
        let found = search.descend(start)?;
        best = if found.0 < best.0 { found } else { best };
    }
    Ok((Reuse::at(best.1), best.0))
}

struct Search<'a> {
    standin: Standin,
    drive_bytes: u64,
    window: Window,
    wanted: &'a Character,
    rng: Rng,
    tried: u64,
    progress: &'a mut dyn FnMut(f64) -> bool,
}

impl Search<'_> {
    fn distance_at(&mut self, point: Point) -> Result<f64, Error> {
        /// About the number of points of a search.
        const POINTS: f64 = 600.0;
        self.tried += 1;
        if !(self.progress)((self.tried as f64 / POINTS).min(1.0)) {
            return Err(Error::InterruptedReading { done: self.wanted.requests });
        }
        Reuse::at(point).set(&mut self.standin.data.model);
        let requests = self.standin.requests(1.0);
        let mut workload = self.standin.open(1.0, requests, self.drive_bytes, SEED);
        Ok(distance(&sketch(workload.as_mut(), self.window)?.character(), self.wanted))
    }

    /// Goes on from a point along each parameter and in random directions, with half the step whenever no step is better.
    fn descend(&mut self, start: (f64, Point)) -> Result<(f64, Point), Error> {
        let (mut best, mut step) = (start, STEPS.0);
        while step >= STEPS.1 {
            let before = best.0;
            for direction in self.directions() {
                let moved = |way: f64| std::array::from_fn(|at| (best.1[at] + way * direction[at]).clamp(0.0, 1.0));
                for point in [moved(step), moved(-step)] {
                    let found = if point == best.1 { f64::INFINITY } else { self.distance_at(point)? };
                    if found < best.0 {
                        best = (found, point);
                        break;
                    }
                }
            }
            if best.0 == before {
                step /= 2.0;
            }
        }
        Ok(best)
    }

    /// Each parameter alone, then all of them at random: a narrow valley may lie across the parameters.
    fn directions(&mut self) -> [Point; 8] {
        std::array::from_fn(|number| {
            std::array::from_fn(|at| match number {
                0..4 => f64::from(u8::from(number == at)),
                _ => 2.0 * self.rng.f64() - 1.0,
            })
        })
    }
}
