//! Reading ahead: windows that grow while a file is read in order (Linux, mm/readahead.c, ondemand_readahead).

/// The window of a file that a thread reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Window {
    /// First page.
    pub start: u32,
    /// Number of pages.
    pub pages: u32,
    /// Its last pages: reading the first of these starts the next window.
    pub ahead: u32,
    /// The page that was read last; none before the first read.
    last: Option<u32>,
}

/// What is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// First page.
    pub start: u32,
    /// Number of pages, > 0.
    pub pages: u32,
    /// The page that starts the next window; none if reading ahead has stopped.
    pub mark: Option<u32>,
}

impl Window {
    /// A page has been read.
    pub fn read(&mut self, page: u32) {
        self.last = Some(page);
    }

    /// A page is missing, of `asked` pages from it on that a call reads. The windows have at most `most` pages.
    pub fn missed(&mut self, page: u32, asked: u32, most: u32) -> Plan {
        let follows = page == 0 || self.last.is_some_and(|last| page.wrapping_sub(last) <= 1);
        if most == 0 || !(follows || asked > most) {
            return Plan { start: page, pages: asked.max(1), mark: None };
        }
        self.start = page;
        self.pages = first_pages(asked.max(1), most);
        self.ahead = if self.pages > asked { self.pages - asked } else { self.pages };
        self.plan()
    }

    /// The marked page is read: the next window.
    pub fn marked(&mut self, page: u32, asked: u32, most: u32) -> Plan {
        let expected = self.start + self.pages;
        if page + self.ahead == expected || page == expected {
            self.start = expected;
            self.pages = next_pages(self.pages, most);
        } else {
            // Another thread's window, or one of long ago: it goes on behind this page.
            self.start = page + 1;
            self.pages = next_pages(asked.max(1), most);
        }
        self.ahead = self.pages;
        self.plan()
    }

    fn plan(&self) -> Plan {
        Plan { start: self.start, pages: self.pages, mark: Some(self.start + self.pages - self.ahead) }
    }
}

/// The first window (get_init_ra_size).
fn first_pages(asked: u32, most: u32) -> u32 {
    let pages = asked.next_power_of_two();
    match pages {
        pages if pages <= most / 32 => pages * 4,
        pages if pages <= most / 4 => pages * 2,
        _ => most,
    }
}

/// The window after one of this length (get_next_ra_size).
fn next_pages(pages: u32, most: u32) -> u32 {
    match pages {
        pages if pages < most / 16 => pages * 4,
        pages if pages <= most / 2 => pages * 2,
        _ => most,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 KiB reads with windows of at most 32 pages: 4 pages first, of which 3 are ahead; then 8, 16, 32, 32.
    #[test]
    fn windows_grow_while_a_file_is_read_in_order() {
        let mut window = Window::default();
        assert_eq!(window.missed(0, 1, 32), Plan { start: 0, pages: 4, mark: Some(1) });
        window.read(0);
        assert_eq!(window.marked(1, 1, 32), Plan { start: 4, pages: 8, mark: Some(4) });
        assert_eq!(window.marked(4, 1, 32), Plan { start: 12, pages: 16, mark: Some(12) });
        assert_eq!(window.marked(12, 1, 32), Plan { start: 28, pages: 32, mark: Some(28) });
        assert_eq!(window.marked(28, 1, 32), Plan { start: 60, pages: 32, mark: Some(60) });
    }

    #[test]
    fn a_page_out_of_order_is_read_alone() {
        let mut window = Window::default();
        window.read(7);
        assert_eq!(window.missed(100, 2, 32), Plan { start: 100, pages: 2, mark: None });
        assert_eq!(window.missed(8, 1, 32), Plan { start: 8, pages: 4, mark: Some(9) }, "it follows on the last one");
        assert_eq!(Window::default().missed(0, 1, 0), Plan { start: 0, pages: 1, mark: None }, "switched off");
    }

    /// A call that asks for more than a window gets a window, and the next one when it has read that.
    #[test]
    fn a_long_call_gets_whole_windows() {
        let mut window = Window::default();
        assert_eq!(window.missed(0, 256, 32), Plan { start: 0, pages: 32, mark: Some(0) });
    }
}
