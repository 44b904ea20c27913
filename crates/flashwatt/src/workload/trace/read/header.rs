//! The line of column names that a CSV file may begin with.

use super::column_units::GivenUnits;
use crate::workload::settings::{LengthUnit, TimeUnit};

/// The column names that files of a format may begin with. Columns are read by their place, so that names in another
/// order are those of another format.
pub struct Header {
    /// Each column, in the order of the file.
    pub columns: &'static [Column],
    /// How many of the last columns a file may leave out.
    pub optional: usize,
    /// What is expected, for a message.
    pub expected: &'static str,
}

/// The names of one column, in lower case.
pub enum Column {
    /// Times: a name alone, or with a unit of time behind it: `time`, `time_ns`, `time (ms)`.
    Time(&'static [&'static str]),
    /// Offsets: a name alone, or with a unit of length: `offset`, `offset_sectors`.
    Offset(&'static [&'static str]),
    /// Sizes: a name alone, with a unit of length, or only the unit: `size`, `size_kib`, `bytes`.
    Size(&'static [&'static str]),
    /// Anything without a unit.
    Plain(&'static [&'static str]),
}

/// Other spellings of units of time than those of configurations.
const TIME_SPELLINGS: &[(&str, TimeUnit)] = &[
    ("sec", TimeUnit::Second),
    ("seconds", TimeUnit::Second),
    ("milliseconds", TimeUnit::Millisecond),
    ("µs", TimeUnit::Microsecond),
    ("usec", TimeUnit::Microsecond),
    ("microseconds", TimeUnit::Microsecond),
    ("nsec", TimeUnit::Nanosecond),
    ("nanoseconds", TimeUnit::Nanosecond),
];
/// Other spellings of units of length.
const LENGTH_SPELLINGS: &[(&str, LengthUnit)] =
    &[("b", LengthUnit::Bytes), ("byte", LengthUnit::Bytes), ("sector", LengthUnit::Sectors)];

impl Header {
    /// The units that a line of this format's column names gives; `None` if the line is none.
    pub fn units(&self, line: &[u8]) -> Option<GivenUnits> {
        let line = std::str::from_utf8(line).ok()?.to_lowercase();
        let mut units = GivenUnits::default();
        let mut columns = self.columns.iter();
        for name in line.split(',').map(str::trim) {
            columns.next()?.read(name, &mut units)?;
        }
        (columns.len() <= self.optional).then_some(units)
    }
}

impl Column {
    /// Takes the unit from a name of this column; `None` if it is no name of it.
    fn read(&self, name: &str, units: &mut GivenUnits) -> Option<()> {
        match self {
            Column::Time(known) => units.time = unit_behind(name, known, time_unit)?,
            Column::Offset(known) => units.offset = unit_behind(name, known, length_unit)?,
            Column::Size(known) => {
                units.size = length_unit(name).map(Some).or_else(|| unit_behind(name, known, length_unit))?;
            }
            Column::Plain(known) => return known.contains(&name).then_some(()),
        }
        Some(())
    }
}

/// What stands behind one of the known names: nothing or a unit. `None` if the name is another.
fn unit_behind<U>(name: &str, known: &[&str], unit: fn(&str) -> Option<U>) -> Option<Option<U>> {
    if known.contains(&name) {
        return Some(None);
    }
    let behind = known.iter().find_map(|known| {
        let rest = name.strip_prefix(known)?.trim_start();
        let bracketed = rest.strip_prefix(['(', '[']).and_then(|rest| rest.strip_suffix([')', ']']));
        bracketed.or_else(|| rest.strip_prefix('_')).and_then(unit)
    })?;
    Some(Some(behind))
}

fn time_unit(name: &str) -> Option<TimeUnit> {
    let usual = TimeUnit::ALL.into_iter().find(|unit| unit.name() == name);
    usual.or_else(|| spelt(name, TIME_SPELLINGS))
}

fn length_unit(name: &str) -> Option<LengthUnit> {
    let usual = LengthUnit::ALL.into_iter().find(|unit| unit.name() == name);
    usual.or_else(|| spelt(name, LENGTH_SPELLINGS))
}

fn spelt<U: Copy>(name: &str, spellings: &[(&str, U)]) -> Option<U> {
    spellings.iter().find(|(spelling, _)| *spelling == name).map(|(_, unit)| *unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        columns: &[
            Column::Time(&["time"]),
            Column::Plain(&["op"]),
            Column::Offset(&["offset"]),
            Column::Size(&["size"]),
        ],
        optional: 1,
        expected: "",
    };

    fn units(line: &str) -> Option<(Option<&'static str>, Option<&'static str>, Option<&'static str>)> {
        let units = HEADER.units(line.as_bytes())?;
        Some((units.time.map(TimeUnit::name), units.offset.map(LengthUnit::name), units.size.map(LengthUnit::name)))
    }

    #[test]
    fn names_give_units() {
        assert_eq!(units("time,op,offset,size"), Some((None, None, None)));
        assert_eq!(units("Time_ms, op ,OFFSET_sectors,Size (KiB)"), Some((Some("ms"), Some("sectors"), Some("kib"))));
        assert_eq!(units("time [µs],op,offset_B,bytes"), Some((Some("us"), Some("bytes"), Some("bytes"))));
        assert_eq!(units("time_100ns,op,offset"), Some((Some("100ns"), None, None)), "the last may be left out");
    }

    #[test]
    fn other_names_are_not_taken() {
        for other in ["", "op,time,offset,size", "time,op", "time,op,offset,size,more", "time_h,op,offset,size"] {
            assert_eq!(units(other), None, "{other}");
        }
        for other in ["timens,op,offset,size", "time_,op,offset,size", "time,op,sectors,size", "time,op_us,offset,size"]
        {
            assert_eq!(units(other), None, "{other}");
        }
        assert!(HEADER.units(b"time,op,offset,\xff").is_none());
    }
}
