//! Reads the options of one section.

use super::sections::{Section, WrittenOption};
use super::units::{Amount, amount, bytes};
use super::values::sectors;
use flashwatt_base::error::Fault;
use flashwatt_base::units::{Nanos, SECTOR_BYTES};

/// The options of a section. A wrong value is a fault; reading goes on with the default, to find all faults at once.
pub(super) struct OptionReader<'a> {
    pub section: &'a Section,
    pub file: &'a str,
    pub faults: &'a mut Vec<Fault>,
}

impl OptionReader<'_> {
    pub fn written(&self, name: &str) -> Option<&WrittenOption> {
        self.section.options.get(name)
    }

    /// The value of an option, if it is given and `parse` accepts it. A value that `parse` refuses is a fault.
    pub fn read<T>(&mut self, name: &str, expected: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let written = self.section.options.get(name)?;
        let value = parse(&written.value);
        if value.is_none() {
            let in_zones = written.value.trim_end().ends_with(['z', 'Z']) && bytes(&written.value, 1024).is_none();
            let fault = written.fault("not a value of this option").expected(expected);
            let help = "zoned drives (ZNS) are not simulated: there is no size of a zone; write bytes";
            self.faults.push(if in_zones { fault.help(help) } else { fault });
        }
        value
    }

    pub fn kb_base(&mut self) -> u64 {
        self.read("kb_base", "1024 or 1000", |text| text.parse().ok().filter(|base| [1000, 1024].contains(base)))
            .unwrap_or(1024)
    }

    pub fn flag(&mut self, name: &str) -> bool {
        self.flag_or(name, false)
    }

    pub fn flag_or(&mut self, name: &str, default: bool) -> bool {
        self.read(name, "nothing, 0 or 1", |text| match text {
            "" | "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        })
        .unwrap_or(default)
    }

    pub fn count(&mut self, name: &str, default: u64, max: u64) -> u64 {
        self.given_count(name, 1, max).unwrap_or(default)
    }

    /// A count, if it is given.
    pub fn given_count(&mut self, name: &str, least: u64, max: u64) -> Option<u64> {
        let expected = format!("a whole number from {least} to {max}");
        self.read(name, &expected, |text| bytes(text, 1000).filter(|count| (least..=max).contains(count)))
    }

    pub fn time(&mut self, name: &str, expected: &str, unit_ns: u64) -> Option<Nanos> {
        self.read(name, expected, |text| super::units::time_ns(text, unit_ns))
    }

    /// A number of bytes, if it is given.
    pub fn given_bytes(&mut self, name: &str) -> Option<u64> {
        let base = self.kb_base();
        self.read(name, "bytes, a positive multiple of 512: 4k", |text| sectors(bytes(text, base)?))
    }

    /// A number of bytes, whether whole sectors or not, or a share.
    pub fn amount(&mut self, name: &str) -> Option<Amount> {
        let base = self.kb_base();
        self.read(name, "bytes or a share of the drive: 1g, 10%", |text| amount(text, base))
    }

    /// Whole sectors, or a share.
    pub fn sectors(&mut self, name: &str) -> Option<Amount> {
        let base = self.kb_base();
        self.read(name, "bytes (a multiple of 512) or a share of the drive: 1g, 10%", |text| {
            match amount(text, base)? {
                Amount::Bytes(bytes) if !bytes.is_multiple_of(SECTOR_BYTES) => None,
                amount => Some(amount),
            }
        })
    }

    /// Adds a fault at the first of these options that is given, else at the section.
    pub fn refuse(&mut self, names: &[&str], what: &str, found: String, expected: String) {
        let written = names.iter().find_map(|name| self.written(name));
        let place = written.map_or(&self.section.place, |written| &written.place).clone();
        self.faults.push(Fault::at(place, what).found(found).expected(expected));
    }
}
