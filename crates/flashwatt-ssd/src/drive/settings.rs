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
use flashwatt_base::units::Nanos;

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
    /// The cache of blocks in SLC mode, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<SlcCache>,
    /// Dispatch.
    pub controller: Controller,
    /// Currents and voltages.
    pub energy: Energy,
    /// What the drive writes to flash for its recovery from a power cut.
    #[serde(skip_serializing_if = "Recovery::is_none")]
    pub recovery: Recovery,
}

/// `[slc_cache]`, checked: blocks in SLC mode that take the host's data first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlcCache {
    /// Blocks of each die that are in SLC mode or free: the static part.
    pub static_blocks: u32,
    /// Whether free blocks are used in SLC mode besides.
    pub dynamic: bool,
    /// The most of them in each die; none: as many as are free.
    pub dynamic_blocks: Option<u32>,
    /// When data is moved to native blocks.
    pub fold: FoldWhen,
    /// Where the host's data goes when the cache is full.
    pub after: AfterFull,
    /// Whether folds stay on their die, without the bus.
    pub on_die: bool,
    /// Time without a request after which an idle drive folds, and from the end of a row that was folded to the next one, in ns.
    pub idle_start_ns: Nanos,
    /// See `idle_start_ns`.
    pub idle_gap_ns: Nanos,
}

/// When data is moved from SLC blocks to native ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoldWhen {
    /// As soon as there is an SLC block that is written to its end, below writes of the host.
    Eager,
    /// When the drive is idle.
    Idle,
    /// When the cache is full.
    Full,
}

/// Where the host's data goes when the cache is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AfterFull {
    /// To native blocks.
    Native,
    /// To the cache, when folds have made room.
    Through,
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
    /// Blocks of each die that the static part of an SLC cache takes.
    pub fn static_slc_blocks(&self) -> u32 {
        self.slc_cache.as_ref().map_or(0, |cache| cache.static_blocks)
    }

    /// The settings that the translation layer heeds besides its own.
    pub fn ftl_setup(&self) -> ftl::Setup<'_> {
        let DeviceTable { nand, block_stripe, cells, .. } = &self.device;
        let row_stripe = cells.as_ref().map_or(RowStripe::Page, |cells| cells.stripe);
        let slc_cache = self.slc_cache.as_ref();
        ftl::Setup { nand, block_stripe: *block_stripe, row_stripe, slc_cache, gc: &self.gc, wear: &self.wear }
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
