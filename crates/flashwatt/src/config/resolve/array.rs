//! `[array]`: several drives as one.

use super::{MB_S, QUEUE_DEPTH_MAX, Resolved};
use crate::config::drive::{Array, ArrayTable};
use crate::config::{Drive, Precondition, Run, raw};
use flashwatt_base::settings::{Checker, field};
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_devices::raid::settings::{self, Failed, Layout, Level, Rebuild};

/// Gives the drive of a preset, with the user's other keys laid over it; none with faults, which it has recorded.
pub(in crate::config) type MemberOf<'a> = dyn FnMut(&mut Checker, &str, &str) -> Option<Drive> + 'a;

const MEMBERS_MAX: u32 = settings::MEMBERS_MAX as u32;
/// 64 KiB: what data sheets of controllers name most often; Linux's md driver takes 512 KiB.
const CHUNK_BYTES: u64 = 64 << 10;
const CHUNK_BYTES_MAX: u64 = 64 << 20;
/// Linux's md driver: sync_speed_max, 200,000 KB/s.
const REBUILD_MB_S: f64 = 200.0;
/// Choice: enough to keep the members' reads and the spare's writes going at the same time.
const REBUILD_DEPTH: u32 = 8;

/// The array of the configuration, if it has one: else the drive itself.
pub(super) fn array(c: &mut Checker, raw: &raw::Array, one: Resolved, member_of: &mut MemberOf) -> Resolved {
    const TABLE: &str = "array";
    let level = c.choice(field!(TABLE, raw.level), Level::Raid0);
    let chunk_bytes = c.number(field!(TABLE, raw.chunk_bytes), CHUNK_BYTES, SECTOR_BYTES..=CHUNK_BYTES_MAX);
    let whole = chunk_bytes.is_multiple_of(SECTOR_BYTES);
    c.rule("array.chunk_bytes", chunk_bytes, whole, "a multiple of 512");
    let rebuild = Rebuild {
        rate_mb_s: c.number(field!(TABLE, raw.rebuild_mb_s), REBUILD_MB_S, MB_S),
        depth: c.number(field!(TABLE, raw.rebuild_depth), REBUILD_DEPTH, 1..=1024),
        finish: c.choice(field!(TABLE, raw.finish_rebuild), false),
    };
    let failed = c.optional(field!(TABLE, raw.failed_member), 0..=MEMBERS_MAX - 1);
    c.rules.required("array.members");
    if c.tree.get(TABLE).is_none() {
        return one;
    }
    let queue_depth = one.queue_depth;
    let members = members(c, raw, one.drive, member_of);
    check_level(c, level, members.len());
    let failed = failed.map(|member| Failed { member, rebuild: raw.spare.is_some().then_some(rebuild) });
    check_failed(c, raw, level, failed.as_ref(), members.len());
    let spare = raw.spare.as_deref().map(|name| member_of(c, "array.spare", name));
    let resolved = |drive: Option<Drive>| Resolved {
        logical_bytes: drive.as_ref().map_or(super::COUNT_MAX, Drive::logical_bytes),
        drive,
        queue_depth: queue_depth.saturating_mul(members.len() as u32).clamp(1, QUEUE_DEPTH_MAX),
    };
    let all: Option<Vec<Drive>> = members.iter().cloned().collect();
    let (Some(all), true, Some(spare)) = (all, c.clean(TABLE), spare.map_or(Some(None), |spare| spare.map(Some)))
    else {
        return resolved(None);
    };
    let least = all.iter().chain(&spare).map(Drive::logical_bytes).min().unwrap_or_default();
    let member_bytes = least / chunk_bytes * chunk_bytes;
    c.rule("array.chunk_bytes", chunk_bytes, member_bytes > 0, "at most the size of the smallest member");
    let layout = Layout { level, members: all.len() as u32, chunk_bytes, member_bytes };
    let array = Array { layout, failed, drives: all, spare };
    resolved(Some(Drive::Array(Box::new(ArrayTable { array }))))
}

