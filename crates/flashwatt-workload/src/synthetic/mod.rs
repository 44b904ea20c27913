//! Synthetic workloads, composed of three independent parts: kinds and lengths of requests, places, arrival times.
//!
//! ```text
//! Mix (reads, trims, sizes) ─┐
//! Places (one file each) ────┼── Synthetic ── Next::Request
//! Clock (closed, open) ──────┘
//! ```
//!
//! To add a model of places, write a file with a [`Model`] and add a line to [`MODELS`]. All models share kinds, sizes
//! and arrivals.

use std::borrow::Cow;

use flashwatt_base::error::Error;
use flashwatt_base::registry::{Entry, Param, find, registry};
use flashwatt_base::rng::Rng;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{Completion, Next, Request, RequestKind, SourceKind, Tag, Upcoming, Workload};

mod clock;
mod mix;
mod permutation;
mod processes;
mod region;
pub(crate) mod settings;
#[cfg(test)]
mod tests;
mod zones;

pub use clock::{Clock, Gaps};
pub use mix::{Lengths, Mix};
pub(crate) use pareto::Pareto;
pub(crate) use permutation::Permutation;
use processes::{Dealt, Loops};
pub use region::Region;
use settings::Arrivals;
pub use uniform::Uniform;
pub(crate) use zipf::Zipf;
pub(crate) use zones::Zones;

/// A model of where requests go, as it is registered: its parameters besides the keys that all models have, and how a workload
/// is made of valid settings of this model. The same seed gives the same requests.
pub type Model = Entry<fn(cfg: &settings::Synthetic, seed: u64) -> Box<dyn Workload>>;

registry! {
    /// Every model that a configuration can name: one file each, the default first.
    MODELS: Model =
        uniform,
        sequential,
        zipf,
        pareto,
        normal,
        hot_cold,
}

/// The parameter `scattered` of the models with popular places.
const SCATTERED: Param = Param {
    name: "scattered",
    doc: "1: popular places lie anywhere in the range; 0: at its beginning, the most popular first",
    default: 1.0,
    min: 0.0,
    max: 1.0,
    integer: true,
};

/// The registered model with this name.
pub fn model(name: &str) -> Option<&'static Model> {
    find(MODELS, name)
}

/// Opens the workload of a valid configuration. The same seed gives the same requests.
pub fn open(cfg: &settings::Synthetic, seed: u64) -> Box<dyn Workload> {
    (cfg.model.build)(cfg, seed)
}

/// Chooses the addresses of requests.
pub trait Places {
    /// The first byte of a request of this kind and of `bytes` bytes. It may depend only on the earlier calls and on
    /// draws from `rng`.
    fn place(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> u64;

    /// The next places are for a request of this process of a closed loop. A model whose place depends on the last one
    /// tells its processes apart.
    fn turn_to(&mut self, _process: usize) {}
}

impl<P: Places + ?Sized> Places for Box<P> {
    fn place(&mut self, kind: RequestKind, bytes: u64, rng: &mut Rng) -> u64 {
        (**self).place(kind, bytes, rng)
    }

    fn turn_to(&mut self, process: usize) {
        (**self).turn_to(process);
    }
}

/// What reports say about the source of a workload's requests.
#[derive(Clone, Debug)]
pub struct Source {
    /// The model's name, or that of a stand-in.
    pub name: Cow<'static, str>,
    /// What kind of source this is.
    pub kind: SourceKind,
    /// SHA-256 of the file that describes it, if one does.
    pub sha256: Option<String>,
}

impl Source {
    /// A model.
    fn of(cfg: &settings::Synthetic) -> Self {
        Source { name: cfg.model.name.into(), kind: SourceKind::Synthetic, sha256: None }
    }
}

impl Mix {
    /// That of a model.
    fn of(cfg: &settings::Synthetic) -> Self {
        Mix::new(cfg.read_fraction, cfg.trim_fraction, &cfg.sizes)
    }
}

/// A workload composed of kinds and lengths, places and arrivals.
#[derive(Clone, Debug)]
pub struct Synthetic<P> {
    source: Source,
    rng: Rng,
    requests: u64,
    /// Requests issued and requests completed. Two counters instead of one of outstanding requests: `next` and
    /// `completed` each write their own, so neither write depends on the other.
    issued: u64,
    completed: u64,
    mix: Mix,
    places: P,
    clock: Clock,
    /// The next requests, drawn early and announced by `upcoming`, so that the device can prefetch for them.
    ahead: [Drawn; AHEAD],
}

/// A request without its arrival time.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    kind: RequestKind,
    offset_bytes: u64,
    bytes: u64,
}

