//! Could a drive have done this? Figures that no drive reaches, and units under which a trace would look as traces do: this says which
//! option would mend them.

use super::super::counted;
use super::census::{BLOCK_BYTES, Census};
use super::clock_steps::duration;
use super::column_units::ColumnUnits;
use crate::settings::{LengthUnit, TimeUnit};
use flashwatt_base::units::SECTOR_BYTES;

/// Fewer requests than this say nothing about sizes.
const SIZES_MIN: u64 = 4;
/// Fewer requests than this say nothing about rates: a few may come at once.
const RATES_MIN: u64 = 8;
/// Fewer requests than this say nothing about what a drive can do but is seldom asked for: a few may all have one sector, or lie
/// at round offsets.
const MANY_REQUESTS: u64 = 16;
/// The fastest drives are sold with 3.3 x 10^6 random reads a second.
const RATE_PER_S_MAX: f64 = 4e6;
/// PCIe 5.0 with four lanes carries 15.75 x 10^9 bytes a second.
const BYTES_PER_S_MAX: f64 = 16e9;
/// Nobody has recorded a trace for longer than ten years, and no machine has run for longer.
const DURATION_S_MAX: f64 = 10.0 * YEAR_S;
const YEAR_S: f64 = 365.25 * 86_400.0;
/// Days on which traces were recorded, in years since 1970 and since 1601 (as Windows counts).
const DATES_YEARS: [(f64, f64); 2] = [(20.0, 80.0), (389.0, 449.0)];
/// Operating systems split requests at 1280 KiB or less by default, so no mean is larger than this.
const MEAN_BYTES_MAX: f64 = (1 << 20) as f64;
/// A drive moves whole sectors.
const MEAN_BYTES_MIN: f64 = SECTOR_BYTES as f64;
/// File systems on sectors make blocks of 1 KiB and more.
const MEAN_SECTORS_BYTES_MIN: f64 = 1024.0;
/// The largest drive that is sold has 245.76 x 10^12 bytes.
const SPAN_BYTES_MAX: u64 = 256 << 40;
/// Offsets and sizes in bytes are multiples of a sector, so that in a larger unit they are multiples of that number of units.
const BYTES_IN_UNITS: u64 = SECTOR_BYTES;
/// The largest size, in units, of requests of one size that looks like a number of bytes: 256 KiB and 512 KiB in sectors.
const ONE_SIZE_MAX: u64 = 2 * SECTOR_BYTES;

/// What cannot be true of a drive, and the option that would mend it, for a trace read in `units`; and the steps of its clock.
pub fn doubts(census: &Census, units: Option<&ColumnUnits>) -> Vec<String> {
    let position = if units.is_some() { "line" } else { "record" };
    let mut found = units.map_or_else(Vec::new, |units| Doubts { census, units }.all());
    found.extend(census.clock.doubts(position));
    found
}

struct Doubts<'a> {
    census: &'a Census,
    units: &'a ColumnUnits,
}

