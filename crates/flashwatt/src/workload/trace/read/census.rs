//! Could a drive have done this? A trace whose columns count something else than its format says is read without a fault, and
//! is 8 to 10^6 times off: this looks for figures that no drive reaches, and says which unit would mend them.

use super::super::{Record, counted};
use super::column_units::ColumnUnits;
use crate::connector::RequestKind;
use crate::units::SECTOR_BYTES;
use crate::workload::settings::{LengthUnit, TimeUnit};

/// Fewer requests than this say nothing about a trace.
const REQUESTS_MIN: u64 = 16;
/// Fewer requests than this say nothing about what a drive can do but is seldom asked for: a few may all have one sector, or lie
/// at round offsets.
const MANY_REQUESTS: u64 = 100;
/// The fastest drives are sold with 3.3 x 10^6 random reads a second.
const RATE_PER_S_MAX: f64 = 4e6;
/// PCIe 5.0 with four lanes carries 15.75 x 10^9 bytes a second.
const BYTES_PER_S_MAX: f64 = 16e9;
/// Nobody has recorded a trace for longer than ten years.
const DURATION_S_MAX: f64 = 10.0 * 365.25 * 86_400.0;
/// Operating systems split requests at 1280 KiB or less by default, so no mean is larger than this.
const MEAN_BYTES_MAX: f64 = (1 << 20) as f64;
/// A drive moves whole sectors.
const MEAN_BYTES_MIN: f64 = SECTOR_BYTES as f64;
/// File systems on sectors make blocks of 1 KiB and more.
const MEAN_SECTORS_BYTES_MIN: f64 = 1024.0;
/// The largest drive that is sold has 245.76 x 10^12 bytes.
const SPAN_BYTES_MAX: u64 = 256 << 40;
/// Offsets in bytes are multiples of a sector, so that in a larger unit they are multiples of that number of units.
const BYTES_IN_UNITS: u64 = SECTOR_BYTES;

/// Counts over the records of one file, as they are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Census {
    requests: u64,
    first_ns: u64,
    latest_ns: u64,
    /// Reads and writes, and their bytes.
    moving: u64,
    bytes: u64,
    /// Requests with an offset, the bits that are set in any of these, and how many of them start within a sector.
    placed: u64,
    offset_bits: u64,
    within_sector: u64,
    end: u64,
}

