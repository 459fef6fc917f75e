//! dat-perf: how fast data moves through an interface adapter.

use std::process::ExitCode;

fn main() -> ExitCode {
    dat_tools::tool::main::<dat_tools::perf::Arguments>()
}
