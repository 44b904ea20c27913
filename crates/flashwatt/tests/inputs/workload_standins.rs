//! Stand-ins reproduce the published statistics of their traces, at 1/64 of the size. The full size is shown by
//! `cargo run --release --example standins`.

use crate::common::preset;
use flashwatt::connector::SourceKind;
use flashwatt::workload::standin::{STANDINS, measures};
use flashwatt::{RunOptions, run};

const SCALE: f64 = 1.0 / 64.0;

/// Shares, lengths, sequentiality and hit ratio of every stand-in lie within their tolerances, for three seeds.
#[test]
fn every_stand_in_has_the_published_statistics() {
    for standin in STANDINS.iter() {
        for seed in 1..=3 {
            let (_, rows) = measures(standin, SCALE, seed).expect("a stand-in has no errors");
            assert!(rows.len() >= 4, "{}", standin.name);
            for row in rows {
                assert!(row.holds(), "{}, seed {seed}: {row:?}", standin.name);
            }
        }
    }
}

/// Stand-ins with a published hit ratio also reproduce it at an eighth of the size: the ratio does not depend on the
/// scale.
#[test]
fn hit_ratios_do_not_depend_on_the_scale() {
    for standin in STANDINS.iter().filter(|standin| standin.data.published.hit_percent.is_some()) {
        let (_, rows) = measures(standin, 1.0 / 8.0, 1).expect("a stand-in has no errors");
        let hits = rows.iter().find(|row| row.name.contains("hits")).expect("a row for hits");
        assert!(hits.holds(), "{}: {hits:?}", standin.name);
    }
}

fn report(name: &str) -> flashwatt::Report {
    let sets = [format!("workload.standin.name={name}"), format!("workload.standin.scale={SCALE}")];
    let config = preset("energysim", &sets.each_ref().map(String::as_str));
    run(&config, &RunOptions::default(), &mut |_| true).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// On the drive of EnergySim's case studies the stand-ins run to their ends, are reported as stand-ins, and keep the
/// published mean number of dies busy.
#[test]
fn stand_ins_run_and_keep_the_published_number_of_dies_busy() {
    for standin in STANDINS.iter() {
        let report = report(standin.name);
        assert_eq!(report.status, "complete", "{}", standin.name);
        assert_eq!((report.workload.name.as_str(), report.workload.kind), (standin.name, SourceKind::Standin));
        assert_eq!(report.workload.requests, standin.requests(SCALE), "{}", standin.name);
        if let Some(published) = &standin.data.published.active_dies {
            let dies = report.ssd().parallelism.mean_active_dies;
            assert!((dies - published.value).abs() < 0.7, "{}: {dies} of {}", standin.name, published.value);
        }
    }
}

/// Page writes of MSNfs and FileZilla are those of EnergySim's Table VIII, scaled. The table has, in thousands, 1,959
/// reads and 1,175 writes for MSNfs, 1 read and 1,296 writes for FileZilla.
#[test]
fn page_operations_are_those_of_table_viii() {
    let writes = |name: &str| report(name).ssd().flash.programs.host as f64 / 1e3 / SCALE;
    let (msnfs, filezilla) = (writes("msnfs"), writes("filezilla"));
    assert!((msnfs / 1175.0 - 1.0).abs() < 0.1, "{msnfs}");
    assert!((filezilla / 1296.0 - 1.0).abs() < 0.1, "{filezilla}");
}
