//! The options of a job that are about its files.

use super::lengths::Lengths;
use super::reader::OptionReader;
use super::sections::{Section, WrittenOption};
use flashwatt_base::error::Fault;

/// The files of each clone of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileOptions {
    /// How many, > 0.
    pub files: u32,
    /// Bytes of each.
    pub file_bytes: u64,
    /// Bytes of a request that lays a file down.
    pub block_bytes: u64,
    /// Whether files that are read are there at the start.
    pub is_serialized: bool,
    /// Whether the job ends with fsync for each of its files.
    pub ends_with_fsync: bool,
    /// Whether requests go past the page cache.
    pub is_direct: bool,
}

/// Files of a job: more would be a mistake.
const FILES_MAX: u64 = 10_000_000;

/// The options of all sections. Gives each section a `size`: that of all its files.
pub(super) fn file_options(sections: &mut [Section], file: &str, faults: &mut Vec<Fault>) -> Vec<FileOptions> {
    sections.iter_mut().map(|section| of_section(section, file, faults)).collect()
}

fn of_section(section: &mut Section, file: &str, faults: &mut Vec<Fault>) -> FileOptions {
    let mut reader = OptionReader { section, file, faults };
    let files = reader.count("nrfiles", 1, FILES_MAX);
    let (each, all) = (reader.given_bytes("filesize"), reader.given_bytes("size"));
    let (is_serialized, ends_with_fsync) = (reader.flag_or("create_serialize", true), reader.flag("end_fsync"));
    let (direct, buffered) = (reader.flag("direct"), reader.flag_or("buffered", true));
    let block_bytes = reader.lengths().iter().map(Lengths::most).max().unwrap_or(512);
    match (each, all) {
        (Some(each), Some(all)) if each.saturating_mul(files) != all => {
            let found = format!("nrfiles = {files}, filesize = {each}, size = {all}");
            reader.refuse(
                &["size"],
                "the files do not add up",
                found,
                "size = nrfiles × filesize, or one of them".into(),
            );
        }
        (None, None) => {
            let found = "neither size nor filesize".into();
            reader.refuse(
                &["rw"],
                "the files have no size",
                found,
                "size, of all files of a clone, or filesize".into(),
            );
        }
        (Some(each), None) => give_size(section, each.saturating_mul(files)),
        _ => {}
    }
    let file_bytes = each.or(all.map(|all| all / files)).unwrap_or(block_bytes).max(1);
    FileOptions {
        files: files as u32,
        file_bytes,
        block_bytes,
        is_serialized,
        ends_with_fsync,
        is_direct: direct || !buffered,
    }
}

/// The size of all files, where the file gives that of each.
fn give_size(section: &mut Section, bytes: u64) {
    let place = section.options.get("filesize").map_or(&section.place, |written| &written.place).clone();
    section.options.insert("size", WrittenOption { value: bytes.to_string(), place });
}
