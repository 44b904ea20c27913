"""The sections of a report: one class for each table of report.json, with the same names.

Units stand last in every name; a mean, a share or a quantile of nothing is None. A figure with a default is one that
reports of older versions lack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Workload:
    """Requests of the host in the measured window."""

    name: str
    """Name of the model, the stand-in, the job or program, or the files of a trace."""
    kind: str
    """`trace`, `standin`, `synthetic` or `filesystem`."""
    input_sha256: str | None
    """SHA-256 of the files that were read; None without one."""
    requests: int
    """Requests that completed."""
    reads: int
    """Of them, reads."""
    writes: int
    """Of them, writes."""
    trims: int
    """Of them, trims."""
    flushes: int
    """Of them, flushes."""
    read_bytes: int
    """Bytes that the reads asked for."""
    write_bytes: int
    """Bytes of the writes."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The snapshot that the drive was restored from (`run.precondition.snapshot`); null without one."""

    file: str
    """The base name of the file."""
    sha256: str
    """SHA-256 of the file."""
    engine: str
    """The version of FlashWatt that saved it."""
    seed: int
    """The seed that it was prepared with."""


@dataclass(frozen=True, slots=True)
class Replay:
    """Figures of a run without a clock (`run.replay`); null for others. Its figures of time, rate, power and energy are
    null, and asking a `Report` for their sections is an error."""

    rules: str
    """The rules, by their name."""
    write_bytes_mean: float | None
    """Mean length of a write."""
    pages_per_4_kib: float | None
    """Pages that the host's writes programmed per 4 KiB of them."""
    copies: int
    """Pages programmed to move data: by collection, merges and wear levelling."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """The rebuild of a failed member onto a spare."""

    member: int
    """The member that had failed."""
    rebuilt_bytes: int
    """Bytes written to the spare in the window."""
    rebuilt_fraction: float
    """Share of the member that the spare holds at the end of the run."""
    ended_s: float | None
    """Simulated seconds from the start of the run to the end of the rebuild; None if it did not end."""


@dataclass(frozen=True, slots=True)
class ArrayLifetime:
    """How long an array of new SSDs lasts if the measured window repeats without a pause and no member is replaced.

    A member counts as worn out when its mean block has its rated cycles (`lifetime.mean_wear` of the member)."""

    first_member: int | None
    """The first member to wear out. None if no member wears, or if the rated cycles of one are not known."""
    first_years: float | None
    """Years until that."""
    data_loss_years: float | None
    """Years until so many members are worn out that data is lost: the first of `raid0`, the second of `raid5`, the last
    of `raid1`, both of a pair of `raid10`. None if that never comes, or is not known."""
    member_years: list[float | None]
    """Years of each member. None for one that does not wear, that has failed, or whose rated cycles are not known."""
    reason: str | None
    """The reason why a figure is None."""


@dataclass(frozen=True, slots=True)
class Array:
    """An array of drives. Its counts are those of the window."""

    level: str
    """How data is laid out: `raid0`, `raid1` and so on."""
    members: int
    """Number of members, with that which has failed."""
    chunk_bytes: int
    """Bytes of a chunk."""
    logical_bytes: int
    """Bytes that the host sees."""
    member_reads: int
    """Reads given to members: for the host, to compute parity, and for a rebuild."""
    member_writes: int
    """Writes given to members: of data, copies and parity, and those of a rebuild."""
    rows_read_first: int
    """Rows written after something in them was read, to compute parity."""
    rows_written_whole: int
    """Rows written without a read."""
    reconstructed: int
    """Parts of chunks of the failed member that were computed from the others."""
    row_waits: int
    """Times that work on a row had to wait for other work on it."""
    rebuild: Rebuild | None
    """None without a spare."""
    lifetime: ArrayLifetime | None
    """None if a member is no SSD."""


@dataclass(frozen=True, slots=True)
class Supplies:
    """Energy in J from each supply of a disk."""

    v5: float
    """Energy in J from the +5 V supply."""
    v12: float
    """Energy in J from the +12 V supply."""


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone of a disk, and the bytes that passed its heads in the window."""

    cylinders: int
    """Number of its cylinders."""
    sectors_per_track: int
    """Sectors on each of its tracks."""
    read_bytes: int
    """Also those that were read ahead."""
    write_bytes: int
    """Bytes written in it."""


