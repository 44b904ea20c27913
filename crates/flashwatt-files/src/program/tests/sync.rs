//! How threads wait: for posts, for events, for writes, for files.

use super::*;

fn host(sets: &str, processes: &str) -> Host {
    let files = "define fileset name=f,size=64k,filesizegamma=0,entries=4,dirwidth=20,prealloc\n";
    Host::new(parsed(&format!("{sets}\n{files}{processes}\nrun 5")))
}

#[test]
fn a_semblock_waits_for_its_posts() {
    let mut host = host(
        "",
        "define process name=a { thread name=t {\n flowop semblock name=s,value=3,highwater=1\n flowop statfile name=work,filesetname=f } }\n\
         define process name=b { thread name=u {\n flowop statfile name=look,filesetname=f\n flowop sempost name=p,value=1,target=s,blocking } }",
    );
    host.run(2000);
    let (work, look) = (host.count("work"), host.count("look"));
    assert!(work > 100 && (look / 3).abs_diff(work) <= 1, "{work} {look}");
    assert_eq!(host.of(0)[..3], ["wait", "work stat", "wait"]);
}

#[test]
fn a_blocking_post_waits_for_room() {
    // The target never takes its posts, and has room for two.
    let text = |blocking: &str| {
        format!(
            "define process name=a {{ thread name=t {{\n flowop delay name=d,value=1000\n flowop semblock name=s,value=1,highwater=2 }} }}\n\
             define process name=b {{ thread name=u {{\n flowop statfile name=look,filesetname=f\n flowop sempost name=p,value=1,target=s{blocking} }} }}"
        )
    };
    let mut waits = host("", &text(",blocking"));
    waits.run(5);
    assert_eq!(waits.of(1), ["look stat", "look stat", "look stat", "wait"]);
    let mut goes_on = host("", &text(""));
    goes_on.run(50);
    assert!(goes_on.of(1).iter().all(|step| *step == "look stat"));
}

#[test]
fn a_wakeup_wakes_all_at_the_block() {
    let mut host = host(
        "",
        "define process name=a { thread name=t,instances=3 {\n flowop block name=b\n flowop statfile name=work,filesetname=f } }\n\
         define process name=c { thread name=u {\n flowop delay name=d,value=1\n flowop wakeup name=w,target=b } }",
    );
    host.run(20);
    let works = host.log.as_ref().map(|log| log.iter().filter(|(_, text)| text == "work stat").count());
    assert!(works >= Some(6), "{works:?}");
    assert_eq!(host.of(2)[..3], ["wait", "work stat", "wait"]);
}

#[test]
fn events_set_the_rate() {
    for (flowop, per_s) in
        [("eventlimit name=l", 1000), ("opslimit name=l", 1000), ("iopslimit name=l", 1000), ("bwlimit name=l", 16_000)]
    {
        let text = format!(
            "define process name=p {{ thread name=t {{\n flowop read name=r,filesetname=f,iosize=64k,random\n flowop {flowop} }} }}"
        );
        let mut host = host("eventgen rate=1000", &text);
        host.run(20_000);
        let rate = host.count("r") as f64 / (host.now as f64 / 1e9);
        assert!((rate / f64::from(per_s) - 1.0).abs() < 0.01, "{flowop}: {rate} reads a second");
    }
}

#[test]
fn without_eventgen_nothing_is_limited() {
    let mut host = host(
        "",
        "define process name=p { thread name=t { flowop read name=r,filesetname=f,iosize=4k\n flowop iopslimit name=l } }",
    );
    host.run(1000);
    assert!(host.of(0).iter().all(|step| !step.starts_with("sleep")));
}

#[test]
fn a_count_ends_the_run() {
    for (flowop, reads) in [
        ("finishoncount name=x,value=10", 9),
        ("finishonbytes name=x,value=40k", 11),
        ("finishoncount name=x,value=10,target=r", 10),
    ] {
        let text = format!(
            "define process name=p {{ thread name=t {{ flowop read name=r,filesetname=f,iosize=4k\n flowop {flowop} }} }}"
        );
        let mut host = host("", &text);
        host.run(1000);
        let found = host.of(0).iter().filter(|step| **step == "r read").count();
        // An open counts as an operation, also as one of the flow that it is of.
        let opens = usize::from(flowop.contains("count") && flowop.contains("target"));
        assert_eq!((found, host.program.has_ended()), (reads - opens, true), "{flowop}");
        assert!(host.program.warnings().is_empty());
    }
}

#[test]
fn an_aiowait_waits_for_half_of_the_writes() {
    let mut program = parsed(
        "define fileset name=f,size=64k,filesizegamma=0,entries=4,dirwidth=20,prealloc\n\
         define process name=p { thread name=t {\n\
         flowop aiowrite name=w,filesetname=f,iosize=4k,random,dsync,iters=4\n\
         flowop aiowait name=wait\n\
         flowop delay name=d,value=1 } }",
    );
    assert_eq!(program.threads().len(), 1 + 8, "helpers for twice the writes of a round");
    assert!(program.threads().iter().all(|thread| thread.process == 1));
    let Step::Op(_, open) = program.next(0, 0) else { panic!("the file is opened") };
    program.done(0, &open, Ok(0), 0);
    assert_eq!(program.next(0, 1), Step::Wait);
    let helpers: Vec<ThreadId> = std::iter::from_fn(|| program.woken()).collect();
    assert_eq!(helpers, [1, 2, 3, 4]);
    let mut ops = Vec::new();
    for &helper in &helpers {
        let Step::Op(_, op) = program.next(helper, 1) else { panic!("a write") };
        assert_eq!(
            (op.kind, op.file, op.bytes, op.mode, op.offset % 4096),
            (OpKind::Write, open.file, 4096, crate::operation::Mode::Synchronous, 0)
        );
        ops.push(op);
    }
    program.done(1, &ops[0], Ok(4096), 2);
    assert_eq!((program.next(1, 2), program.woken()), (Step::Wait, None));
    program.done(3, &ops[2], Ok(4096), 3);
    assert_eq!((program.next(3, 3), program.woken()), (Step::Wait, Some(0)));
    assert_eq!(program.next(0, 3), Step::Sleep(1_000_000_003));
    // Two are still outstanding: with four more, three must end.
    assert_eq!(program.next(0, 1_000_000_003), Step::Wait);
    assert_eq!(std::iter::from_fn(|| program.woken()).count(), 4);
}

