//! Tests of every registered format and of the replay.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::settings;
use crate::settings::Beyond;
use flashwatt_core::connector::{Next, Request, Workload};

mod changes;
mod dialects;
mod doubts;
mod figures;
mod order;
mod passes;
mod processes;
mod units;

/// A file that is removed when the test is over.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str, content: &[u8]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let folder = format!("flashwatt-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let path = folder.join(name);
        std::fs::write(&path, content).expect("a temporary file");
        Temporary(path)
    }

    fn cfg(&self) -> settings::Trace {
        settings::Trace::of(&self.0)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // A folder that stays behind does no harm.
        let _ = self.0.parent().map(std::fs::remove_dir_all);
    }
}

const DRIVE: u64 = 1 << 30;

/// All requests of a trace, each issued at its arrival time, and the warnings at the end.
fn replay(cfg: &settings::Trace, drive_bytes: u64) -> Result<(Vec<Request>, Vec<String>), Error> {
    let mut workload = TraceWorkload::open(cfg, drive_bytes)?;
    let (mut now, mut requests) = (0, Vec::new());
    loop {
        match workload.next(now)? {
            Next::Request(_, request) => {
                assert!(request.arrival_ns <= now);
                requests.push(request);
            }
            Next::WaitUntil(t) => {
                assert!(t > now);
                now = t;
            }
            Next::WaitForCompletion | Next::Measure => panic!("a trace waits for nothing"),
            Next::End => return Ok((requests, workload.warnings())),
        }
    }
}

/// Requests as `(arrival_ns, kind, offset_bytes, bytes)`; the kind is R, W, T or F.
type Brief = Vec<(u64, char, u64, u64)>;

fn brief(requests: &[Request]) -> Brief {
    let letter = |kind| match kind {
        RequestKind::Read => 'R',
        RequestKind::Write => 'W',
        RequestKind::Trim => 'T',
        RequestKind::Flush => 'F',
    };
    requests.iter().map(|r| (r.arrival_ns, letter(r.kind), r.offset_bytes, r.bytes)).collect()
}

/// The error's text without the folders of [`Temporary`].
fn message<T, E: std::fmt::Display>(result: Result<T, E>) -> String {
    let text = result.err().map_or_else(|| "no error".to_string(), |e| e.to_string());
    let folders = format!("{}/flashwatt-", std::env::temp_dir().display());
    let mut parts = text.split(&folders);
    let first = parts.next().unwrap_or_default().to_string();
    first + &parts.map(|part| part.split_once('/').map_or(part, |(_, name)| name)).collect::<String>()
}

fn ssdsim(content: &str) -> Temporary {
    Temporary::new("t.ssdsim", content.as_bytes())
}

#[test]
fn requests_come_at_their_times() {
    let file = ssdsim("5000 0 8 8 0\n# a comment\n\n7000 0 0 16 1\r\n6000 0 1 1 1\n9000 0 2 3 0");
    let (requests, warnings) = replay(&file.cfg(), DRIVE).expect("a good trace");
    let expected = [(0, 'W', 4096, 4096), (2000, 'R', 0, 8192), (2000, 'R', 512, 512), (4000, 'W', 1024, 1536)];
    assert_eq!(brief(&requests), expected);
    assert_eq!(
        warnings,
        [
            "1 record whose time goes back: each arrives with the record before it (1 step back, the largest 1 us; --sort puts \
         them in order)"
        ]
    );
}

#[test]
fn name_hash_and_length_are_known_from_the_start() {
    let file = ssdsim("0 0 8 8 0\n1 0 8 8 0\n");
    let workload = TraceWorkload::open(&file.cfg(), DRIVE).expect("a good trace");
    assert_eq!((workload.name(), workload.len_hint()), ("t.ssdsim", Some(2)));
    // printf '0 0 8 8 0\n1 0 8 8 0\n' | sha256sum
    let expected = "e15f1d6b57113eed8bc192224dd11d968f89e684beaf58fc33815daba6a7088b";
    assert_eq!(workload.input_sha256().as_deref(), Some(expected));
}

#[test]
fn speed_closed_loop_and_max_requests() {
    let file = ssdsim("0 0 8 8 0\n1000 0 8 8 0\n4001 0 8 8 0\n");
    let of =
        |cfg: &settings::Trace| replay(cfg, DRIVE).map(|(r, _)| r.iter().map(|r| r.arrival_ns).collect::<Vec<_>>());
    assert_eq!(of(&settings::Trace { speed: 2.0, ..file.cfg() }).ok(), Some(vec![0, 500, 2001]));
    assert_eq!(of(&settings::Trace { closed_loop: Some(true), ..file.cfg() }).ok(), Some(vec![0, 0, 0]));
    assert_eq!(of(&settings::Trace { max_requests: Some(2), ..file.cfg() }).ok(), Some(vec![0, 1000]));
}

#[test]
fn devices_are_laid_out_or_chosen() {
    let file = ssdsim("0 7 0 8 0\n1 3 2040 16 0\n2 7 8 8 1\n");
    let (requests, warnings) = replay(&file.cfg(), DRIVE).expect("a good trace");
    let mib = 1 << 20;
    let expected = [(0, 'W', 2 * mib, 4096), (1, 'W', mib - 4096, 8192), (2, 'R', 2 * mib + 4096, 4096)];
    assert_eq!(brief(&requests), expected);
    assert_eq!(warnings, ["2 devices laid out one after another: 3 at byte 0, 7 at byte 2097152"]);
    let (chosen, warnings) = replay(&settings::Trace { devices: vec![7], ..file.cfg() }, DRIVE).expect("a good trace");
    assert_eq!(brief(&chosen), [(0, 'W', 0, 4096), (2, 'R', 4096, 4096)]);
    assert_eq!(warnings, ["1 request to devices that were not chosen left out"]);
    let wrong = settings::Trace { devices: vec![7, 4], ..file.cfg() };
    assert_eq!(
        message(replay(&wrong, DRIVE)),
        "t.ssdsim: the trace has no request to a chosen device; found device 4; expected some of 7, 3"
    );
}

