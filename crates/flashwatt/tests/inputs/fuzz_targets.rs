//! What `make fuzz` reads, read once: the fuzzers are a workspace of their own, which nothing else compiles.

use super::fuzz::Target;

#[test]
fn every_target_reads_its_own_seeds() {
    for target in Target::all() {
        assert_eq!(Target::of(target.name()).map(Target::name), Some(target.name()));
        for seed in target.seeds() {
            let answers = target.read(&seed);
            assert!(!answers.is_empty(), "{}: no word of its seed", target.name());
        }
    }
}
