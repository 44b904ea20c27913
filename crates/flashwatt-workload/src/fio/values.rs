//! Values of options, from text.

use super::lengths::Lengths;
use super::places::Distribution;
use super::units::bytes;
use flashwatt_base::units::SECTOR_BYTES;

/// Greatest number of anything that an option counts.
pub(super) const COUNT_MAX: u64 = 1_000_000_000_000_000;

/// A positive multiple of a sector.
pub(super) fn sectors(bytes: u64) -> Option<u64> {
    (bytes > 0 && bytes <= COUNT_MAX && bytes.is_multiple_of(SECTOR_BYTES)).then_some(bytes)
}

/// Parses `READ,WRITE,TRIM`. A value without a comma for it is the one before; an empty one is none.
pub(super) fn directions<T: Clone>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<[Option<T>; 3]> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.iter().all(|part| part.is_empty()) {
        return None;
    }
    let value = |part: &&str| if part.is_empty() { Some(None) } else { parse(part).map(Some) };
    let mut given = parts.iter().map(value).collect::<Option<Vec<_>>>()?;
    let last = given.last()?.clone();
    given.resize(given.len().max(3), last);
    given.try_into().ok()
}

/// Parses a rate; `0` means no limit (the inner `None`). A fraction of one a second is no rate.
pub(super) fn rate(text: &str, base: u64) -> Option<Option<u64>> {
    let rate = bytes(text, base)?;
    let is_zero = text.chars().all(|c| c == '0');
    (rate > 0 || is_zero).then_some((rate > 0).then_some(rate))
}

/// Parses `4k-16k`.
pub(super) fn range(text: &str, base: u64) -> Option<Lengths> {
    let (low, high) = text.split_once('-')?;
    let (low, high) = (sectors(bytes(low, base)?)?, sectors(bytes(high, base)?)?);
    (low <= high).then(|| Lengths::range(low, high))
}

/// Parses `SIZE/PERCENT:…`. Sizes without a percentage share the remaining percents equally.
pub(super) fn split(text: &str, base: u64) -> Option<Lengths> {
    let parse = |size: &str| sectors(bytes(size, base)?);
    let shares = shares(text, |entry| {
        let (size, percent) = entry.split_once('/').unwrap_or((entry, ""));
        Some((parse(size)?, percent))
    })?;
    Some(Lengths::split(&shares))
}

/// Entries of `text` between colons with their percentages. Those without one share the remaining percents equally.
fn shares<'a, T>(text: &'a str, entry: impl Fn(&'a str) -> Option<(T, &'a str)>) -> Option<Vec<(T, f64)>> {
    let mut entries = Vec::new();
    for part in text.split(':') {
        let (value, percent) = entry(part.trim())?;
        let percent = if percent.is_empty() { None } else { Some(percent.trim().parse().ok().filter(|p| *p >= 0.0)?) };
        entries.push((value, percent));
    }
    let given: f64 = entries.iter().filter_map(|(_, percent)| *percent).sum();
    let open = entries.iter().filter(|(_, percent)| percent.is_none()).count();
    let rest = (100.0 - given) / open.max(1) as f64;
    let adds_up = if open == 0 { (given - 100.0).abs() < 1e-6 } else { rest > -1e-6 };
    let all = entries.into_iter().map(|(value, percent)| (value, percent.unwrap_or(rest.max(0.0))));
    adds_up.then(|| all.collect())
}

/// Parses `random_distribution`, for a file of `file_bytes` bytes.
pub(super) fn distribution(text: &str, file_bytes: u64, base: u64) -> Option<Distribution> {
    let (name, parameter) = text.split_once(':').unwrap_or((text, ""));
    let number = |text: &str, low: f64, high: f64| text.parse().ok().filter(|n| (low..=high).contains(n));
    let (value, center) = parameter.split_once(':').map_or((parameter, None), |(value, at)| (value, Some(at)));
    let center = match center.filter(|_| !name.starts_with("zoned")) {
        None => None,
        Some(text) => Some(number(text, 0.0, 1.0)?),
    };
    let or_usual = |usual: f64, low, high| if value.is_empty() { Some(usual) } else { number(value, low, high) };
    match name {
        "random" if parameter.is_empty() => Some(Distribution::Random),
        "zipf" => or_usual(1.1, 0.0, 5.0).map(|theta| Distribution::Zipf(theta, center)),
        "pareto" => or_usual(0.2, 0.001, 0.5).map(|share| Distribution::Pareto(share, center)),
        "normal" => number(value, 0.0, 100.0).map(|percent| Distribution::Normal(percent / 100.0)),
        "zoned" => zoned(parameter, zones),
        "zoned_abs" => zoned(parameter, |text| zones_of_bytes(text, file_bytes, base)),
        _ => None,
    }
}

type Shares = Vec<(f64, f64)>;

/// Zones of each direction; a direction without any has those of the one before.
fn zoned(text: &str, parse: impl Fn(&str) -> Option<Shares>) -> Option<Distribution> {
    let [reads, writes, trims] = directions(text, parse)?;
    let whole = vec![(1.0, 1.0)];
    let of = |shares: Option<Shares>| shares.unwrap_or_else(|| whole.clone());
    Some(Distribution::Zoned([of(reads), of(writes), of(trims)]))
}

/// Parses `ACCESS/SIZE:…` in percent, each of which must add up to 100; returns shares from 0 to 1. Blank sizes share what is left.
fn zones(text: &str) -> Option<Shares> {
    let percent = |text: &str| text.parse().ok().filter(|p: &f64| (0.0..=100.0).contains(p));
    let zones = shares(text, |zone| {
        let (access, size) = zone.split_once('/')?;
        Some((percent(access)?, size))
    })?;
    let accesses: f64 = zones.iter().map(|(access, _)| access).sum();
    let shares = zones.into_iter().map(|(access, size)| (access / 100.0, size / 100.0));
    ((accesses - 100.0).abs() < 1e-6).then(|| shares.collect())
}

/// Parses `ACCESS/BYTES:…` (fio's `zoned_abs`).
fn zones_of_bytes(text: &str, file_bytes: u64, base: u64) -> Option<Shares> {
    let mut zones = Vec::new();
    for zone in text.split(':') {
        let (access, size) = zone.split_once('/')?;
        let access = access.parse().ok().filter(|p: &f64| (0.0..=100.0).contains(p))?;
        let size = if size.is_empty() { None } else { Some(bytes(size, base)?) };
        zones.push((access, size));
    }
    let given = zones.iter().filter_map(|(_, size)| *size).try_fold(0_u64, u64::checked_add)?;
    let open = zones.iter().filter(|(_, size)| size.is_none()).count() as u64;
    let rest = file_bytes.checked_sub(given)? / open.max(1);
    let accesses: f64 = zones.iter().map(|(access, _)| access).sum();
    let share = |bytes: u64| bytes as f64 / file_bytes.max(1) as f64;
    let mut all: Shares = zones.into_iter().map(|(a, size)| (a / 100.0, share(size.unwrap_or(rest)))).collect();
    if open == 0 && given < file_bytes {
        // No request goes behind the last zone.
        all.push((0.0, share(file_bytes - given)));
    }
    ((accesses - 100.0).abs() < 1e-6).then_some(all)
}
