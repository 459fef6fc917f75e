//! The client, which sends plans to the server and measures.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use dat::Ia;
use dat_measure::perf::clock::Usage;
use dat_measure::perf::limit::Limit;
use dat_measure::perf::plan::Plan;
use dat_measure::perf::worker::Worker;

use super::arguments::Arguments;
use super::control::{Control, Message};
use super::cpus::Cpus;
use super::crew;
use super::goal::Goal;
use super::interval::Intervals;
use super::report::title;
use super::result::Measurement;
use super::side::Side;
use crate::peer::Target;
use crate::statistics::rounded;

pub struct Client<'a> {
    ia: Ia,
    arguments: &'a Arguments,
    cpus: &'a Cpus,
    /// Address and qualifier.
    server: (IpAddr, u64),
    near: bool,
    pub control: Control,
}

impl<'a> Client<'a> {
    pub fn connect(ia: &Ia, arguments: &'a Arguments, cpus: &'a Cpus, target: &Target) -> anyhow::Result<Self> {
        let limit = Limit::new(target.interrupt, arguments.timeout());
        let own = ia.attributes()?.address.map(|address| address.ip());
        let (control, host) = Control::connect(ia, target, limit)?;
        let near = host.is_loopback() || Some(host) == own;
        Ok(Self { ia: ia.clone(), arguments, cpus, server: (host, target.qualifier), near, control })
    }

    /// Returns the plan with the values that depend on this host: `near` and `crowded`.
    pub fn settled(&self, plan: &Plan) -> Plan {
        let plan = Plan { near: self.near, ..*plan };
        Plan { crowded: self.cpus.are_few_for(&plan), ..plan }
    }

    /// Performs a measurement. With --interval, `show` receives the end of each interval and its results, in which the
    /// server's CPU time is 0.
    pub fn measure(
        &mut self,
        plan: &Plan,
        show: impl FnMut(Duration, &Measurement) -> anyhow::Result<()>,
    ) -> anyhow::Result<Measurement> {
        self.control.limit.begin();
        let measured = self.run(plan, show).map_err(|error| match self.control.last_words() {
            Some(reason) => error.context(format!("the server failed: {reason}")),
            None => error,
        });
        measured.with_context(|| title(plan.test, plan.size))
    }

    fn run(
        &mut self,
        plan: &Plan,
        mut show: impl FnMut(Duration, &Measurement) -> anyhow::Result<()>,
    ) -> anyhow::Result<Measurement> {
        let mut side = Side::new(&self.ia, &self.arguments.name, plan, true, &self.control.limit)?;
        self.control.say(&Message::Plan(*plan))?;
        let message = self.control.hear()?;
        let Message::Ready(number) = message else { return Err(unexpected(&message)) };
        side.exchange(&mut self.control)?;
        side.connect(self.server, number, self.arguments.timeout())?;
        let duration = self.arguments.duration.map(Duration::from_secs_f64);
        // The last turn ends before the limit, to leave time for the server's report.
        let spare = (self.arguments.timeout() / 4).min(Duration::from_secs(5));
        let goal = Goal::new(plan, duration, Instant::now() + self.control.limit.left().saturating_sub(spare));
        let name = &self.arguments.name;
        let made = Plan { outstanding: side.workers.first().map_or(0, Worker::window), ..*plan };
        // During a measurement only the times of the first thread are known, so assume them for all threads.
        let mut show = |end, measured, usage| {
            let threads = vec![measured; plan.threads as usize];
            show(end, &Measurement::new(name, &made, &threads, usage, Usage::default()))
        };
        let intervals = self.arguments.interval.map(|every| Intervals::new(Duration::from_secs_f64(every), &mut show));
        let outcome = crew::run(&mut side.workers, &mut self.control, &self.cpus.own, Some(goal), intervals)?;
        let message = self.control.hear()?;
        let Message::Report(server) = message else { return Err(unexpected(&message)) };
        let mut row = Measurement::new(name, &made, &outcome.threads, outcome.usage, server);
        row.complete = duration.is_some() || row.iterations == plan.iterations * u64::from(plan.threads);
        row.histogram = row.histogram.filter(|_| self.arguments.histogram);
        Ok(Measurement { processors: self.cpus.usable, load: rounded(self.cpus.load, 2), ..row })
    }
}

fn unexpected(message: &Message) -> anyhow::Error {
    anyhow!("the server sent an unexpected message: {message:?}")
}
