//! dat-perf: measures interface adapters.

use std::process::ExitCode;

fn main() -> ExitCode {
    dat_tools::tool::main::<dat_tools::perf::Arguments>()
}
