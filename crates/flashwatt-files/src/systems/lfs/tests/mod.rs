//! Tests of the log: by hand, against a second account, and against theory.

mod bench;
mod by_hand;
mod cleaning;
mod oracle;
