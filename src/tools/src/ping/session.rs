//! The client's connections to a server, and the operations of a round.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use anyhow::ensure;
use dat::sys::{DAT_CLOSE_GRACEFUL_FLAG, DAT_MEM_PRIV_ALL_FLAG};
use dat::{Event, Library, Region, event_name};

use super::wire::From::{Client, Server};
use super::wire::{self, Area, Head, Hello, Operation};
use super::{EVENTS, RECEIVES};
use crate::interrupt::Interrupt;
use crate::peer::connect::{Connected, late};
use crate::peer::{Channel, Done, Message, Node, Pattern, Stop, Target};

const WRITE: usize = 0;
const READ: usize = 1;

pub struct Plan<'a> {
    pub library: Library,
    pub target: Target<'a>,
    pub size: u32,
    /// Set if this side polls, and requests that the server polls.
    pub poll: bool,
    /// Number of rounds; `None` for no limit.
    pub count: Option<u64>,
    /// Time from the start of a round to the start of the next.
    pub interval: Duration,
}

pub enum Peer {
    Session(Box<Session>),
    /// A program other than dat-ping accepted: its address, and the duration of the attempt.
    Other(IpAddr, Duration),
}

pub struct Session {
    pub address: IpAddr,
    // Dropped in this order: endpoints, their memory, the adapter.
    channels: Vec<Channel>,
    memory: Region,
    pub server: Hello,
    node: Node,
}

impl Session {
    /// Opens the adapter and connects. The inner error is a failed attempt to connect, with a hint for the user.
    pub fn connect(plan: &Plan) -> anyhow::Result<Result<Peer, (Stop, String)>> {
        let node = Node::open(plan.library, plan.target.adapter, EVENTS)?;
        super::check_size(&node, plan.size)?;
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
        let create = |shared| Channel::new(&node, Head::LENGTH + size, RECEIVES, shared);
        let Connected { host, channel, answer, took } =
            match plan.target.connect(&node, || create(false), &hello.to_bytes())? {
                Ok(connected) => connected,
                Err(stop) => return Ok(Err(stop)),
            };
        let mut channels = vec![channel];
        let Some(server) = Hello::from_bytes(&answer) else {
            disconnect(&node, &channels, plan.target.interrupt);
            return Ok(Ok(Peer::Other(host, took)));
        };
        let (theirs, own) = (server.size, plan.size);
        ensure!(theirs == own, "{host}: the server uses {theirs} bytes per transfer instead of {own}");
        if server.shared && hello.shared {
            let channel = create(true)?;
            let hello = Hello { channel: 1, ..hello };
            if let Err(stop) = plan.target.establish(&node, &channel, host, &hello.to_bytes()) {
                let provider = &node.attributes.provider.provider_name;
                let hint = plan.target.hint(provider, host, matches!(stop, Stop::Late(_)));
                return Ok(Err((stop, hint)));
            }
            channels.push(channel);
        }
        Ok(Ok(Peer::Session(Box::new(Session { address: host, channels, memory, server, node }))))
    }

    /// Returns whether rounds use shared receive queues: `true` if the adapters of both sides support them.
    pub fn has_srq(&self) -> bool {
        self.channels.len() > 1
    }

    /// Performs one operation. Returns its duration, and a text about wrong bytes if there were any.
    pub fn run(&mut self, plan: &Plan, operation: Operation, round: u64) -> Result<(Duration, Option<String>), Stop> {
        let bytes = |from| wire::bytes(round, operation, from);
        let head = Head { operation, round, wrong: None };
        let deadline = Instant::now() + plan.target.timeout;
        let size = plan.size as usize;
        let landing = self.memory.segment(Area::Landing as usize * size, size);
        match operation {
            Operation::Send | Operation::Srq => {
                let index = usize::from(operation == Operation::Srq);
                let start = Instant::now();
                head.send(&mut self.channels[index], Some((bytes(Client), size)))?;
                let (head, message) = self.response(plan, deadline, index, head)?;
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
                let (head, message) = self.response(plan, deadline, 0, head)?;
                let time = start.elapsed();
                self.channels[0].give_back(message)?;
                Ok((time, wrong_text(operation, head.wrong, self.landed(size, bytes(Server))?)))
            }
            Operation::Read => {
                let channel = &self.channels[0];
                let start = Instant::now();
                channel.ep.post_rdma_read(landing, self.server.area(Area::Readable), channel.rdma_cookie(READ))?;
                self.until(plan, deadline, plan.poll, |index, done, _| {
                    (index == 0 && done == Done::Rdma(READ)).then_some(())
                })?
                .ok_or_else(|| Stop::Late(late(plan.target.timeout)))?;
                let time = start.elapsed();
                Ok((time, wrong_text(operation, None, self.landed(size, bytes(Server))?)))
            }
        }
    }

    /// Waits until a time. Fails with [`Stop::Gone`] if the connection ends first.
    pub fn rest(&mut self, plan: &Plan, until: Instant) -> Result<(), Stop> {
        self.until(plan, until, false, |_, _, _| None::<()>).map(|_| ())
    }

    pub fn end(self, interrupt: &Interrupt) {
        disconnect(&self.node, &self.channels, interrupt);
    }

    /// Returns the index of the first wrong byte in [`Area::Landing`], or `None` if all are right.
    fn landed(&self, size: usize, wanted: Pattern) -> Result<Option<u32>, Stop> {
        let place = Area::Landing as usize * size;
        self.memory.sync_rdma_write(place, size)?;
        Ok(wanted.first_difference(&self.memory, place, size).map(|place| place as u32))
    }

    fn response(&mut self, plan: &Plan, deadline: Instant, on: usize, to: Head) -> Result<(Head, Message), Stop> {
        let found = self.until(plan, deadline, plan.poll, |index, done, channel| {
            let Done::Message(message) = done else { return None };
            let head = Head::of(channel, message);
            // The message may be a late response to an earlier round.
            if index != on || head.is_none_or(|head| (head.operation, head.round) != (to.operation, to.round)) {
                let _ = channel.give_back(message);
                return None;
            }
            head.map(|head| (head, message))
        })?;
        found.ok_or_else(|| Stop::Late(late(plan.target.timeout)))
    }

    /// Passes each completion to `wanted`, until it returns a value. Returns `None` at the deadline.
    fn until<T>(
        &mut self,
        plan: &Plan,
        deadline: Instant,
        poll: bool,
        mut wanted: impl FnMut(usize, Done, &Channel) -> Option<T>,
    ) -> Result<Option<T>, Stop> {
        while let Some(event) = self.node.next(Some(deadline), plan.target.interrupt, poll)? {
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
fn disconnect(node: &Node, channels: &[Channel], interrupt: &Interrupt) {
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
