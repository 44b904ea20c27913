use super::Rig;
use crate::files::operation::FileId;
use crate::files::system::FileSystem;
use crate::rng::Rng;

fn extents(first_pid: u16, turn_pages: u32, seed: u64) -> f64 {
    let mut rig = Rig::new(512, &[]);
    let mut rng = Rng::new(seed);
    let mut at = [0u32; 8]; // pages
    let mut left: Vec<usize> = (0..8).collect();
    while !left.is_empty() {
        let which = rng.below(left.len() as u64) as usize;
        let thread = left[which];
        rig.process = first_pid + thread as u16;
        let mut pages = 0;
        while pages < turn_pages && at[thread] < 50 * 128 {
            let (file, page) = (thread as u32 * 50 + at[thread] / 128, at[thread] % 128);
            if page == 0 { rig.create(file, 0).unwrap(); }
            rig.write(file, page..page + 4).unwrap();
            at[thread] += 4; pages += 4;
            if page == 124 { rig.system.closed(FileId(file)); }
        }
        if at[thread] == 50 * 128 { left.remove(which); }
    }
    let mut hist = std::collections::BTreeMap::new();
    let counts: Vec<usize> = (0..400).map(|f| rig.runs(f).len()).collect();
    counts.iter().for_each(|c| *hist.entry(*c).or_insert(0) += 1);
    let mean = counts.iter().sum::<usize>() as f64 / 400.0;
    println!("pid {first_pid} turn {turn_pages}: mean {mean:.3} {hist:?}");
    mean
}
#[test]
fn against() {
    for turn in [4, 16, 64, 128, 256] {
        for pid in [0, 3, 6, 9, 12] { extents(pid, turn, u64::from(pid)); }
    }
}
