//! A file of a running job: where its next request goes. The rules are those of fio 3.33.

use super::places::{Once, Slots};
use super::random_map::RandomMap;
use super::shape::Shape;
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;

/// A file of a clone of a job.
pub(super) struct File {
    /// The byte of the drive where the file begins.
    on_drive: u64,
    /// First byte that the clone works on, and how many.
    start: u64,
    bytes: u64,
    /// Where the file ends.
    end: u64,
    /// First byte of the present zone; `start` without zones.
    zone: u64,
    /// By kind: the end of the last request, and its start.
    last_end: [u64; 3],
    last_start: [Option<u64>; 3],
    slots: Option<Slots>,
    /// Slots of random places, by kind.
    counts: [u64; 3],
    pub is_open: bool,
    /// The file is used up in this pass.
    pub is_done: bool,
}

/// A place in a file.
#[derive(Clone, Copy, Debug)]
struct Place {
    byte: u64,
    is_random: bool,
    /// The random map does not count it.
    is_free: bool,
}

impl File {
    /// File number `number` of clone number `clone`.
    pub fn new(shape: &Shape, number: usize, clone: u64, seed: u64) -> Self {
        let files = &shape.files;
        let (start, bytes) = (files.offset + clone * files.increment, files.bytes[number]);
        let counts = std::array::from_fn(|at| slots_of(shape, bytes, at));
        File {
            on_drive: number as u64 * files.span,
            start,
            bytes,
            end: files.whole.unwrap_or(0).max(start + bytes),
            zone: start,
            last_end: [start; 3],
            last_start: [None; 3],
            slots: shape.mode.is_random.then(|| slots(shape, bytes, counts, seed.wrapping_add(number as u64))),
            counts,
            is_open: false,
            is_done: false,
        }
    }

    /// A pass begins.
    pub fn begin_pass(&mut self, shape: &Shape) {
        (self.is_done, self.is_open, self.zone) = (false, false, self.start);
        self.rewind();
        match &mut self.slots {
            Some(slots) if shape.repeats => slots.restart(),
            Some(slots) => slots.reset(),
            None => {}
        }
    }

    fn rewind(&mut self) {
        (self.last_end, self.last_start) = ([self.zone; 3], [None; 3]);
    }

    fn reset(&mut self) {
        self.rewind();
        if let Some(slots) = &mut self.slots {
            slots.reset();
        }
    }

    /// Whether the write that follows the last trim is still to come.
    pub fn owes_write(&self) -> bool {
        self.last_start[RequestKind::Write as usize] != self.last_start[RequestKind::Trim as usize]
    }

    /// The next request of this kind: its first byte on the drive, and its length; none if the file is used up. `turn` says that a
    /// row of requests begins.
    pub fn next(&mut self, shape: &Shape, kind: RequestKind, turn: bool, rng: &mut Rng) -> Option<(u64, u64)> {
        let at = kind as usize;
        let pair = self.pair_of(shape, kind);
        let place = match pair {
            Some(byte) => Place { byte, is_random: true, is_free: true },
            None => self.place(shape, kind, turn, rng)?,
        };
        if place.byte >= self.bytes {
            return None;
        }
        let byte = place.byte + self.zone;
        if byte >= self.end {
            return None;
        }
        let bytes = match pair {
            Some(_) => self.last_end[RequestKind::Trim as usize] - byte,
            None => {
                let of = if shape.lengths_by_order { usize::from(place.is_random) } else { at };
                let end = self.start + self.bytes;
                shape.lengths[of].draw(rng, |bytes| byte + bytes <= end)?
            }
        };
        if byte + bytes > self.end {
            return None;
        }
        let bytes = self.marked(shape, place, bytes, at);
        if shape.mode.trims_first
            && shape.mode.is_random
            && kind == RequestKind::Trim
            && self.last_start[at] == Some(byte)
        {
            // The same place again: the write that follows is still due.
            self.last_start[RequestKind::Write as usize] = None;
        }
        (self.last_start[at], self.last_end[at]) = (Some(byte), byte + bytes);
        Some((self.on_drive + byte, bytes))
    }

    /// Of a write that follows a random trim: the place of the trim.
    fn pair_of(&self, shape: &Shape, kind: RequestKind) -> Option<u64> {
        let follows = shape.mode.trims_first && shape.mode.is_random && kind == RequestKind::Write;
        Some(self.last_start[RequestKind::Trim as usize].filter(|_| follows)? - self.zone)
    }

