//! `[hdd.geometry]`: platters, heads, zones and their layout.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::rotation::{Angle, Rotation};
use super::super::settings::{Hdd, Layout, SpareRange, TrackOrder, Zone, ZoneLayout, even_zones};
use super::{BYTES_MAX, NS_MAX};
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::{Nanos, SECTOR_BYTES};

const SECTORS_PER_TRACK: RangeInclusive<u32> = 4..=100_000;
const CYLINDERS_MAX: u32 = 10_000_000;
const ZONES_MAX: usize = 1024;
const TABLE: &str = "hdd.geometry";
const ZONES: &str = "hdd.geometry.zones";
const LAYOUT: &str = "hdd.geometry.layout";

/// `[hdd.geometry]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GeometryOptions {
    /// Bytes that the host sees, a multiple of 512; all that the zones hold unless given. Required without `zones` or `layout`.
    pub bytes: Option<u64>,
    /// Revolutions per minute.
    pub rpm: Option<u32>,
    /// Heads, one for each surface that holds data.
    pub heads: Option<u32>,
    /// The zones from the outermost one on, `[[cylinders, sectors per track], …]`. Excludes `layout`, `zone_count` and the sectors per
    /// track of the outer and the inner zone.
    pub zones: Option<Vec<[u32; 2]>>,
    /// Number of zones of equally many cylinders, with sectors per track that fall in equal steps; as many cylinders as `bytes`
    /// needs.
    pub zone_count: Option<u32>,
    /// With `zone_count`: sectors on a track of the outermost zone.
    pub outer_sectors_per_track: Option<u32>,
    /// With `zone_count`: sectors on a track of the innermost zone.
    pub inner_sectors_per_track: Option<u32>,
    /// The zones from the outermost one on with their exact layout, a table for each: `cylinders` and `sectors_per_track`, and where a
    /// zone has them `first_cylinder`, `sectors`, `offset_sectors`, `reserved_sectors`, `track_skew_sectors`,
    /// `cylinder_skew_sectors`, `spares`, `slips` and `defects`. Excludes `zones` and the keys of `zone_count`.
    pub layout: Option<Vec<ZoneOptions>>,
    /// With `layout`: the order in which tracks follow each other.
    pub track_order: Option<TrackOrder>,
    /// With `layout`: where the `spares` of the zones lie, and how far a slip moves what follows.
    pub spare_range: Option<SpareRange>,
    /// With `spare_range = "cylinders"`: cylinders that share their spares.
    pub sparing_cylinders: Option<u32>,
    /// With spares of tracks or cylinders: a slip uses a spare of its range (`true`), or moves all that follows in the zone on by one.
    pub slips_use_spares: Option<bool>,
    /// Rotation by which the first sector of a track lies behind that of the track before it on the same cylinder, in ns, rounded
    /// up to whole sectors. `seek.head_switch_ns` and `seek.write_settle_ns` together unless given: just enough for the switch.
    pub track_skew_ns: Option<Nanos>,
    /// The same from the last track of a cylinder to the next cylinder. `seek.single_cylinder_ns` (or `seek.head_switch_ns`, if
    /// that is longer) and `seek.write_settle_ns` together unless given.
    pub cylinder_skew_ns: Option<Nanos>,
}

/// A zone of `hdd.geometry.layout`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ZoneOptions {
    /// The first cylinder; the one after the zone before unless given.
    pub first_cylinder: Option<u32>,
    /// Number of cylinders.
    pub cylinders: u32,
    /// Places for sectors on a track.
    pub sectors_per_track: u32,
    /// Sectors that have a number; what reserved places, spares and slips leave unless given.
    pub sectors: Option<u64>,
    /// Sectors by which the zone's first place lies behind the angle 0.
    pub offset_sectors: f64,
    /// Places at the zone's beginning that have no number.
    pub reserved_sectors: u64,
    /// Skew in sectors from a track to the next one of the cylinder; from `track_skew_ns` unless given.
    pub track_skew_sectors: Option<f64>,
    /// Skew in sectors from a cylinder to the next one; from `cylinder_skew_ns` unless given.
    pub cylinder_skew_sectors: Option<f64>,
    /// Spares in each range that `spare_range` names: sectors, with `zone_tracks` tracks.
    pub spares: u64,
    /// Places that have no number, counted from the zone's beginning along its tracks; with `zone_tracks` tracks.
    pub slips: Vec<u64>,
    /// Places whose content lies elsewhere, and where, `[[from, to], …]`, counted as the slips.
    pub defects: Vec<[u64; 2]>,
}

