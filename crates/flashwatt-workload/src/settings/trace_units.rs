//! The units that a user can give for the columns of a text trace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unit of a time column of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TimeUnit {
    /// Seconds.
    #[serde(rename = "s")]
    Second,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Millisecond,
    /// Microseconds.
    #[serde(rename = "us")]
    Microsecond,
    /// Intervals of 100 ns, as Windows counts time.
    #[serde(rename = "100ns")]
    HundredNanoseconds,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanosecond,
}

impl TimeUnit {
    /// Every unit, the longest first.
    pub const ALL: [TimeUnit; 5] = [
        TimeUnit::Second,
        TimeUnit::Millisecond,
        TimeUnit::Microsecond,
        TimeUnit::HundredNanoseconds,
        TimeUnit::Nanosecond,
    ];

    /// Its name in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            TimeUnit::Second => "s",
            TimeUnit::Millisecond => "ms",
            TimeUnit::Microsecond => "us",
            TimeUnit::HundredNanoseconds => "100ns",
            TimeUnit::Nanosecond => "ns",
        }
    }

    /// Its length in nanoseconds; a power of ten.
    pub const fn ns(self) -> u64 {
        match self {
            TimeUnit::Second => 1_000_000_000,
            TimeUnit::Millisecond => 1_000_000,
            TimeUnit::Microsecond => 1_000,
            TimeUnit::HundredNanoseconds => 100,
            TimeUnit::Nanosecond => 1,
        }
    }
}

/// The unit of an offset or size column of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LengthUnit {
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Sectors of 512 bytes.
    #[serde(rename = "sectors")]
    Sectors,
    /// 1024 bytes.
    #[serde(rename = "kib")]
    Kib,
    /// Blocks or pages of 4096 bytes.
    #[serde(rename = "4kib")]
    FourKib,
    /// Blocks or pages of 8192 bytes.
    #[serde(rename = "8kib")]
    EightKib,
    /// Blocks or pages of 16,384 bytes.
    #[serde(rename = "16kib")]
    SixteenKib,
    /// 1,048,576 bytes.
    #[serde(rename = "mib")]
    Mib,
}

impl LengthUnit {
    /// Every unit, the shortest first.
    pub const ALL: [LengthUnit; 7] = [
        LengthUnit::Bytes,
        LengthUnit::Sectors,
        LengthUnit::Kib,
        LengthUnit::FourKib,
        LengthUnit::EightKib,
        LengthUnit::SixteenKib,
        LengthUnit::Mib,
    ];

    /// Its name in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            LengthUnit::Bytes => "bytes",
            LengthUnit::Sectors => "sectors",
            LengthUnit::Kib => "kib",
            LengthUnit::FourKib => "4kib",
            LengthUnit::EightKib => "8kib",
            LengthUnit::SixteenKib => "16kib",
            LengthUnit::Mib => "mib",
        }
    }

    /// Its length in bytes; a power of two.
    pub const fn bytes(self) -> u64 {
        match self {
            LengthUnit::Bytes => 1,
            LengthUnit::Sectors => 512,
            LengthUnit::Kib => 1 << 10,
            LengthUnit::FourKib => 4 << 10,
            LengthUnit::EightKib => 8 << 10,
            LengthUnit::SixteenKib => 16 << 10,
            LengthUnit::Mib => 1 << 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_configurations() {
        for unit in TimeUnit::ALL {
            assert_eq!(serde_json::to_value(unit).ok(), Some(unit.name().into()));
        }
        for unit in LengthUnit::ALL {
            assert_eq!(serde_json::to_value(unit).ok(), Some(unit.name().into()));
        }
    }
}
