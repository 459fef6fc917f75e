//! The server's responses to a client.

use dat::{Completion, Connection, Cr, Event, Region};

use super::wire::{self, Area, From, Head, Hello, Operation};
use crate::channel::{Channel, Done, Message};
use crate::interrupt::Interrupt;
use crate::node::Node;
use crate::stop::Stop;

/// A client of the server.
pub struct Client {
    /// Name in the output.
    pub name: String,
    // Declared before `ping`, because endpoints must be freed before the memory of their transfers.
    /// The connections.
    pub channels: Vec<Channel>,
    /// `None` for a program other than dat-ping.
    pub ping: Option<Ping>,
    /// Number of handled messages.
    pub transfers: u64,
    /// Number of transfers with wrong bytes.
    pub wrong: u64,
}

/// The parameters of a dat-ping.
pub struct Ping {
    /// Its private data.
    pub hello: Hello,
    /// The server's memory for RDMA, with all [`Area`]s.
    pub memory: Region,
}

/// An event that is no message.
pub enum ServerEvent {
    /// A connection request.
    Request(Cr),
    /// A connection is established or has ended.
    Connection(Connection),
    /// The connection of the client with this index has failed.
    Failed(usize, anyhow::Error),
}

/// Responds to the messages of all clients until another event. Polls if a client requests this.
pub fn respond(node: &Node, clients: &mut [Client], interrupt: &Interrupt) -> Result<ServerEvent, Stop> {
    let polls = clients.iter().any(|client| client.ping.as_ref().is_some_and(|ping| ping.hello.polls));
    loop {
        match node.next(None, interrupt, polls)? {
            Some(Event::Request(request)) => return Ok(ServerEvent::Request(request)),
            Some(Event::Connection(event)) => return Ok(ServerEvent::Connection(event)),
            Some(Event::Completion(completion)) => {
                for (index, client) in clients.iter_mut().enumerate() {
                    match client.complete(&completion) {
                        Ok(false) => {}
                        Ok(true) => break,
                        Err(error) => return Ok(ServerEvent::Failed(index, error)),
                    }
                }
            }
            Some(Event::Other) | None => {}
        }
    }
}

impl Client {
    /// Handles a completion, and responds if it is a message. Returns `false` if the completion belongs to no connection
    /// of the client.
    fn complete(&mut self, completion: &Completion) -> anyhow::Result<bool> {
        for place in 0..self.channels.len() {
            match self.channels[place].done(completion)? {
                Done::Other => {}
                Done::Message(message) => return self.respond(place, message).map(|()| true),
                Done::Send | Done::Rdma(_) => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Checks the bytes of a message, or of the RDMA write before it, and responds.
    fn respond(&mut self, place: usize, message: Message) -> anyhow::Result<()> {
        let channel = &mut self.channels[place];
        let (Some(head), Some(Ping { hello, memory })) = (Head::of(channel, message), &self.ping) else {
            // A program other than dat-ping gets no response.
            self.transfers += 1;
            return channel.give_back(message);
        };
        let Head { operation, round, .. } = head;
        let bytes = |operation, from| wire::bytes(round, operation, from);
        let size = hello.size as usize;
        let wrong = match operation {
            Operation::Send | Operation::Srq => {
                let wrong = wire::first_wrong(channel, message, bytes(operation, From::Client), size);
                // Post the receive first: after the response, the client may send the next message.
                channel.give_back(message)?;
                Head { wrong, ..head }.send(channel, Some((bytes(operation, From::Server), size)))?;
                wrong
            }
            Operation::Write => {
                let landing = Area::Landing as usize * size;
                memory.sync_rdma_write(landing, size)?;
                let wrong = bytes(operation, From::Client).first_difference(memory, landing, size);
                channel.give_back(message)?;
                // The next operation of the client reads these bytes.
                let readable = Area::Readable as usize * size;
                bytes(Operation::Read, From::Server).write(memory, readable, size);
                memory.sync_rdma_read(readable, size)?;
                let source = Area::Source as usize * size;
                bytes(operation, From::Server).write(memory, source, size);
                let (segment, remote) = (memory.segment(source, size), hello.area(Area::Landing));
                channel.ep.post_rdma_write(segment, remote, channel.rdma_cookie(0))?;
                let wrong = wrong.map(|place| place as u32);
                Head { wrong, ..head }.send(channel, None)?;
                wrong
            }
            Operation::Read => anyhow::bail!("the client sent a message for an RDMA read"),
        };
        self.transfers += 1;
        self.wrong += u64::from(wrong.is_some());
        Ok(())
    }
}
