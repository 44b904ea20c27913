//! Settings of an SSD: those of its parts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cache::settings::WriteBuffer;
use crate::controller::settings::Controller;
use crate::energy::settings::Energy;
use crate::ftl;
use crate::gc::Gc;
use crate::nand::settings::{DeviceTable, RowStripe};
use crate::wear::Wear;

/// The settings of an SSD.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Organisation, timing, host link.
    pub device: DeviceTable,
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
    /// What the drive writes to flash for its recovery from a power cut.
    #[serde(skip_serializing_if = "Recovery::is_none")]
    pub recovery: Recovery,
}

/// What a drive writes to flash so that it comes back after a power cut as the host was promised.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recovery {
    /// Whether trims are recorded.
    pub trim_records: TrimRecords,
    /// Bytes programmed, for all causes, after which the map is written to flash again; none if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_interval_bytes: Option<u64>,
    /// Whether registers of dies keep a page of the map through a power cut.
    #[serde(skip_serializing_if = "DieRegisters::is_lost")]
    pub die_registers: DieRegisters,
    /// The portion of the map that the drive loads into its cached table after a power cut, 0 to 1.
    #[serde(skip_serializing_if = "is_zero")]
    pub map_load_fraction: f64,
}

fn is_zero(fraction: &f64) -> bool {
    *fraction == 0.0
}

/// Whether the register of a die keeps a page of the map through a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DieRegisters {
    /// It is lost, as all memory.
    #[default]
    Lost,
    /// It is kept: a page of the map whose program was cut is programmed when the power is back.
    Kept,
}

impl DieRegisters {
    fn is_lost(&self) -> bool {
        *self == DieRegisters::Lost
    }
}

/// Whether trims are recorded on flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrimRecords {
    /// They are not: after a power cut old data may be seen.
    #[default]
    None,
    /// In pages of records, each programmed when it is full, or when a flush asks for it.
    Page,
}

impl Recovery {
    /// Whether trims are recorded.
    pub fn records_trims(&self) -> bool {
        self.trim_records == TrimRecords::Page
    }

    /// Whether the drive has a recovery log.
    pub fn has_log(&self) -> bool {
        self.records_trims() || self.checkpoint_interval_bytes.is_some()
    }

    /// Units of a map of `logical_units` whose entries the drive loads after a power cut: the first ones.
    pub fn loaded_units(&self, logical_units: u64) -> u64 {
        match self.map_load_fraction {
            0.0 => 0,
            fraction => ((fraction * logical_units as f64).round() as u64).clamp(1, logical_units),
        }
    }

    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Settings {
    /// The settings that the translation layer heeds besides its own.
    pub fn ftl_setup(&self) -> ftl::Setup<'_> {
        let DeviceTable { nand, block_stripe, cells, .. } = &self.device;
        let row_stripe = cells.as_ref().map_or(RowStripe::Page, |cells| cells.stripe);
        ftl::Setup { nand, block_stripe: *block_stripe, row_stripe, gc: &self.gc, wear: &self.wear }
    }

    /// Bytes that one map entry of the translation layer covers.
    pub fn map_unit_bytes(&self) -> u32 {
        self.ftl.map_unit_bytes(self.device.page_bytes)
    }
}

/// The rules of a replay without a clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flashsim {
    /// What a write does with pages that it covers in part.
    pub partial_pages: PartialPages,
    /// Whether requests of one kind that continue one another are one request.
    pub merge_requests: bool,
    /// Sectors of 512 bytes between the start of the drive and the first address of the workload.
    pub offset_sectors: u64,
}

/// What a write does with pages that it covers in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialPages {
    /// It programs them without a look at what they held, as if it covered them.
    Outward,
    /// It reads them first, as the timed drive does.
    ReadModifyWrite,
}
