use super::*;
use std::time::Instant;
fn per(name: &str, n: u32, start: Instant) { println!("{name}: {:.0} ns", start.elapsed().as_nanos() as f64 / f64::from(n)); }
#[test]
fn timing() {
    let n = 1_000_000u32;
    println!("inode {} bytes", super::super::inode::Inode::BYTES);
    let mut rig = Rig::new(256 << 10, &[]);
    for d in 1..n / 100 { rig.make_dir(d, if d < 200 { 0 } else { d % 199 + 1 }).unwrap(); }
    let t = Instant::now();
    for f in 0..n { rig.create(f, 1 + f / 101).unwrap(); }
    per("instant create", n, t);
    let t = Instant::now();
    for f in 0..n { rig.write(f, 0..4).unwrap(); rig.system.closed(FileId(f)); }
    per("instant write of 4 pages, close", n, t);
    // warm operations with a cache
    let mut rig = Rig::new(64 << 10, &[]);
    for d in 1..51 { rig.make_dir(d, 0).unwrap(); }
    let n = 1000u32;
    for round in 0..2 {
    let mut times = [0f64; 6];
    for r in 0..200u32 {
        rig.now = u64::from(r + round * 1000) * 10_000_000;
        let t = Instant::now();
        for f in 0..n { rig.run(|s, cx| s.create(FileId(f), DirId(1 + f % 50), cx)).unwrap(); }
        times[0] += t.elapsed().as_nanos() as f64;
        let t = Instant::now();
        for f in 0..n { rig.run(|s, cx| s.prepare_write(FileId(f), 0..4, cx)).unwrap();
            rig.run(|s, cx| { s.written(FileId(f), 16384, cx); Ok(()) }).unwrap(); }
        times[1] += t.elapsed().as_nanos() as f64;
        let t = Instant::now();
        for f in 0..n { rig.run(|s, cx| s.prepare_write(FileId(f), 4..32, cx)).unwrap(); }
        times[2] += t.elapsed().as_nanos() as f64;
        let t = Instant::now();
        for f in 0..n { let mut stage = 0; rig.run(|s, cx| s.fsync(FileId(f), crate::files::system::Sync::ALL, &mut stage, cx)).unwrap(); rig.sent.clear(); }
        times[3] += t.elapsed().as_nanos() as f64;
        let t = Instant::now();
        for f in 0..n { rig.run(|s, cx| s.lookup(FileId(f), cx)).unwrap(); }
        times[4] += t.elapsed().as_nanos() as f64;
        let t = Instant::now();
        for f in 0..n { rig.run(|s, cx| s.remove(FileId(f), cx)).unwrap(); }
        times[5] += t.elapsed().as_nanos() as f64;
    }
    for (name, time) in ["create", "append 16K", "append 112K", "fsync (meta only)", "lookup", "remove"].iter().zip(times) {
        println!("{name}: {:.0} ns", time / 200.0 / f64::from(n));
    }
    }
}
