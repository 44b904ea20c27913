//! Recorded traces.
