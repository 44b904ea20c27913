//! `shortest`: the request with the fewest sectors first.

use crate::desk::order;

/// Unless given, a queue before a drive that takes one request at a time has two places: there is nothing to choose from.
const SHORTEST: [&str; 2] = ["scheduler.shortest.expire_ms=1.2", "nr_requests=64"];

#[test]
fn the_shortest_goes_first_and_of_equal_ones_the_oldest() {
    let sets = ["scheduler=shortest", "nr_requests=64"];
    assert_eq!(order(&sets, "0 R0; 0.5 R100+64 R200 W300+16 R400"), "R0 R200 R400 W300+16 R100+64");
}

/// At 1 ms nothing is late, at 2 ms the long read is: it came at 0.5 ms.
#[test]
fn a_late_request_goes_before_shorter_ones() {
    assert_eq!(order(&SHORTEST, "0 R0; 0.5 R100+64 R200; 1.5 R300 R400"), "R0 R200 R100+64 R300 R400");
}

/// A piece that continues a queued request joins it, and so makes it longer.
#[test]
fn a_request_that_has_grown_is_as_long_as_it_is_now() {
    assert_eq!(order(&SHORTEST, "0 R0; 0.5 R100 R500+16 R108+16"), "R0 R500+16 R100+24");
}

/// R108 joins R100, which touches R116 then. That one, which came at 0.5 ms, becomes a part of it: at 2 ms both are late.
#[test]
fn a_request_that_absorbs_an_older_one_is_as_old_as_that() {
    assert_eq!(order(&SHORTEST, "0 R0; 0.5 R116 R300; 0.9 R100; 0.95 R108; 1.5 R400"), "R0 R300 R100+24 R400");
}
