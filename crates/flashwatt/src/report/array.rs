//! An array's part of the report: its own counts, and each member with the sections of its kind.

use serde::Serialize;

use super::array_lifetime::ArrayLifetime;
use super::lifetime::Lifetime;
use super::{DeviceReport, Reported, Sections};
use crate::config::{Array, Config};
use flashwatt_base::stats::Latency;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Figures, Window};
use flashwatt_core::energy::parts::ComponentEnergies;
use flashwatt_core::kernel::Outcome;
use flashwatt_devices::raid::Raid;
use flashwatt_devices::raid::figures::{MemberFigures, RaidCounts, RaidFigures};
use flashwatt_devices::raid::settings::{Level, MEMBERS_MAX};

/// The names of members as components of an array's energy.
pub(crate) const MEMBERS: [&str; MEMBERS_MAX] = [
    "member_0",
    "member_1",
    "member_2",
    "member_3",
    "member_4",
    "member_5",
    "member_6",
    "member_7",
    "member_8",
    "member_9",
    "member_10",
    "member_11",
    "member_12",
    "member_13",
    "member_14",
    "member_15",
    "member_16",
    "member_17",
    "member_18",
    "member_19",
    "member_20",
    "member_21",
    "member_22",
    "member_23",
    "member_24",
    "member_25",
    "member_26",
    "member_27",
    "member_28",
    "member_29",
    "member_30",
    "member_31",
];

/// An array's part of a report.
#[derive(Clone, Debug)]
pub struct ArrayReport {
    /// The array itself.
    pub array: ArraySection,
    /// Energy in J, by member.
    pub energy_j: ComponentEnergies,
    /// Its members in order; none for one that has failed and has no spare.
    pub members: Vec<Option<MemberReport>>,
}

/// Counts of an array.
#[derive(Clone, Debug, Serialize)]
pub struct ArraySection {
    /// How data is laid out.
    pub level: Level,
    /// Number of members, with that which has failed.
    pub members: u32,
    /// Bytes of a chunk.
    pub chunk_bytes: u64,
    /// Bytes that the host sees.
    pub logical_bytes: u64,
    /// Reads given to members: for the host, to compute parity, and for a rebuild.
    pub member_reads: u64,
    /// Writes given to members: of data, copies and parity, and those of a rebuild.
    pub member_writes: u64,
    /// Rows written after something in them was read, to compute parity.
    pub rows_read_first: u64,
    /// Rows written without a read.
    pub rows_written_whole: u64,
    /// Parts of chunks of the failed member that were computed from the others.
    pub reconstructed: u64,
    /// Times that work on a row had to wait for other work on it.
    pub row_waits: u64,
    /// The rebuild; none without a spare.
    pub rebuild: Option<RebuildReport>,
    /// How long the array lasts; none if a member is no SSD.
    pub lifetime: Option<ArrayLifetime>,
}

/// The rebuild onto a spare.
#[derive(Clone, Debug, Serialize)]
pub struct RebuildReport {
    /// The member that had failed.
    pub member: u32,
    /// Bytes written to the spare in the window of the figures.
    pub rebuilt_bytes: u64,
    /// Share of the member that the spare holds at the end of the run.
    pub rebuilt_fraction: f64,
    /// Simulated seconds from the start of the run to the end of the rebuild; none if it did not end.
    pub ended_s: Option<f64>,
}

/// A member of an array.
#[derive(Clone, Debug, Serialize)]
pub struct MemberReport {
    /// Its name as a component: `member_0` …
    pub name: &'static str,
    /// The line that its preset says about it.
    pub description: String,
    /// Latencies in ns of the requests that the array gave it: from the array's order to the end.
    pub latency_ns: MemberLatency,
    /// Mean power in W.
    pub mean_w: f64,
    /// The sections of its kind.
    #[serde(flatten)]
    pub sections: Sections,
}

/// Latencies in ns of a member's reads and writes.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct MemberLatency {
    pub read: Latency,
    pub write: Latency,
}

/// The array that a configuration describes.
pub(crate) fn array_of(config: &Config) -> &Array {
    config.drive.array().expect("the caller knows that the drive is an array")
}

/// The members that stand in the array: number, drive, configuration of that drive alone.
pub(crate) fn members<'a, D: Reported>(
    raid: &'a Raid<D>,
    config: &'a Config,
) -> impl Iterator<Item = (usize, &'a D, Config)> {
    let places = raid.devices().zip(array_of(config).places()).enumerate();
    places.filter_map(|(place, (device, drive))| Some((place, device?, config.of_drive(drive?))))
}

