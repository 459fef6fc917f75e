//! A table of the rates of connections, refreshed at an interval.

use std::collections::HashMap;
use std::io::{IsTerminal, stdout};
use std::thread;
use std::time::{Duration, Instant};

use dat_measure::interrupt::Interrupt;

use super::table::{bytes, cells, each_endpoint, totals};
use super::{Found, collect};
use crate::print::{self, columns};
use crate::tool::Outcome;

const HEADS: &str = "PID,ADAPTER,ENDPOINT,PEER,PATH,REQUESTS,RECEIVES,SENT/s,BYTES/s,RECEIVED/s,BYTES/s,WAITS FOR";
/// Clears a terminal, and begins at its top.
const CLEAR: &str = "\x1b[H\x1b[2J";
/// Maximum time between two checks for Ctrl-C in the pause between tables.
const SLICE: Duration = Duration::from_millis(100);

/// The totals of endpoints by process ID, adapter name and handle, with the time when they were read.
type Totals = HashMap<(i32, String, u64), (Instant, [(u64, u64); 2])>;

/// Writes a table each `interval` until Ctrl-C. On a terminal, each table replaces the last.
pub fn run(interval: Duration) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::catch()?;
    let clear = if stdout().is_terminal() { CLEAR } else { "" };
    let mut before = Totals::default();
    for round in 0_u64.. {
        let (found, now) = (collect(), Instant::now());
        if round > 0 {
            print::line(format_args!("{clear}{}\n", table(&found, &before, now)))?;
        }
        // This keeps the old totals of a process that does not respond now, for the next table.
        before.extend(each_endpoint(&found).map(|(found, open, endpoint)| {
            ((found.process.pid, open.adapter.name.clone(), endpoint.handle), (now, totals(&endpoint.counts)))
        }));
        while now.elapsed() < interval && !interrupt.is_set() {
            thread::sleep(SLICE.min(interval.saturating_sub(now.elapsed())));
        }
        if interrupt.is_set() {
            break;
        }
    }
    Ok(Outcome::Fine)
}

fn table(found: &[Found], before: &Totals, now: Instant) -> String {
    let rows = each_endpoint(found).map(|(process, open, endpoint)| {
        let [pid, adapter, handle, state, mut peer, path, requests, receives, waits] =
            cells(found, process, open, endpoint);
        if peer == "-" {
            peer = state;
        }
        let earlier = before.get(&(process.process.pid, open.adapter.name.clone(), endpoint.handle));
        let rates = earlier.map_or(["-"; 4].map(str::to_owned), |&(since, [sent, received])| {
            let seconds = now.saturating_duration_since(since).as_secs_f64();
            let rate = |total: u64, before: u64| (total.saturating_sub(before) as f64 / seconds).round() as u64;
            let [(sends, sent_bytes), (receives, received_bytes)] = totals(&endpoint.counts);
            [
                rate(sends, sent.0).to_string(),
                bytes(rate(sent_bytes, sent.1)),
                rate(receives, received.0).to_string(),
                bytes(rate(received_bytes, received.1)),
            ]
        });
        [pid, adapter, handle, peer, path, requests, receives].into_iter().chain(rates).chain([waits]).collect()
    });
    let silent = found.iter().filter(|found| found.process.adapters.is_none()).map(|found| {
        let state = if found.stopped { "is stopped" } else { "does not respond" };
        match found.process.pid {
            0 => format!("\nA process of another PID namespace {state}."),
            pid => format!("\nProcess {pid} {state}."),
        }
    });
    columns(&HEADS.split(',').collect::<Vec<_>>(), rows) + &silent.collect::<String>()
}
