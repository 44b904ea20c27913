//! Flash operations and their causes.

use serde::Serialize;

/// The cause of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Cause {
    /// The host asked for it.
    Host,
    /// Garbage collection.
    Gc,
    /// A merge of blocks in a block-mapped or hybrid scheme.
    Merge,
    /// Access to a translation page.
    Map,
    /// Wear levelling.
    Wear,
    /// A backup of a page that shares cells with one to be programmed.
    Backup,
    /// The journal of the write buffer.
    Journal,
    /// A page programmed to complete a row.
    Pad,
    /// Data moved from the single-level cache into native cells.
    Fold,
}

impl Cause {
    /// All of them, in the order of their numbers.
    pub const ALL: [Cause; 9] = [
        Cause::Host,
        Cause::Gc,
        Cause::Merge,
        Cause::Map,
        Cause::Wear,
        Cause::Backup,
        Cause::Journal,
        Cause::Pad,
        Cause::Fold,
    ];

    /// The name in reports and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Host => "host",
            Cause::Gc => "gc",
            Cause::Merge => "merge",
            Cause::Map => "map",
            Cause::Wear => "wear",
            Cause::Backup => "backup",
            Cause::Journal => "journal",
            Cause::Pad => "pad",
            Cause::Fold => "fold",
        }
    }
}

/// The kind of a flash operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum OpKind {
    /// Read a page and move its data out over the bus.
    Read,
    /// Move data in over the bus and program a page.
    Program,
    /// Erase a block.
    Erase,
    /// Read a page and program another page of the same die, without the bus.
    Copyback,
    /// Read the spare area of a page, where a scheme without a page table keeps its mapping. The die is busy as for a
    /// read; the transfer of its few bytes takes no bus time.
    SpareRead,
    /// Read a page, move its data out over the bus, and program another page. It runs and counts as a [`Self::Read`]
    /// followed by a [`Self::Program`]; between the two the die is free for other operations.
    Copy,
}

impl OpKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [OpKind; 6] =
        [OpKind::Read, OpKind::Program, OpKind::Erase, OpKind::Copyback, OpKind::SpareRead, OpKind::Copy];

    /// The kinds that the ledger counts: a copy counts as a read and a program.
    pub const BOOKED: [OpKind; 5] = [OpKind::Read, OpKind::Program, OpKind::Erase, OpKind::Copyback, OpKind::SpareRead];

    /// The kind that copies a page within a die: with or without the bus.
    pub const fn of_copies(copyback: bool) -> OpKind {
        if copyback { OpKind::Copyback } else { OpKind::Copy }
    }

    /// The name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            OpKind::Read => "read",
            OpKind::Program => "program",
            OpKind::Erase => "erase",
            OpKind::Copyback => "copyback",
            OpKind::SpareRead => "spare_read",
            OpKind::Copy => "copy",
        }
    }
}

/// The type of a page among those that share its cells: which bit of the cells it holds. A further type is a line here, in [`Self::ALL`]
/// and in [`Self::name`]; `FlashAddress::class` says which pages are of it.
///
/// Where the pages of a drive do not differ by the bit, as with paired pages, all are of the first type: what the program of an upper page
/// takes more is booked as excess.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PageType {
    /// The first bit: the lower page, and any page where types are not told apart.
    Any,
    /// The second bit: the upper page of two bits, the middle one of three.
    Second,
    /// The third bit: the upper page of three bits.
    Third,
    /// The fourth bit: the top page of four bits.
    Fourth,
}

impl PageType {
    /// All of them, in the order of their numbers.
    pub const ALL: [PageType; 4] = [PageType::Any, PageType::Second, PageType::Third, PageType::Fourth];

    /// The name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            PageType::Any => "first",
            PageType::Second => "second",
            PageType::Third => "third",
            PageType::Fourth => "fourth",
        }
    }
}

/// The mode in which the cells of a block are used. A further mode is a line here, in [`Self::ALL`] and in [`Self::name`];
/// `FlashAddress::class` says which blocks are in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CellMode {
    /// With all bits that they are made for.
    Native,
    /// With one bit.
    Slc,
}

impl CellMode {
    /// All of them, in the order of their numbers.
    pub const ALL: [CellMode; 2] = [CellMode::Native, CellMode::Slc];

    /// The name in logs.
    pub const fn name(self) -> &'static str {
        match self {
            CellMode::Native => "native",
            CellMode::Slc => "slc",
        }
    }
}

/// The class of a flash operation: its kind, the type of its page, and the mode of its block. Counts, times and prices are kept by
/// class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpClass {
    /// Its kind.
    pub kind: OpKind,
    /// The type of its page; the first one for an erase.
    pub page: PageType,
    /// The mode of its block.
    pub mode: CellMode,
}

impl OpClass {
    /// Number of types of pages and modes of blocks: the classes of one kind.
    const SHARES: usize = PageType::ALL.len() * CellMode::ALL.len();
    /// Number of classes.
    pub const COUNT: usize = Self::SHARES * OpKind::ALL.len();

    /// A kind of operation on a page of the first type, in a block that is used as it is made.
    pub const fn plain(kind: OpKind) -> Self {
        OpClass { kind, page: PageType::Any, mode: CellMode::Native }
    }

    /// The `index`th class. The plain classes come first, in the order of their kinds: hot paths index by them.
    ///
    /// # Panics
    /// If `index` is not below [`Self::COUNT`].
    pub fn at(index: usize) -> Self {
        let (share, kind) = (index / OpKind::ALL.len(), index % OpKind::ALL.len());
        let (page, mode) = (share / CellMode::ALL.len(), share % CellMode::ALL.len());
        OpClass { kind: OpKind::ALL[kind], page: PageType::ALL[page], mode: CellMode::ALL[mode] }
    }

    /// Its place among all classes: the reverse of [`Self::at`].
    #[inline(always)]
    pub const fn index(self) -> usize {
        let share = self.page as usize * CellMode::ALL.len() + self.mode as usize;
        share * OpKind::ALL.len() + self.kind as usize
    }

    /// The classes of a kind.
    pub fn of_kind(kind: OpKind) -> impl Iterator<Item = OpClass> {
        (0..Self::SHARES).map(move |share| Self::at(share * OpKind::ALL.len() + kind as usize))
    }

    /// The classes that the ledger counts: those of [`OpKind::BOOKED`].
    pub fn booked() -> impl Iterator<Item = OpClass> {
        OpKind::BOOKED.into_iter().flat_map(Self::of_kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_found_at_its_index() {
        let classes: Vec<OpClass> = (0..OpClass::COUNT).map(OpClass::at).collect();
        assert!(classes.iter().enumerate().all(|(index, class)| class.index() == index));
        for kind in OpKind::ALL {
            assert!(classes.iter().copied().filter(|class| class.kind == kind).eq(OpClass::of_kind(kind)));
        }
    }

    /// Hot paths index by the plain class of a kind: no arithmetic is left of that.
    #[test]
    fn the_plain_class_of_a_kind_is_at_its_number() {
        assert!(OpKind::ALL.iter().all(|&kind| OpClass::plain(kind).index() == kind as usize));
    }

    #[test]
    fn the_ledger_counts_the_classes_of_its_kinds() {
        assert!(OpClass::booked().all(|class| OpKind::BOOKED.contains(&class.kind)));
        assert_eq!(OpClass::booked().count(), OpKind::BOOKED.len() * OpClass::SHARES);
        assert_eq!(OpKind::ALL[..OpKind::BOOKED.len()], OpKind::BOOKED);
    }
}
