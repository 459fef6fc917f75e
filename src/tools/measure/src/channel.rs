//! A connection with buffers for messages.

use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Result, bail};
use dat::sys::{DAT_DTO_ERR_FLUSHED, DAT_DTO_SUCCESS, DAT_MEM_PRIV_LOCAL_READ_FLAG, DAT_MEM_PRIV_LOCAL_WRITE_FLAG};
use dat::{Completion, Ep, Region, Srq, status_name};

use crate::node::Node;

/// Maximum outstanding messages of a channel.
pub const SENDS: usize = 4;

/// A connection with buffers for messages.
pub struct Channel {
    /// The endpoint.
    pub ep: Ep,
    srq: Option<Srq>,
    receives: Region,
    sends: Region,
    buffer: usize,
    sending: [bool; SENDS],
    /// Identifies the channel in cookies, because handles of freed endpoints are reused.
    serial: u32,
}

/// The meaning of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// A received message.
    Message(Message),
    /// A sent message.
    Send,
    /// The RDMA operation whose cookie has this number; see [`Channel::rdma_cookie`].
    Rdma(usize),
    /// A transfer of another channel, or a transfer flushed with its connection.
    Other,
}

/// A received message. The caller owns its buffer until [`Channel::give_back`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    buffer: usize,
    /// Number of bytes.
    pub length: u64,
}

const RECEIVE: u64 = 0;
const SEND: u64 = 1;
const RDMA: u64 = 2;

impl Channel {
    /// Creates an endpoint and posts `receives` receives for messages of up to `bytes` bytes.
    ///
    /// If `shared` is set, the receives are posted to a shared receive queue.
    pub fn new(node: &Node, bytes: usize, receives: usize, shared: bool) -> Result<Self> {
        static SERIAL: AtomicU32 = AtomicU32::new(1);
        let buffer = buffer(bytes);
        let srq = if shared { Some(Srq::new(&node.pz, receives)?) } else { None };
        // An RDMA operation may be posted before each send.
        let counts = [receives, 2 * SENDS];
        let channel = Self {
            receives: Region::new(&node.pz, receives * buffer, DAT_MEM_PRIV_LOCAL_WRITE_FLAG)?,
            sends: Region::new(&node.pz, SENDS * buffer, DAT_MEM_PRIV_LOCAL_READ_FLAG)?,
            ep: Ep::new(&node.pz, &node.evds, srq.as_ref(), &node.attributes, buffer as u64, counts)?,
            srq,
            buffer,
            sending: [false; SENDS],
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
        };
        (0..receives).try_for_each(|number| channel.post(number))?;
        Ok(channel)
    }

    /// Returns the cookie of an RDMA operation with this number.
    pub fn rdma_cookie(&self, number: usize) -> u64 {
        self.cookie(RDMA, number)
    }

    /// Returns the meaning of a completion, and frees a send's buffer. Fails if a transfer of this channel failed.
    pub fn done(&mut self, completion: &Completion) -> Result<Done> {
        let number = (completion.cookie & 0xffff) as usize;
        if completion.cookie >> 32 != u64::from(self.serial) || completion.ep != self.ep.id() {
            return Ok(Done::Other);
        }
        match completion.status {
            DAT_DTO_SUCCESS => {}
            DAT_DTO_ERR_FLUSHED => return Ok(Done::Other),
            status => bail!("a transfer failed: {}", status_name(status)),
        }
        Ok(match completion.cookie >> 16 & 0xffff {
            RECEIVE => Done::Message(Message { buffer: number, length: completion.length }),
            SEND => {
                self.sending[number] = false;
                Done::Send
            }
            _ => Done::Rdma(number),
        })
    }

    /// Sends a message. `write` writes the message at an offset into the region of the send buffers, and returns its
    /// length. Fails if all buffers are in use.
    pub fn send(&mut self, write: impl FnOnce(&Region, usize) -> usize) -> Result<()> {
        let Some(number) = self.sending.iter().position(|sending| !sending) else {
            bail!("{SENDS} messages are outstanding: the peer does not receive them in turn");
        };
        let place = number * self.buffer;
        let length = write(&self.sends, place);
        self.ep.post_send(self.sends.segment(place, length), self.cookie(SEND, number))?;
        self.sending[number] = true;
        Ok(())
    }

    /// Returns whether a message is outstanding.
    pub fn is_sending(&self) -> bool {
        self.sending.contains(&true)
    }

    /// Returns the region and the offset of a received message.
    pub fn received(&self, message: Message) -> (&Region, usize) {
        (&self.receives, message.buffer * self.buffer)
    }

    /// Posts the buffer of a received message again.
    pub fn give_back(&self, message: Message) -> Result<()> {
        self.post(message.buffer)
    }

    fn post(&self, number: usize) -> Result<()> {
        let segment = self.receives.segment(number * self.buffer, self.buffer);
        let cookie = self.cookie(RECEIVE, number);
        match &self.srq {
            None => Ok(self.ep.post_recv(segment, cookie)?),
            Some(srq) => Ok(srq.post_recv(segment, cookie)?),
        }
    }

    fn cookie(&self, kind: u64, number: usize) -> u64 {
        u64::from(self.serial) << 32 | kind << 16 | number as u64
    }
}

/// Returns the size of a buffer for messages of up to `bytes`: a multiple of 64, so that each buffer starts a cache
/// line.
pub fn buffer(bytes: usize) -> usize {
    bytes.next_multiple_of(64)
}
