//! fio's engines: how a job's requests reach a device.

use super::reader::OptionReader;
use flashwatt_base::error::nearest;

/// What an engine makes of a job.
enum Engine {
    /// As many requests as `iodepth` says are outstanding.
    Queued,
    /// One request is outstanding, whatever `iodepth` says.
    OneAtATime,
    /// Its requests go to a block device of another machine, as many as `iodepth` says at a time.
    Remote,
    /// In fio no data moves; here the requests go to the drive.
    Pretends,
    /// It has no requests to a block device, or other ones than those of the job.
    Other(&'static str),
}

use Engine::{OneAtATime, Other, Pretends, Queued, Remote};

const FILES: &str = "it works on the names of files, and moves no data";
const SPACE: &str = "it changes the space of files, and moves no data";
const NETWORK: &str = "its data goes over a network to another program";
const SERVED: &str = "it works on files or objects of a server, which decides what its drives see";
const MEMORY: &str = "it loads and stores bytes of memory: there are no requests";
const PROCESSOR: &str = "it uses the processor, and moves no data";

const ENGINES: &[(&str, Engine)] = &[
    ("libaio", Queued),
    ("io_uring", Queued),
    ("io_uring_cmd", Queued),
    ("posixaio", Queued),
    ("solarisaio", Queued),
    ("windowsaio", Queued),
    ("nvme", Queued),
    ("xnvme", Queued),
    ("libblkio", Queued),
    ("guasi", Queued),
    ("syslet-rw", Queued),
    ("vsync", OneAtATime),
    ("sync", OneAtATime),
    ("psync", OneAtATime),
    ("pvsync", OneAtATime),
    ("pvsync2", OneAtATime),
    ("splice", OneAtATime),
    ("mmap", OneAtATime),
    ("sg", Queued),
    ("libcufile", OneAtATime),
    ("libhipfile", OneAtATime),
    ("null", Pretends),
    ("cpp_null", Pretends),
    ("filecreate", Other(FILES)),
    ("filestat", Other(FILES)),
    ("filedelete", Other(FILES)),
    ("dircreate", Other(FILES)),
    ("dirstat", Other(FILES)),
    ("dirdelete", Other(FILES)),
    ("falloc", Other(SPACE)),
    ("ftruncate", Other(SPACE)),
    ("e4defrag", Other("it exchanges the blocks of files")),
    ("cpuio", Other(PROCESSOR)),
    ("exec", Other("it runs another program")),
    ("net", Other(NETWORK)),
    ("netsplice", Other(NETWORK)),
    ("rdma", Other(NETWORK)),
    ("librpma_apm_client", Other(NETWORK)),
    ("librpma_apm_server", Other(NETWORK)),
    ("librpma_gpspm_client", Other(NETWORK)),
    ("librpma_gpspm_server", Other(NETWORK)),
    ("rados", Other(SERVED)),
    ("rbd", Remote),
    ("nbd", Remote),
    ("nfs", Other(SERVED)),
    ("http", Other(SERVED)),
    ("gfapi", Other(SERVED)),
    ("gfapi_async", Other(SERVED)),
    ("libhdfs", Other(SERVED)),
    ("libiscsi", Remote),
    ("dfs", Other(SERVED)),
    ("ime_psync", Other(SERVED)),
    ("ime_psyncv", Other(SERVED)),
    ("ime_aio", Other(SERVED)),
    ("pmemblk", Other(MEMORY)),
    ("dev-dax", Other(MEMORY)),
    ("libpmem", Other(MEMORY)),
    ("page_fault", Other(MEMORY)),
    ("mtd", Other("it works on bare flash memory, without a drive's translation layer")),
    ("libzbc", Other("zoned drives (ZNS) are not simulated")),
];

/// How the requests of a clone reach the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queue {
    /// How many may be outstanding.
    pub depth: u64,
    /// Whether each completes in the call that sends it. As in fio 3.33, a pass of such a job does not end at `size`, but where
    /// its files are used up.
    pub is_synchronous: bool,
}

impl OptionReader<'_> {
    /// How the requests of a clone reach the device, and a warning if the engine makes them others than the file says.
    pub fn queue(&mut self) -> (Queue, Option<String>) {
        let depth = self.count("iodepth", 1, 65_536);
        let queued = Queue { depth, is_synchronous: false };
        // As fio's own engines without one's name: of one request, or of several.
        let usual = Queue { depth, is_synchronous: depth == 1 };
        let Some(written) = self.written("ioengine").cloned() else { return (usual, None) };
        let name = written.value.as_str();
        let line = written.place.line.unwrap_or_default();
        match ENGINES.iter().find(|(known, _)| *known == name).map(|(_, engine)| engine) {
            Some(Queued) => (queued, None),
            Some(OneAtATime) if depth == 1 => (usual, None),
            Some(OneAtATime) => {
                let said = format!("has one request outstanding at a time, as in fio: iodepth={depth} has no effect");
                (
                    Queue { depth: 1, is_synchronous: true },
                    Some(format!("{}:{line}: ioengine={name} {said}", self.file)),
                )
            }
            Some(Remote) => {
                let said =
                    "sends its requests to a block device over a network; here they go to the drive, without one";
                (queued, Some(format!("{}:{line}: ioengine={name} {said}", self.file)))
            }
            Some(Pretends) => {
                let said = "moves no data in fio; here its requests go to the drive";
                (usual, Some(format!("{}:{line}: ioengine={name} {said}", self.file)))
            }
            Some(Other(why)) => {
                let fault = written.fault("an engine without requests to a block device");
                self.faults
                    .push(fault.help(format!("{name}: {why}; only reads, writes and trims of a drive are simulated")));
                (queued, None)
            }
            None => {
                let known = ENGINES.iter().filter(|(_, engine)| !matches!(engine, Other(_))).map(|(known, _)| *known);
                let names: Vec<&str> = known.collect();
                let fault =
                    written.fault("an engine that is not known").expected(format!("one of {}", names.join(", ")));
                let near = nearest(name, names.iter().copied());
                self.faults.push(fault.nearest(near));
                (queued, None)
            }
        }
    }

    /// With how many requests outstanding a full queue takes further ones (fio's `iodepth_batch_complete_min` and `iodepth_low`).
    pub fn refill_at(&mut self, depth: u64) -> u64 {
        let batch = self.given_count("iodepth_batch_complete_min", 0, 65_536).unwrap_or(1).clamp(1, depth);
        let most = self.given_count("iodepth_batch_complete_max", 0, 65_536);
        let polls = most == Some(0) && self.written("iodepth_batch_complete_min").is_some_and(|min| min.value == "0");
        self.given_count("iodepth_batch", 0, 65_536);
        let low = self.given_count("iodepth_low", 0, 65_536).filter(|low| (1..=depth).contains(low)).unwrap_or(depth);
        if polls {
            return 0;
        }
        let batches = (depth - low).div_ceil(batch).max(1);
        depth.saturating_sub(batches * batch)
    }
}
