//! Where requests begin after the one before them, against its size. A file whose sizes and offsets are read in the wrong units
//! has no sequential requests: each begins 8 or 512 sizes after the last one, or an eighth of it.

/// Devices whose requests are followed.
const DEVICES_MAX: usize = 16;
/// Powers of two that are counted, from 2^-20 to 2^20.
const POWERS: usize = 41;
const EXACT: usize = POWERS / 2;

/// Counts of the steps from one request to the next on a device.
#[derive(Clone, Copy, Debug)]
pub struct Ratios {
    /// The last request to each device: number, offset, size.
    last: [(u64, u64, u64); DEVICES_MAX],
    devices: usize,
    recent: usize,
    steps: u64,
    /// Of steps of 2^n sizes: how many, the size of the first, and whether others have other sizes.
    found: [Power; POWERS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Power {
    steps: u64,
    size: u64,
    varied: bool,
}

/// A power of two by which steps and sizes differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    /// A step is 2^this sizes long.
    pub power: i32,
    /// Share of such steps in all, in percent.
    pub percent: u64,
}

impl Default for Ratios {
    fn default() -> Self {
        let found = [Power::default(); POWERS];
        Ratios { last: [(0, 0, 0); DEVICES_MAX], devices: 0, recent: 0, steps: 0, found }
    }
}

impl Ratios {
    /// Counts a read or write.
    #[inline]
    pub fn add(&mut self, device: u64, offset: u64, bytes: u64) {
        if self.devices == 0 || self.last[self.recent].0 != device {
            match self.last[..self.devices].iter().position(|last| last.0 == device) {
                Some(at) => self.recent = at,
                None if self.devices == DEVICES_MAX => return,
                None => {
                    self.recent = self.devices;
                    self.devices += 1;
                    self.last[self.recent] = (device, offset, bytes);
                    return;
                }
            }
        }
        let (_, before, size) = self.last[self.recent];
        self.last[self.recent] = (device, offset, bytes);
        self.steps += 1;
        if offset <= before {
            return;
        }
        let step = offset - before;
        let (of_step, of_size) = (step.trailing_zeros(), size.trailing_zeros());
        if step >> of_step != size >> of_size.min(63) {
            return;
        }
        let at = EXACT as i32 + of_step as i32 - of_size as i32;
        if let Some(power) = usize::try_from(at).ok().and_then(|at| self.found.get_mut(at)) {
            if power.steps == 0 {
                power.size = size;
            }
            power.steps += 1;
            power.varied |= power.size != size;
        }
    }

    /// Share of requests, in percent, that begin where the one before them ended.
    pub fn sequential_percent(&self) -> u64 {
        self.percent(EXACT)
    }

    fn percent(&self, at: usize) -> u64 {
        (100 * self.found[at].steps).checked_div(self.steps).unwrap_or(0)
    }

    /// The scale that makes many requests sequential where hardly any are now. Requests of one size may leave gaps on purpose, so
    /// that these count only if nearly all steps are as long, and only for the scales between bytes, sectors and blocks of 4 KiB.
    pub fn scale(&self) -> Option<Scale> {
        let others = (0..POWERS).filter(|&at| at != EXACT);
        let at = others.max_by_key(|&at| self.found[at].steps)?;
        let (power, percent) = (at as i32 - EXACT as i32, self.percent(at));
        let Power { steps, varied, .. } = self.found[at];
        let is_usual = matches!(power.abs(), 3 | 9 | 12);
        let enough = if varied { steps >= 4 && percent >= 30 } else { steps >= 6 && percent >= 90 && is_usual };
        (enough && self.found[EXACT].steps * 8 <= steps).then_some(Scale { power, percent })
    }
}
