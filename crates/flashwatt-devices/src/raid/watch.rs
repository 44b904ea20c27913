//! What an array says to somebody who follows what its members hold.

use flashwatt_core::connector::{Request, RequestKind, Tag};

/// An event of an array that is followed.
#[derive(Clone, Copy, Debug)]
pub enum ArrayEvent {
    /// The host writes or trims. These requests are numbered in this order, from 1 on.
    Sent(Request),
    /// A member gets a part of such a request, or the parity for it, under a tag of the member.
    Given {
        /// The number of the host's request.
        number: u64,
        /// The member.
        member: u32,
        /// The tag that the member knows.
        tag: Tag,
        /// What the member gets.
        request: Request,
    },
}

/// The events of an array that is followed.
pub(super) struct ArrayWatch {
    events: Vec<ArrayEvent>,
    requests: u64,
    /// Of each request of the host inside, by its tag: its number.
    numbers: Box<[u64]>,
}

impl ArrayWatch {
    /// Of an array with room for this number of requests.
    pub fn new(room: usize) -> Self {
        ArrayWatch { events: Vec::new(), requests: 0, numbers: vec![0; room].into() }
    }

    /// The host sends a request.
    pub fn sent(&mut self, tag: Tag, request: &Request) {
        if is_change(request) {
            self.requests += 1;
            self.numbers[tag.0 as usize] = self.requests;
            self.events.push(ArrayEvent::Sent(*request));
        }
    }

    /// A member gets a part of a request of the host, which has the tag `host`.
    pub fn given(&mut self, host: Tag, member: u32, tag: Tag, request: &Request) {
        if is_change(request) {
            let number = self.numbers[host.0 as usize];
            self.events.push(ArrayEvent::Given { number, member, tag, request: *request });
        }
    }

    /// The events since the last call.
    pub fn take(&mut self) -> Vec<ArrayEvent> {
        std::mem::take(&mut self.events)
    }
}

fn is_change(request: &Request) -> bool {
    matches!(request.kind, RequestKind::Write | RequestKind::Trim)
}
