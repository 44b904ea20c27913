//! The configuration as the user writes it: one struct per table, every key optional, every unknown key an error.
//!
//! A preset is a file of the same shape; the user's file is laid over it key by key, `--set` over both, and what comes
//! out is turned into [`super::Config`] and validated there. Units stand last in every name: `_ns`, `_bytes`, `_ma`.

use std::fmt;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::de::{self, Deserializer, EnumAccess, SeqAccess, VariantAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::schema::names;
use super::{BusOrder, ChargedData, ReadTransfer};
use flashwatt_devices::hdd;
use flashwatt_ssd::cache::settings::Protection;
use flashwatt_ssd::drive::settings::PartialPages;
use flashwatt_ssd::drive::settings::{DieRegisters, TrimRecords};
use flashwatt_ssd::energy::settings::{DramRule, IdleAccounting};
use flashwatt_ssd::ftl;
use flashwatt_ssd::nand::settings::{BlockStripe, PairedPages, ProgramOrder};
use flashwatt_workload::settings::{Dispatched, LengthUnit, TimeUnit, TraceOrigin};

mod array;
mod cells;
mod chosen;
mod files;
mod host;
mod synthetic;

pub use array::{Array, Members};
pub use cells::{Bus, Cells, SlcCache, SlcTiming, Suspend};
pub use chosen::{Chosen, FileSystemKind, Kind, SchedulerKind, VictimPolicy};
pub use files::{AccessTimes, Aged, Files, PageCache, Processor, Scalar};
pub use host::Host;
use synthetic::NameSeed;
pub use synthetic::{Common, Fio, Sizes, Standin, Synthetic, Workload};

/// A whole configuration file.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Raw {
    /// The drive: organisation, timing, host link.
    pub device: Device,
    /// The translation layer: `ftl = "page"` or `[ftl.page]`.
    pub ftl: Option<ftl::Options>,
    /// Garbage collection.
    pub gc: Gc,
    /// Wear levelling.
    pub wear: Wear,
    /// The drive's write buffer.
    pub write_buffer: WriteBuffer,
    /// Blocks in SLC mode that take the host's data first. Without this table there are none.
    pub slc_cache: SlcCache,
    /// What the drive writes to flash for its recovery from a power cut.
    pub recovery: Recovery,
    /// Dispatch of flash operations.
    pub controller: Controller,
    /// Currents and voltages.
    pub energy: Energy,
    /// A hard disk. With this table the drive is one, and has no tables of an SSD.
    pub hdd: hdd::options::Options,
    /// Several drives as one. Without this table there is one drive.
    pub array: Array,
    /// The host's block layer. Without this table requests go straight to the drive.
    pub host: Host,
    /// The requests: `workload = "uniform"` or `[workload.uniform]`.
    pub workload: Option<Workload>,
    /// What is run and measured.
    pub run: Run,
}

