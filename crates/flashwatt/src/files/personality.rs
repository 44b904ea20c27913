use crate::registry::Entry;
pub type Personality = Entry<&'static str>;
pub const REGISTRY: &[Personality] = &[Entry { name: "varmail", doc: "d", params: &[], build: "" }];
