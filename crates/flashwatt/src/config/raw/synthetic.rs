//! `[workload.NAME]` as the user writes it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{LazyLock, OnceLock};

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::{Files, Trace};
use crate::config::schema::names;
use flashwatt_base::registry::Named;
use flashwatt_workload as workload;
use flashwatt_workload::settings::Law;
use flashwatt_workload::synthetic::{MODELS, Model, model};

/// The workload, tagged by its name.
#[derive(Clone, Debug)]
pub enum Workload {
    /// A synthetic model.
    Synthetic(Box<Synthetic>),
    /// The jobs of a fio job file.
    Fio(Fio),
    /// Operations on the files of a file system.
    Files(Box<Files>),
    /// A model fitted to a published trace.
    Standin(Standin),
    /// A recorded trace.
    Trace(Trace),
}

impl Workload {
    /// The names that [`Self::variant`] knows.
    pub(super) fn names() -> &'static [&'static str] {
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| workload::registry().map(Named::name).collect());
        &NAMES
    }

    /// The workload of that name, or `None` if there is none of that name.
    pub(super) fn variant<'de, A: VariantAccess<'de>>(name: &str, content: A) -> Result<Option<Self>, A::Error> {
        Ok(Some(match name {
            "trace" => Workload::Trace(content.newtype_variant()?),
            "fio" => Workload::Fio(content.newtype_variant()?),
            "files" => Workload::Files(content.newtype_variant()?),
            "standin" => Workload::Standin(content.newtype_variant()?),
            _ => match model(name) {
                Some(model) => Workload::Synthetic(Box::new(content.newtype_variant_seed(Keys(model))?)),
                None => return Ok(None),
            },
        }))
    }
}

impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("Workload", Self::names(), WorkloadVisitor)
    }
}

struct WorkloadVisitor;

impl<'de> Visitor<'de> for WorkloadVisitor {
    type Value = Workload;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the name of a workload, or one table [workload.NAME]")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Workload, A::Error> {
        let (Name(name), content) = data.variant_seed(NameSeed(Workload::names()))?;
        Workload::variant(&name, content)?.ok_or_else(|| de::Error::unknown_variant(&name, Workload::names()))
    }
}

/// A name out of a list.
pub(super) struct Name(pub String);

/// Reads one: a name that is not on the list is an error at its own place.
pub(super) struct NameSeed(pub &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        let name = String::deserialize(deserializer)?;
        if self.0.contains(&name.as_str()) {
            return Ok(Name(name));
        }
        Err(de::Error::unknown_variant(&name, self.0))
    }
}

/// `[workload.NAME]` of a model: the keys that all models have, and the model's parameters.
#[derive(Clone, Debug)]
pub struct Synthetic {
    /// The registered model.
    pub model: &'static Model,
    /// The keys that all models have.
    pub keys: Common,
    /// The parameters that were given.
    pub parameters: BTreeMap<String, f64>,
}

impl Synthetic {
    /// A model with nothing said about it.
    pub fn new(model: &'static Model) -> Self {
        Synthetic { model, keys: Common::default(), parameters: BTreeMap::new() }
    }
}

