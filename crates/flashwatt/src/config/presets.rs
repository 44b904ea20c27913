//! The presets: drives as data, one TOML file each, every number with its source beside it.

use flashwatt_base::settings::{KeySource, Node};

/// Name and text of every preset. The `device.description` of each describes the drive in one line.
pub const PRESETS: &[(&str, &str)] = &[
    ("x25m", include_str!("../../presets/x25m.toml")),
    ("x25m-calibrated", include_str!("../../presets/x25m-calibrated.toml")),
    ("energysim", include_str!("../../presets/energysim.toml")),
    ("park-1g", include_str!("../../presets/park-1g.toml")),
    ("rftl-4g", include_str!("../../presets/rftl-4g.toml")),
    ("pardispatcher-60g", include_str!("../../presets/pardispatcher-60g.toml")),
    ("old-slc", include_str!("../../presets/old-slc.toml")),
    ("slc-4way", include_str!("../../presets/slc-4way.toml")),
    ("mlc-4way", include_str!("../../presets/mlc-4way.toml")),
    ("tgn", include_str!("../../presets/tgn.toml")),
    ("tlc-nvme-1t", include_str!("../../presets/tlc-nvme-1t.toml")),
    ("tlc-client-1t", include_str!("../../presets/tlc-client-1t.toml")),
    ("tlc-dc-2t", include_str!("../../presets/tlc-dc-2t.toml")),
    ("tlc-96l-1t", include_str!("../../presets/tlc-96l-1t.toml")),
    ("tlc-hmb-1t", include_str!("../../presets/tlc-hmb-1t.toml")),
    ("qlc-client-2t", include_str!("../../presets/qlc-client-2t.toml")),
    ("limit", include_str!("../../presets/limit.toml")),
    ("laptop-7200", include_str!("../../presets/laptop-7200.toml")),
    ("raptor-x", include_str!("../../presets/raptor-x.toml")),
    ("caviar-80g", include_str!("../../presets/caviar-80g.toml")),
];

/// What a configuration is laid over that names no preset.
pub const DEFAULT_PRESET: &str = "x25m";

/// The text of a preset.
pub fn preset(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The presets of hard disks.
pub(super) fn disks() -> Vec<&'static str> {
    let is_disk =
        |text: &str| Node::parse(text, "preset", KeySource::Preset).is_ok_and(|node| node.get("hdd").is_some());
    PRESETS.iter().filter(|(_, text)| is_disk(text)).map(|(name, _)| *name).collect()
}

/// Each preset and the line that it says about its drive.
pub(crate) fn described() -> impl Iterator<Item = (&'static str, String)> {
    PRESETS.iter().map(|(name, _)| (*name, description(name)))
}

