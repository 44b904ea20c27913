//! The words of the language: statements, entities and their attributes; those without effect here; those not supported.

/// The attributes of an entity.
pub(super) struct Attributes {
    /// What they belong to, for messages.
    pub of: &'static str,
    /// Those with an effect.
    pub known: &'static [&'static str],
    /// Those that a simulation does not see, because they say how files are made before the run or where memory comes from.
    pub without_effect: &'static [&'static str],
    /// Those that mean something that is not simulated, with the advice that the message gives.
    pub unsupported: &'static [(&'static str, &'static str)],
}

/// Attributes of `define fileset`. `size` and `filesize` are one.
pub(super) const FILESET: Attributes = Attributes {
    of: "define fileset",
    known: &[
        "name",
        "size",
        "filesize",
        "entries",
        "dirwidth",
        "dirgamma",
        "filesizegamma",
        "prealloc",
        "readonly",
        "writeonly",
        "cached",
    ],
    without_effect: &["path", "reuse", "trusttree", "paralloc"],
    unsupported: &[
        ("leafdirs", "directories are neither made nor removed during a run"),
        ("dirdepthrv", "the depth of the tree follows from entries, dirwidth and dirgamma"),
        ("namelength", "names have no length"),
    ],
};

/// Attributes of `define file`.
pub(super) const FILE: Attributes = Attributes {
    of: "define file",
    known: &["name", "size", "filesize", "prealloc", "readonly", "writeonly", "cached"],
    without_effect: &["path", "reuse", "trusttree", "paralloc"],
    unsupported: &[],
};

/// Attributes of `define process`. `after` is not of filebench: see the module's documentation.
pub(super) const PROCESS: Attributes = Attributes {
    of: "define process",
    known: &["name", "instances", "after"],
    without_effect: &[],
    unsupported: &[("nice", "processors are not simulated, and every process has one priority")],
};

/// Attributes of `thread`. `rounds` is not of filebench: see the module's documentation.
pub(super) const THREAD: Attributes = Attributes {
    of: "thread",
    known: &["name", "instances", "rounds"],
    without_effect: &["memsize", "useism"],
    unsupported: &[
        ("ioprio", "every thread has one priority"),
        ("procname", "write the thread between the braces of its process"),
    ],
};

/// Attributes of `flowop`. `filename` and `filesetname` are one, and `workingset` and `wss`.
pub(super) const FLOWOP: Attributes = Attributes {
    of: "flowop",
    known: &[
        "name",
        "filename",
        "filesetname",
        "fd",
        "srcfd",
        "opennext",
        "iosize",
        "workingset",
        "wss",
        "random",
        "directio",
        "dsync",
        "iters",
        "value",
        "target",
        "highwater",
        "indexed",
        "blocking",
    ],
    without_effect: &[],
    unsupported: &[
        ("noreadahead", "read-ahead is a setting of the page cache, for all files"),
        ("possetname", "sets of positions are not supported"),
    ],
};

/// Attributes of `set $name=randvar(…)` and `define randvar`. The generator and its seed are the run's.
pub(super) const RANDVAR: Attributes = Attributes {
    of: "randvar",
    known: &["name", "type", "mean", "gamma", "min", "round"],
    without_effect: &["seed", "randsrc"],
    unsupported: &[("randtable", "the types are gamma and uniform")],
};

/// Attributes of `set $name=cvar(…)`.
pub(super) const CVAR: Attributes = Attributes {
    of: "cvar",
    known: &["type", "parameters", "min", "max", "round"],
    without_effect: &[],
    unsupported: &[],
};

/// Attributes of `eventgen`.
pub(super) const EVENTGEN: Attributes =
    Attributes { of: "eventgen", known: &["rate"], without_effect: &[], unsupported: &[] };

/// The flow operations.
pub const FLOWOPS: &[&str] = &[
    "createfile",
    "openfile",
    "closefile",
    "deletefile",
    "statfile",
    "readwholefile",
    "writewholefile",
    "appendfile",
    "appendfilerand",
    "read",
    "write",
    "aiowrite",
    "aiowait",
    "fsync",
    "fsyncset",
    "delay",
    "hog",
    "eventlimit",
    "opslimit",
    "iopslimit",
    "bwlimit",
    "finishoncount",
    "finishonbytes",
    "semblock",
    "sempost",
    "block",
    "wakeup",
];

/// Flow operations that are not supported, with advice.
pub(super) const UNSUPPORTED_FLOWOPS: &[(&str, &str)] = &[
    ("makedir", "directories are neither made nor removed during a run"),
    ("removedir", "directories are neither made nor removed during a run"),
    ("listdir", "directories are not listed; statfile looks a file up"),
    ("print", "a simulation prints nothing while it runs"),
    ("testrandvar", "a simulation prints nothing while it runs"),
    ("openfileat", "openfile opens files"),
];

/// The statements that mean something.
pub(super) const STATEMENTS: &[&str] = &["set", "define", "eventgen", "run", "psrun", "system"];

/// Statements without effect: they print, or they make what is there anyhow when the run begins.
pub(super) const WITHOUT_EFFECT: &[&str] = &["echo", "usage", "debug", "version", "create", "enable"];

/// Statements that are not supported, with advice.
pub(super) const UNSUPPORTED: &[(&str, &str)] = &[
    ("sleep", "write `run SECONDS`"),
    ("stats", "the report has the figures of the whole run; write `run SECONDS`"),
    ("shutdown", "a run ends by itself"),
    ("quit", "a program ends where its text ends"),
    ("exit", "a program ends where its text ends"),
    ("list", "flashwatt list personalities shows what there is"),
    ("foreach", "write one program for each value, or override the variable"),
    ("load", "write the statements into one file"),
    ("domultisync", "there is one client"),
    ("fscheck", "the file system is always checked"),
    ("fsflush", "the file system is clean when the run begins"),
    ("warmup", "run.warmup leaves the beginning out of the report"),
    ("log", "a simulation prints nothing while it runs"),
    ("thread", "a thread stands between the braces of `define process`"),
    ("flowop", "a flowop stands between the braces of a thread"),
];
