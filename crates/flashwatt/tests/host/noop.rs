//! `noop`: first come, first served.

use crate::desk::order;

const NOOP: &[&str] = &["scheduler=noop"];

#[test]
fn requests_go_in_the_order_of_their_coming() {
    assert_eq!(order(NOOP, "0 R800 W8 R400 T16 W200"), "R800 W8 R400 T16 W200");
}

/// The elevator's hash of ends: any queued request grows at its back.
#[test]
fn a_piece_joins_the_back_of_any_queued_request() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R100 R900 R108"), "R0 R100+16 R900");
}

/// `last_merge`: only the newest request grows at its front.
#[test]
fn a_piece_joins_the_front_of_the_newest_request_only() {
    assert_eq!(order(NOOP, "0 R0; 0.5 R900 R100 R92"), "R0 R900 R92+16");
    assert_eq!(order(NOOP, "0 R0; 0.5 R100 R900 R92"), "R0 R100 R900 R92");
}
