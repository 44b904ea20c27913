//! A disk's figures of a window.

use serde::Serialize;

use flashwatt_core::energy::parts::PartTimes;
use flashwatt_core::energy::window::Figures;

/// Declares the counts of a disk, and how those of two windows are added.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counts of a disk.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct HddCounts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl HddCounts {
            fn plus(&self, next: &HddCounts) -> HddCounts {
                HddCounts { $($name: self.$name + next.$name,)* }
            }
        }
    };
}

counts! {
    /// Accesses to the medium that ended: each is a run of sectors on one track.
    accesses,
    /// Seeks: movements of the arm to another cylinder.
    seeks,
    /// Cylinders that all seeks crossed.
    seek_cylinders,
    /// Time of all seeks in ns.
    seek_ns,
    /// Switches to another head of the same cylinder.
    head_switches,
    /// Accesses that waited for the platters to turn to their first sector.
    rotational_waits,
    /// Time of these waits in ns.
    rotational_wait_ns,
    /// Reads that were served from the track buffer or the write-back cache without the medium.
    read_hits,
    /// Reads whose beginning was in the track buffer, or came with sectors that were being read ahead.
    partial_read_hits,
    /// Reads that began on the medium.
    read_misses,
    /// Bytes read for the host.
    media_read_bytes,
    /// Bytes read ahead.
    read_ahead_bytes,
    /// Bytes written.
    media_write_bytes,
    /// Accesses that wrote sectors of the write-back cache.
    destages,
    /// Sectors that were written again while they waited in the write-back cache: that much less is written to the medium.
    overwritten_sectors,
    /// Writes that waited for room in the write-back cache.
    writes_that_waited,
    /// Accesses that came first because of their age.
    overdue,
    /// Times that the spindle was stopped.
    spin_downs,
    /// Times that the spindle was brought to speed.
    spin_ups,
    /// Trims, which a disk ends without doing anything.
    trims,
}

/// Bytes that passed the heads in a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ZoneBytes {
    /// Bytes read, also ahead.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

/// A disk's figures of a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HddFigures {
    /// Part-nanoseconds by state.
    pub times: PartTimes,
    /// Counts.
    pub counts: HddCounts,
    /// Bytes by zone, from the outermost one on.
    pub zones: Vec<ZoneBytes>,
}

impl Figures for HddFigures {
    fn plus(&self, next: &Self) -> Self {
        let zones = self.zones.len().max(next.zones.len());
        let of = |figures: &Self, zone: usize| figures.zones.get(zone).copied().unwrap_or_default();
        let sum = |zone: usize| {
            let (one, other) = (of(self, zone), of(next, zone));
            ZoneBytes {
                read_bytes: one.read_bytes + other.read_bytes,
                write_bytes: one.write_bytes + other.write_bytes,
            }
        };
        HddFigures {
            times: self.times.plus(&next.times),
            counts: self.counts.plus(&next.counts),
            zones: (0..zones).map(sum).collect(),
        }
    }

    fn operations(&self) -> u64 {
        self.counts.accesses
    }
}
