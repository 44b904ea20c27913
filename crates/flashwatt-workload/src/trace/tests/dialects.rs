//! Peculiarities of single formats in real files.

use super::*;

fn records(name: &str, content: &str) -> (Brief, Vec<String>) {
    let file = Temporary::new(name, content.as_bytes());
    let (requests, warnings) = replay(&file.cfg(), DRIVE).unwrap_or_else(|e| panic!("{e}"));
    (brief(&requests), warnings)
}

#[test]
fn a_log_of_completions_needs_no_option() {
    let content = "8,0 0 1 0.5 9 C R 8 + 8 [0]\n8,0 0 2 0.6 9 C WS 16 + 8 [0]\n";
    let (requests, warnings) = records("t", content);
    assert_eq!(requests, [(0, 'R', 4096, 4096), (100_000_000, 'W', 8192, 4096)]);
    assert_eq!(warnings, ["read as blkparse:C: the trace begins without D events"]);
    let file = Temporary::new("t", content.as_bytes());
    assert_eq!(info(&file.cfg(), &mut |_| true).map(|info| info.format).ok().as_deref(), Some("blkparse:C"));
    let named = settings::Trace { format: Some("blkparse".into()), ..file.cfg() };
    assert!(message(replay(&named, DRIVE)).contains("requests are D events unless"));
}

#[test]
fn queued_comes_before_completed_and_issued_before_both() {
    let line = |event: &str, sector: u32| format!("8,0 0 1 0.5 9 {event} R {sector} + 8 [0]\n");
    let queued = line("Q", 8) + &line("C", 8);
    assert_eq!(records("t", &queued).1[0], "read as blkparse:Q: the trace begins without D events");
    let (requests, warnings) = records("t", &(queued + &line("D", 16)));
    assert_eq!(requests, [(0, 'R', 8192, 4096)]);
    assert_eq!(warnings, ["passed over as no request: 2 of the trace's lines or events"]);
    let tracefs = " a-1 [000] ..... 1.5: block_rq_complete: 8,0 R () 8 + 8 be,0,4 [0]\n";
    assert!(records("t", tracefs).1[0].starts_with("read as tracefs:block_rq_complete"));
}

#[test]
fn a_fio_log_of_two_jobs_has_two_headers() {
    let job =
        |file: &str| format!("fio version 2 iolog\n{file} add\n{file} open\n{file} read 0 4096\n{file} wait 150\n");
    let (requests, warnings) = records("t", &(job("a") + "a write 4096 4096\n" + &job("b") + "b read 8192 4096\n"));
    let mib = 1 << 20;
    let expected = [
        (0, 'R', 0, 4096),
        (150_000_000, 'W', 4096, 4096),
        (150_000_000, 'R', mib, 4096),
        (150_000_000, 'R', mib + 8192, 4096),
    ];
    assert_eq!(requests, expected);
    assert!(warnings.iter().any(|warning| warning.contains("1 record whose time goes back")), "{warnings:?}");
    let third = "fio version 3 iolog\n1 a add\n5 a read 0 512\nfio version 3 iolog\n2 b add\n9 a read 512 512\n7 b read 0 512\n";
    assert_eq!(records("t", third).0.len(), 3);
    let wrong = Temporary::new("t", b"fio version 2 iolog\na add\na read 0 512\nfio version 9 iolog\n");
    assert!(message(replay(&wrong.cfg(), DRIVE)).starts_with("t:4: header: not a version that is known"));
}

#[test]
fn a_systor_line_without_an_operation_is_no_request() {
    let (requests, warnings) =
        records("t", "Timestamp,Response,IOType,LUN,Offset,Size\n1.5,0.001,R,0,0,512\n1.6,,,0,4096,512\n");
    assert_eq!(requests, [(0, 'R', 0, 512)]);
    assert_eq!(warnings, ["passed over as no request: 1 of the trace's lines or events"]);
}

