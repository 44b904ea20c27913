//! How much the tests try: little in `make test`, as much as is asked for in `make soak`.
//!
//! The environment's `FLASHWATT_SOAK` is the factor of a soak; without it a test takes its little size. A soak also takes other random
//! numbers each day, by `FLASHWATT_SEED` (`make soak` sets both and prints them), while `make test` tries the same cases every time.
//! `proptest` reads the number of its cases from `PROPTEST_CASES`, which `make` sets for both tiers.

use std::env;
use std::str::FromStr;

/// The factor of the soak; `None` in `make test`.
pub fn soak() -> Option<f64> {
    variable("FLASHWATT_SOAK")
}

/// `little` in `make test`; in the soak `much` times its factor, and never less than `little`.
pub fn size(little: usize, much: usize) -> usize {
    soak().map_or(little, |factor| little.max((factor * much as f64) as usize))
}

/// A number to add to the seeds of random tests: 0 in `make test`.
pub fn seed() -> u64 {
    variable("FLASHWATT_SEED").unwrap_or(0)
}

/// The only case of a random test that is run, by its number in messages of failures: `FLASHWATT_CASE`.
pub fn only_case() -> Option<usize> {
    variable("FLASHWATT_CASE")
}

fn variable<T: FromStr>(name: &str) -> Option<T> {
    let text = env::var(name).ok()?;
    let value = text.parse().unwrap_or_else(|_| panic!("{name}: found `{text}`; expected a number"));
    Some(value)
}