/// The drive of each member.
fn members(c: &mut Checker, raw: &raw::Array, one: Option<Drive>, member_of: &mut MemberOf) -> Vec<Option<Drive>> {
    const KEY: &str = "array.members";
    let count = match &raw.members {
        None => {
            let fault = c.fault(KEY, "missing").found("nothing");
            c.push(fault.expected(format!("1 to {MEMBERS_MAX}, or a list of presets")));
            return Vec::new();
        }
        Some(raw::Members::Count(count)) => *count,
        Some(raw::Members::Presets(presets)) => presets.len() as u32,
    };
    if !(1..=MEMBERS_MAX).contains(&count) {
        let fault = c.fault(KEY, "out of range").found(count);
        c.push(fault.expected(format!("1 to {MEMBERS_MAX}")));
        return Vec::new();
    }
    match &raw.members {
        Some(raw::Members::Presets(presets)) => presets.iter().map(|name| member_of(c, KEY, name)).collect(),
        _ => vec![one; count as usize],
    }
}

fn check_level(c: &mut Checker, level: Level, members: usize) {
    let least = level.least_members() as usize;
    let even = level != Level::Raid10 || members.is_multiple_of(2);
    if !c.clean("array.members") || (members >= least && even) {
        return;
    }
    let fault =
        c.fault("array.members", "this level needs other members").found(format!("{members} with {}", level.name()));
    c.push(fault.expected(format!("at least {least}{}", if level == Level::Raid10 { ", in pairs" } else { "" })));
}

/// A failed member is one of an array that holds all data without it; and what belongs to a spare has no effect without one.
fn check_failed(c: &mut Checker, raw: &raw::Array, level: Level, failed: Option<&Failed>, members: usize) {
    let Some(failed) = failed else {
        c.has_no_effect("array.spare", "no failed member", "array.failed_member beside it, or no such key");
        return without_spare(c, "no failed member");
    };
    if !level.is_redundant() {
        let fault =
            c.fault("array.failed_member", "the array has no redundancy").found(format!("level = {:?}", level.name()));
        c.push(fault.expected("raid1, raid5 or raid10"));
    } else if members > 0 && failed.member as usize >= members {
        let fault = c.fault("array.failed_member", "no such member").found(failed.member);
        c.push(fault.expected(format!("0 to {}", members - 1)));
    }
    if raw.spare.is_none() {
        without_spare(c, "no spare");
    }
}

fn without_spare(c: &mut Checker, found: &str) {
    for key in ["array.rebuild_mb_s", "array.rebuild_depth", "array.finish_rebuild"] {
        c.has_no_effect(key, found, "array.failed_member and array.spare beside it, or no such key");
    }
}

/// The start states and replays that an array can have: each member lays down its own.
pub(super) fn can_start(c: &mut Checker, run: &Run, array: &Array) {
    let cannot = match &run.precondition {
        Precondition::Empty | Precondition::Filled | Precondition::Steady => None,
        Precondition::Mapped => Some("\"mapped\""),
        Precondition::Image => Some("\"image\""),
        Precondition::Snapshot(_) => Some("a snapshot"),
        Precondition::Workload(_) => Some("a workload"),
    };
    if let Some(found) = cannot {
        let fault = c.fault("run.precondition", "not for an array").found(found);
        c.push(
            fault
                .expected("\"filled\", \"empty\" or \"steady\", of each member")
                .help("what is written before the run would have to pass through the array"),
        );
    }
    if !run.replay.is_timed() {
        let fault = c.fault("run.replay", "an array has a clock").found("\"flashsim\"");
        c.push(fault.expected("\"timed\", or one drive"));
    }
    for drive in array.drives.iter().chain(&array.spare) {
        if let Drive::Ssd(ssd) = drive {
            super::can_start(c, &run.precondition, &ssd.ftl);
        }
    }
}
