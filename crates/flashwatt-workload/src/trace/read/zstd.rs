//! A zstd file as a reader: frames one after another, as `cat a.zst b.zst` makes them, skippable ones passed over.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Unpacks `source`.
pub struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> Frames<R> {
    /// Unpacks `source`.
    pub fn new(source: R) -> Self {
        Frames { source, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Goes to the next frame; false at the end of the file.
    fn open_frame(&mut self) -> io::Result<bool> {
        if self.source.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.decoder.reset(&mut self.source) {
            Ok(()) => self.in_frame = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                io::copy(&mut (&mut self.source).take(u64::from(length)), &mut io::sink())?;
            }
            Err(e) => return Err(self.damaged(&e)),
        }
        Ok(true)
    }

    /// Data that ends too early gives another error than damaged data.
    fn damaged(&mut self, error: &FrameDecoderError) -> io::Error {
        let at_end = self.source.fill_buf().is_ok_and(<[u8]>::is_empty);
        let kind = if at_end { io::ErrorKind::UnexpectedEof } else { io::ErrorKind::InvalidData };
        io::Error::new(kind, error.to_string())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            while self.in_frame && self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|e| self.damaged(&e))?;
            }
            let got = if self.in_frame { self.decoder.read(to)? } else { 0 };
            if got > 0 {
                return Ok(got);
            }
            self.in_frame = false;
            if !self.open_frame()? {
                return Ok(0);
            }
        }
    }
}
