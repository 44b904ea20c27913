//! What is done to records on their way: a window of time, another pace, another spread of addresses.

use super::super::{Record, counted};
use super::text::{Bad, OFFSET_BYTES_MAX};
use crate::settings;
use flashwatt_core::connector::RequestKind;

/// Addresses are scaled in steps of this: within one step, what is sequential stays sequential, and aligned as it was.
const STEP_BYTES: u64 = 1 << 20;

/// The window, the pace and the spread that a configuration asks for.
pub struct Shape {
    /// Nothing of it is asked for.
    plain: bool,
    /// Time of the first record.
    origin: Option<u64>,
    from_ns: u64,
    until_ns: u64,
    speed: f64,
    space_scale: f64,
    /// Records outside the window.
    outside: u64,
    /// Requests whose address was changed.
    moved: u64,
}

impl Shape {
    /// What `cfg` asks for.
    pub fn new(cfg: &settings::Trace) -> Self {
        let (speed, space_scale) = (cfg.speed, cfg.space_scale);
        let mut shape = Shape {
            plain: false,
            origin: None,
            from_ns: cfg.from_ns,
            until_ns: cfg.until_ns.unwrap_or(u64::MAX),
            speed,
            space_scale,
            outside: 0,
            moved: 0,
        };
        shape.plain = !shape.is_window() && speed == 1.0 && space_scale == 1.0;
        shape
    }

    /// Is a part of the trace left out?
    pub fn is_window(&self) -> bool {
        self.from_ns > 0 || self.until_ns < u64::MAX
    }

    /// The record as it is to be; `None` if it lies outside the window.
    #[inline]
    pub fn apply(&mut self, record: Record) -> Result<Option<Record>, Box<Bad>> {
        if self.plain { Ok(Some(record)) } else { self.reshape(record) }
    }

    fn reshape(&mut self, mut record: Record) -> Result<Option<Record>, Box<Bad>> {
        let origin = *self.origin.get_or_insert(record.time_ns);
        let elapsed = record.time_ns.saturating_sub(origin);
        if elapsed < self.from_ns || elapsed >= self.until_ns {
            self.outside += 1;
            return Ok(None);
        }
        record.time_ns = match record.time_ns.checked_sub(origin) {
            Some(later) => origin.saturating_add(self.paced(later)),
            None => origin.saturating_sub(self.paced(origin - record.time_ns)),
        };
        if record.kind != RequestKind::Flush {
            self.spread(&mut record)?;
        }
        Ok(Some(record))
    }

    fn paced(&self, ns: u64) -> u64 {
        if self.speed == 1.0 { ns } else { (ns as f64 / self.speed).round() as u64 }
    }

    fn spread(&mut self, record: &mut Record) -> Result<(), Box<Bad>> {
        if self.space_scale == 1.0 {
            return Ok(());
        }
        let step = ((record.offset_bytes / STEP_BYTES) as f64 * self.space_scale) as u64;
        let offset = step.checked_mul(STEP_BYTES).map(|base| base + record.offset_bytes % STEP_BYTES);
        let Some(offset) = offset.filter(|&offset| offset < OFFSET_BYTES_MAX) else {
            let found = record.offset_bytes.to_string();
            let expected = "an address below 2^62 bytes after scaling";
            return Err(Bad::field("offset", "address too large", found.as_bytes(), expected));
        };
        self.moved += u64::from(offset != record.offset_bytes);
        record.offset_bytes = offset;
        Ok(())
    }

    /// What was left out or changed, for the report's warnings.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.outside > 0 {
            warnings.push(format!("{} outside the window of time left out", counted(self.outside, "request")));
        }
        if self.moved > 0 {
            let (moved, scale) = (counted(self.moved, "request"), self.space_scale);
            warnings.push(format!("{moved} moved: addresses times {scale:?} in steps of 1 MiB"));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(change: impl Fn(&mut settings::Trace)) -> Shape {
        let mut cfg = settings::Trace::of("t");
        change(&mut cfg);
        Shape::new(&cfg)
    }

    fn at(time_ns: u64, offset_bytes: u64) -> Record {
        Record::new(time_ns, 0, offset_bytes, 512, RequestKind::Read)
    }

    #[test]
    fn a_window_counts_from_the_first_record() {
        let mut shape = shape(|cfg| (cfg.from_ns, cfg.until_ns) = (10, Some(20)));
        let mut inside = |time| shape.apply(at(time, 0)).is_ok_and(|record| record.is_some());
        assert_eq!([100, 109, 110, 119, 120, 90, 115].map(&mut inside), [false, false, true, true, false, false, true]);
        assert_eq!(shape.warnings(), ["4 requests outside the window of time left out"]);
    }

    #[test]
    fn another_pace_keeps_the_first_time() {
        let mut shape = shape(|cfg| cfg.speed = 2.0);
        let mut time = |time| shape.apply(at(time, 0)).ok().flatten().map(|record| record.time_ns);
        assert_eq!([100, 107, 90].map(&mut time), [Some(100), Some(104), Some(95)]);
    }

    #[test]
    fn a_spread_keeps_what_is_sequential() {
        let mut half = shape(|cfg| cfg.space_scale = 0.5);
        let mut offset = |offset| half.apply(at(0, offset)).ok().flatten().map(|record| record.offset_bytes);
        let mib = 1 << 20;
        let expected = [Some(mib + 512), Some(mib + 1024), Some(mib), Some(5)];
        assert_eq!([2 * mib + 512, 2 * mib + 1024, 3 * mib, 5].map(&mut offset), expected);
        assert_eq!(half.warnings(), ["3 requests moved: addresses times 0.5 in steps of 1 MiB"]);
        let mut wide = shape(|cfg| cfg.space_scale = 1000.0);
        assert!(wide.apply(at(0, 1 << 61)).is_err());
    }
}
