//! Merges configuration trees, one over another.

use super::node::{Node, Table, Value, join};

/// Groups of keys of which only one may be given: a key of one group in the upper layer removes the others below.
pub type Rivals = &'static [&'static [&'static str]];

/// Removes the keys of `base` whose rivals appear in `over`.
pub fn drop_rivals(base: &mut Table, over: &Table, groups: &[&[&str]]) {
    let given = |group: &[&str]| group.iter().any(|&key| over.contains_key(key));
    for group in groups {
        if !given(group) && groups.iter().any(|other| given(other)) {
            group.iter().for_each(|&key| drop(base.remove(key)));
        }
    }
}

/// Lays `over` on `base`, key by key. A table at one of the `tagged` paths holds one entry, its tag: it merges with a
/// table of the same tag and replaces any other.
pub fn merge(base: &mut Node, over: Node, tagged: &[&str]) {
    merge_at(base, over, "", tagged);
}

fn merge_at(base: &mut Node, over: Node, path: &str, tagged: &[&str]) {
    let same_tag = base.tag().is_some() && base.tag() == over.tag();
    match (&mut base.value, over.value) {
        (Value::Table(_), Value::String(_)) if same_tag && tagged.contains(&path) => {}
        (Value::Table(table), Value::Table(over_table)) if same_tag || !tagged.contains(&path) => {
            (base.place, base.origin) = (over.place, over.origin);
            merge_tables(table, over_table, path, tagged);
        }
        (_, value) => *base = Node { place: over.place, origin: over.origin, value },
    }
}

fn merge_tables(base: &mut Table, over: Table, path: &str, tagged: &[&str]) {
    for (key, value) in over {
        match base.get_mut(&key) {
            Some(node) => merge_at(node, value, &join(path, &key), tagged),
            None => drop(base.insert(key, value)),
        }
    }
}
