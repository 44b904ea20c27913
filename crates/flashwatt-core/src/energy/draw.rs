//! Power in integers: nW × ns = 10⁻¹⁸ J, so totals are sums of integers.

/// The power of a current at a voltage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Draw {
    /// Power in nW.
    pub nw: i64,
}

impl Draw {
    /// The power of a current in µA at a voltage in mV. µA × mV = nW exactly.
    pub fn new(ua: u32, millivolts: u32) -> Self {
        Draw { nw: i64::from(ua) * i64::from(millivolts) }
    }
}

impl std::ops::Add for Draw {
    type Output = Draw;
    #[inline(always)]
    fn add(self, other: Draw) -> Draw {
        Draw { nw: self.nw + other.nw }
    }
}

impl std::ops::Sub for Draw {
    type Output = Draw;
    #[inline(always)]
    fn sub(self, other: Draw) -> Draw {
        Draw { nw: self.nw - other.nw }
    }
}

impl std::ops::Mul<u32> for Draw {
    type Output = Draw;
    fn mul(self, n: u32) -> Draw {
        Draw { nw: self.nw * i64::from(n) }
    }
}
