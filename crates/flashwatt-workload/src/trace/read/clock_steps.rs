//! Steps of a trace's clock: gaps that its pace does not explain, and times that go back. They are counted, and cut if that is
//! asked for.

use flashwatt_base::units::Nanos;

const NS_PER_S: u64 = 1_000_000_000;
const HOUR_NS: u64 = 3_600 * NS_PER_S;
/// A longer gap is doubted in every trace: no recorder waits for weeks.
const WEEKS_NS: u64 = 14 * 24 * HOUR_NS;
/// A gap of an hour or more is doubted if it is this many times longer than all else of the trace.
const TIMES_THE_REST: u64 = 10;
/// A shorter step back is the disorder of several processors' logs.
const BACK_NS_MIN: u64 = NS_PER_S;
/// After a jump back this many records, for each step back, are earlier than the latest before them.
const STAY_BACK: u64 = 8;

/// The clock of one file.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockSteps {
    /// A longer step is cut; none for the times of the file.
    max_gap_ns: Option<Nanos>,
    records: u64,
    first_ns: u64,
    /// The latest time, and the time of the last record, with the cuts.
    latest_ns: u64,
    last_ns: u64,
    /// What is added to the file's times, modulo 2^64.
    shift_ns: u64,
    /// Gaps of an hour or more: how many, their sum, the longest and where it is.
    gaps: u64,
    gaps_ns: u64,
    longest_ns: u64,
    longest_at: u64,
    /// The longest gap below an hour.
    usual_ns: u64,
    /// Steps back of a second or more: how many, the longest and where it is. Records earlier than the latest before them.
    back: u64,
    back_ns: u64,
    back_at: u64,
    records_back: u64,
    /// Steps that were cut, and the time that they took.
    cut: u64,
    cut_ns: u64,
}

impl ClockSteps {
    /// A clock whose longer steps are cut.
    pub fn new(max_gap_ns: Option<Nanos>) -> Self {
        ClockSteps { max_gap_ns, ..ClockSteps::default() }
    }

    /// The time of the next record, after all cuts. `position` is asked at a step only.
    #[inline]
    pub fn mend(&mut self, time_ns: u64, position: impl Fn() -> u64) -> u64 {
        let mut now_ns = time_ns.wrapping_add(self.shift_ns);
        if self.records == 0 {
            (self.first_ns, self.latest_ns, self.last_ns) = (now_ns, now_ns, now_ns);
        }
        self.records += 1;
        if let Some(max_gap_ns) = self.max_gap_ns {
            now_ns = self.cut(now_ns, max_gap_ns);
        }
        let gap_ns = now_ns.saturating_sub(self.latest_ns);
        if gap_ns >= HOUR_NS {
            self.gap(gap_ns, position());
        } else if gap_ns > self.usual_ns {
            self.usual_ns = gap_ns;
        }
        if now_ns < self.latest_ns {
            self.records_back += 1;
            if now_ns.saturating_add(BACK_NS_MIN) <= self.last_ns {
                self.step_back(self.last_ns - now_ns, position());
            }
        }
        self.last_ns = now_ns;
        self.latest_ns = self.latest_ns.max(now_ns);
        now_ns
    }

    fn cut(&mut self, now_ns: u64, max_gap_ns: u64) -> u64 {
        // With cuts the times may wrap on the way; a difference of more than half of all times is a step back.
        let ahead = now_ns.wrapping_sub(self.latest_ns);
        let mended_ns = match ahead.cast_signed() {
            ahead if ahead >= 0 && ahead.unsigned_abs() > max_gap_ns => self.latest_ns.saturating_add(max_gap_ns),
            ahead if ahead < 0 && ahead.unsigned_abs() > max_gap_ns => self.latest_ns,
            _ => return now_ns,
        };
        self.cut += 1;
        let by_ns = mended_ns.wrapping_sub(now_ns);
        self.cut_ns = self.cut_ns.saturating_add(by_ns.cast_signed().unsigned_abs());
        self.shift_ns = self.shift_ns.wrapping_add(by_ns);
        mended_ns
    }

    #[cold]
    fn gap(&mut self, gap_ns: u64, position: u64) {
        self.gaps += 1;
        self.gaps_ns = self.gaps_ns.saturating_add(gap_ns);
        if gap_ns > self.longest_ns {
            (self.longest_ns, self.longest_at) = (gap_ns, position);
        }
    }

    #[cold]
    fn step_back(&mut self, ns: u64, position: u64) {
        self.back += 1;
        if ns > self.back_ns {
            (self.back_ns, self.back_at) = (ns, position);
        }
    }

    /// Time from the first record to the latest one, without the gaps that are doubted.
    pub fn elapsed_ns(&self) -> u64 {
        let whole = self.latest_ns - self.first_ns;
        if self.is_gap_doubted() { whole - self.gaps_ns.min(whole) } else { whole }
    }

    /// Whether the long gaps are few, and too long for the pace of the rest.
    fn is_gap_doubted(&self) -> bool {
        let rest_ns = (self.latest_ns - self.first_ns).saturating_sub(self.gaps_ns);
        let few = self.gaps > 0 && self.gaps <= (self.records / 4).max(1) && self.records > 2;
        few && (self.longest_ns >= WEEKS_NS || self.longest_ns / TIMES_THE_REST >= rest_ns)
    }

    /// Whether the clock went back, and the records are not only out of order.
    fn is_step_back_doubted(&self) -> bool {
        self.back > 0 && (self.back_ns >= HOUR_NS || self.records_back >= STAY_BACK * self.back)
    }

