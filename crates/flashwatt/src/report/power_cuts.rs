//! The power cuts of a run: how each figure of the cuts is distributed.

use serde::{Serialize, Serializer};
use serde_json::{Map, Number, Value};

/// Power cuts of copies of the drive. A figure is one of a single cut, as `flashwatt crash` gives it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PowerCutsReport {
    /// `complete`, or `interrupted`: then the cuts until then are summed up.
    pub status: &'static str,
    /// Cuts that were made.
    pub cuts: u64,
    /// Cuts of them at which no flash operation was under way.
    pub idle_cuts: u64,
    /// Whether the drive has a volatile write buffer. Then a write that has completed is durable after a flush only.
    pub has_volatile_buffer: bool,
    /// Whether pages share cells with others, which torn pages spoil.
    pub has_paired_pages: bool,
    /// Map units that the host can address.
    pub logical_units: u32,
    /// Bytes of a map unit.
    pub unit_bytes: u32,
    /// The figures of the cuts, by their names.
    #[serde(flatten, serialize_with = "as_map")]
    pub figures: Vec<(String, CutSpread)>,
    /// Those of the second cuts, during the recoveries; none without such cuts.
    #[serde(serialize_with = "as_optional_map")]
    pub second: Option<Vec<(String, CutSpread)>>,
}

/// How a figure is distributed over the cuts. A quantile is a value that occurred.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CutSpread {
    /// The smallest value.
    pub min: Number,
    /// Of n values the ⌈n / 2⌉-th smallest.
    pub median: Number,
    /// Of n values the ⌈0.99 n⌉-th smallest.
    pub p99: Number,
    /// The greatest value.
    pub max: Number,
}

impl PowerCutsReport {
    /// The distribution of a figure of the cuts; none of an unknown one, and without cuts.
    pub fn figure(&self, name: &str) -> Option<&CutSpread> {
        self.figures.iter().find(|(key, _)| key == name).map(|(_, spread)| spread)
    }
}

impl CutSpread {
    /// The distributions of the numbers of these rows, by their keys. A key has a value in every row, or in none.
    pub(crate) fn of_columns(rows: &[Map<String, Value>]) -> Vec<(String, CutSpread)> {
        let keys = rows.iter().flat_map(|row| row.iter()).filter(|(_, value)| value.is_number()).map(|(key, _)| key);
        let mut found: Vec<(String, CutSpread)> = Vec::new();
        for key in keys {
            if found.iter().any(|(known, _)| known == key) {
                continue;
            }
            let values = rows.iter().filter_map(|row| row.get(key)?.as_number().cloned()).collect();
            found.extend(CutSpread::of(values).map(|spread| (key.clone(), spread)));
        }
        found
    }

    /// The distribution of these values; none of nothing.
    fn of(mut values: Vec<Number>) -> Option<CutSpread> {
        values.sort_by(|a, b| as_float(a).total_cmp(&as_float(b)));
        let ranked = |per_cent: usize| values.get((per_cent * values.len()).div_ceil(100).saturating_sub(1)).cloned();
        Some(CutSpread { min: values.first()?.clone(), median: ranked(50)?, p99: ranked(99)?, max: ranked(100)? })
    }
}

/// For comparisons: two whole numbers that differ by a rounding error of a double are next to each other anyway.
fn as_float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

fn as_map<S: Serializer>(figures: &[(String, CutSpread)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(figures.iter().map(|(name, spread)| (name, spread)))
}

fn as_optional_map<S: Serializer>(
    figures: &Option<Vec<(String, CutSpread)>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match figures {
        Some(figures) => as_map(figures, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(json: &str) -> Map<String, Value> {
        serde_json::from_str(json).expect("an object")
    }

    fn spread(figures: &[(String, CutSpread)], name: &str) -> String {
        let (_, spread) = figures.iter().find(|(key, _)| key == name).expect("a figure");
        serde_json::to_string(spread).expect("numbers")
    }

    #[test]
    fn quantiles_are_values_that_occurred() {
        let rows: Vec<_> = (1..=200).rev().map(|n| row(&format!(r#"{{"n": {n}, "j": {n}.5, "no": null}}"#))).collect();
        let figures = CutSpread::of_columns(&rows);
        assert_eq!(figures.len(), 2);
        assert_eq!(spread(&figures, "n"), r#"{"min":1,"median":100,"p99":198,"max":200}"#);
        assert_eq!(spread(&figures, "j"), r#"{"min":1.5,"median":100.5,"p99":198.5,"max":200.5}"#);
        let one = CutSpread::of_columns(&[row(r#"{"n": 7}"#)]);
        assert_eq!(spread(&one, "n"), r#"{"min":7,"median":7,"p99":7,"max":7}"#);
        assert!(CutSpread::of_columns(&[]).is_empty());
    }

    /// Of three values the second is the median (⌈1.5⌉ = 2), and the third the 99th percentile (⌈2.97⌉ = 3).
    #[test]
    fn ranks_are_rounded_up() {
        let rows: Vec<_> = [30, 10, 20].map(|n| row(&format!(r#"{{"n": {n}}}"#))).into();
        assert_eq!(spread(&CutSpread::of_columns(&rows), "n"), r#"{"min":10,"median":20,"p99":30,"max":30}"#);
    }
}
