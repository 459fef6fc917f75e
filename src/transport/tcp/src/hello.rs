//! The greeting that both ends exchange before they are connected. It precedes the program's private data.

use std::iter;

use arrayvec::ArrayVec;
use dat_core::transport::Rejection;
use rustix::net::Shutdown;

use crate::socket::Socket;

/// Maximum private data of a request, reply or rejection.
pub const MAX_PRIVATE_DATA: usize = 224;
/// Bytes before the private data.
pub const SIZE: usize = 16;

/// Magic number and version.
const MAGIC: [u8; 4] = *b"dat\x04";
/// Kind of a greeting with [`Terms`]: a request or an acceptance.
const TERMS: u8 = 0;
/// Kind of a greeting: a rejection by the program.
const REJECTED: u8 = 1;
/// Kind of a greeting: a rejection by the provider.
const REFUSED: u8 = 2;
/// Kind of a greeting: [`Refusal::Again`].
const AGAIN: u8 = 3;
/// Flag in a greeting: [`Terms::extended`] is `true`.
const EXTENDED: u8 = 1;

/// The properties of an end that its peer must know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// `true` if the program supports extended operations.
    pub extended: bool,
    /// Number of the endpoint if it is for datagrams, otherwise 0.
    pub datagrams: u32,
    /// Maximum number of the peer's reads that are served concurrently.
    pub reads_in: u8,
    /// Maximum number of own outstanding reads.
    pub reads_out: u8,
}

/// The reply to a request that is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request is rejected.
    Rejected(Rejection),
    /// The acceptor has closed the connection before it had the greeting, to make room. The requester connects again.
    Again,
}

impl Refusal {
    /// Sends the refusal with private data, and ends this direction of the socket.
    pub fn send(self, socket: &Socket, private_data: &[u8]) {
        let _ = socket.send_bytes(&encode(Err(self), private_data));
        socket.shut_down(Shutdown::Write);
    }
}

/// Encodes a request or an acceptance (`Ok`), or a refusal, with private data.
pub fn encode(word: Result<Terms, Refusal>, private_data: &[u8]) -> ArrayVec<u8, { SIZE + MAX_PRIVATE_DATA }> {
    let (kind, Terms { extended, datagrams, reads_in, reads_out }) = match word {
        Ok(terms) => (TERMS, terms),
        Err(Refusal::Rejected(Rejection::Consumer)) => (REJECTED, Terms::default()),
        Err(Refusal::Rejected(Rejection::Provider)) => (REFUSED, Terms::default()),
        Err(Refusal::Again) => (AGAIN, Terms::default()),
    };
    let private_data = &private_data[..private_data.len().min(MAX_PRIVATE_DATA)];
    let mut bytes = ArrayVec::from_iter(MAGIC);
    bytes.extend([kind, if extended { EXTENDED } else { 0 }, reads_in, reads_out, private_data.len() as u8]);
    bytes.extend(iter::repeat_n(0, SIZE - size_of::<u32>() - bytes.len()));
    bytes.extend(datagrams.to_le_bytes());
    bytes.extend(private_data.iter().copied());
    bytes
}

/// Returns whether a greeting can begin with these bytes.
pub fn can_begin(bytes: &[u8]) -> bool {
    bytes.iter().zip(MAGIC).all(|(byte, wanted)| *byte == wanted)
}

/// Decodes a greeting and its private data, which other bytes may follow. Returns `None` if `bytes` begins with no
/// complete and valid greeting.
pub fn decode(bytes: &[u8]) -> Option<(Result<Terms, Refusal>, Vec<u8>)> {
    let (head, private_data) = bytes.split_at_checked(SIZE)?;
    let [kind, flags, reads_in, reads_out, len] = *head[4..].first_chunk()?;
    let (head, datagrams) = head.split_last_chunk()?;
    let terms =
        Terms { extended: flags & EXTENDED != 0, datagrams: u32::from_le_bytes(*datagrams), reads_in, reads_out };
    if head[..4] != MAGIC || head[9..].iter().any(|byte| *byte != 0) || flags & !EXTENDED != 0 {
        return None;
    }
    let word = match kind {
        TERMS => Ok(terms),
        _ if terms != Terms::default() => return None,
        REJECTED => Err(Refusal::Rejected(Rejection::Consumer)),
        REFUSED => Err(Refusal::Rejected(Rejection::Provider)),
        AGAIN => Err(Refusal::Again),
        _ => return None,
    };
    let private_data = private_data.get(..usize::from(len)).filter(|data| data.len() <= MAX_PRIVATE_DATA)?;
    Some((word, private_data.to_vec()))
}

#[cfg(test)]
mod tests;
