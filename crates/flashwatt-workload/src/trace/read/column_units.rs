//! What the columns of a text format count: as its definition says, or as the user says.

use super::super::Format;
use crate::settings;
use crate::settings::{LengthUnit, TimeUnit};
use flashwatt_base::error::Fault;
use flashwatt_base::units::SECTOR_BYTES;

/// The length of a unit of time, a power of ten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tick {
    /// In nanoseconds.
    pub ns: u64,
    /// Digits behind the point that still stand for whole nanoseconds: the power of ten that `ns` is.
    pub digits: u8,
}

impl Tick {
    /// A second.
    pub const S: Tick = Tick::of(TimeUnit::Second);
    /// A millisecond.
    pub const MS: Tick = Tick::of(TimeUnit::Millisecond);
    /// A microsecond.
    pub const US: Tick = Tick::of(TimeUnit::Microsecond);
    /// What a FILETIME of Windows counts.
    pub const FILETIME: Tick = Tick::of(TimeUnit::HundredNanoseconds);
    /// A nanosecond.
    pub const NS: Tick = Tick::of(TimeUnit::Nanosecond);

    /// The length of a unit.
    pub const fn of(unit: TimeUnit) -> Self {
        let ns = unit.ns();
        Tick { ns, digits: ns.ilog10() as u8 }
    }
}

/// What the columns of a text format count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnUnits {
    /// Its times.
    pub time: Tick,
    /// Its offsets, in bytes.
    pub offset_bytes: u64,
    /// Its sizes, in bytes.
    pub size_bytes: u64,
}

impl ColumnUnits {
    /// Offsets and sizes in bytes.
    pub const fn bytes(time: Tick) -> Self {
        ColumnUnits { time, offset_bytes: 1, size_bytes: 1 }
    }

    /// Offsets and sizes in sectors of 512 bytes.
    pub const fn sectors(time: Tick) -> Self {
        ColumnUnits { time, offset_bytes: SECTOR_BYTES, size_bytes: SECTOR_BYTES }
    }

    /// Offsets in sectors of 512 bytes, sizes in bytes.
    pub const fn sectors_and_bytes(time: Tick) -> Self {
        ColumnUnits { time, offset_bytes: SECTOR_BYTES, size_bytes: 1 }
    }

    /// What the columns count, in words.
    pub fn words(&self) -> String {
        let length = |bytes: u64| {
            LengthUnit::ALL.iter().find(|unit| unit.bytes() == bytes).map_or("?", |unit| match unit {
                LengthUnit::Sectors => "sectors of 512 B",
                other => other.name(),
            })
        };
        let (offsets, sizes) = (length(self.offset_bytes), length(self.size_bytes));
        if offsets == sizes {
            return format!("times in {}, offsets and sizes in {offsets}", self.time_name());
        }
        format!("times in {}, offsets in {offsets}, sizes in {sizes}", self.time_name())
    }

    /// The name of the unit of times.
    pub fn time_name(&self) -> &'static str {
        TimeUnit::ALL.iter().find(|unit| unit.ns() == self.time.ns).map_or("?", |unit| unit.name())
    }
}

/// The units that the user gives; those of the format's definition where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GivenUnits {
    /// Of the time column.
    pub time: Option<TimeUnit>,
    /// Of the offset column.
    pub offset: Option<LengthUnit>,
    /// Of the size column.
    pub size: Option<LengthUnit>,
}

impl GivenUnits {
    /// Those that a configuration gives.
    pub fn by(cfg: &settings::Trace) -> Self {
        GivenUnits { time: cfg.time_unit, offset: cfg.offset_unit, size: cfg.size_unit }
    }

    /// These units, and those of `own` where there is none.
    pub fn or(&self, own: ColumnUnits) -> ColumnUnits {
        ColumnUnits {
            time: self.time.map_or(own.time, Tick::of),
            offset_bytes: self.offset.map_or(own.offset_bytes, LengthUnit::bytes),
            size_bytes: self.size.map_or(own.size_bytes, LengthUnit::bytes),
        }
    }

    /// These units and those that a file's column names give. An error, with the key, the unit given and the unit named, if
    /// they differ.
    pub fn with(&self, named: &GivenUnits) -> Result<GivenUnits, (&'static str, &'static str, &'static str)> {
        let time = agreed(self.time, named.time).map_err(|(given, named)| ("time_unit", given.name(), named.name()))?;
        let offset =
            agreed(self.offset, named.offset).map_err(|(given, named)| ("offset_unit", given.name(), named.name()))?;
        let size = agreed(self.size, named.size).map_err(|(given, named)| ("size_unit", given.name(), named.name()))?;
        Ok(GivenUnits { time, offset, size })
    }

    /// An error, with its key, if a unit is given for a binary format.
    pub fn check(&self, format: &Format) -> Result<(), (&'static str, Box<Fault>)> {
        if format.units.is_some() {
            return Ok(());
        }
        let given = [
            ("time_unit", self.time.map(TimeUnit::name)),
            ("offset_unit", self.offset.map(LengthUnit::name)),
            ("size_unit", self.size.map(LengthUnit::name)),
        ];
        let Some((key, Some(unit))) = given.into_iter().find(|(_, unit)| unit.is_some()) else { return Ok(()) };
        let what = format!("the format {} is binary: its units are fixed", format.name);
        let fault = Fault::key(format!("workload.trace.{key}"), what).found(format!("`{unit}`"));
        Err((key, Box::new(fault.expected("no unit"))))
    }
}

/// The one unit of both, or of either; both if they differ.
fn agreed<U: Copy + PartialEq>(given: Option<U>, named: Option<U>) -> Result<Option<U>, (U, U)> {
    match (given, named) {
        (Some(given), Some(named)) if given != named => Err((given, named)),
        _ => Ok(given.or(named)),
    }
}