#[test]
fn beyond_the_drive_is_an_error_or_folded_or_clipped() {
    let file = ssdsim("0 0 8 8 0\n1 0 2044 8 0\n2 0 4096 8 1\n3 0 0 4000 0\n");
    let drive = 1 << 20; // 2048 sectors
    assert_eq!(
        message(replay(&file.cfg(), drive)),
        "t.ssdsim:3: offset: requests reach beyond the drive; found 3 of 4, the furthest until byte 2101248; expected at \
         most 1048576, the drive's size (--fold takes addresses modulo the drive's size, --clip cuts there, workload.trace.dense = true leaves no gaps between addresses; or take a larger drive)"
    );
    let fold = settings::Trace { beyond: Beyond::Fold, ..file.cfg() };
    let (requests, warnings) = replay(&fold, drive).expect("a folded trace");
    let expected = [(0, 'W', 4096, 4096), (1, 'W', drive - 4096, 4096), (2, 'R', 0, 4096), (3, 'W', 0, drive)];
    assert_eq!(brief(&requests), expected);
    assert_eq!(
        warnings,
        [
            "1 request beyond the drive folded: address modulo 1048576 bytes",
            "1 folded request moved back to end where the drive ends",
            "1 request cut at the drive's end"
        ]
    );
    let clip = settings::Trace { beyond: Beyond::Clip, ..file.cfg() };
    assert_eq!(TraceWorkload::open(&clip, drive).expect("a clipped trace").len_hint(), None);
    let (requests, warnings) = replay(&clip, drive).expect("a clipped trace");
    let expected = [(0, 'W', 4096, 4096), (1, 'W', drive - 2048, 2048), (3, 'W', 0, drive)];
    assert_eq!(brief(&requests), expected);
    assert_eq!(warnings, ["2 requests cut at the drive's end", "1 request beyond the drive left out"]);
}

#[test]
fn odd_bytes_are_widened_and_counted() {
    let file = Temporary::new("t.spc", b"0,1,100,w,0.0\n0,1,513,r,0.5\n0,1,512,r,0.5\n");
    let (requests, warnings) = replay(&file.cfg(), DRIVE).expect("a good trace");
    assert_eq!(brief(&requests), [(0, 'W', 512, 512), (500_000_000, 'R', 512, 1024), (500_000_000, 'R', 512, 512)]);
    assert_eq!(warnings, ["2 requests widened to whole 512-byte sectors"]);
}