impl Drawn {
    #[inline]
    fn draw<P: Places>(mix: &Mix, places: &mut P, rng: &mut Rng) -> Self {
        let (kind, bytes) = mix.draw(rng);
        Drawn { kind, offset_bytes: places.place(kind, bytes, rng), bytes }
    }
}

/// Number of requests that are drawn early. Each is announced twice: as the far one for a first prefetch, and half this
/// number of requests later as the near one for a second prefetch, which uses the data of the first.
const AHEAD: usize = 32;

impl<P: Places> Synthetic<P> {
    /// A workload of this configuration with these places.
    pub fn new(cfg: &settings::Synthetic, places: P, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let clock = Clock::new(&cfg.arrivals, &mut rng);
        Self::compose(Source::of(cfg), cfg.requests, Mix::of(cfg), places, clock, rng)
    }

    /// As [`Self::new`], sent by as many processes as the settings say.
    pub fn open(cfg: &settings::Synthetic, places: P, seed: u64) -> Box<dyn Workload>
    where
        P: 'static,
    {
        match cfg.arrivals {
            Arrivals::Closed { queue_depth } if cfg.processes > 1 => {
                Box::new(Loops::new(cfg, queue_depth, places, seed))
            }
            _ => Self::new(cfg, places, seed).dealt(cfg.processes),
        }
    }

    /// Its requests, dealt to processes.
    pub fn dealt(self, processes: u32) -> Box<dyn Workload>
    where
        P: 'static,
    {
        if processes > 1 { Box::new(Dealt::new(self, processes)) } else { Box::new(self) }
    }

    /// A workload composed of these parts.
    pub(crate) fn compose(source: Source, requests: u64, mix: Mix, places: P, clock: Clock, rng: Rng) -> Self {
        let nothing = Drawn { kind: RequestKind::Read, offset_bytes: 0, bytes: 0 };
        let ahead = [nothing; AHEAD];
        let mut synthetic = Synthetic { source, rng, requests, issued: 0, completed: 0, mix, places, clock, ahead };
        synthetic.ahead = std::array::from_fn(|_| synthetic.draw());
        synthetic
    }

    /// Draws the next request.
    #[inline]
    fn draw(&mut self) -> Drawn {
        Drawn::draw(&self.mix, &mut self.places, &mut self.rng)
    }
}

impl<P: Places> Workload for Synthetic<P> {
    #[inline]
    fn next(&mut self, now: Nanos) -> Result<Next, Error> {
        if self.issued == self.requests {
            return Ok(Next::End);
        }
        let arrival_ns = match self.clock.take(now, self.issued - self.completed, &mut self.rng) {
            Ok(at) => at,
            Err(wait) => return Ok(wait),
        };
        let place = self.issued as usize % AHEAD;
        self.issued += 1;
        let later = self.draw();
        let Drawn { kind, offset_bytes, bytes } = std::mem::replace(&mut self.ahead[place], later);
        Ok(Next::Request(Tag::default(), Request::new(arrival_ns, kind, offset_bytes, bytes)))
    }

    fn depth(&self) -> Option<u64> {
        self.clock.depth()
    }

    #[inline]
    fn upcoming(&self) -> Option<Upcoming> {
        let after = |requests: u64| self.ahead[(self.issued + requests) as usize % AHEAD].offset_bytes;
        Some(Upcoming { far_bytes: after(AHEAD as u64 - 1), near_bytes: after(AHEAD as u64 / 2 - 1) })
    }

    #[inline]
    fn completed(&mut self, _done: &Completion, _now: Nanos) {
        debug_assert!(self.completed < self.issued, "a completion without a request");
        self.completed += 1;
    }

    fn name(&self) -> &str {
        &self.source.name
    }

    fn kind(&self) -> SourceKind {
        self.source.kind
    }

    fn input_sha256(&self) -> Option<String> {
        self.source.sha256.clone()
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.requests)
    }
}
