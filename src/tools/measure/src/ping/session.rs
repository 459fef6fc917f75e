//! The client's connections to a server, and the operations of a round.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use dat::sys::DAT_CLOSE_GRACEFUL_FLAG;
use dat::{Event, Region, event_name};

use super::wire::From::{Client, Server};
use super::wire::{self, Area, Head, Hello, Operation};
use crate::channel::{Channel, Done, Message};
use crate::interrupt::Interrupt;
use crate::node::Node;
use crate::pattern::Pattern;
use crate::stop::{Stop, late};

const WRITE: usize = 0;
const READ: usize = 1;

/// The client's connections to a server.
pub struct Session {
    /// Address of the server.
    pub address: IpAddr,
    // Dropped in this order: endpoints, their memory, the adapter.
    /// The first connection, and the connection with shared receive queues if both sides support them.
    pub channels: Vec<Channel>,
    /// Memory for RDMA, with all [`Area`]s.
    pub memory: Region,
    /// The server's private data.
    pub server: Hello,
    /// The adapter.
    pub node: Node,
    /// Set if this side polls.
    pub poll: bool,
    /// Maximum time of an operation.
    pub timeout: Duration,
    /// The request to end the tool.
    pub interrupt: Interrupt,
}

impl Session {
    /// Returns whether rounds use shared receive queues: `true` if the adapters of both sides support them.
    pub fn has_srq(&self) -> bool {
        self.channels.len() > 1
    }

    /// Performs one operation. Returns its duration, and a text about wrong bytes if there were any.
    pub fn run(&mut self, operation: Operation, round: u64) -> Result<(Duration, Option<String>), Stop> {
        let bytes = |from| wire::bytes(round, operation, from);
        let head = Head { operation, round, wrong: None };
        let deadline = Instant::now() + self.timeout;
        let size = self.server.size as usize;
        let landing = self.memory.segment(Area::Landing as usize * size, size);
        match operation {
            Operation::Send | Operation::Srq => {
                let index = usize::from(operation == Operation::Srq);
                let start = Instant::now();
                head.send(&mut self.channels[index], Some((bytes(Client), size)))?;
                let (head, message) = self.response(deadline, index, head)?;
                let time = start.elapsed();
                let channel = &self.channels[index];
                let wrong = wire::first_wrong(channel, message, bytes(Server), size);
                channel.give_back(message)?;
                Ok((time, wrong_text(operation, head.wrong, wrong)))
            }
            Operation::Write => {
                let source = Area::Source as usize * size;
                bytes(Client).write(&self.memory, source, size);
                let segment = self.memory.segment(source, size);
                let start = Instant::now();
                let channel = &mut self.channels[0];
                channel.ep.post_rdma_write(segment, self.server.area(Area::Landing), channel.rdma_cookie(WRITE))?;
                head.send(channel, None)?;
                let (head, message) = self.response(deadline, 0, head)?;
                let time = start.elapsed();
                self.channels[0].give_back(message)?;
                Ok((time, wrong_text(operation, head.wrong, self.landed(size, bytes(Server))?)))
            }
            Operation::Read => {
                let channel = &self.channels[0];
                let start = Instant::now();
                channel.ep.post_rdma_read(landing, self.server.area(Area::Readable), channel.rdma_cookie(READ))?;
                self.until(deadline, self.poll, |index, done, _| {
                    (index == 0 && done == Done::Rdma(READ)).then_some(())
                })?
                .ok_or_else(|| Stop::Late(late(self.timeout)))?;
                let time = start.elapsed();
                Ok((time, wrong_text(operation, None, self.landed(size, bytes(Server))?)))
            }
        }
    }

    /// Waits until a time. Fails with [`Stop::Gone`] if the connection ends first.
    pub fn rest(&mut self, until: Instant) -> Result<(), Stop> {
        self.until(until, false, |_, _, _| None::<()>).map(|_| ())
    }

    /// Disconnects gracefully, as [`disconnect`].
    pub fn end(self) {
        disconnect(&self.node, &self.channels, &self.interrupt);
    }

    /// Returns the index of the first wrong byte in [`Area::Landing`], or `None` if all are right.
    fn landed(&self, size: usize, wanted: Pattern) -> Result<Option<u32>, Stop> {
        let place = Area::Landing as usize * size;
        self.memory.sync_rdma_write(place, size)?;
        Ok(wanted.first_difference(&self.memory, place, size).map(|place| place as u32))
    }

    fn response(&mut self, deadline: Instant, on: usize, to: Head) -> Result<(Head, Message), Stop> {
        let found = self.until(deadline, self.poll, |index, done, channel| {
            let Done::Message(message) = done else { return None };
            let head = Head::of(channel, message);
            // The message may be a late response to an earlier round.
            if index != on || head.is_none_or(|head| (head.operation, head.round) != (to.operation, to.round)) {
                let _ = channel.give_back(message);
                return None;
            }
            head.map(|head| (head, message))
        })?;
        found.ok_or_else(|| Stop::Late(late(self.timeout)))
    }

    /// Passes each completion to `wanted`, until it returns a value. Returns `None` at the deadline.
    fn until<T>(
        &mut self,
        deadline: Instant,
        poll: bool,
        mut wanted: impl FnMut(usize, Done, &Channel) -> Option<T>,
    ) -> Result<Option<T>, Stop> {
        while let Some(event) = self.node.next(Some(deadline), &self.interrupt, poll)? {
            match event {
                Event::Completion(completion) => {
                    for (index, channel) in self.channels.iter_mut().enumerate() {
                        let done = channel.done(&completion)?;
                        if let Some(found) = wanted(index, done, channel) {
                            return Ok(Some(found));
                        }
                    }
                }
                Event::Connection(event) => {
                    if self.channels.iter().any(|channel| channel.ep.id() == event.ep) {
                        return Err(Stop::Gone(format!("the connection has ended, {}", event_name(event.number))));
                    }
                }
                // Dropping a connection request rejects it.
                Event::Request(_) | Event::Other => {}
            }
        }
        Ok(None)
    }
}

/// Disconnects gracefully. Waits until all connections have ended, for up to 1 s, or 200 ms after an interrupt.
pub fn disconnect(node: &Node, channels: &[Channel], interrupt: &Interrupt) {
    let timeout = if interrupt.is_set() { Duration::from_millis(200) } else { Duration::from_secs(1) };
    let deadline = Instant::now() + timeout;
    let mut left = channels.len();
    for channel in channels {
        let _ = channel.ep.disconnect(DAT_CLOSE_GRACEFUL_FLAG);
    }
    while left > 0 {
        match node.next(Some(deadline), &Interrupt::default(), false) {
            Ok(Some(Event::Connection(_))) => left -= 1,
            Ok(Some(_)) => {}
            _ => return,
        }
    }
}

fn wrong_text(operation: Operation, there: Option<u32>, back: Option<u32>) -> Option<String> {
    let name = operation.name();
    let texts = [(there, "the server"), (back, "this side")]
        .map(|(place, side)| place.map(|place| format!("{name}: {side} received a wrong byte {place}")));
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

#[cfg(test)]
mod tests;