/// Broken traces: format, content, expected message.
const BROKEN: &[(&str, &str, &str)] = &[
    (
        "ssdsim",
        "0 0 8 8 0\n0 0 8\n",
        "t:2: sectors: missing column; found the end of the line; expected a value (--skip-bad leaves such records out)",
    ),
    (
        "ssdsim",
        "0 0 8 8 0\n\n#\n0 0 8 8 0 9\n",
        "t:4: end of line: extra column; found `9`; expected the end of the line (--skip-bad leaves such records out)",
    ),
    (
        "ssdsim",
        "0 0 8 8 2\n",
        "t:1: operation: unknown operation; found `2`; expected 1 (read) or 0 (write) (--skip-bad leaves such records out)",
    ),
    (
        "ssdsim",
        "-5 0 8 8 0\n",
        "t:1: time (ns): negative number; found `-5`; expected a whole number, 0 or more (--skip-bad leaves such records out)",
    ),
    (
        "ssdsim",
        "0 0 8 0 0\n",
        "t:1: sectors: request of no length; found `0`; expected a positive number (--skip-bad leaves such records out)",
    ),
    (
        "ssdsim",
        "0 0 9007199254740992 8 0\n",
        "t:1: first sector: address too large; found `9007199254740992`; expected an address below 2^62 bytes \
         (--skip-bad leaves such records out)",
    ),
    (
        "ssdsim",
        "0 0 99999999999999999999 8 0\n",
        "t:1: first sector: number too large; found `99999999999999999999`; expected a whole number, 0 or more \
         (--skip-bad leaves such records out)",
    ),
    (
        "ssdsim",
        "0 0 8 8388609 0\n",
        "t:1: sectors: request too large; found `4294967808`; expected at most 4 GiB in one request \
         (--skip-bad leaves such records out)",
    ),
    (
        "spc",
        "0,8,4096,x,0.5\n",
        "t:1: operation: unknown operation; found `x`; expected r or w (--skip-bad leaves such records out)",
    ),
    (
        "spc",
        "0,8,4096,w,soon\n",
        "t:1: time (s): not a number; found `soon`; expected a decimal number, 0 or more (--skip-bad leaves such records out)",
    ),
    (
        "spc",
        "0,,4096,w,0\n",
        "t:1: LBA: empty column; found ``; expected a whole number, 0 or more (--skip-bad leaves such records out)",
    ),
    (
        "msr",
        "1,a,0,Wrote,0,512,9\n",
        "t:1: operation: unknown operation; found `Wrote`; expected Read or Write (--skip-bad leaves such records out)",
    ),
    (
        "msr",
        "1,a,0,Write,0,512\n",
        "t:1: response time: missing column; found the end of the line; expected a value (--skip-bad leaves such records out)",
    ),
    (
        "msr",
        "184467440737095517,a,0,Write,0,512,1\n",
        "t:1: time (FILETIME): time too large; found `184467440737095517`; expected a time below 2^64 ns (584 years); --time-unit says so if the trace counts a shorter unit \
         (--skip-bad leaves such records out)",
    ),
    (
        "disksim",
        "0.5 0 8 8 1g\n",
        "t:1: flags: unknown operation; found `1g`; expected hexadecimal flags: 1 (read) or 0 (write) (--skip-bad leaves such records out)",
    ),
    (
        "csv",
        "time,dev,op,off,len\n0,0,R,0,512\ntime,dev,op,off,len\n",
        "t:3: time (µs): not a number; found `time`; expected a decimal number, 0 or more (--skip-bad leaves such records out)",
    ),
    (
        "csv",
        "0,0,W,4611686018427387904,512\n",
        "t:1: offset: address too large; found `4611686018427387904`; expected an address below 2^62 bytes (--skip-bad leaves such records out)",
    ),
    (
        "fiu",
        "0 0 8 8 1\n",
        "t:1: content hashes: missing column; found the end of the line; expected a value (--skip-bad leaves such records out)",
    ),
    (
        "fiu-iodedup",
        "5 1 a 8 8 W 4096 0 x\n",
        "t:1: major device number: number too large; found `4096`; expected at most 4095 (--skip-bad leaves such records out)",
    ),
    (
        "diskmon",
        "0\t0.5\t0.1\t0\tread\t8\t8\n",
        "t:1: operation: unknown operation; found `read`; expected Read or Write (--skip-bad leaves such records out)",
    ),
    (
        "nbd",
        "5,W,0,512,2\n",
        "t:1: FUA: neither 0 nor 1; found `2`; expected 0 or 1 (--skip-bad leaves such records out)",
    ),
    (
        "blkparse",
        "8,0 0 1 0.5 9 D RX 8 + 8 [a]\n",
        "t:1: RWBS: unknown operation; found `RX`; expected [F] R, W, D, DE, F or N, then F, A, S, M (--skip-bad leaves such records out)",
    ),
    (
        "blkparse",
        "8,0 0 1 0.5 9 D R 8 - 8 [a]\n",
        "t:1: +: not a range; found `-`; expected sector + sectors (--skip-bad leaves such records out)",
    ),
    (
        "tracefs",
        " a-1 [0] .. 1.5: block_rq_issue: 8,0 W 512 () 8 +\n",
        "t:1: sectors: missing column; found the end of the line; expected a value (--skip-bad leaves such records out)",
    ),
    (
        "tracefs",
        "no event at all\n",
        "t:1: event: not an event; found `no event at all`; expected process-pid [CPU] flags time: event: ... (--skip-bad leaves such records out)",
    ),
    (
        "fio",
        "fio version 2 iolog\nf add\ng write 0 512\n",
        "t:3: file: a file that was not added; found `g`; expected a file with an add line before (--skip-bad leaves such records out)",
    ),
    (
        "fio",
        "fio version 1 iolog\n",
        "t:1: header: not a version that is known; found `fio version 1 iolog`; expected fio version 2 iolog or fio version 3 iolog (--skip-bad leaves such records out)",
    ),
    (
        "alibaba",
        "1,W,0,512,-1\n",
        "t:1: time (µs): negative number; found `-1`; expected a decimal number, 0 or more (--skip-bad leaves such records out)",
    ),
    (
        "tencent",
        "1,0,8,2,7\n",
        "t:1: operation: unknown operation; found `2`; expected 0 (read) or 1 (write) (--skip-bad leaves such records out)",
    ),
    (
        "systor17",
        "1.5,,R,0,0,\n",
        "t:1: bytes: empty column; found ``; expected a whole number, 0 or more (--skip-bad leaves such records out)",
    ),
    (
        "blkparse",
        "8,0 0 1 0.5 9 Q R 8 + 8 [a]\n",
        "t: no valid request in this blkparse trace; found passed over as no request: 1 of the trace's lines or events \
         (requests are D events unless the format is blkparse:Q or blkparse:C)",
    ),
    ("spc", "# nothing but this\n", "t: no valid request in this spc trace"),
];

#[test]
fn broken_traces_are_told_exactly() {
    for (format, content, expected) in BROKEN {
        let file = Temporary::new("t", content.as_bytes());
        let cfg = settings::Trace { format: Some((*format).to_string()), ..file.cfg() };
        assert_eq!(message(replay(&cfg, DRIVE)), *expected);
    }
}

