//! A drive of any kind: a member of an array, or the drive of a program.

use flashwatt_base::error::Error;
use flashwatt_base::units::Nanos;
use flashwatt_core::connector::{AtEnd, Cx, Device, Figures, FlashCounts, Request, Seats, Tag, Upcoming, Window};
use flashwatt_core::energy::Series;
use flashwatt_devices::hdd::{Hdd, HddFigures};
use flashwatt_devices::raid::Raid;
use flashwatt_devices::raid::figures::RaidFigures;
use flashwatt_ssd::drive::Ssd;
use flashwatt_ssd::observe::accounts::SsdFigures;
use flashwatt_ssd::observe::probe::Recording;

/// A drive of one of the kinds that can be configured.
pub enum AnyDrive {
    /// A flash drive.
    Ssd(Box<Ssd<Recording>>),
    /// A hard disk.
    Hdd(Box<Hdd>),
    /// An array of drives.
    Array(Box<Raid<AnyDrive>>),
}

/// The figures of a drive of any kind.
#[derive(Clone, Debug, Default)]
pub enum AnyFigures {
    /// Of no drive yet.
    #[default]
    None,
    /// Of a flash drive.
    Ssd(Box<SsdFigures>),
    /// Of a hard disk.
    Hdd(Box<HddFigures>),
    /// Of an array of drives.
    Array(Box<RaidFigures<AnyFigures>>),
}

impl AnyDrive {
    /// Energy in J from +12 V since the window began. SSDs have +5 V only.
    pub(crate) fn energy_from_12v_j(&self) -> f64 {
        match self {
            AnyDrive::Ssd(_) => 0.0,
            AnyDrive::Hdd(disk) => disk.energy_from_12v_j(),
            AnyDrive::Array(array) => array.devices().flatten().map(AnyDrive::energy_from_12v_j).sum(),
        }
    }
}

impl AnyFigures {
    /// Those of an SSD; of a time without any, none were counted.
    pub(crate) fn ssd(&self) -> SsdFigures {
        match self {
            AnyFigures::Ssd(figures) => (**figures).clone(),
            _ => SsdFigures::default(),
        }
    }

    /// Those of a disk.
    pub(crate) fn hdd(&self) -> HddFigures {
        match self {
            AnyFigures::Hdd(figures) => (**figures).clone(),
            _ => HddFigures::default(),
        }
    }

    /// Those of an array.
    pub(crate) fn array(&self) -> RaidFigures<AnyFigures> {
        match self {
            AnyFigures::Array(figures) => (**figures).clone(),
            _ => RaidFigures::default(),
        }
    }
}

impl Figures for AnyFigures {
    fn plus(&self, next: &Self) -> Self {
        match (self, next) {
            (AnyFigures::Ssd(this), AnyFigures::Ssd(next)) => AnyFigures::Ssd(Box::new(this.plus(next))),
            (AnyFigures::Hdd(this), AnyFigures::Hdd(next)) => AnyFigures::Hdd(Box::new(this.plus(next))),
            (AnyFigures::Array(this), AnyFigures::Array(next)) => AnyFigures::Array(Box::new(this.plus(next))),
            (AnyFigures::None, one) | (one, _) => one.clone(),
        }
    }

    fn operations(&self) -> u64 {
        match self {
            AnyFigures::None => 0,
            AnyFigures::Ssd(figures) => figures.operations(),
            AnyFigures::Hdd(figures) => figures.operations(),
            AnyFigures::Array(figures) => figures.operations(),
        }
    }
}

/// Calls a method of the drive, whatever its kind.
macro_rules! each {
    ($drive:expr, $one:ident => $call:expr) => {
        match $drive {
            AnyDrive::Ssd($one) => $call,
            AnyDrive::Hdd($one) => $call,
            AnyDrive::Array($one) => $call,
        }
    };
}

impl Device for AnyDrive {
    type Figures = AnyFigures;

    fn enrol(&mut self, seats: &mut Seats) {
        each!(self, drive => drive.enrol(seats));
    }

    fn room(&self) -> u32 {
        each!(self, drive => drive.room())
    }

    #[inline]
    fn submit(&mut self, tag: Tag, request: &Request, cx: &mut Cx) {
        each!(self, drive => drive.submit(tag, request, cx));
    }

    #[inline]
    fn pass_time(&mut self, now: Nanos) {
        each!(self, drive => drive.pass_time(now));
    }

    #[inline]
    fn event(&mut self, seat: u32, cx: &mut Cx) -> bool {
        each!(self, drive => drive.event(seat, cx))
    }

    #[inline]
    fn settle(&mut self, cx: &mut Cx) -> bool {
        each!(self, drive => drive.settle(cx))
    }

    fn drain(&mut self, now: Nanos) {
        each!(self, drive => drive.drain(now));
    }

    fn sleep(&mut self, now: Nanos) -> bool {
        each!(self, drive => drive.sleep(now))
    }

    fn rest(&mut self) -> Result<(), Error> {
        each!(self, drive => drive.rest())
    }

    #[inline]
    fn prefetch(&self, upcoming: &Upcoming) {
        each!(self, drive => drive.prefetch(upcoming));
    }

    fn end_window(&mut self, now: Nanos, meter: AtEnd) -> (Window<AnyFigures>, Option<Box<Series>>) {
        match self {
            AnyDrive::Ssd(drive) => {
                let (window, series) = drive.end_window(now, meter);
                (window.map(|figures| AnyFigures::Ssd(Box::new(figures))), series)
            }
            AnyDrive::Hdd(drive) => {
                let (window, series) = drive.end_window(now, meter);
                (window.map(|figures| AnyFigures::Hdd(Box::new(figures))), series)
            }
            AnyDrive::Array(drive) => {
                let (window, series) = drive.end_window(now, meter);
                (window.map(|figures| AnyFigures::Array(Box::new(figures))), series)
            }
        }
    }

    fn measured(&mut self, now: Nanos) {
        each!(self, drive => drive.measured(now));
    }

    fn finish(&mut self, now: Nanos) {
        each!(self, drive => drive.finish(now));
    }

    fn operations(&self) -> u64 {
        each!(self, drive => drive.operations())
    }

    fn flash_counts(&self) -> FlashCounts {
        each!(self, drive => drive.flash_counts())
    }

    fn operations_at_once(&self) -> u64 {
        each!(self, drive => drive.operations_at_once())
    }

    fn book(&mut self, now: Nanos) {
        each!(self, drive => drive.book(now));
    }

    fn series_overflowed(&mut self) -> bool {
        each!(self, drive => drive.series_overflowed())
    }

    fn so_far(&self) -> (f64, f64) {
        each!(self, drive => drive.so_far())
    }
}
