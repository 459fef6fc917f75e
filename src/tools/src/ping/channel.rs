//! One connection with its buffers, on either side.

use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Result, bail};
use dat_udat12::{DAT_EP_HANDLE, DAT_MEM_PRIV_LOCAL_READ_FLAG, DAT_MEM_PRIV_LOCAL_WRITE_FLAG};

use super::node::Node;
use super::wire::Head;
use crate::dat::{Completion, Ep, Pattern, Region, Srq, ep};

/// Buffers for receives, and as many for sends: client and server answer each other in turn, and a send may complete after the
/// answer to it has arrived.
pub const BUFFERS: usize = 4;
/// Operations in flight: the sends, and one RDMA operation before each.
const REQUESTS: usize = 2 * BUFFERS;

/// A connection with its buffers.
pub struct Channel {
    pub ep: Ep,
    srq: Option<Srq>,
    receives: Region,
    sends: Region,
    /// Bytes of a transfer, and of one buffer.
    size: usize,
    buffer: usize,
    sending: [bool; BUFFERS],
    /// In all cookies: an event of an endpoint that is gone is not mistaken for one of its successor.
    serial: u32,
}

/// What a completion is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// A message has come.
    Message(Message),
    /// A send is over.
    Send,
    /// The RDMA operation with this number is over.
    Rdma(usize),
    /// It belongs to another connection.
    Stranger,
}

/// A message in its buffer, which belongs to the caller until [`Channel::give_back`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    buffer: usize,
    pub length: u64,
}

/// The kinds of cookies.
const RECEIVE: u64 = 0;
const SEND: u64 = 1;
const RDMA: u64 = 2;

impl Channel {
    /// Makes an endpoint with buffers for messages of `size` bytes behind their head, and posts the receives.
    ///
    /// # Parameters
    /// * `shared` - receive from a shared receive queue.
    pub fn new(node: &Node, size: usize, shared: bool) -> Result<Self> {
        static SERIAL: AtomicU32 = AtomicU32::new(1);
        let buffer = Self::buffer(size);
        let srq = if shared { Some(Srq::new(&node.pz, BUFFERS)?) } else { None };
        let attr = ep::attributes(&node.attributes, buffer as u64, BUFFERS, REQUESTS);
        let channel = Self {
            receives: Region::new(&node.pz, BUFFERS * buffer, DAT_MEM_PRIV_LOCAL_WRITE_FLAG)?,
            sends: Region::new(&node.pz, BUFFERS * buffer, DAT_MEM_PRIV_LOCAL_READ_FLAG)?,
            ep: Ep::new(&node.pz, &node.evds, srq.as_ref(), &attr)?,
            srq,
            size,
            buffer,
            sending: [false; BUFFERS],
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
        };
        (0..BUFFERS).try_for_each(|number| channel.post(number))?;
        Ok(channel)
    }

    /// Bytes of the buffers of a connection.
    pub fn memory(size: usize) -> u64 {
        2 * BUFFERS as u64 * Self::buffer(size) as u64
    }

    fn buffer(size: usize) -> usize {
        (Head::LENGTH + size).next_multiple_of(64)
    }

    pub fn raw(&self) -> DAT_EP_HANDLE {
        self.ep.raw()
    }

    /// The cookie for an RDMA operation, with a small number that comes back with its completion.
    pub fn rdma_cookie(&self, number: usize) -> u64 {
        self.cookie(RDMA, number)
    }

    /// Says what a completion is about; the buffer of a send is free then.
    pub fn done(&mut self, completion: &Completion) -> Done {
        let number = (completion.cookie & 0xff) as usize;
        if completion.cookie >> 32 != u64::from(self.serial) || completion.ep != self.raw() || number >= BUFFERS {
            return Done::Stranger;
        }
        match completion.cookie >> 8 & 0xff {
            RECEIVE => Done::Message(Message { buffer: number, length: completion.length }),
            SEND => {
                self.sending[number] = false;
                Done::Send
            }
            _ => Done::Rdma(number),
        }
    }

    /// Sends a message, with the bytes of a transfer behind its head if there are some.
    ///
    /// # Errors
    /// As dat_ep_post_send; or all buffers are under way, because the peer does not take messages in turn.
    pub fn send(&mut self, head: Head, bytes: Option<Pattern>) -> Result<()> {
        let Some(number) = self.sending.iter().position(|sending| !sending) else {
            bail!("{BUFFERS} messages are under way");
        };
        let place = number * self.buffer;
        self.sends.write(place, &head.to_bytes());
        let mut length = Head::LENGTH;
        if let Some(bytes) = bytes {
            self.sends.stamp(place + length, self.size, bytes);
            length += self.size;
        }
        let segment = self.sends.segment(place, length);
        self.ep.post_send(segment, self.cookie(SEND, number))?;
        self.sending[number] = true;
        Ok(())
    }

    /// The head of a message; none if it is not from dat-ping.
    pub fn head(&self, message: Message) -> Option<Head> {
        let mut bytes = [0; Head::LENGTH];
        if message.length < Head::LENGTH as u64 {
            return None;
        }
        self.receives.read(message.buffer * self.buffer, &mut bytes);
        Head::from_bytes(bytes)
    }

    /// The first byte behind the head of a message that is not as it should be; a missing one is wrong too.
    pub fn first_wrong(&self, message: Message, wanted: Pattern) -> Option<u32> {
        let (length, size) = (message.length - Head::LENGTH as u64, self.size as u64);
        if length != size {
            return Some(length.min(size) as u32);
        }
        let place = message.buffer * self.buffer + Head::LENGTH;
        self.receives.first_difference(place, self.size, wanted).map(|place| place as u32)
    }

    /// Posts the buffer of a message again.
    pub fn give_back(&self, message: Message) -> Result<()> {
        self.post(message.buffer)
    }

    fn post(&self, number: usize) -> Result<()> {
        let segment = self.receives.segment(number * self.buffer, self.buffer);
        match &self.srq {
            Some(srq) => srq.post_recv(segment, self.cookie(RECEIVE, number)),
            None => self.ep.post_recv(segment, self.cookie(RECEIVE, number)),
        }
    }

    fn cookie(&self, kind: u64, number: usize) -> u64 {
        u64::from(self.serial) << 32 | kind << 8 | number as u64
    }
}
