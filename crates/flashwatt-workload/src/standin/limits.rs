//! What the numbers of a stand-in's file may be.

use super::data::{Row, StandinData};
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_core::connector::RequestKind;

/// Pages of the published statistics. Chunks consist of them, and a shift is an offset in one.
pub(super) const PAGE_BYTES: u64 = 4096;

/// Longest request of a stand-in.
const REQUEST_BYTES_MAX: u64 = 1 << 30;

/// The range of one number, and what a whole number is a multiple of.
struct Limit {
    name: &'static str,
    least: f64,
    most: f64,
    multiple_of: Option<u64>,
}

const fn from(name: &'static str, least: f64, most: f64) -> Limit {
    Limit { name, least, most, multiple_of: None }
}

const fn pages(name: &'static str) -> Limit {
    Limit { name, least: PAGE_BYTES as f64, most: (1_u64 << 60) as f64, multiple_of: Some(PAGE_BYTES) }
}

/// Every number of the file. A rate, a burst and a tick are those of a synthetic workload. Beyond an exponent of 20 or a shift of 1e9
/// the sums over all ranks leave the range of the numbers that hold them.
const LIMITS: &[Limit] = &[
    from("published.read_bytes_percent", 0.0, 100.0),
    from("published.read_percent", 0.0, 100.0),
    from("published.sequential_percent", 0.0, 100.0),
    from("published.read_kib", 0.0, 1e9),
    from("published.write_kib", 0.0, 1e9),
    from("published.hit_percent", 0.0, 100.0),
    from("published.active_dies", 0.0, 1e6),
    from("model.requests", 1.0, 1e15),
    from("model.read_fraction", 0.0, 1.0),
    from("model.read_continue_fraction", 0.0, 1.0),
    from("model.write_continue_fraction", 0.0, 1.0),
    from("model.read_resume_fraction", 0.0, 1.0),
    from("model.write_resume_fraction", 0.0, 1.0),
    from("model.read_resume_fresh_fraction", 0.0, 1.0),
    from("model.write_resume_fresh_fraction", 0.0, 1.0),
    from("model.read_resume_grown_fraction", 0.0, 1.0),
    from("model.write_resume_grown_fraction", 0.0, 1.0),
    from("model.read_fresh_fraction", 0.0, 1.0),
    from("model.write_fresh_fraction", 0.0, 1.0),
    from("model.read_revisit_fraction", 0.0, 1.0),
    from("model.write_revisit_fraction", 0.0, 1.0),
    from("model.crossing_fraction", 0.0, 1.0),
    from("model.recent_fraction", 0.0, 1.0),
    from("model.recent_starts", 1.0, u32::MAX as f64),
    from("model.popularity_exponent", 0.0, 20.0),
    from("model.popularity_shift", 0.0, 1e9),
    from("model.open_chunks", 1.0, 65_536.0),
    pages("model.chunk_bytes"),
    from("model.span_bytes", PAGE_BYTES as f64, (1_u64 << 60) as f64),
    from("arrivals.rate_per_s", 1e-6, 1e9),
    from("arrivals.burst_mean", 1.0, 1e9),
    from("arrivals.tick_ns", 1.0, 1e12),
];

/// Lists of lengths: the least and the largest length.
const LENGTHS: [(&str, u64, u64); 4] = [
    ("model.read_bytes", SECTOR_BYTES, REQUEST_BYTES_MAX),
    ("model.write_bytes", SECTOR_BYTES, REQUEST_BYTES_MAX),
    ("model.read_shift_bytes", 0, PAGE_BYTES - SECTOR_BYTES),
    ("model.write_shift_bytes", 0, PAGE_BYTES - SECTOR_BYTES),
];

/// Largest weight of a length: the sum of all of them stays a number.
const SHARE_MAX: f64 = 1e9;

impl StandinData {
    /// Checks that the file describes a model.
    ///
    /// # Errors
    /// The first fault as text: a value without a source, probabilities above 1 in sum, or a list that is not valid.
    pub fn check(&self) -> Result<(), String> {
        if let Some((name, ..)) = self.rows().iter().find(|(_, _, _, source)| source.is_empty()) {
            return Err(format!("{name} has no source"));
        }
        check(self)?;
        let model = &self.model;
        let reads = [&model.read_continue_fraction, &model.read_fresh_fraction, &model.read_revisit_fraction];
        let writes = [&model.write_continue_fraction, &model.write_fresh_fraction, &model.write_revisit_fraction];
        for (kind, of_kind, shares) in [("read", RequestKind::Read, reads), ("write", RequestKind::Write, writes)] {
            if model.resume_fraction(of_kind) + shares.map(|share| share.value).iter().sum::<f64>() > 1.0 {
                let names = ["continue", "resume", "fresh", "revisit"].map(|name| format!("{kind}_{name}_fraction"));
                return Err(format!("{} > 1", names.join(" + ")));
            }
        }
        self.check_resume()?;
        self.check_reuse()?;
        if self.published.read_bytes_percent.is_some() == self.published.read_percent.is_some() {
            return Err("give exactly one of read_bytes_percent and read_percent".into());
        }
        Ok(())
    }
}

