//! Files that a configuration names. A relative path in a configuration file is relative to that file; one on the command line or
//! in a program to the working directory.

use std::path::{Component, Path, PathBuf, absolute};

use flashwatt_base::error::Fault;
use flashwatt_base::settings::{KeySource, Node, Value};

/// The keys that name files.
const KEYS: [&str; 7] = [
    "workload.trace.path",
    "workload.fio.path",
    "workload.standin.path",
    "run.precondition.snapshot",
    "run.precondition.trace.path",
    "run.precondition.fio.path",
    "run.precondition.standin.path",
];

/// Makes paths of the configuration file `file_name` relative to the working directory, as all others are. A file that is
/// there in the working directory alone is a fault.
pub(super) fn resolve(tree: &mut Node, file_name: &str, faults: &mut Vec<Fault>) {
    let beside = Path::new(file_name).parent().filter(|dir| !dir.as_os_str().is_empty());
    let Some(beside) = beside else { return };
    each(tree, &mut |node| {
        let Value::String(name) = &mut node.value else { return };
        if node.origin != KeySource::File || name.is_empty() || Path::new(name).is_absolute() {
            return;
        }
        let path = beside.join(&*name);
        if !path.exists() && Path::new(name).exists() {
            let fault = Fault::at(node.place.clone(), "no such file").found(format!("`{}`", path.display()));
            let dir = beside.display();
            let help =
                format!("a path in a file is relative to that file; `{name}` is there in the working directory only");
            faults.push(fault.expected(format!("the path of a file from {dir}")).help(help));
        }
        *name = path.display().to_string();
    });
}

/// Makes paths relative to the directory `to`: for a configuration that is written there.
pub(super) fn relative(tree: &mut Node, to: &Path) {
    each(tree, &mut |node| {
        let Value::String(name) = &mut node.value else { return };
        if let Some(path) = from(to, Path::new(name.as_str())).filter(|_| !Path::new(name.as_str()).is_absolute()) {
            *name = path.display().to_string();
        }
    });
}

/// The way to `path` from the directory `to`; none if there is none.
fn from(to: &Path, path: &Path) -> Option<PathBuf> {
    let (to, path) = (plain(to)?, plain(path)?);
    let shared = to.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = to.components().skip(shared).map(|_| Component::ParentDir);
    Some(up.chain(path.components().skip(shared)).collect())
}

/// The absolute path without `..`; links are not followed.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in absolute(path).ok()?.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// Every value that names a file.
fn each(tree: &mut Node, of: &mut dyn FnMut(&mut Node)) {
    for key in KEYS {
        let path: Vec<String> = key.split('.').map(str::to_string).collect();
        match tree.at_mut(&path) {
            Some(Node { value: Value::Array(items), .. }) => items.iter_mut().for_each(&mut *of),
            Some(node) => of(node),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::super::{Config, load, merged_to};
    use super::*;

    fn dir(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("flashwatt-paths-{}-{name}", std::process::id()));
        std::fs::create_dir_all(dir.join("sub")).expect("a directory");
        dir
    }

    fn paths(text: &str, file: &Path, sets: &[&str]) -> Result<Vec<PathBuf>, String> {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let config = load(text, &file.display().to_string(), &sets).map_err(|error| error.to_string());
        config.map(|config: Config| config.inputs())
    }

    #[test]
    fn paths_are_relative_to_the_file_that_names_them() {
        let dir = dir("beside");
        let text = r#"
            workload.trace.path = ["a.csv", "../b.csv", "/c.csv"]
            run.precondition = { snapshot = "old.fw" }
        "#;
        let found = paths(text, &dir.join("my.toml"), &[]).expect("valid");
        let expected = [dir.join("a.csv"), dir.join("../b.csv"), "/c.csv".into(), dir.join("old.fw")];
        assert_eq!(found, expected);
        let set = paths(text, &dir.join("my.toml"), &["workload.trace.path=a.csv"]).expect("valid");
        assert_eq!(set, [PathBuf::from("a.csv"), dir.join("old.fw")]);
        assert_eq!(paths("workload.fio.path = \"j.fio\"", Path::new("my.toml"), &[]), Ok(vec!["j.fio".into()]));
        let hash = |file: &Path| load(text, &file.display().to_string(), &[]).expect("valid").sha256();
        assert_eq!(hash(&dir.join("my.toml")), hash(Path::new("my.toml")), "wherever it lies");
    }

    #[test]
    fn a_file_in_the_working_directory_alone_is_told() {
        let (dir, here) = (dir("told"), "Cargo.toml");
        assert!(Path::new(here).exists(), "tests run in the crate's directory");
        let text = format!("[workload.trace]\npath = \"{here}\"\n");
        let said = paths(&text, &dir.join("my.toml"), &[]).expect_err("not beside the file");
        for part in ["my.toml:2:1: workload.trace.path: no such file", "`Cargo.toml` is there in the working directory"]
        {
            assert!(said.contains(part), "{said}");
        }
        assert!(said.contains(&dir.join(here).display().to_string()), "{said}");
        assert!(paths(&text, &dir.join("my.toml"), &["workload.trace.path=Cargo.toml"]).is_ok());
    }

    #[test]
    fn a_record_names_files_from_where_it_is_written() {
        let text = "[workload.trace]\npath = \"sub/a.csv\"\n";
        let record = merged_to(text, "in/my.toml", &[], Path::new("out/run")).expect("valid");
        assert!(record.contains("path = \"../../in/sub/a.csv\""), "{record}");
        let again = paths(&record, Path::new("out/run/config.toml"), &[]).expect("valid");
        assert_eq!(plain(&again[0]), plain(Path::new("in/sub/a.csv")));
    }
}