@dataclass(frozen=True, slots=True)
class Hdd:
    """A hard disk. Its counts are those of the window."""

    state_s: dict[str, float]
    """Seconds of each part in each of its states, such as `arm_seeking`; transfers that overlap count one by one."""
    energy_by_supply_j: Supplies
    """Energy in J from each supply."""
    accesses: int
    """Runs of sectors on one track that were read or written."""
    seeks: int
    """Movements of the arm to another cylinder."""
    seek_cylinders: int
    """Cylinders that all seeks crossed."""
    seek_cylinders_mean: float | None
    """Mean distance of a seek in cylinders; None without one."""
    seek_ns: int
    """Time of all seeks in ns, that of settling included."""
    seek_ns_mean: float | None
    """Mean time of a seek in ns, that of settling included; None without one."""
    head_switches: int
    """Switches to another head of the same cylinder."""
    rotational_waits: int
    """Accesses that waited for the platters to turn to their first sector."""
    rotational_wait_ns: int
    """Time of these waits in ns."""
    read_hits: int
    """Reads served from the track buffer or the write-back cache without the medium."""
    partial_read_hits: int
    """Reads whose beginning was in the buffer, or came with sectors that were being read ahead."""
    read_misses: int
    """Reads that began on the medium."""
    media_read_bytes: int
    """Bytes read for the host; `read_ahead_bytes` are the others."""
    read_ahead_bytes: int
    """Bytes read ahead."""
    media_write_bytes: int
    """Bytes written to the medium."""
    destages: int
    """Accesses that wrote sectors of the write-back cache."""
    overwritten_sectors: int
    """Sectors that were written again while they waited in the cache."""
    writes_that_waited: int
    """Writes that waited for room in the cache."""
    overdue: int
    """Accesses that came first because of their age."""
    spin_downs: int
    """Times that the spindle was stopped."""
    spin_ups: int
    """Times that the spindle was brought to speed."""
    trims: int
    """Trims, which a disk ends without doing anything."""
    zones: list[Zone]
    """From the outermost one on."""


