//! Scenarios that are drawn: what goes on in the queue where requests overlap, places are few, and flushes drain it.

use std::path::PathBuf;

use crate::scenario::{Loop, Scenario, Sent};
use flashwatt_core::connector::{Priority, PriorityClass, Request, RequestKind};

/// A sequence of random numbers (Knuth's linear congruence).
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Draw(seed)
    }

    /// A number below this.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// A scenario of three processes: two send at drawn times, the third one keeps some requests under way.
pub fn scenario(draw: &mut Draw) -> Scenario {
    let region = draw.of(&[64, 400, 200_000]);
    let mut at_ns = 0;
    let requests = (0..120).map(|_| {
        at_ns += draw.of(&[0, 0, 1_000, 300_000, 5_000_000]);
        sent(draw, region, at_ns)
    });
    let requests = requests.collect();
    Scenario {
        folder: PathBuf::new(),
        name: "drawn".into(),
        scheduler: String::new(),
        queue_depth: draw.of(&[1, 1, 2, 31]),
        peeks: draw.below(2) == 0,
        rotational: draw.below(3) > 0,
        tagged: draw.below(2) == 0,
        service_ns: draw.of(&[90_000, 1_000_000, 7_300_000]),
        ns_per_sector: 0,
        max_sectors: draw.of(&[16, 1024]),
        nr_requests: draw.of(&[1, 4, 9, 128]),
        attributes: Vec::new(),
        loops: vec![Loop { process: 2, outstanding: 3, start_ns: 0 }],
        requests,
    }
}

fn sent(draw: &mut Draw, region: u64, at_ns: u64) -> Sent {
    let kind = match draw.below(40) {
        0 => RequestKind::Flush,
        1 => RequestKind::Trim,
        2..=20 => RequestKind::Write,
        _ => RequestKind::Read,
    };
    let process = draw.below(3) as u16;
    let class =
        draw.of(&[PriorityClass::Realtime, PriorityClass::BestEffort, PriorityClass::BestEffort, PriorityClass::Idle]);
    let priority = Priority::new(class, if class == PriorityClass::Idle { 7 } else { draw.below(8) as u8 });
    let (offset, bytes) = match kind {
        RequestKind::Flush => (0, 0),
        _ => (draw.below(region) * 512, draw.of(&[1, 4, 8, 40]) * 512),
    };
    let request = Request {
        process,
        priority,
        is_sync: kind == RequestKind::Read || draw.below(2) == 0,
        ..Request::new(0, kind, offset, bytes)
    };
    Sent { at_ns: (process != 2).then_some(at_ns), think_ns: draw.below(9_000_000), request }
}