#[test]
fn btrecord_gives_a_bunch_one_time() {
    let (requests, warnings) = records(
        "t",
        "------------------\n   1.000000000   1\n------------------\n\t1          8\t         8\n------------------\n   \
         1.000025076   2\n------------------\n\t0         16\t        16\n\t1         40\t         1\n",
    );
    assert_eq!(requests, [(0, 'R', 4096, 4096), (25_076, 'W', 8192, 8192), (25_076, 'R', 20_480, 512)]);
    assert_eq!(warnings, Vec::<String>::new());
    let early = settings::Trace { format: Some("btrecord".into()), ..settings::Trace::of("x") };
    let file = Temporary::new("t", b"\t1 8\t8\n");
    let told = message(replay(&settings::Trace { paths: vec![file.0.clone()], ..early }, DRIVE));
    assert!(told.starts_with("t:1: operation: a request before the time of its bunch"), "{told}");
}

#[test]
fn vscsi_as_csv_with_and_without_marks_before_its_header() {
    let body = "2147483692,4096,1,write,24,2756778716647\n2147483769,512,2,read,8,2756778716650\n";
    let names = "Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp (microseconds)\n";
    let expected = [(0, 'W', 12_288, 4096), (3000, 'R', 4096, 512)];
    for mark in ["", "#"] {
        let content = format!("{mark}Vscsi Cmd Trace. (Trace Format Version 1)\n{mark}{names}{body}");
        assert_eq!(records("t", &content), (expected.to_vec(), Vec::new()));
    }
    assert_eq!(records("t", body).0, expected);
    let other = Temporary::new("t", format!("Vscsi Cmd Trace. (Trace Format Version 2)\n{body}").as_bytes());
    assert!(message(replay(&other.cfg(), DRIVE)).starts_with("t:1: header: not a version that is known"));
}

#[test]
fn hfplayer_requests_and_replies() {
    let line = |us: &str, command: &str, lun: u32, block: u32| {
        format!("4124,{us},822590674,{command},2,822590674,5001,{lun},0,0,{block},2,426600,7,6,200.5\n")
    };
    let content = line("50", "RD", 6, 2) + &line("100.25", "WR_IN", 6, 8) + &line("101", "WR_OUT", 6, 8);
    let (requests, warnings) = records("t", &content);
    assert_eq!(requests, [(0, 'R', 1024, 1024), (50_250, 'W', 4096, 1024)]);
    assert_eq!(warnings, ["passed over as no request: 1 of the trace's lines or events"]);
}

#[test]
fn biotracer_sizes_are_cleaned_of_the_driver_s_sector() {
    let times = "\t\t1.5\t\t1.6\t\t1.7\t\t1.8\n";
    let content = format!("8\t\t8\t\t4096\t\t5{times}16\t\t17\t\t8704\t\t0{times}24\t\t1\t\t512\t\t4{times}");
    assert_eq!(records("t", &content).0, [(0, 'W', 4096, 4096), (0, 'R', 8192, 8192), (0, 'R', 12_288, 512)]);
    let bad = Temporary::new("t", format!("8 8 4096 5{times}8 8 4096 8{times}").as_bytes());
    assert!(message(replay(&bad.cfg(), DRIVE)).starts_with("t:2: type: unknown operation; found `8`; expected 0 to 7"));
}

/// What `blkparse` adds with -q, -s and -t.
#[test]
fn options_of_blkparse() {
    let event =
        |i: u32, end: &str| format!("  8,0    0 {i:8} {:14.9}  77  D   R {} + 8 {end}\n", f64::from(i) / 1e3, i * 8);
    let flush = "  8,0    0      243     0.075378508   179  D  FN (15027837473061124057) [kworker/0:1H]\n\
                 \x20 8,0    0      244     0.075761288   179  D  FF 0 (  382780) [0]\n";
    for end in [
        "Input file sda.blktrace.0 added\n",
        "kworker/0:1H (179)\n Reads Queued:           0,        0KiB\t Writes Queued:           0,        0KiB\n",
        "a b (7)\n Reads Queued:           0\n\nCPU0 (8,0):\n Reads Queued:           0,        0KiB\n",
    ] {
        let (requests, warnings) = records("t", &(event(1, "[x]") + &event(2, "(   12345) [x (1)]") + flush + end));
        assert_eq!(requests.iter().map(|r| r.1).collect::<String>(), "RRFF", "{end}");
        assert_eq!(warnings, [""; 0]);
    }
}

