//! A drive on which a request takes a time that depends on its place: requests end in another order than they begin.

use std::collections::BTreeMap;

use flashwatt_core::connector::{Completion, Next, RequestKind, Tag, Workload};

/// What a run sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    pub reads: u64,
    pub writes: u64,
    pub written_bytes: u64,
    pub flushes: u64,
    pub end_ns: u64,
    /// A digest of every request.
    pub digest: u64,
}

/// Runs a workload to its end. The drive takes 32 requests at a time.
pub fn run(workload: &mut dyn Workload) -> Result<Sent, flashwatt::Error> {
    let (mut now, mut sent, mut count) = (0, Sent::default(), 0);
    let mut inside: BTreeMap<(u64, u64), Tag> = BTreeMap::new();
    loop {
        let next = if inside.len() < 32 { workload.next(now)? } else { Next::WaitForCompletion };
        let until = match next {
            Next::Request(tag, request) => {
                count += 1;
                match request.kind {
                    RequestKind::Read => sent.reads += 1,
                    RequestKind::Write => {
                        sent.writes += 1;
                        sent.written_bytes += request.bytes;
                    }
                    RequestKind::Flush => sent.flushes += 1,
                    RequestKind::Trim => {}
                }
                sent.digest =
                    (sent.digest ^ request.offset_bytes ^ request.bytes << 40 ^ now).wrapping_mul(0x100_0000_01b3);
                inside.insert((now + 50_000 + request.offset_bytes / 4096 % 97 * 1_000, count), tag);
                continue;
            }
            Next::WaitUntil(at) => Some(at),
            Next::WaitForCompletion => None,
            Next::Measure => continue,
            Next::End if inside.is_empty() => {
                sent.end_ns = now;
                return Ok(sent);
            }
            Next::End => None,
        };
        match inside.first_key_value().map(|(&(end, count), &tag)| (end, count, tag)) {
            Some((end, count, tag)) if until.is_none_or(|until| end <= until) => {
                now = end;
                inside.remove(&(end, count));
                workload.completed(&Completion::done(tag), now);
            }
            _ => now = until.expect("a wait for something that comes"),
        }
    }
}
