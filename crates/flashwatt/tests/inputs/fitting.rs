//! Drives that are made to fit a trace: scaled ones, and what is said of one that is too small.

use flashwatt::config::{Config, load};

fn loaded(sets: &[&str]) -> Result<Config, String> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    load("", "my.toml", &sets).map_err(|error| error.to_string())
}

const TLC: &str = "device.preset=tlc-nvme-1t";

fn tlc(scale: &str) -> Config {
    loaded(&[TLC, &format!("device.scale={scale}")]).unwrap_or_else(|faults| panic!("{scale}: {faults}"))
}

/// Blocks of a die, pages of a block, physical pages.
fn flash(config: &Config) -> (u32, u32, u64) {
    let device = &config.ssd().device;
    let die_blocks = device.blocks_per_plane * device.planes;
    let dies = u64::from(device.channels * device.ways);
    (die_blocks, device.pages_per_block, u64::from(die_blocks) * u64::from(device.pages_per_block) * dies)
}

#[test]
fn a_scaled_drive_keeps_its_shape_and_its_spare_share() {
    let whole = tlc("1");
    assert_eq!(whole, loaded(&[TLC]).expect("valid"), "1 is no scale");
    for (scale, text) in [(0.5, "0.5"), (1.0 / 4.0, "1/4"), (1.0 / 64.0, "1/64"), (0.002, "0.2%")] {
        let small = tlc(text);
        let kept = |config: &Config| {
            let device = &config.ssd().device;
            (device.channels, device.ways, device.planes, device.page_bytes, device.timing.clone())
        };
        assert_eq!(kept(&small), kept(&whole), "{text}");
        assert!((small.ssd().device.spare_fraction - whole.ssd().device.spare_fraction).abs() < 1e-4, "{text}");
        let share = flash(&small).2 as f64 / flash(&whole).2 as f64;
        assert!((share / scale - 1.0).abs() < 0.02, "{text}: {share}");
        assert_eq!(small.ssd().device.scale, Some(scale));
    }
}

#[test]
fn blocks_become_fewer_before_they_become_smaller() {
    let (blocks, pages, _) = flash(&tlc("1"));
    assert!(blocks > 2 * 256);
    let half = flash(&tlc("0.5"));
    assert_eq!((half.0, half.1), ((blocks / 2).next_multiple_of(4), pages));
    let small = flash(&tlc("1/64"));
    assert_eq!(small.0, 256);
    assert!((16..pages).contains(&small.1), "{small:?}");
    let said = loaded(&[TLC, "device.scale=1/100000"]).expect_err("too small");
    for part in [
        "--set: device.scale: too small a share of the drive",
        "expected at least 1/",
        "16 pages in a block",
        "fewer device.channels",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let least = said.split("at least ").nth(1).and_then(|rest| rest.split(':').next()).expect("a share");
    assert_eq!(flash(&tlc(least)).1, 16, "what is said to do does");
}

/// The remedy that a message names must work: a small drive with large blocks needs smaller blocks.
#[test]
fn a_drive_too_small_for_its_blocks_is_told_what_helps() {
    for ftl in ["page", "dftl"] {
        let sets = [TLC, "device.logical_bytes=600MB", &format!("ftl={ftl}")];
        let said = loaded(&sets).expect_err("too little spare flash");
        let pages = said.split("device.pages_per_block = ").nth(1).and_then(|rest| rest.split(' ').next());
        let smaller = format!("device.pages_per_block={}", pages.unwrap_or_else(|| panic!("no remedy: {said}")));
        let device = loaded(&[&sets[..], &[&smaller]].concat()).expect("what is said to do does").ssd().device.clone();
        // A die has a whole number of blocks: the smaller the blocks, the nearer to what was asked.
        let asked = loaded(&[TLC]).expect("valid").ssd().device.op_ratio;
        assert!((1.0..1.5).contains(&(device.op_ratio / asked)), "{device:?}");
    }
}

#[test]
fn a_mapping_table_may_be_a_share_of_the_map() {
    for ftl in ["dftl", "tpftl", "rftl"] {
        let hash = |set: &str| loaded(&[TLC, &format!("ftl.{ftl}.{set}")]).expect("valid").sha256();
        let pages = tlc("1").ssd().device.logical_bytes / u64::from(tlc("1").ssd().device.page_bytes);
        let entries = (pages as f64 * 0.02).round() as u64;
        assert_eq!(hash("cmt_fraction=2%"), hash(&format!("cmt_entries={entries}")), "{ftl}");
        let twice = [format!("ftl.{ftl}.cmt_fraction=0.5"), format!("ftl.{ftl}.cmt_bytes=4096")];
        let said = loaded(&[&twice[0], &twice[1]]).expect_err("given twice");
        assert!(said.contains("given twice; found cmt_bytes = 4096 and cmt_fraction = 0.5"), "{said}");
    }
    let over = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        load("ftl.dftl.cmt_bytes = 4096", "my.toml", &sets).map(|config| config.sha256()).expect("valid")
    };
    assert_eq!(over(&["ftl.dftl.cmt_entries=512"]), over(&[]), "8 bytes an entry; the upper layer counts");
}
