//! What a drive does over time: the bins of a series add up to the report, and a drive small enough is worked out by hand.

use crate::common::{assert_close, mixed, small_drive};
use flashwatt::Report;
use flashwatt::RunOptions;
use flashwatt::config::Config;
use flashwatt_ssd::energy::activity::ActivitySeries;
use flashwatt_ssd::ftl::Cause;

fn recorded(config: &Config, interval_ns: u64) -> (Report, ActivitySeries, Vec<f64>) {
    let options = RunOptions { series_interval_ns: Some(interval_ns), ..RunOptions::default() };
    let report = flashwatt::run(config, &options, &mut |_| true).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.status, "complete");
    let series = report.series.as_ref().expect("it was asked for");
    let total_ns = (report.throughput.simulated_s * 1e9).round() as u64;
    let activity = series.activity.clone().expect("an SSD");
    let bin_s = |at: u64| series.interval_ns.min(total_ns - at * series.interval_ns) as f64 * 1e-9;
    let seconds: Vec<f64> = (0..activity.iops.len() as u64).map(bin_s).collect();
    assert_eq!(seconds.len(), series.power_w["controller"].len(), "the bins of the power");
    (report, activity, seconds)
}

fn over_time(values: &[f64], seconds: &[f64]) -> f64 {
    values.iter().zip(seconds).map(|(value, s)| value * s).sum()
}

/// Whatever the length of the bins, whether they are merged on the way, and whether the drain is counted: no operation, no byte and no
/// joule is lost or counted twice.
#[test]
fn bins_add_up_to_the_report() {
    for (preset, sets) in [
        ("limit", &[][..]),
        ("energysim", &["run.count_drain=true"]),
        ("tlc-nvme-1t", &["run.count_drain=true"]),
        ("rftl-4g", &["run.measure.seconds=0.0712345"]),
    ] {
        for interval_ns in [0, 1_000_000, 123_457] {
            let what = format!("{preset}, {interval_ns}");
            let (report, activity, seconds) = recorded(&mixed(preset, sets), interval_ns);
            let ssd = report.ssd();
            assert_close(over_time(&activity.iops, &seconds), report.workload.requests as f64, &what);
            let moved = [
                (&activity.read_mb_s, report.workload.read_bytes),
                (&activity.write_mb_s, report.workload.write_bytes),
            ];
            for (mb_s, bytes) in moved {
                assert_close(over_time(mb_s, &seconds) * 1e6, bytes as f64, &what);
            }
            let erases: u64 = activity.erased_blocks.iter().sum();
            let programs: u64 = activity.programmed_pages.iter().sum();
            assert_eq!((programs, erases), (ssd.flash.programs.total, ssd.flash.erases.total), "{what}");
            let by_cause = &ssd.energy_by_cause_j;
            for (cause, joules) in [
                (Cause::Host, by_cause.host),
                (Cause::Gc, by_cause.gc),
                (Cause::Map, by_cause.map),
                (Cause::Merge, by_cause.merge),
            ] {
                assert_close(activity.energy_by_cause_j.of(cause).iter().sum(), joules, &format!("{what}: {cause:?}"));
            }
        }
    }
}

/// Three writes of a page, one after the other, that take 1 ms each, in bins of 1.5 ms.
#[test]
fn bins_by_hand() {
    let sets = [
        "workload.uniform.requests=3",
        "workload.uniform.queue_depth=1",
        "workload.uniform.read_fraction=0",
        "workload.uniform.request_bytes=4096",
        "run.precondition=\"empty\"",
        "device.timing.program_ns=900000",
        "device.timing.page_transfer_ns=99600",
        "device.timing.command_ns=400",
        "device.timing.channel_switch_ns=0",
    ];
    // 400 ns for the command, 99,600 ns for the transfer, 900,000 ns for the program: 1 ms.
    let (_, activity, seconds) = recorded(&small_drive(&sets), 1_500_000);
    assert_eq!(seconds, [0.0015, 0.0015]);
    assert_eq!(activity.programmed_pages, [1, 2]);
    assert_eq!(activity.queue_depth, [1.0, 1.0]);
    assert_eq!(
        activity.write_amplification,
        [Some(0.5), Some(2.0)],
        "two writes are accepted in the first bin, one in the second"
    );
    assert_close(activity.iops[0], 1.0 / 0.0015, "one request in the first bin");
    assert_close(activity.iops[1], 2.0 / 0.0015, "two in the second, of which one ends with it");
    assert_close(activity.write_mb_s[1], 2.0 * 4096e-6 / 0.0015, "their bytes");
    assert_eq!(activity.read_mb_s, [0.0, 0.0]);
    assert_eq!((activity.erased_blocks, activity.energy_by_cause_j.of(Cause::Gc).len()), (vec![0, 0], 0));
    let host_j = activity.energy_by_cause_j.of(Cause::Host);
    assert_close(host_j[1], 2.0 * host_j[0], "two programs beside one");
}
