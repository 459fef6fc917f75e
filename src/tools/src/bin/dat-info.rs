//! dat-info: lists the interface adapters of this host.

use std::process::ExitCode;

fn main() -> ExitCode {
    dat_tools::tool::main::<dat_tools::info::Arguments>()
}
