//! dat-ping: checks whether processes reach each other.

use std::process::ExitCode;

fn main() -> ExitCode {
    dat_tools::tool::main::<dat_tools::ping::Arguments>()
}
