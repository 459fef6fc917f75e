//! Opening an adapter in a process of its own: what the library and the provider say on standard error is caught, and a
//! provider that crashes or hangs ends nothing else.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use dat::{Api, Ia, Request};
use serde::{Deserialize, Serialize};

use super::attributes::{self, Group};
use crate::print;
use crate::tool::{Common, Outcome, own_file};

/// The seconds in which an adapter opens, or is taken to hang.
const LIMIT: u32 = 20;

/// What came of opening an adapter.
pub struct Probe {
    /// What opening it showed, or why it does not open.
    pub answer: Result<Opened, String>,
    /// What the library and the provider wrote on standard error, line by line.
    pub messages: Vec<String>,
}

/// What an open adapter shows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opened {
    /// Its address, if that is one of IP.
    pub address: Option<std::net::IpAddr>,
    /// The file of its provider's library.
    pub library: Option<PathBuf>,
    pub groups: Vec<Group>,
}

/// Opens an adapter in a process of its own. If there can be no such process, that is why it does not open.
///
/// # Parameters
/// * `name` - the name of the adapter, which need not be text.
/// * `library` - the file of the library that the user named.
pub fn probe(name: &CStr, request: Request, library: Option<&Path>) -> Probe {
    in_process(name, request, library)
        .unwrap_or_else(|error| Probe { answer: Err(format!("{error:#}")), messages: Vec::new() })
}

fn in_process(name: &CStr, request: Request, library: Option<&Path>) -> anyhow::Result<Probe> {
    let tool = own_file().context("the file of this program is unknown")?;
    let output = command(&tool, name, request, library).output().context("no process to open the adapter in")?;
    let [text, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let (answer, printed) = read(&text);
    let answer = answer.unwrap_or_else(|| {
        Err(match output.status.signal() {
            Some(libc::SIGALRM) => format!("dat_ia_open had not returned after {LIMIT} seconds"),
            _ => format!("the process that opened it ended with {}", output.status),
        })
    });
    let messages = printed.into_iter().chain(errors.lines()).map(without_advice).collect();
    Ok(Probe { answer, messages })
}

/// A message without the advice to ask this tool.
fn without_advice(message: &str) -> String {
    message.split_once("; \"dat-info --explain ").map_or(message, |(said, _)| said).to_owned()
}

/// The process of its own. What its libraries say goes to standard error, and names the reason of a failure, whatever the
/// environment of the user asks for.
fn command(tool: &Path, name: &CStr, request: Request, library: Option<&Path>) -> Command {
    let mut command = Command::new(tool);
    command.arg(format!("--probe={request}")).arg(format!("--api={}", api_of(request)));
    if let Some(path) = library {
        command.arg("--library").arg(path);
    }
    command.arg("--").arg(OsStr::from_bytes(name.to_bytes())).stdin(Stdio::null());
    command.env("DAT_DBG_TYPE", "1").env_remove("DAT_DBG_DEST").env_remove("DAPL_DBG_DEST");
    command
}

/// The version of the library that lists an adapter with this request.
fn api_of(request: Request) -> Api {
    Api::ALL.into_iter().find(|api| api.version().0 == request.version.0).unwrap_or(Api::V12)
}

/// The answer in what the process has written on standard output, and the other lines there, which are of a provider that
/// prints its messages.
fn read(output: &str) -> (Option<Result<Opened, String>>, Vec<&str>) {
    let mut printed: Vec<&str> = output.lines().filter(|line| !line.is_empty()).collect();
    let answer = printed.iter().enumerate().rev().find_map(|(at, line)| Some((at, serde_json::from_str(line).ok()?)));
    match answer {
        Some((at, answer)) => {
            printed.remove(at);
            (Some(answer), printed)
        }
        None => (None, printed),
    }
}

/// The part of the process of its own: opens the adapter and writes what came of it.
pub fn answer(name: &CStr, request: Request, common: &Common) -> anyhow::Result<Outcome> {
    // SAFETY: the call has no preconditions. The signal ends a process that hangs.
    unsafe { libc::alarm(LIMIT) };
    let library = common.library_with(Some(name.to_bytes()))?;
    let answer = Ia::open(library, name, request).and_then(|ia| {
        let all = ia.attributes()?;
        Ok(Opened {
            address: all.address.map(|address| address.ip()),
            library: ia.provider_library(),
            groups: attributes::groups(&all),
        })
    });
    // A line of its own, also behind what a provider has printed without the end of a line.
    print::line(format_args!("\n{}", serde_json::to_string(&answer.map_err(|error| error.to_string()))?))?;
    Ok(Outcome::Fine)
}

#[cfg(test)]
mod tests;