/// `[device]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Device {
    /// The preset that everything else is laid over; `x25m` unless given.
    #[schemars(schema_with = "names::presets")]
    pub preset: Option<String>,
    /// One line about the drive.
    pub description: Option<String>,
    /// Channels (flash buses).
    pub channels: Option<u32>,
    /// Dies on each channel.
    pub ways: Option<u32>,
    /// Planes in a die. Without `plane_blocks` they are address space only, one operation per die at a time.
    pub planes: Option<u32>,
    /// Does a block of the translation layer span the planes of its die? Its pages are then `planes` · `pages_per_block`, those of a row
    /// are programmed at once on all planes, and an erase is one of all planes. `page`, `dftl`, `tpftl` and `rftl` have such blocks.
    pub plane_blocks: Option<bool>,
    /// Erase blocks in a plane. Two of this, `logical_bytes` and the over-provisioning determine the third.
    pub blocks_per_plane: Option<u32>,
    /// Pages in an erase block.
    pub pages_per_block: Option<u32>,
    /// Bytes in a page.
    pub page_bytes: Option<u32>,
    /// Bytes that the host sees; rounded down to whole pages.
    pub logical_bytes: Option<u64>,
    /// Over-provisioning as (physical − logical) / physical, 0 to below 1. Excludes `op_ratio`. Flash comes in blocks
    /// of every plane at a time, so a small drive has more than this.
    pub spare_fraction: Option<f64>,
    /// Over-provisioning (OP) as (physical − logical) / logical, ≥ 0. Excludes `spare_fraction`. Flash comes in blocks
    /// of every plane at a time, so a small drive has more than this.
    pub op_ratio: Option<f64>,
    /// How `bast`, `bast_star` and `nftl` lay logical pages out over the dies: `block` (a logical block holds consecutive pages)
    /// or `page` (consecutive pages go round the dies; a logical block holds every n-th page of n dies). EnergySim's Table VII
    /// has page stripes.
    pub block_stripe: Option<BlockStripe>,
    /// The drive with this share of its flash, above 0 to 1 (`"1/64"`). Channels, ways, planes, page size and the share of spare
    /// flash stay. Blocks become fewer, down to 256 in a die; then the pages of a block, down to 16. Write buffer and mapping
    /// table keep the sizes that are given for them.
    pub scale: Option<f64>,
    /// Timing of the flash array and its buses.
    pub timing: Timing,
    /// What goes over the buses of the flash, and what dies do meanwhile.
    pub bus: Bus,
    /// The host's link.
    pub host_link: HostLink,
    /// The time of the firmware.
    pub firmware: Firmware,
    /// The host's memory, where the cached part of the map lies.
    pub host_memory: HostMemory,
    /// Rules of the NAND.
    pub nand: Nand,
    /// Cells of several bits.
    pub cells: Cells,
    /// Programs and erases that stop for reads.
    pub suspend: Suspend,
}

/// `[device.timing]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Timing {
    /// Array time of a page read (tR).
    pub read_ns: Option<u64>,
    /// Array time of a page program (tPROG).
    pub program_ns: Option<u64>,
    /// The same for an upper page, as cells of two bits have: every other page of a block, from its second one on. At least
    /// `program_ns`, which it is unless given.
    pub program_upper_ns: Option<u64>,
    /// Array time of a block erase (tBERS).
    pub erase_ns: Option<u64>,
    /// Time on the bus to hand a command to a die.
    pub command_ns: Option<u64>,
    /// Time on the bus to move one page's data. It is the way switch delay as well.
    pub page_transfer_ns: Option<u64>,
    /// Least time between the starts of two page operations anywhere on the drive (channel switch delay).
    pub channel_switch_ns: Option<u64>,
}

/// `[device.firmware]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Firmware {
    /// Commands that the firmware works on at a time.
    pub cores: Option<u32>,
    /// How long each command takes one of the cores, first come, first served: a read, a write, a trim and a flush alike.
    ///
    /// A command comes to the firmware when it has crossed the host link, a write with its data, and is planned after it. So no more than
    /// `cores` commands in `command_ns` get through. The controller's current is drawn, as while any request is in the drive.
    pub command_ns: Option<u64>,
    /// What a read takes after that, for any number of reads at a time. Where this is less than `write_ns` a read may overtake a write that came
    /// before it.
    pub read_ns: Option<u64>,
    /// The same of a write. Trims and flushes take none of the two, and may overtake reads and writes.
    pub write_ns: Option<u64>,
}

/// `[device.host_memory]`
///
/// The cached part of a map that lies on flash (`ftl.dftl`, `ftl.tpftl`, `ftl.rftl`) is in memory of the host, as in NVMe's Host Memory
/// Buffer, and not in memory of the drive. A read, and a write of a part of a page on a drive without a write buffer, looks its entries up
/// there before its flash operations can begin; so does a look-up that then misses. All else that moves is posted, and nobody waits for it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostMemory {
    /// Time of a round trip to that memory, for any number of look-ups at a time. The time of their lines on the host link is beside it.
    pub read_ns: Option<u64>,
    /// Bytes of a line, which is what each read and each write of entries moves over the host link; 64 with a `read_ns` unless given. Entries
    /// lie there as in their translation page. 0: nothing is moved that takes time or energy.
    pub line_bytes: Option<u32>,
}

/// `[device.host_link]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostLink {
    /// Bandwidth in 10^6 bytes/s; leave out (or 0) for a link that takes no time.
    pub bandwidth_mb_s: Option<f64>,
    /// Time that each command takes on the link.
    pub command_ns: Option<u64>,
    /// Requests that the device accepts at a time (QD).
    pub queue_depth: Option<u32>,
}

