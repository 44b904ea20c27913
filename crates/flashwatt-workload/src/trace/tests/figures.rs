//! Statistics of `trace info`, compared with values computed by hand.

use super::*;

fn figures(content: &str) -> TraceInfo {
    let file = Temporary::new("t.csv", content.as_bytes());
    info(&settings::Trace { format: Some("csv".into()), ..file.cfg() }, &mut |_| true).unwrap_or_else(|e| panic!("{e}"))
}

/// Requests in each second from the first one at 0.5 s: 3, 1, 0, 2. The time of the last one goes back, so it arrives
/// with the one before it.
#[test]
fn rates_count_from_the_first_request() {
    let info = figures(
        "500000,0,R,0,512\n600000,0,R,0,512\n1499999,0,R,0,512\n1500000,0,R,0,512\n3500000,0,R,0,512\n2400000,0,R,0,512\n",
    );
    assert_eq!((info.iops, info.peak_requests_per_s), (Some(2.0), 3));
    assert_eq!((info.time_steps_back, info.requests_back, info.largest_step_back_ns), (1, 1, 1_100_000_000));
    let one = figures("7,0,R,0,512\n7,0,R,0,512\n");
    assert_eq!((one.iops, one.peak_requests_per_s, one.duration_ns), (None, 2, 0));
}

/// Seven requests: two streams of three requests that take turns, and a single request. Four requests continue a
/// stream; none continues the request directly before it.
#[test]
fn interleaved_streams_are_followed() {
    let info = figures(
        "1,0,R,0,4096\n2,0,W,1048576,8192\n3,0,R,4096,4096\n4,0,W,1056768,8192\n5,0,R,500000,512\n6,0,R,8192,4096\n\
         7,0,W,1064960,512\n",
    );
    assert_eq!((info.sequential_percent, info.streams, info.stream_mean_requests), (Some(0.0), 2, Some(3.0)));
    assert_eq!(info.sequential_streams_percent, Some(100.0 * 4.0 / 7.0));
    let other_device = figures("1,0,R,0,4096\n2,1,R,4096,4096\n");
    assert_eq!((other_device.streams, other_device.stream_mean_requests), (0, None));
}

/// At most 64 streams are followed: with 65 the one that was continued least recently is forgotten.
#[test]
fn old_streams_are_forgotten() {
    let starts = |count: u64| (0..count).map(|i| format!("{i},0,R,{},4096\n", i << 30)).collect::<String>();
    assert_eq!(figures(&(starts(64) + "99,0,R,4096,4096\n")).streams, 1);
    assert_eq!(figures(&(starts(65) + "99,0,R,4096,4096\n")).streams, 0);
}

/// Writes of 8 sectors, of the same 8, of 2 among them and of 1 other: 19 sectors, of which 9 are distinct.
#[test]
fn overwriting_is_told_in_sectors() {
    let info = figures("1,0,W,4096,4096\n2,0,W,4096,4096\n3,0,W,4608,1024\n4,0,W,8192,100\n5,0,R,0,65536\n");
    assert_eq!(info.overwrite_factor, Some(19.0 / 9.0));
    assert_eq!(figures("1,0,R,0,512\n").overwrite_factor, None);
}

/// Two of four requests are aligned. A flush has no offset.
#[test]
fn alignment_and_the_least_offset() {
    let info = figures("1,0,R,8192,4096\n2,0,W,12288,8192\n3,1,W,4608,4096\n4,0,T,16384,512\n5,0,F,0,0\n");
    assert_eq!((info.aligned_percent, info.least_offset_bytes), (Some(50.0), Some(4608)));
    let flushes = figures("1,0,F,0,0\n");
    assert_eq!((flushes.aligned_percent, flushes.least_offset_bytes), (None, None));
}
