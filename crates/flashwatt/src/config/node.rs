//! A configuration as a tree that remembers where every key was written, and how one tree is laid over another.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Fault, Place};

/// Tables nested deeper than this are refused: nothing a user means needs more, and every walk over the tree recurses.
const DEPTH_MAX: usize = 16;

/// Who wrote a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The preset.
    Preset,
    /// The user's file.
    File,
    /// `--set` on the command line.
    Set,
}

/// The keys of a table.
pub(super) type Table = BTreeMap<String, Node>;

/// A value and where its key stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub place: Place,
    pub origin: Origin,
    pub value: Value,
}

/// What TOML can say. Integers are wide enough for every literal that fits a `u64` or an `i64`.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Table(Table),
    Array(Vec<Node>),
    Integer(i128),
    Float(f64),
    Bool(bool),
    String(String),
    Datetime,
}

/// A text that is parsed: a file or one override.
struct Source<'a> {
    text: &'a str,
    file: &'a str,
    origin: Origin,
}

impl Node {
    /// An empty tree.
    pub fn empty(origin: Origin) -> Node {
        Node { place: Place::default(), origin, value: Value::Table(Table::new()) }
    }

    /// Parses a file. All syntax faults are given at once.
    pub fn parse(text: &str, file: &str, origin: Origin) -> Result<Node, Vec<Fault>> {
        let source = Source { text, file, origin };
        let (root, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            return Err(errors.iter().map(|error| source.syntax(error)).collect());
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

    /// Takes the node at the end of `path` out of the tree, with the name it was the only content of. Says whether
    /// there was one.
    pub fn prune(&mut self, path: &[String]) -> bool {
        let Some((_, parent)) = path.split_last() else { return false };
        let removed = self.remove(path);
        if TAGGED.contains(&parent.join(".").as_str()) && self.table(&parent.join(".")).is_some_and(Table::is_empty) {
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

    fn table_mut(&mut self, path: &str) -> Option<&mut Table> {
        let node = path.split('.').try_fold(self, |node, key| match &mut node.value {
            Value::Table(table) => table.get_mut(key),
            _ => None,
        })?;
        match &mut node.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The name of a value that is tagged from outside: `"page"`, or the one key of a table.
    fn tag(&self) -> Option<&str> {
        match &self.value {
            Value::String(name) => Some(name),
            Value::Table(table) if table.len() == 1 => table.keys().next().map(String::as_str),
            _ => None,
        }
    }
}

impl Source<'_> {
    fn place(&self, at: usize, key: &str) -> Place {
        let key = (!key.is_empty()).then(|| key.to_string());
        let file = Some(self.file.to_string());
        if self.origin == Origin::Set {
            return Place { file, key, ..Place::default() };
        }
        let (line, column) = line_and_column(self.text, at);
        Place { file, key, line: Some(line), column: Some(column) }
    }

    fn syntax(&self, error: &toml::de::Error) -> Fault {
        let at = error.span().map_or(0, |span| span.start);
        let what = error.message().lines().collect::<Vec<_>>().join(", ");
        Fault::at(self.place(at, ""), format!("not TOML: {what}"))
            .found(format!("`{}`", line_at(self.text, at)))
            .expected("`key = value` lines under `[table]` headers")
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
        DeValue::Integer(integer) => Value::Integer(i128::from_str_radix(integer.as_str(), integer.radix()).ok()?),
        DeValue::Float(float) => Value::Float(float.as_str().parse().ok()?),
        DeValue::Boolean(boolean) => Value::Bool(*boolean),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Table(_) | DeValue::Array(_) => return None,
    })
}

fn number_too_large(place: Place, literal: &str) -> Fault {
    Fault::at(place, "number too large").found(literal).expected("a number below 2^64")
}

/// Parses one override, `KEY=VALUE`. A value that is no TOML (a bare word, a path) is a string.
pub(super) fn parse_set(set: &str) -> Result<Node, Vec<Fault>> {
    let place = |key: &str| {
        let key = (!key.is_empty()).then(|| key.to_string());
        Place { file: Some("--set".into()), key, ..Place::default() }
    };
    let (key, value) = match set.split_once('=') {
        Some((key, value)) => (key.trim(), value.trim()),
        None => (set.trim(), ""),
    };
    if key.is_empty() || value.is_empty() {
        let fault = Fault::at(place(key), "not an override").found(format!("`{set}`")).expected("KEY=VALUE");
        return Err(vec![fault]);
    }
    // The key alone first: a fault in it must not be taken for one in the value.
    let mut word = parse_line(key, "0")
        .ok_or_else(|| vec![Fault::at(place(key), "not a key").found(format!("`{key}`")).expected("KEY.KEY=VALUE")])?;
    if let Some(node) = parse_line(key, value) {
        return Ok(node);
    }
    if value.starts_with(['"', '\'', '[', '{']) {
        let fault = Fault::at(place(key), "not a TOML value").found(format!("`{value}`"));
        return Err(vec![fault.expected("a number, true, false, a word, a \"string\" or a [list]")]);
    }
    set_leaf(&mut word, value);
    Ok(word)
}

/// Parses `key = value` if that is one line of TOML with something in it.
fn parse_line(key: &str, value: &str) -> Option<Node> {
    if key.contains(['\n', '\r']) || value.contains(['\n', '\r']) {
        return None;
    }
    let node = Node::parse(&format!("{key} = {value}"), "--set", Origin::Set).ok()?;
    matches!(&node.value, Value::Table(table) if table.len() == 1).then_some(node)
}

/// Puts a string at the end of a tree that has one branch only.
fn set_leaf(node: &mut Node, text: &str) {
    match &mut node.value {
        Value::Table(table) => table.values_mut().for_each(|node| set_leaf(node, text)),
        value => *value = Value::String(text.to_string()),
    }
}

fn join(path: &str, key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let key = if bare { key.to_string() } else { format!("{key:?}") };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

/// Line and column of a byte offset, both counted from 1, the column in characters.
fn line_and_column(text: &str, at: usize) -> (u64, u64) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() as u64 + 1, before[start..].chars().count() as u64 + 1)
}

/// The line that a byte offset lies in, cut to what fits a message.
fn line_at(text: &str, at: usize) -> String {
    let (line, _) = line_and_column(text, at);
    let line = text.lines().nth(line as usize - 1).unwrap_or_default().trim();
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_string(),
    }
}

/// Values that are tagged from outside (`ftl = "page"` or `[ftl.page]`).
const TAGGED: [&str; 4] = ["ftl", "gc.policy", "workload", "run.precondition"];

/// Keys of which only one group makes sense at a time: whoever writes a key of one group means to be rid of the others.
const RIVALS: [(&str, &[&[&str]]); 4] = [
    ("device", &[&["op_ratio"], &["spare_fraction"]]),
    ("gc", &[&["low_watermark_blocks"], &["low_watermark_fraction"]]),
    ("workload.uniform", ARRIVALS),
    ("run.precondition.uniform", ARRIVALS),
];

const ARRIVALS: &[&[&str]] = &[&["queue_depth"], &["rate_per_s"], &["burst_gap_ns", "burst_requests"]];

/// Lays `over` on `base`, key by key. Tables that are tagged from outside merge if the tags are equal and replace one
/// another otherwise; a key drops its rivals of the layer below.
pub(super) fn lay(base: &mut Node, over: Node) {
    for (path, groups) in RIVALS {
        if let (Some(base), Some(over)) = (base.table_mut(path), over.table(path)) {
            drop_rivals(base, over, groups);
        }
    }
    if let (Some(base), Some(over)) = (base.table_mut("device"), over.table("device")) {
        drop_capacity(base, over);
    }
    lay_without_rivals(base, over);
}

/// As [`lay`], but keeps rivals: for overrides on one command line, where two rivals are a contradiction.
pub(super) fn lay_without_rivals(base: &mut Node, over: Node) {
    merge(base, over, "");
}

fn drop_rivals(base: &mut Table, over: &Table, groups: &[&[&str]]) {
    let given = |group: &[&str]| group.iter().any(|&key| over.contains_key(key));
    for group in groups {
        if !given(group) && groups.iter().any(|other| given(other)) {
            group.iter().for_each(|&key| drop(base.remove(key)));
        }
    }
}

/// Blocks, logical size, over-provisioning: two determine the third. Whoever overrides one of them means this:
/// blocks or the logical size — a drive of another size with the same over-provisioning; the over-provisioning — the
/// same flash (or, where the preset states no flash size, the same logical size) with another share of spare.
fn drop_capacity(base: &mut Table, over: &Table) {
    const OP: [&str; 2] = ["op_ratio", "spare_fraction"];
    let has = |table: &Table, keys: &[&str]| keys.iter().any(|&key| table.contains_key(key));
    let blocks = has(over, &["blocks_per_plane"]);
    let logical = has(over, &["logical_bytes"]);
    let op = has(over, &OP);
    let dropped: &[&str] = match (blocks, logical, op) {
        (false, false, false) => &[],
        (true, false, false) if has(base, &OP) => &["logical_bytes"],
        (false, true, false) if has(base, &OP) => &["blocks_per_plane"],
        (false, false, true) if has(base, &["blocks_per_plane"]) => &["logical_bytes"],
        (true, false, false) | (false, true, false) | (false, false, true) => &[],
        _ => &["blocks_per_plane", "logical_bytes", "op_ratio", "spare_fraction"],
    };
    dropped.iter().for_each(|&key| drop(base.remove(key)));
}

fn merge(base: &mut Node, over: Node, path: &str) {
    let same_tag = base.tag().is_some() && base.tag() == over.tag();
    match (&mut base.value, over.value) {
        (Value::Table(_), Value::String(_)) if same_tag && TAGGED.contains(&path) => {}
        (Value::Table(table), Value::Table(over_table)) if same_tag || !TAGGED.contains(&path) => {
            (base.place, base.origin) = (over.place, over.origin);
            merge_tables(table, over_table, path);
        }
        (_, value) => *base = Node { place: over.place, origin: over.origin, value },
    }
}

fn merge_tables(base: &mut Table, over: Table, path: &str) {
    for (key, value) in over {
        match base.get_mut(&key) {
            Some(node) => merge(node, value, &join(path, &key)),
            None => drop(base.insert(key, value)),
        }
    }
}