/// `[device.nand]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Nand {
    /// In which order the pages of a block may be programmed: `ascending` (gaps allowed) or `any`.
    pub program_order: Option<ProgramOrder>,
    /// May a die copy a page within itself without the bus?
    pub copyback: Option<bool>,
    /// Program/erase cycles that a block endures by its data sheet. The report's `lifetime` follows from it; nothing
    /// else does, and no block fails. Without it there is no lifetime.
    pub rated_cycles: Option<u32>,
    /// Multi-level cells, which hold a lower and an upper page: `unprotected`, `backup` or `hold_ack`. Without it each page has
    /// cells of its own.
    ///
    /// A power cut during the program of an upper page spoils the lower one, too. Page 2k+1 of a block is the upper page of page
    /// 2k, as for `device.timing.program_upper_ns`. `unprotected` is heeded by power cuts alone. With `backup` the drive copies a
    /// lower page in which something counts to one of three blocks that it keeps on each die, before it programs the upper page. With
    /// `hold_ack` it acknowledges a write to a lower page when the upper page is programmed as well, and copies the lower page only if
    /// it could not wait (`hold_ack_max_ns`).
    pub paired_pages: Option<PairedPages>,
    /// Longest time for which `paired_pages = "hold_ack"` holds the acknowledgement of a write.
    pub hold_ack_max_ns: Option<u64>,
    /// Bytes of a page's spare area that the error correction leaves. Without it there are as many as a recovery needs.
    ///
    /// A recovery needs an owner (4 bytes) and a version (8) of each map unit of the page, and the number of the page's program
    /// (8). Power cuts alone heed it.
    pub spare_bytes: Option<u32>,
}

/// `[gc]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gc {
    /// Victim choice: a name, or a table `[gc.policy.NAME]` with its parameters.
    pub policy: Option<Chosen<VictimPolicy>>,
    /// Collection starts when a die has fewer free blocks than this.
    pub low_watermark_blocks: Option<u32>,
    /// The same as a share of the die's blocks; the greater of the two holds.
    pub low_watermark_fraction: Option<f64>,
    /// The last free blocks of a die, which the host may not take.
    pub reserved_blocks: Option<u32>,
    /// May host operations go between the steps of a collection?
    pub preemptible: Option<bool>,
}

/// `[wear]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wear {
    /// Wear levelling: `none`, `dynamic` or `static_swap`.
    #[schemars(schema_with = "names::wear")]
    pub policy: Option<String>,
    /// `static_swap`: a victim worn more than this times the mean is swapped with the coldest block …
    pub ratio: Option<f64>,
    /// … if it is also worn this many erases more than the mean.
    pub min_gap: Option<u32>,
}

/// `[write_buffer]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WriteBuffer {
    /// Size in bytes; 0 for none.
    ///
    /// With a buffer a write is acknowledged when all its data is in it, a forced one (FUA) when it is on flash, a flush when
    /// all that was there is. An entry holds one map unit and serves reads until its program ends. A full buffer delays
    /// acknowledgements, first come, first served. What is in the buffer leaves oldest first; with map units smaller than a
    /// page as many as fit share one program. At most two programs for each die are under way.
    pub bytes: Option<u64>,
    /// While what waits in the buffer takes this share of its size, and at least a flash page, it is written to flash.
    pub destage_fraction: Option<f64>,
    /// When no request has been in the drive for so long, in ns, all that waits in the buffer is written to flash; as it is
    /// after the last request.
    pub idle_ns: Option<u64>,
    /// What becomes of the content at a power cut: `volatile` (lost), `capacitors` or `journal`.
    ///
    /// Capacitors hold the drive until operations under way have ended and the buffer's content is in blocks kept for it. So what
    /// is in the buffer counts as on flash: a flush and a forced write (FUA) wait for nothing. The blocks are kept in runs with
    /// power cuts alone.
    ///
    /// With a journal the data of each write is appended to blocks kept for that, too, in all runs. The write is acknowledged when it
    /// is there, or in its place. Small writes share a page of the journal.
    pub protection: Option<Protection>,
    /// Voltage to which the capacitors are charged, in V. Default: that at which the drive's current is stated
    /// (`current_ma.supply_v` in the report).
    pub capacitor_max_v: Option<f64>,
    /// Voltage of the capacitors at which the drive stops, in V. Default 2.7: below it flash for 3.3 V need not work (ONFI 2.3,
    /// recommended operating conditions).
    pub capacitor_min_v: Option<f64>,
    /// Longest time in ns for which a page of the journal waits for more writes to share it. Default 100,000: a sixth of the
    /// program of a fast page. 0: what comes at one instant shares a page.
    pub journal_max_ns: Option<u64>,
}

