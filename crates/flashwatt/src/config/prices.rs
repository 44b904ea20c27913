//! A price table by itself: repricing lays it over the table of a run.

use serde::Deserialize;

use super::layers::lay;
use super::parse::{layer, refused};
use super::raw::{self, Raw};
use super::resolve::{check_extra, energy, host_memory_price};
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_base::settings::{Checker, KeySource, Node, Value, join};
use flashwatt_ssd::energy::settings::{Energy, EnergyMode, NandEnergy, Part};
use flashwatt_ssd::nand::settings::Timing;

/// The name of the run's own table in messages.
const OWN: &str = "the report's own prices";

/// What took part in a run, or has a price in its own table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Has {
    /// Further planes.
    pub planes: bool,
    /// Programs in single-level mode.
    pub slc: bool,
    /// The host's memory.
    pub host_memory: bool,
}

/// Lays the `[energy]` tables of a TOML text over the table of a run.
///
/// # Errors
/// As [`super::load`]; and for every key that affected the run itself and not only its price.
pub(crate) fn prices(
    own: &Energy,
    timing: &Timing,
    page_bytes: u32,
    text: &str,
    file_name: &str,
    has: Has,
) -> Result<Energy, Error> {
    let mut faults = Vec::new();
    let given = layer(Node::parse(text, file_name, KeySource::File), KeySource::File, &mut faults);
    other_keys(&given, "", &mut faults);
    if faults.is_empty() && given.table("energy").is_none_or(|table| table.is_empty()) {
        let place = Place { file: Some(file_name.to_string()), ..Place::default() };
        let fault = Fault::at(place, "no currents or voltages").found("no key under [energy]");
        faults.push(fault.expected("some, as in a configuration"));
    }
    let mut tree =
        layer(Node::parse(&as_toml(own, timing, page_bytes), OWN, KeySource::Preset), KeySource::Preset, &mut faults);
    lay(&mut tree, given);
    let priced = Raw::deserialize(&tree).map(|raw| {
        let checker = &mut Checker::new(&tree, file_name, &mut faults);
        let priced = energy(checker, &raw.energy, &raw::HostLink::default(), timing, page_bytes);
        check_extra(checker, &raw.energy.nand, has.planes, has.slc);
        let host_memory_pj_per_bit = host_memory_price(checker, priced.host_memory_pj_per_bit, has.host_memory);
        let priced = Energy { host_memory_pj_per_bit, ..priced };
        fixed_by_the_run(checker, own, &priced);
        priced
    });
    match priced {
        Ok(priced) if faults.is_empty() => Ok(priced),
        Ok(_) => Err(refused(faults)),
        Err(error) => {
            faults.push(error.into_parts().0);
            Err(refused(faults))
        }
    }
}

/// Everything but `[energy]` is a fault.
fn other_keys(node: &Node, path: &str, faults: &mut Vec<Fault>) {
    match &node.value {
        Value::Table(table) => {
            let others = table.iter().filter(|(key, _)| !(path.is_empty() && *key == "energy"));
            others.for_each(|(key, node)| other_keys(node, &join(path, key), faults));
        }
        _ => faults.push(not_a_price(Fault::at(node.place.clone(), "")).expected("keys under [energy]")),
    }
}

fn not_a_price(fault: Fault) -> Fault {
    let help = "it decides what happens, not what that costs in energy: run the configuration again with it";
    Fault { what: "fixed by the run".into(), ..fault }.help(help)
}

/// Rules and times that the ledger was kept by cannot be changed afterwards.
fn fixed_by_the_run(c: &mut Checker, own: &Energy, priced: &Energy) {
    let rule = |energy: &Energy| word(&energy.dram_rule);
    let map_access = |energy: &Energy| format!("{} ns", energy.dram.map_access_ns);
    let page_data = |energy: &Energy| format!("{} ns a page", energy.dram.page_data_ns);
    let link = |energy: &Energy| format!("{:?}", energy.host_interface.bandwidth_mb_s);
    let data = |energy: &Energy| word(&energy.host_interface.charged_data);
    let mut fixed = |key: &str, of: &dyn Fn(&Energy) -> String| {
        if of(own) != of(priced) {
            let fault = not_a_price(c.fault(key, "")).found(of(priced)).expected(format!("{}, as in the run", of(own)));
            c.push(fault);
        }
    };
    fixed("energy.dram_rule", &rule);
    fixed("energy.dram.map_access_ns", &map_access);
    fixed("energy.dram.data_mb_s", &page_data);
    fixed("energy.host_interface.bandwidth_mb_s", &link);
    fixed("energy.host_interface.charged_data", &data);
}

