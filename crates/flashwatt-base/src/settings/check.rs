//! Tools for checking a configuration: fields that know their key, ranges, and faults that know their place.

use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;

use serde::Serialize;

use super::node::{KeySource, Node};
use super::rules::Rules;
use crate::error::{Fault, Place};

/// A key and its configured value.
pub struct Field<T> {
    /// The dotted key.
    pub key: String,
    /// What was written, if anything.
    pub value: Option<T>,
}

/// `field!("device.timing", timing.read_ns)`: the field and its key under that table.
#[macro_export]
macro_rules! field {
    ($table:expr, $raw:ident . $key:ident) => {
        $crate::settings::Field { key: format!("{}.{}", $table, stringify!($key)), value: $raw.$key.clone() }
    };
}
pub use field;

/// Collects faults. A value out of range is replaced by a valid one, so that checking can continue.
pub struct Checker<'a> {
    /// The merged tree, for the places of keys.
    pub tree: &'a Node,
    /// The user's file, for keys that stand in no text.
    pub file: &'a str,
    /// The faults found so far.
    pub faults: &'a mut Vec<Fault>,
    /// The rules that were applied; the reference of the keys is made from them.
    pub rules: Rules,
    /// Keys of the preset that have no effect in this configuration.
    pub idle: Vec<&'static str>,
}

/// A type with an order, whose values can have a range.
pub trait Number: PartialOrd + Copy + Debug + Serialize {}

impl<T: PartialOrd + Copy + Debug + Serialize> Number for T {}

impl<'a> Checker<'a> {
    /// A checker of a merged tree; `file` is the user's file.
    pub fn new(tree: &'a Node, file: &'a str, faults: &'a mut Vec<Fault>) -> Self {
        Checker { tree, file, faults, rules: Rules::default(), idle: Vec::new() }
    }

    /// Whether the keys of this table have no fault so far: rules over several keys are only worth checking then.
    pub fn clean(&self, table: &str) -> bool {
        let concerns = |fault: &Fault| fault.place.key.as_ref().is_none_or(|key| key.starts_with(table));
        !self.faults.iter().any(concerns)
    }

    /// The first of these keys that the user wrote (the command line before the file), else the first that appears in
    /// any layer.
    pub fn culprit<'k>(&self, keys: &[&'k str]) -> &'k str {
        let origin = |key: &str| self.tree.get(key).map(|node| node.origin);
        for wanted in [KeySource::Set, KeySource::File, KeySource::Preset] {
            if let Some(key) = keys.iter().find(|key| origin(key) == Some(wanted)) {
                return key;
            }
        }
        keys.first().copied().unwrap_or_default()
    }

    /// Notes that a key has no effect beside what was `found`: a fault if the user wrote it. A preset may have it, since it does
    /// not know what the user chooses.
    pub fn has_no_effect(&mut self, key: &'static str, found: impl Display, expected: &str) {
        match self.tree.get(key).map(|node| node.origin) {
            None => {}
            Some(KeySource::Preset) => self.idle.push(key),
            Some(KeySource::File | KeySource::Set) => {
                let fault = self.fault(key, "has no effect").found(found.to_string()).expected(expected);
                self.push(fault);
            }
        }
    }

    fn place(&self, key: &str) -> Place {
        match self.tree.get(key) {
            Some(node) => node.place.clone(),
            None => Place { file: Some(self.file.to_string()), key: Some(key.to_string()), ..Place::default() },
        }
    }

    /// A fault of `key`, to be completed and passed to [`Self::push`].
    pub fn fault(&self, key: &str, what: &str) -> Fault {
        Fault::at(self.place(key), what)
    }

    /// Records a fault.
    pub fn push(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// The value, or `default` if there is none; it must lie within `range`.
    pub fn number<T: Number>(&mut self, field: Field<T>, default: T, range: RangeInclusive<T>) -> T {
        let value = self.given(&field, default, &range);
        self.within(&field.key, value, range)
    }

    /// The value or `default`, with the rules noted.
    fn given<T: Number>(&mut self, field: &Field<T>, default: T, range: &RangeInclusive<T>) -> T {
        self.rules.range(&field.key, range);
        self.rules.default_is(&field.key, &default);
        field.value.unwrap_or(default)
    }

    /// As [`Self::number`], of a parameter that is a whole number.
    pub fn whole(&mut self, field: Field<f64>, default: f64, range: RangeInclusive<f64>) -> f64 {
        let value = self.given(&field, default, &range);
        self.rule(&field.key, value, value.fract() == 0.0, "a whole number");
        self.within(&field.key, value as i64, *range.start() as i64..=*range.end() as i64) as f64
    }

    /// The value, which must be there and lie within `range`.
    pub fn required<T: Number>(&mut self, field: Field<T>, range: RangeInclusive<T>) -> T {
        self.rules.range(&field.key, &range);
        self.rules.required(&field.key);
        if field.value.is_none() {
            let expected = format!("{:?} to {:?}", range.start(), range.end());
            let fault = self.fault(&field.key, "missing").found("nothing").expected(expected);
            self.push(fault);
        }
        let value = field.value.unwrap_or(*range.start());
        self.within(&field.key, value, range)
    }

    /// As [`Self::number`], for a value that may be left out.
    pub fn optional<T: Number>(&mut self, field: Field<T>, range: RangeInclusive<T>) -> Option<T> {
        self.rules.range(&field.key, &range);
        field.value.map(|value| self.within(&field.key, value, range))
    }

    /// The value, or `default` if there is none, for a type without invalid values.
    pub fn choice<T: Serialize>(&mut self, field: Field<T>, default: T) -> T {
        self.rules.default_is(&field.key, &default);
        field.value.unwrap_or(default)
    }

    /// The value, which must lie within `range`.
    pub fn within<T: Number>(&mut self, key: &str, value: T, range: RangeInclusive<T>) -> T {
        if range.contains(&value) {
            return value;
        }
        let expected = format!("{:?} to {:?}", range.start(), range.end());
        let fault = self.fault(key, "out of range").found(format!("{value:?}")).expected(expected);
        self.push(fault);
        *range.start()
    }

    /// Refuses a value unless `rule` is true for it.
    pub fn rule(&mut self, key: &str, found: impl Debug, holds: bool, expected: &str) {
        if !holds {
            let fault = self.fault(key, "invalid value").found(format!("{found:?}")).expected(expected);
            self.push(fault);
        }
    }
}
