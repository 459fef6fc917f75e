//! Opening an adapter in a process of its own: what the library and the provider say on standard error is caught, and a
//! provider that crashes or hangs ends nothing else.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use host::poll;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::attributes::{self, Group};
use crate::child::own_file;
use crate::dat::{Demand, Ia, Library};
use crate::print;
use crate::tool::Outcome;

/// The time in which an adapter opens, or is taken to hang.
const LIMIT: Duration = Duration::from_secs(20);

/// What came of opening an adapter.
#[derive(Debug)]
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
    /// Its attributes.
    pub groups: Vec<Group>,
}

/// Opens an adapter in a process of its own. If there can be no such process, that is why it does not open.
///
/// # Parameters
/// * `name` - the name of the adapter, which need not be text.
pub fn probe(name: &CStr, demand: Demand, library: Option<&Path>) -> Probe {
    in_process(name, demand, library)
        .unwrap_or_else(|error| Probe { answer: Err(format!("{error:#}")), messages: Vec::new() })
}

fn in_process(name: &CStr, demand: Demand, library: Option<&Path>) -> anyhow::Result<Probe> {
    let tool = own_file().context("the file of this program is unknown")?;
    let mut child = command(&tool, name, demand, library).spawn().context("no process to open the adapter in")?;
    let pipes = [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
    let ([output, errors], hangs) = read_all(pipes.map(|pipe| pipe.map(File::from)), LIMIT);
    if hangs {
        child.kill().context("the process that opens the adapter cannot be ended")?;
    }
    let status = child.wait().context("the process that opens the adapter is lost")?;
    let (answer, printed) = read(&output);
    let answer = answer.unwrap_or_else(|| {
        Err(if hangs {
            format!("dat_ia_open had not returned after {} seconds", LIMIT.as_secs())
        } else {
            format!("the process that opened it ended with {status}")
        })
    });
    Ok(Probe { answer, messages: printed.into_iter().chain(errors.lines()).map(str::to_owned).collect() })
}

/// Reads pipes to their ends, without a thread for each. Returns what came, and whether that took longer than the limit.
fn read_all<const N: usize>(mut pipes: [Option<File>; N], limit: Duration) -> ([String; N], bool) {
    let end = Instant::now() + limit;
    let mut bytes = [const { Vec::new() }; N];
    let mut hangs = false;
    while !hangs && pipes.iter().any(Option::is_some) {
        let left = end.saturating_duration_since(Instant::now());
        hangs = left.is_zero();
        let fds = pipes.each_ref().map(|pipe| pipe.as_ref().map(AsFd::as_fd));
        // Without an answer of the system nothing more can be read.
        let Ok(ready) = poll::wait(fds, Some(left)) else { break };
        for ((pipe, bytes), ready) in pipes.iter_mut().zip(&mut bytes).zip(ready) {
            if (ready.readable || ready.failed) && pipe.as_mut().is_some_and(|pipe| is_at_its_end(pipe, bytes)) {
                *pipe = None;
            }
        }
    }
    (bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()), hangs)
}

/// Reads what is there. What could be read before an error is what counts.
fn is_at_its_end(pipe: &mut File, bytes: &mut Vec<u8>) -> bool {
    let mut some = [0; 4096];
    match pipe.read(&mut some) {
        Ok(count) => {
            bytes.extend_from_slice(&some[..count]);
            count == 0
        }
        Err(error) => error.kind() != ErrorKind::Interrupted,
    }
}

/// The process of its own. What its libraries say goes to standard error, and names the reason of a failure, whatever the
/// environment of the user asks for.
fn command(tool: &Path, name: &CStr, demand: Demand, library: Option<&Path>) -> Command {
    let mut command = Command::new(tool);
    command.arg(format!("--probe={}", json!(demand)));
    if let Some(path) = library {
        command.arg("--library").arg(path);
    }
    command
        .arg("--")
        .arg(OsStr::from_bytes(name.to_bytes()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.env("DAT_DBG_TYPE", "1").env_remove("DAT_DBG_DEST").env_remove("DAPL_DBG_DEST");
    command
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
pub fn answer(name: &CStr, demand: Demand, library: Option<&Path>) -> anyhow::Result<Outcome> {
    let library = Library::load(library)?;
    let answer = Ia::open_as(library, name, demand).and_then(|ia| {
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
