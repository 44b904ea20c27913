//! Deserializes a [`Node`] into a struct through serde. Errors name the place, the value found and the value expected.

use std::fmt;

use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::node::{Node, Table, Value, shorten};
use crate::error::{Fault, nearest};

/// Largest whole number that is read from a float: up to here they are exact in an `f64`, and `1e6` may stand for
/// 1000000.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// A key or value of the wrong shape.
#[derive(Debug)]
pub struct ShapeError(Box<ShapeFault>);

#[derive(Debug)]
struct ShapeFault {
    fault: Fault,
    /// Keys from the fault up to the root.
    path: Vec<String>,
    placed: bool,
}

impl ShapeError {
    fn new(what: &str) -> Self {
        ShapeError(Box::new(ShapeFault {
            fault: Fault { what: what.into(), ..Fault::default() },
            path: vec![],
            placed: false,
        }))
    }

    fn found(mut self, found: impl fmt::Display) -> Self {
        self.0.fault.found = Some(found.to_string());
        self
    }

    fn expected(mut self, expected: impl fmt::Display) -> Self {
        self.0.fault.expected = Some(expected.to_string());
        self
    }

    /// An error belongs to the innermost node that it passes through.
    fn at(mut self, node: &Node) -> Self {
        if !self.0.placed {
            self.0.fault.place = node.place.clone();
            self.0.placed = true;
        }
        self
    }

    fn below(mut self, key: &str) -> Self {
        self.0.path.push(key.to_string());
        self
    }

    /// Whether a text was found where a number is expected, and if so whether only a whole number is valid.
    pub fn wants_number(&self) -> Option<bool> {
        let expected = self.0.fault.expected.as_deref().unwrap_or_default();
        let number = NUMBERS.iter().any(|words| expected.starts_with(words));
        (self.0.fault.what == WRONG_TYPE && number).then(|| expected.starts_with("a whole number"))
    }

    /// The fault, and its keys from the root.
    pub fn into_parts(self) -> (Fault, Vec<String>) {
        let ShapeFault { fault, mut path, .. } = *self.0;
        path.reverse();
        (fault, path)
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fault.fmt(f)
    }
}

impl std::error::Error for ShapeError {}

impl de::Error for ShapeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ShapeError::new(&message.to_string())
    }

    fn invalid_type(found: Unexpected, expected: &dyn Expected) -> Self {
        ShapeError::new(WRONG_TYPE).found(describe(found)).expected(wanted(expected))
    }

    fn invalid_value(found: Unexpected, expected: &dyn Expected) -> Self {
        ShapeError::new("invalid value").found(describe(found)).expected(wanted(expected))
    }

    fn unknown_field(key: &str, valid: &'static [&'static str]) -> Self {
        misspelt("unknown key", key, valid)
    }

    fn unknown_variant(name: &str, valid: &'static [&'static str]) -> Self {
        misspelt("unknown name", name, valid)
    }
}

fn misspelt(what: &str, found: &str, valid: &'static [&'static str]) -> ShapeError {
    let mut error = ShapeError::new(what);
    error.0.fault = unknown_name(error.0.fault, found, valid);
    error
}

/// Adds to a fault that the name found is not valid, with the valid names.
pub fn unknown_name(fault: Fault, found: &str, valid: &[&str]) -> Fault {
    let found = shorten(found);
    let fault = fault.found(format!("`{}`", found.escape_debug())).expected(one_of(valid));
    fault.nearest(nearest(found, valid.iter().copied()))
}

/// "one of `a`, `b`", or the one name.
fn one_of(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "nothing".to_string(),
        [name] => name.clone(),
        names => format!("one of {}", names.join(", ")),
    }
}

/// The value found, in terms of TOML rather than serde.
fn describe(found: Unexpected) -> String {
    match found {
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Float(value) => format!("{value:?}"),
        Unexpected::Str(value) => format!("the string {:?}", shorten(value)),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "a table".into(),
        Unexpected::Other(what) => what.into(),
        other => other.to_string(),
    }
}

/// What is said of a value of another type than that of its key.
const WRONG_TYPE: &str = "wrong type";

/// First words about what is expected where a number is.
const NUMBERS: [&str; 3] = ["a whole number", "a number", "a current"];

/// First words of the message about the range of a whole number.
pub const WHOLE: &str = "a whole number from";

/// The expected value, in terms of TOML rather than serde.
fn wanted(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u32" => format!("{WHOLE} 0 to {}", u32::MAX),
        "u64" => format!("{WHOLE} 0 to {}", u64::MAX),
        "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a sequence" => "a list".into(),
        "a map" => "a table".into(),
        other if other.starts_with("struct ") => "a table".into(),
        other => other.into(),
    }
}

