//! The price table: mA and V as the user writes them, µA and mV as the engine reckons.

use super::super::raw;
use super::{MB_S, NS_MAX, rate_or_none};
use flashwatt_base::settings::{Checker, Field, field};
use flashwatt_base::units::Nanos;
use flashwatt_ssd::energy::settings::{
    ChargedData, ChargedTransfer, Dram, DramRule, Energy, EnergyMode, HostInterface, IdleAccounting, NandEnergy, Part,
};
use flashwatt_ssd::nand::settings::Timing;

/// No part draws more: 10 A.
const MA_MAX: f64 = 10_000.0;
/// Choice: ten times what the memories of old take.
const PJ_PER_BIT_MAX: f64 = 1_000.0;
const VOLTS: std::ops::RangeInclusive<f64> = 0.001..=100.0;

pub(in crate::config) fn energy(
    c: &mut Checker,
    raw: &raw::Energy,
    link: &raw::HostLink,
    timing: &Timing,
    page_bytes: u32,
) -> Energy {
    let terminal_v = c.number(field!("energy", raw.terminal_v), 5.0, VOLTS);
    let mode = c.choice(field!("energy", raw.mode), raw::EnergyMode::Component);
    let memory = &raw.host_memory;
    Energy {
        mode: match mode {
            raw::EnergyMode::Component => EnergyMode::Component,
            raw::EnergyMode::Terminal => EnergyMode::Terminal(thousandths(terminal_v)),
        },
        idle_accounting: c.choice(field!("energy", raw.idle_accounting), IdleAccounting::AlwaysOn),
        dram_rule: c.choice(field!("energy", raw.dram_rule), DramRule::PerOp),
        controller: part(c, "energy.controller", &raw.controller),
        dram: dram(c, &raw.dram, page_bytes),
        nand: nand_energy(c, &raw.nand, timing),
        host_interface: host_interface(c, &raw.host_interface, link),
        host_memory_pj_per_bit: c.optional(field!("energy.host_memory", memory.pj_per_bit), 0.0..=PJ_PER_BIT_MAX),
    }
}

fn part(c: &mut Checker, table: &str, raw: &raw::Part) -> Part {
    let idle_ua = microamperes(c, field!(table, raw.idle_ma));
    let active_ua = active(c, field!(table, raw.active_ma), idle_ua);
    Part { active_ua, idle_ua, millivolts: millivolts(c, field!(table, raw.volts)) }
}

fn dram(c: &mut Checker, raw: &raw::Dram, page_bytes: u32) -> Dram {
    const TABLE: &str = "energy.dram";
    let part = part(c, TABLE, &raw::Part { active_ma: raw.active_ma, idle_ma: raw.idle_ma, volts: raw.volts });
    let map_access_ns = c.number(field!(TABLE, raw.map_access_ns), 50, 0..=NS_MAX);
    let data_mb_s = rate_or_none(c, field!(TABLE, raw.data_mb_s));
    // 10^6 bytes/s is one byte per 1000 ns.
    let page_data_ns = data_mb_s.map_or(0, |rate| (f64::from(page_bytes) * 1000.0 / rate).round() as Nanos);
    Dram { part, map_access_ns, page_data_ns }
}

fn nand_energy(c: &mut Checker, raw: &raw::NandEnergy, timing: &Timing) -> NandEnergy {
    const TABLE: &str = "energy.nand";
    let idle_ua = microamperes(c, field!(TABLE, raw.idle_ma));
    let transfer = match raw.transfer_ma {
        Some(raw::TransferCurrent::Ma(ma)) => Some(Field { key: format!("{TABLE}.transfer_ma"), value: Some(ma) }),
        None | Some(raw::TransferCurrent::Operation) => None,
    };
    let program_ua = active(c, field!(TABLE, raw.program_ma), idle_ua);
    let mut extra = |field: Field<f64>| c.optional(field, 0.0..=MA_MAX).map(thousandths);
    let extra_plane_read_ua = extra(field!(TABLE, raw.extra_plane_read_ma)).unwrap_or(0);
    let extra_plane_program_ua = extra(field!(TABLE, raw.extra_plane_program_ma)).unwrap_or(0);
    let extra_plane_erase_ua = extra(field!(TABLE, raw.extra_plane_erase_ma)).unwrap_or(0);
    let slc_extra_plane_program_ua = extra(field!(TABLE, raw.slc_extra_plane_program_ma));
    let slc_program_ua = extra(field!(TABLE, raw.slc_program_ma));
    if let Some(ua) = slc_program_ua {
        check_above_idle(c, &field!(TABLE, raw.slc_program_ma).key, ua, idle_ua);
    }
    NandEnergy {
        read_ua: active(c, field!(TABLE, raw.read_ma), idle_ua),
        program_ua,
        erase_ua: active(c, field!(TABLE, raw.erase_ma), idle_ua),
        transfer_ua: transfer.map(|field| active(c, field, idle_ua)),
        transfer: charged_transfer(c, field!(TABLE, raw.transfer_ns), timing),
        slc_program_ua: slc_program_ua.filter(|&ua| ua != program_ua),
        extra_plane_read_ua,
        extra_plane_program_ua,
        extra_plane_erase_ua,
        slc_extra_plane_program_ua: slc_extra_plane_program_ua.filter(|&ua| ua != extra_plane_program_ua),
        idle_ua,
        millivolts: millivolts(c, field!(TABLE, raw.volts)),
    }
}

