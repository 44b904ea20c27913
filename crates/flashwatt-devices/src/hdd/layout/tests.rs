use super::super::geometry::Geometry;
use super::super::rotation::Angle;
use super::super::settings::tests::small;
use super::super::settings::{Hdd, Layout, SpareRange, TrackOrder, Zone, ZoneLayout};

/// Two zones of 3 heads: 4 cylinders of 20 places a track, and 2 cylinders of 10, from cylinder 5 on.
fn disk(layout: Layout, first: ZoneLayout) -> Hdd {
    let mut disk = small();
    let mut zones = [Zone::plain(0, 4, 20), Zone::plain(5, 2, 10)];
    for (zone, of) in zones.iter_mut().zip([first, ZoneLayout::default()]) {
        let sectors = layout.sectors(zone, 3, &of);
        zone.layout = Some(Box::new(ZoneLayout { sectors, ..of }));
    }
    (disk.heads, disk.zones, disk.layout) = (3, zones.to_vec(), layout);
    disk.bytes = disk.capacity_bytes();
    disk
}

/// Places of the first zone that have a number, in order: a walk that fills each range up to its spares, and takes a spare for a slip.
fn walk(layout: &Layout, of: &ZoneLayout) -> Vec<u64> {
    let (zone, unit) = (Zone::plain(0, 4, 20), layout.unit(&Zone::plain(0, 4, 20)));
    let range = layout.range(&zone, 3);
    let is_slip = |place: u64| of.slips.contains(&(place / unit));
    let front = layout.spare_range == SpareRange::CylinderFront;
    let at_end = matches!(layout.spare_range, SpareRange::Disk | SpareRange::Zone | SpareRange::ZoneTracks);
    let spares = if at_end { 0 } else { of.spares };
    let mut places = Vec::new();
    for start in (0..240).step_by(range as usize) {
        // Spares in front: each slip behind them takes one.
        let behind = (start + spares..start + range).filter(|&place| is_slip(place)).count() as u64;
        let used = if layout.slips_move_zone() { 0 } else { behind };
        let from = start + if front { spares - used } else { 0 };
        let all: Vec<u64> = (from..start + range).filter(|&place| !is_slip(place)).collect();
        let whole = range - spares;
        let most = if layout.slips_move_zone() && !at_end {
            let slips = of.slips.iter().filter(|&&slip| (from..from + whole).contains(&slip)).count() as u64;
            whole - slips
        } else {
            whole
        };
        places.extend(all.into_iter().take(most as usize));
    }
    places.into_iter().skip(of.reserved_sectors as usize).collect()
}

#[test]
fn sectors_lie_where_a_walk_over_all_places_puts_them() {
    let ranges = [
        SpareRange::Disk,
        SpareRange::Zone,
        SpareRange::ZoneTracks,
        SpareRange::Cylinder,
        SpareRange::CylinderFront,
        SpareRange::Track,
        SpareRange::Cylinders,
    ];
    for spare_range in ranges {
        for slips_use_spares in [true, false] {
            let layout = Layout { spare_range, slips_use_spares, sparing_cylinders: 2, ..Layout::default() };
            let slips = if spare_range == SpareRange::ZoneTracks { vec![7, 2, 3] } else { vec![81, 5, 6, 25, 130] };
            let reserved_sectors = 3;
            let of = ZoneLayout { spares: 5, slips, reserved_sectors, ..ZoneLayout::default() };
            let disk = disk(layout.clone(), of.clone());
            let geometry = Geometry::new(&disk);
            let expected = walk(&layout, &of);
            for (lba, &place) in (0..disk.zones[0].sectors(3)).zip(&expected) {
                let found = geometry.place(lba);
                let track = place / 20;
                let at = (u64::from(found.cylinder), u64::from(found.head));
                assert_eq!(at, (track / 3, track % 3), "{spare_range:?} {slips_use_spares}: sector {lba} at {place}");
                // A run is of sectors one after the other on the track.
                let run = u64::from(found.left_on_track);
                let last = expected.get((lba + run - 1) as usize).expect("a place");
                assert_eq!(
                    (*last, last / 20),
                    (place + run - 1, track),
                    "{spare_range:?} {slips_use_spares}: sector {lba}"
                );
            }
            assert!(disk.zones[0].sectors(3) <= expected.len() as u64, "{spare_range:?}");
        }
    }
}

