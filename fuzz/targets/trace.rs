//! Traces of the format that `FLASHWATT_FORMAT` names, guided by coverage.
#![no_main]

use std::sync::LazyLock;

use flashwatt_fuzz::Target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FLASHWATT_FORMAT").unwrap_or_default();
    Target::of(&name).unwrap_or_else(|| panic!("FLASHWATT_FORMAT={name}: not a format"))
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    TARGET.read(input);
});
