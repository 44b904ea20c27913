//! Logs on their way to the disk, and what makes them durable.
//!
//! A log is what is written at one time, as one or more partial segments: each of them summary blocks, and behind them the pages that the
//! summary lists. Sizes of a summary are those of NILFS2 (include/uapi/linux/nilfs2_ondisk.h): 64 bytes, 24 for a file
//! (struct nilfs_finfo) and 16 for a block (struct nilfs_binfo_v).

use std::collections::VecDeque;

use crate::system::{BLOCK_BYTES, Cx, PageKey, Ticket, Tried};

/// The number of a log. Numbers ascend from 1.
pub type LogId = u32;

const HEADER_BYTES: u64 = 64;
const FILE_BYTES: u64 = 24;
const PAGE_BYTES: u64 = 16;

/// Blocks of the summary of this number of pages of one owner.
pub fn summaries(pages: u32) -> u32 {
    (HEADER_BYTES + FILE_BYTES + PAGE_BYTES * u64::from(pages)).div_ceil(BLOCK_BYTES) as u32
}

/// How many of these pages fit into this number of blocks with their summary, and the blocks of that.
pub fn fit(pages: &[PageKey], blocks: u32) -> (usize, u32) {
    let (mut bytes, mut count, mut summaries) = (HEADER_BYTES, 0, 1);
    let mut owner = None;
    for key in pages {
        bytes += PAGE_BYTES + if owner.replace(key.owner) == Some(key.owner) { 0 } else { FILE_BYTES };
        let needs = bytes.div_ceil(BLOCK_BYTES) as u32;
        if count + 1 + needs > blocks {
            break;
        }
        (count, summaries) = (count + 1, needs);
    }
    (count as usize, summaries)
}

/// The logs that were sent.
#[derive(Debug, Default)]
pub struct Log {
    /// The last one.
    sent: LogId,
    /// Requests that have not ended, as far as is known.
    in_flight: VecDeque<(LogId, Ticket)>,
    /// Flushes that have not ended, as far as is known, and the last log that each makes durable.
    flushes: VecDeque<(Ticket, LogId)>,
    /// All logs up to this one are durable.
    durable: LogId,
}

impl Log {
    /// Begins the next log.
    pub fn begin(&mut self) -> LogId {
        self.sent += 1;
        self.sent
    }

    /// The log that was begun last.
    pub fn last(&self) -> LogId {
        self.sent
    }

    /// Whether every log is durable.
    pub fn is_durable(&self) -> bool {
        self.durable == self.sent
    }

    /// A request of the last log was sent.
    pub fn add(&mut self, ticket: Ticket) {
        self.in_flight.push_back((self.sent, ticket));
    }

    /// Notes what has ended.
    pub fn settle(&mut self, cx: &Cx) {
        self.in_flight.retain(|&(_, ticket)| cx.is_under_way(ticket));
        let ended = self.flushes.iter().filter(|(ticket, _)| !cx.is_under_way(*ticket)).map(|&(_, log)| log).max();
        if let Some(log) = ended {
            self.durable = self.durable.max(log);
            self.flushes.retain(|&(ticket, _)| cx.is_under_way(ticket));
        }
    }

    /// All logs up to this one have arrived at the drive.
    pub fn arrived(&self) -> LogId {
        self.in_flight.front().map_or(self.sent, |&(log, _)| log - 1)
    }

    /// Waits until all logs up to this one are durable. Those who wait for logs that have arrived share a flush.
    pub fn reach_durable(&mut self, log: LogId, cx: &mut Cx) -> Tried<()> {
        self.settle(cx);
        if self.durable >= log {
            return Ok(());
        }
        self.in_flight.iter().filter(|&&(of, _)| of <= log).for_each(|&(_, ticket)| cx.wait_until_ended(ticket));
        cx.wait()?;
        match self.flushes.iter().find(|&&(_, covers)| covers >= log) {
            Some(&(ticket, _)) => cx.wait_until_ended(ticket),
            None => {
                let covers = self.arrived();
                self.flushes.push_back((cx.flush(), covers));
            }
        }
        cx.wait()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Owner;

    /// 252 pages of one file: 64 + 24 + 4032 bytes are two blocks; 250 fit into one: 4088.
    #[test]
    fn summaries_have_the_sizes_that_were_worked_out_by_hand() {
        assert_eq!([1, 250, 251, 506, 507].map(summaries), [1, 1, 2, 2, 3]);
        let pages: Vec<_> = (0..600).map(|index| PageKey::new(Owner(7), index)).collect();
        assert_eq!(fit(&pages, 256), (254, 2));
        assert_eq!(fit(&pages, 2), (1, 1));
        assert_eq!(fit(&pages[..4], 256), (4, 1));
        // 40 bytes each: 100 pages are 4064.
        let owners: Vec<_> = (0..600).map(|owner| PageKey::new(Owner(owner), 0)).collect();
        assert_eq!([fit(&owners, 101), fit(&owners, 102), fit(&owners, 103)], [(100, 1), (100, 1), (101, 2)]);
    }
}