impl Value {
    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Value::Table(_) => Unexpected::Map,
            Value::Array(_) => Unexpected::Seq,
            Value::Integer(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => Unexpected::Unsigned(value),
                (_, Ok(value)) => Unexpected::Signed(value),
                _ => Unexpected::Other("a number beyond 64 bits"),
            },
            Value::Float(value) => Unexpected::Float(*value),
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::String(value) => Unexpected::Str(value),
            Value::Datetime => Unexpected::Other("a date or time"),
        }
    }

    fn visit<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, ShapeError> {
        match self {
            Value::Table(table) => visitor.visit_map(TableAccess { rest: table.iter(), value: None }),
            Value::Array(items) => visitor.visit_seq(ArrayAccess(items.iter())),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::String(value) => visitor.visit_borrowed_str(value),
            Value::Integer(_) | Value::Datetime => match self.unexpected() {
                Unexpected::Unsigned(value) => visitor.visit_u64(value),
                Unexpected::Signed(value) => visitor.visit_i64(value),
                other => Err(de::Error::invalid_type(other, &visitor)),
            },
        }
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = ShapeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        self.value.visit(visitor).map_err(|error| error.at(self))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        visitor.visit_some(self)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self.value {
            Value::Float(value) if value.fract() == 0.0 && (0.0..=WHOLE_MAX).contains(&value) => {
                visitor.visit_u64(value as u64).map_err(|error: ShapeError| error.at(self))
            }
            Value::Float(value) if value.fract() == 0.0 && value > WHOLE_MAX => {
                let error =
                    ShapeError::new("too large for a number with a point or an exponent").found(format!("{value:?}"));
                Err(error.expected("the same number in digits: beyond 2^53 this form may not be exact").at(self))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    /// From a table only: serde would accept a list as well, field by field.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        match &self.value {
            Value::Table(_) => self.deserialize_any(visitor),
            other => Err(ShapeError::new(WRONG_TYPE).found(describe(other.unexpected())).expected("a table").at(self)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        let choice = match &self.value {
            Value::String(name) => NameOrTable { name, content: None },
            Value::Table(table) => one_choice(table, names).map_err(|error| error.at(self))?,
            other => {
                let error = ShapeError::new(WRONG_TYPE).found(describe(other.unexpected())).expected(one_of(names));
                return Err(error.at(self));
            }
        };
        visitor.visit_enum(choice).map_err(|error| error.at(self))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

fn one_choice<'de>(table: &'de Table, names: &'static [&'static str]) -> Result<NameOrTable<'de>, ShapeError> {
    let mut entries = table.iter();
    match (entries.next(), entries.next()) {
        (Some((name, content)), None) => Ok(NameOrTable { name, content: Some(content) }),
        (None, _) => Err(ShapeError::new("no name").found("an empty table").expected(one_of(names))),
        _ => {
            let found: Vec<_> = table.keys().map(|key| format!("`{}`", shorten(key).escape_debug())).take(10).collect();
            Err(ShapeError::new("several names").found(found.join(", ")).expected(one_of(names)))
        }
    }
}

/// One of several names, with or without a table of its own.
struct NameOrTable<'de> {
    name: &'de str,
    content: Option<&'de Node>,
}

impl<'de> EnumAccess<'de> for NameOrTable<'de> {
    type Error = ShapeError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), ShapeError> {
        let name: StrDeserializer<'de, ShapeError> = self.name.into_deserializer();
        match seed.deserialize(name) {
            Ok(variant) => Ok((variant, self)),
            Err(error) => Err(match self.content {
                Some(content) => error.at(content),
                None => error,
            }),
        }
    }
}

impl<'de> VariantAccess<'de> for NameOrTable<'de> {
    type Error = ShapeError;

    fn unit_variant(self) -> Result<(), ShapeError> {
        match self.content.map(|node| (node, &node.value)) {
            Some((node, Value::Table(table))) if !table.is_empty() => {
                let keys: Vec<_> = table.keys().map(|key| shorten(key)).take(10).collect();
                Err(ShapeError::new("takes no parameters").found(keys.join(", ")).expected("an empty table").at(node))
            }
            None | Some((_, Value::Table(_))) => Ok(()),
            Some((node, other)) => {
                let error = ShapeError::new(WRONG_TYPE).found(describe(other.unexpected())).expected("a table");
                Err(error.at(node))
            }
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ShapeError> {
        match self.content {
            Some(content) => seed.deserialize(content).map_err(|error| error.below(self.name)),
            None => seed.deserialize(MapDeserializer::new(std::iter::empty::<(&str, &str)>())),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, ShapeError> {
        Err(de::Error::invalid_type(Unexpected::TupleVariant, &visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        Err(de::Error::invalid_type(Unexpected::StructVariant, &visitor))
    }
}

struct TableAccess<'de> {
    rest: std::collections::btree_map::Iter<'de, String, Node>,
    value: Option<(&'de str, &'de Node)>,
}

impl<'de> MapAccess<'de> for TableAccess<'de> {
    type Error = ShapeError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ShapeError> {
        let Some((key, node)) = self.rest.next() else { return Ok(None) };
        self.value = Some((key, node));
        let name: StrDeserializer<'de, ShapeError> = key.as_str().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|error| error.at(node).below(key))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ShapeError> {
        match self.value.take() {
            Some((key, node)) => seed.deserialize(node).map_err(|error| error.at(node).below(key)),
            None => Err(ShapeError::new("a value without a key")),
        }
    }
}

struct ArrayAccess<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for ArrayAccess<'de> {
    type Error = ShapeError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ShapeError> {
        self.0.next().map(|node| seed.deserialize(node)).transpose()
    }
}
