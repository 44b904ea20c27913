//! The example of the documentation is a working translation layer. (`tests/contracts` tests the registered ones.)

use super::documented_example::{Settings, Wander};
use super::{DriveSize, Scheme};
use crate::drive::fixture::{Heeded, Shape, device, ftl};
use crate::firmware::Firmware;
use crate::firmware::clockless::Clockless;
use crate::nand::{Array, Geometry};
use flashwatt_base::progress::Watch;
use flashwatt_base::units::Lpn;
use flashwatt_core::connector::{Request, RequestKind};

#[test]
fn the_example_keeps_what_is_written_on_the_least_flash() {
    let settings = Settings { spare_blocks: 1 };
    let device = device(Shape { channels: 3, ways: 1, blocks: 8, pages_per_block: 4, logical_bytes: 344064 });
    let (geometry, heeded) = (Geometry::new(&device, 4096), Heeded::new());
    let size = DriveSize {
        dies: 3,
        die_blocks: 8,
        pages_per_block: 4,
        units_per_page: 1,
        logical_pages: 84,
        low_watermark_blocks: 3,
        reserved_blocks: 1,
    };
    assert_eq!(Wander::room(&settings, &size).pages, (3 * 7 + 1) * 4);
    let mut array = Array::new(geometry.clone(), device.nand.program_order);
    let mut firmware = Firmware::new(&ftl("block"), &heeded.setup(), 1, &geometry);
    firmware.ftl = Box::new(Wander::new(&settings, &heeded.setup(), &geometry));
    let filled = firmware.ftl.fill(&mut firmware.blocks, &mut array, &mut Watch::new(&mut |_| true));
    assert!(filled.is_ok(), "nobody ends it");
    let mut rng = flashwatt_base::rng::Rng::new(1);
    let mut clockless = Clockless::new(&geometry, &mut firmware, &mut array);
    for _ in 0..10_000 {
        let first = rng.below(84);
        let pages = 1 + rng.below(8.min(84 - first));
        let request = Request::new(0, RequestKind::Write, first * 4096, pages * 4096);
        assert!(clockless.request(&request).is_ok(), "no room");
    }
    for lpn in (0..84).map(Lpn) {
        let at = firmware.ftl.lookup(lpn).expect("it was written");
        assert!(firmware.blocks.is_valid(at) && firmware.blocks.lpn_at(at) == Some(lpn));
        assert!(array.is_programmed(geometry.place(at)));
    }
}
