//! How, on which machine and when: for the picture, which is seen long after.

use std::fs;

/// The command line, which has the parameters that are not the usual ones.
pub fn command() -> String {
    let arguments: Vec<_> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    format!("dat-perf {}", arguments.join(" "))
}

/// The machine and the day of a measurement, as tests-c/bench/machine.sh has them.
pub fn describe() -> String {
    let told = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, model)| model);
    let system = rustix::system::uname();
    let (kind, release) = (system.machine().to_string_lossy(), system.release().to_string_lossy());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let (model, version) = (model.unwrap_or(&kind), env!("CARGO_PKG_VERSION"));
    format!("{model}, {processors} processors; Linux {release}; libdat {version}; {}", today())
}

/// The day in Greenwich, as 2026-01-31.
fn today() -> String {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec;
    // SAFETY: a tm is numbers and a pointer, all of which may be 0.
    let mut day: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both are there, of the types that the function takes.
    unsafe { libc::gmtime_r(&now, &mut day) };
    format!("{}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_and_the_day_are_named() {
        let told = describe();
        assert!(told.contains(" processors; Linux ") && told.contains(env!("CARGO_PKG_VERSION")), "{told}");
        let day: Vec<usize> = told.rsplit(' ').next().unwrap_or_default().split('-').map(str::len).collect();
        assert_eq!(day, [4, 2, 2], "{told}");
    }
}
