//! The drive's write buffer.

pub mod settings;
pub mod write_buffer;

pub use write_buffer::WriteBuffer;
