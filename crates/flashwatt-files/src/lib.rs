//! Files in front of a block device: a workload whose requests a file system makes.
//!
//! ```text
//! Source ── Step::Op(FileOp) ── Vfs ── FileSystem::{create, map, prepare_write, write_out, fsync, …}    where files lie
//!   ^       threads, one           │      └─ asks the context for blocks of metadata: there, or read and waited for
//!   │       operation at a time    ├─ PageCache   pages in memory: clean, dirty, on their way
//!   │                              └─ Ios ── Workload::next ── block requests
//!   └──── done ── operation ends <── Workload::completed
//! ```
//!
//! A thread's operation runs until it needs a page that is not there. Then it waits for the request that brings it, and is tried
//! again: [`system`] states the rule. The flusher ([`flusher`]) writes dirty pages back, as the kernel's does.

mod aged;
pub mod cache;
mod context;
mod direct;
mod figures;
mod flusher;
mod image;
mod io;
mod kept;
mod lay_down;
mod operation;
mod processors;
pub mod program;
pub mod settings;
mod shadow;
mod source;
pub mod system;
pub mod systems;
mod tasks;
#[cfg(test)]
mod tests;
mod threads;
mod vfs;
mod workload;

pub use aged::History;
pub use context::Cx;
pub use figures::{Cause, FileFigures, FlowFigures, IoFigures};
pub use image::Image;
pub use kept::{FilesFound, Found};
pub use lay_down::NoRoom;
pub use operation::{DirId, FileId, FileOp, Mode, OpError, OpKind, Step};
pub use settings::Aged;
pub use source::{FileSpec, Flow, Source, ThreadId, ThreadSpec, Tree};
pub use workload::{Disk, End, FileWorkload};
