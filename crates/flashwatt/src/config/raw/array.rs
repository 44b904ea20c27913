//! `[array]`: several drives behind one connector.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use crate::config::schema::names;
use flashwatt_devices::raid::settings::Level;

/// `[array]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Array {
    /// How data is laid out: `raid0` (stripes), `raid1` (mirrors), `raid5` (stripes with parity that goes round the members, as
    /// Linux's md driver lays them out) or `raid10` (stripes over pairs of mirrors).
    pub level: Option<Level>,
    /// How many drives as the configuration describes (`4`), or the preset of each (`["x25m", "x25m", "limit"]`). All other keys
    /// about drives hold for each of them.
    pub members: Option<Members>,
    /// Bytes of a chunk: what lies together on one member. Mirrors are rebuilt in chunks.
    pub chunk_bytes: Option<u64>,
    /// The number of a member that has failed before the run, from 0.
    pub failed_member: Option<u32>,
    /// The preset of a spare drive that takes the place of the failed member from the start of the run on.
    #[schemars(schema_with = "names::presets")]
    pub spare: Option<String>,
    /// The rate in 10^6 bytes/s at which the spare is written at most.
    pub rebuild_mb_s: Option<f64>,
    /// Chunks that are rebuilt at the same time.
    pub rebuild_depth: Option<u32>,
    /// Whether the drain after the workload goes on until everything is rebuilt.
    pub finish_rebuild: Option<bool>,
}

/// The members of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Members {
    /// As many as this, all as the configuration describes.
    Count(u32),
    /// One of each of these presets.
    Presets(Vec<String>),
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As a `u32`, so that `4.0` stands for a whole number; a list comes through all the same.
        deserializer.deserialize_u32(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a whole number of drives, or a list of presets")
    }

    fn visit_u64<E: de::Error>(self, count: u64) -> Result<Members, E> {
        u32::try_from(count).map(Members::Count).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(count), &self))
    }

    fn visit_u32<E: de::Error>(self, count: u32) -> Result<Members, E> {
        Ok(Members::Count(count))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Members, A::Error> {
        let mut presets = Vec::new();
        while let Some(name) = list.next_element()? {
            presets.push(name);
        }
        Ok(Members::Presets(presets))
    }
}

impl JsonSchema for Members {
    fn schema_name() -> Cow<'static, str> {
        "Members".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let preset = names::presets(generator);
        json_schema!({ "anyOf": [{ "type": "integer" }, { "type": "array", "items": preset }] })
    }
}
