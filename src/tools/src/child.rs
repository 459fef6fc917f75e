//! `--self`: the tool starts itself again as the server. The child is a program of its own, since handles of an adapter do
//! not go through a fork.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context;
use rustix::fs::{Access, access};

use crate::dat::{Ia, Library};

/// A server that was started as a child; it ends with its owner.
pub struct Server {
    child: Child,
    /// The qualifier on which it listens.
    pub qualifier: u64,
}

impl Server {
    /// Starts this program as a server, which prints its qualifier, and waits until it listens.
    ///
    /// # Parameters
    /// * `library` - the server uses the one of the same version.
    /// * `named` - the file of the library that the user named; the server must find the one that was found here.
    /// * `more` - arguments beside these.
    ///
    /// # Errors
    /// It cannot be started, or it ended before it listened; then it has said why on standard error.
    pub fn start(
        library: Library,
        named: Option<&Path>,
        adapter: &str,
        more: impl IntoIterator<Item = String>,
    ) -> anyhow::Result<Self> {
        // An adapter that does not open is reported here, not by the server.
        drop(Ia::open(library, adapter)?);
        let program = own_file().context("this program is not to be found")?;
        let mut command = Command::new(program);
        let api = format!("--api={}", library.api());
        let named = named.iter().flat_map(|path| [OsStr::new("--library"), path.as_os_str()]);
        command
            .arg(adapter)
            .arg("--announce")
            .arg(api)
            .args(named)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        // Its standard output is for the qualifier, so diagnostics of the libraries go to standard error as usual.
        command.env_remove("DAT_DBG_DEST").env_remove("DAPL_DBG_DEST");
        // Ctrl-C is for the client, which then ends the server.
        command.process_group(0);
        let parent = std::process::id();
        // SAFETY: both are system calls that may be made between fork and exec; they take no memory and no lock.
        unsafe {
            command.pre_exec(move || {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                // The parent may have ended before the first call.
                if libc::getppid() as u32 == parent { Ok(()) } else { Err(std::io::ErrorKind::BrokenPipe.into()) }
            });
        }
        let mut child = command.spawn().context("the server does not start")?;
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe was asked for");
        let read = BufReader::new(output).read_line(&mut line);
        let qualifier = read.ok().and_then(|_| line.trim().parse().ok());
        let mut server = Server { child, qualifier: 0 };
        server.qualifier = qualifier.context("the server ended before it listened")?;
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = self.child.id() as libc::pid_t;
        // SAFETY: the process is a child that was not waited for, so the number is still its own.
        unsafe { libc::kill(pid, libc::SIGTERM) };
        let _ = self.child.wait();
    }
}

/// The file of this program. Without /proc the kernel does not say which it is, and the program is looked for as the shell
/// does it.
pub fn own_file() -> io::Result<PathBuf> {
    std::env::current_exe().or_else(|error| {
        let name = std::env::args_os().next().map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        name.and_then(|name| by_name(&name, &path)).ok_or(error)
    })
}

/// The file of a program, by the name under which it was started.
fn by_name(name: &Path, path: &OsStr) -> Option<PathBuf> {
    if name.parent().is_some_and(|folder| !folder.as_os_str().is_empty()) {
        return name.canonicalize().ok();
    }
    let files = std::env::split_paths(path).map(|folder| folder.join(name));
    files.into_iter().find(|file| access(file, Access::EXEC_OK).is_ok() && file.is_file())
}

#[cfg(test)]
mod tests;