#[test]
fn broken_binary_traces_are_told_exactly() {
    let skip = "(--skip-bad leaves such records out)";
    for (format, cut, expected) in [
        (
            formats::vscsi::FORMAT,
            50,
            "t: record 2: record: the file ends in the middle of a record; found 18 bytes of 32; expected all of it",
        ),
        (
            formats::blktrace::FORMAT,
            50,
            "t: record 1: record: the file ends in the middle of a record; found 50 bytes of 52; expected all of it",
        ),
    ] {
        let file = Temporary::new("t", &format.example[..cut]);
        assert_eq!(message(replay(&file.cfg(), DRIVE)), format!("{expected} {skip}"));
    }
    let of = |format: &Format, at: usize| {
        let mut content = format.example.to_vec();
        content[at] ^= 0x40;
        let file = Temporary::new("t", &content);
        let cfg = settings::Trace { format: Some(format.name.to_string()), ..file.cfg() };
        let skipping = settings::Trace { skip_bad: true, ..cfg.clone() };
        (message(replay(&cfg, DRIVE)), replay(&skipping, DRIVE).map_or(0, |(requests, _)| requests.len()))
    };
    let version = "t: record 2: version: not a vscsi record of the same version as the first";
    assert_eq!(of(&formats::vscsi::FORMAT, 32 + 15), (format!("{version} {skip}"), 1));
    let magic = "t: record 2: magic: not a blktrace record; found `\\x07t!e`; expected magic 0x65617407";
    // The first record has 48 bytes and a name of 4 bytes. The records after the damaged one are found by their magic.
    assert_eq!(of(&formats::blktrace::FORMAT, 52 + 2), (format!("{magic} {skip}"), 2));
}

#[test]
fn marks_of_editors_and_names_of_columns_are_passed_over() {
    let content = b"\xef\xbb\xbftime,device,op,offset,bytes\r\n5,0,W,4096,4096\r\n6,0,T,0,512\r\n7,0,F,0,0\r\n";
    let (requests, warnings) = replay(&Temporary::new("t", content).cfg(), DRIVE).expect("a good trace");
    assert_eq!(brief(&requests), [(0, 'W', 4096, 4096), (1000, 'T', 0, 512), (2000, 'F', 0, 0)]);
    assert_eq!(warnings, Vec::<String>::new(), "a line that the format knows");
}

#[test]
fn flushes_and_fua_of_the_block_layer() {
    let content = b"8,0 0 1 0.5 9 D FWFS 8 + 8 [a b]\n8,0 0 2 0.6 9 D FN [a]\n8,0 0 3 0.7 9 D DS 16 + 16 [a]\n\
                    8,0 0 4 0.7 9 D R 36 (12 01 00) [a]\n";
    let (requests, _) = replay(&Temporary::new("t", content).cfg(), DRIVE).expect("a good trace");
    let ms = 100_000_000;
    let expected = [(0, 'F', 0, 0), (0, 'W', 4096, 4096), (ms, 'F', 0, 0), (2 * ms, 'T', 8192, 8192)];
    assert_eq!(brief(&requests), expected);
    assert!(requests[1].fua && !requests[3].fua);
}

#[test]
fn fio_version_2_waits() {
    let content = b"fio version 2 iolog\na add\nb add\na open\na read 0 4096\na wait 150 0\nb write 512 512\nb sync\n";
    let (requests, _) = replay(&Temporary::new("t", content).cfg(), DRIVE).expect("a good trace");
    assert_eq!(
        brief(&requests),
        [(0, 'R', 0, 4096), (150_000_000, 'W', (1 << 20) + 512, 512), (150_000_000, 'F', 0, 0)]
    );
}

