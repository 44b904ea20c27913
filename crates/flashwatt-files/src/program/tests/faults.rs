//! What is wrong in a program is named, with its line.

use super::*;

/// A program with this at the place of `HERE`, and the rest as it must be.
fn with(statement: &str, fileset: &str, process: &str, thread: &str, flowop: &str) -> String {
    format!(
        "set $n=100\n\
         {statement}\n\
         define fileset name=files,path=/x,size=16k,entries=$n,dirwidth=20,prealloc{fileset}\n\
         define process name=p{process}\n\
         {{\n\
         thread name=t,memsize=1m{thread}\n\
         {{\n\
         flowop openfile name=open,filesetname=files,fd=1\n\
         {flowop}\n\
         flowop closefile name=close,fd=1\n\
         }}\n\
         }}\n\
         run 10\n"
    )
}

fn message(text: &str) -> String {
    message_with(text, &[])
}

fn message_with(text: &str, overrides: &[(&str, &str)]) -> String {
    let overrides = overrides.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    match Program::parse("a.f", text, &overrides, 1, None) {
        Ok(_) => panic!("no fault in\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// Asserts that each text has one fault, which begins with the first text and contains the others.
fn check(cases: &[(String, &[&str])]) {
    for (text, parts) in cases {
        let message = message(text);
        assert!(message.starts_with(parts[0]), "{message}\nexpected at its beginning: {}", parts[0]);
        parts.iter().for_each(|part| assert!(message.contains(part), "{message}\nexpected: {part}"));
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn wrong_statements() {
    let of = |statement: &str| with(statement, "", "", "", "");
    check(&[
        (of("sett $x=1"), &["a.f:2: unknown statement; found `sett`", "did you mean `set`?"]),
        (of("sleep 10"), &["a.f:2: a statement that is not supported here; found `sleep`", "run SECONDS"]),
        (of("set x=1"), &["a.f:2: `set` without a variable; found `x`", "`$name = value`"]),
        (of("set $x"), &["a.f:3: the variable has no value; found `define`", "`=`"]),
        (of("set mode quit never"), &["a.f:2: unknown word behind `set mode quit`; found `never`"]),
        (of("set $x=cvars(type=cvar-gamma)"), &["a.f:2: unknown kind of variable; found `cvars`", "`cvar`?"]),
        (of("system \"rm -rf /\""), &["a.f:2: a command that a simulation cannot carry out; found \"rm -rf /\""]),
        (of("echo hello"), &["a.f:2: `echo` without a text; found `hello`"]),
        (of("set $x=4*2"), &["a.f:2: a character that is not of the language; found `*`"]),
        (of("create filez"), &["a.f:2: unknown word behind `create`; found `filez`", "did you mean `file`?"]),
        (of("eventgen rate=fast"), &["a.f:2: rate: not a number; found `fast`"]),
        (of("define flowop name=x"), &["a.f:2: a composite flow operation is not supported"]),
        (of("define filset name=x"), &["a.f:2: unknown entity; found `filset`", "did you mean `fileset`?"]),
    ]);
}

#[test]
fn wrong_texts() {
    let lines = message(&with("echo \"hello", "", "", "", ""));
    assert_eq!(lines, "a.f:2: the text is not closed; found \"hello; expected a closing `\"`");
    let lines = message(&with("run 5", "", "", "", ""));
    assert!(lines.starts_with("a.f:3: a statement behind `run`, which ends a program; found `define`"), "{lines}");
    let open = message("define process name=p { thread name=t { flowop hog name=h,value=1 }\nrun 5");
    assert_eq!(open, "a.f:2: the brace of line 1 is not closed; found `run`; expected `thread` or `}`");
    assert_eq!(message("run 5"), "a.f:1: a program without processes; expected `define process`");
    let two = message(&with("sett $x=1", "", "", "", "flowop reed name=r"));
    assert_eq!(two.lines().count(), 2, "{two}");
}

#[test]
fn wrong_filesets() {
    let of = |attributes: &str| with("", attributes, "", "", "");
    check(&[
        (of(",entires=3"), &["a.f:3: unknown attribute of define fileset; found `entires`", "did you mean `entries`?"]),
        (of(",leafdirs=3"), &["a.f:3: an attribute of define fileset that is not supported; found `leafdirs`"]),
        (of(",cached"), &["a.f:3: an attribute that is not supported; found `cached`", "memory is empty"]),
        (of(",dirgamma=many"), &["a.f:3: dirgamma: not a number; found `many`"]),
        (of(",dirwidth=30"), &["a.f:3: an attribute of define fileset that is given twice; found `dirwidth`"]),
        (of(" dirgamma=3"), &["a.f:3: no comma between two attributes; found `dirgamma`; expected `,`"]),
        (of(",readonly,writeonly"), &["a.f:3: a file set that is both readonly and writeonly"]),
        (of(",dirgamma=$gama"), &["a.f:3: dirgamma: the variable is not set; found `gama`"]),
    ]);
    let base = "define fileset name=f,size=1k,entries=10,dirwidth=20,prealloc\n";
    let process = "define process name=p { thread name=t { flowop statfile name=s,filesetname=f } }";
    let replaced = |from: &str, to: &str| format!("{}{process}", base.replace(from, to));
    check(&[
        (replaced("entries=10", "entries=0"), &["a.f:1: entries: out of range; found `0`; expected 1 to"]),
        (replaced("entries=10,", ""), &["a.f:1: define fileset without `entries`"]),
        (replaced("dirwidth=20", "dirwidth=1"), &["a.f:1: dirwidth: out of range; found `1`; expected 2 to"]),
        (replaced("prealloc", "prealloc=101"), &["a.f:1: prealloc: out of range; found `101`; expected 0 to 100"]),
        (replaced("size=1k,", ""), &["a.f:1: define fileset without `size`"]),
        (format!("{base}{base}{process}"), &["a.f:2: a second file set of this name; found `f`"]),
    ]);
}

#[test]
fn wrong_processes_and_threads() {
    let of = |process: &str, thread: &str| with("", "", process, thread, "");
    check(&[
        (of(",instances=0", ""), &["a.f:4: instances: out of range; found `0`; expected 1 to"]),
        (of("", ",instances=0"), &["a.f:6: instances: out of range; found `0`; expected 1 to"]),
        (of(",nice=3", ""), &["a.f:4: an attribute of define process that is not supported; found `nice`"]),
        (of("", ",ioprio=3"), &["a.f:6: an attribute of thread that is not supported; found `ioprio`"]),
        (of("", ",instanses=3"), &["a.f:6: unknown attribute of thread", "did you mean `instances`?"]),
        (of(",after=writer", ""), &["a.f:4: after: no process of this name above; found `writer`"]),
        (of(",instances=50000", ",instances=50000"), &["a.f:6: too many threads or processes"]),
        ("define process name=p { thread name=t { } }".into(), &["a.f:1: a thread without flow operations"]),
        ("define process name=p { }".into(), &["a.f:1: a process without threads"]),
    ]);
}

#[test]
fn wrong_flowops() {
    let of = |flowop: &str| with("", "", "", "", flowop);
    check(&[
        (of("flowop reed name=r,fd=1"), &["a.f:9: unknown flow operation; found `reed`", "did you mean `read`?"]),
        (of("flowop listdir name=l,filesetname=files"), &["a.f:9: a flow operation that is not supported"]),
        (of("flowop read name=r,fd=1,iosiz=4k"), &["a.f:9: unknown attribute of flowop", "did you mean `iosize`?"]),
        (of("flowop read name=r,fd=1"), &["a.f:9: read without `iosize`"]),
        (of("flowop read fd=1,iosize=4k"), &["a.f:9: read without `name`"]),
        (of("flowop read name=r,fd=2,iosize=4k"), &["a.f:9: fd 2 is not open", "`filesetname=…`"]),
        (
            of("flowop read name=r,filesetname=fils,iosize=4k"),
            &["a.f:9: filesetname: no file set of this name", "`files`?"],
        ),
        (of("flowop openfile name=o,filesetname=files,fd=1"), &["a.f:9: fd 1 is open already"]),
        (of("flowop openfile name=o,filesetname=files,fd=2"), &["a.f:9: fd 2 is open already"]),
        (of("flowop closefile name=o,fd=3"), &["a.f:9: fd 3 is not open"]),
        (of("flowop closefile name=o,fd=500"), &["a.f:9: fd: out of range; found `500`; expected 0 to 127"]),
        (of("flowop aiowrite name=w,fd=1,iosize=4k,random"), &["a.f:9: an aiowrite in a thread without aiowait"]),
        (of("flowop aiowrite name=w,fd=1,iosize=4k"), &["a.f:9: an aiowrite that is not random"]),
        (
            of("flowop read name=r,filesetname=files,iosize=4k,opennext"),
            &["a.f:9: opennext keeps every file", "100 files"],
        ),
        (of("flowop sempost name=s,value=1"), &["a.f:9: sempost without `target`"]),
        (of("flowop sempost name=s,value=1,target=x"), &["a.f:9: target: no semblock of this name; found `x`"]),
        (
            of("flowop opslimit name=l,target=opne"),
            &["a.f:9: target: no flow operation of this name", "did you mean `open`?"],
        ),
        (of("flowop bwlimit name=l,target=open"), &["a.f:9: target: a target that neither reads nor writes"]),
        (of("flowop finishoncount name=f"), &["a.f:9: finishoncount without `value`"]),
        (of("flowop deletefile name=d"), &["a.f:9: no file; expected `filesetname=…`"]),
        (of("flowop fsyncset name=f"), &["a.f:9: fsyncset without `filesetname`"]),
        (
            of("flowop write name=w,fd=4,filesetname=files,iosize=1k,dsync,directio"),
            &["a.f:9: dsync together with directio"],
        ),
    ]);
    let writes = "flowop aiowrite name=w,fd=1,iosize=4k,random,iters=100\nflowop aiowait name=v";
    check(&[(
        with("", "", "", ",instances=10000", writes),
        &["a.f:4: too many threads, with one for each asynchronous write; found 10000 threads and 2000000 writes"],
    )]);
    let text = "define fileset name=f,size=1k,entries=10,dirwidth=20,prealloc,readonly\n\
        define process name=p { thread name=t { flowop write name=w,filesetname=f,iosize=1k } }";
    check(&[(text.into(), &["a.f:2: the file set `f` is readonly; found `write`"])]);
}

#[test]
fn wrong_values() {
    let of =
        |set: &str| with(&format!("set $x={set}"), ",filesizegamma=0", "", "", "flowop write name=w,fd=1,iosize=$x");
    check(&[
        (of("cvar(type=cvar-gama)"), &["a.f:2: unknown type of cvar; found `cvar-gama`", "did you mean `cvar-gamma`?"]),
        (of("cvar(type=cvar-gamma,parameters=mean;gamma:1)"), &["a.f:2: not a parameter of a cvar; found `mean`"]),
        (
            of("cvar(type=cvar-gamma,parameters=mene:1)"),
            &["a.f:2: unknown parameter of a cvar", "did you mean `mean`?"],
        ),
        (of("cvar(type=cvar-normal,parameters=mean:1)"), &["a.f:2: cvar without `sigma`"]),
        (of("randvar(type=tabular,mean=4)"), &["a.f:2: unknown type of randvar; found `tabular`", "`gamma`"]),
        (of("randvar(type=gamma)"), &["a.f:2: randvar without `mean`"]),
        (of("randvar(type=gamma,mean=4"), &["a.f:3: the parenthesis is not closed; found `define`"]),
        (of("$x"), &["a.f:9: iosize: the variable stands for itself"]),
        (of("4q"), &["a.f:9: iosize: not a number; found `4q` of `$x`"]),
        (of("99999999999g"), &["a.f:9: iosize: not a number; found `99999999999g` of `$x`"]),
    ]);
}

#[test]
fn wrong_overrides() {
    let text = with("", "", "", "", "");
    let unknown = message_with(&text, &[("nn", "5")]);
    assert_eq!(
        unknown,
        "workload.files.set.nn: the program sets no such variable; found `nn`; expected `n`; did you mean `n`?"
    );
    assert!(message_with(&text, &[("n", "")]).starts_with("workload.files.set.n: the variable has no value"));
    assert!(message_with(&text, &[("n", "lots")]).starts_with("a.f:3: entries: not a number; found `lots` of `$n`"));
    let overrides = BTreeMap::from([("n".to_string(), "50".to_string())]);
    let program = Program::parse("a.f", &text, &overrides, 1, None).expect("a right value");
    assert_eq!(program.tree().files.len(), 50);
}

#[test]
fn a_later_value_counts_for_what_stands_above() {
    let text = with("", "", "", "", "").replace("run 10", "set $n=30\nrun 10");
    assert_eq!(parsed(&text).tree().files.len(), 30);
}

#[test]
fn an_open_in_another_way_is_warned_of() {
    let program = parsed(&with("", "", "", "", "flowop write name=w,fd=1,iosize=1k,dsync"));
    let warnings = program.warnings();
    assert_eq!(warnings, ["test.f:9: dsync and directio have no effect: the file was opened without them before"]);
}

#[test]
fn what_changes_nothing_is_read_over() {
    let text = with(
        "echo \"$n files\"\nusage \"set \\$n=<files>\"\ndebug 1\ncreate files\nsystem \"sync; echo 3 > /proc/sys/vm/drop_caches\"",
        ",reuse,paralloc,trusttree",
        "",
        ",useism",
        "# flowop nothing",
    );
    assert_eq!(parsed(&text).warnings(), Vec::<String>::new());
    assert_eq!(parsed(&text.replace("run 10", "psrun -5 20")).run_seconds(), Some(20));
    assert_eq!(parsed(&text.replace("run 10", "run")).run_seconds(), Some(60));
    assert_eq!(parsed(&text.replace("run 10", "set mode quit alldone\nrun")).run_seconds(), None);
    assert_eq!(parsed(&text.replace("run 10", "")).run_seconds(), Some(60));
}
