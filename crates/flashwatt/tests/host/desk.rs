//! A bench for dispatch orders: a device that takes a fixed time for each request and writes down what it gets, behind the
//! block layer, under a script of requests.
//!
//! A script is a list of steps, separated by `;`. A step is a time in ms and requests of that instant:
//!
//! ```text
//! 0 R100 W200+16 w300 R8/2; 5 R64
//! ```
//!
//! `R100`: a read of 8 sectors at sector 100 by process 0. `+16`: of 16 sectors. `/2`: by process 2. `w`: a write that nobody
//! waits for. `T` and `F`: a trim, a flush. `!`: forced unit access. Orders are written in the same way, without what is
//! the default.

use std::collections::VecDeque;
use std::fmt::Write;

use flashwatt::config::{self, Config};
use flashwatt::report::HostReport;
use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{
    AtEnd, Completion, Cx, Device, Next, Priority, PriorityClass, Request, RequestKind, Seats, SourceKind, Status, Tag,
    Window, Workload,
};
use flashwatt_core::energy::Series;
use flashwatt_core::energy::parts::PartTimes;
use flashwatt_core::kernel::{End, Sim};
use flashwatt_host::{BlockLayer, HostFigures, Hosted};

pub const MS: Nanos = 1_000_000;

/// What came of a script.
pub struct Played {
    /// The requests in the order in which the device got them.
    pub order: String,
    /// The same, each with the time in ms at which the device got it.
    pub times: Vec<(Nanos, String)>,
    /// The requests in the order in which they ended, as the script has them.
    pub ends: Vec<(Nanos, String)>,
    /// The block layer's figures.
    pub figures: HostFigures,
}

/// The time in ms at which the device got a request.
pub fn time_ms(played: &Played, request: &str) -> f64 {
    let (at, _) = played.times.iter().find(|(_, text)| text == request).expect("the request");
    *at as f64 / MS as f64
}

/// How many requests of which process or kind went in a row.
pub fn runs(played: &Played, of: fn(&str) -> char) -> Vec<(char, u32)> {
    let mut runs: Vec<(char, u32)> = Vec::new();
    for (_, text) in &played.times {
        match runs.last_mut() {
            Some((last, count)) if *last == of(text) => *count += 1,
            _ => runs.push((of(text), 1)),
        }
    }
    runs
}

/// The digit of the process of a request.
pub fn process(text: &str) -> char {
    text.split_once('/').and_then(|(_, process)| process.chars().next()).unwrap_or('0')
}

/// The letter of the kind of a request.
pub fn letter(text: &str) -> char {
    text.chars().next().expect("a letter")
}

/// Plays a script on a device that serves one request at a time, in 1 ms each. `sets` are keys of `[host]`.
pub fn play(sets: &[&str], script: &str) -> Played {
    play_on(1, MS, sets, script)
}

/// As [`play`], with processes of these levels of the best-effort class.
pub fn play_with_levels(sets: &[&str], script: &str, levels: &[u8]) -> Played {
    let mut script = Script::new(script);
    for step in &mut script.steps {
        step.priority = Priority::new(PriorityClass::BestEffort, levels[usize::from(step.process)]);
    }
    run(&config(1, sets), 1, MS, &mut script)
}

/// The order of [`play`].
pub fn order(sets: &[&str], script: &str) -> String {
    play(sets, script).order
}

/// As [`play`], on a device that serves `depth` requests at a time, each in `service_ns`.
pub fn play_on(depth: u32, service_ns: Nanos, sets: &[&str], script: &str) -> Played {
    let config = config(depth, sets);
    let mut script = Script::new(script);
    let expected = script.steps.len();
    let played = run(&config, depth, service_ns, &mut script);
    assert_eq!(played.ends.len(), expected, "every request ends");
    played
}

/// The report's section `host` of [`play`].
pub fn report(sets: &[&str], script: &str) -> serde_json::Value {
    let config = config(1, sets);
    let mut script = Script::new(script);
    let played = run(&config, 1, MS, &mut script);
    let end_ns = played.ends.last().map_or(0, |&(at, _)| at);
    let figures = Hosted { device: PartTimes::default(), host: played.figures };
    let window = Window { end_ns, figures, start_ns: 0, ..Window::default() };
    let section = HostReport::new(config.host.as_ref().expect("a host"), &window);
    serde_json::to_value(&section).expect("a section is JSON")
}

