//! The real traces, which are not part of this repository.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of real traces: `../shared/traces` beside the repository, or where `FLASHWATT_TRACES` says. Without it the
/// calling test has to return, and this says so: past the capture of what tests print, so that it is seen.
pub fn real_traces() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var_os("FLASHWATT_TRACES").map_or_else(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    say(&format!("no real traces at {}", folder.display()));
    None
}

/// Says on standard error itself that the test of this thread leaves something out, and why.
pub fn say(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // A closed stream is no reason for a test to fail.
    let _ = std::io::stderr().write_all(format!("SKIPPED: {test}: {why}\n").as_bytes());
}
