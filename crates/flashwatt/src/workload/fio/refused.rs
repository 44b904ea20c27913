//! The options of fio that are not simulated, each with what an error message says of it.

use super::reader::OptionReader;

/// Options that are not supported, each with the reason or with what serves instead.
pub(super) const UNSUPPORTED: &[(&str, &str)] = &[
    ("read_iolog", "run such a trace with --trace; its format is fio"),
    ("replay_no_stall", "run a trace with --trace and workload.trace.closed_loop = true"),
    ("replay_redirect", "run a trace with --trace"),
    ("verify_only", "flashwatt run --check follows the content of every page"),
    ("verify_state_load", "there is no state of a stopped job"),
    ("experimental_verify", "verify alone reads after the pass"),
    ("trim_percentage", "trims between verified writes are not simulated; rw=randtrim or rw=trimwrite has trims"),
    ("trim_verify_zero", "trims between verified writes are not simulated"),
    ("trim_backlog", "trims between verified writes are not simulated"),
    ("nfs_url", "the drives of a server see other requests than the job says"),
    ("include", "write the options into one file"),
    ("latency_target", "sweep iodepth"),
    ("latency_window", "sweep iodepth"),
    ("latency_percentile", "sweep iodepth"),
    ("max_latency", "no job ends for its latency; the report has the greatest one"),
    ("steadystate", "a job does not end by its own figures; run.precondition = \"steady\" begins in the steady state"),
    ("ss", "a job does not end by its own figures; run.precondition = \"steady\" begins in the steady state"),
    ("opendir", "the simulated drive has no directory of the machine; --fs NAME makes files"),
    ("sync_file_range", "it writes pages of a page cache back, and there is none; fsync flushes the drive"),
    ("max_open_zones", ZONED),
    ("job_max_open_zones", ZONED),
    ("read_beyond_wp", ZONED),
    ("zonecapacity", ZONED),
    ("zone_reset_threshold", ZONED),
    ("zone_reset_frequency", ZONED),
    ("ignore_zone_limits", ZONED),
    ("fdp", "placement of data by the host (FDP, streams) is not simulated"),
    ("fdp_pli", "placement of data by the host (FDP, streams) is not simulated"),
    ("dataplacement", "placement of data by the host (FDP, streams) is not simulated"),
    ("plids", "placement of data by the host (FDP, streams) is not simulated"),
    ("num_range", "a trim is one range of bytes here"),
    ("write_mode", "commands besides read, write, trim and flush are not simulated"),
    ("sg_write_mode", "commands besides read, write, trim and flush are not simulated"),
    ("md_per_io_size", "sectors have no metadata for protection here"),
    ("pi_act", "sectors have no metadata for protection here"),
    ("pi_chk", "sectors have no metadata for protection here"),
    ("apptag", "sectors have no metadata for protection here"),
    ("apptag_mask", "sectors have no metadata for protection here"),
    ("sprandom", "run.precondition = \"steady\" begins in the state that it writes for"),
    ("random_sequence_stride", "a sequence of places is not simulated; a trace has one"),
    ("exec_prerun", "no program is started"),
    ("exec_postrun", "no program is started"),
    ("profile", "write the options of the profile into the file"),
    ("cpuload", "a processor's load is not simulated"),
    ("cpumode", "a processor's load is not simulated"),
    ("hostname", "there is no network"),
];

const ZONED: &str = "zoned drives (ZNS) are not simulated";

/// Options with values that change no request, and what the others would do.
pub(super) const CHECKED: &[(&str, &[&str], &str)] = &[
    ("pre_read", &["0"], "it reads the files into a page cache first, and there is none"),
    ("create_only", &["0"], "the job would have no requests"),
    ("lockfile", &["none"], "a lock makes jobs wait for each other, and there are no locks"),
    ("serialize_overlap", &["0"], "requests to one place do not wait for each other here"),
    ("bs_unaligned", &["0"], "a drive takes whole sectors only"),
    ("file_append", &["0"], "there is no end of a file on a drive; --fs NAME makes files"),
    ("unlink_each_loop", &["0"], "there are no files to remove; --fs NAME makes files"),
];

impl OptionReader<'_> {
    /// Refuses values of [`CHECKED`] options that would change the requests.
    pub fn check_values(&mut self) {
        for (name, values, why) in CHECKED {
            if let Some(written) = self.written(name).filter(|written| !values.contains(&written.value.as_str())) {
                let fault = written.fault("not simulated").expected(values.join(", ")).help(*why);
                self.faults.push(fault);
            }
        }
    }
}