/// `[recovery]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Recovery {
    /// Whether trims are recorded on flash: `none` or `page`.
    ///
    /// With `page` a trim is durable when a flush has completed that came after it. Records are 16 bytes; a page of them is programmed
    /// when it is full, or when a flush waits for it. They lie in blocks of their own, in all runs, and cost programs and erases.
    /// Without it old data of a trimmed page may be seen after a power cut.
    pub trim_records: Option<TrimRecords>,
    /// Bytes programmed, for all causes, after which the drive writes a checkpoint of its map. Without it there are none.
    ///
    /// A recovery then reads the checkpoint and the spare area of one page of each block, and scans only what was
    /// programmed since. A checkpoint takes the bytes of the layer's tables and 4 bytes for each block. The first one is written when
    /// the run begins. Of a demand-paged layer it holds the directory and the entries that the map on flash does not have; a recovery
    /// reads that map.
    pub checkpoint_interval_bytes: Option<u64>,
    /// Whether the register of a die keeps a page of the map through a power cut: `lost` or `kept`.
    ///
    /// A program brings its page into the register first. If the power goes while the array works, the page on flash is torn. With `kept` the
    /// recovery reads what the register holds, and programs it elsewhere on the die: the write of the map goes on, and the page is not
    /// written anew from what a scan finds. That takes checkpoints of a demand-paged layer, as without them the whole map is written anew.
    /// Power cuts alone heed it.
    pub die_registers: Option<DieRegisters>,
    /// The portion of the map that the drive loads into its cached table after a power cut, 0 to 1; 0 unless given.
    ///
    /// When the map on flash is as it should be, the drive reads the first pages of it, on all dies at once, and then serves requests. Of a
    /// demand-paged layer; the table must have room for these entries. Power cuts alone heed it.
    pub map_load_fraction: Option<f64>,
}

/// `[controller]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Controller {
    /// Order of operations on a die: `in_order`, `reads_first` or `out_of_order`.
    #[schemars(schema_with = "names::dispatch")]
    pub policy: Option<String>,
    /// What a free channel carries first when data waits to move out of one die and an operation could start on another:
    /// `data_first` or `command_first`.
    ///
    /// With `data_first` the dies of a channel run in lock-step when all of them have reads to do: all data moves out, then all
    /// commands go in, and the bus is idle while the dies read. With `command_first` the command of a read or an erase goes
    /// ahead of waiting data, so that saturated reads come close to what the dies or the bus allow.
    pub bus_order: Option<BusOrder>,
    /// Whether the data of a read takes its channel: `on_bus` or `free`.
    ///
    /// With `on_bus` the data waits for the channel and holds it for `device.timing.page_transfer_ns`, as on every real drive. With
    /// `free` a read, of a copy as well, ends as soon as the page is in the die's register: its data takes no time, and the channel
    /// stays free for commands and for the data of programs. The published simulator of the `energysim` preset reckons so. The energy
    /// of moving the data is charged as before where it is counted by bytes or pages (`energy.host_interface`); a die spends no time
    /// in the state `read_transfer` then, but for the command.
    pub read_transfer: Option<ReadTransfer>,
    /// Limit on the drive's current: no operation starts that would exceed it.
    ///
    /// With the drive's base (active controller and DRAM, host interface, all dies idle) and what one operation draws more
    /// than an idle die, that is ⌊(budget − base) / operation⌋. The oldest of the operations that could start comes first.
    /// The current is the drive's power over its supply voltage (`current_ma.supply_v` in the report): `energy.terminal_v`, or
    /// in `component` mode the highest voltage of a part that draws something.
    pub power_budget_ma: Option<f64>,
    /// As `power_budget_ma`, for the drive's power in W; one of the two at most.
    pub power_budget_w: Option<f64>,
}

