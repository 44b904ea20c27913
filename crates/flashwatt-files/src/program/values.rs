//! The values of attributes: numbers with units, names, booleans, and the variables that stand for them.

use std::collections::BTreeMap;

use super::draw::{Drawn, Quantity, Shape};
use super::lexer::{Kind, Token, place};
use super::script::{Assigned, Attribute, Block};
use flashwatt_base::error::Fault;
use flashwatt_base::settings::unknown_name;

pub(super) type Valued<T> = Result<T, Box<Fault>>;

/// Variables that may stand for one another: more than this are a circle.
const CHAIN_MAX: u32 = 32;

/// The variables of a program as they are when it runs.
pub(super) struct Values<'a, 's> {
    pub file: &'a str,
    pub variables: &'s BTreeMap<&'a str, Assigned<'a>>,
}

/// What a value comes to, when every variable is followed.
enum Value<'a, 's> {
    Text(Token<'a>),
    Drawn(&'s Block<'a>, bool),
}

/// Parses `10`, `16k`, `1m`, `2g` or `1t`: a unit is a power of 1024.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1024u64.pow(power))
}

impl<'a, 's> Values<'a, 's> {
    /// A fault at an attribute.
    pub fn at(&self, attribute: &Attribute<'_>, what: impl Into<String>) -> Fault {
        let mut place = place(self.file, attribute.line);
        place.key = Some(attribute.name.to_string());
        Fault::at(place, what)
    }

    /// A fault at an entity.
    pub fn of(&self, block: &Block<'_>, what: impl Into<String>) -> Fault {
        Fault::at(place(self.file, block.line), what)
    }

    /// A fault of the value of an attribute.
    pub fn wrong(&self, attribute: &Attribute<'_>, what: &str) -> Fault {
        let fault = self.at(attribute, what);
        let Some(written) = attribute.value else { return fault.found("no value") };
        match (written.kind, self.follow(attribute, written)) {
            (Kind::Variable, Ok(Value::Text(text))) => fault.found(format!("{} of {}", text.shown(), written.shown())),
            _ => fault.found(written.shown()),
        }
    }

    fn follow(&self, attribute: &Attribute<'_>, token: Token<'a>) -> Valued<Value<'a, 's>> {
        let mut token = token;
        for _ in 0..CHAIN_MAX {
            if token.kind != Kind::Variable {
                return Ok(Value::Text(token));
            }
            match self.variables.get(token.text) {
                Some(Assigned::Value(value)) => token = *value,
                Some(Assigned::Randvar(block)) => return Ok(Value::Drawn(block, false)),
                Some(Assigned::Cvar(block)) => return Ok(Value::Drawn(block, true)),
                None => {
                    let names: Vec<_> = self.variables.keys().copied().collect();
                    let fault = unknown_name(self.at(attribute, "the variable is not set"), token.text, &names);
                    return Err(Box::new(fault));
                }
            }
        }
        Err(Box::new(self.at(attribute, "the variable stands for itself").found(token.shown())))
    }

    /// The value of an attribute, which must have one.
    fn value(&self, attribute: &Attribute<'a>) -> Valued<Value<'a, 's>> {
        let missing = || Box::new(self.at(attribute, "the attribute has no value").expected("`=` and a value"));
        self.follow(attribute, attribute.value.ok_or_else(missing)?)
    }

    /// A number, or a random variable.
    pub fn quantity(&self, block: &Block<'a>, names: &[&str]) -> Valued<Option<Quantity>> {
        let Some(attribute) = block.get(names) else { return Ok(None) };
        match self.value(&attribute)? {
            Value::Text(token) => match number(token.text) {
                Some(value) => Ok(Some(Quantity::Fixed(value))),
                None => {
                    let is_negative = token.text.strip_prefix('-').is_some_and(|rest| number(rest).is_some());
                    let what = if is_negative { "a negative number" } else { "not a number" };
                    let expected = "a whole number from 0 on, with `k`, `m` or `g`";
                    Err(Box::new(self.wrong(&attribute, what).expected(expected)))
                }
            },
            Value::Drawn(block, false) => Ok(Some(Quantity::Drawn(self.randvar(block)?))),
            Value::Drawn(block, true) => Ok(Some(Quantity::Drawn(self.cvar(block)?))),
        }
    }

