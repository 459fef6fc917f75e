//! The service point of the server. All connections use its qualifier, so a firewall must admit only one port.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use dat::{Cr, Event, Psp};
use dat_measure::interrupt::Interrupt;
use dat_measure::node::Node;
use dat_measure::stop::Stop;

use super::control::Control;

/// Maximum number of clients whose requests wait while the server serves a client.
pub const MAX_REQUESTS: usize = 64;
/// Interval at which a server that waits for a connection checks whether the client has disconnected.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// The first word of the private data of a measurement's connections.
const DATA: &str = "dat-data ";

pub struct Listener {
    // Declared first, so that the service point is freed before the objects of `node`.
    pub psp: Psp,
    pub node: Node,
    /// Requests of clients that arrived during a measurement.
    waiting: VecDeque<Cr>,
}

impl Listener {
    pub fn new(node: Node, qualifier: Option<u64>) -> anyhow::Result<Self> {
        Ok(Self { psp: node.listen(qualifier)?, node, waiting: VecDeque::new() })
    }

    /// Waits for the request of the next client, or of another program. Rejects late requests of earlier measurements.
    pub fn next_client(&mut self, interrupt: &Interrupt) -> Result<Cr, Stop> {
        loop {
            let request = match self.waiting.pop_front() {
                Some(request) => request,
                None => match self.node.next(None, interrupt, false)? {
                    Some(Event::Request(request)) => request,
                    _ => continue,
                },
            };
            if !request.query()?.private_data.starts_with(DATA.as_bytes()) {
                return Ok(request);
            }
        }
    }

    /// Waits for the request with the private data `greeting`. Fails after the client of `control` disconnected.
    pub fn connection(&mut self, greeting: &[u8], control: &mut Control) -> anyhow::Result<Cr> {
        loop {
            let until = Instant::now() + CHECK_INTERVAL;
            if let Some(Event::Request(request)) = self.node.next(Some(until), &control.limit.interrupt, false)? {
                let data = request.query()?.private_data;
                if data.starts_with(greeting) {
                    return Ok(request);
                }
                // Keeps the requests of other clients. The drop of any other request rejects it.
                if !data.starts_with(DATA.as_bytes()) && self.waiting.len() < MAX_REQUESTS {
                    self.waiting.push_back(request);
                }
            }
            if let Some(message) = control.poll().context("the client does not connect")? {
                bail!("the client sent {message:?} instead of a request");
            }
        }
    }
}

/// Returns the private data of a connection's request. The server chooses the number of the measurement.
pub fn greeting(measurement: u64, thread: usize, connection: usize) -> Vec<u8> {
    format!("{DATA}{measurement} {thread} {connection}.").into_bytes()
}
