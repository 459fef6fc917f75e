//! The client: sends plans to the server, and measures.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use super::arguments::Arguments;
use super::control::{Control, Message};
use super::goal::Goal;
use super::limit::within;
use super::node::Node;
use super::plan::Plan;
use super::processors::Processors;
use super::report::under_way;
use super::result::Measurement;
use crate::dat::{Ia, Library};

/// A connection to a server, for one measurement after the other.
pub struct Client<'a> {
    library: Library,
    arguments: &'a Arguments,
    processors: &'a Processors,
    host: IpAddr,
    /// Whether the server runs on this host.
    near: bool,
    control: Control,
    give_up: GiveUp,
}

/// Ends the process in the middle of a measurement, for the reason that it is given: shows what was measured before.
pub type GiveUp = Arc<dyn Fn(&str) + Send + Sync>;

impl<'a> Client<'a> {
    /// Connects to the first of the server's addresses that accepts.
    ///
    /// # Parameters
    /// * `give_up` - is called when the time of a measurement is over, in another thread.
    ///
    /// # Errors
    /// The error of the last address.
    pub fn connect(
        ia: &Ia,
        arguments: &'a Arguments,
        processors: &'a Processors,
        hosts: &[IpAddr],
        qualifier: u64,
        give_up: GiveUp,
    ) -> anyhow::Result<Self> {
        let mut last = anyhow!("no address to connect to");
        let (library, own) = (ia.library(), ia.attributes()?.address.map(|address| address.ip()));
        for &host in hosts {
            match Control::connect(ia, &arguments.name, host, qualifier, arguments.longest()) {
                Ok(control) => {
                    let near = host.is_loopback() || Some(host) == own;
                    return Ok(Self { library, arguments, processors, host, near, control, give_up });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The plan as both processes carry it out.
    pub fn settled(&self, plan: &Plan) -> Plan {
        let plan = Plan { near: self.near, ..*plan };
        Plan { crowded: self.processors.are_few_for(&plan), ..plan }
    }

    /// Carries out a plan.
    pub fn measure(&mut self, plan: &Plan) -> anyhow::Result<Measurement> {
        let what = under_way(plan.test, plan.size);
        self.control.begin();
        let (late, give_up) = (format!("{what}: {}", self.control.too_late()), Arc::clone(&self.give_up));
        let measured = within(
            self.control.until(),
            move || give_up(&late),
            || {
                self.carry_out(plan).map_err(|error| match self.control.last_words() {
                    Some(reason) => error.context(format!("the server ends with: {reason}")),
                    None => error,
                })
            },
        );
        measured.context(what)
    }

    fn carry_out(&mut self, plan: &Plan) -> anyhow::Result<Measurement> {
        let mut node = Node::new(self.library, &self.arguments.name, plan, true)?;
        self.control.say(&Message::Plan(*plan))?;
        let qualifier = match self.control.hear()? {
            Message::Ready(qualifier) => qualifier,
            other => return Err(unexpected(&other)),
        };
        node.exchange(&mut self.control)?;
        node.connect(self.host, qualifier, self.arguments.longest())?;
        let duration = self.arguments.duration.map(Duration::from_secs_f64);
        // The end of a measurement takes some time as well.
        let spare = (self.arguments.longest() / 4).min(Duration::from_secs(5));
        let goal = Goal::new(plan, duration, Instant::now() + self.control.left().saturating_sub(spare));
        let outcome = node.run(&mut self.control, &self.processors.own, Some(goal))?;
        let server = match self.control.hear()? {
            Message::Report(server) => server,
            other => return Err(unexpected(&other)),
        };
        // The result is that of what was done.
        let done = Plan { outstanding: outcome.window, ..*plan };
        let mut row = Measurement::new(&self.arguments.name, &done, &outcome.threads, outcome.usage, server);
        row.complete = duration.is_some() || row.iterations == plan.iterations * u64::from(plan.threads);
        if self.arguments.histogram {
            row = row.with_histogram(&done, &outcome.threads);
        }
        Ok(row.on(self.processors))
    }

    pub fn close(self) -> anyhow::Result<()> {
        self.control.close()
    }
}

fn unexpected(message: &Message) -> anyhow::Error {
    anyhow!("the server says {message:?}, which is not its turn")
}