/// Refuses the currents of planes and of the single-level mode where they have no effect. `has_planes`: the planes of a die work in one
/// operation. `has_slc`: blocks are used in single-level mode. Today no drive has either.
pub(in crate::config) fn check_extra(c: &mut Checker, raw: &raw::NandEnergy, has_planes: bool, has_slc: bool) {
    let lacks_planes = (!has_planes).then_some("operations that span the planes of a die, or no such key");
    let lacks_slc = (!has_slc).then_some("blocks in single-level mode, or no such key");
    let keys = [
        ("slc_program_ma", raw.slc_program_ma, lacks_slc),
        ("extra_plane_read_ma", raw.extra_plane_read_ma, lacks_planes),
        ("extra_plane_program_ma", raw.extra_plane_program_ma, lacks_planes),
        ("extra_plane_erase_ma", raw.extra_plane_erase_ma, lacks_planes),
        ("slc_extra_plane_program_ma", raw.slc_extra_plane_program_ma, lacks_planes.or(lacks_slc)),
    ];
    for (key, ma, lacks) in keys {
        if let Some((ma, expected)) = ma.zip(lacks) {
            let fault = c.fault(&format!("energy.nand.{key}"), "has no effect on this drive").found(format!("{ma:?}"));
            c.push(fault.expected(expected));
        }
    }
}

/// The price of a bit in the host's memory; none where the map has none there. By the user's file it is a fault then.
pub(in crate::config) fn host_memory_price(c: &mut Checker, pj_per_bit: Option<f64>, is_there: bool) -> Option<f64> {
    if !is_there {
        let expected = "a map that is cached in the host's memory (device.host_memory), or no such key";
        c.has_no_effect("energy.host_memory.pj_per_bit", "no lines that move there", expected);
    }
    pj_per_bit.filter(|_| is_there)
}

/// The command belongs to the way over the bus, and is charged for as long as it takes.
fn charged_transfer(c: &mut Checker, field: Field<Nanos>, timing: &Timing) -> Option<ChargedTransfer> {
    let key = field.key.clone();
    let transfer_ns = c.optional(field, 0..=NS_MAX).filter(|&ns| ns != timing.page_transfer_ns)?;
    if timing.page_transfer_ns == 0 {
        let fault = c.fault(&key, "nothing to be charged for").found(format!("{transfer_ns} ns"));
        c.push(fault.expected("0: device.timing.page_transfer_ns is"));
        return None;
    }
    let [charged_ns, taken_ns] = [transfer_ns, timing.page_transfer_ns].map(|ns| timing.command_ns.saturating_add(ns));
    Some(ChargedTransfer { charged_ns, taken_ns })
}

fn host_interface(c: &mut Checker, raw: &raw::HostInterface, link: &raw::HostLink) -> HostInterface {
    const TABLE: &str = "energy.host_interface";
    let link_rate = link.bandwidth_mb_s.filter(|rate| MB_S.contains(rate)).unwrap_or(300.0);
    HostInterface {
        active_ua: microamperes(c, field!(TABLE, raw.active_ma)),
        millivolts: millivolts(c, field!(TABLE, raw.volts)),
        bandwidth_mb_s: c.number(field!(TABLE, raw.bandwidth_mb_s), link_rate, MB_S),
        charged_data: c.choice(field!(TABLE, raw.charged_data), ChargedData::HostBytes),
    }
}

fn microamperes(c: &mut Checker, field: Field<f64>) -> u32 {
    thousandths(c.required(field, 0.0..=MA_MAX))
}

fn millivolts(c: &mut Checker, field: Field<f64>) -> u32 {
    thousandths(c.required(field, VOLTS))
}

fn thousandths(value: f64) -> u32 {
    (value * 1000.0).round() as u32
}

/// A current in a state that draws no less than idling.
fn active(c: &mut Checker, field: Field<f64>, idle_ua: u32) -> u32 {
    let key = field.key.clone();
    let ua = microamperes(c, field);
    check_above_idle(c, &key, ua, idle_ua);
    ua
}

/// Refuses a current in a state of work that is less than the idle one.
fn check_above_idle(c: &mut Checker, key: &str, ua: u32, idle_ua: u32) {
    let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
    if c.clean(table) && ua < idle_ua {
        let fault = c.fault(c.culprit(&[key, &format!("{table}.idle_ma")]), "less than the idle current");
        let ma = |ua: u32| f64::from(ua) / 1000.0;
        let found = format!("{name} = {:?}, idle_ma = {:?}", ma(ua), ma(idle_ua));
        c.push(fault.found(found).expected(format!("{name} ≥ idle_ma")));
    }
}