    /// The steps that no recorder makes, and the option that cuts them. `unit` is what positions count.
    pub fn doubts(&self, unit: &str) -> Vec<String> {
        let seconds = self.usual_s();
        let cuts = format!("--max-gap {seconds} (workload.trace.max_gap_s = {seconds})");
        let forward = self.is_gap_doubted().then(|| {
            let (longest, at) = (duration(self.longest_ns), self.longest_at);
            let others = match self.gaps - 1 {
                0 => String::new(),
                others => format!(" (and {others} more of an hour or longer)"),
            };
            let rest = duration(self.elapsed_ns());
            format!(
                "a jump of the clock, or a gap: {longest} without a request before {unit} {at}{others}, in a trace of {rest} \
                 without it; {cuts} shortens it"
            )
        });
        let back = self.is_step_back_doubted().then(|| {
            let (step, at, records) = (duration(self.back_ns), self.back_at, self.records_back);
            format!(
                "a jump of the clock: it goes back by {step} at {unit} {at}, and the {records} records behind it that are earlier \
                 than the latest time before them arrive at once; {cuts} lets the clock go on from there; if the records are only out of order, \
                 --sort puts them in order"
            )
        });
        [forward, back].into_iter().flatten().collect()
    }

    /// A number of seconds that no gap of the rest reaches.
    fn usual_s(&self) -> u64 {
        let bounds = [1, 10, 60, 600, 3_600];
        bounds.into_iter().find(|&s| self.usual_ns <= s * NS_PER_S).unwrap_or(3_600)
    }

    /// What was cut.
    pub fn note(&self) -> Option<String> {
        let max_gap_ns = self.max_gap_ns.filter(|_| self.cut > 0)?;
        let (steps, gap) = (super::super::counted(self.cut, "step"), duration(max_gap_ns));
        Some(format!("{steps} of the clock longer than {gap} cut, by {} in all", duration(self.cut_ns)))
    }
}

/// A time in the unit that people would use.
pub fn duration(ns: u64) -> String {
    let s = ns as f64 / 1e9;
    match s {
        _ if s >= 2.0 * 365.25 * 86_400.0 => format!("{:.1} years", s / (365.25 * 86_400.0)),
        _ if s >= 2.0 * 86_400.0 => format!("{:.1} days", s / 86_400.0),
        _ if s >= 7_200.0 => format!("{:.1} hours", s / 3_600.0),
        _ if s >= 1.0 || ns == 0 => format!("{s} s"),
        _ if s >= 1e-3 => format!("{} ms", ns as f64 / 1e6),
        _ => format!("{} us", ns as f64 / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = NS_PER_S;

    fn clock(max_gap_ns: Option<u64>, times: impl IntoIterator<Item = u64>) -> (ClockSteps, Vec<u64>) {
        let mut clock = ClockSteps::new(max_gap_ns);
        let times = (1..).zip(times).map(|(at, time)| clock.mend(time, || at)).collect();
        (clock, times)
    }

    #[test]
    fn jumps_are_doubted_with_their_place() {
        let (ahead, _) = clock(None, (0..100).map(|i| i * 1_000_000 + if i < 50 { 0 } else { 8_640_000 * S }));
        let told = ahead.doubts("line");
        assert!(told.len() == 1 && told[0].contains("100.0 days without a request before line 51"), "{told:?}");
        assert!(told[0].contains("--max-gap 1 (workload.trace.max_gap_s = 1)"), "{told:?}");
        assert_eq!(ahead.elapsed_ns(), 98_000_000, "99 gaps of 1 ms less the one that the jump took in");
        let (back, _) = clock(None, (0..100).map(|i| i * S / 10 + if i < 50 { 1_500_000_000 * S } else { 0 }));
        let told = back.doubts("line");
        assert!(told.len() == 1 && told[0].contains("goes back by 47.5 years at line 51"), "{told:?}");
    }

    #[test]
    fn nights_and_the_logs_of_processors_are_not_doubted() {
        let nights = (0..4000).map(|i| i * 20 * S + (i / 1000) * 16 * HOUR_NS);
        assert_eq!(clock(None, nights).0.doubts("line"), [""; 0]);
        let hourly = (0..100).map(|i| i * 2 * HOUR_NS);
        assert_eq!(clock(None, hourly).0.doubts("line"), [""; 0]);
        let disorder = (0..1000).map(|i| 10 * S + i * 1_000_000 - if i % 7 == 0 { 3 * S } else { 0 });
        assert_eq!(clock(None, disorder).0.doubts("line"), [""; 0]);
    }

    #[test]
    fn longer_steps_are_cut() {
        let (forth, times) = clock(Some(S), [5, 6, 6 + 1000 * S, 7 + 1000 * S]);
        assert_eq!(times, [5, 6, 6 + S, 7 + S]);
        assert_eq!(forth.note().as_deref(), Some("1 step of the clock longer than 1 s cut, by 999 s in all"));
        assert_eq!(
            clock(Some(S), [1000 * S, 1000 * S + 1, 7, 9]).1,
            [1000 * S, 1000 * S + 1, 1000 * S + 1, 1000 * S + 3]
        );
        assert_eq!(clock(Some(S), [9 * S, 9 * S - 5, 9 * S + 1]).1, [9 * S, 9 * S - 5, 9 * S + 1], "disorder stays");
        let all = [u64::MAX - 1, 3, u64::MAX, 5];
        assert_eq!(clock(Some(S), all).1.len(), 4);
    }
}
