//! The rates of connections, refreshed.

use std::collections::HashMap;
use std::io::{IsTerminal, stdout};
use std::thread;
use std::time::{Duration, Instant};

use super::table::{bytes, cells, each_endpoint, totals};
use super::{Found, collect};
use crate::interrupt::Interrupt;
use crate::print::{self, columns};
use crate::tool::Outcome;

const HEADS: [&str; 12] = [
    "PID",
    "ADAPTER",
    "ENDPOINT",
    "PEER",
    "PATH",
    "REQUESTS",
    "RECEIVES",
    "SENT/s",
    "BYTES/s",
    "RECEIVED/s",
    "BYTES/s",
    "WAITS FOR",
];
/// Clears a terminal, and begins at its top.
const CLEAR: &str = "\x1b[H\x1b[2J";

type Totals = HashMap<(i32, String, u64), [(u64, u64); 2]>;

/// Writes a table each `interval` until Ctrl-C. A terminal shows only the last one.
pub fn run(interval: Duration) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::catch()?;
    let clear = if stdout().is_terminal() { CLEAR } else { "" };
    let (mut before, mut since) = (totals_of(&collect()), Instant::now());
    loop {
        thread::sleep(interval.saturating_sub(since.elapsed()));
        if interrupt.is_set() {
            return Ok(Outcome::Fine);
        }
        let found = collect();
        let seconds = since.elapsed().as_secs_f64();
        since = Instant::now();
        print::line(format_args!("{clear}{}\n", table(&found, &before, seconds)))?;
        before = totals_of(&found);
    }
}

fn table(found: &[Found], before: &Totals, seconds: f64) -> String {
    let rows = each_endpoint(found).map(|(process, open, endpoint)| {
        let [pid, adapter, handle, state, mut peer, path, requests, receives, waits] =
            cells(found, process, open, endpoint);
        if peer == "-" {
            peer = state;
        }
        let earlier = before.get(&(process.process.pid, open.adapter.name.clone(), endpoint.handle));
        let now = totals(endpoint);
        // A new endpoint has transferred everything in this interval.
        let earlier = earlier.copied().unwrap_or_default();
        let rate = |now: u64, before: u64| (now.saturating_sub(before) as f64 / seconds).round() as u64;
        let rates = now
            .iter()
            .zip(earlier)
            .flat_map(|(now, before)| [rate(now.0, before.0).to_string(), bytes(rate(now.1, before.1))]);
        [pid, adapter, handle, peer, path, requests, receives].into_iter().chain(rates).chain([waits]).collect()
    });
    let silent = found.iter().filter(|found| found.process.adapters.is_none()).map(|found| {
        let state = if found.stopped { "is stopped" } else { "does not respond" };
        format!("\nProcess {} {state}.", found.process.pid)
    });
    columns(&HEADS, rows) + &silent.collect::<String>()
}

fn totals_of(found: &[Found]) -> Totals {
    let all = each_endpoint(found).map(|(process, open, endpoint)| {
        ((process.process.pid, open.adapter.name.clone(), endpoint.handle), totals(endpoint))
    });
    all.collect()
}
