//! The options of a job file that are understood.

/// The options that are understood: the names of each (fio's aliases; this module uses the first) and one line about
/// it.
pub const UNDERSTOOD: &[(&[&str], &str)] = &[
    (
        &["rw", "readwrite"],
        "read, write, trim, randread, randwrite, randtrim, rw (= readwrite), randrw, trimwrite, randtrimwrite (a write follows \
         each trim, to its place); read unless given. `randwrite:8`: from each random place eight requests in a row. `read:8k`: 8 \
         KiB between two requests; `read:-8k` goes backwards",
    ),
    (
        &["bs", "blocksize"],
        "bytes of a request; one, or one for reads, writes, trims: `4k,8k,4k` (`,8k` leaves reads alone); 4k unless given",
    ),
    (&["bsrange", "blocksize_range"], "`4k-16k`: multiples of the least, evenly; per direction with commas"),
    (&["bssplit"], "`4k/60:64k/40`: sizes and percentages; per direction with commas"),
    (
        &["blockalign", "ba"],
        "random requests start at multiples of this, or of one for each direction, and come as with `norandommap`; the least block size unless given",
    ),
    (
        &["size"],
        "bytes (or percent of the drive, or of `filesize`) that a job works on; the drive from `offset` on unless given",
    ),
    (&["io_size", "io_limit"], "bytes (or percent of `size`) that a job transfers; `size` unless given"),
    (&["offset"], "first byte (or percent of the drive)"),
    (&["offset_increment"], "each clone of a job starts this many bytes after the one before"),
    (&["number_ios"], "a job ends after this number of requests, times `loops`"),
    (&["loops"], "how many times `io_size` is transferred"),
    (&["rwmixread"], "percentage of reads in a mix; 50 unless given"),
    (&["rwmixwrite"], "100 minus that"),
    (
        &["iodepth"],
        "outstanding requests of a job; 1 unless given. The drive accepts `device.host_link.queue_depth` in all",
    ),
    (&["numjobs"], "clones of a job"),
    (&["runtime", "timeout"], "a job ends after this time (seconds unless it has a unit)"),
    (&["time_based"], "it ends only then, and starts over where `size` ends"),
    (&["startdelay", "start_delay"], "a job starts this time after its stage; `1-2`: a time between these"),
    (&["stonewall", "wait_for_previous"], "a job starts when all before it in the file have ended"),
    (
        &["rate"],
        "bytes per second at most, in each direction, or one for each: `1m,500k` (`1m,` limits reads alone, `,500k` writes)",
    ),
    (
        &["rate_iops"],
        "requests of the least length per second at most, in each direction, or one for each; in a mix, rates go before `rwmixread`",
    ),
    (
        &["rate_min", "ratemin"],
        "bytes per second, or one for each direction: from 2 s after its start on, a job that is slower over `rate_cycle` ends, and the report says so",
    ),
    (&["rate_iops_min"], "the same in requests per second; `rate_min` goes before it"),
    (
        &["rate_cycle", "ratecycle"],
        "the time over which these rates are means (milliseconds unless it has a unit); 1000 unless given",
    ),
    (&["rate_process"], "linear (unless given) or poisson, with `rate_iops`"),
    (
        &["thinktime"],
        "pause after `thinktime_blocks` requests, when they have completed (microseconds unless it has a unit)",
    ),
    (&["thinktime_blocks"], "requests between pauses; 1 unless given"),
    (
        &["random_distribution"],
        "random, zipf:THETA, pareto:SHARE, normal:DEVIATION (percent), zoned:ACCESS/SIZE:… (a blank size is a share of the rest), zoned_abs:ACCESS/BYTES:…",
    ),
    (&["norandommap"], "places are drawn anew each time; unless given, each place comes once before any comes again"),
    (&["randseed"], "seed of the job's draws; the run's seed unless given"),
    (&["sync"], "1, sync or dsync: writes are forced to flash (FUA)"),
    (&["fsync"], "a flush after this number of writes, unless the job ends with them"),
    (&["fdatasync"], "the same"),
    (
        &["direct"],
        "there is no page cache: all jobs run as with `direct=1`, also where the file does not say so. `direct=0` is warned of; \
         `host.async_writes` makes all writes those of a page cache that writes back",
    ),
    (&["buffered"], "the opposite of `direct`"),
    (
        &["prioclass"],
        "class of priority for a scheduler of [host]: 1 (realtime), 2 (best effort; unless given), 3 (idle)",
    ),
    (&["prio"], "level of that priority, from 0 (first) to 7; 4 unless given"),
    (
        &["rw_sequencer"],
        "sequential (unless given) or identical: the others of a row go to the place of its first request",
    ),
    (
        &["percentage_random"],
        "percentage of random requests in a random mode, or one for each direction; the others go on from the last one",
    ),
    (
        &["bs_is_seq_rand"],
        "the first value of `bs` is that of requests in order, the second one that of random requests",
    ),
    (
        &["filesize"],
        "bytes of a file: what the job works on unless `size` says less; percents of `size` and `offset` are its shares",
    ),
    (
        &["filename"],
        "names with colons between them are files of equal parts of `size`, one behind the other on the drive",
    ),
    (&["nrfiles", "nr_files"], "files of each clone, as above; 1 unless given"),
    (&["openfiles"], "files that are served at a time; all unless given"),
    (
        &["file_service_type"],
        "roundrobin (unless given), sequential or random: which file is served next; `roundrobin:8`: 8 requests to each",
    ),
    (&["end_fsync"], "a flush for each file at the end of a pass"),
    (&["fsync_on_close"], "the same"),
    (&["writefua"], "writes are forced to flash (FUA)"),
    (
        &["ioengine"],
        "asynchronous engines have `iodepth` requests outstanding (so it is if none is named and `iodepth` is above 1), synchronous ones have one. Those of block devices over a network (nbd, rbd, libiscsi) send their requests to the drive, and are warned of. One that moves no data, or other data than the job says, is an error",
    ),
    (
        &["iodepth_batch", "iodepth_batch_submit"],
        "without effect: simulated requests are sent at the instant when they are drawn",
    ),
    (
        &["iodepth_batch_complete_min", "iodepth_batch_complete"],
        "a full queue takes requests again when this number has completed; 1 unless given",
    ),
    (&["iodepth_batch_complete_max"], "0, with a least number of 0, waits for each request"),
    (&["iodepth_low"], "a full queue takes requests again when at most this number is outstanding"),
    (
        &["io_submit_mode"],
        "inline (unless given): a job that waits for its rate first waits for its requests; offload: it does not",
    ),
    (&["ramp_time"], "time before `runtime` begins; the report leaves it out as a warm-up"),
    (&["new_group"], "the job begins another group, as one with `stonewall` does"),
    (&["exitall"], "in one job: when any job ends, so do the others that `exit_what` names"),
    (&["exit_what"], "group (unless given), stonewall (the jobs that run) or all"),
    (&["wait_for"], "the job starts when all clones of the job of this name have ended"),
    (&["flow"], "weights: jobs with the same `flow_id` send requests in the proportion of their weights"),
    (&["flow_id"], "the number of such a set of jobs; 0 unless given"),
    (&["flow_sleep"], "without effect: no processor waits"),
    (&["thinktime_spin"], "without effect: the part of `thinktime` in which a processor works"),
    (&["thinktime_iotime"], "time between pauses, besides `thinktime_blocks`"),
    (&["thinktime_blocks_type"], "complete (unless given) or issue: which requests count"),
    (&["rate_ignore_thinktime"], "a job does not catch up with its rate for its pauses"),
    (
        &["verify"],
        "what a pass wrote is read again after it, unless `do_verify=0`; `flashwatt run --check` follows contents",
    ),
    (&["do_verify"], "0: without these reads; then files that are used up are not begun anew for `io_size`"),
    (
        &["verify_backlog"],
        "with `verify`: after this number of writes they are read again, within the pass. Such a read waits for the requests that are outstanding",
    ),
    (&["verify_backlog_batch"], "how many of them are read at a time; all unless given"),
    (&["zonemode"], "none (unless given) or strided"),
    (&["zonesize"], "bytes that are transferred in a strided zone before the next one"),
    (&["zonerange"], "bytes of a strided zone; `zonesize` unless given"),
    (&["zoneskip"], "bytes between strided zones"),
    (
        &["random_generator"],
        "tausworthe and tausworthe64 are alike; lfsr visits each place once, with `norandommap` also",
    ),
    (&["randrepeat"], "each pass over the size draws as the first one did; 0, or `randseed`: anew"),
    (
        &["cmdprio_percentage"],
        "percentage of requests with the priority of `cmdprio_class` and `cmdprio`, or one for reads, one for writes",
    ),
    (
        &["cmdprio_bssplit"],
        "`64k/40:1m/10/1/0`: percentages of the requests of a length that have another priority, and class and level of it; one list, or one for reads, one for writes. A fifth number, a hint, is without effect",
    ),
    (&["cmdprio_class"], "their class, or two; 1 unless given"),
    (&["cmdprio"], "their level, or two; 0 unless given"),
    (&["pre_read"], "0 only"),
    (&["create_only"], "0 only"),
    (&["lockfile"], "none only"),
    (&["serialize_overlap"], "0 only"),
    (&["bs_unaligned", "blocksize_unaligned"], "0 only"),
    (&["file_append"], "0 only"),
    (&["unlink_each_loop"], "0 only"),
    (&["kb_base"], "1024 (unless given): `4k` is 4096 and `4ki` 4000; 1000: the other way round"),
];

/// The options that are understood on the files of a file system, besides those of [`UNDERSTOOD`].
pub const ON_FILES: &[(&[&str], &str)] = &[
    (&["nrfiles"], "files of each clone of the job; 1 unless given"),
    (&["filesize"], "bytes of a file; `size` / `nrfiles` unless given"),
    (&["end_fsync"], "fsync for each file at the end of the job"),
    (&["create_serialize"], "0: each thread writes its files before it reads them; else they are there at the start"),
];

/// Options: the names of each, and one line about it.
pub(super) type Options = [(&'static [&'static str], &'static str)];

/// The first name of an option in [`UNDERSTOOD`] or `more`; none if the option is not understood.
pub(super) fn canonical(name: &str, more: &Options) -> Option<&'static str> {
    more.iter().chain(UNDERSTOOD).find(|(names, _)| names.contains(&name)).map(|(names, _)| names[0])
}
