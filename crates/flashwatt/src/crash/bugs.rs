//! Faults that tests put into a drive on purpose: cuts must find each of them.

use std::borrow::Cow;

use flashwatt_ssd::drive::JournalFault;
use flashwatt_ssd::recovery::spare::{Spare, SpareAreas};

/// A fault on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bug {
    /// No fault.
    #[default]
    None,
    /// A copy gets a version of its own when it is programmed, not that of its source.
    VersionOfCopy,
    /// Of two versions of a page a scan takes the older one.
    OlderVersion,
    /// A scan takes torn pages for whole ones.
    TornBelieved,
    /// A write into a volatile buffer counts as durable.
    AcknowledgedEarly,
    /// A block is erased when its erase is planned, before the copies of its pages are on flash.
    ErasedBeforeCopied,
    /// The recovery does not look for what capacitors brought to flash.
    DumpForgotten,
    /// The recovery does not look at the records of trims.
    TrimForgotten,
    /// A checkpoint has the map of the one before it.
    CheckpointOlder,
    /// A checkpoint of a layer with its map on flash lacks the entries that memory alone had.
    EntriesForgotten,
    /// The older copy of a page of the map is not kept until the data that the new one names is on flash.
    OldMapErased,
    /// The block layer completes a write when it is queued.
    CompletedInQueue,
    /// A backup of a lower page is on flash only after the upper page.
    BackupLate,
    /// The recovery does not look for backups.
    BackupForgotten,
    /// A write to a lower page is acknowledged before its upper page is programmed, for which there is no backup.
    AckNotHeld,
    /// A write is acknowledged when the program of its page of the journal is planned.
    JournalAckEarly,
    /// A part of the journal is erased when it is full, although its units are nowhere else.
    JournalErasedEarly,
    /// Of the records of a unit in the journal the recovery takes the oldest one.
    JournalOlder,
    /// The recovery does not look at the journal.
    JournalForgotten,
    /// Of the copies of a page of the map the first one alone is written.
    OneCopyOnly,
}

impl Bug {
    /// The fault in the journal of the drive.
    pub(super) fn in_journal(self) -> JournalFault {
        match self {
            Bug::JournalAckEarly => JournalFault::AcknowledgedEarly,
            Bug::JournalErasedEarly => JournalFault::ErasedEarly,
            _ => JournalFault::None,
        }
    }

    /// What a scan with this fault sees of the spare areas.
    pub(super) fn seen(self, areas: &SpareAreas) -> Cow<'_, SpareAreas> {
        let mut seen = Cow::Borrowed(areas);
        match self {
            Bug::OlderVersion => seen.to_mut().change(|spare| spare.version = Spare::VERSION_MAX - spare.version),
            Bug::TornBelieved => seen.to_mut().change(|spare| spare.is_torn = false),
            _ => {}
        }
        seen
    }
}
