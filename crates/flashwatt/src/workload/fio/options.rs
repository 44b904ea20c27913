//! The options of a job file: those that are understood, and those without effect here.

/// The options that are understood: the names of each (fio's aliases; this module uses the first) and one line about
/// it.
pub const UNDERSTOOD: &[(&[&str], &str)] = &[
    (
        &["rw", "readwrite"],
        "read, write, trim, randread, randwrite, randtrim, rw (= readwrite), randrw; read unless given. `randwrite:8`: from \
         each random place eight requests in a row",
    ),
    (&["bs", "blocksize"], "bytes of a request; one, or one for reads, writes, trims: `4k,8k,4k`; 4k unless given"),
    (&["bsrange", "blocksize_range"], "`4k-16k`: multiples of the least, evenly; per direction with commas"),
    (&["bssplit"], "`4k/60:64k/40`: sizes and percentages; per direction with commas"),
    (&["blockalign", "ba"], "random requests start at multiples of this; the least block size unless given"),
    (&["size"], "bytes (or percent of the drive) that a job works on; the drive from `offset` on unless given"),
    (&["io_size", "io_limit"], "bytes (or percent of the drive) that a job transfers; `size` unless given"),
    (&["offset"], "first byte (or percent of the drive)"),
    (&["offset_increment"], "each clone of a job starts this many bytes after the one before"),
    (&["number_ios"], "a job ends after this number of requests"),
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
    (&["startdelay", "start_delay"], "a job starts this time after its stage"),
    (&["stonewall", "wait_for_previous"], "a job starts when all before it in the file have ended"),
    (
        &["rate"],
        "bytes per second at most, in each direction, or one for each: `1m,500k` (`1m,` limits reads alone, `,500k` writes)",
    ),
    (&["rate_iops"], "requests per second at most, in each direction, or one for each"),
    (&["rate_process"], "linear (unless given) or poisson, with `rate_iops`"),
    (
        &["thinktime"],
        "pause after `thinktime_blocks` requests, when they have completed (microseconds unless it has a unit)",
    ),
    (&["thinktime_blocks"], "requests between pauses; 1 unless given"),
    (&["random_distribution"], "random, zipf:THETA, pareto:SHARE, normal:DEVIATION (percent), zoned:ACCESS/SIZE:…"),
    (&["norandommap"], "places are drawn anew each time; unless given, each place comes once before any comes again"),
    (&["randseed"], "seed of the job's draws; the run's seed unless given"),
    (&["sync"], "1, sync or dsync: writes are forced to flash (FUA)"),
    (&["fsync", "fdatasync"], "a flush after this number of writes"),
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
    (&["kb_base"], "1024 (unless given): `4k` is 4096 and `4ki` 4000; 1000: the other way round"),
];

/// The options that are accepted without effect: names of files, interfaces of the operating system, contents of
/// buffers, measurement and output. A block device in simulated time sees none of them.
pub const WITHOUT_EFFECT: &[&str] = &[
    // names and files: all jobs work on the simulated drive
    "name",
    "description",
    "filename",
    "filename_format",
    "directory",
    "unique_filename",
    "nrfiles",
    "openfiles",
    "file_service_type",
    "fallocate",
    "create_serialize",
    "create_fsync",
    "create_on_open",
    "pre_read",
    "unlink",
    "overwrite",
    "allow_file_create",
    "allow_mounted_write",
    "fill_device",
    "filesize",
    "opendir",
    "lockfile",
    // interfaces of the operating system
    "ioengine",
    "invalidate",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "nonvectored",
    "userspace_reap",
    "thread",
    "cpus_allowed",
    "cpus_allowed_policy",
    "cpumask",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "nice",
    "ioscheduler",
    "mem",
    "iomem",
    "iomem_align",
    "mem_align",
    "hugepage-size",
    "lockmem",
    "norandommap_soft",
    "softrandommap",
    "random_generator",
    "randrepeat",
    "allrandrepeat",
    "use_os_rand",
    // contents of buffers
    "zero_buffers",
    "refill_buffers",
    "scramble_buffers",
    "buffer_pattern",
    "buffer_compress_percentage",
    "buffer_compress_chunk",
    "dedupe_percentage",
    // measurement and output
    "group_reporting",
    "new_group",
    "gtod_reduce",
    "gtod_cpu",
    "clocksource",
    "unified_rw_reporting",
    "stats",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw",
    "disable_bw_measurement",
    "slat_percentiles",
    "clat_percentiles",
    "lat_percentiles",
    "percentile_list",
    "significant_figures",
    "write_bw_log",
    "write_lat_log",
    "write_hist_log",
    "write_iops_log",
    "log_avg_msec",
    "log_hist_msec",
    "log_hist_coarseness",
    "log_max_value",
    "log_offset",
    "log_compression",
    "log_unix_epoch",
    "per_job_logs",
    "bwavgtime",
    "iopsavgtime",
    "bandwidth_log",
    "unit_base",
    "exitall",
    "exitall_on_error",
    "exit_what",
    "uid",
    "gid",
    "cgroup",
    "cgroup_weight",
    "write_iolog",
];

/// The options that are understood on the files of a file system, besides those of [`UNDERSTOOD`].
pub const ON_FILES: &[(&[&str], &str)] = &[
    (&["nrfiles"], "files of each clone of the job; 1 unless given"),
    (&["filesize"], "bytes of a file; `size` / `nrfiles` unless given"),
    (&["end_fsync"], "fsync for each file at the end of the job"),
    (&["create_serialize"], "0: each thread writes its files before it reads them; else they are there at the start"),
];

/// Options of fio that are not supported, each with the advice that an error message gives.
pub(super) const UNSUPPORTED: &[(&str, &str)] = &[
    ("ramp_time", "run.warmup.seconds leaves the beginning out of the report"),
    ("read_iolog", "run such a trace with --trace; its format is fio"),
    ("replay_no_stall", "run a trace with --trace and workload.trace.closed_loop = true"),
    ("verify", "flashwatt run --check follows the content of every page"),
    ("verify_only", "flashwatt run --check follows the content of every page"),
    ("include", "write the options into one file"),
    ("flow", "give the jobs rates"),
    ("rate_min", "rates can be limited from above only: rate, rate_iops"),
    ("latency_target", "sweep iodepth"),
];

/// Options: the names of each, and one line about it.
pub(super) type Options = [(&'static [&'static str], &'static str)];

/// The first name of an option in [`UNDERSTOOD`] or `more`; none if the option is not understood.
pub(super) fn canonical(name: &str, more: &Options) -> Option<&'static str> {
    more.iter().chain(UNDERSTOOD).find(|(names, _)| names.contains(&name)).map(|(names, _)| names[0])
}
