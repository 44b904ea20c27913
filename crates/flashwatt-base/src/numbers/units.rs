//! Types for the simulator's numbers: no bare integer crosses a module's edge.

use serde::{Deserialize, Serialize};

/// Simulated time since the start of the run, in nanoseconds.
pub type Nanos = u64;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// "No such thing": never a valid index.
            pub const NONE: $name = $name(u32::MAX);

            /// As an array index.
            #[inline(always)]
            pub const fn idx(self) -> usize {
                self.0 as usize
            }

            /// Whether this is a valid id, not [`Self::NONE`].
            #[inline(always)]
            pub const fn is_some(self) -> bool {
                self.0 != u32::MAX
            }

            /// Whether this is [`Self::NONE`].
            #[inline(always)]
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A logical page: the unit that the host's address space is mapped in. One physical page, or a part of one under
    /// sub-page mapping.
    Lpn
}
id! {
    /// A physical address on the flash array, in the same unit as [`Lpn`].
    Ppn
}
id! {
    /// An erase block, numbered over the whole drive: `die * blocks_per_die + block in die`.
    BlockId
}
id! {
    /// A flash die, numbered channel first: `way * channels + channel`, so that consecutive dies lie on different channels.
    DieId
}
id! {
    /// A channel (flash bus).
    ChannelId
}
id! {
    /// A flash operation that is planned or under way. Reused after the operation ends.
    OpId
}
id! {
    /// A request inside the device. Reused after the request completes.
    RequestId
}
id! {
    /// An entry of the write buffer. Reused after its program has ended.
    EntryId
}

impl RequestId {
    /// Ids from here on denote no request.
    const BACKGROUND: u32 = 1 << 31;

    /// Ids from here on denote no request of the host, and no batch of the write buffer.
    const OWN: u32 = Self::BACKGROUND - 16;

    /// Stands in for a request where what works in the drive beside requests is meant: each service has a number, from 0 to 15.
    pub const fn of_service(number: u32) -> RequestId {
        assert!(number < Self::BACKGROUND - Self::OWN, "a number of a service");
        RequestId(Self::BACKGROUND - 1 - number)
    }

    /// Stands in for a request where the work of an idle drive is meant.
    pub const IDLE_WORK: RequestId = RequestId::of_service(0);

    /// Stands in for a request where the recovery from a power cut is meant.
    pub const RECOVERY: RequestId = RequestId::of_service(1);

    /// Stands in for a request where the recovery log is meant.
    pub const RECOVERY_LOG: RequestId = RequestId::of_service(2);

    /// Stands in for a request where a backup is meant.
    pub const BACKUP: RequestId = RequestId::of_service(3);

    /// Stands in for a request where the journal of the write buffer is meant.
    pub const JOURNAL: RequestId = RequestId::of_service(4);

    /// The owner of pages that complete a row.
    pub const PAD: RequestId = RequestId::of_service(5);

    /// Stands in for a request where look-ups of the map in the host's memory are meant. They have no operations.
    pub const HOST_MEMORY: RequestId = RequestId::of_service(6);

    /// Whether it denotes a request of the host, or a batch of the write buffer.
    #[inline(always)]
    pub const fn is_of_host(self) -> bool {
        self.0 < Self::OWN
    }

    /// Stands in for a request where the background work of a die is meant.
    #[inline(always)]
    pub const fn background_of(die: DieId) -> RequestId {
        RequestId(Self::BACKGROUND | die.0)
    }

    /// The die, if the id denotes its background work.
    #[inline(always)]
    pub const fn as_background(self) -> Option<DieId> {
        if self.0 < Self::BACKGROUND { None } else { Some(DieId(self.0 ^ Self::BACKGROUND)) }
    }
}

/// Bytes in a sector, the granularity of host addresses.
pub const SECTOR_BYTES: u64 = 512;
