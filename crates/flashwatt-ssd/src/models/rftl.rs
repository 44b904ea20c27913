//! The analytical model of RFTL (2019): the time of a look-up with replicas of translation pages, and the replicas'
//! additional writes and space.
//!
//! A look-up that misses evicts an entry and fetches another: two reads and a write of translation pages. If garbage
//! collection runs on the channel of the translation page, it also waits. A copy on another channel saves the wait.

use serde::Serialize;

/// Times of the model, in µs. The default is the paper's Table 3.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ModelTimes {
    /// C: a look-up in the cached table.
    pub cache_us: f64,
    /// Waiting for collection.
    pub gc_us: f64,
    /// R: a page read.
    pub read_us: f64,
    /// W: a page write.
    pub write_us: f64,
}

impl Default for ModelTimes {
    fn default() -> Self {
        ModelTimes { cache_us: 0.1, gc_us: 900.0, read_us: 25.0, write_us: 200.0 }
    }
}

impl ModelTimes {
    /// F_base, equation (1): mean time of a look-up in µs at miss ratio `miss`, 0 to 1, if a miss meets collection with
    /// probability `gc`, 0 to 1. Equation (3), F_worst, is that of `gc` = 1.
    pub fn base_us(&self, miss: f64, gc: f64) -> f64 {
        let missed = self.cache_us + gc * self.gc_us + 2.0 * self.read_us + self.write_us;
        missed * miss + self.cache_us * (1.0 - miss)
    }

    /// F_best, equation (2): every miss finds a copy on an idle channel. Mean time of a look-up in µs.
    pub fn best_us(&self, miss: f64) -> f64 {
        self.base_us(miss, 0.0)
    }

    /// F(P) = P · F_best + (1 − P) · F_worst, in µs: a miss finds an idle copy with probability `p`, which is N / F for
    /// N copies (the original included) on F channels. Implied by the paper's Table 4.
    pub fn with_replicas_us(&self, miss: f64, p: f64) -> f64 {
        p * self.best_us(miss) + (1.0 - p) * self.base_us(miss, 1.0)
    }
}

/// E = 0.4 · n: additional translation writes per host write with `n` replicas (Table 1).
pub fn extra_writes_per_write(replicas: u32) -> f64 {
    0.4 * f64::from(replicas)
}

/// Bytes of the map on flash: 8 bytes for each page of 4 KB (0.195 %) in each of `replicas` + 1 copies. The paper's
/// Table 1 rounds 195.3 MB for 100 GB to 200.
pub fn map_bytes(capacity_bytes: u64, replicas: u32) -> u64 {
    capacity_bytes.div_ceil(4096) * 8 * (u64::from(replicas) + 1)
}

/// Table 1: MB of map for a drive of 100 GB, 200 · (n + 1).
pub fn table_1_mb(replicas: u32) -> u32 {
    200 * (replicas + 1)
}

/// Bytes of the directory of translation pages: 4 for each copy of each.
pub fn directory_bytes(translation_pages: u64, replicas: u32) -> u64 {
    4 * translation_pages * (u64::from(replicas) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: ModelTimes = ModelTimes { cache_us: 0.1, gc_us: 900.0, read_us: 25.0, write_us: 200.0 };

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
    }

    /// Equations (1) to (3) and the interpolation between them.
    #[test]
    fn f94_the_equations_on_d6() {
        let grid = [0.2, 0.4, 0.6, 0.8, 1.0];
        let check = |f: &dyn Fn(f64) -> f64, expected: [f64; 5]| {
            grid.iter().zip(expected).for_each(|(&miss, expected)| close(f(miss), expected));
        };
        check(&|m| TIMES.base_us(m, 1.0), [230.1, 460.1, 690.1, 920.1, 1150.1]);
        check(&|m| TIMES.best_us(m), [50.1, 100.1, 150.1, 200.1, 250.1]);
        check(&|m| TIMES.with_replicas_us(m, 0.25), [185.1, 370.1, 555.1, 740.1, 925.1]);
        check(&|m| TIMES.with_replicas_us(m, 0.5), [140.1, 280.1, 420.1, 560.1, 700.1]);
        check(&|m| TIMES.with_replicas_us(m, 0.75), [95.1, 190.1, 285.1, 380.1, 475.1]);
        assert_eq!(ModelTimes::default(), TIMES);
    }

    /// "20 %" is two copies on eight channels: 19.56 %.
    #[test]
    fn f95_the_gain_of_two_copies() {
        let gain = 1.0 - TIMES.with_replicas_us(1.0, 2.0 / 8.0) / TIMES.base_us(1.0, 1.0);
        assert_eq!((gain * 1e4).round(), 1956.0);
    }

    /// The paper's Table 1.
    #[test]
    fn f96_what_replicas_cost() {
        for n in [0, 1, 3, 7, 15] {
            close(1.0 + extra_writes_per_write(n), 1.0 + 0.4 * f64::from(n));
            assert_eq!(table_1_mb(n), 200 * (n + 1));
        }
        assert_eq!((map_bytes(10 << 30, 0), map_bytes(100_000_000_000, 0) / 100_000), (20 << 20, 1953));
        assert_eq!([0, 1, 2, 3].map(|n| directory_bytes(1024, n)), [4096, 8192, 12_288, 16_384]);
    }
}
