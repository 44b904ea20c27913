//! Studies of DFTL that papers made: the cost of a map (X18), and how many blocks are worth
//! searching for a victim.

use crate::common::{preset, run_plain};
use flashwatt::Report;
use flashwatt_base::units::BlockId;
use flashwatt_core::energy::Series;
use flashwatt_core::kernel::Sim;
use flashwatt_ssd::blocks::BlockState;
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::firmware::Firmware;
use flashwatt_ssd::nand::{Array, Geometry};
use flashwatt_ssd::observe::probe::{Probe, Purpose};

// ---------------------------------------------------------------- what a map costs

/// A stand-in at 1/64 of its size under the accounting of EnergySim's section 5, with the DRAM that the scheme needs (Table III).
fn map_energy_j(standin: &str, ftl: &str, dram_ma: [u32; 2]) -> f64 {
    let report = run_plain(&preset(
        "energysim",
        &[
            &format!("workload.standin.name={standin}"),
            "workload.standin.scale=0.015625",
            "run.precondition=\"filled\"",
            ftl,
            &format!("energy.dram.active_ma={}", dram_ma[0]),
            &format!("energy.dram.idle_ma={}", dram_ma[1]),
            "energy.idle_accounting=\"busy_only\"",
        ],
    ));
    let map = report.ssd().ftl.map_energy_j.as_ref().expect("a clock");
    assert_eq!(map.flash, report.ssd().energy_by_cause_j.map);
    assert!(map.dram > 0.0 && map.dram < report.ssd().energy_j.dram.idle + report.ssd().energy_j.dram.active);
    map.dram + map.flash
}

/// X18 (EnergySim Fig. 9): a map on flash costs 0.1 to 0.3 of one in DRAM where few look-ups miss. Where most do, it costs more
/// than one in DRAM if each dirty entry is written back alone, and less with batch update. The published factor of 11 is
/// not reached: see `docs/energy-model.md`.
#[test]
fn f62_x18_a_map_on_flash_is_cheap_if_look_ups_hit() {
    for (batch_update, misses) in [("true", 0.3..0.6), ("false", 1.5..3.0)] {
        let dftl = format!("ftl.dftl={{ cmt_entries = 16384, evict_page = {batch_update} }}");
        let [financial1, financial2, msnfs] = ["financial1", "financial2", "msnfs"]
            .map(|standin| map_energy_j(standin, &dftl, [77, 3]) / map_energy_j(standin, "ftl=\"page\"", [100, 20]));
        assert!((0.1..=0.3).contains(&financial1) && (0.1..=0.3).contains(&financial2), "{financial1}, {financial2}");
        assert!(misses.contains(&msnfs), "{msnfs}");
    }
}

// ---------------------------------------------------------------- the window of victims

/// Blocks of data on the drive below. Those that have something to gain are candidates: nearly all, or half of them under
/// skewed writes.
const BLOCKS: f64 = 512.0;

/// Windows: one block at random, some 2, 8 and 32 blocks, a tenth of all, all.
const WINDOWS: [f64; 6] = [0.0, 2.1 / BLOCKS, 8.0 / BLOCKS, 32.0 / BLOCKS, 0.1, 1.0];

/// DFTL on the drive of Park et al. at 1/16 of its size: one turnover of single-page writes after two.
fn windowed(writes: &str, w: f64) -> Report {
    let pages = 32_768;
    run_plain(&preset(
        "park-1g",
        &[
            "device.logical_bytes=67108864",
            "ftl.dftl.cmt_bytes=2048", // 32 KB for 1 GB
            "ftl.dftl.entry_bytes=4",
            &format!("gc.policy.window.w={w:?}"),
            &format!("workload.{writes}.requests={}", 3 * pages),
            &format!("workload.{writes}.request_bytes=2048"),
            &format!("workload.{writes}.read_fraction=0.0"),
            &format!("workload.{writes}.queue_depth=1"),
            &format!("run.warmup.requests={}", 2 * pages),
            "run.precondition=\"filled\"",
        ],
    ))
}

