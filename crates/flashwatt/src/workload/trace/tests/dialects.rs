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
    let expected =
        [(0, 'R', 0, 4096), (150_000, 'W', 4096, 4096), (150_000, 'R', mib, 4096), (150_000, 'R', mib + 8192, 4096)];
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
