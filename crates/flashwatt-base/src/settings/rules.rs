//! The rules of configuration keys: ranges, defaults, required keys. The checks themselves record them, so that the
//! reference always agrees with the program.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;

/// The rules of one key. A key that depends on others has several values for a rule.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    ranges: Vec<[Value; 2]>,
    defaults: Vec<Value>,
    /// A preset or the user must give it.
    pub required: bool,
}

impl Rule {
    /// Least and greatest valid value, if they never vary.
    pub fn range(&self) -> Option<&[Value; 2]> {
        only(&self.ranges)
    }

    /// The default, if it never varies.
    pub fn default(&self) -> Option<&Value> {
        only(&self.defaults)
    }
}

fn only<T>(values: &[T]) -> Option<&T> {
    match values {
        [one] => Some(one),
        _ => None,
    }
}

/// The rules by dotted key.
#[derive(Clone, Debug, Default)]
pub struct Rules(pub BTreeMap<String, Rule>);

impl Rules {
    /// Records a range.
    pub fn range<T: Serialize>(&mut self, key: &str, range: &RangeInclusive<T>) {
        add(&mut self.of(key).ranges, [json(range.start()), json(range.end())]);
    }

    /// Records a default.
    pub fn default_is<T: Serialize + ?Sized>(&mut self, key: &str, default: &T) {
        add(&mut self.of(key).defaults, json(default));
    }

    /// Records that the key has no default.
    pub fn required(&mut self, key: &str) {
        self.of(key).required = true;
    }

    /// Adds the rules of another record.
    pub fn merge(&mut self, other: Rules) {
        for (key, rule) in other.0 {
            let known = self.of(&key);
            rule.ranges.into_iter().for_each(|range| add(&mut known.ranges, range));
            rule.defaults.into_iter().for_each(|default| add(&mut known.defaults, default));
            known.required |= rule.required;
        }
    }

    fn of(&mut self, key: &str) -> &mut Rule {
        self.0.entry(key.to_string()).or_default()
    }
}

fn add<T: PartialEq>(values: &mut Vec<T>, value: T) {
    if !values.contains(&value) {
        values.push(value);
    }
}

fn json<T: Serialize + ?Sized>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
