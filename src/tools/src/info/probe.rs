//! Opening an adapter in a process of its own: what the library and the provider say on standard error is caught, and a
//! provider that crashes or hangs ends nothing else.

use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::attributes::{self, Group};
use crate::dat::{Ia, Library};
use crate::tool::Outcome;

/// The time in which an adapter opens, or is taken to hang.
const LIMIT: Duration = Duration::from_secs(20);

/// What came of opening an adapter.
#[derive(Debug)]
pub struct Probe {
    /// What the adapter told, or why it does not open.
    pub answer: Result<Opened, String>,
    /// What the library and the provider wrote on standard error, line by line.
    pub messages: Vec<String>,
}

/// What an open adapter tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opened {
    /// Its address, if that is one of IP.
    pub address: Option<std::net::IpAddr>,
    /// The file of its provider's library.
    pub library: Option<PathBuf>,
    /// Its attributes.
    pub groups: Vec<Group>,
}

/// Opens an adapter in a process of its own.
///
/// # Errors
/// There can be no such process.
pub fn probe(name: &str, library: Option<&Path>) -> anyhow::Result<Probe> {
    let tool = env::current_exe().context("the file of this program is unknown")?;
    let mut child = command(&tool, name, library).spawn().context("no process to open the adapter in")?;
    let (sender, receiver) = mpsc::channel();
    let mut readers = Vec::new();
    let pipes: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ];
    for mut pipe in pipes.into_iter().flatten() {
        let sender = sender.clone();
        readers.push(thread::spawn(move || {
            let mut bytes = Vec::new();
            // What could be read before an error is what counts.
            let _ = pipe.read_to_end(&mut bytes);
            drop(sender);
            String::from_utf8_lossy(&bytes).into_owned()
        }));
    }
    drop(sender);
    // Nothing is sent: the channel closes when both pipes do, which is when the process ends.
    let hangs = matches!(receiver.recv_timeout(LIMIT), Err::<(), _>(mpsc::RecvTimeoutError::Timeout));
    if hangs {
        child.kill().context("the process that opens the adapter cannot be ended")?;
    }
    let status = child.wait().context("the process that opens the adapter is lost")?;
    let mut texts = readers.into_iter().map(|reader| reader.join().unwrap_or_default());
    let (output, errors) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
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

/// The process of its own. What its libraries say goes to standard error, and names the reason of a failure, whatever the
/// environment of the user asks for.
fn command(tool: &Path, name: &str, library: Option<&Path>) -> Command {
    let mut command = Command::new(tool);
    command.arg("--probe");
    if let Some(path) = library {
        command.arg("--library").arg(path);
    }
    command.arg("--").arg(name).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
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
///
/// # Errors
/// The library cannot be loaded, or the answer not be written.
pub fn answer(name: &str, library: Option<&Path>) -> anyhow::Result<Outcome> {
    let library = Library::load(library)?;
    let answer = Ia::open(library, name).and_then(|ia| {
        let all = ia.attributes()?;
        Ok(Opened {
            address: all.address.map(|address| address.ip()),
            library: ia.provider_library(),
            groups: attributes::groups(&all),
        })
    });
    // A line of its own, also behind what a provider has printed without the end of a line.
    println!("\n{}", serde_json::to_string(&answer.map_err(|error| error.to_string()))?);
    Ok(Outcome::Fine)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn the_environment_of_the_user_silences_and_diverts_nothing() {
        let command = command(Path::new("dat-info"), "shm", None);
        let set: HashMap<&OsStr, Option<&OsStr>> = command.get_envs().collect();
        assert_eq!(set[OsStr::new("DAT_DBG_TYPE")], Some(OsStr::new("1")));
        assert_eq!(set[OsStr::new("DAT_DBG_DEST")], None);
        assert_eq!(set[OsStr::new("DAPL_DBG_DEST")], None);
    }

    #[test]
    fn an_answer_is_found_among_what_a_provider_prints() {
        let (answer, printed) = read("acme: no device\n\n{\"Err\":\"dat_ia_open: X\"}\nacme: bye\n");
        assert_eq!(answer.unwrap().unwrap_err(), "dat_ia_open: X");
        assert_eq!(printed, ["acme: no device", "acme: bye"]);
        let (answer, printed) = read("acme: crash\n");
        assert!(answer.is_none());
        assert_eq!(printed, ["acme: crash"]);
    }
}
