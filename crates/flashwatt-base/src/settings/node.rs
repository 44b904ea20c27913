//! A configuration as a tree that records where every key was written.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::syntax;
use crate::error::{Fault, Place};

/// Largest depth of nested tables. No configuration needs more, and every walk over the tree recurses.
const DEPTH_MAX: usize = 16;

/// The layer that a key was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeySource {
    /// The preset.
    Preset,
    /// The user's file.
    File,
    /// `--set` on the command line.
    Set,
}

/// The keys of a table.
pub type Table = BTreeMap<String, Node>;

/// A value and the place of its key.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where the key was written.
    pub place: Place,
    /// The layer that it was written in.
    pub origin: KeySource,
    /// The value.
    pub value: Value,
}

/// The values of TOML. Integers hold every literal that fits a `u64` or an `i64`.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // TOML's own names
pub enum Value {
    Table(Table),
    Array(Vec<Node>),
    Integer(i128),
    Float(f64),
    Bool(bool),
    String(String),
    Datetime,
}

impl Value {
    /// As JSON; a date, which no key takes, is `null`.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Table(table) => table.iter().map(|(key, node)| (key.clone(), node.value.to_json())).collect(),
            Value::Array(items) => items.iter().map(|item| item.value.to_json()).collect(),
            Value::Integer(value) => i64::try_from(*value).map_or_else(|_| (*value as u64).into(), Into::into),
            Value::Float(value) => (*value).into(),
            Value::Bool(value) => (*value).into(),
            Value::String(value) => value.as_str().into(),
            Value::Datetime => serde_json::Value::Null,
        }
    }
}

/// A text that is parsed: a file or one override.
struct Source<'a> {
    text: &'a str,
    file: &'a str,
    origin: KeySource,
    /// Start of each line, in bytes.
    lines: Vec<usize>,
}

impl Node {
    /// An empty tree.
    pub fn empty(origin: KeySource) -> Node {
        Node { place: Place::default(), origin, value: Value::Table(Table::new()) }
    }

    /// Parses a file. Returns all syntax faults at once.
    pub fn parse(text: &str, file: &str, origin: KeySource) -> Result<Node, Vec<Fault>> {
        let source = Source::new(text, file, origin);
        let (root, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            return Err(source.syntax(&errors));
        }
        source.table(root.get_ref(), "", 0).map_err(|fault| vec![*fault])
    }