/// The configuration of a small drive with these keys of `[host]`.
pub fn config(depth: u32, sets: &[&str]) -> Config {
    let mut all = vec![
        "device.preset=limit".to_string(),
        format!("device.host_link.queue_depth={depth}"),
        "host.plug_requests=0".to_string(),
    ];
    all.extend(sets.iter().map(|set| format!("host.{set}")));
    config::load("", "test", &all).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a workload on the device of [`play_on`].
pub fn run(config: &Config, depth: u32, service_ns: Nanos, workload: &mut (impl Workload + Ends)) -> Played {
    let host = config.host.as_ref().expect("a host");
    let device = Desk { depth, service_ns, inside: VecDeque::new(), times: Vec::new(), seat: 0 };
    let layer = BlockLayer::new(host, config.logical_bytes(), &[], device).expect("a block layer");
    let (outcome, layer) = Sim::new(&config.run.stages(), layer, &mut *workload).run(&mut |_| true);
    assert!(matches!(outcome.end, End::Complete), "{:?}", outcome.end);
    let windows = [Some(&outcome.warmed), Some(&outcome.measured), outcome.drain.as_ref()];
    let figures =
        windows.into_iter().flatten().fold(HostFigures::default(), |sum, window| sum.plus(&window.figures.host));
    let times = layer.into_device().times;
    let order = times.iter().map(|(_, request)| request.as_str()).collect::<Vec<_>>().join(" ");
    Played { order, times, ends: workload.ends(), figures }
}

/// A workload that knows when its requests ended.
pub trait Ends {
    fn ends(&mut self) -> Vec<(Nanos, String)>;
}

/// The name of a request in scripts.
fn name(request: &Request) -> String {
    let letter = match (request.kind, request.is_sync) {
        (RequestKind::Read, _) => 'R',
        (RequestKind::Write, true) => 'W',
        (RequestKind::Write, false) => 'w',
        (RequestKind::Trim, _) => 'T',
        (RequestKind::Flush, _) => return "F".into(),
    };
    let mut text = format!("{letter}{}", request.offset_bytes / 512);
    if request.bytes != 8 * 512 {
        write!(text, "+{}", request.bytes / 512).expect("text");
    }
    if request.process != 0 {
        write!(text, "/{}", request.process).expect("text");
    }
    if request.fua {
        text.push('!');
    }
    text
}

struct Desk {
    depth: u32,
    service_ns: Nanos,
    /// Ends and tags, in order.
    inside: VecDeque<(Nanos, Tag)>,
    times: Vec<(Nanos, String)>,
    seat: u32,
}

impl Device for Desk {
    type Figures = PartTimes;

    fn enrol(&mut self, seats: &mut Seats) {
        self.seat = seats.take(1, 0);
    }

    fn room(&self) -> u32 {
        self.depth - self.inside.len() as u32
    }

    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        assert!(self.room() > 0, "the device has room");
        assert!(self.inside.iter().all(|&(_, other)| other != tag), "no two requests share a tag");
        self.times.push((cx.now(), name(request)));
        let at = cx.now() + self.service_ns;
        self.inside.push_back((at, tag));
        if self.inside.len() == 1 {
            cx.agenda.reset(self.seat, at);
        }
    }

    fn pass_time(&mut self, _now: Nanos) {}

    fn event(&mut self, _seat: u32, cx: &mut Cx) -> bool {
        while let Some(&(at, tag)) = self.inside.front().filter(|&&(at, _)| at <= cx.now()) {
            assert_eq!(at, cx.now());
            self.inside.pop_front();
            cx.done.push(Completion::done(tag));
        }
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

/// A scripted workload.
pub struct Script {
    pub steps: Vec<Request>,
    next: usize,
    ends: Vec<(Nanos, String)>,
}

impl Script {
    pub fn new(text: &str) -> Self {
        let mut steps = Vec::new();
        for step in text.split(';') {
            let mut words = step.split_whitespace();
            let Some(at) = words.next() else { continue };
            let at = (at.parse::<f64>().expect("a time in ms") * MS as f64) as Nanos;
            steps.extend(words.map(|word| request(at, word)));
        }
        Script { steps, next: 0, ends: Vec::new() }
    }
}

impl Script {
    /// The same script from its beginning.
    pub fn again(&self) -> Self {
        Script { steps: self.steps.clone(), next: 0, ends: Vec::new() }
    }

    /// Arrivals and names of its requests.
    pub fn names(&self) -> Vec<(Nanos, String)> {
        self.steps.iter().map(|request| (request.arrival_ns, name(request))).collect()
    }
}

/// The request that a word of a script stands for.
pub fn request(at: Nanos, word: &str) -> Request {
    let (word, fua) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
    let (word, class) = ["rt", "be", "idle"]
        .iter()
        .find_map(|class| word.strip_suffix(class).and_then(|word| word.strip_suffix(':')).map(|word| (word, *class)))
        .unwrap_or((word, "be"));
    let (word, process) = word.split_once('/').unwrap_or((word, "0"));
    let (place, sectors) = word[1..].split_once('+').unwrap_or((&word[1..], "8"));
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{word}: {text}"));
    let (kind, is_sync) = match &word[..1] {
        "R" => (RequestKind::Read, true),
        "W" => (RequestKind::Write, true),
        "w" => (RequestKind::Write, false),
        "T" => (RequestKind::Trim, true),
        "F" => return Request::new(at, RequestKind::Flush, 0, 0),
        other => panic!("{other}"),
    };
    let class = match class {
        "rt" => PriorityClass::Realtime,
        "idle" => PriorityClass::Idle,
        _ => PriorityClass::BestEffort,
    };
    let priority = Priority::new(class, if class == PriorityClass::Idle { 7 } else { 4 });
    let request = Request::new(at, kind, number(place) * 512, number(sectors) * 512);
    Request { process: number(process) as u16, is_sync, fua, priority, ..request }
}

impl Workload for Script {
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        Ok(match self.steps.get(self.next) {
            None => Next::End,
            Some(request) if request.arrival_ns > now => Next::WaitUntil(request.arrival_ns),
            Some(&request) => {
                self.next += 1;
                Next::Request(Tag(self.next as u32 - 1), request)
            }
        })
    }

    fn completed(&mut self, done: &Completion, now: Nanos) {
        assert_eq!(done.status, Status::Done);
        self.ends.push((now, name(&self.steps[done.tag.0 as usize])));
    }

    fn name(&self) -> &str {
        "script"
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Synthetic
    }
}

impl Ends for Script {
    fn ends(&mut self) -> Vec<(Nanos, String)> {
        std::mem::take(&mut self.ends)
    }
}