/// `[energy]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Energy {
    /// `component` (each part at its own voltage) or `terminal` (the drive's whole current at `terminal_v`).
    pub mode: Option<EnergyMode>,
    /// Supply voltage for `terminal`.
    pub terminal_v: Option<f64>,
    /// Which idle accounting the totals use: `always_on`, `flash_off`, `busy_only` (idle power while a die works in its
    /// array) or `busy_or_loading` (also while one is loaded). All four are reported.
    pub idle_accounting: Option<IdleAccounting>,
    /// When DRAM draws its active current: `with_controller` or `per_op`.
    pub dram_rule: Option<DramRule>,
    /// The flash controller.
    pub controller: Part,
    /// The DRAM.
    pub dram: Dram,
    /// A flash die.
    pub nand: NandEnergy,
    /// The host interface.
    pub host_interface: HostInterface,
    /// The host's memory, as far as the drive's map lies there (`device.host_memory`).
    pub host_memory: HostMemoryEnergy,
}

/// How currents become power.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergyMode {
    /// Each part at its own voltage.
    Component,
    /// Everything at `terminal_v`.
    Terminal,
}

/// `[energy.controller]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Part {
    /// Current while active.
    pub active_ma: Option<f64>,
    /// Current while idle.
    pub idle_ma: Option<f64>,
    /// Supply voltage.
    pub volts: Option<f64>,
}

/// `[energy.dram]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dram {
    /// Current while active.
    pub active_ma: Option<f64>,
    /// Current while idle.
    pub idle_ma: Option<f64>,
    /// Supply voltage.
    pub volts: Option<f64>,
    /// Time of one map lookup or update.
    pub map_access_ns: Option<u64>,
    /// Rate at which page data passes through it, in 10^6 bytes/s; 0 for data that does not.
    pub data_mb_s: Option<f64>,
}

/// `[energy.nand]`, per die
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NandEnergy {
    /// Current while a page is read from the array.
    pub read_ma: Option<f64>,
    /// Current while a page is programmed.
    pub program_ma: Option<f64>,
    /// Current while a block is erased.
    pub erase_ma: Option<f64>,
    /// Current while data moves over the bus: a number, or `"operation"` for the current of the operation it belongs to.
    pub transfer_ma: Option<TransferCurrent>,
    /// How long moving a page's data is charged for, however long it takes: what `transfer_ma` is more than `idle_ma`, for so
    /// long. On a bus that is faster or slower than that the current is accordingly higher or lower; it is never below that of an
    /// idle die. `device.timing.page_transfer_ns` unless given.
    pub transfer_ns: Option<u64>,
    /// Current while a page is programmed in single-level mode. `program_ma` unless given. A transfer at the current `"operation"` draws
    /// `program_ma` in this mode as well.
    pub slc_program_ma: Option<f64>,
    /// Current of each further plane that reads in the same operation, in addition to `read_ma`. Data sheets give one figure for the die,
    /// however many planes work: hence 0 unless given.
    pub extra_plane_read_ma: Option<f64>,
    /// Current of each further plane that programs in the same operation, in addition to `program_ma`; 0 unless given.
    pub extra_plane_program_ma: Option<f64>,
    /// Current of each further plane that erases in the same operation, in addition to `erase_ma`; 0 unless given.
    pub extra_plane_erase_ma: Option<f64>,
    /// Current of each further plane that programs in single-level mode in the same operation, in addition to `slc_program_ma`.
    /// `extra_plane_program_ma` unless given.
    pub slc_extra_plane_program_ma: Option<f64>,
    /// Current otherwise.
    pub idle_ma: Option<f64>,
    /// Supply voltage.
    pub volts: Option<f64>,
}

/// A current, or the word `operation`.
#[derive(Clone, Copy, Debug)]
pub enum TransferCurrent {
    /// In mA.
    Ma(f64),
    /// `"operation"`: that of the operation the transfer belongs to.
    Operation,
}

impl<'de> Deserialize<'de> for TransferCurrent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TransferCurrentVisitor)
    }
}

struct TransferCurrentVisitor;

