//! What a run tells its user beside the figures.

use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config;

fn run(sets: &[&str]) -> Report {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let config = config::load("device.blocks_per_plane = 64", "test.toml", &sets).expect("a valid configuration");
    flashwatt::run(&config, &RunOptions::default(), &mut |_| true).expect("a run")
}

fn warns(report: &Report, of: &str) -> bool {
    report.warnings.iter().any(|warning| warning.contains(of))
}

#[test]
fn reads_of_what_was_never_written() {
    let reads = ["workload.uniform.read_fraction=1", "workload.uniform.requests=100"];
    assert!(warns(&run(&[&reads[..], &["run.precondition=empty"]].concat()), "100 page reads found no data"));
    assert_eq!(run(&reads).warnings, [""; 0]);
}

#[test]
fn fewer_requests_than_asked() {
    let sets = ["run.measure.requests=200", "workload.uniform.requests=100"];
    let report = run(&sets);
    assert!(warns(&report, "the workload ended after 100 of the 200 requests"));
    assert!(warns(&report, "workload.uniform.requests"), "the key that sets them");
    let enough = ["run.measure.requests=100", "workload.uniform.requests=200", "run.count_drain=true"];
    assert_eq!(run(&enough).warnings, [""; 0]);
}

/// A loop deeper than the drive's queue. Not the default depth, which is the drive's, also where an array has lost a member.
#[test]
fn a_loop_deeper_than_the_drive() {
    let said = |sets: &[&str], of: &str| {
        let sets = [&["workload.uniform.requests=100", "run.count_drain=true"], sets].concat();
        warns(&run(&sets), of)
    };
    let deeper = "workload.uniform.queue_depth=40";
    assert!(said(&[deeper], "asks for 40 requests under way, and the drive accepts 32"));
    assert!(!said(&[deeper, "host.scheduler=none"], "requests under way"), "the host's queue takes them");
    assert!(!said(&[], "requests under way"));
    assert!(!said(&["array.members=3", "array.level=raid5", "array.failed_member=1"], "requests under way"));
}

/// Times in microseconds or milliseconds under keys in nanoseconds. 1 ns stands for no time.
#[test]
fn array_times_without_their_unit() {
    let times = |read: u32, program: u32, erase: u32| {
        let [read, program, erase] = [("read", read), ("program", program), ("erase", erase)]
            .map(|(name, ns)| format!("device.timing.{name}_ns={ns}"));
        let report = run(&[&read, &program, &erase, "workload.uniform.requests=100", "run.count_drain=true"]);
        report.warnings.into_iter().filter(|warning| warning.contains("timing")).collect::<Vec<_>>()
    };
    let [read, program] = &times(50, 999, 1_000)[..] else { panic!("a warning for each of two") };
    assert!(read.starts_with("device.timing.read_ns = 50: less") && read.contains("\"50us\""), "{read}");
    assert!(program.starts_with("device.timing.program_ns = 999: less"), "{program}");
    assert_eq!(times(1, 1, 1), [""; 0]);
}

/// Flash comes in blocks of every plane: of `x25m` 40 blocks of 512 KiB at a time, 20,971,520 bytes. A drive of 1 GB with a ratio of 0.07
/// takes 52 times as much, 1,090,519,040 bytes.
#[test]
fn over_provisioning_that_was_rounded() {
    let said = |sets: &[&str]| {
        let sets = [&["workload.uniform.requests=100", "run.count_drain=true"], sets].concat();
        run(&sets).warnings.into_iter().filter(|warning| warning.contains("op_ratio")).collect::<Vec<_>>()
    };
    let small = "device.logical_bytes=1000000000";
    assert_eq!(
        said(&[small, "device.op_ratio=7%"]),
        [
            "device.op_ratio: 0.0700 was asked for, and the drive has 0.0905: flash grows by one block of every plane, 21.0 MB"
        ]
    );
    assert_eq!(said(&[small, "device.op_ratio=0.09"]), [""; 0], "nearly as asked");
    assert_eq!(said(&["device.op_ratio=0.1"]), [""; 0], "of given blocks the host's part is rounded, to a page");
    let [percent] = &said(&["device.op_ratio=28"])[..] else { panic!("one warning") };
    assert!(percent.starts_with("device.op_ratio = 28.0") && percent.contains("29.0 times"), "{percent}");
}

