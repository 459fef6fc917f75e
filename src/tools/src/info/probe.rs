//! Opens an adapter in a separate process, because the provider may crash or hang, and captures the provider's
//! messages.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use dat::{Api, Ia, Request};
use host::topic::Topic;
use serde::{Deserialize, Serialize};

use super::attributes::{self, Group};
use crate::print;
use crate::tool::{Common, Outcome, own_file};

/// Time after which a call of dat_ia_open counts as hanging.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Exit status of the separate process if dat_ia_open hangs.
const HANGS: i32 = 124;

/// Beginnings of lines that the C implementation of uDAPL writes about itself. They are not shown.
const CHATTER: [&str; 3] = ["DAT Registry: Started", "DAT Registry: using config file", "DAT Registry: Stopped"];

pub struct Probe {
    /// The adapter, or the reason why it does not open.
    pub answer: Result<Opened, String>,
    pub messages: Vec<Message>,
}

impl Probe {
    /// Returns the error messages, without the warnings, which may concern other adapters.
    pub fn errors(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.messages.iter().filter(|message| message.is_error)
    }

    /// Returns why the adapter does not open: the last error message, or else the return code. `None` if it opens.
    pub fn cause(&self) -> Option<&str> {
        let code = self.answer.as_ref().err()?;
        Some(self.errors().next_back().map_or(code, Message::words))
    }

    pub fn topic(&self) -> Option<Topic> {
        self.errors().rev().find_map(|message| message.topic)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The logged line, without its topic and the advice to run dat-info.
    pub text: String,
    /// `false` for warnings.
    pub is_error: bool,
    pub topic: Option<Topic>,
}

impl Message {
    fn of(line: &str) -> Self {
        let (text, topic) = Topic::split(line);
        let text = text.split_once("; \"dat-info --explain ").map_or(text, |(text, _)| text);
        Message { text: text.to_owned(), is_error: !text.contains("]: warning: "), topic }
    }

    /// Returns the text after the prefix with the library and the level.
    pub fn words(&self) -> &str {
        let words = self.text.split_once("]: error: ").or_else(|| self.text.split_once("]: warning: "));
        words.map_or(&*self.text, |(_, words)| words)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Opened {
    pub address: Option<std::net::IpAddr>,
    /// File of the provider's library, as UTF-8.
    pub library: Option<String>,
    pub groups: Vec<Group>,
}

/// Opens an adapter in another process. `library` is the file that the user named, if any.
pub fn probe(name: &CStr, request: Request, library: Option<&Path>) -> Probe {
    finish(start(name, request, library))
}

/// Starts the process that opens an adapter.
pub fn start(name: &CStr, request: Request, library: Option<&Path>) -> anyhow::Result<Child> {
    let tool = own_file().context("cannot find the file of this program")?;
    command(&tool, name, request, library).spawn().context("cannot create a process")
}

/// Waits for the end of a process from [`start`], and returns its result.
pub fn finish(started: anyhow::Result<Child>) -> Probe {
    let output = match started.and_then(|child| child.wait_with_output().context("cannot read from the process")) {
        Ok(output) => output,
        Err(error) => return Probe { answer: Err(format!("{error:#}")), messages: Vec::new() },
    };
    let [text, errors] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let (answer, printed) = read(&text);
    let answer = answer.unwrap_or_else(|| {
        Err(match output.status.code() {
            Some(HANGS) => format!("dat_ia_open did not return within {} seconds", TIMEOUT.as_secs()),
            _ => format!("the process that opened it ended with {}", output.status),
        })
    });
    let lines = printed.into_iter().chain(errors.lines());
    let lines = lines.filter(|line| !CHATTER.iter().any(|start| line.starts_with(start)));
    Probe { answer, messages: lines.map(Message::of).collect() }
}

/// Returns the command of the separate process, in which the libraries log errors and warnings to standard error.
fn command(tool: &Path, name: &CStr, request: Request, library: Option<&Path>) -> Command {
    let mut command = Command::new(tool);
    let api = Api::ALL.into_iter().find(|api| api.version().0 == request.version.0).unwrap_or(Api::V12);
    command.arg(format!("--probe={request}")).arg(format!("--api={api}"));
    if let Some(path) = library {
        command.arg("--library").arg(path);
    }
    command.arg("--").arg(OsStr::from_bytes(name.to_bytes())).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("DAT_DBG_TYPE", "3").env_remove("DAT_DBG_DEST").env_remove("DAPL_DBG_DEST");
    command
}

/// Returns the result in the standard output of the process, and the other lines, which a provider wrote.
fn read(output: &str) -> (Option<Result<Opened, String>>, Vec<&str>) {
    let mut printed: Vec<&str> = output.lines().filter(|line| !line.is_empty()).collect();
    let found = printed.iter().enumerate().rev().find_map(|(at, line)| Some((at, serde_json::from_str(line).ok()?)));
    let answer = found.map(|(at, answer)| {
        printed.remove(at);
        answer
    });
    (answer, printed)
}

/// Runs in the separate process: opens the adapter and writes the result as JSON.
pub fn answer(name: &CStr, request: Request, common: &Common) -> anyhow::Result<Outcome> {
    thread::spawn(|| {
        thread::sleep(TIMEOUT);
        // SAFETY: the call has no preconditions.
        unsafe { libc::_exit(HANGS) }
    });
    let library = common.library_with(Some(name.to_bytes()))?.library;
    let answer = Ia::open(library, name, request).and_then(|ia| {
        let all = ia.attributes()?;
        Ok(Opened {
            address: all.address.map(|address| address.ip()),
            library: ia.provider_library().map(|file| file.to_string_lossy().into_owned()),
            groups: attributes::groups(&all),
        })
    });
    // Begin a line, because a provider may have written text without a newline.
    print::line(format_args!("\n{}", serde_json::to_string(&answer.map_err(|error| error.to_string()))?))?;
    Ok(Outcome::Fine)
}

#[cfg(test)]
mod tests;
