//! What two ends tell each other before they are connected. It stands before the program's private data.

use std::iter;

use arrayvec::ArrayVec;

/// The most bytes that a request, an answer or a rejection carries for a program.
pub const MAX_PRIVATE_DATA: usize = 224;
/// Bytes before the private data.
pub const SIZE: usize = 16;

/// The first bytes, by which an end knows that the other one speaks of the same.
const MAGIC: [u8; 4] = *b"dat\x04";
/// Set if the program takes extended operations.
const EXTENDED: u8 = 1;

/// What an end is asked for, or answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A connection is asked for, or accepted.
    Terms {
        /// Whether the program takes extended operations.
        extended: bool,
        /// The number of the end's endpoint, if it is to carry datagrams; otherwise 0.
        datagrams: u32,
        /// Reads of the peer that are served at a time.
        reads_in: u8,
        /// Reads of its own that it has outstanding at a time.
        reads_out: u8,
    },
    /// The program has turned the request down.
    Rejected,
    /// The request could not be taken.
    Refused,
}

/// A word with its private data as bytes.
pub fn encode(word: Word, private_data: &[u8]) -> ArrayVec<u8, { SIZE + MAX_PRIVATE_DATA }> {
    let (kind, flags, reads, datagrams) = match word {
        Word::Terms { extended, datagrams, reads_in, reads_out } => {
            (0, if extended { EXTENDED } else { 0 }, [reads_in, reads_out], datagrams)
        }
        Word::Rejected => (1, 0, [0; 2], 0),
        Word::Refused => (2, 0, [0; 2], 0),
    };
    let private_data = &private_data[..private_data.len().min(MAX_PRIVATE_DATA)];
    let mut bytes = ArrayVec::from_iter(MAGIC);
    bytes.extend([kind, flags, reads[0], reads[1], private_data.len() as u8]);
    bytes.extend(iter::repeat_n(0, SIZE - size_of::<u32>() - bytes.len()));
    bytes.extend(datagrams.to_le_bytes());
    bytes.extend(private_data.iter().copied());
    bytes
}

/// Returns whether a greeting can begin with these bytes.
pub fn can_begin(bytes: &[u8]) -> bool {
    bytes.iter().zip(MAGIC).all(|(byte, wanted)| *byte == wanted)
}

/// Reads what [`encode`] made; `None` for anything else.
pub fn decode(bytes: &[u8]) -> Option<(Word, Vec<u8>)> {
    let (head, private_data) = bytes.split_at_checked(SIZE)?;
    let [kind, flags, reads_in, reads_out, len] = *head[4..].first_chunk()?;
    let (head, datagrams) = head.split_last_chunk()?;
    let datagrams = u32::from_le_bytes(*datagrams);
    if head[..4] != MAGIC || head[9..].iter().any(|byte| *byte != 0) || flags & !EXTENDED != 0 {
        return None;
    }
    let word = match kind {
        0 => Word::Terms { extended: flags & EXTENDED != 0, datagrams, reads_in, reads_out },
        1 if (flags, reads_in, reads_out, datagrams) == (0, 0, 0, 0) => Word::Rejected,
        2 if (flags, reads_in, reads_out, datagrams) == (0, 0, 0, 0) => Word::Refused,
        _ => return None,
    };
    let private_data = private_data.get(..usize::from(len)).filter(|data| data.len() <= MAX_PRIVATE_DATA)?;
    Some((word, private_data.to_vec()))
}

#[cfg(test)]
mod tests;
