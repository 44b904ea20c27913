//! The layers of the engine's folders: no folder or file at the top of `src` imports one that stands above it.
//!
//! The test reads the sources as text: every path that begins with `crate::` or with a chain of `super::` that leaves its
//! folder. Comments and `#[cfg(test)]` modules are left out. Since [`LAYERS`] is one order, a circle always has an arrow that
//! runs up.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders and files of `src`, from the ground to the roof. Each imports only what stands before it.
const LAYERS: &[&str] = &[
    // Ground: knows no drive.
    "error",
    "units",
    "mem",
    "hash",
    "lane",
    "list",
    "shared",
    "rng",
    "stats",
    "halves",
    "progress",
    "persist",
    "output",
    "settings",
    "registry",
    "models",
    // What a device is. `energy` knows no kind of it.
    "energy",
    "operation",
    "connector",
    "ssd_energy",
    "device",
    "cache",
    // What decides.
    "blocks",
    "gc",
    "wear",
    "ftl",
    "files",
    "workload",
    // What runs.
    "firmware",
    "probe",
    "accounts",
    "controller",
    "host",
    "kernel",
    "limits",
    "clockless",
    "paced",
    "ssd",
    "hdd",
    "raid",
    "any",
    // The roof: what the user writes, as a whole, and what knows all of it. Nothing below takes a configuration: each module
    // has the settings of its own part.
    "config",
    "catalogue",
    "snapshot",
    "report",
    "audit",
    "reported",
    "check",
    "footprint",
    "request_log",
    "run",
    "inspect",
    "age",
    "crash",
    "drive",
    "reprice",
    "power",
];

/// An import: the line, and the top-level name that it reaches.
type Import = (usize, String);

#[test]
fn no_import_runs_up() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for file in sources(&root) {
        let module = module_of(file.strip_prefix(&root).expect("a file below the root"));
        let Some(own) = module.first() else { continue };
        let text = fs::read_to_string(&file).expect("a source is text");
        for (line, to) in imports(&text, module.len()) {
            if let Some(fault) = fault(own, &to) {
                faults.push(format!("{}:{line}: {fault}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "imports that run up:\n{}", faults.join("\n"));
}

#[test]
fn every_folder_has_its_layer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found: Vec<String> =
        sources(&root).iter().filter_map(|file| module_of(file.strip_prefix(&root).ok()?).first().cloned()).collect();
    found.sort();
    found.dedup();
    let mut listed: Vec<_> = LAYERS.to_vec();
    listed.sort_unstable();
    assert_eq!(found, listed, "left: found in src; right: listed here");
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "use crate::{a::b, c};\n\
                use super::super::d::E; // use crate::no;\n\
                use super::sibling;\n\
                fn f() { crate::g::h(); }\n\
                #[cfg(test)]\nmod tests {\n    use crate::no;\n    fn t() {}\n}\n\
                pub(crate) use crate::i;\n\
                #[cfg(test)]\nmod other;\nuse super::super::{j, k::L};\n";
    let found = imports(text, 2);
    let expected = [(1, "a"), (1, "c"), (2, "d"), (4, "g"), (10, "i"), (13, "j"), (13, "k")];
    assert_eq!(found, expected.map(|(line, name)| (line, name.to_string())));
}

#[test]
fn an_arrow_up_is_a_fault() {
    assert_eq!(fault("ftl", "nand"), None);
    assert_eq!(fault("ftl", "ftl"), None);
    assert!(fault("controller", "config").is_some(), "settings come from the module that they set");
    assert!(fault("nand", "ftl").is_some_and(|fault| fault.contains("`nand` imports `ftl`")));
    assert!(fault("nand", "Error").is_some());
}

/// What is wrong with an import of `to` in `own`.
fn fault(own: &str, to: &str) -> Option<String> {
    let layer = |name: &str| LAYERS.iter().position(|listed| *listed == name);
    match (layer(own), layer(to)) {
        (Some(own_layer), Some(to_layer)) if to_layer <= own_layer => None,
        (_, Some(_)) => Some(format!("`{own}` imports `{to}`, which stands above it")),
        (_, None) => {
            Some(format!("`{own}` imports `{to}`, which is no folder or file of src: import it where it is defined"))
        }
    }
}

/// Every Rust file below a folder but for tests, in a fixed order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    let mut files = Vec::new();
    for path in entries {
        let name = path.file_stem().unwrap_or_default();
        if name == "tests" || name == "lib" {
            continue;
        }
        match path.is_dir() {
            true => files.extend(sources(&path)),
            false if path.extension().is_some_and(|extension| extension == "rs") => files.push(path),
            false => {}
        }
    }
    files
}

/// The path of the module in a file.
fn module_of(file: &Path) -> Vec<String> {
    let path = file.with_extension("");
    let mut names: Vec<_> = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| name == "mod") {
        names.pop();
    }
    names
}

/// The top-level names that a file's paths reach. `depth`: the length of its module's path.
fn imports(text: &str, depth: usize) -> Vec<Import> {
    let text = without_tests(&without_comments(text));
    let to_root = "super::".repeat(depth);
    let mut found = Vec::new();
    for (at, _) in text.match_indices("crate::").chain(text.match_indices(to_root.as_str())) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let prefix = if text[at..].starts_with("crate::") { "crate::" } else { &to_root };
        let line = text[..at].matches('\n').count() + 1;
        found.extend(heads(&text[at + prefix.len()..]).into_iter().map(|name| (line, name)));
    }
    found.sort();
    found
}

/// The first names after the beginning of a path: one name, or those of a list in braces.
fn heads(rest: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(list) = rest.strip_prefix('{') else { return vec![name(rest)] };
    let (mut level, mut names, mut start) = (0, Vec::new(), 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => level += 1,
            '}' if level > 0 => level -= 1,
            ',' | '}' if level == 0 => {
                names.push(name(list[start..at].trim_start()));
                start = at + 1;
            }
            _ => {}
        }
        if c == '}' && level == 0 && start == at + 1 {
            break;
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The text with blanks for comments.
fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The text with empty lines for `#[cfg(test)]` modules.
fn without_tests(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        kept.push(line);
        if line.trim() != "#[cfg(test)]" {
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        while lines.peek().is_some_and(|next| next.trim_start().starts_with("#[")) {
            kept.extend(lines.next());
        }
        let opens = lines.peek().is_some_and(|next| next.trim_end().ends_with('{'));
        kept.push("");
        if lines.next().is_some() && opens {
            for next in lines.by_ref() {
                kept.push("");
                if next == end {
                    break;
                }
            }
        }
    }
    kept.join("\n")
}
