//! File systems: what every registered one must do, and each one's own rules through the whole drive.

mod conservation;
mod drive;
mod random;