/// Response times, and candidates looked at, of all windows; what holds for all writes.
fn windows(writes: &str) -> [f64; 6] {
    let runs = std::thread::scope(|scope| {
        WINDOWS.map(|w| scope.spawn(move || windowed(writes, w))).map(|run| run.join().expect("it runs"))
    });
    let times = runs.each_ref().map(|run| run.latency_ns.all.mean.expect("there were writes"));
    let searches = runs.each_ref().map(|run| run.ssd().gc.searches);
    assert!(searches.is_sorted_by(|fewer, more| fewer < more), "{writes}: {searches:?}");
    assert!(times[1..].iter().all(|&time| times[0] >= 1.05 * time), "{writes}: {times:?}");
    times
}

/// X2 (Park et al. 2011, Fig. 6), uniform writes: the larger the window, the faster, within 2 %, and the more
/// candidates are looked at.
#[test]
fn f63_x2_larger_windows_find_better_victims() {
    let times = windows("uniform");
    assert!(times.is_sorted_by(|smaller, larger| *larger <= 1.02 * smaller), "{times:?}");
}

/// X2, skewed writes: every window is far better than none, and the largest ones are within 12 % of the best. The best
/// is a small one: it gives hot blocks time to lose their pages.
#[test]
fn f63_x2_skewed_writes_are_best_served_by_a_small_window() {
    let times = windows("zipf");
    let best = times.iter().copied().fold(f64::MAX, f64::min);
    assert!(times[2..].iter().all(|&time| time <= 1.12 * best), "{times:?}");
}

/// Looks at every choice of a victim whether some other block of the drive, which has one die, has fewer valid pages.
#[derive(Default)]
struct Fewest {
    victims: u32,
    fewer: u32,
}

impl Probe for Fewest {
    type Recorder = Option<Box<Series>>;

    fn planned(&mut self, _purpose: Purpose, firmware: &Firmware) {
        let Some(chosen) = firmware.plan.notes.and_then(|notes| notes.chosen) else { return };
        let (blocks, geometry) = (&firmware.blocks, firmware.blocks.geometry());
        let is_closed = |&block: &BlockId| blocks.state(block) == BlockState::Closed && !blocks.is_apart(block);
        let all = (0..geometry.blocks_per_die).map(BlockId).filter(is_closed);
        let fewest = all.map(|block| blocks.valid_units(block)).min().unwrap_or(u32::MAX);
        let valid = (chosen.victim_valid_fraction * f64::from(geometry.units_per_block)).round() as u32;
        self.victims += 1;
        self.fewer += u32::from(fewest < valid);
    }
}

/// A window of all candidates picks the block with the fewest valid pages of all; one of a tenth often does not.
#[test]
fn f64_a_window_of_all_finds_the_best_victim() {
    let [all, tenth] = [1.0, 0.1].map(|w: f64| {
        let config = preset(
            "park-1g",
            &[
                "device.logical_bytes=33554432",
                &format!("gc.policy.window.w={w:?}"),
                "ftl.dftl.entry_bytes=4",
                "workload.uniform.requests=20000",
                "workload.uniform.request_bytes=2048",
                "workload.uniform.read_fraction=0.0",
                "run.precondition=\"filled\"",
            ],
        );
        let geometry = Geometry::new(&config.ssd().device, config.map_unit_bytes());
        let mut array = Array::new(geometry.clone(), config.ssd().device.nand.program_order);
        let mut firmware = Firmware::new(&config.ssd().ftl, &config.ssd().ftl_setup(), config.run.seed, &geometry);
        crate::common::fill(&mut firmware, &mut array);
        let mut workload = flashwatt_workload::open(&config.workload, config.logical_bytes(), 1).expect("uniform");
        let sim = Sim::new(
            &config.run.stages(),
            Ssd::new(config.ssd(), firmware, array, None, Fewest::default()),
            workload.as_mut(),
        );
        sim.run(&mut |_| true).1.into_parts().0.probe
    });
    assert!(all.victims > 500 && all.fewer == 0, "{} of {}", all.fewer, all.victims);
    assert!(tenth.fewer > tenth.victims / 4, "{} of {}", tenth.fewer, tenth.victims);
}