impl GeometryOptions {
    /// Zones of a disk with this number of heads, and what they have in common.
    pub(super) fn zones(
        &self,
        c: &mut Checker,
        rotation: Rotation,
        heads: u32,
        skews: [Nanos; 2],
    ) -> (Vec<Zone>, Layout) {
        self.check_rivals(c);
        let layout = self.shared(c);
        if self.layout.is_some() {
            return (self.exact_zones(c, rotation, heads, skews, &layout), layout);
        }
        let Some(list) = &self.zones else { return (self.even_zones(c, heads), Layout::default()) };
        c.rule(ZONES, list.len(), (1..=ZONES_MAX).contains(&list.len()), "1 to 1024 zones");
        let zone = |&[cylinders, sectors]: &[u32; 2]| {
            (c.within(ZONES, cylinders, 1..=CYLINDERS_MAX), c.within(ZONES, sectors, SECTORS_PER_TRACK))
        };
        let zones: Vec<_> = list.iter().map(zone).collect();
        (Zone::row(zones), Layout::default())
    }

    /// What the zones of `layout` have in common. Without one, none of these keys has an effect.
    fn shared(&self, c: &mut Checker) -> Layout {
        let geometry = self;
        let layout = Layout {
            track_order: c.choice(field!(TABLE, geometry.track_order), TrackOrder::Ascending),
            spare_range: c.choice(field!(TABLE, geometry.spare_range), SpareRange::Disk),
            sparing_cylinders: c.number(field!(TABLE, geometry.sparing_cylinders), 1, 1..=CYLINDERS_MAX),
            slips_use_spares: c.choice(field!(TABLE, geometry.slips_use_spares), true),
        };
        let plain = Layout::default();
        let has_layout = self.layout.is_some();
        let differs = [
            ("hdd.geometry.track_order", !has_layout && layout.track_order != plain.track_order),
            ("hdd.geometry.spare_range", !has_layout && layout.spare_range != plain.spare_range),
            ("hdd.geometry.slips_use_spares", !has_layout && !layout.slips_use_spares),
        ];
        for (key, _) in differs.into_iter().filter(|(_, differs)| *differs) {
            c.has_no_effect(key, "no hdd.geometry.layout", "a layout, or no such key");
        }
        if layout.sparing_cylinders != 1 && layout.spare_range != SpareRange::Cylinders {
            let expected = "spare_range = \"cylinders\", or no such key";
            c.has_no_effect("hdd.geometry.sparing_cylinders", "another hdd.geometry.spare_range", expected);
        }
        if has_layout { layout } else { plain }
    }

    /// The ways to state zones exclude each other.
    fn check_rivals(&self, c: &mut Checker) {
        let others = [
            ("zone_count", self.zone_count.is_some()),
            ("outer_sectors_per_track", self.outer_sectors_per_track.is_some()),
            ("inner_sectors_per_track", self.inner_sectors_per_track.is_some()),
        ];
        let (key, what) = match (&self.layout, &self.zones) {
            (Some(_), Some(_)) => {
                let fault = c.fault(ZONES, "given beside a layout of zones");
                return c.push(fault.found(LAYOUT).expected("one of the two"));
            }
            (Some(_), None) => (LAYOUT, "given beside a layout of zones"),
            (None, Some(_)) => (ZONES, "given beside a list of zones"),
            (None, None) => return,
        };
        for (name, _) in others.iter().filter(|(_, given)| *given) {
            let fault = c.fault(&format!("{TABLE}.{name}"), what);
            c.push(fault.found(key).expected("one of the two"));
        }
    }

