//! The client's connections to a server, and the operations of a round.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use dat_udat12::*;

use super::EVENTS;
use super::channel::{Channel, Done, Message};
use super::node::{Happening, Node};
use super::wire::From::{Client, Server};
use super::wire::{self, Area, Head, Hello, Operation};
use crate::dat::event::event_name;
use crate::dat::{Event, Library, Pattern, Region, address};
use crate::hint::hint;
use crate::interrupt::Interrupt;

/// The numbers of RDMA operations in their cookies.
const WRITE: usize = 0;
const READ: usize = 1;

/// What a client needs to know to connect.
pub struct Plan<'a> {
    pub library: Library,
    pub adapter: &'a str,
    /// Where the server is; without it, at the address of the adapter itself.
    pub host: Option<&'a str>,
    /// Where it listens.
    pub qualifier: u64,
    /// Bytes of each transfer.
    pub size: u32,
    /// The longest time for a connection or an answer.
    pub timeout: Duration,
    /// Set if both sides poll.
    pub poll: bool,
    /// Whether the tool is to end.
    pub interrupt: &'a Interrupt,
}

/// Why there was no answer.
pub enum Stop {
    /// The tool is to end.
    Interrupted,
    /// The connection is gone, or none can be made.
    Gone(String),
    /// The answer did not come in time.
    Late(String),
}

/// A call on this side failed, mostly because the connection has just ended.
impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Stop::Gone(error.to_string())
    }
}

/// What a server turned out to be.
pub enum Peer {
    Session(Box<Session>),
    /// A program that has accepted the connection, and is no dat-ping; and how long that took.
    Other(IpAddr, Duration),
}

/// The connections to a server.
pub struct Session {
    /// The address by which it was reached.
    pub address: IpAddr,
    // They go in this order: endpoints before the memory that they use, and all before the adapter.
    channels: Vec<Channel>,
    memory: Region,
    server: Hello,
    node: Node,
}

impl Session {
    /// Connects.
    ///
    /// # Errors
    /// [`Stop`], with a question for the user, or what cannot be done on this side.
    pub fn connect(plan: &Plan) -> anyhow::Result<Result<Peer, (Stop, String)>> {
        let node = Node::open(plan.library, plan.adapter, EVENTS)?;
        super::check_size(&node, plan.size)?;
        let own = node.attributes.address.map(|address| address.ip());
        let hosts = match plan.host {
            Some(host) => {
                address::resolve(host, own).with_context(|| format!("the address of \"{host}\" is not known"))?
            }
            None => vec![own.context("the adapter has no IP address")?],
        };
        let size = plan.size as usize;
        let memory = Region::new(&node.pz, size * Area::ALL as usize, DAT_MEM_PRIV_ALL_FLAG)?;
        let hello = Hello {
            shared: node.has_srq(),
            polls: plan.poll,
            channel: 0,
            size: plan.size,
            session: RandomState::new().hash_one(std::process::id()),
            memory: memory.remote(0, memory.length()),
        };

        // A name may have addresses that this adapter cannot reach, such as those of the other family.
        let with_hint = |stop, host| {
            let late = matches!(stop, Stop::Late(_));
            (stop, hint("dat-ping", plan.adapter, own, host, late))
        };
        let mut last = None;
        for host in hosts {
            let channel = Channel::new(&node, size, false)?;
            let start = Instant::now();
            let (answer, took) = match establish(plan, &node, &channel, host, hello) {
                Ok(answer) => (answer, start.elapsed()),
                Err(Stop::Interrupted) => return Ok(Err((Stop::Interrupted, String::new()))),
                Err(stop) => {
                    last = Some(with_hint(stop, host));
                    continue;
                }
            };
            let Some(server) = Hello::from_bytes(&answer) else {
                let mut channels = vec![channel];
                disconnect(&node, &mut channels, plan.interrupt);
                return Ok(Ok(Peer::Other(host, took)));
            };
            if server.size != plan.size {
                bail!("{host} answers with {} bytes a transfer instead of {}", server.size, plan.size);
            }
            let mut session = Session { address: host, channels: vec![channel], memory, server, node };
            if session.server.shared && hello.shared {
                let channel = Channel::new(&session.node, size, true)?;
                if let Err(stop) = establish(plan, &session.node, &channel, host, Hello { channel: 1, ..hello }) {
                    return Ok(Err(with_hint(stop, host)));
                }
                session.channels.push(channel);
            }
            return Ok(Ok(Peer::Session(Box::new(session))));
        }
        Ok(Err(last.context("it has no address")?))
    }

