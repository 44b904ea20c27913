//! The example of the documentation is a working translation layer. (`tests/contracts` tests the registered ones.)
//! A start state follows from what a victim policy declares.

use super::documented_example::{Settings, Wander};
use super::{DriveSize, Scheme, Steady};
use crate::blocks::{BlockView, Choice};
use crate::drive::fixture::{Heeded, PAGE_BYTES, SMALL, Shape, device, ftl};
use crate::firmware::Firmware;
use crate::firmware::clockless::Clockless;
use crate::gc::{self, Policy, VictimPolicy};
use crate::nand::settings::ReadTransfer;
use crate::nand::{Array, Geometry, Pace};
use flashwatt_base::progress::Watch;
use flashwatt_base::rng::Rng;
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
        row_pages: 1,
        pass_distance: 0,
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

/// A policy that declares what theory gives of its steady state.
struct Declares(Steady);

impl VictimPolicy for Declares {
    fn choose(&self, view: &BlockView, _rng: &mut Rng) -> Option<Choice> {
        view.fewest_valid().map(|block| Choice { block, searches: 1 })
    }

    fn steady(&self) -> Steady {
        self.0
    }
}

/// A policy that declares nothing. Its name is that of another policy, and says nothing either.
struct Silent;

impl VictimPolicy for Silent {
    fn choose(&self, view: &BlockView, _rng: &mut Rng) -> Option<Choice> {
        view.fewest_valid().map(|block| Choice { block, searches: 1 })
    }
}

const KNOWN: Policy =
    Policy { name: "known", doc: "has greedy's victims", params: &[], build: |_| Box::new(Declares(Steady::Known)) };
const UNKNOWN: Policy =
    Policy { name: "unknown", doc: "has others", params: &[], build: |_| Box::new(Declares(Steady::Unknown)) };
const SILENT: Policy = Policy { name: "greedy", doc: "declares nothing", params: &[], build: |_| Box::new(Silent) };

/// What theory gave for a small drive of page mapping with this policy, the pages that were laid down, and the next random number.
fn steady_start(policy: &'static Policy) -> (Steady, Vec<Option<flashwatt_base::units::Ppn>>, u64) {
    let (device, heeded) = (device(SMALL), Heeded::with_policy(policy));
    let geometry = Geometry::new(&device, PAGE_BYTES);
    let mut array = Array::new(geometry.clone(), device.nand.program_order);
    let Firmware { mut ftl, mut blocks, mut rng, .. } = Firmware::new(&ftl("page"), &heeded.setup(), 1, &geometry);
    let pace = Pace::new(&device, ReadTransfer::OnBus);
    let given = ftl.fill_steady(&mut blocks, &mut array, &mut rng, pace, &mut Watch::new(&mut |_| true));
    let pages = (0..geometry.logical_units).map(|lpn| ftl.lookup(Lpn(lpn))).collect();
    (given.expect("nobody ends it"), pages, rng.bits())
}

#[test]
fn a_policy_gets_the_start_state_that_it_declares() {
    let greedy = gc::REGISTRY.iter().find(|entry| entry.name == "greedy").expect("it is registered");
    let (given, pages, draw) = steady_start(greedy);
    assert!(given == Steady::Known && pages.iter().all(Option::is_some));
    assert!(steady_start(&KNOWN) == (Steady::Known, pages.clone(), draw));
    assert!(steady_start(&SILENT) == (Steady::Near, pages, draw));
    let (given, pages, _) = steady_start(&UNKNOWN);
    assert!(given == Steady::Unknown && pages.iter().all(Option::is_none));
}

#[test]
fn of_the_registered_policies_one_has_the_victims_of_theory() {
    let known = gc::REGISTRY.iter().filter(|entry| {
        let parameters = entry.params.iter().map(|param| (param.name.to_owned(), param.default)).collect();
        (entry.build)(&parameters).steady() == Steady::Known
    });
    assert_eq!(known.map(|entry| entry.name).collect::<Vec<_>>(), ["greedy"]);
}
