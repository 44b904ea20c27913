//! Names what the bindings are compiled from: `FLASHWATT_BUILD_ID`, the SHA-256 of the sources of all crates, of what they
//! include, and of the versions of their dependencies.
//!
//! It is the hash of a list as `sha256sum` prints it, `HASH  PATH` for each file, in the order of the paths below the root of the
//! workspace. Neither the place of the clone nor the dates of files enter it. A clone and a source archive have the same:
//! line ends are read as `\n`, and of a Cargo.toml only the part before its `[[test]]` and `[[bench]]` tables counts, which
//! an archive has not.
#![allow(clippy::print_stdout)] // a build script's answers to cargo

use std::path::Path;
use std::{env, fs, io};

use sha2::{Digest, Sha256};

/// Files, and folders with everything in them, below the root of the workspace. `tests/python/test_build_id.py` has them too.
const SOURCES: [&str; 25] = [
    "Cargo.lock",
    "crates/flashwatt/Cargo.toml",
    "crates/flashwatt/presets",
    "crates/flashwatt/src",
    "crates/flashwatt-base/Cargo.toml",
    "crates/flashwatt-base/src",
    "crates/flashwatt-core/Cargo.toml",
    "crates/flashwatt-core/src",
    "crates/flashwatt-devices/Cargo.toml",
    "crates/flashwatt-devices/src",
    "crates/flashwatt-files/Cargo.toml",
    "crates/flashwatt-files/personalities",
    "crates/flashwatt-files/src",
    "crates/flashwatt-host/Cargo.toml",
    "crates/flashwatt-host/src",
    "crates/flashwatt-live/Cargo.toml",
    "crates/flashwatt-live/src",
    "crates/flashwatt-python/Cargo.toml",
    "crates/flashwatt-python/build.rs",
    "crates/flashwatt-python/src",
    "crates/flashwatt-ssd/Cargo.toml",
    "crates/flashwatt-ssd/src",
    "crates/flashwatt-workload/Cargo.toml",
    "crates/flashwatt-workload/src",
    "crates/flashwatt-workload/standins",
];

fn main() -> io::Result<()> {
    let own = env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| io::Error::other("CARGO_MANIFEST_DIR is not set"))?;
    let root = Path::new(&own).join("../..");
    let mut paths = Vec::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
        collect(&root, source, &mut paths)?;
    }
    paths.sort();
    let mut list = String::new();
    for path in paths {
        let bytes = fs::read(root.join(&path)).map_err(|error| named(&path, &error))?;
        list += &format!("{:x}  {path}\n", Sha256::digest(content(&path, &bytes)));
    }
    println!("cargo::rustc-env=FLASHWATT_BUILD_ID={:x}", Sha256::digest(list));
    Ok(())
}

/// The files of a source, with `/` in their paths on every system. Hidden files are left out: editors make them.
fn collect(root: &Path, source: &str, paths: &mut Vec<String>) -> io::Result<()> {
    let place = root.join(source);
    if !place.is_dir() {
        paths.push(source.to_string());
        return Ok(());
    }
    for entry in fs::read_dir(&place).map_err(|error| named(source, &error))? {
        let name = entry?.file_name();
        let name = name.to_str().ok_or_else(|| io::Error::other(format!("{source}: {name:?} is not UTF-8")))?;
        if !name.starts_with('.') {
            collect(root, &format!("{source}/{name}"), paths)?;
        }
    }
    Ok(())
}

/// What counts of a file.
fn content(path: &str, bytes: &[u8]) -> Vec<u8> {
    let mut text = bytes.to_vec();
    text.retain(|&byte| byte != b'\r');
    if path.ends_with("/Cargo.toml") {
        let targets = text.windows(3).position(|three| three == b"\n[[");
        text.truncate(targets.unwrap_or(text.len()));
        text.truncate(text.trim_ascii_end().len());
    }
    text
}

fn named(path: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}