    /// Whether messages also go through shared receive queues: both adapters have them.
    pub fn has_srq(&self) -> bool {
        self.channels.len() > 1
    }

    /// Returns whether the server polls.
    pub fn server_polls(&self) -> bool {
        self.server.polls
    }

    /// Carries out one operation; the time that it took, and what was wrong with its bytes.
    ///
    /// # Errors
    /// Why there was no answer; what cannot be done on this side is [`Stop::Gone`] too.
    pub fn run(&mut self, plan: &Plan, operation: Operation, round: u64) -> Result<(Duration, Option<String>), Stop> {
        let bytes = |from| wire::bytes(round, operation, from);
        let head = Head { operation, round, wrong: None };
        let deadline = Instant::now() + plan.timeout;
        let size = plan.size as usize;
        match operation {
            Operation::Send | Operation::Srq => {
                let index = usize::from(operation == Operation::Srq);
                let start = Instant::now();
                self.channels[index].send(head, Some(bytes(Client)))?;
                let (head, message) = self.answer(plan, deadline, index, head)?;
                let time = start.elapsed();
                let channel = &self.channels[index];
                let wrong = channel.first_wrong(message, bytes(Server));
                channel.give_back(message)?;
                Ok((time, wrong_text(operation, head.wrong, wrong)))
            }
            Operation::Write => {
                let source = Area::Source as usize * size;
                self.memory.stamp(source, size, bytes(Client));
                let segment = self.memory.segment(source, size);
                let start = Instant::now();
                let channel = &mut self.channels[0];
                let (remote, cookie) = (self.server.area(Area::Landing), channel.rdma_cookie(WRITE));
                channel.ep.post_rdma_write(segment, remote, cookie)?;
                channel.send(head, None)?;
                let (head, message) = self.answer(plan, deadline, 0, head)?;
                let time = start.elapsed();
                self.channels[0].give_back(message)?;
                Ok((time, wrong_text(operation, head.wrong, self.landed(size, bytes(Server))?)))
            }
            Operation::Read => {
                let segment = self.memory.segment(Area::Landing as usize * size, size);
                let channel = &self.channels[0];
                let (remote, cookie) = (self.server.area(Area::Readable), channel.rdma_cookie(READ));
                let start = Instant::now();
                channel.ep.post_rdma_read(segment, remote, cookie)?;
                self.until(plan, deadline, plan.poll, |index, done, _| {
                    (index == 0 && done == Done::Rdma(READ)).then_some(())
                })?
                .ok_or_else(|| late(plan))?;
                let time = start.elapsed();
                Ok((time, wrong_text(operation, None, self.landed(size, bytes(Server))?)))
            }
        }
    }

    /// Waits, and notices if the peer goes away meanwhile.
    ///
    /// # Errors
    /// [`Stop::Interrupted`] and [`Stop::Gone`].
    pub fn rest(&mut self, plan: &Plan, until: Instant) -> Result<(), Stop> {
        // Polling here would only occupy a CPU.
        self.until(plan, until, false, |_, _, _| None::<()>).map(|_| ())
    }

    /// Ends the connections in good order.
    pub fn end(mut self, interrupt: &Interrupt) {
        disconnect(&self.node, &mut self.channels, interrupt);
    }

    /// The first wrong byte of what the server has written, or of what was read from it.
    fn landed(&self, size: usize, wanted: Pattern) -> Result<Option<u32>, Stop> {
        let place = Area::Landing as usize * size;
        self.memory.sync_rdma_write(place, size)?;
        Ok(self.memory.first_difference(place, size, wanted).map(|place| place as u32))
    }

    /// Waits for the answer to a message.
    fn answer(&mut self, plan: &Plan, deadline: Instant, on: usize, to: Head) -> Result<(Head, Message), Stop> {
        let found = self.until(plan, deadline, plan.poll, |index, done, channel| {
            let Done::Message(message) = done else { return None };
            let head = channel.head(message);
            // It may be the late answer to an earlier round.
            if index != on || head.is_none_or(|head| (head.operation, head.round) != (to.operation, to.round)) {
                let _ = channel.give_back(message);
                return None;
            }
            head.map(|head| (head, message))
        })?;
        found.ok_or_else(|| late(plan))
    }

