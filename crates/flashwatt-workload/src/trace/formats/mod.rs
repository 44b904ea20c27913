//! The formats of traces: one file each, one line each in the list below.

use super::Format;

mod alibaba;
pub(super) mod binary;
mod biosnoop;
mod biotracer;
mod blkparse;
pub(super) mod blktrace;
mod btrecord;
pub(super) mod csv;
mod diskmon;
mod disksim;
mod fio;
mod fiu;
mod fiu_iodedup;
mod hfplayer;
mod libcachesim;
mod linux;
mod msr;
mod nbd;
mod spc;
mod ssdsim;
mod systor17;
mod tencent;
mod tracefs;
pub(super) mod vscsi;
mod vscsi_csv;

/// Every format that a configuration can name; adding one is adding a line here.
pub const FORMATS: &[Format] = &[
    ssdsim::FORMAT,
    spc::FORMAT,
    msr::FORMAT,
    disksim::FORMAT,
    csv::FORMAT,
    fiu::FORMAT,
    fiu_iodedup::FORMAT,
    blkparse::FORMAT,
    diskmon::FORMAT,
    nbd::FORMAT,
    vscsi::FORMAT,
    tracefs::FORMAT,
    blktrace::FORMAT,
    fio::FORMAT,
    alibaba::FORMAT,
    tencent::FORMAT,
    systor17::FORMAT,
    btrecord::FORMAT,
    vscsi_csv::FORMAT,
    hfplayer::FORMAT,
    biotracer::FORMAT,
    biosnoop::FORMAT,
    libcachesim::FORMAT,
    binary::FORMAT,
];
