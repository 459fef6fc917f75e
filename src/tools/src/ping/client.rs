//! Performs the rounds of the client.

use std::time::{Duration, Instant};

use dat_measure::ping::session::Session;
use dat_measure::ping::wire::Operation;
use dat_measure::stop::Stop;

use super::connect::{Peer, Plan, connect};
use super::report::Report;
use crate::print::{ATTENTION, GOOD};

/// Minimum time between attempts to reconnect.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

pub fn run(plan: &Plan, report: &mut Report) -> anyhow::Result<()> {
    let mut session = match connect(plan)? {
        Ok(Peer::Session(session)) => {
            report.connected(session.address, session.has_srq(), session.server.polls)?;
            Some(session)
        }
        Ok(Peer::Other(address, took)) => return report.other(address, took),
        Err((Stop::Interrupted, _)) => {
            anyhow::ensure!(!report.deadline_has_come(), "{}: not connected within the deadline", report.host);
            return Ok(());
        }
        Err((Stop::Gone(reason) | Stop::Late(reason), hint)) => anyhow::bail!("{}: {reason}; {hint}", report.host),
    };
    for round in 1..=plan.count.unwrap_or(u64::MAX) {
        let start = Instant::now();
        let tried = match &mut session {
            Some(session) => one_round(plan, session, round),
            // A failure to reconnect may be temporary, so only this round is lost.
            None => match connect(plan).unwrap_or_else(|error| Err((error.into(), String::new()))) {
                Ok(Peer::Session(back)) => {
                    report.note(GOOD, format!("{} is back", back.address))?;
                    one_round(plan, session.insert(back), round)
                }
                Ok(Peer::Other(address, _)) => Err(Stop::Gone(format!("{address} is no longer a dat-ping"))),
                Err((stop, _)) => Err(stop),
            },
        };
        match tried {
            Ok((times, wrong)) => report.round(round, &times, wrong)?,
            Err(Stop::Interrupted) => break,
            Err(Stop::Gone(reason)) => {
                report.lost(round, reason)?;
                if session.take().is_some() {
                    report.note(ATTENTION, format!("{} has gone; waiting for the next one", report.host))?;
                }
            }
            Err(Stop::Late(reason)) => {
                report.lost(round, reason)?;
                // The response may still arrive. The client reconnects, so that a later round does not take it for its
                // own.
                if let Some(session) = session.take() {
                    report.note(ATTENTION, format!("{} does not respond; connecting again", report.host))?;
                    session.end();
                }
            }
        }
        if plan.count == Some(round) {
            break;
        }
        match rest(plan, &mut session, start) {
            Ok(()) => {}
            Err(Stop::Interrupted) => break,
            Err(Stop::Gone(reason) | Stop::Late(reason)) => {
                report.note(ATTENTION, format!("{} has gone: {reason}; waiting for the next one", report.host))?;
                session = None;
                if rest(plan, &mut session, start).is_err() {
                    break;
                }
            }
        }
    }
    if let Some(session) = session {
        session.end();
    }
    Ok(())
}

/// Repetitions of an operation in a round if this side polls. The shortest time counts: in the first repetition, caches
/// are cold and the peer may have yielded its CPU.
const REPEATS: u32 = 10;

type Round = (Vec<(Operation, Duration)>, Vec<String>);

fn one_round(plan: &Plan, session: &mut Session, round: u64) -> Result<Round, Stop> {
    let mut times = Vec::with_capacity(Operation::ALL.len());
    let mut wrong = Vec::new();
    let repeats = if plan.poll { REPEATS } else { 1 };
    for operation in Operation::ALL {
        if operation == Operation::Srq && !session.has_srq() {
            continue;
        }
        let mut shortest = Duration::MAX;
        for _ in 0..repeats {
            let (time, text) = session.run(operation, round)?;
            shortest = shortest.min(time);
            wrong.extend(text);
        }
        times.push((operation, shortest));
    }
    Ok((times, wrong))
}

/// Waits for the start of the next round: `plan.interval` after `start`, without a session at least [`RETRY_INTERVAL`].
fn rest(plan: &Plan, session: &mut Option<Box<Session>>, start: Instant) -> Result<(), Stop> {
    let interrupt = plan.target.interrupt;
    match session {
        Some(_) if plan.interval.is_zero() => {}
        Some(session) => session.rest(start + plan.interval)?,
        None => {
            let until = start + plan.interval.max(RETRY_INTERVAL);
            while !interrupt.is_set() && Instant::now() < until {
                let left = until.saturating_duration_since(Instant::now());
                std::thread::sleep(left.min(Duration::from_millis(50)));
            }
        }
    }
    if interrupt.is_set() { Err(Stop::Interrupted) } else { Ok(()) }
}
