//! A disk's parts: spindle, arm, electronics and interface, each with its power from +5 V and +12 V.
//!
//! A component of a report is a part on a supply, such as `arm_12v`. A disk that draws nothing from +12 V, as those of laptops,
//! has only the components of +5 V. Currents are stated at the higher supply that the disk has.

use super::settings::{Energy, Rails};
use flashwatt_core::energy::Draw;
use flashwatt_core::energy::parts::{Parts, PowerShare, StateId};

const COMPONENTS: &[&str] = &[
    "spindle_5v",
    "arm_5v",
    "electronics_5v",
    "interface_5v",
    "spindle_12v",
    "arm_12v",
    "electronics_12v",
    "interface_12v",
];
/// Number of parts.
pub const PARTS: usize = 4;
const SPINDLE: usize = 0;
const ARM: usize = 1;
const ELECTRONICS: usize = 2;
const INTERFACE: usize = 3;

/// The spindle stands.
pub const STOPPED: StateId = StateId::new(0);
/// The spindle is brought to speed.
pub const SPINNING_UP: StateId = StateId::new(1);
/// The spindle turns at speed.
pub const ROTATING: StateId = StateId::new(2);
/// The arm is parked.
pub const PARKED: StateId = StateId::new(3);
/// The arm follows a track.
pub const TRACKING: StateId = StateId::new(4);
/// The arm moves to another cylinder.
pub const SEEKING: StateId = StateId::new(5);
/// The electronics while the spindle stands.
pub const ASLEEP: StateId = StateId::new(6);
/// The electronics have nothing to do.
pub const IDLE: StateId = StateId::new(7);
/// The electronics work on a request, or on read-ahead or the cache.
pub const ACTIVE: StateId = StateId::new(8);
/// Sectors are read.
pub const READING: StateId = StateId::new(9);
/// Sectors are written.
pub const WRITING: StateId = StateId::new(10);
/// The interface while the spindle stands.
pub const LINK_ASLEEP: StateId = StateId::new(11);
/// The interface otherwise.
pub const LINK_IDLE: StateId = StateId::new(12);
/// A transfer over the interface. It adds to the state of the interface itself.
pub const TRANSFER: StateId = StateId::new(13);

/// The states with their names in reports.
pub const STATES: [(&str, StateId); 14] = [
    ("spindle_standby", STOPPED),
    ("spindle_spin_up", SPINNING_UP),
    ("spindle_rotating", ROTATING),
    ("arm_standby", PARKED),
    ("arm_tracking", TRACKING),
    ("arm_seeking", SEEKING),
    ("electronics_standby", ASLEEP),
    ("electronics_idle", IDLE),
    ("electronics_active", ACTIVE),
    ("electronics_read", READING),
    ("electronics_write", WRITING),
    ("interface_standby", LINK_ASLEEP),
    ("interface_idle", LINK_IDLE),
    ("interface_transfer", TRANSFER),
];

/// The states of a disk that turns and has nothing to do.
pub const AT_START: [(StateId, u32); PARTS] = [(ROTATING, 1), (TRACKING, 1), (IDLE, 1), (LINK_IDLE, 1)];

/// The declaration.
pub fn parts(energy: &Energy) -> Parts {
    let has_12v = energy.has_12v();
    let components = if has_12v { COMPONENTS } else { &COMPONENTS[..PARTS] };
    let mut parts = Parts::new(components, if has_12v { 12_000 } else { 5_000 });
    let Energy { spindle, arm, electronics, interface } = energy;
    let nothing = Rails::default();
    let states = [
        (STOPPED, SPINDLE, spindle.standby, nothing),
        (SPINNING_UP, SPINDLE, spindle.spin_up, nothing),
        (ROTATING, SPINDLE, spindle.rotating, nothing),
        (PARKED, ARM, arm.standby, nothing),
        (TRACKING, ARM, arm.tracking, nothing),
        (SEEKING, ARM, arm.seeking, nothing),
        (ASLEEP, ELECTRONICS, electronics.standby, nothing),
        (IDLE, ELECTRONICS, electronics.idle, nothing),
        (ACTIVE, ELECTRONICS, electronics.active, nothing),
        (READING, ELECTRONICS, electronics.read, nothing),
        (WRITING, ELECTRONICS, electronics.write, nothing),
        (LINK_ASLEEP, INTERFACE, interface.standby, nothing),
        (LINK_IDLE, INTERFACE, interface.idle, nothing),
        (TRANSFER, INTERFACE, interface.transfer, interface.idle),
    ];
    for (state, part, power, less) in states {
        let share = |supply: usize, w: f64| PowerShare { component: part + supply * PARTS, draw: draw(w) };
        let shares = [share(0, power.v5_w - less.v5_w), share(1, power.v12_w - less.v12_w)];
        let id = parts.state(if has_12v { &shares } else { &shares[..1] });
        assert_eq!(id, state);
    }
    parts
}

fn draw(w: f64) -> Draw {
    Draw { nw: (w * 1e9).round() as i64 }
}
