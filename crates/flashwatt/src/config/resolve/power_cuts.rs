//! `[run.power_cuts]`: when the power is cut, and whether this drive can be cut at all.

use std::ops::RangeInclusive;

use crate::config::raw;
use crate::config::{Config, Cuts, PowerCuts};
use flashwatt_base::error::Error;
use flashwatt_base::settings::{Checker, field};

const TABLE: &str = "run.power_cuts";
/// The places of cuts, of which a configuration has one.
const PLACES: [&str; 3] = ["run.power_cuts.cuts", "run.power_cuts.at_ns", "run.power_cuts.at_operation"];
/// No time and no count of operations is greater.
const LATEST: u64 = i64::MAX as u64;
/// Cuts at given places. Each takes milliseconds at least, and a list is written by hand or by a script.
const PLACES_MAX: usize = 1 << 20;

/// The power cuts, if the configuration has that table.
pub(super) fn power_cuts(c: &mut Checker, raw: &raw::PowerCuts) -> Option<PowerCuts> {
    let number = c.number(field!(TABLE, raw.cuts), PowerCuts::NUMBER, 1..=u32::MAX);
    let times = places(c, PLACES[1], raw.at_ns.as_deref(), 0..=LATEST);
    let operations = places(c, PLACES[2], raw.at_operation.as_deref(), 0..=LATEST);
    let twice = c.choice(field!(TABLE, raw.twice), false);
    let while_busy = c.choice(field!(TABLE, raw.while_busy), false);
    check_one(c);
    if let Some(key) = PLACES[1..].iter().find(|key| c.tree.get(key).is_some()) {
        c.has_no_effect("run.power_cuts.while_busy", format!("{key} beside it"), "random cuts (cuts), or no such key");
    }
    let cuts = match (times, operations) {
        (Some(times), _) => Cuts::At(times),
        (None, Some(operations)) => Cuts::Operations(operations),
        (None, None) => Cuts::Random(number),
    };
    c.tree.get(TABLE).is_some().then_some(PowerCuts { cuts, twice, while_busy })
}

/// A list of places, in their order.
fn places(c: &mut Checker, key: &str, given: Option<&[u64]>, range: RangeInclusive<u64>) -> Option<Vec<u64>> {
    let given = given?;
    let mut places: Vec<u64> = given.iter().map(|&place| c.within(key, place, range.clone())).collect();
    places.sort_unstable();
    if places.is_empty() {
        let fault = c.fault(key, "an empty list").found("[]");
        c.push(fault.expected("one place or more; or run.power_cuts.cuts, a number of random ones"));
    } else if let Some(pair) = places.windows(2).find(|pair| pair[0] == pair[1]) {
        let fault = c.fault(key, "a place is given twice").found(pair[0]);
        c.push(fault.expected("places that differ"));
    } else if places.len() > PLACES_MAX {
        let fault = c.fault(key, "too many places").found(places.len());
        c.push(fault.expected(format!("at most {PLACES_MAX}")));
    }
    Some(places)
}

/// Refuses two places of cuts.
fn check_one(c: &mut Checker) {
    let given: Vec<&str> = PLACES.into_iter().filter(|key| c.tree.get(key).is_some()).collect();
    if let [first, second, ..] = given[..] {
        let fault = c.fault(second, "says when the power is cut, as another key does").found(format!("{first} too"));
        c.push(fault.expected("one of cuts, at_ns and at_operation"));
    }
}

/// Refuses cuts of a drive whose power cannot be cut.
pub(super) fn can_be_cut(c: &mut Checker, config: &Config) {
    if config.run.power_cuts.is_none() {
        return;
    }
    if config.run.max_flash_ops.is_some() {
        let fault = c.fault("run.max_flash_ops", "a run that is cut goes to its end").found("a bound of operations");
        c.push(fault.expected(format!("no such key beside [{TABLE}]")));
    }
    if let Err(Error::Config(faults)) = config.with_power_cuts() {
        for mut fault in faults {
            let key = fault.place.key.take().unwrap_or_default();
            fault.place = c.fault(c.culprit(&[&key, TABLE]), "").place;
            c.push(fault);
        }
    }
}
