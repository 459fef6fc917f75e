//! dat-ping: whether two processes or hosts reach each other through an interface adapter.

use std::process::ExitCode;

fn main() -> ExitCode {
    dat_tools::tool::main::<dat_tools::ping::Arguments>()
}
