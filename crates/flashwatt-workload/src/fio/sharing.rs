//! Jobs that have files of their own in fio, and share the drive here.

use std::collections::BTreeSet;

use super::sections::Section;
use super::spec::JobSpec;

/// A warning, if fio would give the jobs several files: each clone without `filename` has one of its own.
pub(super) fn shared(sections: &[Section], jobs: &[JobSpec], file: &str) -> Option<String> {
    let mut files: BTreeSet<String> = BTreeSet::new();
    for (at, (section, job)) in sections.iter().zip(jobs).enumerate() {
        match section.options.get("filename") {
            Some(written) => drop(files.insert(format!("={}", written.value))),
            None => files.extend((0..job.clones.min(2)).map(|clone| format!("{at}.{clone}"))),
        }
    }
    // Clones that begin apart do not mean one file.
    let apart = jobs.iter().all(|job| job.clones == 1 || job.shape.files.increment > 0);
    let is_one_job = jobs.len() == 1 && apart;
    (files.len() > 1 && !is_one_job).then(|| {
        format!(
            "{file}: in fio these jobs have files of their own; here all work on the one drive, from offset on: offset and \
             offset_increment lay them apart, filename=NAME in [global] says that one is meant, --fs NAME makes files"
        )
    })
}
