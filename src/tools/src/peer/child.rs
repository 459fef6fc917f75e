//! `--self`: the tool starts itself as the server, a new program because handles do not survive a fork.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context;
use dat::Library;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal};

use crate::tool::{open_adapter, own_file};

/// A server in a child process, which ends when this value is dropped, or with the parent.
pub struct Server {
    child: Child,
    pub qualifier: u64,
}

impl Server {
    /// Starts this program as a server with `--announce` and `more` arguments, and waits until it listens.
    ///
    /// `named` is the library file that the user named, if any.
    pub fn start(
        library: Library,
        named: Option<&Path>,
        adapter: &str,
        more: impl IntoIterator<Item = String>,
    ) -> anyhow::Result<Self> {
        // If the adapter does not open, report the cause here: the server could only print it.
        drop(open_adapter(library, adapter)?);
        let program = own_file().context("cannot find the file of this program")?;
        let mut command = Command::new(program);
        let api = format!("--api={}", library.api());
        let named = named.iter().flat_map(|path| [OsStr::new("--library"), path.as_os_str()]);
        command.arg("--announce").arg(api).args(named).args(more).arg("--").arg(adapter);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // The server's standard output is for the qualifier, so its libraries must log to standard error.
        command.env_remove("DAT_DBG_DEST").env_remove("DAPL_DBG_DEST");
        // In its own process group, the server does not get a Ctrl-C. The client does, and then ends the server.
        command.process_group(0);
        let parent = Some(getpid());
        // SAFETY: both calls are async-signal-safe, as required between fork and exec.
        unsafe {
            command.pre_exec(move || {
                set_parent_process_death_signal(Some(Signal::TERM))?;
                // If the parent ended before the call above, no signal comes.
                if getppid() == parent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
            });
        }
        let mut child = command.spawn().context("cannot start the server")?;
        let mut line = String::new();
        let output = child.stdout.take().expect("the command has a pipe");
        let read = BufReader::new(output).read_line(&mut line);
        let mut server = Server { child, qualifier: 0 };
        server.qualifier =
            read.ok().and_then(|_| line.trim().parse().ok()).context("the server ended before it listened")?;
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // `wait` was not called yet, so the process ID is still the child's.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}
