//! What the text formats share: columns, exact numbers, and what to say of a record that is not as it should be.

use super::super::{Decode, Halt, Record, trace_error};
use super::column_units::{ColumnUnits, GivenUnits, Tick};
use super::header::{Header, looks_like_names};
use super::input::{Input, Line};
use flashwatt_base::error::{Error, Fault, Place};
use flashwatt_core::connector::RequestKind;

/// No block interface moves more with one read or write; a larger one is a damaged record.
pub const REQUEST_BYTES_MAX: u64 = 4 << 30;
/// Lines (or binary records) without a request that one call skips; then the caller may check for an interrupt.
pub const PASSED_OVER_MAX: u32 = 1 << 14;
/// What is wrong with a length of 0.
const NO_LENGTH: &str = "request of no length";
/// What is wrong with one beyond [`REQUEST_BYTES_MAX`].
const TOO_LARGE: &str = "request too large";
const TIME_TOO_LARGE: &str = "time too large";
/// Characters of a wrong field that a message repeats.
const FOUND_BYTES_MAX: usize = 48;

/// What is wrong with a record. Boxed: wrong records are rare, and right ones should not carry its weight.
#[derive(Debug, PartialEq, Eq)]
pub struct Bad {
    /// The column.
    pub column: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// What stands there.
    pub found: Option<String>,
    /// What should.
    pub expected: Option<&'static str>,
    /// How many records are lost by it.
    pub records: u64,
}

impl Bad {
    /// Something wrong in a column.
    #[cold]
    pub fn new(column: &'static str, what: &'static str) -> Box<Self> {
        Box::new(Bad { column, what, found: None, expected: None, records: 1 })
    }

    /// A field that is not there.
    #[cold]
    fn missing(column: &'static str) -> Box<Self> {
        let found = Some("the end of the line".to_string());
        Box::new(Bad { column, what: "missing column", found, expected: Some("a value"), records: 1 })
    }

    /// A field that is not what it should be.
    #[cold]
    pub fn field(column: &'static str, what: &'static str, found: &[u8], expected: &'static str) -> Box<Self> {
        Box::new(Bad { column, what, found: Some(quoted(found)), expected: Some(expected), records: 1 })
    }

    /// Has the record all columns of its format, with a length that no request has?
    fn is_of_its_format(&self) -> bool {
        [NO_LENGTH, TOO_LARGE].contains(&self.what)
    }

    /// As errors carry it.
    pub fn boxed(self) -> Box<Self> {
        Box::new(self)
    }

    /// The message.
    pub fn into_fault(self, place: Place) -> Fault {
        let mut fault = Fault::at(place, self.what);
        fault.found = self.found;
        fault.expected = self.expected.map(str::to_string);
        fault
    }
}

fn quoted(found: &[u8]) -> String {
    let shown = &found[..found.len().min(FOUND_BYTES_MAX)];
    let more = if shown.len() < found.len() { "…" } else { "" };
    format!("`{}{more}`", shown.escape_ascii())
}

/// A line's columns, one after the other.
pub trait LineColumns<'a> {
    /// The next field, if there is one.
    fn next(&mut self) -> Option<&'a [u8]>;

    /// The next field.
    #[inline(always)]
    fn field(&mut self, column: &'static str) -> Result<&'a [u8], Box<Bad>> {
        self.next().ok_or_else(|| Bad::missing(column))
    }

    /// The next field as a whole number.
    #[inline(always)]
    fn number(&mut self, column: &'static str) -> Result<u64, Box<Bad>> {
        number(self.field(column)?, column)
    }

    /// The next field as a time, in nanoseconds. `unit` is what 1 stands for.
    #[inline(always)]
    fn time(&mut self, column: &'static str, unit: Tick) -> Result<u64, Box<Bad>> {
        decimal(self.field(column)?, unit, column)
    }

    /// The same in a format whose times are whole nanoseconds. In a longer unit they may have a fraction.
    #[inline(always)]
    fn whole_time(&mut self, column: &'static str, unit: Tick) -> Result<u64, Box<Bad>> {
        if unit == Tick::NS { self.number(column) } else { self.time(column, unit) }
    }

    /// There must not be another field.
    #[inline(always)]
    fn end(&mut self) -> Result<(), Box<Bad>> {
        match self.next() {
            None => Ok(()),
            Some(extra) => Err(Bad::field("end of line", "extra column", extra, "the end of the line")),
        }
    }
}

