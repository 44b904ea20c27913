//! A registered name with numeric parameters, as the user writes it.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

/// A registered name, and the parameters that the thing of that name reads: `policy = "greedy"`, or `[gc.policy.greedy]`.
#[derive(Clone, Debug)]
pub struct Chosen<K> {
    /// The name.
    pub name: String,
    /// The keys of the table; empty for a name alone.
    pub parameters: BTreeMap<String, f64>,
    kind: PhantomData<K>,
}

/// What is chosen.
pub trait Kind {
    /// What a configuration may hold here.
    const EXPECTED: &'static str;
}

/// A victim policy.
#[derive(Clone, Debug)]
pub struct VictimPolicy;

impl Kind for VictimPolicy {
    const EXPECTED: &'static str = "the name of one policy, or one table [gc.policy.NAME]";
}

/// A scheduler of the host.
#[derive(Clone, Debug)]
pub struct SchedulerKind;

impl Kind for SchedulerKind {
    const EXPECTED: &'static str = "the name of one scheduler, or one table [host.scheduler.NAME]";
}

/// A file system.
#[derive(Clone, Debug)]
pub struct FileSystemKind;

impl Kind for FileSystemKind {
    const EXPECTED: &'static str = "the name of one file system, or one table [workload.files.system.NAME]";
}

impl<'de, K: Kind> Deserialize<'de> for Chosen<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ChosenVisitor(PhantomData))
    }
}

struct ChosenVisitor<K>(PhantomData<K>);

impl<'de, K: Kind> Visitor<'de> for ChosenVisitor<K> {
    type Value = Chosen<K>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(K::EXPECTED)
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Chosen<K>, E> {
        Ok(Chosen { name: name.to_string(), parameters: BTreeMap::new(), kind: PhantomData })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Chosen<K>, A::Error> {
        let mut all = Vec::new();
        while let Some((name, parameters)) = map.next_entry()? {
            all.push(Chosen { name, parameters, kind: PhantomData });
        }
        match all.pop() {
            Some(chosen) if all.is_empty() => Ok(chosen),
            _ => Err(de::Error::invalid_value(de::Unexpected::Other("none or several"), &self)),
        }
    }
}
