//! What the client says: a line a round, the summary, or all of it as JSON.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::wire::Operation;
use crate::print;
use crate::statistics::{Times, microseconds};
use crate::tool::Outcome;

/// How the client reports.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// One JSON document at the end instead of lines.
    pub json: bool,
    /// No rounds, the summary alone.
    pub flood: bool,
}

/// The report of a client. What writes a line may fail as [`print::line`].
#[derive(Debug)]
pub struct Report {
    style: Style,
    adapter: String,
    host: String,
    qualifier: u64,
    size: u32,
    address: Option<IpAddr>,
    other: Option<Duration>,
    start: Instant,
    times: [Times; Operation::ALL.len()],
    complete: u64,
    lost: u64,
    wrong: u64,
    rounds: Vec<Value>,
    bar: ProgressBar,
}

impl Report {
    /// A report about an adapter and a host.
    pub fn new(style: Style, adapter: &str, host: String, qualifier: u64, size: u32) -> Self {
        let bar = if style.flood { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let template = "{spinner} {pos} rounds, {per_sec}";
        bar.set_style(ProgressStyle::with_template(template).expect("the template is a valid one"));
        Self {
            style,
            adapter: adapter.to_owned(),
            host,
            qualifier,
            size,
            address: None,
            other: None,
            start: Instant::now(),
            times: Default::default(),
            complete: 0,
            lost: 0,
            wrong: 0,
            rounds: Vec::new(),
            bar,
        }
    }

    /// A server was found.
    pub fn connected(&mut self, address: IpAddr, srq: bool) -> anyhow::Result<()> {
        self.address = Some(address);
        self.start = Instant::now();
        let ways = if srq {
            "send, RDMA write, RDMA read and shared receive queue"
        } else {
            "send, RDMA write and RDMA read; one side has no shared receive queue"
        };
        self.say(format!(
            "dat-ping {} {} ({address}), qualifier {}: {} bytes by {ways}",
            self.adapter, self.host, self.qualifier, self.size
        ))
    }

    /// Something was found that is no dat-ping.
    pub fn other(&mut self, address: IpAddr, took: Duration) -> anyhow::Result<()> {
        self.address = Some(address);
        self.other = Some(took);
        self.complete = 1;
        self.say(format!(
            "{address} has accepted a connection on qualifier {} within {:.2} us; it is no dat-ping, so no data is exchanged",
            self.qualifier,
            microseconds(took)
        ))
    }

    /// The server is there again.
    pub fn back(&mut self, address: IpAddr) -> anyhow::Result<()> {
        self.say(print::styled(print::GOOD, format!("{address} is back")))
    }

    /// A round is complete.
    ///
    /// # Parameters
    /// * `wrong` - what was wrong with its bytes.
    pub fn round(&mut self, round: u64, times: &[(Operation, Duration)], wrong: Vec<String>) -> anyhow::Result<()> {
        self.complete += 1;
        self.wrong += u64::from(!wrong.is_empty());
        for &(operation, time) in times {
            self.times[operation as usize].add(time);
        }
        if self.style.flood {
            self.bar.inc(1);
        } else if self.style.json {
            let mut value = json!({ "round": round, "wrong": wrong });
            for &(operation, time) in times {
                value[format!("{}_us", operation.name())] = json!(microseconds(time));
            }
            self.rounds.push(value);
        } else {
            let times =
                times.iter().map(|&(operation, time)| format!(" {}={:.2} us", operation.name(), microseconds(time)));
            let address = self.address.map(|address| address.to_string()).unwrap_or_default();
            self.say(format!("{} bytes from {address}: seq={round}{}", self.size, times.collect::<String>()))?;
        }
        if !wrong.is_empty() {
            self.say(print::styled(print::WRONG, format!("seq={round} wrong: {}", wrong.join("; "))))?;
        }
        Ok(())
    }

    /// A round was lost.
    pub fn lost(&mut self, round: u64, reason: String) -> anyhow::Result<()> {
        self.lost += 1;
        if self.style.json && !self.style.flood {
            self.rounds.push(json!({ "round": round, "lost": reason }));
        }
        self.say(print::styled(print::ATTENTION, format!("seq={round} lost: {reason}")))
    }

    /// The server has gone in a round.
    pub fn gone(&mut self) -> anyhow::Result<()> {
        let host = &self.host;
        self.say(print::styled(print::ATTENTION, format!("{host} has gone; waiting for the next one")))
    }

    /// The connections are given up.
    pub fn given_up(&mut self) -> anyhow::Result<()> {
        let host = &self.host;
        self.say(print::styled(print::ATTENTION, format!("{host} does not answer; connecting again")))
    }

    /// The server has gone between rounds.
    pub fn gone_because(&mut self, reason: &str) -> anyhow::Result<()> {
        let host = &self.host;
        self.say(print::styled(print::ATTENTION, format!("{host} has gone: {reason}; waiting for the next one")))
    }

    /// Writes the summary; the outcome is fine if a round was complete, and nothing was lost or wrong.
    ///
    /// # Errors
    /// As [`print::line`].
    pub fn finish(&mut self) -> anyhow::Result<Outcome> {
        self.bar.finish_and_clear();
        let took = self.start.elapsed();
        let spreads = || {
            let spread = |operation: Operation| Some((operation, self.times[operation as usize].spread()?));
            Operation::ALL.into_iter().filter_map(spread)
        };
        let (rounds, loss) = (self.complete + self.lost, self.loss());
        if self.style.json {
            let spreads: Map<String, Value> =
                spreads().map(|(operation, spread)| (operation.name().to_owned(), json!(spread))).collect();
            let mut document = json!({
                "adapter": self.adapter, "host": self.host, "address": self.address, "qualifier": self.qualifier,
                "bytes": self.size, "peer": if self.other.is_some() { "other" } else { "dat-ping" },
                "summary": {
                    "rounds": rounds, "complete": self.complete, "lost": self.lost, "wrong": self.wrong,
                    "loss_percent": loss, "milliseconds": microseconds(took) / 1e3, "times": spreads,
                },
            });
            if let Some(took) = self.other {
                document["connect_us"] = json!(microseconds(took));
            }
            if !self.style.flood {
                document["rounds"] = Value::Array(std::mem::take(&mut self.rounds));
            }
            print::line(document)?;
        } else if self.other.is_none() {
            let rows = spreads().map(|(operation, spread)| {
                let times = [spread.minimum_us, spread.mean_us, spread.maximum_us].map(|time| format!("{time:.2} us"));
                std::iter::once(operation.name().to_owned()).chain(times).collect()
            });
            let wrong = if self.wrong > 0 { format!(", {} with wrong bytes", self.wrong) } else { String::new() };
            print::line(format_args!(
                "\n--- {} {} ---\n{rounds} rounds, {} complete{wrong}, {loss:.1} % lost, {:.0} ms",
                self.adapter,
                self.host,
                self.complete,
                took.as_secs_f64() * 1e3
            ))?;
            if self.complete > 0 {
                print::line(print::columns(&["", "minimum", "mean", "maximum"], rows))?;
            }
        }
        Ok(self.outcome())
    }

    fn outcome(&self) -> Outcome {
        if self.complete > 0 && self.lost + self.wrong == 0 { Outcome::Fine } else { Outcome::Failure }
    }

    /// Rounds that were lost, of a hundred.
    fn loss(&self) -> f64 {
        match self.complete + self.lost {
            0 => 0.0,
            rounds => self.lost as f64 * 100.0 / rounds as f64,
        }
    }

    /// Writes a line for people, above the progress if that is shown.
    fn say(&self, line: String) -> anyhow::Result<()> {
        if self.style.json { Ok(()) } else { self.bar.suspend(|| print::line(line)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let style = Style { json: true, flood: false };
        Report::new(style, "shm", "localhost".to_owned(), 7, 64)
    }

    #[test]
    fn rounds_that_are_lost_or_wrong_fail() {
        let times = [(Operation::Send, Duration::from_micros(2))];
        let mut report = report();
        report.round(1, &times, Vec::new()).unwrap();
        assert_eq!(report.outcome(), Outcome::Fine);
        report.lost(2, "gone".to_owned()).unwrap();
        assert_eq!((report.loss(), report.outcome()), (50.0, Outcome::Failure));
        let mut report = self::report();
        report.round(1, &times, vec!["byte 0".to_owned()]).unwrap();
        assert_eq!((report.loss(), report.outcome()), (0.0, Outcome::Failure));
    }

    #[test]
    fn nothing_is_lost_where_nothing_was_tried_and_nothing_is_shown_to_work() {
        assert_eq!(report().loss(), 0.0);
        assert_eq!(report().outcome(), Outcome::Failure);
    }
}
