//! dat-info: which interface adapters a program would see here, and why one does not open.

use std::process::ExitCode;

fn main() -> ExitCode {
    dat_tools::tool::main::<dat_tools::info::Arguments>()
}