/// A log without times is replayed as a closed loop unless that is refused, and both are said.
#[test]
fn a_trace_without_times_is_a_closed_loop() {
    let file = Temporary::new("t", b"fio version 2 iolog\na add\na open\na read 0 4096\na read 4096 4096\na close\n");
    let of = |closed_loop| {
        let mut workload =
            TraceWorkload::open(&settings::Trace { closed_loop, ..file.cfg() }, DRIVE).expect("a good trace");
        let arrival = match workload.next(500) {
            Ok(flashwatt_core::connector::Next::Request(_, request)) => request.arrival_ns,
            _ => panic!("no request"),
        };
        (arrival, workload.warnings().into_iter().filter(|told| told.contains("closed_loop")).count())
    };
    assert_eq!([of(None), of(Some(false)), of(Some(true))], [(500, 1), (0, 1), (500, 0)]);
    let told = info(&file.cfg(), &mut |_| true).expect("a good trace").warnings;
    assert!(told.iter().any(|told| told.contains("no times in the trace") && told.contains("closed_loop")), "{told:?}");
}

#[test]
fn a_csv_of_one_device_may_have_no_column_for_it() {
    let expected = [(0, 'W', 4096, 8192), (1500, 'R', 0, 4096)];
    assert_eq!(records("t", "time_us,op,offset,bytes\n1,W,4096,8192\n2.5,R,0,4096\n").0, expected);
}

#[test]
fn biosnoop_with_the_time_in_the_queue() {
    let log = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  QUE(ms) LAT(ms)\n\
               0.000000    a b:1          13379  nvme1n1 W 1142400    4096      0.01    0.55\n\
               0.000771    sync           22177  nvme0n1 WS 16        3072      0.11    0.47\n";
    assert_eq!(
        records("t", log).0,
        [(0, 'W', 1142400 * 512, 4096), (771_000, 'W', ((((1142400 * 512) >> 20) + 1) << 20) + 8192, 3072)]
    );
}

/// Files of other simulators, and archives, are named with what to do.
#[test]
fn files_that_are_no_traces() {
    let mut tar = vec![0; 512];
    tar[..4].copy_from_slice(b"a b ");
    tar[257..262].copy_from_slice(b"ustar");
    let record = |time: u32, next: i64| {
        [&time.to_le_bytes()[..], &7u64.to_le_bytes(), &4096u32.to_le_bytes(), &next.to_le_bytes()].concat()
    };
    let oracle = [record(1, 1), record(2, 2), record(3, -1)].concat();
    for (content, words) in [
        (&b"<?xml version=\"1.0\"?>\n<Execution_Parameter_Set>\n"[..], "`flashwatt init --mqsim FILE"),
        (b"<MQSim_IO_Scenarios>\n", "--mqsim-workload FILE"),
        (b"disksim_global Global {\n", "a parameter file of DiskSim"),
        (b"[pal]\nChannel = 8\n", "a configuration of SimpleSSD"),
        (b"qemu -device femu,devsz_mb=4096\n", "FEMU"),
        (b"insmod ./nvmev.ko memmap_start=128G\n", "NVMeVirt"),
        (b"TIME(ms)     DISK    COMM   PID    LAT(ms)\n611 nvme0n1 bash 4179 10\n", "neither sectors nor sizes"),
        (&tar, "`tar xf FILE` unpacks it"),
        (&oracle, "libCacheSim in oracleGeneral form"),
    ] {
        let told = message(info(&Temporary::new("t", content).cfg(), &mut |_| true));
        assert!(told.contains(words), "{words}: {told}");
    }
}