impl Visitor<'_> for TransferCurrentVisitor {
    type Value = TransferCurrent;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a current in mA, or \"operation\"")
    }

    fn visit_f64<E: de::Error>(self, ma: f64) -> Result<TransferCurrent, E> {
        Ok(TransferCurrent::Ma(ma))
    }

    fn visit_u64<E: de::Error>(self, ma: u64) -> Result<TransferCurrent, E> {
        Ok(TransferCurrent::Ma(ma as f64))
    }

    fn visit_i64<E: de::Error>(self, ma: i64) -> Result<TransferCurrent, E> {
        Ok(TransferCurrent::Ma(ma as f64))
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<TransferCurrent, E> {
        match word {
            "operation" => Ok(TransferCurrent::Operation),
            _ if word.starts_with(|first: char| first.is_ascii_digit()) => {
                Err(E::invalid_type(de::Unexpected::Str(word), &self))
            }
            _ => Err(E::unknown_variant(word, &["operation"])),
        }
    }
}

/// `[energy.host_interface]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostInterface {
    /// Current while data moves.
    pub active_ma: Option<f64>,
    /// Supply voltage.
    pub volts: Option<f64>,
    /// Rate that the time of a transfer is reckoned by, in 10^6 bytes/s (also where the link takes no simulated time).
    pub bandwidth_mb_s: Option<f64>,
    /// The data that is charged for: `host_bytes` or `flash_pages`.
    ///
    /// With `host_bytes` the bytes of requests, when they enter the drive. With `flash_pages` the pages that cross a flash bus, whatever
    /// they are read or programmed for (requests, collection, merges, the map), when the operation starts; a copyback and a read of a
    /// spare area move no page over a bus. Either way the report has the energy as `energy_j.host_interface`.
    pub charged_data: Option<ChargedData>,
}

/// `[energy.host_memory]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostMemoryEnergy {
    /// Energy of a bit that the drive reads there or writes there, in pJ. It is the host's: `host_memory.energy_j` has it, and no figure of
    /// the drive does.
    pub pj_per_bit: Option<f64>,
}

/// `[workload.trace]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Trace {
    /// The file, or a list of files that are merged by their times; relative to the configuration file that names it. gzip and
    /// zstd are unpacked on the way.
    pub path: Option<Paths>,
    /// Their format (or `format:event`); recognised by the first records of each unless given. With `[host]` an event at
    /// submission stands for a request if there is one and none is named.
    #[schemars(schema_with = "names::formats")]
    pub format: Option<String>,
    /// What the time column counts; as the format's definition says unless given. Text formats only.
    pub time_unit: Option<TimeUnit>,
    /// What the offset column counts; as the format's definition says unless given. Text formats only.
    pub offset_unit: Option<LengthUnit>,
    /// What the size column counts; as the format's definition says unless given. Text formats only.
    pub size_unit: Option<LengthUnit>,
    /// Keep only the requests to these devices of the trace.
    pub devices: Option<Vec<u64>>,
    /// Of several files: equal device numbers are the same device. Else each file has devices of its own.
    pub share_devices: Option<bool>,
    /// The first record of each file is at time 0. Else their times are compared as they are.
    pub align_starts: Option<bool>,
    /// Leave out (and count) records earlier than this time in seconds after the first record.
    pub from_s: Option<f64>,
    /// Leave out (and count) what comes as many seconds or more after the first record.
    pub until_s: Option<f64>,
    /// Addresses beyond the drive are taken modulo its size (counted).
    pub fold: Option<bool>,
    /// Requests beyond the drive are cut at its end or left out (counted).
    pub clip: Option<bool>,
    /// Records that cannot be read are left out (counted).
    pub skip_bad: Option<bool>,
    /// Put the records of each file in the order of their times (counted). A record may stand up to 2^20 records behind its
    /// place; of several files each has its share of that, 2^16 at least.
    pub sort: Option<bool>,
    /// Times are divided by this: 2 replays twice as fast.
    pub speed: Option<f64>,
    /// Addresses on each device are multiplied by this, in steps of 1 MiB so that sequential requests stay sequential; sizes stay.
    pub space_scale: Option<f64>,
    /// Ignore the times and issue each request as soon as the device has a free slot. Unless given, `true` for a trace whose times
    /// are all the same, else `false`.
    pub closed_loop: Option<bool>,
    /// Count the gap between two requests from the end of the first one: a request comes its gap after the one before has ended, one at a
    /// time. The times of the trace are then those of a clock that stands still while a request is served.
    pub think_times: Option<bool>,
    /// Cut each gap between two records of a file that is longer than this in seconds, down to this. Where the clock goes back by
    /// more than this, it goes on from the latest time (counted).
    pub max_gap_s: Option<f64>,
    /// Stop after this number of requests; with `repeat`, of each pass.
    pub max_requests: Option<u64>,
    /// Leave no gaps between the addresses that are touched: units of 16 KiB, in the order of devices and addresses, so that
    /// sequential requests stay sequential. The drive need only be as large as the addresses touched.
    pub dense: Option<bool>,
    /// Replay it this many times, one pass after another.
    pub repeat: Option<u32>,
    /// Time from the last arrival of a pass to the first of the next; the trace's mean time between arrivals unless given.
    pub repeat_gap_ns: Option<u64>,
    /// What the figures by origin tell apart: `device` or `process`. The default is `process` for a trace of one device that
    /// names processes, else `device`.
    pub origin: Option<TraceOrigin>,
    /// With `[host]`: a stream that was logged behind a scheduler is merged and ordered already. `refuse` (unless given) makes it an
    /// error, `accept` a warning.
    pub dispatched: Option<Dispatched>,
}

