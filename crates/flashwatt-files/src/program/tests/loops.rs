//! The loops of the personalities, step by step.

use super::*;

/// The first steps of the only thread.
fn steps(name: &str, overrides: &[(&str, &str)], count: u64) -> Vec<String> {
    let mut host = Host::new(built_in(name, overrides, 3));
    host.run(count);
    host.of(0).into_iter().map(String::from).collect()
}

#[test]
fn varmail() {
    let expected = [
        "expunge remove",
        "deliver_create create",
        "deliver_append append",
        "deliver_fsync fsync",
        "deliver_close close",
        "extend_open open",
        "extend_read read_whole",
        "extend_append append",
        "extend_fsync fsync",
        "extend_close close",
        "fetch_open open",
        "fetch_read read_whole",
        "fetch_close close",
    ];
    for name in ["varmail", "varmail-park", "pardispatcher-varmail"] {
        let steps = steps(name, &[("nthreads", "1")], 26);
        assert_eq!(
            (&steps[..13], &steps[13..]),
            (&expected.map(String::from)[..], &expected.map(String::from)[..]),
            "{name}"
        );
    }
}

#[test]
fn fileserver() {
    let expected = [
        "save_create create",
        "save_write write_whole",
        "save_close close",
        "append_open open",
        "append_write append",
        "append_close close",
        "load_open open",
        "load_read read_whole",
        "load_close close",
        "remove remove",
        "look_up stat",
    ];
    for name in ["fileserver", "pardispatcher-fileserver"] {
        let steps = steps(name, &[("nthreads", "1")], 22);
        assert_eq!(
            (&steps[..11], &steps[11..]),
            (&expected.map(String::from)[..], &expected.map(String::from)[..]),
            "{name}"
        );
    }
}

#[test]
fn webserver() {
    let mut expected = Vec::new();
    for page in 1..=10 {
        expected.extend([format!("open{page} open"), format!("read{page} read_whole"), format!("close{page} close")]);
    }
    let round = expected.clone();
    expected.extend(["log_append open".to_string(), "log_append append".to_string()]);
    expected.extend(round); // the log stays open
    expected.push("log_append append".to_string());
    for name in ["webserver", "pardispatcher-webserver"] {
        assert_eq!(steps(name, &[("nthreads", "1")], 63), expected, "{name}");
    }
}

#[test]
fn files_are_taken_in_turn() {
    let mut program = parsed(
        "define fileset name=s,entries=3,size=1k,dirwidth=10,dirgamma=0,prealloc\n\
         define process name=p { thread name=t { flowop openfile name=o,filesetname=s,fd=1\n flowop closefile name=c,fd=1 } }",
    );
    let mut files = Vec::new();
    for _ in 0..14 {
        let Step::Op(_, op) = program.next(0, 0) else { panic!("an operation") };
        files.push(op.file.0);
        program.done(0, &op, Ok(0), 0);
    }
    let turn: Vec<_> = files.iter().step_by(2).copied().collect();
    assert_eq!(turn[..3], turn[3..6]);
    assert_eq!(BTreeMap::from_iter(turn.iter().map(|&file| (file, ()))).len(), 3);
    assert!(files.chunks(2).all(|pair| pair[0] == pair[1]), "what is opened is closed");
}

/// Runs a built-in program whole and checks every operation against a model of the files.
fn soak(name: &str, overrides: &[(&str, &str)], steps: u64) -> Host {
    let mut host = Host::new(built_in(name, overrides, 5));
    host.log = None;
    host.run(steps);
    assert_eq!(host.program.warnings(), Vec::<String>::new(), "{name}");
    assert!(host.steps == steps || host.program.has_ended(), "{name} stands still after {} steps", host.steps);
    host
}

#[test]
fn every_personality_keeps_to_the_contract() {
    for personality in PERSONALITIES {
        let small = match personality.name {
            "fileserver-park" => &[("nfiles", "40"), ("meanfilesize", "1m")][..],
            "pardispatcher-oltp" | "oltp" => &[],
            _ => &[("nfiles", "3000")],
        };
        soak(personality.name, small, 100_000);
    }
}

#[test]
fn reads_and_writes_have_their_ratios() {
    let ratio = |host: &Host, reads: &[&str], writes: &[&str]| {
        let sum = |flows: &[&str]| flows.iter().map(|flow| host.count(flow)).sum::<u64>() as f64;
        sum(reads) / sum(writes)
    };
    let mail = soak("varmail-park", &[], 200_000);
    let found = ratio(&mail, &["extend_read", "fetch_read"], &["extend_append", "deliver_append"]);
    assert!((found - 1.0).abs() < 0.01, "{found}");
    let mean = (mail.bytes("extend_append") + mail.bytes("deliver_append")) as f64;
    let mean = mean / (mail.count("extend_append") + mail.count("deliver_append")) as f64;
    assert!((mean / 16_384.0 - 1.0).abs() < 0.02, "appends of {mean} bytes");
    let files = soak("pardispatcher-fileserver", &[("nfiles", "3000")], 200_000);
    let found = ratio(&files, &["load_read"], &["save_write", "append_write"]);
    assert!((found - 0.5).abs() < 0.01, "{found}");
    let database = soak("pardispatcher-oltp", &[], 800_000);
    let found = ratio(&database, &["db_read"], &["db_write", "log_write"]);
    assert!((17.0..23.0).contains(&found), "{found}");
    let database = soak("oltp", &[], 800_000);
    let found = ratio(&database, &["db_read"], &["db_write"]);
    assert!((0.9..1.1).contains(&found), "{found}");
}

