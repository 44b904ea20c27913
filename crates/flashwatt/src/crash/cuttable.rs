//! Devices whose power can be cut: a drive with an observer, alone or behind the block layer.

use super::witness::Witness;
use crate::config::Config;
use flashwatt_base::error::{Error, Fault};
use flashwatt_core::connector::{Device, OriginName};
use flashwatt_host::BlockLayer;
use flashwatt_ssd::drive::Ssd;

/// A device that a power cut can stop.
pub trait PoweredDevice: Device + Sized {
    /// Flash operations that have ended.
    fn ended(&self) -> u64;

    /// Flash operations that are under way.
    fn under_way(&self) -> u32;
}

/// A device with one drive in it, which a power cut leaves.
pub trait Cuttable: PoweredDevice {
    /// The device of a configuration, with this drive. `origins` names the processes.
    ///
    /// # Errors
    /// If the configuration describes another device.
    fn around(drive: Ssd<Witness>, config: &Config, origins: &[OriginName]) -> Result<Self, Error>;

    /// The drive.
    fn drive(&self) -> &Ssd<Witness>;

    /// Requests that the drive has not got; none of a drive without a block layer before it.
    fn held_requests(&self) -> Option<u32>;
}

impl PoweredDevice for Ssd<Witness> {
    fn ended(&self) -> u64 {
        self.flash.accounts.probe.ended
    }

    fn under_way(&self) -> u32 {
        Ssd::under_way(self).count() as u32
    }
}

impl PoweredDevice for BlockLayer<Ssd<Witness>> {
    fn ended(&self) -> u64 {
        self.device().ended()
    }

    fn under_way(&self) -> u32 {
        PoweredDevice::under_way(self.device())
    }
}

impl Cuttable for Ssd<Witness> {
    fn around(drive: Ssd<Witness>, config: &Config, _origins: &[OriginName]) -> Result<Self, Error> {
        if config.host.is_none() {
            return Ok(drive);
        }
        let fault = Fault::key("host", "a drive alone has no block layer before it").found("[host]");
        Err(fault.expected("no such table").into())
    }

    fn drive(&self) -> &Ssd<Witness> {
        self
    }

    fn held_requests(&self) -> Option<u32> {
        None
    }
}

impl Cuttable for BlockLayer<Ssd<Witness>> {
    fn around(drive: Ssd<Witness>, config: &Config, origins: &[OriginName]) -> Result<Self, Error> {
        let Some(host) = &config.host else {
            let fault = Fault::key("host", "there is no block layer").found("a configuration without [host]");
            return Err(fault.expected("[host]").into());
        };
        BlockLayer::new(host, config.logical_bytes(), origins, drive)
    }

    fn drive(&self) -> &Ssd<Witness> {
        self.device()
    }

    fn held_requests(&self) -> Option<u32> {
        Some(BlockLayer::held_requests(self))
    }
}
