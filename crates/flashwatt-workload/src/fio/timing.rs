//! The options of a job that are about time: delays, rates and pauses.

use super::floor::FloorSpec;
use super::lengths::Lengths;
use super::reader::OptionReader;
use super::spec::{Rate, ThinkSpec};
use super::units::time_ns;
use super::values::{COUNT_MAX, directions, rate};
use flashwatt_base::units::Nanos;

pub(super) const SECOND_NS: u64 = 1_000_000_000;

impl OptionReader<'_> {
    pub fn start_delay(&mut self) -> (Nanos, Nanos) {
        self.read("startdelay", "a time, or two: 5, 500ms, 1-2", |text| {
            let (soonest, latest) = text.split_once('-').unwrap_or((text, text));
            let (soonest, latest) = (time_ns(soonest, SECOND_NS)?, time_ns(latest, SECOND_NS)?);
            (soonest <= latest).then_some((soonest, latest))
        })
        .unwrap_or((0, 0))
    }

    pub fn rates(&mut self, lengths: &[Lengths; 3]) -> [Rate; 3] {
        let base = self.kb_base();
        let poisson = self.read("rate_process", "linear or poisson", |text| match text {
            "linear" => Some(false),
            "poisson" => Some(true),
            _ => None,
        });
        let expected = "a whole rate, or one for each direction: 1m,500k (1m, limits reads alone, and ,500k writes)";
        let per = |text: &str, base| {
            let limits = directions(text, |text| rate(text, base))?;
            Some(limits.map(Option::flatten))
        };
        let by_bytes: Option<[Option<u64>; 3]> = self.read("rate", expected, |text| per(text, base));
        let by_count = self.read("rate_iops", expected, |text| per(text, 1000));
        if poisson == Some(true) && by_count.is_none() {
            self.refuse(&["rate_process"], "poisson without a rate", "no rate_iops".into(), "rate_iops".into());
        }
        if let (Some(_), Some(_)) = (by_bytes, by_count) {
            self.refuse(&["rate_iops"], "two limits", "rate and rate_iops".into(), "one of them".into());
        }
        let limit = |at: usize| {
            let least = lengths[at].least();
            match (by_bytes.and_then(|rates| rates[at]), by_count.and_then(|rates| rates[at])) {
                (Some(per_s), _) => Rate::Bytes { per_s, least },
                (None, Some(per_s)) if poisson == Some(true) => Rate::Poisson(per_s),
                (None, Some(per_s)) if lengths[at].one().is_some() => Rate::Requests(per_s),
                // As in fio: a rate of requests is one of bytes, for requests of the least length.
                (None, Some(per_s)) => Rate::Bytes { per_s: per_s.saturating_mul(least), least },
                (None, None) => Rate::None,
            }
        };
        [limit(0), limit(1), limit(2)]
    }

    /// The least rates of the job.
    pub fn floor(&mut self) -> Option<FloorSpec> {
        let base = self.kb_base();
        let expected = "a whole rate, or one for each direction: 1m,500k";
        let cycle_ns = self.time("rate_cycle", "milliseconds", 1_000_000).unwrap_or(SECOND_NS);
        let per = |text: &str, base| Some(directions(text, |text| rate(text, base))?.map(Option::flatten));
        let bytes: Option<[Option<u64>; 3]> = self.read("rate_min", expected, |text| per(text, base));
        let requests = self.read("rate_iops_min", expected, |text| per(text, 1000));
        let given = bytes.is_some() || requests.is_some();
        let (bytes_per_s, requests_per_s) = (bytes.unwrap_or([None; 3]), requests.unwrap_or([None; 3]));
        given.then_some(FloorSpec { bytes_per_s, requests_per_s, cycle_ns })
    }

    pub fn rates_drain(&mut self) -> bool {
        let offload = self.read("io_submit_mode", "inline or offload", |text| match text {
            "inline" => Some(false),
            "offload" => Some(true),
            _ => None,
        });
        offload != Some(true)
    }

    pub fn think(&mut self) -> Option<ThinkSpec> {
        let expected = "a time: 100, 5ms";
        let pause_ns = self.time("thinktime", expected, 1_000).unwrap_or(0);
        self.time("thinktime_spin", expected, 1_000);
        let run_ns = self.time("thinktime_iotime", expected, 1_000).filter(|run| *run > 0);
        let every = self.given_count("thinktime_blocks", 1, COUNT_MAX);
        let counts_issued = self.read("thinktime_blocks_type", "complete or issue", |text| match text {
            "complete" => Some(false),
            "issue" => Some(true),
            _ => None,
        });
        let spec = ThinkSpec {
            pause_ns,
            every: every.or(if run_ns.is_some() { None } else { Some(1) }),
            run_ns,
            counts_issued: counts_issued.unwrap_or(false),
            rates_ignore: self.flag("rate_ignore_thinktime"),
        };
        (pause_ns > 0).then_some(spec)
    }
}
