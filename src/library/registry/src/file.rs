//! Reading a configuration file.
//!
//! The contents of the file, or of the variable that names it, must not block a program or fill its memory. So only regular
//! files are read, without waiting for anything, and no more of them than [`LIMIT`].

#![forbid(unsafe_code)]

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// The bytes of a file that count; whole lines before this point are read.
pub const LIMIT: usize = 16 << 20;

/// The text of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Text {
    /// The text, up to the limit.
    pub bytes: Vec<u8>,
    /// Whether there was more of it.
    pub cut: bool,
}

/// Reads a regular file. If it changes meanwhile, the bytes are a mixture of the old contents and the new.
///
/// # Errors
/// The error of the system, such as for a file that may not be read or for lack of memory; one of the kind
/// [`io::ErrorKind::InvalidInput`] for what is no regular file: a directory, a FIFO, a socket or a device.
pub fn read(path: &Path) -> io::Result<Text> {
    read_within(path, LIMIT)
}

fn read_within(path: &Path, limit: usize) -> io::Result<Text> {
    // A device is not even opened, because that alone may have an effect.
    must_be_regular(&path.metadata()?)?;
    // If something else has replaced the file since, opening it must not block; it is refused below.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    must_be_regular(&file.metadata()?)?;
    text_of(file, limit)
}

fn text_of(file: File, limit: usize) -> io::Result<Text> {
    let mut bytes = Vec::new();
    // One byte beyond the limit shows that there is more. The length in the file's attributes is no help: the file may
    // grow, and files of the kernel have length 0.
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    let cut = bytes.len() > limit;
    if cut {
        // The line that goes beyond the limit is not whole.
        let whole = bytes.iter().take(limit).rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        bytes.truncate(whole);
    }
    Ok(Text { bytes, cut })
}

fn must_be_regular(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() {
        "it is a directory"
    } else if kind.is_fifo() {
        "it is a FIFO"
    } else if kind.is_socket() {
        "it is a socket"
    } else {
        "it is a device"
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{what} and no regular file")))
}

#[cfg(test)]
mod tests;