/// A resolved table as a user would write it; resolving that gives the same table to the last digit.
fn as_toml(energy: &Energy, timing: &Timing, page_bytes: u32) -> String {
    let Energy { mode, idle_accounting, dram_rule, controller, dram, nand, host_interface, host_memory_pj_per_bit } =
        energy;
    let mode = match *mode {
        EnergyMode::Component => "mode = \"component\"".to_string(),
        EnergyMode::Terminal(millivolts) => format!("mode = \"terminal\"\nterminal_v = {:?}", milli(millivolts)),
    };
    let transfer = nand.transfer_ua.map_or("\"operation\"".to_string(), |ua| format!("{:?}", milli(ua)));
    let transfer_ns = nand.transfer.map_or(String::new(), |transfer| {
        format!("transfer_ns = {}\n", transfer.charged_ns.saturating_sub(timing.command_ns))
    });
    let data_mb_s = match dram.page_data_ns {
        0 => 0.0,
        ns => f64::from(page_bytes) * 1000.0 / ns as f64,
    };
    let host_memory =
        host_memory_pj_per_bit.map_or(String::new(), |pj| format!("[energy.host_memory]\npj_per_bit = {pj:?}\n"));
    format!(
        "[energy]\n{mode}\nidle_accounting = {}\ndram_rule = {}\n\
         [energy.controller]\n{}\
         [energy.dram]\n{}map_access_ns = {}\ndata_mb_s = {data_mb_s:?}\n\
         [energy.nand]\nread_ma = {:?}\nprogram_ma = {:?}\nerase_ma = {:?}\ntransfer_ma = {transfer}\n\
         {transfer_ns}{}idle_ma = {:?}\nvolts = {:?}\n\
         [energy.host_interface]\nactive_ma = {:?}\nvolts = {:?}\nbandwidth_mb_s = {:?}\ncharged_data = {}\n{host_memory}",
        word(idle_accounting),
        word(dram_rule),
        part_as_toml(controller),
        part_as_toml(&dram.part),
        dram.map_access_ns,
        milli(nand.read_ua),
        milli(nand.program_ua),
        milli(nand.erase_ua),
        extra_as_toml(nand),
        milli(nand.idle_ua),
        milli(nand.millivolts),
        milli(host_interface.active_ua),
        milli(host_interface.millivolts),
        host_interface.bandwidth_mb_s,
        word(&host_interface.charged_data),
    )
}

/// The currents of planes and of the single-level mode, as far as they are given.
fn extra_as_toml(nand: &NandEnergy) -> String {
    let given = |ua: u32| (ua > 0).then_some(ua);
    let keys = [
        ("slc_program_ma", nand.slc_program_ua),
        ("extra_plane_read_ma", given(nand.extra_plane_read_ua)),
        ("extra_plane_program_ma", given(nand.extra_plane_program_ua)),
        ("extra_plane_erase_ma", given(nand.extra_plane_erase_ua)),
        ("slc_extra_plane_program_ma", nand.slc_extra_plane_program_ua),
    ];
    keys.iter().filter_map(|(key, ua)| ua.map(|ua| format!("{key} = {:?}\n", milli(ua)))).collect()
}

fn part_as_toml(part: &Part) -> String {
    let Part { active_ua, idle_ua, millivolts } = *part;
    format!("active_ma = {:?}\nidle_ma = {:?}\nvolts = {:?}\n", milli(active_ua), milli(idle_ua), milli(millivolts))
}

fn milli(thousandths: u32) -> f64 {
    f64::from(thousandths) / 1000.0
}