@dataclass(frozen=True, slots=True)
class Window:
    """The measured window, the warm-up before it and the drain after it."""

    warmup: int
    """Requests that completed before the counters started."""
    measured: int
    """Requests that completed in the window."""
    drain_s: float | None
    """Simulated seconds of the drain; None without a clock."""
    drained: int
    """Requests that completed in the drain."""
    drain_counted: bool
    """Whether the drain belongs to the window (`run.count_drain`); then all other sections cover both."""
    drain_energy_j: float | None
    """Energy of the drain; None without a clock."""
    flash_ops: int | None
    """Pages read and programmed and blocks erased in the whole run: warm-up, window and drain. None in reports of
    schema 1."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Times of requests in ns, unless said otherwise from arrival to completion. Quantiles are at most 0.8 % above the
    exact ones."""

    count: int
    """Requests."""
    mean: float | None
    """Their mean. None without requests, as the other figures."""
    min: int | None
    """The least."""
    max: int | None
    """The greatest."""
    p50: int | None
    """The median."""
    p95: int | None
    """At most this much for 95 % of them."""
    p99: int | None
    """At most this much for 99 % of them."""
    p99_9: int | None
    """At most this much for 99.9 % of them."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """Latencies of all requests, of reads, of writes, of flushes."""

    all: Latency
    read: Latency
    write: Latency
    flush: Latency | None = None
    """Of flushes, from arrival to completion (fio's sync latency). None if none completed."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The requests of one sender."""

    name: str
    """Of a job, of a device or a file of a trace, or its number."""
    kind: str
    """`job`, `device`, `file`, `process`, `number`, or `others` for all that have no figures of their own."""
    requests: int
    """Requests that completed."""
    reads: int
    """Of them, reads."""
    writes: int
    """Of them, writes."""
    trims: int
    """Of them, trims."""
    flushes: int
    """Of them, flushes."""
    read_bytes: int
    """Bytes that the reads asked for."""
    write_bytes: int
    """Bytes of the writes."""
    bytes_share: float | None
    """Its part of all bytes read and written."""
    latency_ns: Latencies
    number: int | None = None
    """Its number in the request log; None for `others`."""
    start_ns: int | None = None
    """Arrival of its first request that completed in the window, in simulated ns from the start of the run."""
    end_ns: int | None = None
    """Completion of its last request in the window."""
    iops: float | None = None
    """Its requests / `throughput.simulated_s`; those of all origins add up to `throughput.iops`."""
    read_mb_s: float | None = None
    """10^6 bytes that it read / `throughput.simulated_s`."""
    write_mb_s: float | None = None
    """10^6 bytes that it wrote / `throughput.simulated_s`."""


@dataclass(frozen=True, slots=True)
class HostRequests:
    """Requests of one kind before and after the block layer."""

    submitted: int
    """Requests that processes sent."""
    submitted_bytes_mean: float | None
    """Their mean length. None without requests."""
    dispatched: int
    """Requests that the drive got: fewer after merges, more after splits."""
    dispatched_bytes_mean: float | None
    """Their mean length. None without requests."""


@dataclass(frozen=True, slots=True)
class HostMerges:
    """Requests that became one with others in the queue."""

    back: int
    """Requests, or pieces of split ones, that joined a queued request at its end."""
    front: int
    """Requests, or pieces of split ones, that joined a queued request at its beginning."""
    joined: int
    """Queued requests that became one with another one."""


@dataclass(frozen=True, slots=True)
class LatencyByKind:
    """Latencies of reads and of writes."""

    read: Latency
    """Of reads."""
    write: Latency
    """Of writes."""


@dataclass(frozen=True, slots=True)
class HostLatency:
    """Parts of the latency of requests, by fio's names; the whole, its `lat`, is `latency_ns` of the report. A split
    request has the parts of its piece that ended last."""

    slat: LatencyByKind
    """From the arrival until the request is in the queue: the wait for a place there."""
    clat: LatencyByKind
    """From there to the end."""
    queue: LatencyByKind
    """The part of `clat` in the queue."""
    device: LatencyByKind
    """The part of `clat` in the drive."""


@dataclass(frozen=True, slots=True)
class HostDepth:
    """Requests in the queue and in the drive, over time."""

    queued_mean: float
    """Mean number of queued requests."""
    queued_max: int
    """Most queued requests."""
    in_device_mean: float
    """Mean number of requests in the drive."""
    blocked: int
    """Requests that waited for a place in the queue."""
    withheld_s: float
    """Simulated seconds in which requests were queued and the drive had room: a plug, or a scheduler that waited."""


@dataclass(frozen=True, slots=True)
class HostDecisions:
    """Decisions of the scheduler."""

    batches: int
    """Batches, turns or slices that began."""
    expired: int
    """Batches, turns or slices that began with a request that had expired."""
    idle_waits: int
    """Times that the drive was left idle on purpose, to wait for a process's next request."""
    idle_hits: int
    """Of these, waits that the awaited request ended."""
    idle_wait_s: float
    """Simulated seconds of these waits."""
    preemptions: int
    """Turns that were cut short for a process that comes first."""


@dataclass(frozen=True, slots=True)
class HostSeeks:
    """Distances from the end of a dispatched request to the beginning of the next one."""

    count: int
    """Requests that do not begin where the last one ended."""
    bytes_mean: float | None
    """Their mean distance."""


@dataclass(frozen=True, slots=True)
class LongestWait:
    """The longest wait of a process's requests in the queue."""

    process: int
    """Its number: of a process of a trace or a model, of a clone of a fio job; else of the origin."""
    ns: int
    """That wait, merges included: a request that joined another one waits with it."""


@dataclass(frozen=True, slots=True)
class HostSeries:
    """Mean numbers of requests in bins of time, if recorded."""

    interval_ns: int
    """Length of a bin in ns. The last one may be shorter."""
    start_ns: int
    """Simulated time at which the first bin begins."""
    queued: list[float]
    """Mean number of queued requests in each bin."""
    in_device: list[float]
    """Mean number of requests in the drive in each bin."""


@dataclass(frozen=True, slots=True)
class Host:
    """The host's block layer in the measured window."""

    scheduler: str
    """Its registered name."""
    read: HostRequests
    """Reads."""
    write: HostRequests
    """Writes."""
    other: HostRequests
    """Trims and flushes."""
    merges: HostMerges
    latency_ns: HostLatency
    depth: HostDepth
    decisions: HostDecisions
    seeks: HostSeeks
    longest_wait: list[LongestWait]
    """By process, of those that waited; by direction it is the greatest of `latency_ns.queue`."""
    fairness: float | None
    """Jain's index of the bytes that each process read and wrote: (Σ b)² / (n Σ b²); 1 if all moved as many. None for
    fewer than two processes."""
    series: HostSeries | None = None
    """Requests in the queue and in the drive over time, if a series was recorded."""


@dataclass(frozen=True, slots=True)
class FileSpace:
    """How full a file system is at the end."""

    block_bytes: int
    """Bytes of a block."""
    blocks: int
    """Blocks of the file system, its metadata included."""
    free_blocks: int
    """Blocks that nothing uses."""
    overhead_blocks: int
    """Blocks that an empty file system uses."""
    inodes: int | None
    """Files and directories that it can hold. None if only its blocks bound them."""
    free_inodes: int | None
    """Of these, how many more."""


@dataclass(frozen=True, slots=True)
class FileOperations:
    """Operations of all flows that ended in the measured window."""

    count: int
    """How many ended."""
    no_space: int
    """Of these, how many failed for want of space (`ENOSPC`)."""
    failed: int
    """Of these, how many failed for another reason: no such file, or one that was there already."""
    bytes: int
    """Bytes that applications read and wrote."""
    seconds: float
    """Simulated seconds from the start of the window until the last operation ended."""
    per_s: float | None
    """`count` / `seconds`. None without operations."""
    per_operation_j: float | None
    """Energy of the whole window per operation: `energy_j.total` / `count`. It includes what is written back after the
    last operation. None without operations."""


@dataclass(frozen=True, slots=True)
class FileFlow:
    """Operations that a program calls by one name."""

    name: str
    """That name."""
    count: int
    """How many ended."""
    no_space: int
    """Of these, how many failed for want of space (`ENOSPC`)."""
    failed: int
    """Of these, how many failed for another reason."""
    bytes: int
    """Bytes that were read or written."""
    latency_ns: Latency
    """From the call to its return, of those that did not fail."""


@dataclass(frozen=True, slots=True)
class FileCache:
    """The page cache."""

    looked: int
    """Pages that threads read, each as often as it was read."""
    hit_ratio: float | None
    """Of these, the share that was in memory. None without reads."""
    data_reads: int
    """Pages of files that were read from the drive, those read ahead included."""
    metadata_reads: int
    """Blocks of metadata that were read from the drive."""
    cleaning_reads: int
    """Blocks that the file system's cleaner read."""
    throttled_s: float
    """Simulated seconds that threads waited because too much was dirty, added up over threads."""


@dataclass(frozen=True, slots=True)
class FileWrites:
    """Bytes that went from the page cache to the drive for one cause."""

    cause: str
    """`sync` (fsync, `O_DSYNC`), `direct`, `background` (too much was dirty), `expired` (dirty for too long),
    `cleaning`, `unmount` (at the end of the run); `commit`, by a journal, only if it wrote
    something."""
    data_bytes: int
    """Bytes of files."""
    metadata_bytes: int
    """Bytes of the file system's own."""


@dataclass(frozen=True, slots=True)
class Files:
    """The file system in the measured window, and the operations on it."""

    system: str
    """Its registered name."""
    space: FileSpace
    operations: FileOperations
    flows: list[FileFlow]
    """The same by what the program calls them, in the order of the program."""
    cache: FileCache
    written: list[FileWrites]
    """By cause."""
    metadata_fraction: float | None
    """Of all bytes written, the share of metadata. None if nothing was written."""
    flushes: int
    """Flushes that the file system sent to the drive."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Requests over time; megabytes are 10^6 bytes."""

    simulated_s: float
    """Length of the measured window, in simulated seconds."""
    iops: float
    """Requests that completed / `simulated_s`, of all kinds."""
    read_mb_s: float
    """10^6 bytes read / `simulated_s`."""
    write_mb_s: float
    """10^6 bytes written / `simulated_s`."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Flash operations by cause."""

    host: int
    """For requests of the host."""
    gc: int
    """By garbage collection."""
    merge: int
    """By merges of log blocks."""
    map: int
    """By the map: translation pages, checkpoints."""
    wear: int
    """By wear levelling."""
    total: int
    """Of all causes."""
    backup: int = 0
    """Backups of pages that share cells with others (`device.nand.paired_pages`)."""
    journal: int = 0
    """The journal of the write buffer (`write_buffer.protection`)."""
    pad: int = 0
    """Pages programmed to complete a row."""
    fold: int = 0
    """Data moved from the single-level cache into native cells."""


@dataclass(frozen=True, slots=True)
class Flash:
    """Pages read, pages programmed, blocks erased."""

    reads: Counts
    """Pages read, by cause."""
    programs: Counts
    """Pages programmed, by cause."""
    erases: Counts
    """Blocks erased, by cause."""
    unwritten_reads: int
    """Logical pages read that were never written."""
    write_amplification: float | None
    """Bytes programmed / bytes that the host wrote (WAF) = `rmw_factor` × `buffer_factor` (1 without a buffer) ×
    `gc_factor`, × `pad_factor` and `fold_factor` where there are some. Writes count when the drive takes them up and
    programs when they end, so that a short run may have less than 1.

    None if the host wrote nothing."""
    rmw_factor: float | None
    """Bytes of the map units that the host's writes touch / bytes that the host wrote: the cost of partial units."""
    buffer_factor: float | None
    """Bytes of map units that leave the write buffer / bytes of map units written into it: the gain by coalescing.

    None without a write buffer."""
    gc_factor: float | None
    """Bytes programmed / bytes of the map units that the translation layer is given to write (and of pages that
    complete rows or are folded). Collection, merges, the map, wear levelling and partly filled pages raise it. None if
    the layer is given nothing."""
    pad_factor: float | None = None
    """(Bytes that the translation layer is given to write + bytes of pages that complete rows) / the former. None
    without such pages."""
    fold_factor: float | None = None
    """(Bytes given, those of pages that complete rows, and those folded from the single-level cache) / the same without
    those folded. None if nothing was folded."""


@dataclass(frozen=True, slots=True)
class Spare:
    """Over-provisioning of an SSD: what was asked for, what the drive has, what of it collection can use."""

    asked_op_ratio: float
    """`device.op_ratio` as it was asked for; that of the drive if other keys decide it."""
    op_ratio: float
    """(physical − logical) / logical bytes."""
    fraction: float
    """(physical − logical) / physical bytes."""
    kept_bytes: int
    """Bytes of flash without data of the host: blocks kept erased for collection or merges, map blocks, blocks for a
    recovery, those of `slc_cache.static_bytes`, and the rest of blocks that a range of addresses fills in part."""
    watermark_bytes: int
    """Of these, `gc.low_watermark_blocks` of each die; 0 for a layer that merges blocks."""
    effective_op_ratio: float | None
    """(physical − kept − logical) / logical bytes. None if the host's data does not fit beside what is kept."""
    effective_fraction: float | None
    """(physical − kept − logical) / (physical − kept) bytes, 1 − the valid share in theory. None as above."""
    measured_fraction: float | None
    """1 − `gc.mean_valid_fraction`. Under full load a drive takes blocks down to `gc.reserved_blocks` and has more than
    `effective_fraction`. None without a victim."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why some figures are not steady: a longer run would change them."""

    why: str
    """The reason in a few words; one of the `warnings` says more."""
    keys: list[str]
    """Keys of the figures, or of the tables that they are in."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Distribution of values."""

    min: int
    """The least."""
    max: int
    """The greatest."""
    mean: float
    """The mean."""
    stddev: float
    """The standard deviation."""


@dataclass(frozen=True, slots=True)
class Wear:
    """Wear since the start of the run, and what a snapshot that it began from counts before."""

    erase_count: Spread
    """Erases per block, at the end of the drain: warm-up and drain count as well, unlike in `flash.erases`."""


@dataclass(frozen=True, slots=True)
class Endurance:
    """How much the drive takes, from new, at the wear of the window."""

    tbw: float | None
    """10^12 bytes that the host can write. None if it wrote nothing."""
    years: float
    """Years of 365.25 days, if the window repeats without a pause."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long the flash of a new drive lasts if the measured window repeats without a pause. No block fails early."""

    rated_cycles: int | None
    """Program/erase cycles that a block endures, `device.nand.rated_cycles`; None if that is not known."""
    cycles_per_block: float
    """Program/erase cycles of the window per block: the greater of `flash.erases.total` / blocks and
    `flash.programs.total` / pages. In a long window they agree, unless blocks are erased partly filled."""
    drive_writes_per_day: float | None
    """Bytes that the host writes in a day at this rate / `device.logical_bytes` (DWPD)."""
    mean_wear: Endurance | None
    """Until the mean block has its rated cycles: `rated_cycles` / `cycles_per_block` windows. Wear is level."""
    worst_block: Endurance | None
    """Until the block with the most erases has its rated cycles: `mean_wear` × `wear.erase_count.mean` / `.max`. Wear
    stays as uneven as it is. None before one erase per block: the spread of fewer erases says how short the run is."""
    reason: str | None
    """The reason why a figure is None."""


@dataclass(frozen=True, slots=True)
class Merges:
    """Merges by kind."""

    switch: int
    """A log block written in order takes the place of its data block: nothing is copied."""
    partial: int
    """The rest of a data block is copied behind a log block's pages."""
    full: int
    """The newest pages are copied to a new block."""
    replacement: int
    """Log blocks compacted into a fresh one, or cleaned to make room for another (`replacement` of the layer)."""


@dataclass(frozen=True, slots=True)
class MapLatency:
    """From the planning of a map operation to its end, in ns, without garbage collection of map pages."""

    read: Latency
    write_first: Latency
    """Writes of all copies of a page, to the end of the first."""
    write_last: Latency
    """The same, to the end of the last."""


@dataclass(frozen=True, slots=True)
class MapEnergy:
    """Energy in J that the map costs."""

    dram: float
    """Energy of DRAM, without that of page data that passes through it."""
    flash: float
    """Flash operations of cause `map`."""


@dataclass(frozen=True, slots=True)
class Ftl:
    """The translation layer."""

    name: str
    """Its name in configurations, `ftl`."""
    map_unit_bytes: int | None
    """Bytes that an entry of the map covers. None in reports of schema 1 on other layers than `page`."""
    map_hit_ratio: float | None
    """Share of map look-ups that found their entry in memory; None where the whole map is."""
    mapping_bytes: int
    """Bytes of the map in the drive's memory."""
    mapping_model_bytes: int | None
    """Bytes of the map by the formula of Park et al. 2011, section 3.3; None for a layer without a formula there."""
    map_latency_ns: MapLatency | None
    """Latencies of map operations; None where there were none."""
    map_energy_j: MapEnergy | None
    """Energy of the map, in DRAM and on flash."""
    merges: Merges | None
    """Merges by kind; None for a layer that has none."""


@dataclass(frozen=True, slots=True)
class Gc:
    """Garbage collection."""

    victims: int
    """Victims chosen."""
    searches: int
    """Candidates examined to choose them."""
    mean_valid_fraction: float | None
    """Valid share of the programmed pages, averaged over the moments at which a victim was chosen."""
    mean_victim_valid_fraction: float | None
    """Valid share of the victims' pages; None without a victim."""


@dataclass(frozen=True, slots=True)
class WriteBuffer:
    """The write buffer; counts are of map units."""

    capacity_bytes: int
    """Size in bytes."""
    writes: int
    """Map units written into it."""
    writes_coalesced: int
    """Writes into an entry that existed already, which need no program of their own."""
    writes_delayed: int
    """Requests that had to wait for room."""
    read_hits: int
    """Map units read from it, wholly or in part, instead of from flash."""
    trimmed: int
    """Map units trimmed before they were written to flash."""
    destaged: int
    """Map units written to flash."""
    journal_records: int | None = None
    """Map units of writes that went to pages of the journal; None without a journal."""
    journal_forced: int | None = None
    """Map units written to their place early, so that a part of the journal could be erased; None without a journal."""


@dataclass(frozen=True, slots=True)
class HostMemory:
    """The host's memory, in which the cached part of the map lies."""

    read_bytes: int
    """Bytes that the drive has read there: look-ups, and entries for writes of their translation pages."""
    written_bytes: int
    """Bytes that the drive has written there: entries that changed, or were fetched from flash."""
    energy_j: float | None
    """Energy in J of these accesses, which is the host's and in no other figure; None if
    `energy.host_memory.pj_per_bit` is not given."""


@dataclass(frozen=True, slots=True)
class ActiveIdle:
    """Energy in J of a part while it works and while it does not."""

    active: float
    """Energy in J at the active current. That of the controller flows while a request is in the drive or a flash
    operation runs; that of DRAM at the same times, or during its operations only (`energy.dram_rule`)."""
    idle: float
    """Energy in J at the idle current, in the rest of the window."""


@dataclass(frozen=True, slots=True)
class Nand:
    """Energy in J of the dies, by operation."""

    read: float
    """Of reads of pages."""
    program: float
    """Of programs of pages."""
    erase: float
    """Of erases of blocks."""
    transfer: float
    """Dies that are loaded or read out, and dies with data that waits for the bus, at their idle current."""
    idle: float
    """Of dies without work."""
    total: float
    """Of all of them."""


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy in J by component; total = controller + dram + nand.total + host_interface."""

    total: float
    """Of all components."""
    controller: ActiveIdle
    dram: ActiveIdle
    nand: Nand
    host_interface: float
    """Of the host interface."""


class Components(Mapping[str, float]):
    """Energy in J of a disk or an array by component: `total`, and a key for each component, also as attributes."""

    def __init__(self, joules: Mapping[str, float]) -> None:
        """Take the table of the report."""
        self._joules = dict(joules)

    def __getitem__(self, key: str) -> float:
        return self._joules[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._joules)

    def __len__(self) -> int:
        return len(self._joules)

    def __getattr__(self, name: str) -> float:
        if name.startswith("_") or name not in self._joules:
            found = f"{name}: no component of this drive; expected one of {', '.join(self._joules)}"
            raise AttributeError(found)
        return self._joules[name]

    def __repr__(self) -> str:
        return f"Components({', '.join(f'{key}={_short(joules)}' for key, joules in self._joules.items())})"


@dataclass(frozen=True, slots=True)
class EnergyByCause:
    """Energy in J by cause; `shared` is the energy that no single operation causes."""

    host: float
    """For requests of the host."""
    gc: float
    """Of garbage collection."""
    merge: float
    """Of merges of log blocks."""
    map: float
    """Of the map: translation pages, checkpoints."""
    wear: float
    """Of wear levelling."""
    shared: float
    """Of what no single operation causes: controller, idle DRAM, idle dies."""
    backup: float = 0.0
    """Backups of pages that share cells with others (`device.nand.paired_pages`)."""
    journal: float = 0.0
    """The journal of the write buffer (`write_buffer.protection`)."""
    pad: float = 0.0
    """Of pages programmed to complete a row."""
    fold: float = 0.0
    """Of data moved from the single-level cache into native cells."""


@dataclass(frozen=True, slots=True)
class EnergyTotals:
    """Total energy in J under each idle accounting."""

    always_on: float
    """Everything is on for the whole time."""
    flash_off: float
    """Flash off while no request is outstanding."""
    busy_only: float | None
    """Everything charged only while at least one die reads, programs or erases in its array. None in reports of earlier
    schemas than 3."""
    busy_or_loading: float
    """Everything charged only while at least one die is busy, be it with its bus alone."""


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Work per energy; None where there was no work or no energy."""

    mb_per_j: float | None
    """10^6 bytes read and written / `energy_j.total`."""
    j_per_gb: float | None
    """`energy_j.total` / 10^9 bytes read and written (J/GB)."""
    iops_per_w: float | None
    """`throughput.iops` / `power_w.mean` (IOPS/W): requests / `energy_j.total`."""
    j_per_tb: float | None = None
    """`energy_j.total` / 10^12 bytes read and written."""
    j_per_tb_written: float | None = None
    """`energy_j.total` / 10^12 bytes written: all energy, that of reads and of idling included."""
    kwh_per_month: float | None = None
    """Energy in kWh of a month, `power_w.mean` × 730.5 h / 1000, if the window repeats without a pause. A month is a
    twelfth of 365.25 days."""


@dataclass(frozen=True, slots=True)
class Power:
    """Power in W; figures that depend on overlapping operations are None in a repriced report."""

    mean: float
    """`energy_j.total` / `throughput.simulated_s`."""
    peak: float | None
    """The highest power at any time."""
    max_100us: float | None
    """Highest mean over 100 µs, of intervals that follow one another from the start of the measured window."""
    max_1s: float | None
    """Highest mean over 1 s, of such intervals; None for a run shorter than that."""


@dataclass(frozen=True, slots=True)
class Current:
    """The drive's current in mA: its power / `supply_v`. Currents of parts at different voltages do not add up."""

    supply_v: float
    """The voltage in V that currents are stated at.

    That is `energy.terminal_v`, or in `component` mode the highest voltage of a part that draws current."""
    mean: float
    """`power_w.mean` / `supply_v`."""
    peak: float | None
    """`power_w.peak` / `supply_v`."""
    time_at_peak_ns: int | None
    """For how long the current was at its peak."""


@dataclass(frozen=True, slots=True)
class PreciseFigure:
    """A figure with its confidence interval."""

    key: str
    """Its key in the report."""
    value: float
    """Its value."""
    lower: float | None
    """Lower end of its interval; null if the window is too short for one."""
    upper: float | None
    """Upper end of its interval; null if the window is too short for one."""
    relative_error: float | None
    """Half the width of the interval, its wider side, as a share of the value."""


@dataclass(frozen=True, slots=True)
class FoundWarmup:
    """The warm-up that a run found, after the one that its configuration asks for."""

    requests: int
    """Its requests."""
    turnover_requests: int
    """Of these, the requests until the start state was worn off: the range of the workload was written twice."""
    drifts: int
    """Number of times that the window began anew because a figure drifted."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a figure from that of the run that it was compared with."""

    key: str
    """Its key in both reports."""
    baseline: float
    """The value of the other run."""
    value: float
    """The value of this run less that of the other one."""
    lower: float
    """Lower end of the interval of the difference."""
    upper: float
    """Upper end of the interval of the difference."""
    relative_error: float
    """Half the width of the interval as a share of the value of the other run."""


@dataclass(frozen=True, slots=True)
class Against:
    """The run that this one was compared with: both drew the same, and ended together."""

    config_sha256: str
    """SHA-256 of its configuration."""
    differences: list[Difference] | None
    """The differences of the figures; null if the windows are too short."""


@dataclass(frozen=True, slots=True)
class Precision:
    """How well the figures of `run.measure.precision` are known, and why the run ended; null without it."""

    ended_by: str
    """`precision` (its figures are known), `bound` (of `run.measure` or of the workload) or `other`."""
    relative_error: float
    """The precision that was asked for."""
    confidence: float
    """Share of all runs, each with another seed, whose interval holds the figure of an endless run."""
    figures: list[PreciseFigure] | None
    """The figures that were asked for; null if the window is too short for intervals."""
    batches: int
    """Batches of equal numbers of requests that the intervals are computed from."""
    batch_requests: int
    """Requests of a batch."""
    found_warmup: FoundWarmup
    against: Against | None = None
    """The differences from another run; null for a run alone."""


@dataclass(frozen=True, slots=True)
class Parallelism:
    """Dies at work at the same time."""

    mean_active_dies: float
    """Mean number of busy dies while at least one is."""
    max_active_dies: int
    """Largest number of dies busy at the same time."""
    time_at_max_fraction: float
    """Share of the busy time with that number of busy dies."""
    active_dies_s: list[float]
    """Seconds with n dies busy, n = 0, 1, …"""


@dataclass(frozen=True, slots=True)
class Elapsed:
    """Elapsed ns by what the drive does; `busy` + `outstanding` + `quiet` is the whole time."""

    busy: int
    """At least one die runs an operation."""
    array: int
    """Of `busy`: at least one die reads, programs or erases in its array. In the rest dies only move data, or wait."""
    outstanding: int
    """A request is in the drive, no die runs an operation."""
    quiet: int
    """Neither."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """Integer times and counts by state and cause, to which another price table can be applied."""

    dies: int
    """Dies in the drive."""
    die_ns: dict[str, dict[str, int]]
    """Die-nanoseconds by state and cause. `slc_program` and `suspended` are there if a die was in them."""
    elapsed_ns: Elapsed
    transfer_die_ns: int
    """Die-nanoseconds of operations while no die's array works."""
    dram_op_ns: int
    """Time of DRAM operations (rule `per_op`)."""
    map_accesses: int
    """Look-ups and updates of the map in DRAM."""
    host_interface_ns: int
    """Time of data transfers over the host interface."""
    extra_ns: dict[str, dict[str, int]] | None = None
    """Nanoseconds of parts of a die that work beside it, by state and cause: further planes of an operation
    (`extra_read`, …), and a bus that moves data beside the array (`program_transfer_beside`, …). None without any."""
    host_memory_bytes: list[int] | None = None
    """Bytes that the drive has read from the host's memory and written to it, for its map. None without any."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Wall and CPU time of the simulation; the only section that differs between two equal runs."""

    prepare_wall_s: float | None
    """Seconds before the simulation, for the trace and the start state. None in reports of older versions."""
    wall_s: float
    """Seconds that the simulation took."""
    cpu_s: float
    """Seconds of processor time that the simulation took."""
    requests_per_cpu_s: float | None
    """Requests of warm-up, window and drain / `cpu_s`."""
    flash_ops_per_cpu_s: float | None
    """Pages read and programmed and blocks erased in warm-up, window and drain / `cpu_s`."""


@dataclass(frozen=True, slots=True)
class Repriced:
    """The price table of a repriced report, and the keys that it leaves null."""

    table: str
    """Name of the price table."""
    null: list[str]
    """Keys without a value in a repriced report."""
    reason: str
    """Reason why these keys have no value."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The schema of a report that was read from a file of an earlier one, and the keys that it leaves null."""

    schema: int
    """Its number."""
    null: list[str]
    """Keys without a value: that schema lacks them, or has another figure under their name."""


def build(kind: Any, value: Any, path: str) -> Any:
    """Make a section from its JSON; a key without a value must be one that may be None.

    Raises `KeyError` with the path of a key that is missing.
    """
    from dataclasses import MISSING, fields, is_dataclass
    from typing import get_args, get_origin

    options = get_args(kind)
    if value is None and (type(None) in options or kind is None):
        return None
    options = (kind,) if get_origin(kind) is list else (*options, kind)
    target: Any = next((option for option in options if is_dataclass(option)), None)
    if target is None and value is not None:
        lists = [get_args(option)[0] for option in options if get_origin(option) is list]
        if lists and is_dataclass(lists[0]):
            return [build(lists[0], one, f"{path}[{at}]") for at, one in enumerate(value)]
        return copied(value)
    if not isinstance(value, dict) or target is None:
        raise KeyError(path)
    default = {field.name for field in fields(target) if field.default is not MISSING}
    present = {key: hint for key, hint in _hints(target).items() if key in value or key not in default}
    return target(**{key: build(hint, value.get(key), f"{path}.{key}") for key, hint in present.items()})


def copied(value: Any) -> Any:
    """Copy a tree of JSON; changes of the copy do not change the original."""
    if isinstance(value, dict):
        return {key: copied(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [copied(one) if isinstance(one, dict | list) else one for one in value]
    return value


_LINE = 80
_WHOLE_FROM, _WHOLE_UNTIL = 1e6, 1e15  # such numbers need no decimals, and no exponent yet


def said(section: Any) -> str:
    """A section as text: numbers with six digits or more, a line for each key where one line is too short for all."""
    values = {key: getattr(section, key) for key in section.__dataclass_fields__}
    parts = [f"{key}={_short(value)}" for key, value in values.items()]
    name, line = type(section).__name__, ", ".join(parts)
    if len(name) + len(line) <= _LINE and "\n" not in line:
        return f"{name}({line})"
    inner = "".join(f"{part},\n" for part in parts)
    return f"{name}(\n{indent(inner, '    ')})"


def _short(value: Any) -> str:
    if not isinstance(value, float):
        return repr(value)
    return f"{value:.0f}" if _WHOLE_FROM <= abs(value) < _WHOLE_UNTIL else f"{value:.6g}"


for _kind in [one for one in vars().values() if isinstance(one, type) and hasattr(one, "__dataclass_fields__")]:
    _kind.__repr__ = said  # type: ignore[assignment]

_known: dict[Any, dict[str, Any]] = {}


def _hints(section: Any) -> dict[str, Any]:
    from typing import get_type_hints

    if section not in _known:
        _known[section] = get_type_hints(section)
    return _known[section]
