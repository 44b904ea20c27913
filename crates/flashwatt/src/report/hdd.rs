//! The sections of a disk.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::config::Config;
use crate::report::{DeviceReport, LatencyHistogram, Sections};
use flashwatt_core::energy::parts::ComponentEnergies;
use flashwatt_core::kernel::Outcome;
use flashwatt_devices::hdd::{Hdd, HddCounts, HddFigures, STATES, ZoneBytes};

/// The sections of a disk.
#[derive(Clone, Debug)]
pub struct HddReport {
    /// Energy in J by part and supply.
    pub energy_j: ComponentEnergies,
    /// What the disk did.
    pub hdd: HddSection,
}

/// What a disk did.
#[derive(Clone, Debug, Serialize)]
pub struct HddSection {
    /// Seconds of each part in each of its states. Transfers that overlap count one by one.
    pub state_s: StateTimes,
    /// Energy in J from each supply.
    pub energy_by_supply_j: SupplyEnergies,
    /// Counts.
    #[serde(flatten)]
    pub counts: HddCounts,
    /// Mean distance of a seek in cylinders; none without one.
    pub seek_cylinders_mean: Option<f64>,
    /// Mean time of a seek in ns, that of settling included; none without one.
    pub seek_ns_mean: Option<f64>,
    /// Each zone, from the outermost one on.
    pub zones: Vec<ZoneReport>,
}

/// Seconds by state. Serialized as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct StateTimes(pub Vec<(&'static str, f64)>);

impl Serialize for StateTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, seconds)| map.serialize_entry(name, seconds))?;
        map.end()
    }
}

/// Energy in J from each supply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct SupplyEnergies {
    pub v5: f64,
    pub v12: f64,
}

/// A zone, and the bytes that passed its heads.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ZoneReport {
    /// Its cylinders.
    pub cylinders: u32,
    /// Its sectors per track.
    pub sectors_per_track: u32,
    /// The bytes.
    #[serde(flatten)]
    pub bytes: ZoneBytes,
}

/// The report of a disk.
pub(crate) fn report(hdd: &Hdd, config: &Config, outcome: &Outcome<HddFigures>) -> DeviceReport {
    let (counted, _) = outcome.counted(config.run.count_drain);
    let figures = &counted.figures;
    let energy_j = hdd.accounts().energies(&figures.times);
    let section = section(hdd, figures, &energy_j);
    let trims = figures.counts.trims;
    let warning = format!("trims: {trims} had no effect: a disk has no use for them");
    DeviceReport {
        supply_mv: hdd.parts().supply_mv(),
        not_steady: Vec::new(),
        warnings: if trims > 0 { vec![warning] } else { Vec::new() },
        sections: Sections::Hdd(Box::new(HddReport { energy_j, hdd: section })),
        host: None,
        latency_histogram: LatencyHistogram::default(),
    }
}

fn section(hdd: &Hdd, figures: &HddFigures, energy_j: &ComponentEnergies) -> HddSection {
    let counts = figures.counts.clone();
    let mean = |sum: u64| (counts.seeks > 0).then(|| sum as f64 / counts.seeks as f64);
    let zone = |(zone, bytes): (&flashwatt_devices::hdd::settings::Zone, &ZoneBytes)| ZoneReport {
        cylinders: zone.cylinders,
        sectors_per_track: zone.sectors_per_track,
        bytes: *bytes,
    };
    HddSection {
        state_s: StateTimes(STATES.iter().map(|&(name, id)| (name, figures.times.ns(id) as f64 * 1e-9)).collect()),
        energy_by_supply_j: SupplyEnergies { v5: energy_j.ending_in("_5v"), v12: energy_j.ending_in("_12v") },
        seek_cylinders_mean: mean(counts.seek_cylinders),
        seek_ns_mean: mean(counts.seek_ns),
        zones: hdd.settings().zones.iter().zip(&figures.zones).map(zone).collect(),
        counts,
    }
}