    /// Takes what happens until `wanted` has found something, or the time is up.
    fn until<T>(
        &mut self,
        plan: &Plan,
        deadline: Instant,
        poll: bool,
        mut wanted: impl FnMut(usize, Done, &Channel) -> Option<T>,
    ) -> Result<Option<T>, Stop> {
        loop {
            match self.node.next(Some(deadline), plan.interrupt, poll)? {
                Happening::Interrupted => return Err(Stop::Interrupted),
                Happening::TimeUp => return Ok(None),
                Happening::Event(Event::Completion(completion)) => {
                    for (index, channel) in self.channels.iter_mut().enumerate() {
                        let done = channel.done(&completion);
                        if done != Done::Stranger && completion.succeeded()? {
                            if let Some(found) = wanted(index, done, channel) {
                                return Ok(Some(found));
                            }
                        }
                    }
                }
                Happening::Event(Event::Connection(event)) => {
                    if self.channels.iter().any(|channel| channel.raw() == event.ep) {
                        return Err(Stop::Gone(format!("the connection has ended, {}", event_name(event.number))));
                    }
                }
                // A request that comes to a client is dropped, and thereby rejected.
                Happening::Event(Event::Request(_) | Event::Other) => {}
            }
        }
    }
}

/// Connects one endpoint; private data of the answer.
fn establish(plan: &Plan, node: &Node, channel: &Channel, host: IpAddr, hello: Hello) -> Result<Vec<u8>, Stop> {
    let deadline = Instant::now() + plan.timeout;
    channel.ep.connect(host, plan.qualifier, plan.timeout, &hello.to_bytes())?;
    // A provider may not keep to the time of the attempt.
    let deadline = deadline + Duration::from_secs(1);
    loop {
        match node.next(Some(deadline), plan.interrupt, false)? {
            Happening::Interrupted => return Err(Stop::Interrupted),
            Happening::TimeUp => return Err(late(plan)),
            Happening::Event(Event::Connection(event)) if event.ep == channel.raw() => {
                let reason = match event.number {
                    DAT_CONNECTION_EVENT_ESTABLISHED => return Ok(event.private_data),
                    DAT_CONNECTION_EVENT_NON_PEER_REJECTED => {
                        format!("no server listens on qualifier {}", plan.qualifier)
                    }
                    DAT_CONNECTION_EVENT_PEER_REJECTED => "the peer rejected the request".to_owned(),
                    DAT_CONNECTION_EVENT_UNREACHABLE => "it cannot be reached".to_owned(),
                    DAT_CONNECTION_EVENT_TIMED_OUT => return Err(late(plan)),
                    _ => "the connection attempt failed".to_owned(),
                };
                return Err(Stop::Gone(format!("{reason}, {}", event_name(event.number))));
            }
            Happening::Event(_) => {}
        }
    }
}

/// Ends connections, and gives them a moment to end in good order.
fn disconnect(node: &Node, channels: &mut [Channel], interrupt: &Interrupt) {
    // Who asks twice does not wait.
    let patience = if interrupt.is_set() { Duration::from_millis(200) } else { Duration::from_secs(1) };
    let deadline = Instant::now() + patience;
    let mut left = channels.len();
    for channel in channels.iter() {
        let _ = channel.ep.disconnect(DAT_CLOSE_GRACEFUL_FLAG);
    }
    while left > 0 {
        match node.next(Some(deadline), &Interrupt::default(), false) {
            Ok(Happening::Event(Event::Connection(_))) => left -= 1,
            Ok(Happening::Event(_)) => {}
            _ => return,
        }
    }
}

/// What is wrong with the bytes of an operation.
fn wrong_text(operation: Operation, there: Option<u32>, back: Option<u32>) -> Option<String> {
    let name = operation.name();
    let texts = [(there, "the server"), (back, "this side")]
        .map(|(place, who)| place.map(|place| format!("{name}: byte {place} was wrong when it came to {who}")));
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn late(plan: &Plan) -> Stop {
    Stop::Late(format!("no answer within {:?}", plan.timeout))
}

#[cfg(test)]
mod tests;