/// One file name or a list of them.
#[derive(Clone, Debug, Default)]
pub struct Paths(pub Vec<String>);

impl<'de> Deserialize<'de> for Paths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PathsVisitor)
    }
}

struct PathsVisitor;

impl<'de> Visitor<'de> for PathsVisitor {
    type Value = Paths;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a file name or a list of file names")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Paths, E> {
        Ok(Paths(vec![name.to_string()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Paths, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = list.next_element()? {
            names.push(name);
        }
        Ok(Paths(names))
    }
}

/// `[run]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Seed of every random draw.
    pub seed: Option<u64>,
    /// The drive's state at the start: `filled`, `empty`, `mapped`, `steady`, `image`, a workload (`[run.precondition.uniform]`), or a
    /// drive that `flashwatt age` has saved (`{ snapshot = "aged.fw" }`).
    pub precondition: Option<Precondition>,
    /// What runs before the counters start.
    pub warmup: Span,
    /// What is measured; everything unless given.
    pub measure: Measure,
    /// Does the window end when the drain does? Then every figure covers the work that goes on after the last request, too.
    pub count_drain: Option<bool>,
    /// How the drive takes the requests: `timed`, or `flashsim` (without a clock, by the rules of `[run.replay.flashsim]`).
    pub replay: Option<Replay>,
    /// A run that takes more page reads, page programs and block erases than this, warm-up and drain included, ends there,
    /// keeps what was measured, and says so in its status; unless given, none does.
    pub max_flash_ops: Option<u64>,
    /// Power cuts of copies of the drive, whose recoveries the report sums up. Without this table there are none.
    pub power_cuts: PowerCuts,
}

/// `[run.power_cuts]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PowerCuts {
    /// The number of cuts at random times, uniform over the run; the seed of the run draws them. One of this, `at_ns` and `at_operation` at
    /// most.
    pub cuts: Option<u32>,
    /// A cut at each of these simulated times, from the start of the run.
    pub at_ns: Option<Vec<u64>>,
    /// A cut each time that one of these numbers of flash operations has ended.
    pub at_operation: Option<Vec<u64>>,
    /// Cut the power again during each recovery, at a time uniform over it.
    pub twice: Option<bool>,
    /// Draw the random times from those alone at which a flash operation is under way: uniform over that time. None falls into idle time
    /// then.
    pub while_busy: Option<bool>,
}

/// How the drive takes the requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// `replay = "timed"`
    Timed,
    /// `[run.replay.flashsim]`
    Flashsim(Flashsim),
}

/// `[run.replay.flashsim]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Flashsim {
    /// What a write does with pages that it covers in part: `outward` (it programs them whole, and reads nothing) or
    /// `read_modify_write`.
    pub partial_pages: Option<PartialPages>,
    /// Whether requests of one kind that continue one another are one request. FlashSim takes each by itself: pages that two of
    /// them share are programmed twice.
    pub merge_requests: Option<bool>,
    /// Sectors of 512 bytes between the start of the drive and the first address of the workload: 63 for the first partition of an
    /// old disk label. A stream of `--dispatch-log` has its offset already.
    pub offset_sectors: Option<u64>,
}

