//! Second accounts of what lies on the disk, for tests, `--check` and power cuts.

mod journaled;
mod kept;
mod shadow;

pub use journaled::Note;
pub use kept::{FilesFound, HeldVersions, Kept, Mounts};
pub use shadow::Shadow;
