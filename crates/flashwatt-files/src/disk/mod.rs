//! The disk as a file system sees it: blocks, the pages in them, requests for them, and why they are written.

mod figures;
mod io;
mod pages;

pub use figures::{IoFigures, WriteCause};
pub use io::{IoId, Ios, Kind, Task, Ticket};
pub use pages::{BLOCK_BYTES, Block, Owner, PageId, PageKey, Run};
