//! The order in which pages leave memory: two lists, as Linux keeps them (mm/swap.c, mm/vmscan.c).

/// No page.
pub const NONE: u32 = u32::MAX;

/// The neighbours of a page in its list.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    before: u32,
    after: u32,
}

impl Links {
    /// In no list.
    pub const NOWHERE: Links = Links { before: NONE, after: NONE };
}

/// Something in a list.
pub trait Linked {
    fn links(&mut self) -> &mut Links;
}

/// A list of pages by number, the newest first.
#[derive(Clone, Copy, Debug)]
pub struct List {
    newest: u32,
    oldest: u32,
    pub len: usize,
}

impl Default for List {
    fn default() -> Self {
        List { newest: NONE, oldest: NONE, len: 0 }
    }
}

impl List {
    /// The oldest page.
    pub fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Puts a page, which is in no list, before all others.
    pub fn push(&mut self, page: u32, pages: &mut [impl Linked]) {
        *pages[page as usize].links() = Links { before: NONE, after: self.newest };
        match self.newest {
            NONE => self.oldest = page,
            newest => pages[newest as usize].links().before = page,
        }
        self.newest = page;
        self.len += 1;
    }

    /// Takes a page out.
    pub fn remove(&mut self, page: u32, pages: &mut [impl Linked]) {
        let Links { before, after } = *pages[page as usize].links();
        match before {
            NONE => self.newest = after,
            before => pages[before as usize].links().after = after,
        }
        match after {
            NONE => self.oldest = before,
            after => pages[after as usize].links().before = before,
        }
        self.len -= 1;
    }
}
