//! The client: tells the server what to measure, and measures.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};

use super::control::{Control, Message};
use super::limit::Limit;
use super::node::Node;
use super::plan::Plan;
use super::report::under_way;
use super::result::Row;
use crate::dat::{Ia, Library};

/// A connection to a server, for one measurement after the other.
pub struct Client<'a> {
    library: Library,
    name: &'a str,
    host: IpAddr,
    control: Control,
    processors: &'a [usize],
    longest: Duration,
    give_up: GiveUp,
}

/// Ends the process in the middle of a measurement, for the reason that it is given: shows what was measured before.
pub type GiveUp = Arc<dyn Fn(&str) + Send + Sync>;

impl<'a> Client<'a> {
    /// Connects to the server.
    ///
    /// # Parameters
    /// * `ia`, `name` - the adapter.
    /// * `processors` - of this process.
    /// * `longest` - of one measurement.
    /// * `give_up` - is called when that is over, in another thread.
    pub fn new(
        ia: &Ia,
        name: &'a str,
        host: IpAddr,
        qualifier: u64,
        processors: &'a [usize],
        longest: Duration,
        give_up: GiveUp,
    ) -> anyhow::Result<Self> {
        let control = Control::connect(ia, host, qualifier, longest)?;
        Ok(Self { library: ia.library(), name, host, control, processors, longest, give_up })
    }

    /// Makes a measurement.
    pub fn measure(&mut self, plan: &Plan) -> anyhow::Result<Row> {
        let what = under_way(plan.test, plan.size);
        self.control.begin();
        let (late, give_up) = (format!("{what}: {}", self.control.too_late()), Arc::clone(&self.give_up));
        let _limit = Limit::new(self.control.until(), move || give_up(&late))?;
        let measured = self.carry_out(plan).map_err(|error| match self.control.last_words() {
            Some(reason) => error.context(format!("the server ends with: {reason}")),
            None => error,
        });
        measured.context(what)
    }

    fn carry_out(&mut self, plan: &Plan) -> anyhow::Result<Row> {
        let mut node = Node::new(self.library, self.name, plan, true)?;
        self.control.say(&Message::Plan(*plan))?;
        let qualifier = match self.control.hear()? {
            Message::Ready(qualifier) => qualifier,
            other => return Err(unexpected(&other)),
        };
        node.exchange(&mut self.control)?;
        node.connect(self.host, qualifier, self.longest)?;
        let outcome = node.run(&mut self.control, self.processors)?;
        match self.control.hear()? {
            Message::Report(server) => {
                // The result is that of what was done.
                let done = Plan { outstanding: outcome.window, ..*plan };
                Ok(Row::new(self.name, &done, &outcome.threads, outcome.usage, server))
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Says goodbye.
    pub fn close(self) -> anyhow::Result<()> {
        self.control.close()
    }
}

fn unexpected(message: &Message) -> anyhow::Error {
    anyhow!("the server says {message:?}, which is not its turn")
}

/// The server's host: its addresses are tried in turn until one is connected.
///
/// # Errors
/// The error of the last one.
pub fn first_that_connects<T>(hosts: &[IpAddr], connect: impl Fn(IpAddr) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let mut last = None;
    for &host in hosts {
        match connect(host) {
            Ok(connected) => return Ok(connected),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) => Err(error),
        None => bail!("no address to connect to"),
    }
}