/// Checks every number by itself.
///
/// # Errors
/// The first fault as text, which begins with the number's name.
fn check(data: &StandinData) -> Result<(), String> {
    let rows = data.rows();
    rows.iter().try_for_each(|row| number(row).and_then(|()| lengths(row)))?;
    let (chunk, span) = (data.model.chunk_bytes.value, data.model.span_bytes.value);
    match chunk <= span {
        true => Ok(()),
        false => Err(format!("model.chunk_bytes: found {chunk}; expected model.span_bytes, {span}, at most")),
    }
}

fn number((name, value, ..): &Row) -> Result<(), String> {
    let Some(limit) = LIMITS.iter().find(|limit| limit.name == *name) else { return Ok(()) };
    // What is no number in JSON is not in the file's range either.
    let found: f64 = value.parse().unwrap_or(f64::NAN);
    let is_multiple = match (limit.multiple_of, value.parse::<u64>()) {
        (None, _) => true,
        (Some(of), Ok(found)) => found.is_multiple_of(of),
        (Some(_), Err(_)) => false,
    };
    if (limit.least..=limit.most).contains(&found) && is_multiple {
        return Ok(());
    }
    let found = if found.is_nan() { "no finite number" } else { value.as_str() };
    let of = limit.multiple_of.map(|of| format!("a multiple of {of} ")).unwrap_or_default();
    Err(format!("{name}: found {found}; expected {of}from {} to {}", limit.least, limit.most))
}

fn lengths((name, value, ..): &Row) -> Result<(), String> {
    let Some((_, least, most)) = LENGTHS.iter().find(|(list, ..)| list == name) else { return Ok(()) };
    let is_whole = |bytes: u64| bytes.is_multiple_of(SECTOR_BYTES) && (*least..=*most).contains(&bytes);
    // A share that is no finite number is `null` there.
    let list: Vec<(u64, Option<f64>)> = serde_json::from_str(value).unwrap_or_default();
    let is_share = |share: Option<f64>| share.is_some_and(|share| share > 0.0 && share <= SHARE_MAX);
    if !list.is_empty() && list.iter().all(|&(bytes, share)| is_whole(bytes) && is_share(share)) {
        return Ok(());
    }
    let expected = format!("sizes that are multiples of {SECTOR_BYTES} from {least} to {most}");
    Err(format!("{name}: found {value}; expected {expected}, each with a share above 0, at most {SHARE_MAX}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standin::find;

    /// A file in which one value is another.
    fn changed(name: &str, value: &str) -> Result<(), String> {
        let (table, key) = name.split_once('.').expect("a table and a key");
        let mut lines: Vec<String> = Vec::new();
        let mut at = "";
        let text = find("oltp").expect("it is registered").data.to_toml();
        for line in text.lines() {
            at = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(at);
            let is_it = at == table && line.split(' ').next() == Some(key);
            lines.push(match is_it {
                true => format!("{key} = {{ value = {value}, tag = \"chosen\", source = \"a test\" }}"),
                false => line.into(),
            });
        }
        let data: StandinData = toml::from_str(&lines.join("\n")).map_err(|error| error.message().to_string())?;
        data.check()
    }

    #[test]
    fn every_number_of_a_file_has_a_limit() {
        let data = &find("oltp").expect("it is registered").data;
        for (name, value, ..) in data.rows() {
            let is_number = value.parse::<f64>().is_ok();
            assert_eq!(is_number, LIMITS.iter().any(|limit| limit.name == name), "{name} = {value}");
            assert_eq!(value.starts_with('['), LENGTHS.iter().any(|(list, ..)| *list == name), "{name} = {value}");
        }
    }

    #[test]
    fn hostile_numbers_are_refused_by_name() {
        let data = &find("oltp").expect("it is registered").data;
        for (name, value, ..) in data.rows() {
            if value.parse::<f64>().is_err() {
                continue;
            }
            for hostile in ["-1", "-1.5", "nan", "inf", "-inf", "1e400", "1e300", "18446744073709551615", "1e-300"] {
                if let Err(fault) = changed(name, hostile) {
                    // A whole number is refused by its type already.
                    assert!(fault.contains(name) || fault.contains("invalid") || fault.contains("number"), "{fault}");
                } else {
                    assert_eq!(hostile, "1e-300", "{name}");
                }
            }
        }
        for name in ["model.chunk_bytes", "model.span_bytes", "model.recent_starts", "model.open_chunks"] {
            assert!(changed(name, "0").is_err(), "{name}");
        }
        for chunk in ["1", "512", "2048", "4095", "4097", "6144", "1152921504606846976"] {
            assert!(
                changed("model.chunk_bytes", chunk).expect_err("out of range").starts_with("model.chunk_bytes"),
                "{chunk}"
            );
        }
        for list in
            ["[]", "[[0, 1.0]]", "[[100, 1.0]]", "[[4096, 0.0]]", "[[4096, nan]]", "[[4096, inf]]", "[[4096, -1.0]]"]
        {
            assert!(
                changed("model.read_bytes", list).expect_err("out of range").starts_with("model.read_bytes"),
                "{list}"
            );
        }
        assert!(changed("model.write_shift_bytes", "[[4096, 1.0]]").is_err());
        assert_eq!(changed("model.chunk_bytes", "4096"), Ok(()));
    }
}
