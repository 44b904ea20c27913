//! The requests in the block layer: the table that holds them, lists of them, and which of them can be merged.

mod lists;
pub mod merging;
mod requests;

pub use lists::{Fifo, Sorted};
pub(crate) use requests::Piece;
pub use requests::{Pool, Rq, RqId};