#[test]
fn park_reads_only_what_was_written_and_updated() {
    let mut host = Host::new(built_in("fileserver-park", &[("nfiles", "20"), ("meanfilesize", "1m")], 5));
    assert_eq!(host.program.processes(), ["writer", "updater", "reader"]);
    while !host.program.measured() {
        assert_eq!(host.count("read_open"), 0);
        host.run(1);
    }
    assert_eq!((host.count("create"), host.count("write"), host.count("update_fsync")), (20, 20, 20));
    assert_eq!(host.count("update"), 20 * 30);
    let mean = host.bytes("update") as f64 / 600.0;
    assert!((mean / 16_384.0 - 1.0).abs() < 0.1, "updates of {mean} bytes");
    let drawn: u64 = host.program.state.files.entries.iter().map(|entry| entry.size).sum();
    assert_eq!(host.bytes("write"), drawn);
    host.run(3000);
    assert!(host.count("read") > 500 && host.count("update") == 600);
}

#[test]
fn built_in_numbers_are_those_of_their_sources() {
    // Threads without helpers, files, and the mean size in KiB, as the files' headers say.
    let expected = [
        ("varmail", 16, 1000, 16.0),
        ("fileserver", 50, 10_000, 128.0),
        ("webserver", 100, 1001, 16.0),
        ("oltp", 211, 11, 10_240.0),
        ("varmail-park", 16, 12_288, 128.0),
        ("fileserver-park", 52, 1024, 8192.0),
        ("pardispatcher-fileserver", 100, 50_000, 256.0),
        ("pardispatcher-webserver", 100, 20_001, 32.0),
        ("pardispatcher-varmail", 100, 50_000, 16.0),
        ("pardispatcher-oltp", 211, 11, 477_556.0),
    ];
    assert_eq!(PERSONALITIES.iter().map(|p| p.name).collect::<Vec<_>>(), expected.map(|(name, ..)| name));
    for (name, threads, files, kib) in expected {
        let program = built_in(name, &[], 2);
        let sizes: Vec<u64> = program.state.files.entries.iter().map(|entry| entry.size).collect();
        let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64 / 1024.0;
        assert_eq!((program.state.threads.len(), sizes.len()), (threads, files), "{name}");
        // The deviation of a gamma distribution of shape 1.5 is 0.82 of its mean: five times that of the mean of all files.
        assert!((mean / kib - 1.0).abs() < 5.0 * 0.82 / (files as f64).sqrt(), "{name}: {mean} KiB, {kib} expected");
        assert_eq!(program.run_seconds(), Some(60), "{name}");
    }
}

#[test]
fn a_descriptor_leads_to_its_file() {
    let mut host = Host::new(parsed(
        "define fileset name=s,entries=5,size=1k,dirwidth=10,prealloc\n\
         define process name=p { thread name=t {\n\
         flowop openfile name=a,filesetname=s,fd=1\n\
         flowop openfile name=b,filesetname=s,fd=2\n\
         flowop statfile name=stat,fd=2\n\
         flowop fsyncset name=sync,filesetname=s\n\
         flowop closefile name=c,fd=1\n\
         flowop deletefile name=gone,fd=1\n\
         flowop createfile name=back,filesetname=s,fd=1\n\
         flowop writewholefile name=write,fd=1,srcfd=2,iosize=4k\n\
         flowop deletefile name=open_gone,fd=1\n\
         flowop createfile name=again,filesetname=s,fd=3\n\
         flowop closefile name=d,fd=3\n\
         flowop closefile name=e,fd=2 } }",
    ));
    host.run(26);
    let round = [
        "a open",
        "b open",
        "stat stat",
        "sync fsync",
        "sync fsync",
        "c close",
        "gone remove",
        "back create",
        "write write_whole",
        "open_gone remove",
        "again create",
        "d close",
        "e close",
    ];
    assert_eq!(host.of(0), [round, round].concat());
}

#[test]
fn an_index_picks_a_place() {
    let mut program = parsed(
        "define fileset name=s,entries=10,size=1k,dirwidth=20,dirgamma=0,prealloc\n\
         define process name=p { thread name=t { flowop statfile name=f,filesetname=s,indexed=1 } }",
    );
    let Step::Op(_, first) = program.next(0, 0) else { panic!("an operation") };
    assert_eq!(first.file, program.state.files.entries[5].file, "1 times half of ten");
    program.done(0, &first, Ok(0), 0);
    assert_eq!(program.next(0, 0), Step::Op(0, first), "the same place again");
}

#[test]
fn whole_files_have_the_size_that_was_drawn() {
    let mut program = built_in("fileserver", &[("nthreads", "1")], 3);
    let entries = &program.state.files.entries;
    let sizes: BTreeMap<FileId, u64> = entries.iter().map(|entry| (entry.file, entry.size)).collect();
    let mut whole = 0;
    for _ in 0..220 {
        let Step::Op(_, op) = program.next(0, 0) else { panic!("an operation") };
        if op.kind == OpKind::WriteWhole {
            assert_eq!((op.bytes, op.call_bytes, op.offset), (sizes[&op.file], 1 << 20, 0));
            whole += 1;
        }
        program.done(0, &op, Ok(op.bytes), 0);
    }
    assert_eq!(whole, 20);
}
