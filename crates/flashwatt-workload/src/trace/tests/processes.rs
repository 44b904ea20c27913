//! Processes that traces name: in records, as origins of requests, and through conversions.

use super::*;
use crate::settings::TraceOrigin;
use flashwatt_core::connector::OriginKind;

/// The processes of all records of a file of this content.
fn processes(content: &[u8]) -> Vec<Option<u32>> {
    let file = Temporary::new("t", content);
    let mut traces = Traces::open(&file.cfg()).expect("a trace");
    let mut found = Vec::new();
    while let Some(record) = traces.next_record().expect("records") {
        found.push(record.process.number());
    }
    found
}

#[test]
fn formats_with_a_column_of_processes() {
    let of = |name: &str| processes(find(name).unwrap_or_else(|e| panic!("{e}")).0.example);
    assert_eq!(of("blkparse"), [Some(3645); 4], "the flush before a write is of the same process");
    assert_eq!(of("blktrace"), [Some(9); 3]);
    assert_eq!(of("tracefs"), [Some(5670), Some(44), Some(5670)]);
    assert_eq!(of("fiu-iodedup"), [Some(4892); 2]);
    assert_eq!(of("csv"), [None; 3]);
}

#[test]
fn names_with_blanks_and_brackets_before_the_number() {
    let line = |name: &str| format!("  {name} [000] .N...  1.5: block_rq_issue: 7,0 R 4096 () 8 + 8 be,0,4 [a]\n");
    let numbers = [("a b [c]-12   ", Some(12)), ("<...>-7", Some(7)), ("fio-9 (    9)", Some(9)), ("nobody", None)];
    for (name, number) in numbers {
        assert_eq!(processes(line(name).as_bytes()), [number], "{name}");
    }
}

#[test]
fn a_number_that_is_too_large_is_named() {
    let file = Temporary::new("t", b"8,0 0 1 0.5 4294967295 D R 8 + 8 [a]\n");
    let cfg = settings::Trace { format: Some("blkparse".into()), ..file.cfg() };
    assert!(message(replay(&cfg, DRIVE)).starts_with("t:1: process id: number too large; found `4294967295`"));
}

const TWO: &str = "0,0,R,0,512,0,9\n1,0,W,512,512,0,4\n2,0,R,0,512,0,\n3,0,F,0,0,0,9\n";

fn origins(cfg: &settings::Trace) -> (Vec<u16>, Vec<(String, OriginKind)>) {
    let workload = TraceWorkload::open(cfg, DRIVE).unwrap_or_else(|e| panic!("{e}"));
    let names = workload.origins().into_iter().map(|origin| (origin.name, origin.kind)).collect();
    let (requests, _) = replay(cfg, DRIVE).unwrap_or_else(|e| panic!("{e}"));
    (requests.iter().map(|request| request.origin.0).collect(), names)
}

#[test]
fn processes_of_one_device_are_origins() {
    let file = Temporary::new("t", TWO.as_bytes());
    let (numbers, names) = origins(&file.cfg());
    assert_eq!(numbers, [1, 0, 2, 1]);
    let kind = OriginKind::Process;
    assert_eq!(names, ["4", "9", "none", "others"].map(|name| (name.to_string(), kind)));
    let by_device = settings::Trace { origin: Some(TraceOrigin::Device), ..file.cfg() };
    assert_eq!(origins(&by_device), (vec![0; 4], vec![("0".to_string(), OriginKind::Device)]));
    assert_eq!(info(&file.cfg(), &mut |_| true).map(|info| info.processes).ok(), Some(2));
}

#[test]
fn devices_come_before_processes_unless_the_user_says_otherwise() {
    let file = Temporary::new("t", format!("{TWO}4,1,R,0,512,0,4\n").as_bytes());
    assert_eq!(origins(&file.cfg()).0, [0, 0, 0, 0, 1]);
    let by_process = settings::Trace { origin: Some(TraceOrigin::Process), ..file.cfg() };
    assert_eq!(origins(&by_process).0, [1, 0, 2, 1, 0]);
}

#[test]
fn a_trace_without_processes_has_none_to_tell_apart() {
    let file = Temporary::new("t", b"0,0,R,0,512\n");
    let cfg = settings::Trace { origin: Some(TraceOrigin::Process), ..file.cfg() };
    assert!(message(replay(&cfg, DRIVE)).contains("workload.trace.origin: the trace names no process"));
}

/// More processes than an origin has numbers: the others share the last one.
#[test]
fn processes_beyond_the_limit_share_an_origin() {
    let line = |process: usize| format!("0,0,R,0,512,0,{process}\n");
    let content: String = (0..layout::PROCESSES_MAX + 2).map(line).collect();
    let file = Temporary::new("t", content.as_bytes());
    let (numbers, names) = origins(&file.cfg());
    let last = layout::PROCESSES_MAX;
    assert_eq!((numbers[last - 1], numbers[last], numbers[last + 1]), (last as u16 - 1, last as u16, last as u16));
    assert_eq!((names.len(), names[last].0.as_str()), (last + 1, "others"));
}

/// Who waits for a write is kept in CSV with processes. Without the column all writes are waited for.
#[test]
fn conversions_to_csv_keep_who_waits() {
    let text = "0,0,W,0,4096,0,9,0\n1,0,W,4096,4096,0,9,1\n2,0,W,8192,4096,0,9\n";
    let file = Temporary::new("t", text.as_bytes());
    let path = file.0.parent().expect("a folder").join("waits.csv");
    let target = Target { path: path.clone(), format: None, drive_bytes: None, force: false };
    let converted = convert(&settings::Trace::of(&file.0), &target, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(converted.warnings, [""; 0]);
    let lines = std::fs::read_to_string(&path).expect("the new file");
    let waits: Vec<_> = lines.lines().skip(1).map(|line| line.rsplit(',').next()).collect();
    assert_eq!(waits, [Some("0"), Some("1"), Some("1")]);
}

#[test]
fn conversions_keep_processes() {
    let file = Temporary::new("t", TWO.as_bytes());
    let folder = file.0.parent().expect("a folder").to_path_buf();
    let to = |from: &std::path::Path, name: &str, drive_bytes| {
        let target = Target { path: folder.join(name), format: None, drive_bytes, force: false };
        convert(&settings::Trace::of(from), &target, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        folder.join(name)
    };
    let binary = to(&file.0, "a.fwt", None);
    let csv = to(&binary, "b.csv", None);
    let expected = "time_us,device,op,offset,bytes,fua,process,sync\n0.000,0,R,0,512,0,9,1\n1.000,0,W,512,512,0,4,1\n\
                    2.000,0,R,0,512,0,,1\n3.000,0,F,0,0,0,9,1\n";
    assert_eq!(std::fs::read_to_string(&csv).ok().as_deref(), Some(expected));
    assert_eq!(std::fs::read_to_string(to(&binary, "c.csv", Some(DRIVE))).ok().as_deref(), Some(expected));
    let target = Target { path: csv, format: None, drive_bytes: None, force: false };
    assert!(convert(&settings::Trace::of(&binary), &target, &mut |_| true).is_ok(), "its own CSV may be replaced");
}
