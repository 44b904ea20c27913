//! The CSV of hfplayer (Haghdoost, He, Fredin, Du: *On the Accuracy and Scalability of Intensive I/O Workload Replay*, FAST 2017):
//! workloads that the University of Minnesota recorded with NetApp.
//!
//! Source: github.com/umn-cris/hfplayer, whose sample traces begin with a line of these names, a `#` before it;
//! `c/HFPlayerUtils.cc` (`elapsed_usecs`, `lba` and `nblks` are replayed, in blocks) and `c/HFParsed.cc` (a block is 512
//! bytes; `RD_IN` and `WR_IN` are requests, `RD_OUT` and `WR_OUT` their replies).

use super::super::read::column_units::{ColumnUnits, Tick};
use super::super::read::text::{
    Bad, Commas, LineColumns, LineFormat, Operations, Text, TextLine, looks_like, operation, range,
};
use super::super::{Format, LogPoint, Record, believed};
use flashwatt_core::connector::RequestKind;

/// The registry line.
pub const FORMAT: Format = Format {
    name: "hfplayer",
    aliases: &[],
    doc: "hfplayer CSV (University of Minnesota, NetApp)",
    columns: "dump offset, time (µs), ticks, command (RD, WR, RD_IN, WR_IN, RD_OUT, WR_OUT), in flight, time stamp, sequence, LUN, \
              operation, phase, block (512 B), blocks, latency (ticks), host, host's LUN, latency (µs)",
    events: &[],
    logged: &[LogPoint::Dispatch],
    tried: true,
    units: Some(Hfplayer::UNITS),
    example: b"#DUMP_OFFSET.I,ELAPSED_USECS.D,ELAPSED_TICKS.I,CMD.S,INFLIGHT_IOS.I,TS.I,SEQID.I,LUN_SSID.I,OP.I,PHASE.I,LBA.I,\
               NBLKS.I,LATENCY_TICKS.I,HOST_ID.I,HOST_LUN.I,LATENCY_USECS.D\n\
               4096,50.250,107198,WR_IN,0,30736997,101,1,1,0,225443192,8,121408,6,1,56.910\n\
               4124,350.000,746667,RD_IN,1,30737997,102,2,0,0,314713704,96,308972,6,2,144.831\n\
               4152,400.500,854400,WR_OUT,2,30738997,101,1,1,1,225443192,8,121408,6,1,56.910\n",
    detect: |sample| looks_like(Hfplayer, sample),
    decode: |input, reading| Text::boxed(input, Hfplayer, reading.given),
};

const COMMANDS: &Operations = &[
    (b"RD_IN", RequestKind::Read),
    (b"WR_IN", RequestKind::Write),
    (b"RD", RequestKind::Read),
    (b"WR", RequestKind::Write),
];
const REPLIES: [&[u8]; 2] = [b"RD_OUT", b"WR_OUT"];

struct Hfplayer;

impl LineFormat for Hfplayer {
    const UNITS: ColumnUnits = ColumnUnits::sectors(Tick::US);

    fn line(&mut self, line: &[u8], units: &ColumnUnits) -> Result<TextLine, Box<Bad>> {
        let mut columns = Commas::of(line);
        columns.number("dump offset")?;
        let time_ns = columns.time("time (µs)", units.time)?;
        columns.field("ticks")?;
        let command = columns.field("command")?;
        for column in ["in flight", "time stamp", "sequence"] {
            columns.field(column)?;
        }
        let device = columns.number("LUN")?;
        columns.field("operation")?;
        columns.field("phase")?;
        let block = columns.number("block")?;
        let blocks = columns.number("blocks")?;
        for column in ["latency (ticks)", "host", "host's LUN", "latency (µs)"] {
            columns.field(column)?;
        }
        columns.end()?;
        if REPLIES.contains(&command) {
            return Ok(TextLine::Other);
        }
        let kind = operation(command, COMMANDS, "RD, WR, RD_IN, WR_IN, RD_OUT or WR_OUT")?;
        let (offset_bytes, bytes) = range(("block", block), ("blocks", blocks), units)?;
        believed(Record::new(time_ns, device, offset_bytes, bytes, kind), "blocks")
    }
}