    /// A number that is the same always.
    pub fn fixed(&self, block: &Block<'a>, names: &[&str]) -> Valued<Option<u64>> {
        let fixed = self.quantity(block, names)?.map(|quantity| quantity.fixed());
        match (fixed, block.get(names)) {
            (Some(None), Some(attribute)) => Err(Box::new(
                self.wrong(&attribute, "a random variable where a constant must stand").expected("a number"),
            )),
            (fixed, _) => Ok(fixed.flatten()),
        }
    }

    /// A number from `min` to `max`; `default` if it is not given, an error if there is no default.
    pub fn bounded(&self, block: &Block<'a>, names: &[&str], default: Option<u64>, range: (u64, u64)) -> Valued<u64> {
        let (min, max) = range;
        match (self.fixed(block, names)?, block.get(names)) {
            (Some(value), _) if (min..=max).contains(&value) => Ok(value),
            (Some(_), Some(attribute)) => {
                Err(Box::new(self.wrong(&attribute, "out of range").expected(format!("{min} to {max}"))))
            }
            _ => default.ok_or_else(|| Box::new(self.missing(block, names[0]))),
        }
    }

    /// A fault: the entity has no such attribute, and needs it.
    pub fn missing(&self, block: &Block<'_>, name: &str) -> Fault {
        self.of(block, format!("{} without `{name}`", block.of)).expected(format!("`{name}=…`"))
    }

    /// A boolean: an attribute that stands alone is true.
    pub fn flag(&self, block: &Block<'a>, name: &str) -> Valued<bool> {
        let Some(attribute) = block.get(&[name]) else { return Ok(false) };
        if attribute.value.is_none() {
            return Ok(true);
        }
        let Value::Text(token) = self.value(&attribute)? else {
            return Err(Box::new(self.wrong(&attribute, "not a boolean").expected("true or false")));
        };
        match token.text {
            "true" => Ok(true),
            "false" => Ok(false),
            text => match number(text) {
                Some(value) => Ok(value != 0),
                None => Err(Box::new(self.wrong(&attribute, "not a boolean").expected("true, false, 1 or 0"))),
            },
        }
    }

