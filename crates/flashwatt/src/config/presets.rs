//! The presets: drives as data, one TOML file each, every number with its source beside it.

/// Name and text of every preset. The `device.description` of each says in one line what it is.
pub const PRESETS: &[(&str, &str)] = &[
    ("x25m", include_str!("../../../../presets/x25m.toml")),
    ("energysim", include_str!("../../../../presets/energysim.toml")),
    ("limit", include_str!("../../../../presets/limit.toml")),
];

/// What a configuration is laid over that names no preset.
pub const DEFAULT_PRESET: &str = "x25m";

/// The text of a preset.
pub fn preset(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
