//! The line of column names that a CSV file may begin with.

use super::column_units::GivenUnits;
use crate::settings::{LengthUnit, TimeUnit};

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
    /// Offsets: a name alone, with a unit of length, or a word for sectors: `offset`, `offset_sectors`, `lba`.
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
    ("msec", TimeUnit::Millisecond),
    ("milliseconds", TimeUnit::Millisecond),
    ("µs", TimeUnit::Microsecond),
    ("μs", TimeUnit::Microsecond), // the Greek letter; the one above is the sign
    ("usec", TimeUnit::Microsecond),
    ("microseconds", TimeUnit::Microsecond),
    ("nsec", TimeUnit::Nanosecond),
    ("nanoseconds", TimeUnit::Nanosecond),
];
/// Other spellings of units of length.
const LENGTH_SPELLINGS: &[(&str, LengthUnit)] =
    &[("b", LengthUnit::Bytes), ("byte", LengthUnit::Bytes), ("sector", LengthUnit::Sectors)];
/// What an offset in sectors is called.
const SECTOR_NUMBERS: &[&str] = &["lba", "sector", "sectors"];

/// What one of the names of columns between blanks begins with, at least: a line of words may say anything.
const USUAL_WORDS: &[&str] = &["time", "ts", "lba", "offset", "sector", "size", "bytes"];

/// Whether a line looks like column names: three or more, none of which is empty but the first (an index has no name), or
/// begins like a number. They may stand in quotes.
pub fn looks_like_names(line: &[u8]) -> bool {
    let is_name = |name: &str| name.chars().next().is_some_and(char::is_alphabetic);
    let Ok(line) = std::str::from_utf8(line) else { return false };
    [',', ';', '\t', ' '].into_iter().any(|separator| {
        let mut names: Vec<_> = line.split(separator).map(bare).collect();
        names.retain(|name| separator != ' ' || !name.is_empty());
        let named = match &names[..] {
            ["", others @ ..] => others,
            all => all,
        };
        let is_usual = |name: &&str| USUAL_WORDS.iter().any(|word| name.to_lowercase().starts_with(word));
        named.len() >= 3 && named.iter().all(|name| is_name(name)) && (separator == ',' || named.iter().any(is_usual))
    })
}

/// A name without the blanks and quotes around it.
fn bare(name: &str) -> &str {
    name.trim().trim_matches(['"', '\''])
}

impl Header {
    /// The units that a line of this format's column names gives. For another line what is wrong with it.
    pub fn read(&self, line: &[u8]) -> Result<GivenUnits, String> {
        let line = String::from_utf8_lossy(line).to_lowercase();
        let mut units = GivenUnits::default();
        let mut columns = self.columns.iter();
        for (number, name) in (1..).zip(line.split(',').map(bare)) {
            let Some(column) = columns.next() else {
                return Err(format!("column {number}, `{name}`, is one too many"));
            };
            if column.read(name, &mut units).is_none() {
                return Err(format!("column {number} cannot be `{name}`, but {}", column.words()));
            }
        }
        match columns.next() {
            Some(column) if columns.len() >= self.optional => {
                Err(format!("the column of {} is missing", column.words()))
            }
            _ => Ok(units),
        }
    }
}

impl Column {
    /// Takes the unit from a name of this column; `None` if it is no name of it.
    fn read(&self, name: &str, units: &mut GivenUnits) -> Option<()> {
        match self {
            Column::Time(known) => units.time = unit_behind(name, known, time_unit)?,
            Column::Offset(_) if SECTOR_NUMBERS.contains(&name) => units.offset = Some(LengthUnit::Sectors),
            Column::Offset(known) => units.offset = unit_behind(name, known, length_unit)?,
            Column::Size(known) => {
                units.size = length_unit(name).map(Some).or_else(|| unit_behind(name, known, length_unit))?;
            }
            Column::Plain(known) => return known.contains(&name).then_some(()),
        }
        Some(())
    }

    /// Its names, for a message.
    fn words(&self) -> String {
        let (known, units) = match self {
            Column::Time(known) => (known, " with or without a unit (_s, _ms, _us, _ns)"),
            Column::Offset(known) => (known, " with or without a unit (_bytes, _sectors, _kib), or lba"),
            Column::Size(known) => (known, " with or without a unit (_bytes, _sectors, _kib), or the unit alone"),
            Column::Plain(known) => (known, ""),
        };
        format!("{}{units}", known.join(" or "))
    }
}

/// What stands behind one of the known names: nothing or a unit. `None` if the name is another.
fn unit_behind<U>(name: &str, known: &[&str], unit: fn(&str) -> Option<U>) -> Option<Option<U>> {
    if known.contains(&name) {
        return Some(None);
    }
    let behind = known.iter().find_map(|known| {
        let rest = name.strip_prefix(known)?;
        let bracketed = rest.trim_start().strip_prefix(['(', '[']).and_then(|rest| rest.strip_suffix([')', ']']));
        bracketed.or_else(|| rest.strip_prefix(['_', ' ', '.', '-'])).and_then(unit)
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

    fn units(line: &str) -> Result<[Option<&'static str>; 3], String> {
        let units = HEADER.read(line.as_bytes())?;
        Ok([units.time.map(TimeUnit::name), units.offset.map(LengthUnit::name), units.size.map(LengthUnit::name)])
    }

    #[test]
    fn names_give_units() {
        assert_eq!(units("time,op,offset,size"), Ok([None; 3]));
        assert_eq!(units("Time_ms, op ,OFFSET_sectors,Size (KiB)"), Ok([Some("ms"), Some("sectors"), Some("kib")]));
        assert_eq!(units("time [µs],op,offset_B,bytes"), Ok([Some("us"), Some("bytes"), Some("bytes")]));
        assert_eq!(units("\"time.ns\",\"op\",\"lba\",\"sectors\""), Ok([Some("ns"), Some("sectors"), Some("sectors")]));
        assert_eq!(units("time_100ns,op,offset"), Ok([Some("100ns"), None, None]), "the last may be left out");
    }

    #[test]
    fn other_names_are_not_taken() {
        for (other, said) in [
            ("op,time,offset,size", "column 1 cannot be `op`, but time with"),
            ("time,op", "the column of offset with or without a unit (_bytes, _sectors, _kib), or lba is missing"),
            ("time,op,offset,size,more", "column 5, `more`, is one too many"),
            ("time_h,op,offset,size", "column 1 cannot be `time_h`"),
            ("timens,op,offset,size", "column 1 cannot be `timens`"),
            ("time_,op,offset,size", "column 1 cannot be `time_`"),
            ("time,op_us,offset,size", "column 2 cannot be `op_us`, but op"),
        ] {
            let found = units(other).expect_err(other);
            assert!(found.starts_with(said), "{other}: {found}");
        }
    }

    #[test]
    fn names_and_records_look_different() {
        for names in
            ["a,b,c", "\"time\",\"op\",\"lba\"", ",time,op,offset", "time op lba size", "time;op;size", "lba\to\ts"]
        {
            assert!(looks_like_names(names.as_bytes()), "{names}");
        }
        for other in [
            "",
            "a",
            "a,b",
            "1,a,b",
            "a,b,3",
            "a,,c,d",
            "fio version 2 iolog",
            "no event at all",
            "Vscsi Cmd Trace. (1)",
            "a,b,-c",
        ] {
            assert!(!looks_like_names(other.as_bytes()), "{other}");
        }
        assert!(!looks_like_names(b"a,b,\xff"));
    }
}
