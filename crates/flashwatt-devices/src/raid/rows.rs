//! The array's work on rows: writes with parity, what is missing, and the rebuild.

use super::Raid;
use super::jobs::{RowJob, RowWork};
use super::layout::{ChunkPart, Piece};
use super::member::RequestOwner;
use super::row::{Row, RowPlan};
use super::settings::{Layout, Level};
use flashwatt_core::connector::{Cx, Device, Request, RequestKind, Tag};

impl<D: Device> Raid<D> {
    /// Whether a write must have its rows to itself: to renew parity, or while a spare is filled.
    pub(super) fn needs_rows(&self, kind: RequestKind) -> bool {
        let rebuilds = self.rebuild.as_ref().is_some_and(|rebuild| !rebuild.is_whole());
        kind == RequestKind::Write && (self.layout.level == Level::Raid5 || rebuilds)
    }

    /// Writes row by row.
    pub(super) fn write_rows(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        if let Some(part) = self.stripes.only_part(request.offset_bytes, request.bytes) {
            return self.add_job(RowJob::new(Some(tag), request, part.row, RowWork::Write), &[part], cx);
        }
        let parts: Vec<_> = self.layout.parts(request.offset_bytes, request.bytes).collect();
        for parts in parts.chunk_by(|one, next| one.row == next.row) {
            self.add_job(RowJob::new(Some(tag), request, parts[0].row, RowWork::Write), parts, cx);
        }
    }

    /// Reads what lies on the member that has failed: from its spare where that holds it already, else from the others.
    pub(super) fn read_missing(&mut self, tag: Tag, request: &Request, piece: Piece, cx: &mut Cx) {
        let (chunk, end) = (self.layout.chunk_bytes, piece.offset_bytes + piece.bytes);
        let mut at = piece.offset_bytes;
        while at < end {
            let (row, from) = (at / chunk, at % chunk);
            let until = chunk.min(from + end - at);
            let part = ChunkPart { row, member: piece.member, from, until };
            at += until - from;
            match self.readable(self.layout.piece(part)) {
                Some(piece) => self.order_piece(tag, request, RequestKind::Read, piece, cx),
                None => self.add_job(RowJob::new(Some(tag), request, row, RowWork::Reconstruct(part)), &[], cx),
            }
        }
    }

    /// Declares a range unused. With parity only whole rows are: their members then hold nothing, which is of parity 0. The
    /// rest of the range is left as it is, as Linux's md driver does.
    pub(super) fn trim(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        if self.layout.level != Level::Raid5 {
            return self.write(tag, request, RequestKind::Trim, cx);
        }
        let chunk = self.layout.chunk_bytes;
        let row_bytes = chunk * u64::from(self.layout.data_chunks());
        let first = request.offset_bytes.div_ceil(row_bytes);
        let end = (request.offset_bytes + request.bytes) / row_bytes;
        if first >= end {
            return;
        }
        for member in 0..self.layout.members {
            if self.members[member as usize].is_none() {
                continue;
            }
            let piece = Piece { member, offset_bytes: first * chunk, bytes: (end - first) * chunk };
            self.order_piece(tag, request, RequestKind::Trim, piece, cx);
        }
    }

    fn add_job(&mut self, job: RowJob, parts: &[ChunkPart], cx: &mut Cx) {
        if let Some(tag) = job.host {
            self.left[tag.0 as usize] += 1;
        }
        if let Some(id) = self.jobs.add(job, parts) {
            self.begin_job(id, cx);
        }
    }

    /// A job has its row: what it must do is known now.
    fn begin_job(&mut self, id: u32, cx: &mut Cx) {
        self.plan(id);
        let RowJob { work, plan, .. } = self.jobs.get(id);
        match work {
            RowWork::Write if plan.reads.is_empty() => self.counts.rows_written_whole += 1,
            RowWork::Write => self.counts.rows_read_first += 1,
            RowWork::Reconstruct(_) => self.counts.reconstructed += 1,
            RowWork::Rebuild | RowWork::Scrub => {}
        }
        self.next_step(id, cx);
    }

    fn plan(&mut self, id: u32) {
        let &mut RowJob { row, work, .. } = self.jobs.get(id);
        let missing = self.failed.filter(|_| self.is_missing(row));
        let sweep = match work {
            RowWork::Rebuild => self.plan_rebuild(row),
            RowWork::Scrub => self.plan_scrub(row),
            RowWork::Write | RowWork::Reconstruct(_) => RowPlan::default(),
        };
        let RowJob { parts, plan, .. } = self.jobs.get(id);
        let of_row = Row::new(&self.layout, row, missing);
        match work {
            RowWork::Write if self.layout.level == Level::Raid5 => of_row.write(parts, plan),
            RowWork::Write => plan.writes = copies(&self.layout, parts, missing),
            RowWork::Reconstruct(part) if missing.is_some() => *plan = of_row.reconstruct(part),
            RowWork::Reconstruct(part) => plan.reads = vec![self.layout.piece(part)],
            RowWork::Rebuild | RowWork::Scrub => *plan = sweep,
        }
    }

