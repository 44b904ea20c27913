//! Settings of an SSD: those of its parts.

use serde::Serialize;

use crate::cache::settings::WriteBuffer;
use crate::controller::settings::Controller;
use crate::device::settings::Device;
use crate::energy::settings::Energy;
use crate::ftl;
use crate::gc::Gc;
use crate::wear::Wear;

/// The settings of an SSD.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Organisation, timing, host link.
    pub device: Device,
    /// The translation layer.
    pub ftl: ftl::Settings,
    /// Garbage collection.
    pub gc: Gc,
    /// Wear levelling.
    pub wear: Wear,
    /// The write buffer.
    pub write_buffer: WriteBuffer,
    /// Dispatch.
    pub controller: Controller,
    /// Currents and voltages.
    pub energy: Energy,
}

impl Settings {
    /// The settings that the translation layer heeds besides its own.
    pub fn ftl_setup(&self) -> ftl::Setup<'_> {
        let Device { nand, block_stripe, .. } = &self.device;
        ftl::Setup { nand, block_stripe: *block_stripe, gc: &self.gc, wear: &self.wear }
    }

    /// Bytes that one map entry of the translation layer covers.
    pub fn map_unit_bytes(&self) -> u32 {
        self.ftl.map_unit_bytes(self.device.page_bytes)
    }
}
