//! How connections come up and end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::Loopback;
use super::fabric::{Fabric, Report, State};
use crate::addr::Address;
use crate::error::{Error, Result};
use crate::transport::{Closing, Connect, ConnectionReport, ConnectionRequestInfo, ListenerSink, Rejection};

/// The first qualifier that is given to whoever asks for any.
const FIRST_QUALIFIER: u64 = 1024;

/// An attempt at a connection that was not answered yet.
pub struct Attempt {
    /// The end that connects.
    active: u64,
    deadline: Option<Instant>,
}

/// A connection request; refuses itself when it is dropped without an answer.
pub struct Incoming {
    fabric: Arc<Fabric>,
    attempt: u64,
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.fabric.refuse(self.attempt, Rejection::Provider, &[]);
    }
}

impl Incoming {
    /// Turns the request down.
    pub fn refuse(self, why: Rejection, private_data: &[u8]) {
        self.fabric.refuse(self.attempt, why, private_data);
    }
}

impl State {
    /// Gives a qualifier to a service point.
    ///
    /// # Errors
    /// [`Error::QualifierInUse`].
    pub fn listen(&mut self, qualifier: Option<u64>, sink: ListenerSink<Loopback>) -> Result<u64> {
        let free = (FIRST_QUALIFIER..).find(|qualifier| !self.listeners.contains_key(qualifier));
        let qualifier = qualifier.or(free).ok_or(Error::QualifierUnavailable)?;
        if self.listeners.contains_key(&qualifier) {
            return Err(Error::QualifierInUse);
        }
        self.listeners.insert(qualifier, sink);
        Ok(qualifier)
    }

    /// Ends the attempts whose time is up; gives the deadline that comes next.
    pub fn expire(&mut self, now: Instant) -> Option<Instant> {
        let passed = |attempt: &Attempt| attempt.deadline.is_some_and(|deadline| deadline <= now);
        let late: Vec<u64> = self.attempts.iter().filter(|(_, it)| passed(it)).map(|(&number, _)| number).collect();
        for number in late {
            self.end_attempt(number, ConnectionReport::TimedOut);
        }
        self.attempts.values().filter_map(|attempt| attempt.deadline).min()
    }

    fn end_attempt(&mut self, number: u64, report: ConnectionReport) {
        if let Some(attempt) = self.attempts.remove(&number) {
            self.end(attempt.active, report);
        }
    }

    /// Lets go of an end, which is told why.
    fn end(&mut self, number: u64, report: ConnectionReport) {
        if let Some(end) = self.remove(number) {
            self.reports.push_back((number, Report::Connection(end.sink, report)));
        }
    }
}

impl Fabric {
    /// Asks for a connection of the end `active`.
    pub fn connect(self: &Arc<Self>, active: u64, connect: &Connect<'_>) {
        let mut state = self.lock();
        if !connect.address.is_local() {
            state.end(active, ConnectionReport::Unreachable);
        } else if let Some(listener) = state.listeners.get(&connect.qualifier).cloned() {
            let attempt = state.number();
            let deadline = connect.timeout.map(|timeout| Instant::now() + timeout);
            state.attempts.insert(attempt, Attempt { active, deadline });
            let info = ConnectionRequestInfo {
                qualifier: connect.qualifier,
                remote_address: Address::loopback(),
                remote_qualifier: active,
                private_data: connect.private_data.to_vec(),
            };
            let incoming = Incoming { fabric: self.clone(), attempt };
            state.reports.push_back((0, Report::Request(listener, incoming, info)));
        } else {
            state.end(active, ConnectionReport::NonPeerRejected);
        }
        drop(state);
        self.wake();
    }

    /// Connects the end that asked with the end `passive`.
    pub fn accept(&self, incoming: &Incoming, passive: u64, private_data: &[u8]) {
        let mut state = self.lock();
        match state.attempts.remove(&incoming.attempt) {
            Some(Attempt { active, .. }) => {
                let told = [
                    (passive, active, ConnectionReport::Established(Vec::new())),
                    (active, passive, ConnectionReport::Established(private_data.to_vec())),
                ];
                for (number, peer, report) in told {
                    let extended = state.ends.get(&peer).is_some_and(|peer| peer.extended);
                    let Some(end) = state.ends.get_mut(&number) else { continue };
                    end.peer = Some(peer);
                    end.to_extended.store(extended, Ordering::Relaxed);
                    let sink = end.sink.clone();
                    state.reports.push_back((number, Report::Connection(sink, report)));
                }
            }
            // Whoever asked does not wait any more.
            None => state.end(passive, ConnectionReport::AcceptFailed),
        }
        drop(state);
        self.wake();
    }

    /// Turns a request down, if it was not answered yet.
    fn refuse(&self, attempt: u64, why: Rejection, private_data: &[u8]) {
        let report = match why {
            Rejection::Consumer => ConnectionReport::PeerRejected(private_data.to_vec()),
            Rejection::Provider => ConnectionReport::NonPeerRejected,
        };
        self.lock().end_attempt(attempt, report);
        self.wake();
    }

    /// Ends a connection, or an attempt at one. The end itself is told nothing any more, unless
    /// it is just being told something: then its end is told behind that.
    pub fn disconnect(&self, number: u64, broken: bool) -> Closing {
        let mut state = self.lock();
        let report = if broken { ConnectionReport::Broken } else { ConnectionReport::Disconnected };
        let peer = state.ends.get(&number).and_then(|end| end.peer);
        state.attempts.retain(|_, attempt| attempt.active != number);
        let closing = if state.is_telling(number) {
            state.end(number, report.clone());
            Closing::Later
        } else {
            state.remove(number);
            state.reports.retain(|(told, _)| *told != number);
            Closing::Done
        };
        if let Some(peer) = peer {
            state.end(peer, report);
        }
        drop(state);
        self.wake();
        closing
    }
}