/// A drive whose buffer takes all writes at once, without a link: the window ends when it began.
#[test]
fn a_window_without_length() {
    let sets = ["workload.uniform.requests=100", "write_buffer.bytes=1MiB"];
    let none = run(&sets);
    assert!(warns(&none, "the measured window has no length"), "{:?}", none.warnings);
    assert_eq!(
        (none.throughput.simulated_s, none.efficiency.j_per_gb, none.efficiency.j_per_tb_written),
        (0.0, None, None)
    );
    let drained = run(&[&sets[..], &["run.count_drain=true"]].concat());
    assert!(!warns(&drained, "no length") && drained.efficiency.j_per_gb.is_some_and(|j| j > 0.0));
}

/// 1,000,000 writes a second are more than the drive takes, and 100 are not. A closed loop waits for itself.
#[test]
fn a_drive_that_cannot_keep_up() {
    let said = |sets: &[&str]| {
        let sets = [&["workload.uniform.requests=2000", "run.count_drain=true"], sets].concat();
        warns(&run(&sets), "requests arrived faster than the drive served them")
    };
    assert!(said(&["workload.uniform.rate_per_s=1000000"]));
    assert!(!said(&["workload.uniform.rate_per_s=100"]));
    assert!(!said(&["workload.uniform.queue_depth=32", "workload.uniform.requests=1000"]));
}

/// No request waits for the interface unless the drive has a link.
#[test]
fn an_interface_that_works_longer_than_there_was() {
    let sets =
        ["workload.uniform.requests=2000", "write_buffer.bytes=4MiB", "energy.host_interface.bandwidth_mb_s=100"];
    let over = "the host interface was given work of ";
    let slow = run(&sets);
    assert!(warns(&slow, over), "{:?}", slow.warnings);
    let linked = run(&[&sets[..], &["device.host_link.bandwidth_mb_s=100"]].concat());
    assert!(!warns(&linked, over), "{:?}", linked.warnings);
}

#[test]
fn nothing_measured_is_no_complete_run() {
    let report = run(&["run.warmup.seconds=1000", "workload.uniform.requests=100"]);
    assert!(report.status.starts_with("failed: run.warmup: nothing was measured"), "{}", report.status);
}

/// Writes count in write amplification when they are taken up, programs when they end.
#[test]
fn writes_still_under_way() {
    let measured = |warmup: &str| {
        run(&["workload.uniform.queue_depth=64", "run.measure.requests=100", "run.precondition=empty", warmup])
    };
    let too_low = "write amplification is too low: ";
    let early = measured("run.warmup.requests=0");
    assert!(early.ssd().flash.gc_factor.is_some_and(|factor| factor < 0.99) && warns(&early, too_low), "{early:?}");
    let late = measured("run.warmup.requests=1000");
    assert!(!warns(&late, too_low), "as many were under way at the start: {:?}", late.warnings);
}

/// A drive whose spare blocks are used up while collection waits is not in balance; one that has been is, and one that starts as long
/// writing leaves it.
#[test]
fn collection_that_falls_behind() {
    let sets = ["gc.low_watermark_blocks=24", "device.op_ratio=0.5", "workload.uniform.queue_depth=64"];
    let measured = |start: &str, warmup: &str| {
        let window = ["run.measure.requests=20000", "workload.uniform.requests=400000", start, warmup];
        let report = run(&[&sets[..], &window].concat());
        let write_amplification = report.ssd().flash.write_amplification.expect("the host wrote");
        (warns(&report, "collection fell behind"), write_amplification, report.warnings)
    };
    let early = measured("run.precondition=filled", "run.warmup.requests=50000");
    assert!(early.0, "{early:?}");
    let late = measured("run.precondition=filled", "run.warmup.requests=300000");
    assert!(!late.0 && late.1 > early.1, "{early:?} {late:?}");
    let steady = measured("run.precondition=steady", "run.warmup.requests=1000");
    assert!(!steady.0 && (steady.1 / late.1 - 1.0).abs() < 0.03, "{steady:?} {late:?}");
}

/// Reads after endless writes wait for the collections that these have left; a warm-up takes them in.
#[test]
fn collections_from_before_reads() {
    let warned = |start: &str, warmup: &str| {
        let reads = ["workload.uniform.read_fraction=1", "workload.uniform.queue_depth=1"];
        let window = ["workload.uniform.requests=10000", "run.measure.requests=500", start, warmup];
        warns(&run(&[&reads[..], &window].concat()), "collections from before the measured window")
    };
    assert!(warned("run.precondition=steady", "run.warmup.requests=0"));
    assert!(!warned("run.precondition=steady", "run.warmup.requests=8000"));
    assert!(!warned("run.precondition=filled", "run.warmup.requests=0"));
}

