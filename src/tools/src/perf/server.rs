//! The server, which serves one client after another.

use std::fmt;
use std::io::{self, IsTerminal};

use anyhow::{Context, bail};
use dat::Cr;
use dat_measure::interrupt::Interrupt;
use dat_measure::node::Node;
use dat_measure::perf::limit::Limit;
use dat_measure::perf::plan::Plan;
use dat_measure::stop::Stop;

use super::PORT;
use super::arguments::Arguments;
use super::control::{Control, GREETING, Message};
use super::cpus::{Cpus, pin};
use super::crew;
use super::listener::{Listener, MAX_REQUESTS};
use super::side::Side;
use crate::print;
use crate::tool::open_adapter;

/// Serves clients until it is interrupted. With `--once`, serves only the first client.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let library = arguments.peer.common.library_with(Some(arguments.name.as_bytes()))?.library;
    let interrupt = Interrupt::catch().context("cannot catch signals")?;
    let cpus = Cpus::new(&arguments.cpu, &[], false);
    pin(&arguments.cpu, 0)?;
    let node = Node::new(&open_adapter(library, &arguments.name)?, MAX_REQUESTS)?;
    let listener = Listener::new(node, arguments.peer.listen_on(PORT))?;
    let qualifier = listener.psp.qualifier;
    if arguments.peer.announce {
        print::line(qualifier)?;
    } else {
        print::line(format_args!("{} listens on qualifier {qualifier}", arguments.name))?;
    }
    let mut server = Server { arguments, cpus, interrupt: &interrupt, listener, measurements: 0 };
    loop {
        let request = match server.listener.next_client(&interrupt) {
            Ok(request) => request,
            Err(Stop::Interrupted) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match server.visit(request) {
            _ if interrupt.is_set() => return Ok(()),
            Ok(is_client) if is_client && arguments.once => return Ok(()),
            Err(error) if arguments.once => return Err(error),
            Ok(_) => {}
            Err(error) => print::complain(format_args!("dat-perf: {error:#}")),
        }
    }
}

struct Server<'a> {
    arguments: &'a Arguments,
    cpus: Cpus,
    interrupt: &'a Interrupt,
    listener: Listener,
    measurements: u64,
}

impl Server<'_> {
    /// Writes a line with `--verbose`, or on a terminal.
    fn note(&self, text: fmt::Arguments<'_>) -> anyhow::Result<()> {
        if self.arguments.verbose || io::stdout().is_terminal() { print::line(text) } else { Ok(()) }
    }

    /// Serves a client until it disconnects. Rejects a program that is not dat-perf of this version, and returns
    /// `false`.
    fn visit(&mut self, request: Cr) -> anyhow::Result<bool> {
        let peer = request.query()?;
        let name = peer.address.map_or_else(|| "a client".to_owned(), |address| address.ip().to_string());
        if !peer.private_data.starts_with(GREETING) {
            // The request is rejected when it is dropped.
            self.note(format_args!("{name}: rejected, because it is not dat-perf of this version"))?;
            return Ok(false);
        }
        self.note(format_args!("{name} is connected"))?;
        let limit = Limit::new(self.interrupt, self.arguments.timeout());
        let mut control = Control::accept(&self.listener.node.ia, request, limit)?;
        while let Some(message) = control.hear_or_end().with_context(|| format!("{name}, before a measurement"))? {
            let Message::Plan(plan) = message else { bail!("{name}: sent {message:?} instead of a plan") };
            control.limit.begin();
            self.note(format_args!("{name} measures {} with {}", plan.test, print::counted(plan.size, "byte")))?;
            self.serve(&mut control, &plan).with_context(|| format!("{name}, {}", plan.test))?;
            control.limit.begin();
        }
        self.note(format_args!("{name} has gone"))?;
        Ok(true)
    }

    /// Performs a measurement, or sends the reason why that is impossible. In both cases the client may then request
    /// another measurement.
    fn serve(&mut self, control: &mut Control, plan: &Plan) -> anyhow::Result<()> {
        let plan = &Plan { crowded: plan.crowded || self.cpus.are_few_for(plan), ..*plan };
        let mut side = match Side::new(&self.listener.node.ia, &self.arguments.name, plan, false, &control.limit) {
            Ok(side) => side,
            Err(error) => return control.say(&Message::refused(&error)),
        };
        self.measurements += 1;
        control.say(&Message::Ready(self.measurements))?;
        side.exchange(control)?;
        side.accept(self.measurements, &mut self.listener, control)?;
        match crew::run(&mut side.workers, control, &self.arguments.cpu, None, None) {
            Ok(outcome) => control.say(&Message::Report(outcome.usage)),
            Err(error) => {
                // Sending the reason fails if the client has gone.
                if !self.interrupt.is_set() {
                    let _ = control.say(&Message::refused(&error));
                }
                Err(error)
            }
        }
    }
}
