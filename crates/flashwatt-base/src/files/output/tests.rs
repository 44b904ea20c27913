//! What may be replaced, and what is left behind.

use super::*;

/// A directory that is removed when the test is over.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("flashwatt-output-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary directory");
        Directory(path)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).expect("a temporary file");
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("a directory").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A directory that stays behind does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn begins_with_ours(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.starts_with("ours"))
}

fn rules(inputs: &[&PathBuf], force: bool) -> Replace {
    let inputs = inputs.iter().map(|&path| path.clone()).collect();
    Replace { inputs, what: "a page", ours: begins_with_ours, force }
}

fn write(path: &Path, rules: Replace) -> Result<(), Error> {
    let aside = Aside::new(path, rules)?;
    io::Write::write_all(&mut aside.file()?, b"ours, new").expect("room for nine bytes");
    aside.commit()
}

fn message(path: &Path, rules: &Replace) -> String {
    rules.check(path).expect_err("refused").to_string()
}

#[test]
fn a_file_is_replaced_when_it_is_whole() {
    let directory = Directory::new();
    let path = directory.file("page", "ours, old");
    let aside = Aside::new(&path, rules(&[], false)).expect("our own file");
    io::Write::write_all(&mut aside.file().expect("open"), b"half").expect("room");
    assert_eq!(directory.names().len(), 2);
    drop(aside);
    assert_eq!((directory.names(), fs::read_to_string(&path).ok()), (vec!["page".into()], Some("ours, old".into())));
    write(&path, rules(&[], false)).expect("our own file");
    assert_eq!((directory.names(), fs::read_to_string(&path).ok()), (vec!["page".into()], Some("ours, new".into())));
}

#[test]
fn what_is_not_ours_is_refused_unless_forced() {
    let directory = Directory::new();
    let (path, other) = (directory.file("page", "mine"), directory.file("other", "ours"));
    let said = message(&path, &rules(&[], false));
    assert!(
        said.ends_with(
            "page: cannot be written; found a file that is not a page written by flashwatt; expected another name \
         (--force replaces it)"
        ),
        "{said}"
    );
    write(&path, rules(&[], true)).expect("forced");
    assert!(message(&other, &rules(&[&other], true)).contains("found a file that is read"));
    assert!(message(&directory.0, &rules(&[], true)).contains("found a directory"));
    assert!(message(Path::new(""), &rules(&[], true)).contains("found an empty name"));
    write(&directory.file("empty", ""), rules(&[], false)).expect("nothing is lost");
}

#[cfg(unix)]
#[test]
fn links_and_devices_are_refused() {
    let directory = Directory::new();
    let (link, path) = (directory.0.join("link"), directory.file("page", "ours, old"));
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    assert!(message(&link, &rules(&[], false)).contains("found a symbolic link"));
    assert!(message(&link, &rules(&[&path], true)).contains("found a file that is read"));
    write(&link, rules(&[], true)).expect("forced");
    assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("ours, old"));
    assert_eq!(fs::read_to_string(&link).ok().as_deref(), Some("ours, new"));
    assert!(message(Path::new("/dev/null"), &rules(&[], true)).contains("found a device"));
    let to_device = directory.0.join("null");
    std::os::unix::fs::symlink("/dev/null", &to_device).expect("a link");
    assert!(message(&to_device, &rules(&[], true)).contains("found a device"));
}

#[cfg(unix)]
#[test]
fn the_mode_stays() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new();
    let path = directory.file("page", "ours, old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("our own file");
    write(&path, rules(&[], false)).expect("our own file");
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
}

#[test]
fn leftovers_of_the_dead_go_and_those_of_the_living_stay() {
    let directory = Directory::new();
    directory.file(".flashwatt-1-0.part", "of a process that was killed");
    fs::create_dir(directory.0.join(".flashwatt-1-1.part")).expect("a directory");
    directory.file(".flashwatt-1-1.part/ops.csv", "of another one");
    directory.file("page.part", "of somebody else");
    let living = Aside::new(&directory.0.join("one"), rules(&[], false)).expect("a new file");
    write(&directory.0.join("two"), rules(&[], false)).expect("a new file");
    let part = living.part().file_name().expect("a name").to_string_lossy().into_owned();
    assert_eq!(directory.names(), [part.as_str(), "page.part", "two"]);
    living.commit().expect("a new file");
    assert_eq!(directory.names(), ["one", "page.part", "two"]);
}