/// Fields between commas; blanks around them are no part of them.
pub struct Commas<'a>(Option<&'a [u8]>);

impl<'a> Commas<'a> {
    /// The fields of this line.
    #[inline(always)]
    pub fn of(line: &'a [u8]) -> Self {
        Commas(Some(line))
    }
}

impl Commas<'_> {
    /// Takes the first `length` bytes as a field, if one ends there.
    #[inline(always)]
    fn take(&mut self, rest: &[u8], length: usize) -> bool {
        let Some(from) = self.0 else { return false };
        match rest.get(length) {
            Some(b',') => self.0 = Some(&from[length + 1..]),
            None => self.0 = None,
            Some(_) => return false,
        }
        true
    }
}

impl<'a> LineColumns<'a> for Commas<'a> {
    // The usual number is read in one pass, without looking for its end first; whatever is unusual goes the long way.
    #[inline(always)]
    fn number(&mut self, column: &'static str) -> Result<u64, Box<Bad>> {
        let rest = self.0.unwrap_or_default();
        let (value, length) = leading_digits(rest);
        if (1..=SAFE_DIGITS).contains(&length) && self.take(rest, length) {
            return Ok(value);
        }
        number(self.field(column)?, column)
    }

    #[inline(always)]
    fn time(&mut self, column: &'static str, unit: Tick) -> Result<u64, Box<Bad>> {
        let rest = self.0.unwrap_or_default();
        if let Some((ns, length)) = leading_time(rest, unit)
            && self.take(rest, length)
        {
            return Ok(ns);
        }
        decimal(self.field(column)?, unit, column)
    }

    #[inline(always)]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.0?;
        // A loop beats memchr on fields of a few bytes.
        let field = match rest.iter().position(|&c| c == b',') {
            Some(at) => {
                self.0 = Some(&rest[at + 1..]);
                &rest[..at]
            }
            None => {
                self.0 = None;
                rest
            }
        };
        Some(trimmed(field))
    }
}

/// Fields between runs of blanks.
pub struct Blanks<'a>(&'a [u8]);

impl<'a> Blanks<'a> {
    /// The fields of this line.
    #[inline(always)]
    pub fn of(line: &'a [u8]) -> Self {
        Blanks(line)
    }

    /// What has not been taken yet.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// What has not been taken yet, from the next field on.
    #[inline(always)]
    fn at_field(&self) -> &'a [u8] {
        let mut rest = self.0;
        while let [b' ' | b'\t', behind @ ..] = rest {
            rest = behind;
        }
        rest
    }

    /// Takes the first `length` bytes as a field, if one ends there.
    #[inline(always)]
    fn take(&mut self, rest: &'a [u8], length: usize) -> bool {
        let ends = rest.get(length).is_none_or(|&c| blank(c));
        if ends {
            self.0 = &rest[length..];
        }
        ends
    }
}

impl<'a> LineColumns<'a> for Blanks<'a> {
    // As for commas.
    #[inline(always)]
    fn number(&mut self, column: &'static str) -> Result<u64, Box<Bad>> {
        let rest = self.at_field();
        let (value, length) = leading_digits(rest);
        if (1..=SAFE_DIGITS).contains(&length) && self.take(rest, length) {
            return Ok(value);
        }
        number(self.field(column)?, column)
    }

    #[inline(always)]
    fn time(&mut self, column: &'static str, unit: Tick) -> Result<u64, Box<Bad>> {
        let rest = self.at_field();
        if let Some((ns, length)) = leading_time(rest, unit)
            && self.take(rest, length)
        {
            return Ok(ns);
        }
        decimal(self.field(column)?, unit, column)
    }

    #[inline(always)]
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(|&c| !blank(c))?;
        let rest = &self.0[start..];
        let end = rest.iter().position(|&c| blank(c)).unwrap_or(rest.len());
        self.0 = &rest[end..];
        Some(&rest[..end])
    }
}

#[inline(always)]
fn blank(c: u8) -> bool {
    c == b' ' || c == b'\t'
}

