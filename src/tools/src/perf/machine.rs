//! The command, the machine and the date, for the chart.

use std::fs;

/// Returns the command line.
pub fn command() -> String {
    let arguments: Vec<_> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    format!("dat-perf {}", arguments.join(" "))
}

/// Returns the machine and the date, in the form of tests-c/bench/machine.sh.
pub fn describe() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, model)| model);
    let system = rustix::system::uname();
    let (kind, release) = (system.machine().to_string_lossy(), system.release().to_string_lossy());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let (model, version) = (model.unwrap_or(&kind), env!("CARGO_PKG_VERSION"));
    format!("{model}, {processors} processors; Linux {release}; libdat {version}; {}", today())
}

/// Returns the date in UTC, such as 2026-01-31.
fn today() -> String {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec;
    // SAFETY: the structure contains numbers and a pointer, for which zeros are valid.
    let mut day: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both arguments are local variables of the right types.
    unsafe { libc::gmtime_r(&now, &mut day) };
    format!("{}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday)
}

#[cfg(test)]
mod tests;
