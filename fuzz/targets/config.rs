//! Configurations, guided by coverage.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    flashwatt_fuzz::Target::Config.read(input);
});