#[inline(always)]
fn trimmed(mut field: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = field {
        field = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = field {
        field = rest;
    }
    field
}

/// What the letters, words or digits of an operation column stand for.
pub type Operations = [(&'static [u8], RequestKind)];

/// The operation that a field names.
#[inline(always)]
pub fn operation(field: &[u8], known: &Operations, expected: &'static str) -> Result<RequestKind, Box<Bad>> {
    match known.iter().find(|(name, _)| *name == field) {
        Some((_, kind)) => Ok(*kind),
        None => Err(Bad::field("operation", "unknown operation", field, expected)),
    }
}

/// Nineteen digits always fit into 64 bits.
const SAFE_DIGITS: usize = 19;

/// A whole number.
#[inline(always)]
pub fn number(field: &[u8], column: &'static str) -> Result<u64, Box<Bad>> {
    match digits(field) {
        Some(value) if !field.is_empty() => Ok(value),
        _ => Err(not_a_number(field, column, "a whole number, 0 or more")),
    }
}

/// The value of a run of digits (0 for none); `None` if there is anything else or too much.
#[inline(always)]
fn digits(field: &[u8]) -> Option<u64> {
    let mut value = 0u64;
    if field.len() > SAFE_DIGITS {
        return many_digits(field);
    }
    for &c in field {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

/// The value of the digits that a text begins with, and how many there are; right for up to `SAFE_DIGITS`.
#[inline(always)]
fn leading_digits(text: &[u8]) -> (u64, usize) {
    let mut value = 0u64;
    for (at, &c) in text.iter().enumerate() {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 {
            return (value, at);
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    (value, text.len())
}

/// The decimal number that a text begins with, in nanoseconds, and its length; `None` where that takes more than this.
#[inline(always)]
fn leading_time(text: &[u8], unit: Tick) -> Option<(u64, usize)> {
    let (whole, length) = leading_digits(text);
    if !(1..=SAFE_DIGITS).contains(&length) {
        return None;
    }
    let whole_ns = whole.checked_mul(unit.ns)?;
    if text.get(length) != Some(&b'.') {
        return Some((whole_ns, length));
    }
    let (fraction, digits) = leading_digits(&text[length + 1..]);
    // As many digits as a unit has powers of ten: then each stands for whole nanoseconds.
    let scale = POWERS.get(usize::from(unit.digits).checked_sub(digits)?)?;
    Some((whole_ns.checked_add(fraction * scale)?, length + 1 + digits))
}

const POWERS: [u64; 10] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

#[cold]
fn many_digits(field: &[u8]) -> Option<u64> {
    field.iter().try_fold(0u64, |value, &c| {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

/// Why a field is no number, as exactly as a user can be told.
#[cold]
fn not_a_number(field: &[u8], column: &'static str, expected: &'static str) -> Box<Bad> {
    let negative = matches!(field, [b'-', b'0'..=b'9', ..]);
    let large = !field.is_empty() && field.iter().all(u8::is_ascii_digit);
    let what = match () {
        () if field.is_empty() => "empty column",
        () if negative => "negative number",
        () if large => "number too large",
        () => "not a number",
    };
    Bad::field(column, what, field, expected)
}

/// A decimal number of units, in whole nanoseconds: exact, without a detour through floating point. Digits below a
/// nanosecond are cut off.
#[inline(always)]
pub fn decimal(field: &[u8], unit: Tick, column: &'static str) -> Result<u64, Box<Bad>> {
    let (whole, fraction) = match field.iter().position(|&c| c == b'.') {
        Some(dot) => (&field[..dot], &field[dot + 1..]),
        None => (field, &[][..]),
    };
    let value = match (digits(whole), fraction_ns(fraction, unit.ns)) {
        _ if whole.is_empty() && fraction.is_empty() => None,
        (Some(whole), Some(part)) => whole.checked_mul(unit.ns).and_then(|whole| whole.checked_add(part)),
        _ => None,
    };
    value.ok_or_else(|| bad_time(field, column))
}

#[inline(always)]
fn fraction_ns(fraction: &[u8], unit_ns: u64) -> Option<u64> {
    let (mut ns, mut unit) = (0, unit_ns);
    for &c in fraction {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        unit /= 10;
        ns += u64::from(digit) * unit;
    }
    Some(ns)
}

#[cold]
fn bad_time(field: &[u8], column: &'static str) -> Box<Bad> {
    let dots = field.iter().filter(|&&c| c == b'.').count();
    if dots <= 1 && field.len() > dots && field.iter().all(|c| c.is_ascii_digit() || *c == b'.') {
        let expected = "a time below 2^64 ns (584 years); --time-unit says so if the trace counts a shorter unit";
        return Bad::field(column, TIME_TOO_LARGE, field, expected);
    }
    not_a_number(field, column, "a decimal number, 0 or more")
}

/// Where a request lies, in bytes, from its columns of offset and size.
#[inline(always)]
pub fn range(
    start: (&'static str, u64),
    size: (&'static str, u64),
    units: &ColumnUnits,
) -> Result<(u64, u64), Box<Bad>> {
    if size.1 == 0 {
        return Err(Bad::field(size.0, NO_LENGTH, b"0", "a positive number"));
    }
    let offset = start.1.checked_mul(units.offset_bytes).filter(|&o| o < OFFSET_BYTES_MAX);
    let bytes = size.1.checked_mul(units.size_bytes).filter(|&b| b < OFFSET_BYTES_MAX);
    match (offset, bytes) {
        (Some(offset), Some(bytes)) => Ok((offset, bytes)),
        (None, _) => Err(too_far(start)),
        (_, None) => {
            Err(Bad::field(size.0, "number too large", size.1.to_string().as_bytes(), "a size below 2^62 bytes"))
        }
    }
}

/// 4 EiB: sums of an offset, a size and the extents of other devices then have room to be checked.
pub const OFFSET_BYTES_MAX: u64 = 1 << 62;

#[cold]
fn too_far(start: (&'static str, u64)) -> Box<Bad> {
    Bad::field(start.0, "address too large", start.1.to_string().as_bytes(), "an address below 2^62 bytes")
}

/// A read or write that is larger than any interface allows is not believed; a trim may be as large as the drive.
#[inline(always)]
pub fn believable(kind: RequestKind, bytes: u64, column: &'static str) -> Result<(), Box<Bad>> {
    if bytes <= REQUEST_BYTES_MAX || kind == RequestKind::Trim {
        return Ok(());
    }
    Err(Bad::field(column, TOO_LARGE, bytes.to_string().as_bytes(), "at most 4 GiB in one request"))
}

/// What a line of a text format holds.
pub enum TextLine {
    /// A request.
    Request(Record),
    /// A request before which everything written earlier must be made durable.
    FlushThen(Record),
    /// Something that is no request, such as an event of another kind. Counted, not an error.
    Other,
    /// What the format begins with: column names, a version. Nothing to tell of.
    Header,
    /// From here on there is nothing but a summary.
    End,
}

/// A format of one record per line.
pub trait LineFormat {
    /// What its columns count by its definition.
    const UNITS: ColumnUnits;

    /// Decodes one line, which is neither blank nor a comment. `units` says what its columns count.
    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>>;

    /// The column names that a file may begin with; `None` if files of this format never do.
    const HEADER: Option<&'static Header> = None;

    /// Of several lines of names that a file may begin with, the one that this line has; from then on its columns are expected.
    fn header_of(&mut self, _names: &[u8]) -> Option<&'static Header> {
        Self::HEADER
    }
}

/// The decoder of a [`LineFormat`].
pub struct Text<F> {
    input: Input,
    format: F,
    given: GivenUnits,
    units: ColumnUnits,
    /// The request that follows the flush just given.
    after_flush: Option<Record>,
    at_start: bool,
    /// No line of names and no record has been read.
    at_first: bool,
    others: u64,
    headers: u64,
}

impl<F: LineFormat + Send + 'static> Text<F> {
    /// Decodes `input` by `format`. Its columns count what is given, or what the line of names says, or what the format's
    /// definition says.
    pub fn boxed(input: Input, format: F, given: GivenUnits) -> Box<dyn Decode> {
        Box::new(Text {
            input,
            format,
            given,
            units: given.or(F::UNITS),
            after_flush: None,
            at_start: true,
            at_first: true,
            others: 0,
            headers: 0,
        })
    }
}

impl<F: LineFormat + Send> Text<F> {
    /// Takes the units from a line of column names. Other names than the format's mean other columns: an error, not a guess,
    /// and no record that could be left out.
    #[cold]
    fn read_names(&mut self, line: &[u8]) -> Result<(), Error> {
        let header = self.format.header_of(line);
        let fault = |what: &str| Fault::at(self.place(self.position(), "header"), what).found(quoted(line));
        let Some(header) = header else {
            let fault = fault("column names, which files of this format do not have");
            return Err(trace_error(fault.help("put # before the line, or name another format with --format")));
        };
        let named = match header.read(line) {
            Ok(named) => named,
            Err(what) => {
                let fault = fault("other column names than this format's").expected(header.expected);
                return Err(trace_error(fault.help(what)));
            }
        };
        let units = self.given.with(&named).map_err(|(key, given, named)| {
            let fault = fault("the column names give another unit than the one that was asked for");
            trace_error(fault.expected(format!("{key} = \"{named}\", or none; not \"{given}\"")))
        })?;
        self.units = units.or(F::UNITS);
        Ok(())
    }

    /// Takes the units from a comment before the first record, if it has this format's column names: some programs write them
    /// so.
    #[cold]
    fn read_comment(&mut self, line: &[u8]) -> Result<(), Error> {
        let text = uncommented(line);
        let has_names = self.format.header_of(text).is_some_and(|header| header.read(text).is_ok());
        if has_names { self.read_names(text) } else { Ok(()) }
    }
}

impl<F: LineFormat + Send> Decode for Text<F> {
    fn next(&mut self) -> Result<Option<Record>, Halt> {
        if let Some(record) = self.after_flush.take() {
            return Ok(Some(record));
        }
        if self.at_start {
            self.at_start = false;
            self.input.skip_byte_order_mark()?;
        }
        for _ in 0..PASSED_OVER_MAX {
            let line = match self.input.line()? {
                Line::Text(line) => line,
                Line::TooLong => return Err(Bad::new("line", "line longer than 1 MiB").into()),
                Line::End => return Ok(None),
            };
            if is_empty_or_comment(line) {
                if self.at_first && F::HEADER.is_some() {
                    let line = line.to_vec();
                    self.read_comment(&line)?;
                }
                continue;
            }
            let entry = self.format.line(line, &self.units);
            if std::mem::take(&mut self.at_first) && entry.is_err() && looks_like_names(line) {
                let line = line.to_vec();
                self.read_names(&line)?;
                self.headers += 1;
                continue;
            }
            match entry? {
                TextLine::Request(record) => return Ok(Some(record)),
                TextLine::FlushThen(record) => {
                    self.after_flush = Some(record);
                    return Ok(Some(record.flush_before()));
                }
                TextLine::Other => self.others += 1,
                TextLine::Header => self.headers += 1,
                TextLine::End => return Ok(None),
            }
        }
        Err(Halt::Pause)
    }

    fn position(&self) -> u64 {
        self.input.line_number()
    }

    fn place(&self, position: u64, column: &str) -> Place {
        Place { line: Some(position), key: Some(column.to_string()), ..self.input.place() }
    }

    fn units(&self) -> Option<ColumnUnits> {
        Some(self.units)
    }

    fn others(&self) -> u64 {
        self.others
    }

    fn headers(&self) -> u64 {
        self.headers
    }
}

/// What a comment says.
fn uncommented(line: &[u8]) -> &[u8] {
    let text = trimmed(line);
    trimmed(&text[text.iter().take_while(|&&c| c == b'#').count()..])
}

#[inline(always)]
fn is_empty_or_comment(line: &[u8]) -> bool {
    match line {
        [] | [b'#', ..] => true,
        [b' ' | b'\t', ..] => matches!(trimmed(line), [] | [b'#', ..]),
        _ => false,
    }
}

/// Lines of a sample that recognition looks at.
const SAMPLE_LINES: usize = 32;

/// Do this sample's lines look like this format? At least half of the first lines do, and one of those is a request, so
/// that a file with a few damaged records at its start is still recognised (and then the record is named). A request of no
/// length, or of too large a one, is one of its format. Other column names than the format's are not.
pub fn looks_like<F: LineFormat>(mut format: F, sample: &[u8]) -> bool {
    let (mut good, mut bad, mut requests) = (0, 0, 0);
    for line in sample.split(|&c| c == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)) {
        if is_empty_or_comment(line) {
            continue;
        }
        let mut entry = format.line(line, &F::UNITS);
        if matches!(&entry, Err(bad) if bad.what == TIME_TOO_LARGE) {
            entry = format.line(line, &ColumnUnits { time: Tick::NS, ..F::UNITS }); // in the format's unit it is an error of its own
        }
        if good + bad == 0 && entry.is_err() && looks_like_names(line) {
            let is_own = format.header_of(line).is_some_and(|header| header.read(line).is_ok());
            if !is_own {
                return false;
            }
            good += 1;
            continue;
        }
        match entry {
            Ok(TextLine::Request(_) | TextLine::FlushThen(_)) => {
                good += 1;
                requests += 1;
            }
            Err(bad) if bad.is_of_its_format() => {
                good += 1;
                requests += 1;
            }
            Ok(TextLine::Other | TextLine::Header) => good += 1,
            Ok(TextLine::End) => break,
            Err(_) => bad += 1,
        }
        if good + bad == SAMPLE_LINES {
            break;
        }
    }
    requests > 0 && good >= bad
}

impl From<Box<Bad>> for Halt {
    fn from(bad: Box<Bad>) -> Self {
        Halt::Bad(bad)
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Halt::Stop(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(field: &str, unit: Tick) -> Result<u64, &'static str> {
        decimal(field.as_bytes(), unit, "time").map_err(|bad| bad.what)
    }

    #[test]
    fn times_are_exact() {
        assert_eq!(ns("0.026214", Tick::S), Ok(26_214_000));
        assert_eq!(ns("9007199.254740993", Tick::S), Ok(9_007_199_254_740_993), "not an f64");
        assert_eq!(ns("1.5", Tick::US), Ok(1500));
        assert_eq!(ns("1.", Tick::MS), Ok(1_000_000));
        assert_eq!(ns(".25", Tick::MS), Ok(250_000));
        assert_eq!(ns("0.1234567899", Tick::S), Ok(123_456_789), "cut off below a nanosecond");
        assert_eq!(ns("18446744073.709551615", Tick::S), Ok(u64::MAX));
    }

    #[test]
    fn wrong_times_are_named() {
        assert_eq!(ns("18446744073.709551616", Tick::S), Err("time too large"));
        assert_eq!(ns("99999999999", Tick::S), Err("time too large"));
        assert_eq!(ns("-1.5", Tick::S), Err("negative number"));
        assert_eq!(ns("", Tick::S), Err("empty column"));
        assert_eq!(ns(".", Tick::S), Err("not a number"));
        assert_eq!(ns("1.5.2", Tick::S), Err("not a number"));
        assert_eq!(ns("1e3", Tick::S), Err("not a number"));
    }

    #[test]
    fn numbers_of_every_length() {
        assert_eq!(number(b"18446744073709551615", "n").ok(), Some(u64::MAX));
        assert_eq!(number(b"00000000000000000000000007", "n").ok(), Some(7));
        for (field, what) in [
            (&b"18446744073709551616"[..], "number too large"),
            (b"-3", "negative number"),
            (b"", "empty column"),
            (b"12x", "not a number"),
            (b"+3", "not a number"),
        ] {
            assert_eq!(number(field, "n").map_err(|bad| bad.what), Err(what));
        }
    }

    /// The short way and the long way agree on whatever both take.
    #[test]
    fn usual_numbers_are_read_as_any_others() {
        let mut rng = flashwatt_base::rng::Rng::new(5);
        for _ in 0..100_000 {
            let text: Vec<u8> = (0..rng.below(24)).map(|_| b"0123456789.. ,-x9"[rng.below(17) as usize]).collect();
            for unit in [Tick::NS, Tick::FILETIME, Tick::US, Tick::MS, Tick::S] {
                let long = |field: Option<&[u8]>| field.map(|field| (number(field, "c"), decimal(field, unit, "c")));
                let (commas, blanks) = (Commas::of(&text).next(), Blanks::of(&text).next());
                let mut short = [Commas::of(&text), Commas::of(&text)];
                let found = (short[0].number("c"), short[1].time("c", unit));
                assert_eq!(Some(found), long(commas), "{}", text.escape_ascii());
                let mut short = [Blanks::of(&text), Blanks::of(&text)];
                let found = (short[0].number("c"), short[1].time("c", unit));
                assert_eq!(found, long(blanks).unwrap_or_else(|| (Err(Bad::missing("c")), Err(Bad::missing("c")))));
            }
        }
    }

    #[test]
    fn columns_by_commas_and_blanks() {
        let fields =
            |columns: &mut dyn FnMut() -> Option<&'static [u8]>| std::iter::from_fn(columns).collect::<Vec<_>>();
        let mut commas = Commas::of(b"a, b ,,c");
        assert_eq!(fields(&mut || commas.next()), [&b"a"[..], b"b", b"", b"c"]);
        let mut blanks = Blanks::of(b"  a\t\tb c ");
        assert_eq!(fields(&mut || blanks.next()), [&b"a"[..], b"b", b"c"]);
    }
}