    /// The table at a dotted path.
    pub fn table(&self, path: &str) -> Option<&Table> {
        match &self.get(path)?.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The node at a dotted path.
    pub fn get(&self, path: &str) -> Option<&Node> {
        path.split('.').try_fold(self, |node, key| match &node.value {
            Value::Table(table) => table.get(key),
            _ => None,
        })
    }

    /// The string at a dotted path.
    pub fn string(&self, path: &str) -> Option<&str> {
        match &self.get(path)?.value {
            Value::String(string) => Some(string),
            _ => None,
        }
    }

    /// Removes the node at the end of `path` from the tree, with its parent if that is a table at one of the
    /// `tagged` paths and becomes empty. Returns whether there was one.
    pub fn prune(&mut self, path: &[String], tagged: &[&str]) -> bool {
        let Some((_, parent)) = path.split_last() else { return false };
        let removed = self.remove(path);
        if tagged.contains(&parent.join(".").as_str()) && self.table(&parent.join(".")).is_some_and(Table::is_empty) {
            self.remove(parent);
        }
        removed
    }

    fn remove(&mut self, path: &[String]) -> bool {
        let Value::Table(table) = &mut self.value else { return false };
        match path {
            [] => false,
            [last] => table.remove(last).is_some(),
            [first, rest @ ..] => table.get_mut(first).is_some_and(|node| node.remove(rest)),
        }
    }

    /// The node at the end of `path`.
    pub fn at_mut(&mut self, path: &[String]) -> Option<&mut Node> {
        path.iter().try_fold(self, |node, key| match &mut node.value {
            Value::Table(table) => table.get_mut(key),
            _ => None,
        })
    }

    /// As [`Self::table`], but mutable.
    pub fn table_mut(&mut self, path: &str) -> Option<&mut Table> {
        let node = path.split('.').try_fold(self, |node, key| match &mut node.value {
            Value::Table(table) => table.get_mut(key),
            _ => None,
        })?;
        match &mut node.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// As a TOML value.
    pub fn to_toml(&self) -> toml::Value {
        match &self.value {
            Value::Table(table) => {
                toml::Value::Table(table.iter().map(|(key, node)| (key.clone(), node.to_toml())).collect())
            }
            Value::Array(items) => toml::Value::Array(items.iter().map(Node::to_toml).collect()),
            Value::Integer(integer) => match i64::try_from(*integer) {
                Ok(integer) => toml::Value::Integer(integer),
                Err(_) => toml::Value::Float(*integer as f64), // beyond the integers of TOML
            },
            Value::Float(float) => toml::Value::Float(*float),
            Value::Bool(bool) => toml::Value::Boolean(*bool),
            Value::String(string) => toml::Value::String(string.clone()),
            Value::Datetime => toml::Value::String("a date".into()), // no key takes a date
        }
    }

    /// The name of an externally tagged value: `"page"`, or the only key of a table.
    pub fn tag(&self) -> Option<&str> {
        match &self.value {
            Value::String(name) => Some(name),
            Value::Table(table) if table.len() == 1 => table.keys().next().map(String::as_str),
            _ => None,
        }
    }
}

impl<'a> Source<'a> {
    fn new(text: &'a str, file: &'a str, origin: KeySource) -> Self {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        Source { text, file, origin, lines: std::iter::once(0).chain(newlines).collect() }
    }

    /// The number, from 0, of the line that contains a byte.
    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|&start| start <= at).saturating_sub(1)
    }

    /// Column in characters, from 0.
    fn column(&self, at: usize) -> usize {
        self.text.get(self.lines[self.line(at)]..at).map_or(0, |before| before.chars().count())
    }

    /// The text of the line that contains a byte.
    fn line_text(&self, at: usize) -> &str {
        let line = self.line(at);
        let end = self.lines.get(line + 1).copied().unwrap_or(self.text.len());
        self.text.get(self.lines[line]..end).unwrap_or_default().trim()
    }

    fn place(&self, at: usize, key: &str) -> Place {
        let key = (!key.is_empty()).then(|| key.to_string());
        let file = Some(self.file.to_string());
        if self.origin == KeySource::Set {
            return Place { file, key, ..Place::default() };
        }
        Place { file, key, line: Some(self.line(at) as u64 + 1), column: Some(self.column(at) as u64 + 1) }
    }

    /// The faults of a text that is no TOML, the first of each line; one fault if the text is of another language.
    fn syntax(&self, errors: &[toml::de::Error]) -> Vec<Fault> {
        let (mut faults, mut lines) = (Vec::new(), Vec::new());
        for error in errors {
            let at = error.span().map_or(0, |span| span.start);
            if lines.contains(&self.line(at)) {
                continue;
            }
            lines.push(self.line(at));
            let line = shorten(self.line_text(at));
            let wrong = syntax::wrong(self.text, line, error.message());
            let fault = Fault::at(self.place(at, ""), wrong.what).found(format!("`{line}`")).expected(wrong.expected);
            if wrong.whole_text {
                return vec![fault];
            }
            faults.push(fault);
        }
        faults
    }

    fn table(&self, table: &DeTable, path: &str, depth: usize) -> Result<Node, Box<Fault>> {
        let mut out = Table::new();
        for (key, value) in table {
            let path = join(path, key.get_ref());
            out.insert(key.get_ref().to_string(), self.node(value, &key.span(), &path, depth + 1)?);
        }
        Ok(Node { place: self.place(0, path), origin: self.origin, value: Value::Table(out) })
    }

