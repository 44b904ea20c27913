//! A device that serves its requests one after another, behind the block layer, and the processes of a scenario.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use crate::scenario::{Scenario, Started};
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{
    AtEnd, Completion, Cx, Device, Next, Request, RequestKind, Seats, SourceKind, Tag, Window, Workload,
};
use flashwatt_core::energy::Series;
use flashwatt_core::energy::parts::PartTimes;
use flashwatt_core::kernel::settings::{Span, Stages};
use flashwatt_core::kernel::{End, Sim};
use flashwatt_host::BlockLayer;
use flashwatt_host::sched::REGISTRY;
use flashwatt_host::settings::{Chosen, FlushRule, Host, Merges, Plug};

/// The requests in the order in which the device gets them, under this scheduler.
pub fn play(scenario: &Scenario, scheduler: &str) -> Vec<Started> {
    let device = Bench { scenario, inside: VecDeque::new(), started: Vec::new(), position: 0, free_ns: 0, seat: 0 };
    let bytes = 1 << 40;
    let layer = BlockLayer::new(&host(scenario, scheduler), bytes, &[], device).expect("a block layer");
    let stages = Stages { warmup: Span::default(), measure: Span::default(), count_drain: false, max_flash_ops: None };
    let mut processes = Processes::new(scenario);
    let (outcome, layer) = Sim::new(&stages, layer, &mut processes).run(&mut |_| true);
    assert!(matches!(outcome.end, End::Complete), "{scheduler}, {scenario:?}: {:?}", outcome.end);
    layer.into_device().started
}

fn host(scenario: &Scenario, scheduler: &str) -> Host {
    let entry = REGISTRY.iter().find(|entry| entry.name == scheduler).expect("a scheduler");
    let mut parameters: BTreeMap<_, _> =
        entry.params.iter().map(|param| (param.name.to_owned(), param.default)).collect();
    for (name, value) in &scenario.attributes {
        let key = [name.clone(), format!("{name}_ms"), format!("{name}_kib")]
            .into_iter()
            .find(|key| parameters.contains_key(key));
        parameters.insert(key.unwrap_or_else(|| panic!("{scheduler}: {name}")), *value);
    }
    let requests = if scenario.tagged && !scenario.rotational { 0 } else { 4 };
    Host {
        scheduler: Chosen { entry, parameters },
        queue_depth: scenario.queue_depth,
        nr_requests: scenario.nr_requests,
        max_request_bytes: scenario.max_sectors * 512,
        merges: Merges::All,
        plug: Plug { requests, ns: Some(3_000_000) },
        flush: FlushRule::Drain,
        dispatch_budget: !scenario.peeks,
        rotational: scenario.rotational,
        partition_offset_sectors: 0,
        async_writes: false,
        priorities: BTreeMap::new(),
    }
}

/// The letter of a request's kind.
pub fn op(request: &Request) -> char {
    match request.kind {
        RequestKind::Read => 'R',
        RequestKind::Write => 'W',
        RequestKind::Trim => 'T',
        RequestKind::Flush => 'F',
    }
}

struct Bench<'a> {
    scenario: &'a Scenario,
    /// Ends and tags, in order.
    inside: VecDeque<(Nanos, Tag)>,
    started: Vec<Started>,
    /// Where the last request ends, and when.
    position: u64,
    free_ns: Nanos,
    seat: u32,
}

impl Device for Bench<'_> {
    type Figures = PartTimes;

    fn enrol(&mut self, seats: &mut Seats) {
        self.seat = seats.take(1, 0);
    }

    fn room(&self) -> u32 {
        self.scenario.queue_depth - self.inside.len() as u32
    }

    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        let (sector, sectors) = (request.offset_bytes / 512, request.bytes / 512);
        self.started.push(Started { at_ns: cx.now(), op: op(request), sector, sectors });
        let moves_ns = self.position.abs_diff(sector) * self.scenario.ns_per_sector;
        self.free_ns = self.free_ns.max(cx.now()) + self.scenario.service_ns + moves_ns;
        self.position = sector + sectors;
        self.inside.push_back((self.free_ns, tag));
        if self.inside.len() == 1 {
            cx.agenda.reset(self.seat, self.free_ns);
        }
    }

    fn pass_time(&mut self, _now: Nanos) {}

    fn event(&mut self, _seat: u32, cx: &mut Cx) -> bool {
        let (at, tag) = self.inside.pop_front().expect("a request");
        assert_eq!(at, cx.now());
        cx.done.push(Completion::done(tag));
        if let Some(&(at, _)) = self.inside.front() {
            cx.agenda.reset(self.seat, at);
        }
        true
    }

    fn end_window(&mut self, now: Nanos, _meter: AtEnd) -> (Window<PartTimes>, Option<Box<Series>>) {
        (Window { start_ns: 0, end_ns: now, ..Window::default() }, None)
    }

    fn operations(&self) -> u64 {
        0
    }

    fn operations_at_once(&self) -> u64 {
        1
    }

    fn series_overflowed(&mut self) -> bool {
        false
    }

    fn so_far(&self) -> (f64, f64) {
        (0.0, 0.0)
    }
}

/// The processes of a scenario.
struct Processes<'a> {
    scenario: &'a Scenario,
    /// Requests that will be sent: when, and which.
    coming: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// By process: the requests of its loop that an end starts.
    waiting: BTreeMap<u16, VecDeque<usize>>,
}

impl<'a> Processes<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let requests = &scenario.requests;
        let mut coming: BinaryHeap<_> =
            requests.iter().enumerate().filter_map(|(id, sent)| Some(Reverse((sent.at_ns?, id)))).collect();
        let mut waiting = BTreeMap::<u16, VecDeque<usize>>::new();
        for (id, sent) in requests.iter().enumerate().filter(|(_, sent)| sent.at_ns.is_none()) {
            waiting.entry(sent.request.process).or_default().push_back(id);
        }
        for one in &scenario.loops {
            let chain = waiting.get_mut(&one.process).expect("a process");
            for _ in 0..one.outstanding {
                coming.extend(chain.pop_front().map(|id| Reverse((one.start_ns, id))));
            }
        }
        Processes { scenario, coming, waiting }
    }
}

impl Workload for Processes<'_> {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        Ok(match self.coming.peek() {
            Some(&Reverse((at, _))) if at > now => Next::WaitUntil(at),
            Some(&Reverse((at, id))) => {
                self.coming.pop();
                Next::Request(Tag(id as u32), Request { arrival_ns: at, ..self.scenario.requests[id].request })
            }
            None if self.waiting.values().all(VecDeque::is_empty) => Next::End,
            None => Next::WaitForCompletion,
        })
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        let sent = &self.scenario.requests[done.tag.0 as usize];
        if sent.at_ns.is_none()
            && let Some(next) = self.waiting.get_mut(&sent.request.process).and_then(VecDeque::pop_front)
        {
            self.coming.push(Reverse((now + self.scenario.requests[next].think_ns, next)));
        }
    }

    fn name(&self) -> &str {
        &self.scenario.name
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }
}
