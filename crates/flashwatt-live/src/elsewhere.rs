//! Other systems than Linux: they open no real file or device, and read no power meter.
//!
//! O_DIRECT, io_uring and the files of hwmon and powercap are Linux's. The functions have the names that they have there, so that
//! callers compile everywhere.
#![cfg_attr(target_os = "linux", allow(dead_code))] // there only its test is compiled

use std::convert::Infallible;
use std::env::consts::OS;
use std::path::Path;
use std::time::Duration;

use crate::error::Error;
use crate::load::{Access, Engine, Load, Measured, Reading};

/// A real file or block device that is open: none can be.
#[derive(Debug)]
pub struct Target(Infallible);

impl Target {
    /// Refuses the file or device.
    ///
    /// # Errors
    /// Always.
    pub fn open(path: impl AsRef<Path>, _access: Access) -> Result<Self, Error> {
        Err(refused(path.as_ref()))
    }

    /// Size that was found at opening.
    pub fn size_bytes(&self) -> u64 {
        match self.0 {}
    }

    /// Offsets and lengths of requests are multiples of this.
    pub fn sector_bytes(&self) -> u64 {
        match self.0 {}
    }

    /// Whether it is a block device; else a regular file.
    pub fn is_device(&self) -> bool {
        match self.0 {}
    }

    /// How it was opened.
    pub fn access(&self) -> Access {
        match self.0 {}
    }

    /// How requests are sent.
    pub fn engine(&self) -> Engine {
        match self.0 {}
    }

    /// Waits until everything that was written is on the medium.
    ///
    /// # Errors
    /// If the system says so.
    pub fn flush(&self) -> Result<(), Error> {
        match self.0 {}
    }
}

/// Runs a load on a target: none can be open.
///
/// # Errors
/// If a request fails.
pub fn measure(target: &Target, _load: &Load, _go_on: &mut dyn FnMut(u64) -> bool) -> Result<Measured, Error> {
    match target.0 {}
}

/// A thread that reads a power meter: none can be started.
#[derive(Debug)]
pub struct Meter(Infallible);

impl Meter {
    /// Refuses the meter.
    ///
    /// # Errors
    /// Always.
    pub fn start(path: impl AsRef<Path>, _interval: Duration) -> Result<Self, Error> {
        Err(refused(path.as_ref()))
    }

    /// Stops; all readings.
    ///
    /// # Errors
    /// If a reading failed.
    pub fn stop(self) -> Result<Vec<Reading>, Error> {
        match self.0 {}
    }
}

fn refused(path: &Path) -> Error {
    let fault = format!("real files and devices are measured on Linux only; found {OS}; expected linux");
    Error::Refused { name: path.display().to_string(), fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_and_a_meter_are_refused_with_the_reason() {
        let said = format!("here: real files and devices are measured on Linux only; found {OS}; expected linux");
        assert_eq!(
            Target::open("here", Access::default()).map_err(|error| error.to_string()).err(),
            Some(said.clone())
        );
        assert_eq!(Meter::start("here", Duration::ZERO).map_err(|error| error.to_string()).err(), Some(said));
    }
}
