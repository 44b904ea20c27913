//! The files of a job, and the part of the drive that they lie on.

use super::lengths::Lengths;
use super::reader::OptionReader;
use super::shape::{Files, Turns};
use super::units::Amount;
use flashwatt_base::units::SECTOR_BYTES;

/// Files of a job: more would be a mistake.
const FILES_MAX: u64 = 100_000;

/// What a job works on, and how much of it in a pass.
pub(super) struct Ranges {
    pub files: Files,
    pub pass_bytes: u64,
    pub io_size: Option<u64>,
}

impl OptionReader<'_> {
    /// The files of a job with `clones` clones. `lengths` are those of its requests, `least` is the least of all directions.
    pub fn ranges(&mut self, drive_bytes: u64, clones: u64, lengths: &[Lengths], least: u64) -> Ranges {
        let count = self.file_count();
        let filesize = self.filesize();
        let whole = filesize.unwrap_or(drive_bytes);
        let aligned = |amount: Amount| match amount {
            Amount::Bytes(bytes) => bytes,
            Amount::Percent(percent) => share(whole, percent).div_ceil(least) * least,
        };
        let offset = self.sectors("offset").map_or(0, aligned);
        let increment = self.sectors("offset_increment").map_or(0, aligned);
        let size = self.amount("size");
        if filesize.is_some_and(|bytes| offset >= bytes) {
            let (found, expected) = (format!("byte {offset} of {whole}"), "an offset within filesize".to_string());
            self.refuse(&["offset"], "the job begins behind the end of its file", found, expected);
        }
        let each = sizes(count, filesize, size, (drive_bytes, offset), least);
        let total = each.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        let mut pass_bytes = match size {
            Some(Amount::Bytes(bytes)) => bytes.min(total),
            _ => total,
        };
        let io_size = match self.amount("io_size") {
            Some(Amount::Bytes(bytes)) => (bytes > 0).then_some(bytes),
            Some(Amount::Percent(percent)) => {
                pass_bytes = share(total, percent).min(pass_bytes);
                None
            }
            None => None,
        };
        let last = offset.saturating_add((clones - 1).saturating_mul(increment));
        let most = each.iter().copied().max().unwrap_or(0);
        let span = last.saturating_add(most).div_ceil(least).saturating_mul(least);
        let whole = if count == 1 && self.is_on_device() { Some(drive_bytes) } else { filesize };
        let (span, whole) = laid_out(span, whole, count, drive_bytes);
        let end = span.saturating_mul(count - 1).saturating_add(last).saturating_add(most);
        self.check_lengths(lengths, each.iter().copied().min().unwrap_or(0));
        self.check_end(end, most, drive_bytes);
        let (turns, turn_requests) = self.turns();
        let open = self.count("openfiles", count, FILES_MAX) as usize;
        Ranges {
            files: Files { bytes: each, whole, offset, increment, span, open, turns, turn_requests },
            pass_bytes,
            io_size,
        }
    }

    /// Files of a clone: the names of `filename`, or `nrfiles`.
    fn file_count(&mut self) -> u64 {
        let given = self.given_count("nrfiles", 1, FILES_MAX);
        match self.written("filename") {
            None => given.unwrap_or(1),
            Some(written) => {
                let names = names(&written.value).len().max(1) as u64;
                given.map_or(names, |given| given.min(names))
            }
        }
    }

    /// Whether the job names a device, which does not end where the job does.
    fn is_on_device(&self) -> bool {
        let is_device =
            |name: &String| name.starts_with("/dev/") && !["/dev/null", "/dev/zero"].contains(&name.as_str());
        self.written("filename").is_some_and(|written| names(&written.value).iter().all(is_device))
    }

    fn filesize(&mut self) -> Option<u64> {
        let base = self.kb_base();
        let expected = "bytes: 1m; files of a range of sizes are not simulated";
        self.read("filesize", expected, |text| super::units::bytes(text, base).filter(|bytes| *bytes > 0))
    }

    fn turns(&mut self) -> (Turns, u64) {
        let expected = "roundrobin, sequential or random, and requests in a row: roundrobin:8";
        self.read("file_service_type", expected, |text| {
            let (name, row) = text.split_once(':').unwrap_or((text, "1"));
            let row = row.parse().ok().filter(|row| (1..=super::values::COUNT_MAX).contains(row))?;
            match name {
                "roundrobin" => Some((Turns::RoundRobin, row)),
                "sequential" => Some((Turns::Sequential, row)),
                "random" => Some((Turns::Random, row)),
                _ => None,
            }
        })
        .unwrap_or((Turns::RoundRobin, 1))
    }

    fn check_lengths(&mut self, lengths: &[Lengths], bytes: u64) {
        if let Some(least) = lengths.iter().map(Lengths::least).filter(|least| *least > bytes).max() {
            self.refuse(
                &["size", "filesize", "bs", "bssplit", "bsrange", "rw"],
                "a request is longer than the size of the job",
                format!("requests of {least} bytes in {bytes}"),
                format!("size ≥ {least}"),
            );
        }
    }

    fn check_end(&mut self, end: u64, bytes: u64, drive_bytes: u64) {
        if end <= drive_bytes {
            return;
        }
        // A size that fits the drive is not what is wrong.
        let names: &[&str] = if bytes > drive_bytes {
            &["size", "filesize", "offset", "offset_increment", "numjobs"]
        } else {
            &["offset", "offset_increment", "nrfiles", "numjobs", "size"]
        };
        let (found, expected) = (format!("an end at byte {end}"), format!("at most {drive_bytes}"));
        self.refuse(names, "the job reaches beyond the drive", found, expected);
    }
}

/// The names of a list with colons; `\:` is a colon of a name.
pub(super) fn names(list: &str) -> Vec<String> {
    let whole = list.replace("\\:", "\u{0}");
    whole.split(':').map(|name| name.replace('\u{0}', ":")).filter(|name| !name.is_empty()).collect()
}

/// The distance of files of `whole` bytes, of which `used` bytes are used, and their end on a drive.
fn laid_out(used: u64, whole: Option<u64>, count: u64, drive: u64) -> (u64, Option<u64>) {
    let Some(whole) = whole else { return (used, None) };
    match used.max(whole.next_multiple_of(SECTOR_BYTES)) {
        span if count == 1 => (span, Some(whole.min(drive))),
        span if span.saturating_mul(count) <= drive => (span, Some(whole)),
        _ => (used, Some(whole.min(used))),
    }
}

fn share(bytes: u64, percent: f64) -> u64 {
    (bytes as f64 * percent / 100.0) as u64
}

/// Bytes of each file that the job works on.
fn sizes(count: u64, filesize: Option<u64>, size: Option<Amount>, (drive, offset): (u64, u64), least: u64) -> Vec<u64> {
    let whole = filesize.unwrap_or(drive / count);
    let rest = whole.saturating_sub(offset);
    match (filesize, size) {
        (None, Some(Amount::Bytes(bytes))) => {
            let each = bytes / count;
            let longer = (bytes - each * count) / least;
            (0..count).map(|at| if at < longer { each + least } else { each }).collect()
        }
        (_, Some(Amount::Percent(percent))) if percent < 100.0 => {
            let bytes = share(whole, percent).min(rest);
            vec![bytes - bytes % least; count as usize]
        }
        _ => vec![if filesize.is_none() { rest - rest % SECTOR_BYTES } else { rest }; count as usize],
    }
}
