//! The server: carries out the plans of clients, one client after the other.

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow};
use dat_udat12::*;

use super::arguments::Arguments;
use super::control::{Control, GREETING, Message};
use super::node::Node;
use super::plan::Plan;
use super::processors::{Processors, pin};
use crate::dat::{Cr, Evd, Event, Ia, Library, Psp};
use crate::interrupt::Interrupt;
use crate::print;

/// How long a server waits for a request before it looks whether it is to end.
const NAP: Duration = Duration::from_millis(200);

/// Serves until somebody ends it, or until the end of the first client.
///
/// # Errors
/// What keeps it from listening; with `--once`, also what went wrong with the client.
pub fn run(arguments: &Arguments, library: Library) -> anyhow::Result<()> {
    let busy = Arc::new(AtomicBool::new(false));
    let serving = Arc::clone(&busy);
    let end = move || {
        // A measurement looks at nothing else, so it ends with the process.
        if serving.load(Ordering::Relaxed) {
            std::process::exit(0);
        }
    };
    let interrupt = Interrupt::catch_then(end).context("signals cannot be caught")?;
    let processors = Processors::new(&arguments.cpu, &[], false);
    pin(&arguments.cpu, 0)?;
    let ia = Ia::open(library, &arguments.name)?;
    let wanted = (!arguments.announce).then_some(arguments.qualifier);
    let psp = Psp::new(&ia, wanted, &Evd::new(&ia, 64, DAT_EVD_CR_FLAG, None)?)
        .with_context(|| format!("cannot listen at qualifier {}", arguments.qualifier))?;
    if arguments.announce {
        print::line(psp.qualifier())?;
    }
    if !arguments.announce {
        print::line(format_args!("{} listens at qualifier {}", arguments.name, psp.qualifier()))?;
    }
    let place = Place { arguments, library, processors };
    while !interrupt.is_set() {
        let Some(Event::Request(request)) = psp.requests.wait(NAP)? else { continue };
        busy.store(true, Ordering::Relaxed);
        // The signal may have come just before that.
        if interrupt.is_set() {
            break;
        }
        match place.visit(&ia, request) {
            Ok(is_client) if is_client && arguments.once => return Ok(()),
            Err(error) if arguments.once => return Err(error),
            Ok(_) => {}
            Err(error) => print::complain(format_args!("dat-perf: {error:#}")),
        }
        busy.store(false, Ordering::Relaxed);
    }
    Ok(())
}

/// Writes a line if `--verbose` asks for it, or somebody is watching.
fn note(arguments: &Arguments, text: fmt::Arguments<'_>) -> anyhow::Result<()> {
    if arguments.verbose || io::stdout().is_terminal() { print::line(text) } else { Ok(()) }
}

/// What the server has for all of its clients.
struct Place<'a> {
    arguments: &'a Arguments,
    library: Library,
    processors: Processors,
}

impl Place<'_> {
    /// One request: a client from its first plan to its last, or a program that only connects, which is rejected; returns which.
    fn visit(&self, ia: &Ia, request: Cr) -> anyhow::Result<bool> {
        let arguments = self.arguments;
        let peer = request.query()?;
        let who = peer.address.map_or_else(|| "a client".to_owned(), |address| address.ip().to_string());
        if !peer.private_data.starts_with(GREETING) {
            // The request is rejected when it is dropped.
            note(arguments, format_args!("{who} is no dat-perf of this version, and is rejected"))?;
            return Ok(false);
        }
        note(arguments, format_args!("{who} is connected"))?;
        let mut control = Control::accept(ia, request, arguments.longest())?;
        while let Some(message) =
            control.hear_or_end().with_context(|| format!("{who}, which is to say what to measure"))?
        {
            let Message::Plan(plan) = message else {
                return Err(anyhow!("{who} says {message:?} and not what to measure"));
            };
            control.begin();
            note(arguments, format_args!("{who} measures {} with {}", plan.test, print::counted(plan.size, "byte")))?;
            self.serve(&mut control, &plan).with_context(|| format!("{who}, {}", plan.test))?;
            control.begin();
        }
        note(arguments, format_args!("{who} has gone"))?;
        Ok(true)
    }

    /// One measurement. The client hears why one cannot be made, and may go on with another one.
    fn serve(&self, control: &mut Control, plan: &Plan) -> anyhow::Result<()> {
        let plan = &Plan { crowded: plan.crowded || self.processors.are_few_for(plan), ..*plan };
        let made = Node::new(self.library, &self.arguments.name, plan, false)
            .and_then(|node| node.listen().map(|psp| (node, psp)));
        let (mut node, psp) = match made {
            Ok(made) => made,
            Err(error) => return control.say(&Message::refused(&error)),
        };
        control.say(&Message::Ready(psp.qualifier()))?;
        node.exchange(control)?;
        node.accept(&psp, control)?;
        drop(psp);
        match node.run(control, &self.arguments.cpu, None) {
            Ok(outcome) => control.say(&Message::Report(outcome.usage)),
            Err(error) => {
                // The client may be the reason and gone, so that it does not hear it.
                let _ = control.say(&Message::refused(&error));
                Err(error)
            }
        }
    }
}
