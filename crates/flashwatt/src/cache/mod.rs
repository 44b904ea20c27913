//! The drive's write buffer, and linked lists for tables in memory.

pub mod list;
pub mod settings;
pub mod write_buffer;

pub use write_buffer::WriteBuffer;