    fn place(&mut self, shape: &Shape, kind: RequestKind, turn: bool, rng: &mut Rng) -> Option<Place> {
        if !turn && shape.order.is_identical {
            let byte = self.last_start[kind as usize].map_or(0, |start| start - self.zone);
            return Some(Place { byte, is_random: false, is_free: true });
        }
        let in_order = |byte| Place { byte, is_random: false, is_free: true };
        if !shape.mode.is_random {
            return self.in_order(shape, kind as usize).map(in_order);
        }
        if turn && is_random(shape, kind, rng) {
            let byte = self.random(shape, kind, rng)?;
            return Some(Place { byte, is_random: true, is_free: false });
        }
        match self.in_order(shape, kind as usize) {
            Some(byte) => Some(in_order(byte)),
            None => Some(in_order(self.random(shape, kind, rng)?)),
        }
    }

    /// The byte behind the last request of this kind, counted from the zone's first one.
    fn in_order(&mut self, shape: &Shape, at: usize) -> Option<u64> {
        let step = shape.order.step;
        let is_behind = self.last_end[at] >= self.start + self.bytes;
        if is_behind && shape.is_time_based && shape.files.bytes.len() == 1 {
            self.last_end[at] = self.zone;
        }
        if self.last_end[at] >= self.end {
            return None;
        }
        if step < 0 && self.last_end[at] == self.zone && self.zone > 0 {
            self.last_end[at] = self.bytes;
        }
        // Backwards, the last end may lie before the zone: the number wraps, and lies beyond the end.
        let byte = self.last_end[at].wrapping_sub(self.zone);
        if byte == 0 || step == 0 {
            return Some(byte);
        }
        let stepped = byte.wrapping_add_signed(step);
        Some(match stepped < self.end {
            true => stepped,
            false if step > 0 => self.zone,
            false => self.bytes.wrapping_add_signed(step),
        })
    }

    fn random(&mut self, shape: &Shape, kind: RequestKind, rng: &mut Rng) -> Option<u64> {
        let (at, count) = (kind as usize, self.counts[kind as usize]);
        if count == 0 {
            return None;
        }
        let slots = self.slots.as_mut()?;
        let slot = match slots.next(kind, count, rng) {
            None if shape.is_time_based => {
                self.reset();
                self.slots.as_mut()?.next(kind, count, rng)
            }
            slot => slot,
        };
        Some(slot? * shape.align[at])
    }

    /// The length of a request up to the first block that was used before.
    fn marked(&mut self, shape: &Shape, place: Place, bytes: u64, at: usize) -> u64 {
        let Some(Slots::Map(map)) = self.slots.as_mut().filter(|_| !place.is_free) else { return bytes };
        let block = shape.lengths[at].least();
        let marked = map.mark(place.byte / block, bytes.div_ceil(block));
        if marked == 0 { bytes } else { bytes.min(marked * block) }
    }

    /// A zone that is used up gives way to the next one. `zone_bytes` counts the bytes that went to the present one.
    pub fn enter_zone(&mut self, shape: &Shape, at: usize, zone_bytes: &mut u64) {
        let Some(zones) = shape.zones else { return };
        if *zone_bytes >= zones.bytes {
            *zone_bytes = 0;
            self.zone += zones.range + zones.skip;
            if self.zone >= self.start + self.bytes {
                self.zone = self.start;
            }
            self.last_end[at] = self.zone;
        }
        if self.last_end[at] >= self.zone + zones.range {
            self.last_end[at] = self.zone;
        }
        if zone_bytes.is_multiple_of(zones.range) {
            self.reset();
        }
    }
}

fn is_random(shape: &Shape, kind: RequestKind, rng: &mut Rng) -> bool {
    let percent = shape.order.random_percent[kind as usize];
    percent == 100 || rng.below(100) < percent
}

/// Number of places where random requests of a kind start.
fn slots_of(shape: &Shape, bytes: u64, at: usize) -> u64 {
    let (least, align) = (shape.lengths[at].least(), shape.align[at].max(1));
    let range = shape.zones.map_or(bytes, |zones| zones.range);
    range.saturating_sub(least.saturating_sub(align)) / align
}

/// The law of random places in a file of `bytes` bytes.
fn slots(shape: &Shape, bytes: u64, counts: [u64; 3], seed: u64) -> Slots {
    let range = shape.zones.map_or(bytes, |zones| zones.range);
    if shape.once {
        return match shape.one_length().filter(|length| *length == shape.least()) {
            Some(length) => Slots::Once(Once::new(range / length, seed)),
            None => Slots::Map(RandomMap::new(range / shape.least())),
        };
    }
    shape.distribution.slots(counts, range.div_ceil(shape.least()), seed)
}
