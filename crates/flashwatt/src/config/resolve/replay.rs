//! `[run.replay]`: how the drive takes the requests, and the settings that a replay without a clock cannot follow.

use crate::config::raw::{self, Raw};
use crate::config::{Flashsim, PartialPages, Replay};
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_ssd::drive::settings::TrimRecords;
use flashwatt_ssd::nand::settings::PairedPages;

/// How the drive takes the requests.
pub(super) fn replay(c: &mut Checker, raw: &Raw, drive_bytes: u64) -> Replay {
    c.rules.default_is("run.replay", "timed");
    let Some(raw::Replay::Flashsim(rules)) = &raw.run.replay else { return Replay::Timed };
    const TABLE: &str = "run.replay.flashsim";
    let rules = Flashsim {
        partial_pages: c.choice(field!(TABLE, rules.partial_pages), PartialPages::Outward),
        merge_requests: c.choice(field!(TABLE, rules.merge_requests), false),
        offset_sectors: c.number(field!(TABLE, rules.offset_sectors), 0, 0..=u64::MAX / SECTOR_BYTES),
    };
    check_clock(c, raw);
    check_device(c, &raw.device);
    if rules.offset_sectors * SECTOR_BYTES >= drive_bytes {
        let fault = c.fault("run.replay.flashsim.offset_sectors", "the workload begins beyond the drive");
        let sectors = drive_bytes / SECTOR_BYTES;
        c.push(fault.found(rules.offset_sectors).expected(format!("less than the drive's {sectors} sectors")));
        return Replay::Flashsim(Flashsim { offset_sectors: 0, ..rules });
    }
    Replay::Flashsim(rules)
}

/// Settings of the drive that act in time alone. Those of a preset may be there: it does not know how it is used.
fn check_device(c: &mut Checker, device: &raw::Device) {
    let raw::Device { bus, firmware, host_memory, suspend, .. } = device;
    let takes = |ns: Option<u64>| ns.is_some_and(|ns| ns > 0);
    let suspends = |ns: Option<u64>| ns.is_some() && suspend.max != Some(0);
    let acts = [
        ("device.bus.partial_pages", bus.partial_pages == Some(true), "false"),
        ("device.suspend.program_ns", suspends(suspend.program_ns), "device.suspend.max = 0"),
        ("device.suspend.erase_ns", suspends(suspend.erase_ns), "device.suspend.max = 0"),
        ("device.firmware.command_ns", takes(firmware.command_ns), "0"),
        ("device.firmware.read_ns", takes(firmware.read_ns), "0"),
        ("device.firmware.write_ns", takes(firmware.write_ns), "0"),
        ("device.host_memory.read_ns", takes(host_memory.read_ns), "0"),
        ("device.host_memory.line_bytes", host_memory.line_bytes.is_some_and(|bytes| bytes > 0), "0"),
    ];
    for (key, _, neutral) in acts.into_iter().filter(|(_, acts, _)| *acts) {
        c.has_no_effect(key, "run.replay = \"flashsim\", which has no clock", &format!("{neutral}, or no such key"));
    }
}

/// Parts that act in time. A setting of theirs would be ignored.
fn check_clock(c: &mut Checker, raw: &Raw) {
    let needs = [
        (
            "host",
            c.tree.get("host").is_some(),
            "requests one after another, or their stream behind a host: --dispatch-log",
        ),
        ("write_buffer.bytes", raw.write_buffer.bytes.is_some_and(|bytes| bytes > 0), "write_buffer.bytes = 0"),
        (
            "recovery.trim_records",
            raw.recovery.trim_records.is_some_and(|records| records != TrimRecords::None),
            "recovery.trim_records = \"none\"",
        ),
        ("recovery.checkpoint_interval_bytes", raw.recovery.checkpoint_interval_bytes.is_some(), "no such key"),
        ("recovery.map_load_fraction", raw.recovery.map_load_fraction.is_some_and(|fraction| fraction > 0.0), "0"),
        (
            "device.nand.paired_pages",
            raw.device.nand.paired_pages.is_some_and(|pages| pages != PairedPages::Unprotected),
            "\"unprotected\", or no such key",
        ),
        ("controller.power_budget_ma", raw.controller.power_budget_ma.is_some(), "no such key"),
        ("controller.power_budget_w", raw.controller.power_budget_w.is_some(), "no such key"),
        ("run.warmup.seconds", raw.run.warmup.seconds.is_some(), "run.warmup.requests"),
        ("run.measure.seconds", raw.run.measure.seconds.is_some(), "run.measure.requests"),
    ];
    for (key, given, expected) in needs {
        if given {
            let fault = c.fault(key, "needs a clock").found("run.replay = \"flashsim\", which has none");
            c.push(fault.expected(expected));
        }
    }
}
