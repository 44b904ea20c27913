//! fio's `rw`: kinds of requests, and their order.

use super::reader::OptionReader;
use super::shape::{Mode, Order};
use super::units::bytes;
use super::values::{COUNT_MAX, directions};
use flashwatt_base::error::nearest;
use flashwatt_base::units::SECTOR_BYTES;
use flashwatt_core::connector::RequestKind;

use RequestKind::{Read, Trim, Write};

const MIXED: Mode = Mode { is_mixed: true, ..Mode::of(Read, false) };
const PAIRS: Mode = Mode { trims_first: true, ..Mode::of(Trim, false) };

/// The modes of `rw`.
const MODES: &[(&str, Mode)] = &[
    ("read", Mode::of(Read, false)),
    ("write", Mode::of(Write, false)),
    ("trim", Mode::of(Trim, false)),
    ("randread", Mode::of(Read, true)),
    ("randwrite", Mode::of(Write, true)),
    ("randtrim", Mode::of(Trim, true)),
    ("rw", MIXED),
    ("readwrite", MIXED),
    ("randrw", Mode { is_random: true, ..MIXED }),
    ("trimwrite", PAIRS),
    ("randtrimwrite", Mode { is_random: true, ..PAIRS }),
];

const ROW_MAX: u64 = 65_536;

impl OptionReader<'_> {
    /// The mode, and the order of its requests.
    pub fn mode(&mut self) -> (Mode, Order) {
        let (mode, suffix) = self.mode_and_suffix();
        let (mut row, mut step) = (1, 0);
        if let Some(suffix) = suffix {
            (row, step) = self.suffix(mode, &suffix).unwrap_or((1, 0));
        }
        let is_identical = self.read("rw_sequencer", "sequential or identical", |text| match text {
            "sequential" => Some(false),
            "identical" => Some(true),
            _ => None,
        });
        let percent = |text: &str| text.parse().ok().filter(|percent| (0..=100).contains(percent));
        let random = self.read("percentage_random", "a whole percentage, or one for each direction", |text| {
            directions(text, percent).map(|all| all.map(|one: Option<u64>| one.unwrap_or(100)))
        });
        let random_percent = random.unwrap_or([100; 3]);
        (mode, Order { row, is_identical: is_identical.unwrap_or(false), step, random_percent })
    }

    fn mode_and_suffix(&mut self) -> (Mode, Option<String>) {
        let names: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
        let Some(written) = self.written("rw") else { return (MODES[0].1, None) };
        let (name, suffix) =
            written.value.split_once(':').map_or((written.value.as_str(), None), |(a, b)| (a, Some(b)));
        if let Some((_, mode)) = MODES.iter().find(|(mode, _)| *mode == name) {
            return (*mode, suffix.map(str::to_string));
        }
        let fault = written.fault("unknown mode").expected(format!("one of {}", names.join(", ")));
        let fault = fault.nearest(nearest(name, names));
        self.faults.push(fault);
        (MODES[0].1, None)
    }

    /// Of a random mode the requests in a row, of one in order the bytes between two requests.
    fn suffix(&mut self, mode: Mode, suffix: &str) -> Option<(u64, i64)> {
        let base = self.kb_base();
        let row = suffix.parse().ok().filter(|row| (1..=ROW_MAX).contains(row));
        let (digits, sign) = suffix.strip_prefix('-').map_or((suffix, 1), |digits| (digits, -1));
        let step = bytes(digits, base).filter(|step| *step <= COUNT_MAX && step.is_multiple_of(SECTOR_BYTES));
        match (mode.is_random, row, step) {
            (true, Some(row), _) => return Some((row, 0)),
            (false, _, Some(step)) => return Some((1, sign * step as i64)),
            _ => {}
        }
        let fault = self.written("rw")?.fault("no number of requests in a row, and no step");
        let expected = format!(
            "a number from 1 to {ROW_MAX} behind a random mode (randwrite:8), bytes behind one in order, a multiple of 512 \
             (read:8k, read:-8k)"
        );
        self.faults.push(fault.expected(expected));
        None
    }
}