/// Angles by hand: offset 4 sectors, skews of 3 and 5, tracks of 20. Track 1 of cylinder 0 starts at 4 + 3; cylinder 1 at 4 + 3 × 2 + 5.
#[test]
fn angles_are_offset_skew_and_sector() {
    let of = |slips| ZoneLayout {
        offset_sectors: 4.0,
        track_skew_sectors: 3.0,
        cylinder_skew_sectors: 5.5,
        slips,
        spares: 1,
        ..ZoneLayout::default()
    };
    let sector = Angle::MAX / 20;
    let is_at = |found: Angle, sectors: f64| {
        let off = found.wrapping_sub((sectors * sector as f64) as Angle) as i64;
        assert!(off.unsigned_abs() < sector / 1_000, "{} instead of {sectors}", found as f64 / sector as f64);
    };
    let geometry = Geometry::new(&disk(Layout::default(), of(vec![])));
    is_at(geometry.place(2).angle, 6.0);
    is_at(geometry.place(20).angle, 7.0);
    is_at(geometry.place(60).angle, 4.0 + 6.0 + 5.5);
    is_at(geometry.place(121).angle, 4.0 + 12.0 + 11.0 + 1.0 - 20.0);
    // Spares of a cylinder: a slip in it turns the cylinders after it by a sector.
    let spared = Layout { spare_range: SpareRange::Cylinder, ..Layout::default() };
    let geometry = Geometry::new(&disk(spared, of(vec![10])));
    is_at(geometry.place(10).angle, 4.0 + 11.0);
    is_at(geometry.place(59).angle, 4.0 + 6.0 + 5.5 + 1.0);
}

#[test]
fn serpentine_tracks_go_back_and_forth() {
    let heads = |track_order| {
        let geometry = Geometry::new(&disk(Layout { track_order, ..Layout::default() }, ZoneLayout::default()));
        [0, 20, 40, 60, 80, 100, 120, 240, 250, 260, 270].map(|lba| geometry.place(lba).head)
    };
    assert_eq!(heads(TrackOrder::Ascending), [0, 1, 2, 0, 1, 2, 0, 0, 1, 2, 0]);
    assert_eq!(heads(TrackOrder::SerpentineByZone), [0, 1, 2, 2, 1, 0, 0, 0, 1, 2, 2]);
    assert_eq!(
        heads(TrackOrder::Serpentine),
        [0, 1, 2, 2, 1, 0, 0, 2, 1, 0, 0],
        "the second zone begins with cylinder 5"
    );
}

#[test]
fn a_defect_lies_elsewhere_and_parts_its_track() {
    let of = ZoneLayout { defects: vec![[45, 200], [30, 201]], ..ZoneLayout::default() };
    let geometry = Geometry::new(&disk(Layout::default(), of));
    assert_eq!((geometry.place(45).cylinder, geometry.place(45).head, geometry.place(45).left_on_track), (3, 1, 1));
    assert_eq!((geometry.place(40).left_on_track, geometry.place(46).left_on_track), (5, 14));
    assert_eq!(geometry.place(30).cylinder, 3);
    // Tracks: track 1 lies at track 11.
    let tracks = Layout { spare_range: SpareRange::ZoneTracks, ..Layout::default() };
    let of = ZoneLayout { defects: vec![[1, 11]], spares: 1, ..ZoneLayout::default() };
    let geometry = Geometry::new(&disk(tracks, of));
    assert_eq!((geometry.place(25).cylinder, geometry.place(25).head, geometry.place(25).left_on_track), (3, 2, 15));
    assert_eq!(geometry.place(40).cylinder, 0);
}

#[test]
fn a_track_ends_where_the_next_one_begins() {
    let of = ZoneLayout { slips: vec![25, 30], spares: 2, ..ZoneLayout::default() };
    let layout = Layout { spare_range: SpareRange::Cylinder, ..Layout::default() };
    let geometry = Geometry::new(&disk(layout, of));
    assert_eq!([0, 19, 20, 37, 38].map(|lba| geometry.track(lba)), [(0, 20), (0, 20), (20, 38), (20, 38), (38, 58)]);
    assert_eq!((geometry.end_of_cylinder(3), geometry.end_of_cylinder(60)), (58, 116));
}
