//! From text to sections: their names, and their options with line numbers.

use std::collections::BTreeMap;

use super::options::{self, ON_FILES, UNDERSTOOD, canonical};
use super::refused::UNSUPPORTED;
use super::without_effect::WITHOUT_EFFECT;
use flashwatt_base::error::{Fault, Place, nearest};

/// An option as the file has it.
#[derive(Clone, Debug)]
pub(super) struct WrittenOption {
    /// The text after the `=`; empty for an option without one.
    pub value: String,
    pub place: Place,
}

impl WrittenOption {
    /// A fault at this option: `what` is wrong with its value.
    pub fn fault(&self, what: &str) -> Fault {
        Fault::at(self.place.clone(), what).found(format!("`{}`", self.value))
    }
}

/// The section of a job: its own options, and those of the `[global]` sections before it where it has none of its own.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub name: String,
    pub place: Place,
    /// Options by canonical name.
    pub options: Options,
}

type Options = BTreeMap<&'static str, WrittenOption>;

impl Section {
    /// An option of the section itself, not of a `[global]` section before it.
    pub fn own(&self, name: &str) -> Option<&WrittenOption> {
        self.options.get(name).filter(|option| option.place.line > self.place.line)
    }
}

/// The sections of the jobs in the order of the file. Adds a fault for each line that is not understood, and a warning for
/// each option that a section has twice.
///
/// `more` are options that are understood besides the usual ones.
pub(super) fn sections(
    text: &str,
    file: &str,
    more: &options::Options,
    faults: &mut Vec<Fault>,
    warnings: &mut Vec<String>,
) -> Vec<Section> {
    let (mut global, mut sections, mut in_global) = (Options::new(), Vec::<Section>::new(), None);
    let mut header = None;
    for (line, text) in text.lines().enumerate() {
        let place = Place { file: Some(file.to_string()), line: Some(line as u64 + 1), ..Place::default() };
        let text = without_comment(text);
        if text.is_empty() {
            continue;
        }
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let name = name.trim();
            (in_global, header) = (Some(name == "global"), place.line);
            if name != "global" {
                sections.push(Section { name: name.to_string(), place, options: Options::clone(&global) });
            }
            continue;
        }
        if text.starts_with('[') {
            let fault = Fault::at(place, "the bracket is not closed").found(format!("`{text}`"));
            faults.push(fault.expected(format!("`{text}]`")));
            continue;
        }
        let options = match (in_global, sections.last_mut()) {
            (Some(true), _) => &mut global,
            (Some(false), Some(section)) => &mut section.options,
            _ => {
                let fault = Fault::at(place, "an option before any section").found(format!("`{text}`"));
                faults.push(fault.expected("[global] or [NAME]"));
                continue;
            }
        };
        match option(text, place, more) {
            Ok(Some((name, written))) => {
                let before = options.insert(name, written.clone()).filter(|before| before.place.line > header);
                warnings.extend(before.and_then(|before| repeated(file, &before, &written)));
            }
            Ok(None) => {}
            Err(fault) => faults.push(*fault),
        }
    }
    sections
}

/// A line without its comment, which begins with `#` or `;`, also behind a value. Behind a section's bracket only.
fn without_comment(line: &str) -> &str {
    let line = line.trim();
    let first = if line.starts_with('[') { line.find(']').map_or(line.len(), |at| at + 1) } else { 0 };
    let end = line[first..].find(['#', ';']).map_or(line.len(), |at| first + at);
    line[..end].trim_end()
}

/// What is said of a second value of an option: fio takes the last one.
fn repeated(file: &str, before: &WrittenOption, written: &WrittenOption) -> Option<String> {
    let (line, earlier, key) = (written.place.line?, before.place.line?, written.place.key.as_deref()?);
    let (value, old) = (&written.value, &before.value);
    Some(format!("{file}:{line}: {key}: given twice; `{value}` replaces `{old}` of line {earlier}"))
}

/// Parses an option of a line and gives it its canonical name; `None` if the option has no effect here.
fn option(
    text: &str,
    place: Place,
    more: &options::Options,
) -> Result<Option<(&'static str, WrittenOption)>, Box<Fault>> {
    let (name, value) = text.split_once('=').map_or((text, ""), |(name, value)| (name.trim(), value.trim()));
    let place = Place { key: Some(name.to_string()), ..place };
    if let Some(name) = canonical(name, more).filter(|_| !value.contains("${")) {
        return Ok(Some((name, WrittenOption { value: value.to_string(), place })));
    }
    if WITHOUT_EFFECT.contains(&name) {
        return Ok(None);
    }
    if let Some((name, value)) = text.split_once(':').filter(|(name, _)| canonical(name.trim(), more).is_some()) {
        let fault = Fault::at(place, "a colon for an equals sign").found(format!("`{text}`"));
        return Err(Box::new(fault.expected(format!("`{}={}`", name.trim(), value.trim()))));
    }
    if value.contains("${") {
        let fault = Fault::at(place, "a variable that the environment does not have").found(format!("`{value}`"));
        return Err(Box::new(fault.expected("the variable set, with one line of text, or its value here")));
    }
    let fault = Fault::at(place, "option not understood").found(format!("`{name}`"));
    let word = name.split_whitespace().next().unwrap_or_default();
    if let Some((_, help)) = UNSUPPORTED.iter().find(|(known, _)| *known == word) {
        return Err(Box::new(fault.help(*help)));
    }
    if canonical(word, ON_FILES).is_some() {
        let expected = "a file system that the jobs work on: --fs NAME, or workload.files.fio in place of workload.fio";
        return Err(Box::new(Fault { what: "an option of jobs on files".into(), ..fault }.expected(expected)));
    }
    let names = more.iter().chain(UNDERSTOOD).flat_map(|(names, _)| names.iter()).chain(WITHOUT_EFFECT).copied();
    Err(Box::new(fault.expected("an option of docs/workloads.md").nearest(nearest(name, names))))
}
