//! The programs that are built in.

use flashwatt_base::registry::Entry;

/// A built-in program: its entry makes nothing, it is the program's text.
pub type Personality = Entry<Text>;

/// The text of a built-in program.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The file of the program.
    pub(super) program: File,
    /// A file that sets other values of its variables, if there is one.
    pub(super) values: Option<File>,
}

impl Text {
    /// Name and text of the program's file, then those of the file with other values, if there is one.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        [Some(self.program), self.values].into_iter().flatten().map(|file| (file.name, file.text))
    }
}

/// A file of `presets/personalities`.
#[derive(Clone, Copy, Debug)]
pub(super) struct File {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! file {
    ($name:literal) => {
        File { name: concat!($name, ".f"), text: include_str!(concat!("../../personalities/", $name, ".f")) }
    };
}

macro_rules! text {
    ($name:literal) => {
        Text { program: file!($name), values: None }
    };
    ($name:literal, $program:literal) => {
        Text { program: file!($program), values: Some(file!($name)) }
    };
}

/// Programs by the names of their files. `"a" of "b"` is the program `b` with the values of the file `a`.
macro_rules! personalities {
    ($($name:literal $(of $program:literal)?: $doc:literal),+ $(,)?) => {
        /// Every built-in program. To add one, add a file and a line here.
        pub const PERSONALITIES: &[Personality] =
            &[$(Entry { name: $name, doc: $doc, params: &[], build: text!($name $(, $program)?) }),+];
    };
}

personalities! {
    "varmail": "a mail server: 16 threads remove, write, read and append small files, each write followed by fsync (filebench's defaults)",
    "fileserver": "a file server: 50 threads write, append to, read, remove and look up files (filebench's defaults)",
    "webserver": "a web server: 100 threads read ten files each, then append to one log (filebench's defaults)",
    "oltp": "a database: 200 readers, 10 writers and a log writer, which wait for one another (filebench's defaults)",
    "varmail-park": "varmail with the sizes of Park et al. 2011: files of 128 KiB, writes of 16 KiB, 1.5 GiB in all",
    "fileserver-park": "a file server in two phases (Park et al. 2011): files are written and updated, then 50 threads read them; the second is measured",
    "pardispatcher-fileserver" of "fileserver": "fileserver with the sizes of Wang et al. (ParDispatcher): 50,000 files of 256 KiB, 100 threads",
    "pardispatcher-webserver" of "webserver": "webserver with the sizes of Wang et al. (ParDispatcher): 20,000 files of 32 KiB, 100 threads",
    "pardispatcher-varmail" of "varmail": "varmail with the sizes of Wang et al. (ParDispatcher): 50,000 files of 16 KiB, 100 threads",
    "pardispatcher-oltp" of "oltp": "oltp with the sizes of Wang et al. (ParDispatcher): 10 files of 512 MiB, 200 + 10 threads, 20 reads for a write",
}
