//! Settings of an SSD: those of its parts.

use crate::cache::settings::WriteBuffer;
use crate::controller::settings::Controller;
use crate::device::settings::Device;
use crate::energy::settings::Energy;
use crate::ftl;
use crate::gc::Gc;
use crate::wear::Wear;

/// The settings of a drive, each beside what it sets.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Organisation, timing, host link.
    pub device: &'a Device,
    /// The translation layer.
    pub ftl: &'a ftl::Settings,
    /// Garbage collection.
    pub gc: &'a Gc,
    /// Wear levelling.
    pub wear: &'a Wear,
    /// The write buffer.
    pub write_buffer: &'a WriteBuffer,
    /// Dispatch.
    pub controller: &'a Controller,
    /// Currents and voltages.
    pub energy: &'a Energy,
}

impl<'a> Settings<'a> {
    /// The settings that the translation layer heeds besides its own.
    pub fn ftl_setup(&self) -> ftl::Setup<'a> {
        let Device { nand, block_stripe, .. } = self.device;
        ftl::Setup { nand, block_stripe: *block_stripe, gc: self.gc, wear: self.wear }
    }

    /// Bytes that one map entry of the translation layer covers.
    pub fn map_unit_bytes(&self) -> u32 {
        self.ftl.map_unit_bytes(self.device.page_bytes)
    }
}