#[test]
fn a_mapping_table_that_holds_the_whole_map() {
    let sets = ["workload.uniform.requests=100", "run.count_drain=true"];
    for ftl in ["dftl", "tpftl", "rftl"] {
        let with = |set: String| warns(&run(&[&sets[..], &[&set]].concat()), "has room for the whole map");
        assert!(with(format!("ftl={ftl}")), "{ftl}: 8 MiB");
        assert!(!with(format!("ftl.{ftl}.cmt_fraction=0.01")), "{ftl}");
    }
    assert!(!warns(&run(&sets), "whole map"));
}

/// Greedy collection under uniform writes. A filled drive starts with all its spare blocks erased: write amplification rises
/// from 1. After a warm-up it is the same in both halves.
#[test]
fn write_amplification_that_has_not_settled() {
    let after = |warmup: u32| {
        let [warmup, requests] =
            [format!("run.warmup.requests={warmup}"), format!("workload.uniform.requests={}", warmup + 150_000)];
        run(&["device.op_ratio=0.15", "run.count_drain=true", "run.precondition=filled", &warmup, &requests])
    };
    let rising = after(0);
    let warning = rising.warnings.iter().find(|warning| warning.contains("has not settled")).expect("it rises");
    let figures: Vec<f64> = warning.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [first, second] = figures[..] else { panic!("{warning}") };
    let whole = rising.ssd().flash.write_amplification.expect("there are writes");
    assert!((f64::midpoint(first, second) / whole - 1.0).abs() < 0.02, "{warning}, {whole} in all");
    assert_eq!(after(600_000).warnings, [""; 0]);
}

/// Four dies of 40 blocks of 512 KiB for 64 MiB. A low watermark of 3 blocks keeps 2 erased, the one that the host opens, and half of
/// the one that collection fills: 3.5 × 4 × 0.5 = 7 MiB of 80. So 73 - 64 = 9 MiB are left: 9 / 73 of the pages, as the victims show of
/// a drive that keeps up.
#[test]
fn spare_flash_that_collection_can_use() {
    let sets = [
        "device.channels=2",
        "device.ways=2",
        "device.blocks_per_plane=20",
        "device.op_ratio=0.25",
        "run.precondition=steady",
        "run.warmup.requests=2000",
        "workload.uniform.requests=8000",
        "workload.uniform.rate_per_s=60",
    ];
    let report = run(&sets);
    let spare = &report.ssd().spare;
    assert_eq!((spare.kept_bytes, spare.watermark_bytes), (7 << 20, 6 << 20));
    assert_eq!((spare.op_ratio, spare.fraction, spare.asked_op_ratio), (0.25, 0.2, 0.25));
    assert_eq!((spare.effective_op_ratio, spare.effective_fraction), (Some(9.0 / 64.0), Some(9.0 / 73.0)));
    let measured = spare.measured_fraction.expect("there were victims");
    assert!((measured * 73.0 / 9.0 - 1.0).abs() < 0.03, "{measured}");
    assert!(!warns(&report, "the low watermark keeps"), "{:?}", report.warnings);
    let eaten = run(&[&sets[..], &["gc.low_watermark_blocks=5"]].concat());
    assert!(
        warns(&eaten, "keeps 5 of the 40 blocks of each die from data, 62 % of the spare flash"),
        "{:?}",
        eaten.warnings
    );
    assert!(eaten.warnings.iter().any(|text| text.contains("device.pages_per_block = 32")), "{:?}", eaten.warnings);
}

/// What has a warning about it is marked: the keys of the figures that a longer run would change.
#[test]
fn figures_that_are_not_steady_are_named() {
    let marked = |report: &Report| report.not_steady.iter().flat_map(|doubt| doubt.keys.clone()).collect::<Vec<_>>();
    let early = run(&["workload.uniform.queue_depth=64", "run.measure.requests=100", "run.precondition=empty"]);
    assert!(marked(&early).contains(&"flash.write_amplification") && !marked(&early).contains(&"throughput"));
    let flooded =
        run(&["workload.uniform.requests=2000", "run.count_drain=true", "workload.uniform.rate_per_s=1000000"]);
    assert!(marked(&flooded).contains(&"latency_ns"), "{:?}", flooded.not_steady);
    let calm = run(&["workload.uniform.requests=2000", "run.count_drain=true", "workload.uniform.rate_per_s=100"]);
    assert_eq!(marked(&calm), [""; 0]);
}
