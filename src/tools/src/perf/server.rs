//! The server: carries out the plans of clients, one client after the other.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, anyhow};
use dat_udat12::*;

use super::arguments::Arguments;
use super::control::{Control, GREETING, Message};
use super::node::Node;
use super::plan::Plan;
use super::processors::pin;
use crate::dat::{Cr, Evd, Event, Ia, Library, Psp};
use crate::print;

/// Serves until the end of the process, or of the first client.
///
/// # Errors
/// What keeps it from listening; with `--once`, also what went wrong with the client.
pub fn run(arguments: &Arguments, library: Library) -> anyhow::Result<()> {
    pin(&arguments.cpu, 0)?;
    let ia = Ia::open(library, &arguments.name)?;
    let wanted = (!arguments.announce).then_some(arguments.qualifier);
    let psp = Psp::new(&ia, wanted, &Evd::new(&ia, 64, DAT_EVD_CR_FLAG, None)?)
        .with_context(|| format!("cannot listen at qualifier {}", arguments.qualifier))?;
    if arguments.announce {
        print::line(psp.qualifier())?;
    }
    note(arguments, format_args!("{} listens at qualifier {}", arguments.name, psp.qualifier()))?;
    loop {
        let Some(Event::Request(request)) = psp.requests.wait(Duration::from_secs(600))? else { continue };
        match visit(arguments, library, &ia, request) {
            Ok(is_client) if is_client && arguments.once => return Ok(()),
            Err(error) if arguments.once => return Err(error),
            Ok(_) => {}
            Err(error) => print::complain(format_args!("dat-perf: {error:#}")),
        }
    }
}

/// Writes a line if `--verbose` asks for it.
fn note(arguments: &Arguments, text: fmt::Arguments<'_>) -> anyhow::Result<()> {
    if arguments.verbose { print::line(text) } else { Ok(()) }
}

/// One request: a client from its first plan to its last, or a program that only connects, which is rejected; returns which.
fn visit(arguments: &Arguments, library: Library, ia: &Ia, request: Cr) -> anyhow::Result<bool> {
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
        serve(arguments, library, &mut control, &plan).with_context(|| format!("{who}, {}", plan.test))?;
        control.begin();
    }
    note(arguments, format_args!("{who} has gone"))?;
    Ok(true)
}

/// One measurement. The client hears why one cannot be made, and may go on with another one.
fn serve(arguments: &Arguments, library: Library, control: &mut Control, plan: &Plan) -> anyhow::Result<()> {
    let made = Node::new(library, &arguments.name, plan, false).and_then(|node| node.listen().map(|psp| (node, psp)));
    let (mut node, psp) = match made {
        Ok(made) => made,
        Err(error) => return control.say(&Message::refused(&error)),
    };
    control.say(&Message::Ready(psp.qualifier()))?;
    node.exchange(control)?;
    node.accept(&psp, control)?;
    drop(psp);
    match node.run(control, &arguments.cpu) {
        Ok(outcome) => control.say(&Message::Report(outcome.usage)),
        Err(error) => {
            // The client may be the reason and gone, so that it does not hear it.
            let _ = control.say(&Message::refused(&error));
            Err(error)
        }
    }
}
