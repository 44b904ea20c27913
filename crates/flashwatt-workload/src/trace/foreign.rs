//! Files that people give to a simulator of drives and that hold no trace: what they are, what is not there, and what to do.

use super::read::records::{u32_at, u64_at};

/// What a file is, and what to do with it.
pub struct Foreign {
    /// In words.
    pub what: &'static str,
    /// A remedy.
    pub help: &'static str,
}

const ZONES: &str = "zoned drives (ZNS, SMR) are not simulated; a conventional drive of the same geometry takes the requests without the zone \
                     commands: convert reads and writes to csv (time_us,device,op,offset,bytes)";

/// Words by which a text is known: all of a line must be in it.
const TEXTS: &[(&[&[u8]], Foreign)] = &[
    (
        &[b"<Execution_Parameter_Set"],
        Foreign {
            what: "the configuration of a drive of MQSim",
            help: "`flashwatt init --mqsim FILE --out drive.toml` converts it to a configuration",
        },
    ),
    (
        &[b"<MQSim_IO_Scenarios"],
        Foreign {
            what: "a workload definition of MQSim",
            help: "`flashwatt init --mqsim DRIVE.xml --mqsim-workload FILE --out drive.toml` converts it together with its drive; --trace replays an ASCII trace of MQSim",
        },
    ),
    (
        &[b"disksim_"],
        Foreign {
            what: "a parameter file of DiskSim",
            help: "such files are not read; `flashwatt list presets` names disks and drives to start from, docs/disks.md the keys of a disk",
        },
    ),
    (
        &[b"dm_disk"],
        Foreign {
            what: "a disk model of DiskSim",
            help: "such files are not read; docs/disks.md describes the keys of a disk",
        },
    ),
    (
        &[b"[simulation]", b"<config"],
        Foreign {
            what: "a configuration of SimpleSSD",
            help: "such files are not read; `flashwatt init PRESET` writes a configuration to put its geometry and times into",
        },
    ),
    (&[b"NVMeEnable"], SIMPLE_SSD),
    (&[b"[pal]"], SIMPLE_SSD),
    (&[b"[flash]", b"[ssd]"], SIMPLE_SSD),
    (&[b"NANDDMASpeed"], SIMPLE_SSD),
    (&[b"<simplessd"], SIMPLE_SSD),
    (
        &[b"-device femu"],
        Foreign {
            what: "a script that starts FEMU",
            help: "it is not read; `flashwatt init PRESET` writes a configuration to put its geometry and times into",
        },
    ),
    (
        &[b"memmap_start="],
        Foreign {
            what: "the options of NVMeVirt",
            help: "they are not read; `flashwatt init PRESET` writes a configuration to put a drive's geometry and times into",
        },
    ),
    (&[b"zonemode=zbd"], Foreign { what: "a job of fio for a zoned drive", help: ZONES }),
    (&[b"zone_size", b"zone_append"], Foreign { what: "a file about zones", help: ZONES }),
    (
        &[b"TIME(ms)", b"LAT(ms)"],
        Foreign {
            what: "the output of bpftrace's biosnoop, which has neither sectors nor sizes",
            help: "there is nothing to replay in it: record with biosnoop of bcc, or with blktrace",
        },
    ),
];

const SIMPLE_SSD: Foreign = Foreign {
    what: "a configuration of SimpleSSD (or Amber, which is built on it)",
    help: "such files are not read; `flashwatt init PRESET` writes a configuration to put its geometry and times into",
};

const ORACLE: Foreign = Foreign {
    what: "a trace of libCacheSim in oracleGeneral form, which names objects, and neither places on a drive nor reads and writes",
    help: "take the trace that it was made of: the CloudPhysics traces are given out as vscsi, others as csv",
};

/// What a file that begins so is, if it is known and no trace of a drive.
pub fn known(sample: &[u8]) -> Option<&'static Foreign> {
    let has = |word: &[u8]| sample.windows(word.len()).any(|at| at == word);
    let text = TEXTS.iter().find(|(words, _)| words.iter().all(|word| has(word))).map(|(_, foreign)| foreign);
    text.or_else(|| is_oracle(sample).then_some(&ORACLE))
}

/// Bytes of a record: time in seconds, object, size, number of the next access or -1.
const ORACLE_BYTES: usize = 24;
/// Records that are looked at.
const ORACLE_RECORDS: usize = 64;

fn is_oracle(sample: &[u8]) -> bool {
    let records: Vec<_> = sample.chunks_exact(ORACLE_BYTES).take(ORACLE_RECORDS).collect();
    let mut last_s = 0;
    let plausible = |(at, record): (usize, &&[u8])| {
        let (time_s, bytes, next) = (u32_at(record, 0), u32_at(record, 12), u64_at(record, 16));
        let in_order = time_s >= last_s;
        last_s = time_s;
        in_order && (1..1 << 30).contains(&bytes) && (next == u64::MAX || (at as u64..1 << 40).contains(&next))
    };
    records.len() >= 2 && records.iter().enumerate().all(plausible)
}