#[test]
fn hosts_of_one_msr_file_are_devices_of_their_own() {
    let content = b"1,a,0,Write,0,512,9\n2,b,0,Write,0,512,9\n3,a,0,Read,512,512,9\n";
    let (requests, _) = replay(&Temporary::new("t", content).cfg(), DRIVE).expect("a good trace");
    assert_eq!(brief(&requests), [(0, 'W', 0, 512), (100, 'W', 1 << 20, 512), (200, 'R', 512, 512)]);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused() {
    let device = settings::Trace { paths: vec![PathBuf::from("/dev/zero")], ..ssdsim("").cfg() };
    let expected = "/dev/zero: not a regular file (a trace is read more than once: save it to a file first)";
    assert_eq!(message(replay(&device, DRIVE)), expected);
    let folder = settings::Trace { paths: vec![std::env::temp_dir()], ..device };
    assert!(message(replay(&folder, DRIVE)).ends_with("a directory; expected a file"));
}

#[test]
fn bad_records_can_be_left_out_but_not_all_of_them() {
    let file = ssdsim("0 0 8 8 0\n0 0 8 8 5\n0 0 8 8\n1 0 8 8 0\n");
    let (requests, warnings) =
        replay(&settings::Trace { skip_bad: true, ..file.cfg() }, DRIVE).expect("two good records");
    assert_eq!(requests.len(), 2);
    assert_eq!(
        warnings,
        [
            "2 damaged records left out; the first: t.ssdsim:2: operation: unknown operation; found `5`; expected 1 (read) \
          or 0 (write)"
        ]
    );
    let file = ssdsim("0 0 8 8 5\n");
    let cfg = settings::Trace { skip_bad: true, format: Some("ssdsim".to_string()), ..file.cfg() };
    assert!(
        message(replay(&cfg, DRIVE)).starts_with("t.ssdsim: no valid request in this ssdsim trace; found 1 damaged")
    );
}

#[test]
fn names_of_formats_are_checked() {
    let file = ssdsim("0 0 8 8 0\n");
    let cfg = settings::Trace { format: Some("ssdsin".to_string()), ..file.cfg() };
    let message = message(replay(&cfg, DRIVE));
    assert!(
        message.starts_with("workload.trace.format: unknown trace format; found `ssdsin`; expected one of ssdsim, spc")
    );
    assert!(message.ends_with("did you mean `ssdsim`?"), "{message}");
}

#[test]
fn unknown_formats_empty_files_and_absent_ones() {
    let unknown = Temporary::new("t.txt", b"to be or not to be\n");
    let text = message(replay(&unknown.cfg(), DRIVE));
    assert!(
        text.starts_with(
            "t.txt: the trace's format was not recognised; found `to be or not to be`; expected one of ssd"
        )
    );
    let empty = Temporary::new("t.txt", b"");
    assert_eq!(message(replay(&empty.cfg(), DRIVE)), "t.txt: the trace is empty");
    let absent = settings::Trace { paths: vec![PathBuf::from("/nowhere/t")], ..empty.cfg() };
    assert!(message(replay(&absent, DRIVE)).starts_with("/nowhere/t: no such directory"));
}

/// Errors name the path, to be opened; warnings are in the report, which does not depend on where the file lies.
#[test]
fn errors_name_the_path_and_warnings_the_file() {
    let file = Temporary::new("t.ssdsim", b"0 0 0 8 1\n1 0 x 8 1\n");
    let error = replay(&file.cfg(), DRIVE).expect_err("a damaged record").to_string();
    assert!(error.starts_with(&format!("{}:2: ", file.0.display())), "{error}");
    let (_, warnings) = replay(&settings::Trace { skip_bad: true, ..file.cfg() }, DRIVE).expect("one good record");
    assert!(warnings[0].starts_with("1 damaged record left out; the first: t.ssdsim:2: "), "{warnings:?}");
}

/// Files that must be unpacked or converted first, also such whose first record could be one of a trace.
#[test]
fn archives_and_other_encodings_are_named() {
    let mut tar = b"t.csv".to_vec();
    tar.resize(257, 0);
    tar.extend(b"ustar\0");
    tar.resize(512, 0);
    tar.extend(b"128166372003061629,hm,0,Write,8192,4096,500\n");
    for (content, what) in [
        (&b"\xfd7zXZ\0\0\x04"[..], "compressed by xz"),
        (b"BZh91AY&SY", "compressed by bzip2"),
        (b"PK\x03\x04\x14\0", "a zip archive"),
        (b"\xff\xfet\0i\0m\0e\0", "text in UTF-16"),
        (&tar, "a tar archive"),
    ] {
        let file = Temporary::new("t.csv", content);
        let text = message(replay(&file.cfg(), DRIVE));
        assert!(
            text.starts_with("t.csv: not a trace that can be read as it is; found ") && text.contains(what),
            "{text}"
        );
    }
}

#[test]
fn a_configuration_under_another_name_is_told_from_a_trace() {
    let file = Temporary::new("t.conf", b"[device]\nchannels = 4\n");
    let text = message(replay(&file.cfg(), DRIVE));
    assert!(
        text.contains("found `[device]`") && text.ends_with("ends in .toml; --fio runs the jobs of fio)"),
        "{text}"
    );
}

/// A first record of length 0 does not prevent recognition of the format, and the fault then names line and column.
#[test]
fn a_first_record_of_no_length_is_recognised_and_then_named() {
    for (line, expected) in [
        ("0 0 8 0 0\n", "t:1: sectors: request of no length; found `0`; expected a positive number"),
        ("0.5,0,R,4096,0\n", "t:1: bytes: request of no length; found `0`; expected a positive number"),
        ("0,303,0,w,0.000000\n", "t:1: bytes: request of no length; found `0`; expected a positive number"),
        (
            "0,0,R,0,9999999999\n",
            "t:1: bytes: request too large; found `9999999999`; expected at most 4 GiB in one request",
        ),
    ] {
        let file = Temporary::new("t", line.as_bytes());
        assert_eq!(message(replay(&file.cfg(), DRIVE)), format!("{expected} (--skip-bad leaves such records out)"));
    }
    let file = Temporary::new("t", b"0 0 8 0 0\n1 0 8 0 0\n5 0 8 8 0\n");
    let (requests, warnings) =
        replay(&settings::Trace { skip_bad: true, ..file.cfg() }, DRIVE).expect("one good record");
    assert_eq!(requests.len(), 1);
    assert!(warnings[0].starts_with("2 damaged records left out; the first: t:1: sectors"), "{warnings:?}");
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(content).expect("packing in memory");
    packer.finish().expect("packing in memory")
}

fn zstd(content: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(content, ruzstd::encoding::CompressionLevel::Fastest)
}

/// A trace that is longer than the buffers.
fn long_trace() -> Vec<u8> {
    let mut content = Vec::new();
    for i in 0..50_000 {
        writeln!(content, "{} 0 {} 8 {}", i * 1000, i * 7919 % 100_000, i % 2).expect("writing to memory");
    }
    content
}

#[test]
fn packed_traces_are_the_same_as_plain_ones() {
    let content = long_trace();
    let of = |content: &[u8]| replay(&Temporary::new("t", content).cfg(), DRIVE).map(|(requests, _)| requests);
    let plain = of(&content).expect("a good trace");
    assert_eq!(plain.len(), 50_000);
    let (head, tail) = content.split_at(300_000);
    assert_eq!(of(&gzip(&content)).ok().as_ref(), Some(&plain));
    assert_eq!(of(&[gzip(head), gzip(tail)].concat()).ok().as_ref(), Some(&plain), "two members");
    assert_eq!(of(&zstd(&content)).ok().as_ref(), Some(&plain));
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9][..], &zstd(tail)].concat();
    assert_eq!(of(&[zstd(head), skippable].concat()).ok().as_ref(), Some(&plain), "two frames");
}

