//! Numbers with a unit, as people write them in quotes: `"64GB"`, `"550us"`, `"45mA"`, `"7%"`, `"10k"`.
//!
//! Decimal prefixes are powers of 1000 (GB or G = 10^9 bytes), binary ones of 1024 (GiB = 2^30 bytes). A number without a unit
//! counts in the unit of its key. The result is exact: `"0.5us"` for a key in ns is the whole number 500.

use super::node::{Node, Value, shorten};
use crate::error::{Fault, Place};

/// A unit by its symbol, worth `number` × 10^`exponent` of the key's own unit.
type Symbol = (&'static str, i128, i32);

/// The unit of a key, with all that may be written instead.
#[derive(Debug)]
pub struct Unit {
    /// How the unit of the key is named.
    pub name: &'static str,
    symbols: &'static [Symbol],
    /// Powers of ten by which the key's unit is smaller than that of `symbols`.
    shift: i32,
    /// Values to show in messages.
    examples: &'static str,
}

const BYTES: &[Symbol] = &[
    ("B", 1, 0),
    ("kB", 1, 3),
    ("KB", 1, 3),
    ("MB", 1, 6),
    ("GB", 1, 9),
    ("TB", 1, 12),
    ("PB", 1, 15),
    ("k", 1, 3),
    ("K", 1, 3),
    ("M", 1, 6),
    ("G", 1, 9),
    ("T", 1, 12),
    ("KiB", 1 << 10, 0),
    ("MiB", 1 << 20, 0),
    ("GiB", 1 << 30, 0),
    ("TiB", 1 << 40, 0),
    ("PiB", 1 << 50, 0),
];

const BYTES_PER_S: &[Symbol] = &[
    ("B/s", 1, 0),
    ("kB/s", 1, 3),
    ("KB/s", 1, 3),
    ("MB/s", 1, 6),
    ("GB/s", 1, 9),
    ("TB/s", 1, 12),
    ("KiB/s", 1 << 10, 0),
    ("MiB/s", 1 << 20, 0),
    ("GiB/s", 1 << 30, 0),
];

const TIMES: &[Symbol] = &[
    ("ns", 1, -9),
    ("us", 1, -6),
    ("µs", 1, -6),
    ("μs", 1, -6),
    ("ms", 1, -3),
    ("s", 1, 0),
    ("min", 60, 0),
    ("h", 3600, 0),
    ("d", 86_400, 0),
];

const CURRENTS: &[Symbol] = &[("A", 1, 3), ("mA", 1, 0), ("uA", 1, -3), ("µA", 1, -3), ("μA", 1, -3)];
const VOLTAGES: &[Symbol] = &[("V", 1, 0), ("mV", 1, -3)];
const POWERS: &[Symbol] = &[("kW", 1, 3), ("W", 1, 0), ("mW", 1, -3)];
const RATES: &[Symbol] = &[
    ("/s", 1, 0),
    ("k/s", 1, 3),
    ("M/s", 1, 6),
    ("k", 1, 3),
    ("K", 1, 3),
    ("M", 1, 6),
    ("IOPS", 1, 0),
    ("kIOPS", 1, 3),
    ("KIOPS", 1, 3),
    ("MIOPS", 1, 6),
];
const COUNTS: &[Symbol] = &[
    ("k", 1, 3),
    ("K", 1, 3),
    ("M", 1, 6),
    ("G", 1, 9),
    ("T", 1, 12),
    ("Ki", 1 << 10, 0),
    ("Mi", 1 << 20, 0),
    ("Gi", 1 << 30, 0),
];
const SHARES: &[Symbol] = &[("%", 1, -2), ("k", 1, 3), ("K", 1, 3), ("M", 1, 6), ("G", 1, 9)];

const fn unit(name: &'static str, symbols: &'static [Symbol], shift: i32, examples: &'static str) -> Unit {
    Unit { name, symbols, shift, examples }
}

const TIME_EXAMPLES: &str = r#""550us", "1.5ms", "2s", "5min""#;

/// Units by the ends of names of keys; of two that fit the first.
const BY_SUFFIX: &[(&str, Unit)] = &[
    ("_per_s", unit("1/s", RATES, 0, r#""250", "10k", "10k/s""#)),
    ("_mb_s", unit("10^6 bytes/s", BYTES_PER_S, -6, r#""550MB/s", "3.2GB/s", "500MiB/s""#)),
    ("_ns", unit("ns", TIMES, 9, TIME_EXAMPLES)),
    ("_ms", unit("ms", TIMES, 3, TIME_EXAMPLES)),
    ("_s", unit("s", TIMES, 0, TIME_EXAMPLES)),
    ("seconds", unit("s", TIMES, 0, TIME_EXAMPLES)),
    ("bytes", unit("bytes", BYTES, 0, r#""4KiB", "64GB", "1TiB""#)),
    ("_ma", unit("mA", CURRENTS, 0, r#""45mA", "1.5A""#)),
    ("_w", unit("W", POWERS, 0, r#""8.5W", "850mW""#)),
    ("volts", unit("V", VOLTAGES, 0, r#""3.3V", "850mV""#)),
    ("_v", unit("V", VOLTAGES, 0, r#""3.3V", "850mV""#)),
];

const COUNT: Unit = unit("a whole number", COUNTS, 0, r#""250", "10k", "1.5M""#);
const SHARE: Unit = unit("a number", SHARES, 0, r#""0.07", "7%", "1/64""#);

impl Unit {
    /// The unit that a key carries in its name; counts, shares and words have none.
    pub fn of_key(key: &str) -> Option<&'static Unit> {
        let name = key.rsplit('.').next().unwrap_or(key);
        let holds =
            |suffix: &str| name.ends_with(suffix) && (suffix != "bytes" || name == "bytes" || name.ends_with("_bytes"));
        BY_SUFFIX.iter().find(|(suffix, _)| holds(suffix)).map(|(_, unit)| unit)
    }

    /// What a key takes in quotes; `whole` if nothing but whole numbers are valid.
    pub fn quoted(key: &str, whole: bool) -> &'static Unit {
        Unit::of_key(key).unwrap_or(if whole { &COUNT } else { &SHARE })
    }

    /// A regular expression of what is valid in quotes.
    pub fn pattern(&self) -> String {
        let mut symbols: Vec<_> = self.symbols.iter().map(|(symbol, ..)| symbol.replace('/', "\\/")).collect();
        symbols.sort_by_key(|symbol| std::cmp::Reverse(symbol.len()));
        let ratio = if self.takes_ratios() { r"|[0-9.]+\s*\/\s*[0-9.]+" } else { "" };
        format!(r"^\s*([+-]?[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*({})?{ratio})\s*$", symbols.join("|"))
    }

    fn takes_ratios(&self) -> bool {
        self.name == SHARE.name
    }

    /// The factor of a symbol. Sizes may be written in small letters as a whole: `gb`, `kib`.
    fn factor(&self, symbol: &str) -> Option<(i128, i32)> {
        let small = |known: &str| known.contains('B') && known.to_lowercase() == symbol && symbol != "b";
        let found = self.symbols.iter().find(|(known, ..)| *known == symbol || small(known));
        found.map(|&(_, number, exponent)| (number, exponent + self.shift))
    }

    /// The number that a text stands for, in the key's unit.
    pub fn read(&self, text: &str) -> Result<Value, Box<Fault>> {
        let wrong = |what: &str| {
            let fault = Fault::at(Place::default(), what).found(format!("{:?}", shorten(text)));
            let expected = format!("{}, or in quotes with a unit: {}", self.of_a_number(), self.examples);
            Box::new(fault.expected(expected))
        };
        if let Some(ratio) = self.ratio(text) {
            return ratio.map(Value::Float).ok_or_else(|| wrong("not a number"));
        }
        let (number, symbol) = decimal(text.trim()).ok_or_else(|| wrong("not a number"))?;
        let factor = if symbol.is_empty() { Some((1, 0)) } else { self.factor(symbol) };
        let Some(factor) = factor else { return Err(Box::new(self.wrong_symbol(*wrong("wrong unit"), symbol))) };
        number.times(factor).ok_or_else(|| wrong("number too large: beyond 64 bits"))
    }

    /// The unit without quotes, in words.
    fn of_a_number(&self) -> String {
        match self.name {
            "a whole number" | "a number" => self.name.to_string(),
            name => format!("a number in {name}"),
        }
    }

    /// What may have been meant.
    fn wrong_symbol(&self, fault: Fault, symbol: &str) -> Fault {
        let known = self.symbols.iter().map(|(known, ..)| *known);
        fault.nearest(known.into_iter().find(|known| known.eq_ignore_ascii_case(symbol)).map(str::to_string))
    }

    /// `"1/64"`, where a share may stand; `Some(None)` for a division by nothing.
    fn ratio(&self, text: &str) -> Option<Option<f64>> {
        let (above, below) = text.split_once('/').filter(|_| self.takes_ratios())?;
        let number = |text: &str| text.trim().parse::<f64>().ok();
        Some(number(above).zip(number(below)).map(|(above, below)| above / below).filter(|ratio| ratio.is_finite()))
    }
}

/// `digits` × 10^`exponent`
struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// Times `number` × 10^`exponent`; none for what does not fit 64 bits.
    fn times(self, (number, exponent): (i128, i32)) -> Option<Value> {
        let digits = self.digits.checked_mul(number)?;
        let exponent = self.exponent.checked_add(exponent)?;
        let power = 10_i128.checked_pow(exponent.unsigned_abs());
        let whole = match power {
            Some(power) if exponent >= 0 => Some(digits.checked_mul(power)?),
            Some(power) => (digits % power == 0).then_some(digits / power),
            None => None,
        };
        match whole {
            Some(whole) => {
                (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&whole).then_some(Value::Integer(whole))
            }
            None => {
                format!("{digits}e{exponent}").parse().ok().filter(|float: &f64| float.is_finite()).map(Value::Float)
            }
        }
    }
}

/// A decimal number at the start of a text, and the rest of that. Digits may be parted by `_`.
fn decimal(text: &str) -> Option<(Decimal, &str)> {
    let sign = text.starts_with(['+', '-']).into();
    let run = |from: usize| {
        text[from..].find(|one: char| !(one.is_ascii_digit() || one == '_')).map_or(text.len(), |n| from + n)
    };
    let whole = run(sign);
    let end = if text[whole..].starts_with('.') { run(whole + 1) } else { whole };
    let digits: String = text[..end].chars().filter(|one| !['.', '_', '+'].contains(one)).collect();
    let places = text[whole..end].chars().filter(char::is_ascii_digit).count();
    let exponent = text[end..].strip_prefix(['e', 'E']).and_then(|rest| {
        let length = usize::from(rest.starts_with(['+', '-']));
        let length = rest[length..].find(|one: char| !one.is_ascii_digit()).map_or(rest.len(), |n| n + length);
        Some((rest[..length].parse::<i32>().ok()?, &rest[length..]))
    });
    let (exponent, rest) = exponent.unwrap_or((0, &text[end..]));
    let decimal =
        Decimal { digits: digits.parse().ok()?, exponent: exponent.checked_sub(i32::try_from(places).ok()?)? };
    Some((decimal, rest.trim()))
}

/// Is a text meant as a number?
fn begins_as_number(text: &str) -> bool {
    let one_line = !text.contains(['\n', '\r']);
    one_line && text.trim_start().trim_start_matches(['+', '-', '.']).starts_with(|first: char| first.is_ascii_digit())
}

/// Puts numbers in the place of texts with a unit: in the value of `key`, or in every item of a list. In a list of pairs
/// (`[["4KiB", "70%"]]`) the second is a share. Returns whether there was one.
pub fn convert(node: &mut Node, key: &str, whole: bool) -> Result<bool, Box<Fault>> {
    convert_as(node, Unit::quoted(key, whole), 0)
}

fn convert_as(node: &mut Node, unit: &Unit, depth: u32) -> Result<bool, Box<Fault>> {
    match &mut node.value {
        Value::String(text) if begins_as_number(text) => {
            let number = unit.read(text).map_err(|fault| Fault { place: node.place.clone(), ..*fault })?;
            node.value = number;
            Ok(true)
        }
        Value::Array(items) => {
            let mut any = false;
            for (at, item) in items.iter_mut().enumerate() {
                any |= convert_as(item, if depth == 1 && at == 1 { &SHARE } else { unit }, depth + 1)?;
            }
            Ok(any)
        }
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(key: &str, text: &str) -> Result<String, String> {
        match Unit::quoted(key, !key.ends_with("fraction")).read(text) {
            Ok(Value::Integer(whole)) => Ok(whole.to_string()),
            Ok(Value::Float(float)) => Ok(format!("{float:?}")),
            Ok(other) => panic!("{other:?}"),
            Err(fault) => Err(fault.to_string()),
        }
    }

    #[test]
    fn texts_stand_for_the_number_in_the_unit_of_the_key() {
        let cases = [
            ("logical_bytes", "64GB", "64000000000"),
            ("logical_bytes", "64G", "64000000000"),
            ("bytes", "1 MiB", "1048576"),
            ("request_bytes", "1.5kib", "1536"),
            ("request_bytes", "4096", "4096"),
            ("timing.read_ns", "550us", "550000"),
            ("read_ns", "0.25µs", "250"),
            ("idle_ns", "1e-3s", "1000000"),
            ("seconds", "1.5h", "5400"),
            ("from_s", "250ms", "0.25"),
            ("series_ms", "20us", "0.02"),
            ("read_ma", "1.5A", "1500"),
            ("idle_ma", "50uA", "0.05"),
            ("volts", "3.3V", "3.3"),
            ("terminal_v", "850mV", "0.85"),
            ("power_budget_w", "8500mW", "8.5"),
            ("rate_per_s", "10k", "10000"),
            ("rate_per_s", "2.5kIOPS", "2500"),
            ("bandwidth_mb_s", "3.2GB/s", "3200"),
            ("bandwidth_mb_s", "1MiB/s", "1.048576"),
            ("requests", "10k", "10000"),
            ("requests", "1_500K", "1500000"),
            ("spare_fraction", "7%", "0.07"),
            ("fraction", "1/64", "0.015625"),
        ];
        for (key, text, number) in cases {
            assert_eq!(read(key, text).as_deref(), Ok(number), "{key} = {text:?}");
        }
    }

    #[test]
    fn units_of_another_kind_are_refused_with_those_that_are_valid() {
        let cases = [
            (
                "logical_bytes",
                "64us",
                "wrong unit; found \"64us\"; expected a number in bytes, or in quotes with a unit: \"4KiB\"",
            ),
            ("logical_bytes", "64Gb", "did you mean `GB`?"),
            ("read_ns", "50mA", "expected a number in ns"),
            ("read_ns", "5MS", "did you mean `ms`?"),
            ("read_ma", "3V", "expected a number in mA"),
            ("requests", "7%", "wrong unit"),
            ("requests", "10x", "\"10k\""),
            ("logical_bytes", "999999999999TB", "number too large"),
            ("spare_fraction", "1/0", "not a number"),
        ];
        for (key, text, part) in cases {
            let said = read(key, text).expect_err(text);
            assert!(said.contains(part), "{key} = {text:?}: {said}");
        }
    }
}