/// The report of an array.
pub(crate) fn report<D: Reported>(
    raid: &Raid<D>,
    config: &Config,
    outcome: &Outcome<RaidFigures<D::Figures>>,
) -> DeviceReport {
    let (counted, _) = outcome.counted(config.run.count_drain);
    let array = array_of(config);
    let mut reports = vec![None; array.drives.len()];
    let (mut energies, mut warnings, mut not_steady, mut supply_mv) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (place, device, config) in members(raid, config) {
        let of_member = of_member(outcome, place);
        let Some(figures) = counted.figures.members.get(place).and_then(Option::as_ref) else { continue };
        let report = device.report(&config, &of_member);
        let joules = device.energy_j(&config, &figures.window.figures);
        energies.push((MEMBERS[place], joules));
        supply_mv = supply_mv.max(report.supply_mv);
        warnings.extend(report.warnings.iter().map(|warning| format!("{}: {warning}", MEMBERS[place])));
        not_steady.extend(report.not_steady.into_iter().filter_map(|doubt| doubt.of_member(MEMBERS[place])));
        reports[place] = Some(member(place, &config, figures, joules, report.sections));
    }
    let energy_j = ComponentEnergies { total: energies.iter().map(|(_, joules)| joules).sum(), components: energies };
    let mut section = section(raid, array, &counted.figures.counts);
    section.lifetime = lifetime(section.level, &reports);
    DeviceReport {
        supply_mv,
        warnings,
        not_steady,
        sections: Sections::Array(Box::new(ArrayReport { array: section, energy_j, members: reports })),
        host: None,
        latency_histogram: super::LatencyHistogram::default(),
    }
}

/// How long an array lasts, if all its members are SSDs.
fn lifetime(level: Level, members: &[Option<MemberReport>]) -> Option<ArrayLifetime> {
    let of_member = |member: &MemberReport| match &member.sections {
        Sections::Ssd(ssd) => Some(ssd.lifetime.clone()),
        _ => None,
    };
    let lifetimes: Vec<Option<Lifetime>> = members
        .iter()
        .map(|member| member.as_ref().map_or(Some(None), |member| of_member(member).map(Some)))
        .collect::<Option<_>>()?;
    Some(ArrayLifetime::new(level, &lifetimes))
}

fn member<F: Figures>(
    place: usize,
    config: &Config,
    figures: &MemberFigures<F>,
    joules: f64,
    sections: Sections,
) -> MemberReport {
    let [read, write] = &figures.latency;
    let elapsed_s = super::seconds(figures.window.elapsed_ns());
    MemberReport {
        name: MEMBERS[place],
        description: config.drive.description(),
        latency_ns: MemberLatency { read: read.summary(), write: write.summary() },
        mean_w: if elapsed_s > 0.0 { joules / elapsed_s } else { 0.0 },
        sections,
    }
}

fn section<D: Reported>(raid: &Raid<D>, array: &Array, counts: &RaidCounts) -> ArraySection {
    let layout = &array.layout;
    let rebuild = array.failed.as_ref().zip(raid.rebuilt()).map(|(failed, (done, rows))| RebuildReport {
        member: failed.member,
        rebuilt_bytes: counts.rebuilt_rows * layout.chunk_bytes,
        rebuilt_fraction: done as f64 / rows as f64,
        ended_s: raid.rebuild_ended_ns().map(|ns: Nanos| super::seconds(ns)),
    });
    ArraySection {
        level: layout.level,
        members: layout.members,
        chunk_bytes: layout.chunk_bytes,
        logical_bytes: layout.logical_bytes(),
        member_reads: counts.reads,
        member_writes: counts.writes,
        rows_read_first: counts.rows_read_first,
        rows_written_whole: counts.rows_written_whole,
        reconstructed: counts.reconstructed,
        row_waits: counts.row_waits,
        rebuild,
        lifetime: None,
    }
}

/// The outcome as a member alone would have it, without requests of the host.
pub(crate) fn of_member<F: Figures>(outcome: &Outcome<RaidFigures<F>>, place: usize) -> Outcome<F> {
    let of_member = outcome.with_windows(|window| {
        let of_member = window.figures.members.get(place).and_then(Option::as_ref);
        of_member.map_or_else(Window::default, |figures| figures.window.clone())
    });
    let (warmup, completed, drained) = Default::default();
    Outcome { warmup, completed, drained, ..of_member }
}
