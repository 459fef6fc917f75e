//! The output of the client: a line for each round and a summary, or JSON.

use std::net::IpAddr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use dat_measure::ping::wire::Operation;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::{Arguments, PORT};
use crate::print;
use crate::statistics::{Spread, Times, microseconds, rounded};
use crate::tool::Outcome;

#[derive(Debug)]
pub struct Report {
    arguments: Arguments,
    /// Set to write only the first line and the summary.
    quiet: bool,
    deadline: Option<Instant>,
    pub adapter: Option<String>,
    pub host: String,
    pub qualifier: Option<u64>,
    address: Option<IpAddr>,
    /// Set if the server was reached and polls.
    server_polls: bool,
    /// Set if the server is a program other than dat-ping: the time until it accepted the connection.
    other: Option<Duration>,
    start: Instant,
    times: [Times; Operation::ALL.len()],
    complete: u64,
    lost: u64,
    wrong: u64,
    rounds: Vec<Value>,
    /// With `quiet`, the line about the last round that was lost or wrong.
    last: Option<String>,
    bar: ProgressBar,
}

impl Report {
    pub fn new(arguments: &Arguments) -> Self {
        let bar = if arguments.flood { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let template = "{spinner} {pos} rounds, {per_sec}";
        bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
        Self {
            arguments: arguments.clone(),
            quiet: arguments.flood || arguments.quiet,
            deadline: arguments.deadline.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds)),
            adapter: arguments.name.clone(),
            host: arguments.peer.host.clone().unwrap_or("itself".to_owned()),
            qualifier: (!arguments.peer.own_peer).then_some(arguments.peer.qualifier.unwrap_or(PORT)),
            address: None,
            server_polls: false,
            other: None,
            start: Instant::now(),
            times: Default::default(),
            complete: 0,
            lost: 0,
            wrong: 0,
            rounds: Vec::new(),
            last: None,
            bar,
        }
    }

    pub fn connected(&mut self, address: IpAddr, srq: bool, server_polls: bool) -> anyhow::Result<()> {
        self.address = Some(address);
        self.server_polls = server_polls;
        self.start = Instant::now();
        let ways = if srq {
            "send, RDMA write, RDMA read and shared receive queue"
        } else {
            "send, RDMA write and RDMA read; one side has no shared receive queue"
        };
        let waiting = match (!self.arguments.wait, server_polls) {
            (true, true) => "both sides poll",
            (true, false) => "the server sleeps between messages",
            (false, _) => "both sides sleep between messages",
        };
        self.say(format!(
            "dat-ping {} {} ({address}), qualifier {}: {} by {ways}; {waiting}",
            self.adapter(),
            self.host,
            self.qualifier.unwrap_or_default(),
            self.bytes()
        ))
    }

    pub fn other(&mut self, address: IpAddr, took: Duration) -> anyhow::Result<()> {
        self.address = Some(address);
        self.other = Some(took);
        self.complete = 1;
        self.say(format!(
            "{address} has accepted a connection on qualifier {} within {:.2} us; it is not dat-ping, so no data is exchanged",
            self.qualifier.unwrap_or_default(),
            microseconds(took)
        ))
    }

    /// Reports an event between rounds, unless `quiet`.
    pub fn note(&self, style: anstyle::Style, text: String) -> anyhow::Result<()> {
        if self.quiet { Ok(()) } else { self.say(print::styled(style, text)) }
    }

    /// Reports a complete round. `wrong` has a text for each operation with wrong bytes.
    pub fn round(&mut self, round: u64, times: &[(Operation, Duration)], wrong: Vec<String>) -> anyhow::Result<()> {
        self.complete += 1;
        self.wrong += u64::from(!wrong.is_empty());
        for &(operation, time) in times {
            self.times[operation as usize].add(time);
        }
        if self.quiet {
            self.bar.inc(1);
        } else if self.arguments.peer.common.json {
            let mut value = json!({ "round": round, "wrong": wrong });
            for &(operation, time) in times {
                value[format!("{}_us", operation.name())] = json!(microseconds(time));
            }
            self.push(value);
        } else {
            let times =
                times.iter().map(|&(operation, time)| format!(" {}={:.2} us", operation.name(), microseconds(time)));
            let address = self.address.map(|address| address.to_string()).unwrap_or_default();
            self.say(format!("{} from {address}: seq={round}{}", self.bytes(), times.collect::<String>()))?;
        }
        if !wrong.is_empty() {
            self.trouble(print::styled(print::WRONG, format!("seq={round} wrong: {}", wrong.join("; "))))?;
        }
        Ok(())
    }

    pub fn lost(&mut self, round: u64, reason: String) -> anyhow::Result<()> {
        self.lost += 1;
        if self.arguments.peer.common.json && !self.quiet {
            self.push(json!({ "round": round, "lost": reason }));
        }
        self.trouble(print::styled(print::ATTENTION, format!("seq={round} lost: {reason}")))
    }

    pub fn deadline_has_come(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns the number of rounds that --count requests, or `None` without --count or --deadline.
    fn wanted(&self) -> Option<u64> {
        self.arguments.count.filter(|_| self.deadline.is_some())
    }

    fn push(&mut self, mut round: Value) {
        if self.arguments.timestamps {
            round["time_s"] = json!(now());
        }
        self.rounds.push(round);
    }

    /// Writes the JSON document or the summary. After a fatal `error`, writes a summary only if there were rounds.
    pub fn finish(&mut self, error: Option<&anyhow::Error>) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        let has_rounds = error.is_none() || self.complete + self.lost > 0;
        match self.arguments.peer.common.json {
            true => print::line(self.document(error)),
            false if has_rounds && self.other.is_none() => self.summary(),
            false => Ok(()),
        }
    }

    fn document(&mut self, error: Option<&anyhow::Error>) -> Value {
        let peer = self.address.map(|_| if self.other.is_some() { "other" } else { "dat-ping" });
        let times: Map<String, Value> =
            self.spreads().map(|(operation, spread)| (operation.name().to_owned(), json!(spread))).collect();
        let mut document = json!({
            "adapter": self.adapter, "host": self.host, "address": self.address, "qualifier": self.qualifier,
            "bytes": self.arguments.size, "peer": peer, "polls": !self.arguments.wait && self.server_polls,
            "summary": {
                "rounds": self.complete + self.lost, "complete": self.complete, "lost": self.lost, "wrong": self.wrong,
                "loss_percent": rounded(self.loss(), 3), "milliseconds": rounded(microseconds(self.start.elapsed()) / 1e3, 3), "times": times,
            },
        });
        if let Some(took) = self.other {
            document["connect_us"] = json!(microseconds(took));
        }
        if let Some(error) = error {
            document["error"] = json!(format!("{error:#}"));
        }
        if !self.quiet {
            document["rounds"] = Value::Array(std::mem::take(&mut self.rounds));
        }
        document
    }

    fn summary(&self) -> anyhow::Result<()> {
        let wrong = if self.wrong > 0 { format!(", {} with wrong bytes", self.wrong) } else { String::new() };
        print::line(format_args!(
            "\n--- {} {} ---\n{}, {} complete{wrong}, {:.1} % lost, {:.0} ms",
            self.adapter(),
            self.host,
            print::counted(self.complete + self.lost, "round"),
            self.complete,
            self.loss(),
            self.start.elapsed().as_secs_f64() * 1e3
        ))?;
        if let Some(last) = &self.last {
            print::line(format_args!("the last of them: {last}"))?;
        }
        let rounds = self.complete + self.lost;
        if let Some(wanted) = self.wanted().filter(|&wanted| self.deadline_has_come() && rounds < wanted) {
            print::line(format_args!("the deadline came after {rounds} of {}", print::counted(wanted, "round")))?;
        }
        if self.complete == 0 {
            return Ok(());
        }
        let rows = self.spreads().map(|(operation, spread)| {
            let Spread { minimum_us, median_us, mean_us, maximum_us, deviation_us } = spread;
            let times = [minimum_us, median_us, mean_us, maximum_us, deviation_us].map(|time| format!("{time:.2} us"));
            std::iter::once(operation.name().to_owned()).chain(times).collect()
        });
        print::line(print::columns(&["", "minimum", "median", "mean", "maximum", "deviation"], rows))
    }

    fn spreads(&self) -> impl Iterator<Item = (Operation, Spread)> {
        Operation::ALL.into_iter().filter_map(|operation| Some((operation, self.times[operation as usize].spread()?)))
    }

    pub fn outcome(&self) -> Outcome {
        let enough = self.complete > 0 && self.wanted().is_none_or(|wanted| self.complete >= wanted);
        if enough && self.lost + self.wrong == 0 { Outcome::Fine } else { Outcome::Failure }
    }

    fn adapter(&self) -> &str {
        self.adapter.as_deref().unwrap_or_default()
    }

    fn bytes(&self) -> String {
        print::counted(self.arguments.size.into(), "byte")
    }

    fn loss(&self) -> f64 {
        match self.complete + self.lost {
            0 => 0.0,
            rounds => self.lost as f64 * 100.0 / rounds as f64,
        }
    }

    /// Reports a lost or wrong round. With `quiet`, only stores the line; the summary shows the last.
    fn trouble(&mut self, line: String) -> anyhow::Result<()> {
        if self.quiet {
            self.last = Some(line);
            return Ok(());
        }
        self.say(line)
    }

    fn say(&self, line: String) -> anyhow::Result<()> {
        let line = if self.arguments.timestamps { format!("[{:.6}] {line}", now()) } else { line };
        if self.arguments.peer.common.json { Ok(()) } else { self.bar.suspend(|| print::line(line)) }
    }
}

fn now() -> f64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    rounded(time.as_secs_f64(), 6)
}

#[cfg(test)]
mod tests;