fn description(preset: &str) -> String {
    let text = format!("device.preset = {preset:?}");
    super::load(&text, preset, &[]).map_or_else(|error| error.to_string(), |config| config.drive.description())
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use flashwatt_base::settings::{KeySource, Node, Value};

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
        scalars(&Node::parse(text, "test", KeySource::Preset).expect("TOML"), "", &mut out);
        out
    }

    #[test]
    fn every_preset_loads_and_says_in_one_line_what_it_is() {
        for (name, _) in PRESETS {
            let drive = load_preset(name, &[]).drive;
            let preset = match &drive {
                Drive::Hdd(tables) => &tables.device.preset,
                drive => &drive.ssd().expect("an SSD").device.preset,
            };
            assert_eq!(preset.as_deref(), Some(*name));
            assert!(!drive.description().is_empty() && !drive.description().contains('\n'), "{name}");
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
            // What a preset says of collection is for other layers, if its own only merges: a user's key is refused there.
            let is_idle =
                |key: &str| key.starts_with("gc.") && whole.drive.ssd().is_some_and(|ssd| !ssd.ftl.collects());
            for (key, value) in scalars_of(text).into_iter().filter(|(key, _)| !is_idle(key)) {
                assert_eq!(load_preset(name, &[format!("{key}={value}")]), whole, "{name}: {key}={value}");
            }
        }
    }

    #[test]
    fn overriding_any_one_time_or_current_is_valid_and_changes_something() {
        for (name, text) in PRESETS {
            let whole = load_preset(name, &[]);
            // The times of a disk's arm depend on each other; drives whose blocks span planes refuse a switch between channels.
            let has_rows = text.contains("plane_blocks = true");
            let is_quantity = |key: &str| {
                (key.ends_with("_ns") && !key.starts_with("hdd.seek") && !(has_rows && key.ends_with("switch_ns")))
                    || (key.ends_with("_ma") && !key.ends_with("idle_ma"))
            };
            for (key, _) in scalars_of(text).iter().filter(|(key, _)| is_quantity(key)) {
                assert_ne!(
                    load_preset(name, &[format!("{key}={}", if key.contains("_upper_") { 7_777_777 } else { 777 })]),
                    whole,
                    "{name}: {key}"
                );
            }
        }
    }

    #[test]
    fn x25m_draws_the_published_staircase() {
        let config = load_preset("x25m", &[]);
        let energy = &config.ssd().energy;
        let dies = config.ssd().device.channels * config.ssd().device.ways;
        let base = energy.controller.active_ua + energy.dram.part.active_ua + dies * energy.nand.idle_ua;
        let step = energy.nand.program_ua - energy.nand.idle_ua;
        assert_eq!((base, step, base + dies * step), (190_000, 17_000, 530_000));
        assert_eq!((energy.mode, energy.nand.transfer_ua), (EnergyMode::Terminal(5000), None));
        assert_eq!(energy.host_interface.active_ua, 0);
    }

    /// One write of each length that EnergySim's Table IV lists, into an empty drive: its energy in mJ.
    fn write_mj(preset: &str, kib: u32) -> f64 {
        let sets = [
            "workload.uniform.requests=1".to_string(),
            format!("workload.uniform.request_bytes={}", kib * 1024),
            "workload.uniform.sequential=true".into(),
            "run.precondition=empty".into(),
        ];
        let report = crate::run(&load_preset(preset, &sets), &crate::RunOptions::default(), &mut |_| true);
        report.expect("a run").ssd().energy_j.total * 1e3
    }

    #[test]
    fn x25m_calibrated_has_the_published_currents_and_energies() {
        let config = load_preset("x25m-calibrated", &[]);
        let energy = &config.ssd().energy;
        let idle_dies = config.ssd().device.channels * config.ssd().device.ways * energy.nand.idle_ua;
        let base = energy.controller.active_ua + energy.dram.part.active_ua + idle_dies;
        assert_eq!((base, energy.nand.program_ua - energy.nand.idle_ua), (180_000, 17_000));
        for (kib, published, here) in
            [(4, 1.2, 1.21), (40, 2.4, 2.40), (80, 3.7, 3.72), (120, 6.7, 6.56), (160, 8.2, 8.35)]
        {
            let mj = write_mj("x25m-calibrated", kib);
            assert!((mj / published - 1.0).abs() < 0.0215, "{kib} KB: {mj} mJ, published {published}");
            assert!((mj - here).abs() < 0.005, "{kib} KB: {mj} mJ, where the preset says {here}");
        }
    }

    #[test]
    fn park_1g_prices_operations_as_published() {
        let config = load_preset("park-1g", &[]);
        let (nand, timing) = (&config.ssd().energy.nand, &config.ssd().device.timing);
        let uj = |ua: u32, ns: u64| f64::from(ua) * f64::from(nand.millivolts) * ns as f64 * 1e-12;
        assert!((uj(nand.read_ua, timing.read_ns) - 4.72).abs() < 1e-12);
        assert!((uj(nand.program_ua, timing.program_ns) - 38.04).abs() < 1e-12);
        assert!((uj(nand.erase_ua, timing.erase_ns) / 527.68 - 1.0).abs() < 1e-6);
        assert_eq!((nand.idle_ua, nand.transfer_ua), (0, Some(0)), "nothing else draws anything");
        assert_eq!(timing.read_ns + timing.page_transfer_ns, 130_900);
        assert_eq!(timing.program_ns + timing.page_transfer_ns, 405_900);
        assert_eq!(config.logical_bytes(), 1 << 30);
    }

    #[test]
    fn drives_of_park_2011_idle_at_the_published_power() {
        for (name, idle_mw) in [("old-slc", 1075), ("slc-4way", 937), ("mlc-4way", 519), ("tgn", 210)] {
            let config = load_preset(name, &[]);
            let energy = &config.ssd().energy;
            let dies = config.ssd().device.channels * config.ssd().device.ways;
            let idle_ua = energy.controller.idle_ua + energy.dram.part.idle_ua + dies * energy.nand.idle_ua;
            assert_eq!((energy.mode, idle_ua * 5), (EnergyMode::Terminal(5000), idle_mw * 1000), "{name}");
        }
    }

    #[test]
    fn drives_have_the_sizes_that_their_papers_give() {
        let device = |name: &str| load_preset(name, &[]).ssd().device.clone();
        let raw_bytes = |device: &DeviceTable| {
            let blocks = device.channels * device.ways * device.planes * device.blocks_per_plane;
            u64::from(blocks) * u64::from(device.pages_per_block) * u64::from(device.page_bytes)
        };
        let rftl = device("rftl-4g");
        assert_eq!((raw_bytes(&rftl), (rftl.spare_fraction * 1e4).round()), (4 << 30, 3000.0));
        let pardispatcher = device("pardispatcher-60g");
        assert_eq!(pardispatcher.logical_bytes.div_ceil(4 << 30), 15, "subregions");
        assert!((pardispatcher.op_ratio - 0.03).abs() < 1e-4);
        for (name, dies_of_512_gbit) in [
            ("tlc-nvme-1t", 16),
            ("tlc-client-1t", 16),
            ("tlc-96l-1t", 16),
            ("tlc-hmb-1t", 16),
            ("tlc-dc-2t", 32),
            ("qlc-client-2t", 32),
        ] {
            let found = raw_bytes(&device(name)) as f64 / f64::from(dies_of_512_gbit);
            assert!((found / (1_u64 << 36) as f64 - 1.0).abs() < 1e-3, "{name}: {found} bytes a die");
        }
    }

    #[test]
    fn flash_is_programmed_in_the_order_that_its_paper_needs() {
        let any = ["x25m", "x25m-calibrated", "energysim", "park-1g", "pardispatcher-60g"];
        for (name, _) in PRESETS.iter().filter(|(name, _)| load_preset(name, &[]).drive.ssd().is_some()) {
            let order = if any.contains(name) { ProgramOrder::Any } else { ProgramOrder::Ascending };
            assert_eq!(load_preset(name, &[]).ssd().device.nand.program_order, order, "{name}");
        }
    }

    #[test]
    fn energysim_has_the_published_energies_and_over_provisioning() {
        let config = load_preset("energysim", &[]);
        let (nand, timing) = (&config.ssd().energy.nand, &config.ssd().device.timing);
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
        let device = &config.ssd().device.clone();
        let blocks = u64::from(device.channels * device.ways * device.planes * device.blocks_per_plane);
        assert_eq!(blocks * u64::from(device.pages_per_block * device.page_bytes), 8 << 30);
        assert!((device.spare_fraction - 0.1).abs() < 1e-6);
    }
}
