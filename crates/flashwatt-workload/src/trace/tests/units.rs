//! Units given by the user, with every text format.

use super::*;
use crate::settings::{LengthUnit, TimeUnit};

/// The records of a format's example; `None` for each damaged one.
fn decoded(format: &Format, given: GivenUnits) -> Vec<Option<Record>> {
    // Column names that give a unit would contradict another one.
    let records = format.example.strip_prefix(b"time_us,device,op,offset,bytes\n").unwrap_or(format.example);
    let input = Input::new(Box::new(std::io::Cursor::new(records)), "t").expect("reading memory");
    let mut decoder = (format.decode)(input, ReadOptions { given, ..ReadOptions::default() });
    let mut found = Vec::new();
    loop {
        match decoder.next() {
            Ok(Some(record)) => found.push(Some(record)),
            Ok(None) => return found,
            Err(Halt::Bad(_)) => found.push(None),
            Err(_) => panic!("{}", format.name),
        }
    }
}

/// The record with its columns in other units; `None` if a value is then larger than a trace may have.
fn rescaled(record: Record, from: &ColumnUnits, to: &ColumnUnits) -> Option<Record> {
    let times =
        |value: u64, from: u64, to: u64| u64::try_from(u128::from(value) * u128::from(to) / u128::from(from)).ok();
    let time_ns = times(record.time_ns, from.time.ns, to.time.ns)?;
    let offset_bytes = times(record.offset_bytes, from.offset_bytes, to.offset_bytes).filter(|&b| b < 1 << 62)?;
    let bytes = times(record.bytes, from.size_bytes, to.size_bytes)?;
    let believed = bytes <= 4 << 30 || record.kind == RequestKind::Trim;
    believed.then_some(Record { time_ns, offset_bytes, bytes, ..record })
}

#[test]
fn every_text_format_takes_every_unit() {
    let mut compared = 0;
    for (format, own) in FORMATS.iter().filter_map(|format| Some((format, format.units?))) {
        let none = GivenUnits::default();
        let usual = decoded(format, none);
        let times = TimeUnit::ALL.map(|unit| GivenUnits { time: Some(unit), ..none });
        let offsets = LengthUnit::ALL.map(|unit| GivenUnits { offset: Some(unit), ..none });
        let sizes = LengthUnit::ALL.map(|unit| GivenUnits { size: Some(unit), ..none });
        for given in [&times[..], &offsets, &sizes].concat() {
            let expected = usual.iter().map(|record| record.and_then(|record| rescaled(record, &own, &given.or(own))));
            assert_eq!(decoded(format, given), expected.collect::<Vec<_>>(), "{} {given:?}", format.name);
            compared += 1;
        }
    }
    assert_eq!(compared, FORMATS.iter().filter(|format| format.units.is_some()).count() * 19);
}

#[test]
fn a_trace_is_replayed_in_the_units_given() {
    // DiskSim's columns with times in seconds, offsets in bytes and sizes in blocks of 4 KiB.
    let file = Temporary::new("t", b"0.5 0 8192 2 1\n0.75 0 1048576 1 0\n");
    let cfg = settings::Trace {
        time_unit: Some(TimeUnit::Second),
        offset_unit: Some(LengthUnit::Bytes),
        size_unit: Some(LengthUnit::FourKib),
        ..file.cfg()
    };
    let (requests, _) = replay(&cfg, DRIVE).expect("a good trace");
    assert_eq!(brief(&requests), [(0, 'R', 8192, 8192), (250_000_000, 'W', 1 << 20, 4096)]);
}

#[test]
fn whole_nanoseconds_may_be_fractions_of_a_longer_unit() {
    let file = ssdsim("1.5 0 8 8 0\n3.25 0 8 8 0\n");
    let named = settings::Trace { format: Some("ssdsim".into()), ..file.cfg() };
    assert!(message(replay(&named, DRIVE)).contains("time (ns): not a number"));
    let cfg = settings::Trace { time_unit: Some(TimeUnit::Millisecond), ..named };
    let (requests, _) = replay(&cfg, DRIVE).expect("a good trace");
    assert_eq!(requests[1].arrival_ns, 1_750_000);
}

#[test]
fn messages_name_the_unit_that_is_given() {
    let file = ssdsim("0 0 8 8 0\n-5 0 8 8 0\n");
    let cfg = settings::Trace { time_unit: Some(TimeUnit::Microsecond), ..file.cfg() };
    let told = message(replay(&cfg, DRIVE));
    assert!(told.starts_with("t.ssdsim:2: time (us): negative number; found `-5`"), "{told}");
}

#[test]
fn binary_formats_have_no_units_to_choose() {
    for format in FORMATS.iter().filter(|format| format.units.is_none()) {
        let file = Temporary::new("t", format.example);
        let told = |cfg: settings::Trace| message(info(&cfg, &mut |_| true));
        let start =
            |key: &str| format!("workload.trace.{key}: the format {} is binary: its units are fixed", format.name);
        let cfg = settings::Trace { time_unit: Some(TimeUnit::Second), ..file.cfg() };
        assert_eq!(told(cfg), start("time_unit") + "; found `s`; expected no unit");
        let cfg = settings::Trace { offset_unit: Some(LengthUnit::Bytes), ..file.cfg() };
        assert_eq!(told(cfg), start("offset_unit") + "; found `bytes`; expected no unit");
        let cfg = settings::Trace { size_unit: Some(LengthUnit::FourKib), ..file.cfg() };
        assert_eq!(told(cfg), start("size_unit") + "; found `4kib`; expected no unit");
    }
}