/// Declares [`Common`], its names, and how one of them is read.
macro_rules! common_keys {
    ($($(#[$doc:meta])* $key:ident: $type:ty,)*) => {
        /// The keys that all models have.
        #[derive(Clone, Debug, Default, JsonSchema)]
        #[schemars(deny_unknown_fields)]
        pub struct Common {
            $($(#[$doc])* pub $key: Option<$type>,)*
        }

        const COMMON_NAMES: &[&str] = &[$(stringify!($key)),*];

        impl Common {
            /// Reads the value of `key`; `false` if no such key is common to all.
            fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
                match key {
                    $(stringify!($key) => self.$key = Some(map.next_value()?),)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    };
}

common_keys! {
    /// How many.
    requests: u64,
    /// Bytes in each, a multiple of 512; or a list `[[bytes, share], …]`.
    request_bytes: Sizes,
    /// The same for reads only.
    read_bytes: Sizes,
    /// The same for writes only.
    write_bytes: Sizes,
    /// The same for trims only.
    trim_bytes: Sizes,
    /// Share of reads, 0 to 1, by count.
    read_fraction: f64,
    /// Share of trims, 0 to 1.
    trim_fraction: f64,
    /// Requests start at multiples of this, from the start of the range on; the greatest common divisor of the sizes unless
    /// given. More than a request is a stride: 12288 for requests of 4096 is one page in three.
    align_bytes: u64,
    /// First byte of the range.
    start_bytes: u64,
    /// Length of the range; the whole drive unless given.
    range_bytes: u64,
    /// `uniform` only. `true`: one request after the other instead of at random, as the model `sequential`.
    sequential: bool,
    /// Outstanding requests of a closed loop (QD); the device's queue depth unless given.
    queue_depth: u32,
    /// Processes that send the requests; 1 unless given. In a closed loop each has `queue_depth` of them outstanding, and in `sequential` streams
    /// of its own. In an open loop the requests stay as they are: one that begins where a process's last one ended is that process's, others go
    /// to the processes in turn. Figures by origin and schedulers of `[host]` tell processes apart.
    processes: u32,
    /// Mean requests per second of an open loop (while it is on). Left out: a closed loop at `queue_depth`.
    rate_per_s: f64,
    /// With `rate_per_s`: times between groups are `exponential` (unless given) or `constant`.
    gaps: Law,
    /// With `rate_per_s`: requests come in groups with this mean size, geometrically distributed.
    burst_mean: f64,
    /// With `rate_per_s`: mean length of active phases, distributed as the gaps are …
    on_ns: u64,
    /// … and of the pauses between them.
    off_ns: u64,
    /// With `rate_per_s`: requests come at multiples of this, later rather than sooner.
    tick_ns: u64,
    /// Pause between two groups of `burst_requests`.
    burst_gap_ns: u64,
    /// Requests in such a group.
    burst_requests: u64,
}

/// Reads the keys of a model.
struct Keys(&'static Model);

impl Keys {
    /// Every key that is valid for the model.
    fn valid(&self) -> &'static [&'static str] {
        static VALID: OnceLock<Vec<Vec<&'static str>>> = OnceLock::new();
        let names = |model: &Model| COMMON_NAMES.iter().copied().chain(model.params.iter().map(|p| p.name)).collect();
        let all = VALID.get_or_init(|| MODELS.iter().map(names).collect());
        MODELS.iter().position(|model| model == self.0).map_or(&[], |at| &all[at])
    }
}

impl<'de> DeserializeSeed<'de> for Keys {
    type Value = Synthetic;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Synthetic, D::Error> {
        deserializer.deserialize_struct("Synthetic", &[], self)
    }
}

impl<'de> Visitor<'de> for Keys {
    type Value = Synthetic;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Synthetic, A::Error> {
        let mut synthetic = Synthetic::new(self.0);
        while let Some(KeyName(key)) = map.next_key_seed(KeySeed(self.valid()))? {
            if !synthetic.keys.read(&key, &mut map)? {
                synthetic.parameters.insert(key, map.next_value()?);
            }
        }
        Ok(synthetic)
    }
}

struct KeyName(String);

struct KeySeed(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = KeyName;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<KeyName, D::Error> {
        let key = String::deserialize(deserializer)?;
        if self.0.contains(&key.as_str()) { Ok(KeyName(key)) } else { Err(de::Error::unknown_field(&key, self.0)) }
    }
}

/// One length, or several with their shares.
#[derive(Clone, Debug)]
pub enum Sizes {
    /// `request_bytes = 4096`
    One(u64),
    /// `request_bytes = [[4096, 0.7], [65536, 0.3]]`
    Many(Vec<(u64, f64)>),
}

impl Sizes {
    /// Lengths and shares.
    pub fn list(&self) -> Vec<(u64, f64)> {
        match self {
            Sizes::One(bytes) => vec![(*bytes, 1.0)],
            Sizes::Many(list) => list.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As a `u64`, so that `1e6` stands for a whole number; a list comes through all the same.
        deserializer.deserialize_u64(SizesVisitor)
    }
}

struct SizesVisitor;

impl<'de> Visitor<'de> for SizesVisitor {
    type Value = Sizes;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a whole number of bytes, or a list [[bytes, share], …]")
    }

    fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<Sizes, E> {
        Ok(Sizes::One(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Sizes, A::Error> {
        let mut sizes = Vec::new();
        while let Some(Pair(bytes, share)) = list.next_element()? {
            sizes.push((bytes, share));
        }
        Ok(Sizes::Many(sizes))
    }
}

/// `[bytes, share]`, no more and no less.
struct Pair(u64, f64);

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(PairVisitor)
    }
}

struct PairVisitor;

impl<'de> Visitor<'de> for PairVisitor {
    type Value = Pair;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a pair [bytes, share]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Pair, A::Error> {
        match (list.next_element()?, list.next_element()?, list.next_element::<de::IgnoredAny>()?) {
            (Some(bytes), Some(share), None) => Ok(Pair(bytes, share)),
            _ => Err(de::Error::invalid_value(de::Unexpected::Seq, &self)),
        }
    }
}

/// `[workload.fio]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fio {
    /// The job file, relative to the configuration file that names it.
    pub path: Option<String>,
}

/// `[workload.standin]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Standin {
    /// Which: `financial1`, …
    #[schemars(schema_with = "names::standins")]
    pub name: Option<String>,
    /// Or the file of one, as `flashwatt standin fit` writes it, relative to the configuration file that names it.
    pub path: Option<String>,
    /// Share of the size of the trace: of the number of requests and of the space they go to.
    pub scale: Option<f64>,
    /// How many requests, if not `scale` times the published number.
    pub requests: Option<u64>,
    /// Processes that the requests are dealt to, as of a model's open loop; 1 unless given. Requests and times stay as they are.
    pub processes: Option<u32>,
}
