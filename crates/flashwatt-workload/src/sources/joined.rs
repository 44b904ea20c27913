//! Requests that continue one another, as one: for a replay without a clock.

use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, Tag, Workload, says_what_inner_says};

/// A workload whose requests are joined with those before them of the same kind that end where they begin. The joined request
/// arrives with the last of them.
pub struct Joined<'a> {
    inner: &'a mut dyn Workload,
    /// The request that the next one may join, and the tags that it stands for.
    held: Option<(Request, Vec<Tag>)>,
    /// The tags that the request in the device stands for.
    given: Vec<Tag>,
}

impl<'a> Joined<'a> {
    /// The requests of `inner`, joined.
    pub fn new(inner: &'a mut dyn Workload) -> Self {
        Joined { inner, held: None, given: Vec::new() }
    }

    /// The held request goes to the device.
    fn give(&mut self, now: Nanos) -> Option<Next> {
        let (request, tags) = self.held.take()?;
        self.given = tags;
        Some(Next::Request(Tag(0), Request { arrival_ns: now, ..request }))
    }

    fn join(&mut self, tag: Tag, request: &Request) -> bool {
        let Some((held, tags)) = &mut self.held else { return false };
        let continues = held.kind == request.kind
            && held.kind != RequestKind::Flush
            && held.offset_bytes + held.bytes == request.offset_bytes;
        if continues {
            held.bytes += request.bytes;
            tags.push(tag);
        }
        continues
    }
}

impl Workload for Joined<'_> {
    says_what_inner_says!();

    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        loop {
            match self.inner.next(now)? {
                Next::Request(tag, request) if self.join(tag, &request) => {}
                Next::Request(tag, request) => {
                    let given = self.give(now);
                    self.held = Some((request, vec![tag]));
                    if let Some(given) = given {
                        return Ok(given);
                    }
                }
                wait @ (Next::WaitUntil(_) | Next::Measure) => return Ok(wait),
                other => return Ok(self.give(now).unwrap_or(other)),
            }
        }
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        for tag in std::mem::take(&mut self.given) {
            self.inner.completed(&Completion { tag, ..*done }, now);
        }
    }
}