/// A name of the configuration, in quotes.
fn word(name: &impl serde::Serialize) -> String {
    serde_json::to_string(name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{PRESETS, load};

    const ALL: Has = Has { planes: true, slc: true, host_memory: true };

    #[test]
    fn a_table_survives_being_written_and_read() {
        let odd = "energy.nand.transfer_ma=7.123";
        let charged = "energy.nand.transfer_ns=81234";
        let ways = ["energy.mode=component", "energy.mode=terminal", "energy.idle_accounting=busy_only", odd, charged];
        for (name, text) in PRESETS {
            if text.contains("[hdd.") {
                continue;
            }
            for way in ways {
                let sets =
                    [format!("device.preset={name}"), way.to_string(), "energy.dram.data_mb_s=777.7".to_string()];
                let config = load("", "test", &sets).expect("a valid configuration");
                let device = &config.ssd().device;
                let text = as_toml(&config.ssd().energy, &device.timing, device.page_bytes);
                let own = &config.ssd().energy;
                let read = prices(own, &device.timing, device.page_bytes, &text, "test.toml", ALL);
                let read = read.expect("valid prices");
                assert_eq!(read, config.ssd().energy, "{name} {way}\n{text}");
            }
        }
    }

    /// The table of the preset `limit` with these keys of flash over it; 20 mA of a program, 3 mA of an idle die.
    fn limit_with(keys: &str, has: Has) -> Result<Energy, String> {
        let config = load("", "test", &["device.preset=limit".to_string()]).expect("a valid configuration");
        let (own, device) = (&config.ssd().energy, &config.ssd().device);
        let text = format!("[energy.nand]\nread_ma = 15\nprogram_ma = 20\nidle_ma = 3\n{keys}");
        let of = |own: &Energy, text: &str| prices(own, &device.timing, device.page_bytes, text, "test.toml", has);
        let read = of(own, &text).map_err(|error| error.to_string())?;
        let again = of(&read, &as_toml(&read, &device.timing, device.page_bytes));
        assert_eq!(again.as_ref().ok(), Some(&read), "{again:?}");
        Ok(read)
    }

    /// Planes and the single-level mode have prices of their own, or those of what they resemble. Such a one is left out of a report.
    #[test]
    fn planes_and_the_single_level_mode_have_prices() {
        let nand = |keys: &str| limit_with(keys, ALL).expect("valid prices").nand;
        let plain = nand("");
        assert_eq!(
            (plain.slc_program_ua, plain.extra_plane_read_ua, plain.slc_extra_plane_program_ua),
            (None, 0, None)
        );
        for neutral in ["slc_program_ma = 20", "extra_plane_erase_ma = 0", "slc_extra_plane_program_ma = 0.0"] {
            assert_eq!(nand(neutral), plain, "{neutral}");
        }
        let json = serde_json::to_string(&plain).expect("numbers");
        assert!(!json.contains("slc") && !json.contains("extra"), "{json}");
        let own = "slc_program_ma = 12.5\nextra_plane_read_ma = 1\nextra_plane_program_ma = 2\nextra_plane_erase_ma = 3\n\
                   slc_extra_plane_program_ma = 0\n";
        let own = nand(own);
        assert_eq!((own.slc_program_ua, own.slc_extra_plane_program_ua), (Some(12_500), Some(0)));
        let planes = [own.extra_plane_read_ua, own.extra_plane_program_ua, own.extra_plane_erase_ua];
        assert_eq!(planes, [1_000, 2_000, 3_000]);
        assert_eq!(nand("extra_plane_program_ma = 2\nslc_extra_plane_program_ma = 2").slc_extra_plane_program_ua, None);
    }

    #[test]
    fn prices_without_an_effect_are_refused_by_name() {
        let refused = |keys: &str, has: Has| limit_with(keys, has).expect_err(keys);
        for key in ["slc_program_ma", "slc_extra_plane_program_ma"] {
            let message = refused(&format!("{key} = 4"), Has { slc: false, ..ALL });
            assert!(
                message.contains(&format!("energy.nand.{key}")) && message.contains("single-level mode"),
                "{message}"
            );
        }
        let of_planes =
            ["extra_plane_read_ma", "extra_plane_program_ma", "extra_plane_erase_ma", "slc_extra_plane_program_ma"];
        for key in of_planes {
            let message = refused(&format!("{key} = 4"), Has { planes: false, ..ALL });
            assert!(
                message.contains(&format!("energy.nand.{key}")) && message.contains("planes of a die"),
                "{message}"
            );
        }
        let message = refused("slc_program_ma = 2.5", ALL);
        assert!(
            message.contains("less than the idle current") && message.contains("slc_program_ma ≥ idle_ma"),
            "{message}"
        );
        let message = refused("extra_plane_read_ma = -1", ALL);
        assert!(message.contains("extra_plane_read_ma") && message.contains("out of range"), "{message}");
        let of_host = "[energy.host_memory]\npj_per_bit = 22.5\n";
        let message = refused(of_host, Has { host_memory: false, ..ALL });
        assert!(
            message.contains("energy.host_memory.pj_per_bit") && message.contains("device.host_memory"),
            "{message}"
        );
        assert_eq!(limit_with(of_host, ALL).expect("a price").host_memory_pj_per_bit, Some(22.5));
    }
}