    fn plan_rebuild(&self, row: u64) -> RowPlan {
        let Some(member) = self.failed else { return RowPlan::default() };
        let all = 0..self.layout.members;
        let sources = match self.layout.level {
            Level::Raid5 => all,
            // One mirror is enough; the rows go round them.
            _ => {
                let mirrors = self.layout.mirrors(self.layout.first_mirror(member));
                let others: Vec<_> = mirrors.filter(|&mirror| mirror != member).collect();
                let source = others[(row % others.len() as u64) as usize];
                source..source + 1
            }
        };
        Row::new(&self.layout, row, None).rebuild(member, sources)
    }

    fn plan_scrub(&mut self, row: u64) -> RowPlan {
        let chunk = self.layout.chunk_bytes;
        let whole = |member| Piece { member, offset_bytes: row * chunk, bytes: chunk };
        let writes = self.scrub.as_mut().map(|scrub| scrub.take_repairs(row)).unwrap_or_default();
        RowPlan { reads: (0..self.layout.members).map(whole).collect(), writes }
    }

    /// Gives the members the reads of a job, or its writes once there are no reads; ends it if there is nothing to do.
    fn next_step(&mut self, id: u32, cx: &mut Cx) {
        let RowJob { plan, left, like, .. } = self.jobs.get(id);
        let kind = if plan.reads.is_empty() { RequestKind::Write } else { RequestKind::Read };
        let pieces = plan.list(kind);
        if pieces.is_empty() {
            return self.end_job(id, cx);
        }
        *left = pieces.len() as u32;
        let (mut pieces, like) = (std::mem::take(pieces), *like);
        for &piece in &pieces {
            self.order(RequestOwner::Job(id), &like, kind, piece, cx);
        }
        pieces.clear();
        *self.jobs.get(id).plan.list(kind) = pieces;
    }

    /// A read or a write of a job has ended.
    pub(super) fn step_ended(&mut self, id: u32, cx: &mut Cx) {
        let job = self.jobs.get(id);
        job.left -= 1;
        if job.left == 0 {
            self.next_step(id, cx);
        }
    }

    fn end_job(&mut self, id: u32, cx: &mut Cx) {
        let &mut RowJob { host, row, work, .. } = self.jobs.get(id);
        let next = self.jobs.end(id);
        match (work, host) {
            (RowWork::Rebuild, _) => self.row_rebuilt(row, cx),
            (RowWork::Scrub, _) => self.row_scrubbed(row, cx),
            (_, Some(tag)) => self.piece_ended(tag, cx),
            (_, None) => {}
        }
        if let Some(next) = next {
            self.begin_job(next, cx);
        }
    }

    fn row_rebuilt(&mut self, row: u64, cx: &mut Cx) {
        self.counts.rebuilt_rows += 1;
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.row_ended(row, cx.now());
        }
        self.go_on_rebuilding(cx);
    }

    fn row_scrubbed(&mut self, row: u64, cx: &mut Cx) {
        if let Some(scrub) = &mut self.scrub {
            scrub.pace.row_ended(row, cx.now());
        }
        self.go_on_scrubbing(cx);
    }

    /// Starts the rows of a scrub that may start now, and waits for the next one.
    pub(super) fn go_on_scrubbing(&mut self, cx: &mut Cx) {
        while let Some(scrub) = &mut self.scrub {
            let Some(at) = scrub.pace.next_at(cx.now()) else { return };
            if at > cx.now() {
                return cx.agenda.reset(self.seat, at);
            }
            let row = scrub.pace.start(cx.now());
            let like = Request { is_sync: false, ..Request::new(cx.now(), RequestKind::Write, 0, 0) };
            self.add_job(RowJob::new(None, &like, row, RowWork::Scrub), &[], cx);
        }
    }

    /// Starts the rows that may start now, and waits for the next one.
    pub(super) fn go_on_rebuilding(&mut self, cx: &mut Cx) {
        while let Some(rebuild) = &mut self.rebuild {
            let Some(at) = rebuild.next_at(cx.now()).filter(|_| !self.is_draining || rebuild.finish) else { return };
            if at > cx.now() {
                return cx.agenda.reset(self.seat, at);
            }
            let row = rebuild.start(cx.now());
            let like = Request { is_sync: false, ..Request::new(cx.now(), RequestKind::Write, 0, 0) };
            self.add_job(RowJob::new(None, &like, row, RowWork::Rebuild), &[], cx);
        }
    }
}

/// The parts on all their mirrors but the missing one.
fn copies(layout: &Layout, parts: &[ChunkPart], missing: Option<u32>) -> Vec<Piece> {
    let each = |part: &ChunkPart| {
        let piece = layout.piece(*part);
        let mirrors = layout.mirrors(part.member).filter(move |&member| missing != Some(member));
        mirrors.map(move |member| Piece { member, ..piece })
    };
    parts.iter().flat_map(each).collect()
}
