//! What the drive keeps in memory of its own.

pub mod list;
pub mod settings;
pub mod write_buffer;

pub use write_buffer::WriteBuffer;