impl Census {
    /// Counts a record.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        if self.requests == 0 {
            self.first_ns = record.time_ns;
        }
        self.requests += 1;
        self.latest_ns = self.latest_ns.max(record.time_ns);
        match record.kind {
            RequestKind::Flush => return,
            RequestKind::Trim => {}
            RequestKind::Read | RequestKind::Write => {
                self.moving += 1;
                self.bytes = self.bytes.saturating_add(record.bytes);
            }
        }
        self.placed += 1;
        self.offset_bits |= record.offset_bytes;
        self.within_sector += u64::from(!record.offset_bytes.is_multiple_of(SECTOR_BYTES));
        self.end = self.end.max(record.offset_bytes + record.bytes);
    }

    /// What cannot be true of a drive, and the option that would mend it, for a trace read in `units`.
    pub fn doubts(&self, units: &ColumnUnits) -> Vec<String> {
        if self.requests < REQUESTS_MIN {
            return Vec::new();
        }
        let size = self.size(units);
        let time = if size.is_some() { None } else { self.time(units) };
        let offset = if self.requests < MANY_REQUESTS { None } else { self.offset(units) };
        [size, time, offset].into_iter().flatten().collect()
    }

    fn mean_bytes(&self) -> f64 {
        self.bytes as f64 / self.moving as f64
    }

    fn size(&self, units: &ColumnUnits) -> Option<String> {
        if self.moving == 0 {
            return None;
        }
        let (mean, unit) = (self.mean_bytes(), units.size_bytes);
        let may_be_blocks = unit == SECTOR_BYTES && self.requests >= MANY_REQUESTS;
        let least = if may_be_blocks { MEAN_SECTORS_BYTES_MIN } else { MEAN_BYTES_MIN };
        let in_unit = |other: LengthUnit| mean / unit as f64 * other.bytes() as f64;
        let fits = |other: &LengthUnit| (MEAN_BYTES_MIN..=MEAN_BYTES_MAX).contains(&in_unit(*other));
        let (why, other) = if mean > MEAN_BYTES_MAX {
            ("operating systems cut requests at about 1 MiB", shorter_lengths(unit).find(fits)?)
        } else if mean < least {
            ("a drive moves whole sectors, and file systems whole blocks", longer_lengths(unit).find(fits)?)
        } else {
            return None;
        };
        let (is, would) = (kib(mean), kib(in_unit(other)));
        Some(format!(
            "implausible sizes: {is} on average ({why}); if the trace counts them in {0}, --size-unit {0} makes them {would}",
            other.name()
        ))
    }

    fn time(&self, units: &ColumnUnits) -> Option<String> {
        let elapsed_s = self.latest_ns.saturating_sub(self.first_ns) as f64 / 1e9;
        if elapsed_s == 0.0 {
            return None;
        }
        let duration = |unit: TimeUnit| elapsed_s / units.time.ns as f64 * unit.ns() as f64;
        let fast = |s: f64| self.requests as f64 / s > RATE_PER_S_MAX || self.bytes as f64 / s > BYTES_PER_S_MAX;
        let fits = |unit: &TimeUnit| {
            let usual = *unit != TimeUnit::HundredNanoseconds;
            usual && !fast(duration(*unit)) && duration(*unit) <= DURATION_S_MAX
        };
        let what = if fast(elapsed_s) {
            let (rate, gb_per_s) = (self.requests as f64 / elapsed_s, self.bytes as f64 / elapsed_s / 1e9);
            format!("{} requests and {gb_per_s:.1} GB a second, more than any drive does", thousands(rate))
        } else if elapsed_s > DURATION_S_MAX {
            format!("a trace of {:.0} years", elapsed_s / DURATION_S_MAX * 10.0)
        } else {
            return None;
        };
        let option = |unit: TimeUnit| {
            let rate = thousands(self.requests as f64 / duration(unit));
            format!("--time-unit {} makes it {rate} requests a second", unit.name())
        };
        let options = TimeUnit::ALL.into_iter().rev().filter(fits).map(option).collect::<Vec<_>>();
        (!options.is_empty())
            .then(|| format!("implausible times: {what}; if the trace counts another unit, {}", options.join(", ")))
    }

    fn offset(&self, units: &ColumnUnits) -> Option<String> {
        if self.placed == 0 {
            return None;
        }
        let unit = units.offset_bytes;
        if unit == 1 {
            return self.within_sectors();
        }
        let in_bytes = LengthUnit::Bytes.name();
        let would = format!("if the trace counts them in bytes, --offset-unit {in_bytes} makes its span");
        let span = format!("{would} {}", gib(self.end / unit));
        if self.end > SPAN_BYTES_MAX {
            return Some(format!("implausible offsets: up to {}, more than any drive holds; {span}", gib(self.end)));
        }
        let step = 1u64 << self.offset_bits.trailing_zeros().min(63);
        let coarse = self.offset_bits > 0 && step >= unit * BYTES_IN_UNITS && self.moving > 0;
        // Sizes that are too large are in bytes, too.
        let too_large = self.mean_bytes() > MEAN_BYTES_MAX;
        let mean = self.mean_bytes() / if too_large { units.size_bytes as f64 } else { 1.0 };
        if !coarse || mean > step as f64 / 2.0 {
            return None;
        }
        let (step, mean) = (kib(step as f64), kib(mean));
        Some(format!("implausible offsets: all of them multiples of {step}, for requests of {mean} on average; {span}"))
    }

    fn within_sectors(&self) -> Option<String> {
        if 2 * self.within_sector <= self.placed {
            return None;
        }
        let (many, unit) = (counted(self.within_sector, "request"), LengthUnit::Sectors.name());
        Some(format!(
            "implausible offsets: {many} of {} do not start at a sector of 512 bytes; if the trace counts sectors, \
             --offset-unit {unit} makes its span {}",
            self.placed,
            gib(self.end.saturating_mul(SECTOR_BYTES))
        ))
    }
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