    /// A name.
    pub fn name(&self, block: &Block<'a>, names: &[&str]) -> Valued<Option<&'a str>> {
        let Some(attribute) = block.get(names) else { return Ok(None) };
        match self.value(&attribute)? {
            Value::Text(token) => Ok(Some(token.text)),
            Value::Drawn(..) => Err(Box::new(self.wrong(&attribute, "not a name").expected("a name"))),
        }
    }

    /// A number behind `run`.
    pub fn seconds(&self, token: Token<'a>) -> Valued<u64> {
        let attribute = Attribute { name: "run", line: token.line, value: Some(token) };
        let block = Block { of: "run", line: token.line, attributes: vec![attribute] };
        self.bounded(&block, &["run"], None, (0, 1_000_000_000))
    }

    /// A random variable of the older form. `gamma` is 1000 times the shape, 1500 unless given.
    fn randvar(&self, block: &Block<'a>) -> Valued<Drawn> {
        let real =
            |names: &[&str], default| self.bounded(block, names, default, (0, 1 << 60)).map(|value| value as f64);
        let (mean, min, round) = (real(&["mean"], None)?, real(&["min"], Some(0))?, real(&["round"], Some(0))?);
        if mean < min {
            return Err(Box::new(self.of(block, "a random variable whose mean lies below its least value")));
        }
        let shape = match self.name(block, &["type"])? {
            Some("gamma") => {
                let shape = self.bounded(block, &["gamma"], Some(1500), (1, 1_000_000))? as f64 / 1000.0;
                Shape::gamma(shape, mean - min)
            }
            Some("uniform") => Shape::Uniform { lower: 0.0, upper: 2.0 * (mean - min) },
            found => return Err(Box::new(self.of_type(block, found, &["gamma", "uniform"]))),
        };
        Ok(Drawn { shape, shift: min, round, min: 0.0, max: f64::INFINITY })
    }

    fn of_type(&self, block: &Block<'_>, found: Option<&str>, valid: &[&str]) -> Fault {
        match found {
            Some(found) => unknown_name(self.of(block, format!("unknown type of {}", block.of)), found, valid),
            None => self.missing(block, "type").expected(format!("`type=` and one of {}", valid.join(", "))),
        }
    }

    /// A custom variable: `parameters` is a list `name:value;name:value`.
    fn cvar(&self, block: &Block<'a>) -> Valued<Drawn> {
        let bound =
            |name: &str, default| self.bounded(block, &[name], Some(default), (0, u64::MAX)).map(|value| value as f64);
        let (min, max, round) = (bound("min", 0)?, bound("max", u64::MAX)?, bound("round", 0)?);
        let parameters = Parameters::new(self, block)?;
        let shape = match self.name(block, &["type"])? {
            // The defaults are those of filebench's cvar-gamma.
            Some("cvar-gamma") => {
                let [mean, gamma] = parameters.take(["mean", "gamma"], [Some(4096.0), Some(1.5)])?;
                if gamma <= 0.0 || mean < 0.0 {
                    return Err(Box::new(
                        self.of(block, "a gamma distribution needs a gamma above 0 and no negative mean"),
                    ));
                }
                Shape::gamma(gamma, mean)
            }
            Some("cvar-normal") => {
                let [mean, sigma] = parameters.take(["mean", "sigma"], [None; 2])?;
                Shape::Normal { mean, sigma }
            }
            Some("cvar-uniform") => {
                let [lower, upper] = parameters.take(["lower", "upper"], [None; 2])?;
                Shape::Uniform { lower, upper }
            }
            Some("cvar-exponential") => {
                let [mean] = parameters.take(["mean"], [None])?;
                Shape::Exponential { mean }
            }
            found => {
                let valid = ["cvar-gamma", "cvar-normal", "cvar-uniform", "cvar-exponential"];
                return Err(Box::new(self.of_type(block, found, &valid)));
            }
        };
        Ok(Drawn { shape, shift: 0.0, round, min, max })
    }
}

/// The parameters of a custom variable.
struct Parameters<'a, 's, 'v> {
    values: &'v Values<'a, 's>,
    block: &'v Block<'a>,
    list: Vec<(&'a str, f64)>,
}

impl<'a, 's, 'v> Parameters<'a, 's, 'v> {
    fn new(values: &'v Values<'a, 's>, block: &'v Block<'a>) -> Valued<Self> {
        let text = values.name(block, &["parameters"])?.unwrap_or_default();
        let mut list = Vec::new();
        for part in text.split(';').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once(':').unwrap_or((part, ""));
            let Some(value) = value.parse::<f64>().ok().filter(|value| value.is_finite()) else {
                let fault = values.of(block, "not a parameter of a cvar").found(format!("`{part}`"));
                return Err(Box::new(fault.expected("`name:number`, as in `mean:16384;gamma:1.5`")));
            };
            list.push((name, value));
        }
        Ok(Parameters { values, block, list })
    }

    /// The values of these parameters. Each must be given unless it has a default; no other may be.
    fn take<const N: usize>(&self, names: [&str; N], defaults: [Option<f64>; N]) -> Valued<[f64; N]> {
        if let Some((name, _)) = self.list.iter().find(|(name, _)| !names.contains(name)) {
            let fault = self.values.of(self.block, "unknown parameter of a cvar");
            return Err(Box::new(unknown_name(fault, name, &names)));
        }
        let mut taken = [0.0; N];
        for ((value, name), default) in taken.iter_mut().zip(names).zip(defaults) {
            let given = self.list.iter().find(|(given, _)| *given == name).map(|&(_, value)| value);
            let missing = || Box::new(self.values.missing(self.block, name).expected(format!("`parameters={name}:…`")));
            *value = given.or(default).ok_or_else(missing)?;
        }
        Ok(taken)
    }
}
