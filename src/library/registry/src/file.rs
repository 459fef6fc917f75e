//! Bounded reads of configuration files, which must not block a program: only regular files, and at most [`MAX_BYTES`].

#![forbid(unsafe_code)]

use std::fs::{Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Maximum size that is read. Only lines that end within this size count.
pub const MAX_BYTES: usize = 16 << 20;

/// The text of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Text {
    /// The text, or if it is too long, the complete lines within the limit.
    pub bytes: Vec<u8>,
    /// `true` if the file is larger than the limit.
    pub cut: bool,
}

/// Reads a regular file. The text is a mixture if another process is writing the file.
///
/// # Errors
/// The error of the system, or [`io::ErrorKind::InvalidInput`] if the file is not regular.
pub fn read(path: &Path) -> io::Result<Text> {
    read_within(path, MAX_BYTES)
}

fn read_within(path: &Path, limit: usize) -> io::Result<Text> {
    // Opening a device could have an effect.
    must_be_regular(&path.metadata()?)?;
    // Another file may have replaced the regular file. Opening that file must not block; the next check rejects it.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    must_be_regular(&file.metadata()?)?;
    let mut bytes = Vec::new();
    // One byte beyond the limit shows that there is more. The size in the metadata does not: files can grow, and files
    // of the kernel have size 0.
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    let cut = bytes.len() > limit;
    if cut {
        // The last line is incomplete.
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
