//! The drive's write buffer.

mod newest;
pub mod settings;
pub mod write_buffer;

pub use write_buffer::WriteBuffer;
