//! File sets: sizes, directories, what exists.

use super::*;
use crate::operation::DirId;

fn set(attributes: &str) -> Program {
    parsed(&format!(
        "define fileset name=s,path=/x,{attributes}\n\
         define process name=p {{ thread name=t {{ flowop statfile name=f,filesetname=s }} }}\nrun"
    ))
}

fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / values.len() as f64)
}

fn sizes(program: &Program) -> Vec<f64> {
    program.tree().files.iter().filter_map(|file| file.bytes).map(|bytes| bytes as f64).collect()
}

#[test]
fn sizes_are_gamma_of_shape_one_and_a_half() {
    let program = set("entries=100000,size=16k,dirwidth=20,prealloc");
    let (mean, variance) = moments(&sizes(&program));
    let expected = 16_384.0 * 16_384.0 / 1.5;
    assert!((mean / 16_384.0 - 1.0).abs() < 0.01, "{mean}");
    assert!((variance / expected - 1.0).abs() < 0.04, "{variance}, {expected} expected");
}

#[test]
fn a_gamma_of_zero_means_one_size() {
    assert!(
        sizes(&set("entries=100,size=10m,filesizegamma=0,dirwidth=20,prealloc=100"))
            .iter()
            .all(|&s| s == 10.0 * 1048576.0)
    );
    let file = parsed(
        "define file name=s,size=3k,prealloc\n\
         define process name=p { thread name=t { flowop read name=r,filename=s,iosize=1k } }\nrun 5",
    );
    assert_eq!((sizes(&file), file.run_seconds()), (vec![3072.0], Some(5)));
}

#[test]
fn a_random_variable_gives_each_file_a_size() {
    let text = "set $s=cvar(type=cvar-uniform,parameters=lower:1000;upper:3000,round=100)\n\
                define fileset name=s,entries=50000,size=$s,dirwidth=1000,prealloc\n\
                define process name=p { thread name=t { flowop statfile name=f,filesetname=s } }\nrun";
    let (mean, variance) = moments(&sizes(&parsed(text)));
    assert!(
        (mean - 2000.0).abs() < 10.0 && (variance / (2000.0 * 2000.0 / 12.0) - 1.0).abs() < 0.03,
        "{mean} {variance}"
    );
}

#[test]
fn prealloc_is_the_chance_of_each_file() {
    let there = sizes(&set("entries=100000,size=1k,dirwidth=20,prealloc=80")).len();
    assert!((there as f64 / 100_000.0 - 0.8).abs() < 0.005, "{there}");
    assert_eq!(sizes(&set("entries=10,size=1k,dirwidth=20")).len(), 0);
}

/// Levels of a directory below the root.
fn depth(tree: &Tree, dir: DirId) -> u32 {
    if dir == DirId::ROOT { 0 } else { 1 + depth(tree, tree.parents[dir.idx() - 1]) }
}

#[test]
fn constant_widths_give_a_regular_tree() {
    // log 1000 / log 10 = 3 (2.99… as filebench's numbers, cut to 2): the set's directory, then leaves of ten files.
    let program = set("entries=1000,size=1k,dirwidth=10,dirgamma=0,prealloc");
    let tree = program.tree();
    assert_eq!((tree.parents[0], tree.files.len()), (DirId::ROOT, 1000));
    let mut files = vec![0; tree.dirs()];
    tree.files.iter().for_each(|file| files[file.dir.idx()] += 1);
    assert!(files.iter().all(|&count| count == 0 || count == 10), "{files:?}");
    let depths: Vec<u32> = tree.files.iter().map(|file| depth(tree, file.dir)).collect();
    assert!(depths.iter().all(|&depth| depth == depths[0] && (2..=3).contains(&depth)), "{}", depths[0]);
}

#[test]
fn drawn_widths_have_their_mean() {
    let program = set("entries=200000,size=1k,dirwidth=20,prealloc");
    let tree = program.tree();
    let mut files = vec![0.0; tree.dirs()];
    tree.files.iter().for_each(|file| files[file.dir.idx()] += 1.0);
    let leaves: Vec<f64> = files.into_iter().filter(|&count| count > 0.0).collect();
    let (mean, variance) = moments(&leaves);
    // A width of w has ⌈w⌉ entries: half an entry more on average.
    assert!((mean - 20.5).abs() < 0.5, "{mean}");
    assert!((variance / (400.0 / 1.5) - 1.0).abs() < 0.1, "{variance}");
    assert!((1..tree.dirs()).all(|dir| tree.parents[dir - 1].idx() < dir), "parents come before their directories");
}

#[test]
fn files_are_numbered_in_a_random_order() {
    let program = set("entries=1000,size=1k,dirwidth=10,dirgamma=0,prealloc");
    let files = &program.tree().files;
    let follow = files.windows(2).filter(|pair| pair[0].dir == pair[1].dir).count();
    assert!(follow < 60, "{follow} of 999 follow on a file of their directory; ten in order would be 900");
}

#[test]
fn a_seed_fixes_everything() {
    let tree = |seed| built_in("fileserver", &[], seed).tree().clone();
    assert_eq!(tree(1), tree(1));
    assert_ne!(tree(1), tree(2));
}

#[test]
fn a_million_files_take_sixty_bytes_each() {
    let program = built_in("varmail", &[("nfiles", "1000000")], 1);
    let tree = size_of::<crate::operation::FileSpec>() * program.tree.files.capacity();
    let own = size_of::<fileset::Entry>() * program.state.files.entries.capacity();
    let bits = 2 * 1_000_000 / 8 * 64 / 63;
    assert!((tree + own + bits) / 1_000_000 <= 60, "{tree} + {own} + {bits}");
}

#[test]
fn files_must_fit_on_the_drive() {
    let fileserver = flashwatt_base::registry::find(PERSONALITIES, "fileserver").expect("it is built in");
    let parse = |drive| Program::built_in(fileserver, &BTreeMap::new(), 1, Some(drive));
    let error = parse(1 << 29).expect_err("1 GiB of files").to_string();
    assert!(
        error.starts_with("fileserver.f:15: with the file set `homes` the files outgrow the drive; found 1"),
        "{error}"
    );
    assert!(parse(1 << 31).is_ok());
}