impl Doubts<'_> {
    fn all(&self) -> Vec<String> {
        let requests = self.census.requests;
        if requests < SIZES_MIN {
            return self.start().into_iter().collect();
        }
        let many = requests >= MANY_REQUESTS;
        if let Some(both) = self.both_in_bytes().filter(|_| many) {
            return vec![both];
        }
        let (size, offset) = match self.ratio() {
            Some((what @ (Wrong::Size | Wrong::Both), said)) => {
                (Some(said), if what == Wrong::Both { None } else { self.offset().filter(|_| many) })
            }
            Some((Wrong::Offset, said)) => (self.size(), Some(said)),
            None => (self.size().or_else(|| self.blocks()), self.offset().filter(|_| many)),
        };
        let time = if size.is_some() || requests < RATES_MIN { None } else { self.time() };
        [size, time.or_else(|| self.start()), offset].into_iter().flatten().collect()
    }

    /// Sizes and offsets do not fit each other: under other units the requests follow one another, as they are read none does.
    fn ratio(&self) -> Option<(Wrong, String)> {
        let scale = self.census.ratios.scale()?;
        let (size, offset) = (self.units.size_bytes, self.units.offset_bytes);
        let mean_in = |unit: u64| self.census.mean_bytes() / size as f64 * unit as f64;
        let fits = |unit: u64| (MEAN_BYTES_MIN..=MEAN_BYTES_MAX).contains(&mean_in(unit));
        // A size of the unit s and an offset of the unit o follow one another if s / o is 2^power times what it is.
        let pairs = LengthUnit::ALL.into_iter().flat_map(|s| LengthUnit::ALL.into_iter().map(move |o| (s, o)));
        let agrees = |(s, o): &(LengthUnit, LengthUnit)| {
            let (is, would) = (u128::from(size) * u128::from(o.bytes()), u128::from(s.bytes()) * u128::from(offset));
            let power = scale.power;
            (if power >= 0 { is << power == would } else { is == would << -power }) && fits(s.bytes())
        };
        let rank = |&(s, o): &(LengthUnit, LengthUnit)| {
            let common = |unit| [LengthUnit::Bytes, LengthUnit::Sectors, LengthUnit::FourKib].contains(&unit);
            (s.bytes() != size && o.bytes() != offset, !(common(s) && common(o)), s.bytes() != size)
        };
        let (s, o) = pairs.filter(agrees).min_by_key(rank)?;
        let (mut columns, mut options) = (Vec::new(), Vec::new());
        if s.bytes() != size {
            columns.push(format!("sizes in {}", s.name()));
            options.push(format!("--size-unit {}", s.name()));
        }
        if o.bytes() != offset {
            columns.push(format!("offsets in {}", o.name()));
            options.push(format!("--offset-unit {}", o.name()));
        }
        let (what, wrong) = match (s.bytes() != size, o.bytes() != offset) {
            (true, true) => ("sizes and offsets", Wrong::Both),
            (true, false) => ("sizes", Wrong::Size),
            _ => ("offsets", Wrong::Offset),
        };
        let ratio = if scale.power >= 0 {
            format!("{} times", 1u64 << scale.power)
        } else {
            format!("1/{} of", 1u64 << -scale.power)
        };
        Some((
            wrong,
            format!(
                "implausible {what}: {percent} % of the requests begin {ratio} the size of the one before after its beginning, and \
                 {now} % where it ends; if the trace counts {columns}, {options} makes {percent} % of them sequential (sizes of {mean} on \
                 average)",
                percent = scale.percent,
                now = self.census.ratios.sequential_percent(),
                columns = columns.join(" and "),
                options = options.join(" "),
                mean = kib(mean_in(s.bytes())),
            ),
        ))
    }

    fn size(&self) -> Option<String> {
        if self.census.moving < SIZES_MIN {
            return None;
        }
        let (mean, unit) = (self.census.mean_bytes(), self.units.size_bytes);
        let may_be_blocks = unit == SECTOR_BYTES && self.census.requests >= MANY_REQUESTS;
        let least = if may_be_blocks { MEAN_SECTORS_BYTES_MIN } else { MEAN_BYTES_MIN };
        let in_unit = |other: LengthUnit| mean / unit as f64 * other.bytes() as f64;
        let fits = |other: &LengthUnit| (MEAN_BYTES_MIN..=MEAN_BYTES_MAX).contains(&in_unit(*other));
        let (why, others) = if mean > MEAN_BYTES_MAX {
            let shorter = shorter_lengths(unit).find(fits);
            ("operating systems cut requests at about 1 MiB", shorter.into_iter().collect::<Vec<_>>())
        } else if mean < least {
            let longer = longer_lengths(unit).filter(fits);
            // Sectors of requests that lie in blocks come in eights.
            let blocks = self.census.odd_sizes * 2 > self.census.moving && self.lies_in_blocks();
            let longer = longer.filter(|unit| !(blocks && *unit == LengthUnit::Sectors));
            ("a drive moves whole sectors, and file systems whole blocks", longer.take(1).collect())
        } else {
            return None;
        };
        let would = others.iter().map(|other| {
            format!(
                "if the trace counts them in {0}, --size-unit {0} makes them {1}",
                other.name(),
                kib(in_unit(*other))
            )
        });
        let would = would.collect::<Vec<_>>().join(", ");
        (!would.is_empty()).then(|| format!("implausible sizes: {} on average ({why}); {would}", kib(mean)))
    }

    /// Whether all offsets are those of blocks of 4 KiB, and enough of them differ for that to be no chance.
    fn lies_in_blocks(&self) -> bool {
        self.census.offset_step() >= BLOCK_BYTES && self.census.moved >= SIZES_MIN
    }

    /// All requests begin at a block, and most do not end at one: their sizes count blocks, or sectors.
    fn blocks(&self) -> Option<String> {
        let (census, unit) = (self.census, self.units.size_bytes);
        let many = |part: u64| part * 2 > census.moving;
        let sectors_in_bytes = unit == 1 && many(census.within_sector_sizes) && census.offset_step() >= SECTOR_BYTES;
        let blocks = unit <= SECTOR_BYTES && many(census.within_block_sizes) && self.lies_in_blocks();
        let other = match census.offset_step() {
            _ if census.requests < RATES_MIN || census.moved < SIZES_MIN => return None,
            _ if sectors_in_bytes && !many(census.odd_sizes) => LengthUnit::Sectors,
            step if blocks && census.ratios.sequential_percent() < 10 && unit == SECTOR_BYTES => match step {
                8_192 => LengthUnit::EightKib,
                16_384 => LengthUnit::SixteenKib,
                _ => LengthUnit::FourKib,
            },
            _ if sectors_in_bytes => LengthUnit::Sectors,
            _ => return None,
        };
        let mean = census.mean_bytes() / unit as f64 * other.bytes() as f64;
        let within = if unit == 1 { census.within_sector_sizes } else { census.within_block_sizes };
        let whole = if unit == 1 { SECTOR_BYTES } else { BLOCK_BYTES };
        (mean <= MEAN_BYTES_MAX).then(|| {
            format!(
                "implausible sizes: all offsets are multiples of {}, and {within} of {} sizes are no multiples of {}; if the trace counts \
                 them in {3}, --size-unit {3} makes them {4} on average",
                kib(census.offset_step() as f64),
                census.moving,
                kib(whole as f64),
                other.name(),
                kib(mean)
            )
        })
    }

    /// Sizes and offsets are multiples of 512 units: they are bytes. Large requests look alike, so that those of one size count only if
    /// they do not follow one another.
    fn both_in_bytes(&self) -> Option<String> {
        let (census, size, offset) = (self.census, self.units.size_bytes, self.units.offset_bytes);
        let in_units = |step: u64, unit: u64| step / unit >= BYTES_IN_UNITS;
        let is_coarse =
            size > 1 && offset > 1 && in_units(census.size_step(), size) && in_units(census.offset_step(), offset);
        let mean = census.mean_bytes();
        let one_size = !census.varied;
        let is_large =
            one_size && (census.first_size / size > ONE_SIZE_MAX || census.ratios.sequential_percent() >= 50);
        let doubted = is_coarse && census.moved >= SIZES_MIN && mean <= MEAN_BYTES_MAX && !is_large;
        let bytes = LengthUnit::Bytes.name();
        doubted.then(|| {
            format!(
                "implausible sizes and offsets: all sizes are multiples of {} and all offsets of {}; if the trace counts them in {bytes}, \
                 --size-unit {bytes} --offset-unit {bytes} makes the sizes {} on average and the span {}",
                kib(census.size_step() as f64),
                kib(census.offset_step() as f64),
                kib(mean / size as f64),
                gib(census.end / offset)
            )
        })
    }

    fn time(&self) -> Option<String> {
        let elapsed_s = self.census.clock.elapsed_ns() as f64 / 1e9;
        if elapsed_s == 0.0 {
            return None;
        }
        let (requests, bytes) = (self.census.requests as f64, self.census.bytes as f64);
        let duration = |unit: TimeUnit| elapsed_s / self.units.time.ns as f64 * unit.ns() as f64;
        let fast = |s: f64| requests / s > RATE_PER_S_MAX || bytes / s > BYTES_PER_S_MAX;
        let fits = |unit: &TimeUnit| {
            let usual = *unit != TimeUnit::HundredNanoseconds;
            usual && !fast(duration(*unit)) && duration(*unit) <= DURATION_S_MAX
        };
        let what = if fast(elapsed_s) {
            let (rate, gb_per_s) = (requests / elapsed_s, bytes / elapsed_s / 1e9);
            format!("{} requests and {gb_per_s:.1} GB a second, more than any drive does", thousands(rate))
        } else if elapsed_s > DURATION_S_MAX {
            format!("a trace of {:.0} years", elapsed_s / YEAR_S)
        } else {
            return None;
        };
        let option = |unit: TimeUnit| {
            let rate = thousands(requests / duration(unit));
            format!("--time-unit {} makes it {rate} requests a second", unit.name())
        };
        let options = TimeUnit::ALL.into_iter().rev().filter(fits).map(option).collect::<Vec<_>>();
        (!options.is_empty())
            .then(|| format!("implausible times: {what}; if the trace counts another unit, {}", options.join(", ")))
    }

    /// The first time is neither short after a start of a machine nor a date.
    fn start(&self) -> Option<String> {
        let start_s = self.census.first_ns as f64 / 1e9;
        let is_usual = |s: f64| s <= DURATION_S_MAX || is_date(s);
        if is_usual(start_s) {
            return None;
        }
        let in_unit = |unit: &TimeUnit| start_s / self.units.time.ns as f64 * unit.ns() as f64;
        let dates = TimeUnit::ALL.into_iter().filter(|unit| is_date(in_unit(unit)));
        let option = |unit: TimeUnit| format!("--time-unit {} makes it a date of our days", unit.name());
        let options = dates.map(option).collect::<Vec<_>>();
        (!options.is_empty()).then(|| {
            let start = duration(self.census.first_ns);
            format!("implausible times: the first one is {start}, neither an uptime nor a date since 1970 or 1601; if the trace counts \
                     another unit, {}", options.join(", "))
        })
    }

    fn offset(&self) -> Option<String> {
        let (census, unit) = (self.census, self.units.offset_bytes);
        if census.placed == 0 {
            return None;
        }
        if unit == 1 {
            return self.within_sectors();
        }
        let in_bytes = LengthUnit::Bytes.name();
        let would = format!("if the trace counts them in bytes, --offset-unit {in_bytes} makes its span");
        let span = format!("{would} {}", gib(census.end / unit));
        if census.end > SPAN_BYTES_MAX {
            return Some(format!("implausible offsets: up to {}, more than any drive holds; {span}", gib(census.end)));
        }
        let step = census.offset_step();
        let coarse = step >= unit * BYTES_IN_UNITS && census.moving > 0 && census.moved >= SIZES_MIN;
        // Sizes that are too large are in bytes, too.
        let too_large = census.mean_bytes() > MEAN_BYTES_MAX;
        let mean = census.mean_bytes() / if too_large { self.units.size_bytes as f64 } else { 1.0 };
        if !coarse || mean > step as f64 / 2.0 {
            return None;
        }
        let (step, mean) = (kib(step as f64), kib(mean));
        Some(format!("implausible offsets: all of them multiples of {step}, for requests of {mean} on average; {span}"))
    }

    fn within_sectors(&self) -> Option<String> {
        let census = self.census;
        if 2 * census.within_sector <= census.placed {
            return None;
        }
        let (many, unit) = (counted(census.within_sector, "request"), LengthUnit::Sectors.name());
        Some(format!(
            "implausible offsets: {many} of {} do not start at a sector of 512 bytes; if the trace counts sectors, \
             --offset-unit {unit} makes its span {}",
            census.placed,
            gib(census.end.saturating_mul(SECTOR_BYTES))
        ))
    }
}

/// Whose unit is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Size,
    Offset,
    Both,
}

fn is_date(s: f64) -> bool {
    DATES_YEARS.iter().any(|&(from, until)| (from * YEAR_S..until * YEAR_S).contains(&s))
}

/// The longest first.
fn shorter_lengths(than: u64) -> impl Iterator<Item = LengthUnit> {
    LengthUnit::ALL.into_iter().rev().filter(move |unit| unit.bytes() < than)
}

/// The shortest first, of those that traces count sizes in: sectors and blocks of 4 KiB.
fn longer_lengths(than: u64) -> impl Iterator<Item = LengthUnit> {
    [LengthUnit::Sectors, LengthUnit::FourKib].into_iter().filter(move |unit| unit.bytes() > than)
}

fn kib(bytes: f64) -> String {
    if bytes < 1024.0 { format!("{bytes:.0} bytes") } else { format!("{:.1} KiB", bytes / 1024.0) }
}

fn gib(bytes: u64) -> String {
    format!("{:.3} GiB", bytes as f64 / f64::from(1 << 30))
}

/// A whole number with a comma every three digits; small ones with two digits behind the point.
fn thousands(value: f64) -> String {
    if value < 100.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
