//! Small drives for unit tests: the preset `limit` with another shape, made without a configuration.

use std::collections::BTreeMap;

use crate::controller;
use crate::controller::settings::{BusOrder, Controller};
use crate::ftl;
use crate::ftl::{Options, Setup};
use crate::gc::{self, Gc, GcPolicy};
use crate::nand::settings::{
    BlockStripe, Bus, DeviceTable, HostLink, Nand, ProgramOrder, ReadTransfer, RowStripe, Timing,
};
use crate::nand::{Geometry, Reserves};
use crate::wear::{self, Wear};
use flashwatt_base::settings::{Checker, KeySource, Node};

pub const PAGE_BYTES: u32 = 4096;

/// The size of a drive.
#[derive(Clone, Copy)]
pub struct Shape {
    pub channels: u32,
    pub ways: u32,
    pub blocks: u32,
    pub pages_per_block: u32,
    pub logical_bytes: u64,
}

/// 8 dies of 64 blocks with 16 pages each.
pub const SMALL: Shape = Shape { channels: 4, ways: 2, blocks: 64, pages_per_block: 16, logical_bytes: 24 << 20 };

/// The drive.
pub fn device(shape: Shape) -> DeviceTable {
    let Shape { channels, ways, blocks, pages_per_block, logical_bytes } = shape;
    let physical = u64::from(channels * ways * blocks * pages_per_block * PAGE_BYTES);
    let spare = (physical - logical_bytes) as f64;
    DeviceTable {
        preset: None,
        description: String::new(),
        channels,
        ways,
        planes: 1,
        blocks_per_plane: blocks,
        pages_per_block,
        page_bytes: PAGE_BYTES,
        logical_bytes,
        spare_fraction: spare / physical as f64,
        op_ratio: spare / logical_bytes as f64,
        asked_op_ratio: None,
        block_stripe: BlockStripe::Block,
        reserves: Reserves::default(),
        scale: None,
        plane_blocks: false,
        cells: None,
        timing: Timing {
            read_ns: 50_000,
            program_ns: 600_000,
            program_upper_ns: None,
            erase_ns: 3_500_000,
            command_ns: 400,
            page_transfer_ns: 3_413,
            channel_switch_ns: 0,
        },
        bus: Bus::default(),
        suspend: None,
        host_link: HostLink { bandwidth_mb_s: None, command_ns: 0, queue_depth: 32 },
        host_memory: None,
        firmware: None,
        nand: Nand {
            program_order: ProgramOrder::Ascending,
            copyback: false,
            rated_cycles: None,
            paired_pages: None,
            hold_ack_max_ns: None,
            spare_bytes: None,
        },
    }
}

/// Its geometry, with map units of a page.
pub fn geometry(shape: Shape) -> Geometry {
    Geometry::new(&device(shape), PAGE_BYTES)
}

/// Dispatch out of order, without a power budget.
pub fn controller() -> Controller {
    let policies = controller::policies::REGISTRY.iter();
    let policy = policies.into_iter().find(|entry| entry.name == "out_of_order").expect("it is registered");
    Controller { policy, bus_order: BusOrder::DataFirst, read_transfer: ReadTransfer::OnBus, power_budget: None }
}

/// A translation layer with its defaults.
pub fn ftl(name: &str) -> ftl::Settings {
    let options = ftl::REGISTRY.iter().find(|entry| entry.name == name).map(|entry| (entry.build)());
    let (tree, mut faults) = (Node::parse("", "test", KeySource::File).expect("an empty table"), Vec::new());
    let options: Options = options.expect("it is registered");
    let settings = options.resolve(&mut Checker::new(&tree, "test", &mut faults), PAGE_BYTES);
    assert!(faults.is_empty(), "defaults are valid");
    settings
}

/// What a translation layer heeds besides its own settings: greedy collection, no wear levelling.
pub struct Heeded {
    gc: Gc,
    wear: Wear,
    nand: Nand,
}

impl Heeded {
    pub fn new() -> Self {
        let policy = GcPolicy { entry: &gc::REGISTRY[0], parameters: BTreeMap::new() };
        Heeded {
            gc: Gc { policy, low_watermark_blocks: 3, reserved_blocks: 2, preemptible: true },
            wear: Wear { policy: &wear::REGISTRY[0], ratio: 1.0, min_gap: 1 },
            nand: device(SMALL).nand,
        }
    }

    /// The same under another victim policy, which has no parameters.
    pub fn with_policy(entry: &'static gc::Policy) -> Self {
        let mut heeded = Self::new();
        heeded.gc.policy = GcPolicy { entry, parameters: BTreeMap::new() };
        heeded
    }

    pub fn setup(&self) -> Setup<'_> {
        Setup {
            nand: &self.nand,
            block_stripe: BlockStripe::Block,
            row_stripe: RowStripe::Page,
            slc_cache: None,
            gc: &self.gc,
            wear: &self.wear,
        }
    }
}