#[test]
fn truncated_and_damaged_archives_are_told() {
    for (name, packed) in [("gzip", gzip(&long_trace())), ("zstd", zstd(&long_trace()))] {
        let truncated = Temporary::new("t", &packed[..packed.len() / 2]);
        let text = message(replay(&truncated.cfg(), DRIVE));
        let expected =
            format!(": truncated {name} file: it ends in the middle of its data (copy or download the file again)");
        assert!(text.starts_with("t:") && text.ends_with(&expected), "{text}");
        let mut damaged = packed.clone();
        for byte in &mut damaged[packed.len() / 2..packed.len() / 2 + 64] {
            *byte ^= 0x5a;
        }
        let damaged = Temporary::new("t", &damaged);
        let text = message(replay(&damaged.cfg(), DRIVE));
        assert!(text.starts_with("t:"), "{text}");
    }
}

#[test]
fn overlong_lines_are_bad_records() {
    let content = [&b"0 0 8 8 0\n0 0 "[..], &vec![b'8'; 3 << 20], b" 8 0\n1 0 8 8 0\n"].concat();
    let file = Temporary::new("t", &content);
    assert!(message(replay(&file.cfg(), DRIVE)).starts_with("t:2: line: line longer than 1 MiB"));
    let (requests, _) = replay(&settings::Trace { skip_bad: true, ..file.cfg() }, DRIVE).expect("two good records");
    assert_eq!(requests.len(), 2);
}

#[test]
fn every_format_recognises_its_own_example_and_no_other() {
    for format in FORMATS {
        let names: Vec<_> = matching(format.example).iter().map(|f| f.name).collect();
        assert_eq!(names, [format.name]);
    }
}

#[test]
fn examples_decode_without_a_fault() {
    for format in FORMATS {
        let input = Input::new(Box::new(std::io::Cursor::new(format.example)), "t").expect("reading memory");
        let mut decoder = (format.decode)(input, ReadOptions::default());
        let mut requests = 0;
        while let Some(record) = decoder.next().unwrap_or_else(|_| panic!("{}", format.name)) {
            requests += u64::from(record.bytes > 0);
        }
        assert!(requests >= 2, "{}", format.name);
    }
}

#[test]
fn registry_is_consistent() {
    let mut names: Vec<_> = FORMATS.iter().flat_map(|f| f.aliases.iter().chain([&f.name])).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for format in FORMATS {
        assert!(!format.doc.is_empty() && !format.columns.is_empty());
        assert!(find(format.name).is_ok_and(|(found, event)| found.name == format.name && event == 0));
        for (index, event) in format.events.iter().enumerate() {
            assert!(find(&format!("{}:{event}", format.name)).is_ok_and(|(_, found)| found == index));
        }
    }
    assert_eq!(
        message(find("blkparse:X").map(|_| ())),
        "workload.trace.format: unknown event of blkparse; found `X`; expected one of D, Q, C"
    );
    let text = message(find("spc:D").map(|_| ()));
    assert_eq!(text, "workload.trace.format: spc has no choice of events; found `D`");
}

/// The requests and warnings of two merged traces.
fn merged(change: impl Fn(&mut settings::Trace)) -> (Brief, Vec<String>) {
    let (a, b) =
        (ssdsim("100 0 0 8 0\n300 1 8 8 0\n200 0 8 8 1\n"), Temporary::new("u", b"250 0 16 8 1\n300 0 24 8 0\n"));
    let mut cfg = settings::Trace { paths: vec![a.0.clone(), b.0.clone()], ..a.cfg() };
    change(&mut cfg);
    let (requests, warnings) = replay(&cfg, DRIVE).expect("two good traces");
    (brief(&requests), warnings)
}

#[test]
fn traces_are_merged_by_time_with_devices_of_their_own() {
    let mib = 1 << 20;
    let (requests, warnings) = merged(|_| {});
    let expected = [
        (0, 'W', 0, 4096),
        (150, 'R', 2 * mib + 8192, 4096),
        (200, 'W', mib + 4096, 4096),
        // Its time goes back, but merging keeps the order within a trace.
        (200, 'R', 4096, 4096),
        (200, 'W', 2 * mib + 12_288, 4096),
    ];
    assert_eq!(requests, expected);
    let laid_out = "3 devices laid out one after another: 0 of file 1 at byte 0, 1 of file 1 at byte 1048576, \
                    0 of file 2 at byte 2097152";
    let back = "1 record whose time goes back: each arrives with the record before it (1 step back, the largest 100 ns; \
                --sort puts them in order)";
    assert_eq!(warnings, [laid_out, back]);
}

/// A trace whose clock has another zero, or that lies in two files, asks for the same.
#[test]
fn shifted_and_split_traces_are_the_same_requests() {
    let mut rng = flashwatt_base::rng::Rng::new(4);
    let (mut at, mut lines) = (0, Vec::new());
    for _ in 0..300 {
        at += rng.below(100_000);
        let (device, kind) = (rng.below(2), rng.below(2));
        lines.push((at, format!("{device} {} {} {kind}\n", rng.below(1000) * 8, 1 + rng.below(64))));
    }
    let written = |lines: &[(u64, String)], shift: u64| {
        ssdsim(&lines.iter().map(|(at, rest)| format!("{} {rest}", at + shift)).collect::<String>())
    };
    let whole = written(&lines, 0);
    let (expected, _) = replay(&whole.cfg(), DRIVE).expect("a good trace");
    for shift in [1, 1_000_000_000, 1 << 60] {
        let (shifted, _) = replay(&written(&lines, shift).cfg(), DRIVE).expect("a good trace");
        assert_eq!(brief(&shifted), brief(&expected), "{shift}");
    }
    for at in [1, 150, 299] {
        let (first, second) = (written(&lines[..at], 5), written(&lines[at..], 5));
        let paths = vec![first.0.clone(), second.0.clone()];
        let cfg = settings::Trace { paths, share_devices: true, ..first.cfg() };
        let (split, _) = replay(&cfg, DRIVE).expect("good traces");
        assert_eq!(brief(&split), brief(&expected), "{at}");
    }
}

