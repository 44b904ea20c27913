//! Files: what applications do with them.

pub mod operation;
pub mod program;
pub mod source;
