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

#[cfg(test)]
mod tests {
    use super::super::node::{Node, Origin, Value};
    use super::super::*;

    fn load_preset(name: &str, sets: &[String]) -> Config {
        load(&format!("device.preset = {name:?}"), "test.toml", sets).expect("a valid preset")
    }

    /// Dotted keys and values (as TOML) of every scalar.
    fn scalars(node: &Node, path: &str, out: &mut Vec<(String, String)>) {
        let text = match &node.value {
            Value::Table(table) => {
                table.iter().for_each(|(key, node)| scalars(node, &format!("{path}.{key}"), out));
                return;
            }
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Bool(value) => value.to_string(),
            Value::String(value) => format!("{value:?}"),
            Value::Array(_) | Value::Datetime => return,
        };
        out.push((path.trim_start_matches('.').to_string(), text));
    }

    fn scalars_of(text: &str) -> Vec<(String, String)> {
        let mut out = Vec::new();
        scalars(&Node::parse(text, "test", Origin::Preset).expect("TOML"), "", &mut out);
        out
    }

    #[test]
    fn every_preset_loads_and_says_in_one_line_what_it_is() {
        for (name, _) in PRESETS {
            let device = load_preset(name, &[]).device;
            assert_eq!(device.preset.as_deref(), Some(*name));
            assert!(!device.description.is_empty() && !device.description.contains('\n'), "{name}");
        }
        assert!(preset(DEFAULT_PRESET).is_some());
    }

    #[test]
    fn every_number_names_its_source() {
        for (name, text) in PRESETS {
            for line in text.lines().filter(|line| line.contains(" = ") && !line.starts_with(['#', 'd'])) {
                assert!(line.contains(" # "), "{name}: {line}");
            }
        }
    }

    #[test]
    fn overriding_a_key_with_its_own_value_changes_nothing() {
        for (name, text) in PRESETS {
            let whole = load_preset(name, &[]);
            for (key, value) in scalars_of(text) {
                assert_eq!(load_preset(name, &[format!("{key}={value}")]), whole, "{name}: {key}={value}");
            }
        }
    }

    #[test]
    fn overriding_any_one_time_or_current_is_valid_and_changes_something() {
        for (name, text) in PRESETS {
            let whole = load_preset(name, &[]);
            let is_quantity = |key: &str| key.ends_with("_ns") || (key.ends_with("_ma") && !key.ends_with("idle_ma"));
            for (key, _) in scalars_of(text).iter().filter(|(key, _)| is_quantity(key)) {
                assert_ne!(load_preset(name, &[format!("{key}=777")]), whole, "{name}: {key}");
            }
        }
    }

    #[test]
    fn x25m_draws_the_published_staircase() {
        let config = load_preset("x25m", &[]);
        let energy = &config.energy;
        let dies = config.device.channels * config.device.ways;
        let base = energy.controller.active_ua + energy.dram.part.active_ua + dies * energy.nand.idle_ua;
        let step = energy.nand.program_ua - energy.nand.idle_ua;
        assert_eq!((base, step, base + dies * step), (190_000, 17_000, 530_000));
        assert_eq!((energy.mode, energy.nand.transfer_ua), (EnergyMode::Terminal(5000), None));
        assert_eq!(energy.host_interface.active_ua, 0);
    }

    #[test]
    fn energysim_has_the_published_energies_and_over_provisioning() {
        let config = load_preset("energysim", &[]);
        let (nand, timing) = (&config.energy.nand, &config.device.timing);
        // µA × mV × ns = 10^-18 J
        let uj = |ua: u32, ns: u64| f64::from(ua) * f64::from(nand.millivolts) * ns as f64 * 1e-12;
        let energies = [
            uj(nand.read_ua, timing.read_ns),
            uj(nand.program_ua, timing.program_ns),
            uj(nand.erase_ua, timing.erase_ns),
        ];
        for (energy, published) in energies.iter().zip([3.3, 59.4, 132.0]) {
            assert!((energy - published).abs() < 1e-9, "{energy} µJ");
        }
        let device = &config.device;
        let blocks = u64::from(device.channels * device.ways * device.planes * device.blocks_per_plane);
        assert_eq!(blocks * u64::from(device.pages_per_block * device.page_bytes), 8 << 30);
        assert!((device.spare_fraction - 0.1).abs() < 1e-6);
    }
}
