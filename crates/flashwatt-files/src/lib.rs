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
//! again: [`system`] states the rule. The flusher (`vfs/flusher.rs`) writes dirty pages back, as the kernel's does.
//!
//! The rooms, each of which imports only from those before it: `operation` (what threads ask), `disk` (blocks, pages, requests), `check`
//! (second accounts), [`cache`], [`system`] (the interface of a file system), [`systems`] (file systems), [`program`] (filebench's language),
//! [`settings`], `vfs` (operations carried out), `workload`.
//!
//! This crate is internal to [FlashWatt](https://docs.rs/flashwatt): it has no promise of stability. Use the crate `flashwatt`, whose
//! interface is kept.
//!
//! The feature `checked` (a default one) is that of the crates below: without it, their release builds index tables unchecked. This crate's own
//! tables are always checked. The crate `flashwatt` goes without it, because it checks what enters.

pub mod cache;
mod check;
mod disk;
mod operation;
pub mod program;
pub mod settings;
pub mod system;
pub mod systems;
#[cfg(test)]
mod tests;
mod vfs;
mod workload;

pub use check::{FilesFound, HeldVersions};
pub use disk::{IoFigures, WriteCause};
pub use operation::{
    DirId, FileId, FileOp, FileSpec, Flow, Mode, OpError, OpKind, Source, Step, ThreadId, ThreadSpec, Tree,
};
pub use settings::Aged;
pub use vfs::{History, NoRoom};
pub use workload::{Disk, End, FileFigures, FileWorkload, FlowFigures, Image};