    fn even_zones(&self, c: &mut Checker, heads: u32) -> Vec<Zone> {
        let geometry = self;
        let bytes = c.required(field!(TABLE, geometry.bytes), SECTOR_BYTES..=BYTES_MAX);
        let count = c.required(field!(TABLE, geometry.zone_count), 1..=ZONES_MAX as u32);
        let outer = c.required(field!(TABLE, geometry.outer_sectors_per_track), SECTORS_PER_TRACK);
        let inner = c.required(field!(TABLE, geometry.inner_sectors_per_track), SECTORS_PER_TRACK);
        if c.clean(TABLE) && inner > outer {
            let key = c.culprit(&["hdd.geometry.inner_sectors_per_track", "hdd.geometry.outer_sectors_per_track"]);
            let fault = c.fault(key, "more sectors on an inner track than on an outer one");
            let found = format!("{inner} sectors on the inner tracks, {outer} on the outer ones");
            c.push(fault.found(found).expected("inner_sectors_per_track ≤ outer_sectors_per_track"));
        }
        if !c.clean(TABLE) {
            return vec![Zone::plain(0, 1, *SECTORS_PER_TRACK.start())];
        }
        let zones = even_zones(bytes, heads, count, outer, inner);
        let cylinders = zones.iter().map(|zone| u64::from(zone.cylinders)).sum::<u64>();
        if cylinders > u64::from(CYLINDERS_MAX) {
            let fault = c.fault(c.culprit(&["hdd.geometry.bytes", "hdd.geometry.heads"]), "too many cylinders");
            c.push(fault.found(cylinders.to_string()).expected(format!("at most {CYLINDERS_MAX}")));
        }
        zones
    }

    /// The zones of `layout`. `skews` are those of the disk, in ns.
    fn exact_zones(
        &self,
        c: &mut Checker,
        rotation: Rotation,
        heads: u32,
        skews: [Nanos; 2],
        layout: &Layout,
    ) -> Vec<Zone> {
        let list = self.layout.as_deref().unwrap_or_default();
        c.rule(LAYOUT, list.len(), (1..=ZONES_MAX).contains(&list.len()), "1 to 1024 zones");
        let (mut zones, mut next) = (Vec::new(), 0);
        for (number, options) in list.iter().enumerate() {
            let zone = options.resolve(c, number, next, heads, layout, |zone| {
                let sector = Angle::MAX / u64::from(zone.sectors_per_track);
                skews.map(|ns| rotation.steps(ns, sector) as f64)
            });
            next = zone.end_cylinder();
            zones.push(zone);
        }
        zones
    }

    /// The bytes that the host sees: those of the zones, unless fewer are given.
    pub(super) fn bytes(&self, c: &mut Checker, hdd: &Hdd) -> u64 {
        const KEY: &str = "hdd.geometry.bytes";
        let Some(bytes) = self.bytes else { return hdd.capacity_bytes() };
        c.rule(KEY, bytes, bytes.is_multiple_of(SECTOR_BYTES) && bytes > 0, "a positive multiple of 512");
        if c.clean(TABLE) && bytes > hdd.capacity_bytes() {
            let fault = c.fault(KEY, "more than the zones hold").found(format!("{bytes} bytes"));
            c.push(fault.expected(format!("at most {}", hdd.capacity_bytes())));
        }
        bytes
    }

    /// Skews in ns: of a track and of a cylinder.
    pub(super) fn skews(&self, c: &mut Checker, defaults: [Nanos; 2]) -> [Nanos; 2] {
        let geometry = self;
        let track = c.number(field!(TABLE, geometry.track_skew_ns), defaults[0], 0..=NS_MAX);
        [track, c.number(field!(TABLE, geometry.cylinder_skew_ns), defaults[1], 0..=NS_MAX)]
    }
}