#[test]
fn merged_traces_can_share_devices_and_starts() {
    let (requests, warnings) = merged(|cfg| cfg.share_devices = true);
    assert_eq!(requests[1], (150, 'R', 8192, 4096));
    assert_eq!(warnings[0], "2 devices laid out one after another: 0 at byte 0, 1 at byte 1048576");
    let (requests, _) = merged(|cfg| cfg.align_starts = true);
    assert_eq!(requests.iter().map(|request| request.0).collect::<Vec<_>>(), [0, 0, 50, 200, 200]);
    let early = ssdsim("500 0 0 8 0\n400 0 8 8 0\n");
    let (_, warnings) = replay(&settings::Trace { align_starts: true, ..early.cfg() }, DRIVE).expect("a good trace");
    assert_eq!(warnings, ["1 record put at the start of the file: earlier than the first one there"]);
    let (requests, _) = merged(|cfg| (cfg.max_requests, cfg.from_ns) = (Some(2), 150));
    assert_eq!(requests.iter().map(|request| request.0).collect::<Vec<_>>(), [0, 50]);
}

#[test]
fn faults_of_merged_traces_name_their_file() {
    let (good, bad) = (ssdsim("0 0 8 8 0\n"), Temporary::new("u", b"0 0 8 8 0\n1 0 8 8 7\n"));
    let cfg = settings::Trace { paths: vec![good.0.clone(), bad.0.clone()], ..good.cfg() };
    assert!(message(replay(&cfg, DRIVE)).starts_with("u:2: operation: unknown operation"));
    let (_, warnings) = replay(&settings::Trace { skip_bad: true, ..cfg.clone() }, DRIVE).expect("two good records");
    assert!(warnings[0].starts_with("u: 1 damaged record left out; the first: u:2: operation"), "{warnings:?}");
    let beyond = Temporary::new("v", b"0 0 8 8 0\n0 0 4096 8 0\n");
    let cfg = settings::Trace { paths: vec![good.0.clone(), beyond.0.clone()], ..good.cfg() };
    let said = message(replay(&cfg, 1 << 20));
    assert!(
        said.starts_with("v:2: offset: requests reach beyond the drive; found 2 of 3, the furthest until"),
        "{said}"
    );
    assert!(said.contains("--devices replays some of the 2 devices"), "{said}");
}

#[test]
fn reading_tells_how_far_it_is_and_can_be_ended() {
    let file = Temporary::new("t", &long_trace());
    let mut told = Vec::new();
    let mut tell = |progress: &flashwatt_base::progress::Progress| {
        told.push(*progress);
        true
    };
    TraceWorkload::open_watched(&file.cfg(), DRIVE, &mut tell).expect("a good trace");
    let read: Vec<_> = told.iter().filter(|progress| progress.requests_done > 0).collect();
    assert!(
        read.len() == 3 && read.iter().all(|progress| progress.preparing.is_some() && progress.now_ns == 0),
        "{told:?}"
    );
    let expected = read[2].requests_total.expect("an estimate");
    assert!((40_000..60_000).contains(&expected), "{expected}");
    let ended = TraceWorkload::open_watched(&file.cfg(), DRIVE, &mut |progress| progress.requests_done < 20_000);
    let Err(Error::InterruptedReading { done }) = ended else { panic!("not ended") };
    assert!((20_000..50_000).contains(&done), "{done}");
}

#[test]
fn much_that_is_no_request_does_not_deafen() {
    let file = Temporary::new("t.csv", &b"# nothing\n".repeat(1_000_000));
    let cfg = settings::Trace { format: Some("csv".to_string()), ..file.cfg() };
    let mut looks = 0;
    let message = message(TraceWorkload::open_watched(&cfg, DRIVE, &mut |_| {
        looks += 1;
        true
    }));
    assert_eq!(message, "t.csv: no valid request in this csv trace");
    assert!(looks > 50, "{looks}");
}

/// Columns are identified by their place, so column names in another order are an error.
#[test]
fn column_names_are_read() {
    let csv = |content: &str| message(replay(&Temporary::new("t.csv", content.as_bytes()).cfg(), DRIVE));
    let record = "1,0,W,4096,8192\n2,0,W,4096,8192\n";
    for names in ["time_us,device,op,offset,bytes", "Time,Device,Op,Offset,Size", "timestamp_us,dev,rw,offset,len,fua"]
    {
        assert_eq!(csv(&format!("{names}\n{record}")), "no error", "{names}");
    }
    for names in ["time_us,device,op,bytes,offset", "time_h,device,op,offset,bytes", "foo,bar,baz,quux,corge"] {
        let told = csv(&format!("{names}\n{record}"));
        assert!(told.starts_with("t.csv:1: header: other column names") && told.contains(names), "{told}");
        assert!(!told.contains("--skip-bad"), "without the line the columns would be read as others: {told}");
        let skipping = settings::Trace {
            skip_bad: true,
            ..Temporary::new("t.csv", format!("{names}\n{record}").as_bytes()).cfg()
        };
        assert!(message(replay(&skipping, DRIVE)).contains("t.csv"), "not left out");
    }
    let told = csv(&format!("time_us,device,op,offset,bytes,latency\n{}", "1,0,W,4096,8192,17\n".repeat(3)));
    assert!(told.contains("not recognised") || told.contains("header"), "{told}");
    let told = csv("time_us,device,op,offset,bytes\n1,0,X,4096,8192\n");
    assert!(told.starts_with("t.csv:2: operation: unknown operation"), "{told}");
}

