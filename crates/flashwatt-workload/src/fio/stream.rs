//! The requests of a running job, without their times.

use super::file::File;
use super::shape::{Shape, Turns};
use flashwatt_base::rng::Rng;
use flashwatt_core::connector::RequestKind;

/// The requests of a clone of a job.
pub(super) struct Stream {
    shape: Shape,
    files: Vec<File>,
    seed: u64,
    rng: Rng,
    read_below: u64,
    /// The kind of the last request, and the requests of that kind before which it does not change.
    kind: RequestKind,
    kept_until: u64,
    issued: [u64; 3],
    /// The file that is served, requests to it before another one's turn, and the file whose turn is next.
    served: Option<usize>,
    turns_left: u64,
    next_file: usize,
    /// Requests before the next random place.
    row_left: u64,
    zone_bytes: u64,
}

impl Stream {
    /// The requests of clone number `clone`.
    pub fn new(shape: &Shape, clone: u64, seed: u64) -> Self {
        Stream {
            files: (0..shape.files.bytes.len()).map(|number| File::new(shape, number, clone, seed)).collect(),
            seed,
            rng: Rng::new(seed),
            read_below: Rng::threshold(shape.reads),
            kind: shape.mode.first,
            kept_until: 0,
            issued: [0; 3],
            served: None,
            turns_left: 0,
            next_file: 0,
            row_left: 1,
            zone_bytes: 0,
            shape: shape.clone(),
        }
    }

    /// Draws for other purposes than places and lengths.
    pub fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether every file is used up.
    pub fn is_used_up(&self) -> bool {
        self.files.iter().all(|file| file.is_done)
    }

    /// A further pass begins.
    pub fn begin_pass(&mut self) {
        self.files.iter_mut().for_each(|file| file.begin_pass(&self.shape));
        (self.kept_until, self.zone_bytes, self.served) = (0, 0, None);
        if self.shape.repeats {
            self.rng = Rng::new(self.seed);
        }
    }

    /// The file that is to be served; none if all are used up.
    pub fn file(&mut self) -> Option<usize> {
        if let Some(served) = self.served.filter(|&file| self.files[file].is_open) {
            if self.shape.files.turns == Turns::Sequential {
                return Some(served);
            }
            if self.turns_left > 0 {
                self.turns_left -= 1;
                return Some(served);
            }
        }
        let open = self.files.iter().filter(|file| file.is_open).count();
        let has_room = open < self.shape.files.open;
        let may_serve = |file: &File| !file.is_done && (file.is_open || has_room);
        let count = self.files.len();
        let first = match self.shape.files.turns {
            Turns::Random if count > 1 => self.rng.below(count as u64) as usize,
            _ => self.next_file,
        };
        let file = (0..count).map(|at| (first + at) % count).find(|&at| may_serve(&self.files[at]))?;
        self.next_file = (file + 1) % count;
        self.files[file].is_open = true;
        (self.served, self.turns_left) = (Some(file), self.shape.files.turn_requests - 1);
        Some(file)
    }

    /// The kind of the next request.
    pub fn kind(&mut self) -> RequestKind {
        // One draw for each request, whether it counts or not: the draws of places do not depend on the mix.
        let draw = self.rng.bits() >> 11;
        if !self.shape.mode.is_mixed {
            return if self.shape.mode.trims_first { RequestKind::Write } else { self.shape.mode.first };
        }
        if self.issued[self.kind as usize] >= self.kept_until {
            let drawn = if draw < self.read_below { RequestKind::Read } else { RequestKind::Write };
            if drawn != self.kind {
                let share = if drawn == RequestKind::Read { self.shape.reads } else { 1.0 - self.shape.reads };
                self.kept_until = (self.issued[self.kind as usize] as f64 * share + 1e-6) as u64;
            }
            self.kind = drawn;
        }
        self.kind
    }

    /// The next request to a file, of a kind: its kind, its first byte on the drive, and its length. None if the file is used up.
    pub fn request(&mut self, file: usize, kind: RequestKind) -> Option<(RequestKind, u64, u64)> {
        self.kind = kind;
        let at = &mut self.files[file];
        let kind = match (self.shape.mode.trims_first, at.owes_write()) {
            (false, _) => kind,
            (true, true) => RequestKind::Write,
            (true, false) => RequestKind::Trim,
        };
        at.enter_zone(&self.shape, kind as usize, &mut self.zone_bytes);
        self.row_left -= 1;
        let turn = self.row_left == 0;
        if turn {
            self.row_left = self.shape.order.row;
        }
        let Some((first, bytes)) = at.next(&self.shape, kind, turn, &mut self.rng) else {
            (at.is_done, at.is_open) = (true, false);
            return None;
        };
        self.zone_bytes += bytes;
        self.issued[kind as usize] += 1;
        Some((kind, first, bytes))
    }

    /// The counts of requests begin anew.
    pub fn forget_counts(&mut self) {
        (self.issued, self.kept_until) = ([0; 3], 0);
    }
}
