//! Writes a file plain or packed, the same bytes for the same content.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Bytes that make a zstd frame of their own; readers take frames one after another.
const FRAME_BYTES: usize = 4 << 20;

/// How a file is packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// gzip (`.gz`).
    Gzip,
    /// zstd (`.zst`).
    Zstd,
}

impl Packing {
    /// What a file's first bytes say.
    pub fn of_head(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    /// What a file's name asks for, and the name without it.
    pub fn of_name(name: &str) -> (Self, &str) {
        match name.rsplit_once('.') {
            Some((stem, "gz")) => (Packing::Gzip, stem),
            Some((stem, "zst")) => (Packing::Zstd, stem),
            _ => (Packing::Plain, name),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Packing::Plain => "plain",
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }
}

/// Packs what is written to it. [`Packer::finish`] writes the rest.
pub enum Packer<W: Write> {
    /// As it is.
    Plain(W),
    /// The header of a gzip file tells no time, so that equal content makes equal files.
    Gzip(GzEncoder<W>),
    /// The bytes that are not written yet, and the output.
    Zstd(Vec<u8>, W),
}

impl<W: Write> Packer<W> {
    /// Packs into `to`.
    pub fn new(packing: Packing, to: W) -> Self {
        match packing {
            Packing::Plain => Packer::Plain(to),
            Packing::Gzip => Packer::Gzip(GzEncoder::new(to, Compression::default())),
            Packing::Zstd => Packer::Zstd(Vec::with_capacity(FRAME_BYTES), to),
        }
    }

    /// Writes the rest, and returns the output.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Packer::Plain(to) => Ok(to),
            Packer::Gzip(to) => to.finish(),
            Packer::Zstd(rest, mut to) => {
                if !rest.is_empty() {
                    frame(&rest, &mut to)?;
                }
                Ok(to)
            }
        }
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Packer::Plain(to) => to.write(from),
            Packer::Gzip(to) => to.write(from),
            Packer::Zstd(rest, to) => {
                let room = from.len().min(FRAME_BYTES - rest.len());
                rest.extend_from_slice(&from[..room]);
                if rest.len() == FRAME_BYTES {
                    frame(rest, to)?;
                    rest.clear();
                }
                Ok(room)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packer::Plain(to) | Packer::Zstd(_, to) => to.flush(),
            Packer::Gzip(to) => to.flush(),
        }
    }
}

fn frame(content: &[u8], to: &mut impl Write) -> io::Result<()> {
    to.write_all(&compress_to_vec(content, CompressionLevel::Fastest))
}