impl ZoneOptions {
    /// Zone `number` of the list, whose first cylinder is `next` unless given. `skews` are those of the disk in sectors.
    fn resolve(
        &self,
        c: &mut Checker,
        number: usize,
        next: u32,
        heads: u32,
        layout: &Layout,
        skews: impl Fn(&Zone) -> [f64; 2],
    ) -> Zone {
        let first_cylinder = self.first_cylinder.unwrap_or(next);
        let mut ok = true;
        let mut rule = |holds: bool, key: &str, found: String, expected: String| {
            ok &= holds;
            c.rule(LAYOUT, Words(format!("{key} = {found} in zone {number}")), holds, &expected);
        };
        let range = format!("{} to {}", SECTORS_PER_TRACK.start(), SECTORS_PER_TRACK.end());
        let per_track = self.sectors_per_track;
        rule(SECTORS_PER_TRACK.contains(&per_track), "sectors_per_track", per_track.to_string(), range);
        let is_range = (1..=CYLINDERS_MAX).contains(&self.cylinders);
        rule(is_range, "cylinders", self.cylinders.to_string(), format!("1 to {CYLINDERS_MAX}"));
        let is_behind = (next..=CYLINDERS_MAX).contains(&first_cylinder);
        rule(is_behind, "first_cylinder", first_cylinder.to_string(), format!("{next} to {CYLINDERS_MAX}"));
        let turns = [Some(self.offset_sectors), self.track_skew_sectors, self.cylinder_skew_sectors];
        let names = ["offset_sectors", "track_skew_sectors", "cylinder_skew_sectors"];
        for (name, sectors) in names.iter().zip(turns.map(|one| one.unwrap_or(0.0))) {
            let expected = format!("0 to {per_track}, a revolution");
            rule((0.0..=f64::from(per_track)).contains(&sectors), name, sectors.to_string(), expected);
        }
        if !ok {
            return Zone::plain(next, 1, *SECTORS_PER_TRACK.start());
        }
        let mut zone = Zone::plain(first_cylinder, self.cylinders, per_track);
        let [track_skew, cylinder_skew] = skews(&zone);
        let mut exact = ZoneLayout {
            sectors: 0,
            offset_sectors: self.offset_sectors,
            reserved_sectors: self.reserved_sectors,
            track_skew_sectors: self.track_skew_sectors.unwrap_or(track_skew),
            cylinder_skew_sectors: self.cylinder_skew_sectors.unwrap_or(cylinder_skew),
            spares: self.spares,
            slips: self.slips.clone(),
            defects: self.defects.clone(),
        };
        self.check_places(c, number, &zone, heads, layout);
        exact.sectors = self.sectors.unwrap_or_else(|| layout.sectors(&zone, heads, &exact));
        let places = zone.physical_sectors(heads);
        let found = Words(format!("sectors = {} in zone {number}", exact.sectors));
        c.rule(LAYOUT, found, (1..=places).contains(&exact.sectors), &format!("1 to {places}, its places"));
        zone.layout = Some(Box::new(exact));
        zone
    }

    /// Spares, slips and defects lie within the zone.
    fn check_places(&self, c: &mut Checker, number: usize, zone: &Zone, heads: u32, layout: &Layout) {
        let unit = layout.unit(zone);
        let (places, range) = (zone.physical_sectors(heads) / unit, layout.range(zone, heads) / unit);
        let found = |key: &str, found: u64| Words(format!("{key} = {found} in zone {number}"));
        c.rule(
            LAYOUT,
            found("spares", self.spares),
            self.spares < range,
            &format!("less than {range}, the range's places"),
        );
        let most = places * unit;
        let reserved = self.reserved_sectors;
        c.rule(LAYOUT, found("reserved_sectors", reserved), reserved < most, &format!("less than {most}, its places"));
        let outside = self.slips.iter().chain(self.defects.iter().flatten()).find(|&&place| place >= places);
        let place = outside.copied().unwrap_or(0);
        let expected = format!("places below {places}");
        c.rule(LAYOUT, found("a slip or defect", place), outside.is_none(), &expected);
    }
}

/// A value that is shown as it is.
struct Words(String);

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