/// Columns of the kinds of one format under the names of another are not taken for that format.
#[test]
fn records_do_not_stand_against_their_column_names() {
    let content = b"time_us,op,device,offset,bytes\n1,R,0,4096,8192\n2,W,0,4096,8192\n";
    let file = Temporary::new("t.csv", content);
    let told = message(replay(&file.cfg(), DRIVE));
    let marked = Temporary::new("t.csv", &[b"\xef\xbb\xbf", &content[..]].concat());
    assert_eq!(message(replay(&marked.cfg(), DRIVE)), told, "with a byte order mark");
    assert!(
        told.contains("not recognised; found `time_us,op,device,offset,bytes`")
            && told.contains("column 2 cannot be `op`, but device or dev or disk"),
        "{told}"
    );
    assert!(told.contains("time_us,device,op,offset,bytes"), "{told}");
    let named = settings::Trace { format: Some("alibaba".into()), ..file.cfg() };
    let told = message(replay(&named, DRIVE));
    assert!(told.starts_with("t.csv:1: header: other column names") && told.contains("`device_id,opcode,"), "{told}");
}

#[test]
fn column_names_give_units() {
    let replayed = |content: &[u8]| brief(&replay(&Temporary::new("t.csv", content).cfg(), DRIVE).expect("good").0);
    let expected = [(0, 'W', 4096, 8192), (1500, 'R', 0, 4096)];
    assert_eq!(replayed(b"time_us,device,op,offset,bytes\n1,0,W,4096,8192\n2.5,0,R,0,4096\n"), expected);
    assert_eq!(replayed(b"time_ns,device,op,offset_sectors,size_kib\n1,0,W,8,8\n1501,0,R,0,4\n"), expected);
    assert_eq!(
        replayed(b"# a comment\ntime (s),device,op,offset,bytes\n1,0,W,4096,8192\n1.0000015,0,R,0,4096\n"),
        expected
    );
    assert_eq!(replayed(b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n10,web,0,Write,4096,8192,1\n25,web,0,Read,0,4096,1\n"), expected);
}

/// Some programs write column names as a comment, in quotes, or behind an index that has no name.
#[test]
fn column_names_in_other_dress() {
    let ns = "1,0,W,4096,8192\n1501,0,R,0,4096\n";
    let expected = [(0, 'W', 4096, 8192), (1500, 'R', 0, 4096)];
    for names in [
        "# time_ns,device,op,offset,bytes",
        "#time_ns,device,op,offset,bytes",
        "\"time_ns\",\"device\",\"op\",\"offset\",\"bytes\"",
    ] {
        let file = Temporary::new("t.csv", format!("{names}\n{ns}").as_bytes());
        assert_eq!(brief(&replay(&file.cfg(), DRIVE).expect(names).0), expected, "{names}");
    }
    let other = Temporary::new("t.csv", format!("# ns: when, what, where\n{ns}").as_bytes());
    assert_eq!(
        brief(&replay(&other.cfg(), DRIVE).expect("a comment").0)[1].0,
        1_500_000,
        "a comment that is no line of names"
    );
    let index = Temporary::new("t.csv", b",time_us,op,offset,size\n0,1,W,4096,8192\n1,2,R,0,4096\n");
    for skip_bad in [false, true] {
        let told = message(replay(&settings::Trace { skip_bad, ..index.cfg() }, DRIVE));
        assert!(told.contains("column 1 cannot be ``, but time or timestamp"), "{told}");
    }
}

/// Column names in a format that has none are no record that could be left out: other columns follow.
#[test]
fn column_names_where_there_are_none() {
    let file = Temporary::new("t", b"time_us device lba sectors op\n1 0 8 8 0\n2 0 8 8 0\n3 0 8 8 0\n");
    for skip_bad in [false, true] {
        let told = message(replay(&settings::Trace { skip_bad, ..file.cfg() }, DRIVE));
        assert!(told.contains("not recognised"), "{told}");
        let named = settings::Trace { skip_bad, format: Some("ssdsim".into()), ..file.cfg() };
        let told = message(replay(&named, DRIVE));
        assert!(told.starts_with("t:1: header: column names, which files of this format do not have"), "{told}");
    }
}

#[test]
fn operations_may_be_words() {
    let file = Temporary::new("t.csv", b"1,0,write,4096,8192\n2,0,Read,0,4096\n");
    assert_eq!(brief(&replay(&file.cfg(), DRIVE).expect("good").0), [(0, 'W', 4096, 8192), (1000, 'R', 0, 4096)]);
}

#[test]
fn column_names_and_given_units_agree() {
    let file = Temporary::new("t.csv", b"time_ns,device,op,offset,bytes\n1,0,W,4096,8192\n1501,0,R,0,4096\n");
    let given = |unit| settings::Trace { time_unit: Some(unit), ..file.cfg() };
    let (requests, _) = replay(&given(settings::TimeUnit::Nanosecond), DRIVE).expect("the same unit twice");
    assert_eq!(requests[1].arrival_ns, 1500);
    let told = message(replay(&given(settings::TimeUnit::Microsecond), DRIVE));
    assert!(told.starts_with("t.csv:1: header: the column names give another unit than the one that was"), "{told}");
    assert!(told.ends_with("expected time_unit = \"ns\", or none; not \"us\""), "{told}");
}
