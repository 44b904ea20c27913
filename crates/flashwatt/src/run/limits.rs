//! Memory that is left for this process: free memory of the machine, and the rest of the limits of control groups
//! (containers, batch systems). The system kills a process that takes more.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// A bound on the memory that this process may still take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Bytes that are free.
    pub bytes: u64,
    /// The place of the limit: "in this machine".
    pub whose: String,
}

/// The smallest limit that the system reports; none if it reports none.
pub fn least() -> Option<MemoryLimit> {
    least_under(Path::new("/"))
}

fn least_under(root: &Path) -> Option<MemoryLimit> {
    machine(root).into_iter().chain(groups(root)).min_by_key(|limit| limit.bytes)
}

/// Free memory of the machine, with droppable pages of files and swap space.
fn machine(root: &Path) -> Option<MemoryLimit> {
    let text = read_to_string(root.join("proc/meminfo")).ok()?;
    let kib = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim_start_matches(':').split_whitespace().next()?.parse::<u64>().ok()
    };
    let kib = kib("MemAvailable")? + kib("SwapFree").unwrap_or(0);
    Some(MemoryLimit { bytes: kib.saturating_mul(1024), whose: "in this machine".into() })
}

/// The two layouts of control groups, by the names of their files.
struct CgroupLayout {
    mount: &'static str,
    limit: &'static str,
    used: &'static str,
    /// Keys in `memory.stat` for pages of files, which the system drops before it kills a process.
    files: [&'static str; 2],
}

const V1: CgroupLayout = CgroupLayout {
    mount: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    files: ["total_inactive_file", "total_active_file"],
};

const V2: CgroupLayout = CgroupLayout {
    mount: "sys/fs/cgroup",
    limit: "memory.max",
    used: "memory.current",
    files: ["inactive_file", "active_file"],
};

/// The limits of all control groups of this process, and of their parents.
fn groups(root: &Path) -> Vec<MemoryLimit> {
    let text = read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    text.lines().filter_map(group_of_line).flat_map(|(layout, path)| groups_above(root, layout, path)).collect()
}

/// A line is `number:controllers:path`; version 2 names no controllers.
fn group_of_line(line: &str) -> Option<(&'static CgroupLayout, &str)> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    match controllers {
        "" => Some((&V2, path)),
        _ if controllers.split(',').any(|name| name == "memory") => Some((&V1, path)),
        _ => None,
    }
}

/// A group and its parents. In a container the path may be that of the host system, of which only the mount is visible.
fn groups_above(root: &Path, layout: &CgroupLayout, path: &str) -> Vec<MemoryLimit> {
    let inside = path.trim_start_matches('/');
    let mut parts: PathBuf = if inside.split('/').any(|part| part == "..") { PathBuf::new() } else { inside.into() };
    let mut limits = Vec::new();
    loop {
        let shown = Path::new("/").join(layout.mount).join(&parts);
        limits.extend(group(&root.join(layout.mount).join(&parts), layout, &shown));
        if !parts.pop() {
            return limits;
        }
    }
}

fn group(dir: &Path, layout: &CgroupLayout, shown: &Path) -> Option<MemoryLimit> {
    /// Without a limit, version 1 gives a number near 2^63, version 2 the word `max`.
    const NONE: u64 = 1 << 60;
    let number = |file: &str| read_to_string(dir.join(file)).ok()?.trim().parse::<u64>().ok();
    let limit = number(layout.limit).filter(|&bytes| bytes < NONE)?;
    let stat = read_to_string(dir.join("memory.stat")).unwrap_or_default();
    let droppable: u64 = stat
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(key, _)| layout.files.contains(key))
        .filter_map(|(_, bytes)| bytes.trim().parse::<u64>().ok())
        .sum();
    let used = number(layout.used).unwrap_or(0).saturating_sub(droppable);
    let whose = format!("in the control group {} ({limit} bytes in all)", shown.display());
    Some(MemoryLimit { bytes: limit.saturating_sub(used), whose })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of a system in a temporary directory, which is removed at the end.
    struct Root(PathBuf);

    impl Root {
        fn with(name: &str, files: &[(&str, &str)]) -> Root {
            let root = std::env::temp_dir().join(format!("flashwatt-limits-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                path.parent().map(std::fs::create_dir_all).expect("a directory").expect("a temporary directory");
                std::fs::write(path, text).expect("a temporary file");
            }
            Root(root)
        }

        fn least(&self) -> Option<MemoryLimit> {
            least_under(&self.0)
        }
    }

    impl Drop for Root {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const MEMINFO: (&str, &str) =
        ("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    4000 kB\nSwapTotal: 70 kB\nSwapFree: 96 kB\n");

    #[test]
    fn a_machine_without_groups_gives_what_is_available() {
        let root = Root::with("machine", &[MEMINFO]);
        assert_eq!(root.least(), Some(MemoryLimit { bytes: 4096 * 1024, whose: "in this machine".into() }));
        assert_eq!(Root::with("nothing", &[]).least(), None);
    }

    #[test]
    fn a_group_of_version_2_gives_its_limit_less_what_is_used_and_cannot_be_dropped() {
        let root = Root::with(
            "v2",
            &[
                MEMINFO,
                ("proc/self/cgroup", "0::/user.slice/job\n"),
                ("sys/fs/cgroup/user.slice/job/memory.max", "max\n"),
                ("sys/fs/cgroup/user.slice/memory.max", "2000000\n"),
                ("sys/fs/cgroup/user.slice/memory.current", "700000\n"),
                ("sys/fs/cgroup/user.slice/memory.stat", "anon 1\ninactive_file 150000\nactive_file 50000\nfile 9\n"),
            ],
        );
        let limit = root.least().expect("the group above has a limit");
        assert_eq!(limit.bytes, 2_000_000 - 500_000);
        assert!(limit.whose.contains("/sys/fs/cgroup/user.slice (2000000 bytes in all)"), "{}", limit.whose);
    }

    #[test]
    fn a_group_of_version_1_counts_where_its_path_is_seen_and_where_only_the_mount_is() {
        let files = [
            ("proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/docker/abc\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "1500000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "400000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n"),
        ];
        let mount_only = Root::with("v1-mount", &files);
        assert_eq!(mount_only.least().map(|limit| limit.bytes), Some(1_200_000));
        let inner = ("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "900000\n");
        let seen = Root::with("v1-seen", &[&files[..], &[inner]].concat());
        assert_eq!(seen.least().map(|limit| limit.bytes), Some(900_000));
    }

    #[test]
    fn no_limit_is_none() {
        let unlimited = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        let root = Root::with("unlimited", &[("proc/self/cgroup", "4:memory:/\n1:cpu:/a\n"), unlimited]);
        assert_eq!(root.least(), None);
        let outside =
            Root::with("outside", &[("proc/self/cgroup", "0::/../other\n"), ("sys/fs/cgroup/memory.max", "77")]);
        assert_eq!(outside.least().map(|limit| limit.bytes), Some(77));
    }
}