/// A start state by name, or a workload that runs first without a clock.
#[derive(Clone, Debug)]
pub enum Precondition {
    /// `precondition = "filled"`
    Filled,
    /// `precondition = "empty"`
    Empty,
    /// `precondition = "mapped"`
    Mapped,
    /// `precondition = "steady"`
    Steady,
    /// `precondition = "image"`
    Image,
    /// `precondition = { snapshot = "FILE" }`
    Snapshot(String),
    /// `[run.precondition.NAME]` of any workload.
    Workload(Box<Workload>),
}

impl Precondition {
    pub(super) const STATES: [&str; 5] = ["filled", "empty", "mapped", "steady", "image"];
    pub(super) const SNAPSHOT: &str = "snapshot";

    fn names() -> &'static [&'static str] {
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
            let own = Precondition::STATES.into_iter().chain([Precondition::SNAPSHOT]);
            own.chain(Workload::names().iter().copied()).collect()
        });
        &NAMES
    }
}

impl<'de> Deserialize<'de> for Precondition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("Precondition", Self::names(), PreconditionVisitor)
    }
}

struct PreconditionVisitor;

impl<'de> Visitor<'de> for PreconditionVisitor {
    type Value = Precondition;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the name of a start state, a snapshot, or one table [run.precondition.NAME] of a workload")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Precondition, A::Error> {
        let (name, content) = data.variant_seed(NameSeed(Precondition::names()))?;
        let state = match name.0.as_str() {
            "filled" => Precondition::Filled,
            "empty" => Precondition::Empty,
            "mapped" => Precondition::Mapped,
            "steady" => Precondition::Steady,
            "image" => Precondition::Image,
            Precondition::SNAPSHOT => {
                return content.newtype_variant().map(|SnapshotFile(path)| Precondition::Snapshot(path));
            }
            name => {
                let workload =
                    Workload::variant(name, content)?.map(|workload| Precondition::Workload(Box::new(workload)));
                return workload.ok_or_else(|| de::Error::unknown_variant(name, Precondition::names()));
            }
        };
        content.unit_variant().map(|()| state)
    }
}

/// The name of a snapshot's file.
struct SnapshotFile(String);

impl<'de> Deserialize<'de> for SnapshotFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SnapshotVisitor)
    }
}

struct SnapshotVisitor;

impl<'de> Visitor<'de> for SnapshotVisitor {
    type Value = SnapshotFile;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the name of a file")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<SnapshotFile, E> {
        Ok(SnapshotFile(name.to_string()))
    }

    /// The word alone stands for an empty table.
    fn visit_map<A: de::MapAccess<'de>>(self, _table: A) -> Result<SnapshotFile, A::Error> {
        Err(de::Error::invalid_value(de::Unexpected::Other("no file"), &"precondition = { snapshot = \"FILE\" }"))
    }
}

/// A number of requests or of simulated seconds, whichever is reached first.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Span {
    /// Requests.
    pub requests: Option<u64>,
    /// Simulated seconds.
    pub seconds: Option<f64>,
}

/// `[run.measure]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Requests; at most, with `precision`.
    pub requests: Option<u64>,
    /// Simulated seconds; at most, with `precision`.
    pub seconds: Option<f64>,
    /// End the run when its figures are known. Without this table it ends with the workload, or after `requests` or `seconds`.
    pub precision: Precision,
}

/// `[run.measure.precision]`
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Precision {
    /// How well each figure is to be known: half the width of its confidence interval, as a share of the figure (`"2%"`).
    pub relative_error: Option<f64>,
    /// The figures, by their keys in a report: of `throughput`, `latency_ns`, `efficiency` and `power_w`, and `flash.write_amplification`.
    pub figures: Option<Vec<String>>,
    /// Share of all runs, each with another seed, whose interval holds the figure of an endless run.
    pub confidence: Option<f64>,
    /// Requests that are measured at least.
    pub least_requests: Option<u64>,
}