    fn node(&self, value: &Spanned<DeValue>, key: &Range<usize>, path: &str, depth: usize) -> Result<Node, Box<Fault>> {
        let place = self.place(key.start, path);
        if depth > DEPTH_MAX {
            let fault = Fault::at(place, "nested too deeply").expected(format!("at most {DEPTH_MAX} levels"));
            return Err(Box::new(fault));
        }
        let value = match value.get_ref() {
            DeValue::Table(table) => self.table(table, path, depth)?.value,
            DeValue::Array(array) => {
                let items = array.iter().map(|item| self.node(item, &item.span(), path, depth + 1));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            scalar => match self::scalar(scalar) {
                Some(value) => value,
                None => return Err(Box::new(number_too_large(place, &self.text[value.span()]))),
            },
        };
        Ok(Node { place, origin: self.origin, value })
    }
}

fn scalar(value: &DeValue) -> Option<Value> {
    Some(match value {
        DeValue::String(string) => Value::String(string.to_string()),
        DeValue::Integer(integer) => Value::Integer(whole(integer.as_str(), integer.radix())?),
        DeValue::Float(float) => Value::Float(float.as_str().parse().ok()?),
        DeValue::Boolean(boolean) => Value::Bool(*boolean),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Table(_) | DeValue::Array(_) => return None,
    })
}

/// A whole number that fits a `u64` or an `i64`.
fn whole(digits: &str, radix: u32) -> Option<i128> {
    let value = i128::from_str_radix(digits, radix).ok()?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then_some(value)
}

fn number_too_large(place: Place, literal: &str) -> Fault {
    Fault::at(place, "number too large").found(shorten(literal)).expected("a number of at most 64 bits")
}

/// Parses one override, `KEY=VALUE`. A value that is not TOML (a bare word, a path) is a string.
pub fn parse_set(set: &str) -> Result<Node, Vec<Fault>> {
    let place = |key: &str| {
        let key = (!key.is_empty()).then(|| shorten(key).to_string());
        Place { file: Some("--set".into()), key, ..Place::default() }
    };
    let (key, value) = match set.split_once('=') {
        Some((key, value)) => (key.trim(), value.trim()),
        None => (set.trim(), ""),
    };
    if key.is_empty() || value.is_empty() {
        let what = if key.is_empty() { "not an override" } else { "no value" };
        let fault = Fault::at(place(key), what).found(format!("`{}`", shorten(set))).expected("KEY=VALUE");
        return Err(vec![fault]);
    }
    // The key alone first: a fault in it must not be reported for the value.
    let mut word = parse_line(key, "0").ok_or_else(|| {
        vec![Fault::at(place(key), "not a key").found(format!("`{}`", shorten(key))).expected("KEY.KEY=VALUE")]
    })?;
    if let Some(node) = parse_line(key, value) {
        return Ok(node);
    }
    if value.starts_with(['"', '\'', '[', '{']) {
        let fault = Fault::at(place(key), "not a TOML value").found(format!("`{}`", shorten(value)));
        return Err(vec![fault.expected("a number, true, false, a word, a \"string\" or a [list]")]);
    }
    set_leaf(&mut word, value);
    Ok(word)
}

/// Parses `key = value` if it is a single line of TOML with at least one key.
fn parse_line(key: &str, value: &str) -> Option<Node> {
    if key.contains(['\n', '\r']) || value.contains(['\n', '\r']) {
        return None;
    }
    let node = Node::parse(&format!("{key} = {value}"), "--set", KeySource::Set).ok()?;
    matches!(&node.value, Value::Table(table) if table.len() == 1).then_some(node)
}

/// Puts a string at the end of a tree with a single branch.
fn set_leaf(node: &mut Node, text: &str) {
    match &mut node.value {
        Value::Table(table) => table.values_mut().for_each(|node| set_leaf(node, text)),
        value => *value = Value::String(text.to_string()),
    }
}

/// The dotted path of a key in the table at `path`.
pub fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let key = if bare { shorten(key).to_string() } else { format!("{:?}", shorten(key)) };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// Shortens a text to fit a message.
pub(crate) fn shorten(text: &str) -> &str {
    text.char_indices().nth(80).map_or(text, |(end, _)| &text[..end])
}
