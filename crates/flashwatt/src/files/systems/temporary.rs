use super::{Recipe, Registered};
pub const ENTRY: Registered = Registered { name: "temporary", doc: "t", params: &[], build: Recipe { make: |_, _| Ok(Box::<crate::files::flat::Flat>::default()) } };