#[test]
fn threads_wait_for_a_file_that_all_open() {
    let text = "define file name=log,size=16k,prealloc\n\
         define process name=p { thread name=t,instances=5 { flowop appendfile name=a,filename=log,iosize=1k } }";
    let mut host = Host::new(parsed(text));
    host.run(500);
    let waits = host.log.as_ref().map(|log| log.iter().filter(|(_, text)| text == "wait").count());
    assert!(waits >= Some(4), "{waits:?}: the first four opens that came too early");
    assert!((0..5).all(|thread| host.of(thread).ends_with(&["a append", "a append"])));
}

#[test]
fn a_file_in_use_is_not_removed() {
    let text = "define fileset name=f,size=1k,entries=1,dirwidth=20,prealloc\n\
         define process name=p { thread name=t { flowop openfile name=o,filesetname=f,fd=1\n flowop delay name=d,value=1\n flowop closefile name=c,fd=1 } }\n\
         define process name=q { thread name=u { flowop delay name=e,value=1\n flowop deletefile name=r,filesetname=f } }";
    let mut host = Host::new(parsed(text));
    host.run(5);
    // The open ends after the delay began at 0: when the first delay of the other thread is over, the file is open.
    assert_eq!((host.of(0)[0], host.of(1).len(), host.count("r")), ("o open", 2, 0));
    host.run(60);
    assert_eq!(host.count("r"), 0);
}

#[test]
fn the_quit_mode_says_what_a_missing_file_ends() {
    let text = |mode: &str| {
        format!(
            "set mode quit {mode}\n\
             define fileset name=f,size=1k,entries=7,dirwidth=20\n\
             define process name=p {{ thread name=t,instances=2 {{ flowop createfile name=c,filesetname=f,fd=1\n flowop closefile name=x,fd=1 }} }}\n\
             run"
        )
    };
    for (mode, warnings, ends) in [("timeout", 1, 1), ("firstdone", 0, 1), ("alldone", 0, 2)] {
        let mut host = Host::new(parsed(&text(mode)));
        host.run(1000);
        let found = host.log.as_ref().map(|log| log.iter().filter(|(_, text)| text == "end").count());
        assert_eq!((host.program.warnings().len(), found), (warnings, Some(ends)), "{mode}");
        assert!(host.program.has_ended() && host.count("c") == 7);
    }
}

#[test]
fn no_space_ends_the_run() {
    let mut program = built_in("fileserver", &[], 1);
    let Step::Op(_, op) = program.next(0, 0) else { panic!("a create") };
    program.done(0, &op, Err(OpError::NoSpace), 5);
    assert_eq!(program.next(1, 5), Step::End);
    let expected = format!("the run ended early: create of file {} failed: no space is left", op.file.0);
    assert_eq!((program.has_ended(), program.warnings()), (true, vec![expected]));
}

#[test]
fn a_loop_in_which_nothing_takes_time_lets_time_pass() {
    let mut host =
        host("", "define process name=p { thread name=t { flowop hog name=h,value=0\n flowop opslimit name=l } }");
    host.run(3);
    assert_eq!(host.of(0), ["sleep 1000", "sleep 2000", "sleep 3000"]);
}

#[test]
fn hog_and_delay_sleep() {
    let mut host = host(
        "",
        "define process name=p { thread name=t { flowop hog name=h,value=200000\n flowop delay name=d,value=2 } }",
    );
    host.run(3);
    assert_eq!(host.of(0), ["sleep 200000", "sleep 2000200000", "sleep 2000400000"]);
}

#[test]
fn rounds_end_a_thread() {
    let mut host =
        host("", "define process name=p { thread name=t,rounds=3 { flowop statfile name=s,filesetname=f,iters=2 } }");
    host.run(100);
    assert_eq!((host.count("s"), host.of(0).last().copied(), host.program.has_ended()), (6, Some("end"), true));
}

#[test]
fn reads_go_on_at_the_beginning_behind_the_end() {
    let mut program = parsed(
        "define file name=f,size=10k,prealloc\n\
         define process name=p { thread name=t { flowop read name=r,filename=f,iosize=4k } }",
    );
    let mut offsets = Vec::new();
    for _ in 0..8 {
        let Step::Op(_, op) = program.next(0, 0) else { panic!("an operation") };
        let read = op.bytes.min(10_240u64.saturating_sub(op.offset));
        offsets.push(op.offset);
        program.done(0, &op, Ok(read), 0);
    }
    assert_eq!(offsets[1..], [0, 4096, 8192, 10_240, 0, 4096, 8192]);
}

#[test]
fn the_same_calls_give_the_same_steps() {
    let run = |seed| {
        let mut host = Host::new(built_in("oltp", &[("nshadows", "20")], seed));
        host.run(20_000);
        (host.digest, host.log)
    };
    assert!(run(1) == run(1));
    assert_ne!(run(1).0, run(2).0);
}
