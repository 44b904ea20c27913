//! Numbers with units, in the notation of fio.

/// A number of bytes, or a percentage of the drive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Amount {
    Bytes(u64),
    Percent(f64),
}

/// Parses `4k`, `1m`, `512`, `0x1000` or `10%`. With `kb_base` 1024, `k` is 1024 and `ki` 1000; with 1000 it is the
/// other way round.
pub(super) fn amount(text: &str, kb_base: u64) -> Option<Amount> {
    // As in fio, `100%%` is `100%`.
    if let Some(percent) = text.strip_suffix('%').map(|text| text.trim_end_matches('%')) {
        let percent: f64 = percent.trim().parse().ok()?;
        return (0.0..=100.0).contains(&percent).then_some(Amount::Percent(percent));
    }
    bytes(text, kb_base).map(Amount::Bytes)
}

/// Parses `4k`, `1m`, `512` or `0x1000` into bytes; see [`amount`] for `kb_base`.
pub(super) fn bytes(text: &str, kb_base: u64) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let unit = unit.strip_suffix('b').unwrap_or(unit);
    let (prefix, other) = unit.strip_suffix('i').map_or((unit, false), |prefix| (prefix, true));
    let power = match prefix {
        "" if !other => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    let base: u64 = if (kb_base == 1024) == other { 1000 } else { 1024 };
    scaled(number, base.checked_pow(power)?)
}

/// Parses a time into nanoseconds. A number without a unit counts units of `default_ns` nanoseconds.
pub(super) fn time_ns(text: &str, default_ns: u64) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let unit_ns = match unit {
        "" => default_ns,
        "ns" | "nsec" => 1,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    scaled(number, unit_ns)
}

/// `number` times `unit`: exact for a whole number, else rounded to the nearest whole number.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(unit);
    }
    let product = number.parse::<f64>().ok()? * unit as f64;
    (0.0..1e18).contains(&product).then_some(product.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_fio() {
        let all =
            [("4k", 4096), ("4K", 4096), ("4kb", 4096), ("4ki", 4000), ("4kib", 4000), ("512", 512), ("0x200", 512)];
        all.iter().for_each(|(text, want)| assert_eq!(bytes(text, 1024), Some(*want), "{text}"));
        assert_eq!(
            (bytes("4k", 1000), bytes("4KiB", 1000), bytes("1.5m", 1024)),
            (Some(4000), Some(4096), Some(1_572_864))
        );
        assert_eq!(amount("12.5%", 1024), Some(Amount::Percent(12.5)));
        for wrong in ["", "k", "4x", "4i", "-4k", "4 k 5", "101%", "99999999999g"] {
            assert_eq!(amount(wrong, 1024), None, "{wrong}");
        }
    }

    #[test]
    fn times_have_the_unit_of_their_option() {
        let s = 1_000_000_000;
        assert_eq!(
            (time_ns("10", s), time_ns("10", 1000), time_ns("2m", s)),
            (Some(10 * s), Some(10_000), Some(120 * s))
        );
        assert_eq!((time_ns("5ms", s), time_ns("1.5s", 1)), (Some(5_000_000), Some(1_500_000_000)));
        assert_eq!((time_ns("5y", s), time_ns("", s)), (None, None));
    }
}
