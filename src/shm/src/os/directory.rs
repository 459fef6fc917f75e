//! The directory in which the processes of a user find each other.
//!
//! For every process it holds the socket at which the process can be reached, `p-PID-RANDOM`. For every service point
//! it holds a symbolic link `q-QUALIFIER` to the socket of the process that owns the service point. A link is made in
//! one step and only if there is none, so a qualifier has one owner. Entries of dead processes are replaced or swept
//! away. A process that removes or replaces a link holds a lock on the file `lock`, so that no process removes a link
//! that another one has just made.

#![forbid(unsafe_code)]

use std::fmt;
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, flock, fstat, open, openat, readlinkat_raw, symlinkat, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, geteuid, test_kill_process};
use rustix::rand::{GetRandomFlags, getrandom};

use super::socket::{ConnectError, Listener, Socket};

/// Qualifiers for [`Directory::claim_any`]: those that fit 16 bits and are not reserved by custom.
pub const ANY: RangeInclusive<u64> = 1024..=65535;

/// Entries that one [`Directory::sweep`] looks at, so that a crowded directory does not delay a process that joins.
const SWEEP: usize = 4096;

/// After this time, a socket that never got its final name belongs to a dead process.
const UNFINISHED: Duration = Duration::from_secs(60);

/// File name of a process's socket: `p-PID-RANDOM`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SocketName(String);

impl SocketName {
    fn new() -> SocketName {
        SocketName(format!("p-{}-{:016x}", process::id(), random()))
    }

    /// Takes a name that came from elsewhere; `None` if it is not of the right form.
    pub fn parse(text: &str) -> Option<SocketName> {
        let (pid, random) = text.strip_prefix("p-")?.split_once('-')?;
        let digits = |text: &str| !text.is_empty() && text.len() <= 10 && text.bytes().all(|c| c.is_ascii_digit());
        (digits(pid) && is_hex16(random)).then(|| SocketName(text.to_owned()))
    }

    /// The name as it appears in the directory.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The process that made it, as numbered in that process's own namespace.
    fn pid(&self) -> Option<libc::pid_t> {
        self.0.split('-').nth(1)?.parse().ok()
    }
}

impl fmt::Display for SocketName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_hex16(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

fn link_name(qualifier: u64) -> String {
    format!("q-{qualifier:016x}")
}

/// The reason why a qualifier could not be claimed.
#[derive(Debug)]
pub enum ClaimError {
    /// A living process has it; for [`Directory::claim_any`], all are taken.
    Taken,
    /// The directory failed.
    Io(io::Error),
}

impl From<io::Error> for ClaimError {
    fn from(error: io::Error) -> ClaimError {
        ClaimError::Io(error)
    }
}

/// The directory, open. All clones refer to the same one.
#[derive(Clone, Debug)]
pub struct Directory {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    fd: OwnedFd,
}

impl Directory {
    /// Opens the directory that the instance data of a configuration entry names: an absolute path, or nothing for
    /// `/tmp/dat-shm-UID`. Makes the directory if it does not exist. Sweeps it.
    ///
    /// # Errors
    /// The error's text names the directory. It occurs if the path is not absolute, or leads to a symbolic link, to
    /// something other than a directory, to a directory of another user, or to one that others can look into; other
    /// errors are those of the system.
    pub fn open(instance: &str) -> io::Result<Directory> {
        let instance = instance.trim();
        let me = geteuid().as_raw();
        let path =
            if instance.is_empty() { PathBuf::from(format!("/tmp/dat-shm-{me}")) } else { PathBuf::from(instance) };
        let refuse = |kind, why: &dyn fmt::Display| io::Error::new(kind, format!("{}: {why}", path.display()));
        if !path.is_absolute() {
            return Err(refuse(io::ErrorKind::InvalidInput, &"not an absolute path"));
        }
        // The path is used without trailing slashes, which would make the system follow a link there.
        let path: PathBuf = path.components().collect();
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(refuse(error.kind(), &error));
            }
            _ => {}
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = open(&path, flags, Mode::empty()).map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => refuse(error.kind(), &"not a directory, or a symbolic link to one"),
            _ => refuse(error.kind(), &io::Error::from(error)),
        })?;
        let stat = fstat(&fd)?;
        if stat.st_uid != me {
            let why = format!("belongs to user {}, not to user {me}", stat.st_uid);
            return Err(refuse(io::ErrorKind::PermissionDenied, &why));
        }
        if stat.st_mode & 0o077 != 0 {
            let why = format!("open to other users (mode {:o}); it has to be 700", stat.st_mode & 0o777);
            return Err(refuse(io::ErrorKind::PermissionDenied, &why));
        }
        // Programs that clean up /tmp leave a locked directory alone. If the lock fails, only that protection is lost.
        let _ = flock(&fd, FlockOperation::NonBlockingLockShared);
        let directory = Directory { inner: Arc::new(Inner { path, fd }) };
        directory.sweep();
        Ok(directory)
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The path of a process's socket.
    pub fn socket_path(&self, name: &SocketName) -> PathBuf {
        self.inner.path.join(&name.0)
    }

    /// Makes a socket at which this process can be reached.
    ///
    /// # Errors
    /// Those of [`Listener::bind`].
    pub fn listen(&self) -> io::Result<Reachable> {
        let name = SocketName::new();
        // The socket is bound under another name first, because a socket that does not listen yet looks dead.
        let unfinished = self.inner.path.join(format!("n{}", &name.0[1..]));
        let listener = Listener::bind(&unfinished)?;
        if let Err(error) = fs::rename(&unfinished, self.socket_path(&name)) {
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        Ok(Reachable { listener, directory: self.clone(), name, owner: process::id() })
    }

    /// Connects to the process that owns the socket `name`.
    ///
    /// # Errors
    /// Those of [`Socket::connect`].
    pub fn connect(&self, name: &SocketName) -> Result<Socket, ConnectError> {
        Socket::connect(&self.socket_path(name))
    }

    /// The socket of the process that has `qualifier`, if any has it. That process may be dead.
    ///
    /// # Errors
    /// The error of the system.
    pub fn lookup(&self, qualifier: u64) -> io::Result<Option<SocketName>> {
        Ok(self.inner.read_link(&link_name(qualifier))?.and_then(|text| SocketName::parse(&text)))
    }

    /// Takes `qualifier` for the process reachable at `socket`, until the claim is dropped.
    ///
    /// # Errors
    /// [`ClaimError::Taken`] if a living process has it, this one included.
    pub fn claim(&self, qualifier: u64, socket: &SocketName) -> Result<Claim, ClaimError> {
        let link = link_name(qualifier);
        loop {
            if self.inner.make_link(&socket.0, &link)? {
                return Ok(self.claimed(qualifier, socket));
            }
            let Some(found) = self.inner.read_link(&link)? else { continue };
            if self.is_alive(&found, socket) {
                return Err(ClaimError::Taken);
            }
            let _lock = self.inner.lock()?;
            // This checks that the dead process still has the link: a process that replaced it held the lock.
            if self.inner.read_link(&link)?.as_ref() == Some(&found) {
                self.inner.unlink(&link)?;
            }
        }
    }

    /// Takes a free qualifier of `range`, starting the search at a random place.
    ///
    /// # Errors
    /// [`ClaimError::Taken`] if none is free.
    pub fn claim_any(&self, range: RangeInclusive<u64>, socket: &SocketName) -> Result<Claim, ClaimError> {
        let (low, high) = range.into_inner();
        let Some(last) = high.checked_sub(low) else { return Err(ClaimError::Taken) };
        let start = last.checked_add(1).map_or_else(random, |count| random() % count);
        let all = || (start..=last).chain(0..start).map(|offset| low + offset);
        for qualifier in all() {
            if self.inner.make_link(&socket.0, &link_name(qualifier))? {
                return Ok(self.claimed(qualifier, socket));
            }
        }
        // All have owners, but some of these may be dead.
        for qualifier in all() {
            match self.claim(qualifier, socket) {
                Err(ClaimError::Taken) => {}
                claim => return claim,
            }
        }
        Err(ClaimError::Taken)
    }

    fn claimed(&self, qualifier: u64, socket: &SocketName) -> Claim {
        Claim { directory: self.clone(), qualifier, socket: socket.clone(), owner: process::id() }
    }

    /// Whether the process that a link's text names is alive; `own` is.
    fn is_alive(&self, text: &str, own: &SocketName) -> bool {
        if text == own.0 {
            return true;
        }
        let Some(name) = SocketName::parse(text) else { return false };
        // A failure for any other reason is no proof of death.
        !matches!(self.connect(&name), Err(ConnectError::Nobody))
    }

    /// Removes the entries of dead processes. Living processes do not notice: a socket is tried only if the process
    /// that made it cannot be found.
    pub fn sweep(&self) {
        if let Err(error) = self.try_sweep() {
            log::debug!("shm: cannot sweep {}: {error}", self.inner.path.display());
        }
    }

    fn try_sweep(&self) -> io::Result<()> {
        let mut links = vec![];
        for entry in fs::read_dir(&self.inner.path)?.take(SWEEP) {
            let entry = entry?;
            let file = entry.file_name();
            let Some(text) = file.to_str() else { continue };
            if text.strip_prefix("q-").is_some_and(is_hex16) {
                links.push(text.to_owned());
            } else if let Some(name) = SocketName::parse(text) {
                let gone = name.pid().is_none_or(is_unknown);
                if gone && matches!(self.connect(&name), Err(ConnectError::Nobody)) {
                    self.inner.unlink(text)?;
                }
            } else if text.starts_with("n-") && entry.metadata().is_ok_and(|metadata| is_old(&metadata)) {
                self.inner.unlink(text)?;
            }
        }
        // Links come last, when the sockets of the dead are gone; most links then need only one look.
        for link in links {
            let is_dead = || -> io::Result<bool> {
                let Some(text) = self.inner.read_link(&link)? else { return Ok(false) };
                let name = SocketName::parse(&text);
                Ok(name.is_none_or(|name| fs::symlink_metadata(self.socket_path(&name)).is_err()))
            };
            if is_dead()? {
                let _lock = self.inner.lock()?;
                if is_dead()? {
                    self.inner.unlink(&link)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether no process `pid` is visible from here.
fn is_unknown(pid: libc::pid_t) -> bool {
    Some(pid)
        .filter(|&pid| pid > 0)
        .and_then(Pid::from_raw)
        .is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

fn is_old(metadata: &fs::Metadata) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let made = Duration::from_secs(u64::try_from(metadata.mtime()).unwrap_or(0));
    now.saturating_sub(made) > UNFINISHED
}

impl Inner {
    /// Makes the link `link` to `target`; false if there is one already.
    fn make_link(&self, target: &str, link: &str) -> io::Result<bool> {
        match symlinkat(target, &self.fd, link) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The text of a link; `None` if there is no such link. An entry that is not a link, or has no sensible text,
    /// counts as an empty text.
    fn read_link(&self, link: &str) -> io::Result<Option<String>> {
        let mut text = [0_u8; 64];
        match readlinkat_raw(&self.fd, link, &mut text) {
            Ok(len) => Ok(Some(text.get(..len).and_then(|text| str::from_utf8(text).ok()).unwrap_or("").to_owned())),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::INVAL) => Ok(Some(String::new())),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an entry, which may be gone already.
    fn unlink(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the lock, which processes hold for moments.
    fn lock(&self) -> io::Result<Lock> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = openat(&self.fd, "lock", flags, Mode::RUSR | Mode::WUSR)?;
        retry_on_intr(|| flock(&fd, FlockOperation::LockExclusive))?;
        Ok(Lock(fd))
    }
}

/// The lock, held.
struct Lock(OwnedFd);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child of a fork may have inherited the descriptor.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// A socket at which this process can be reached. Its file is removed with it.
#[derive(Debug)]
pub struct Reachable {
    /// The socket at which connections arrive.
    pub listener: Listener,
    directory: Directory,
    name: SocketName,
    owner: u32,
}

impl Reachable {
    /// Its name in the directory.
    pub fn name(&self) -> &SocketName {
        &self.name
    }
}

impl Drop for Reachable {
    fn drop(&mut self) {
        // In a child of a fork the file still belongs to the parent.
        if self.owner == process::id() {
            let _ = self.directory.inner.unlink(&self.name.0);
        }
    }
}

/// A qualifier that belongs to this process until the claim is dropped.
#[derive(Debug)]
#[must_use]
pub struct Claim {
    directory: Directory,
    qualifier: u64,
    socket: SocketName,
    owner: u32,
}

impl Claim {
    /// The qualifier.
    pub fn qualifier(&self) -> u64 {
        self.qualifier
    }

    fn release(&self) -> io::Result<()> {
        let inner = &self.directory.inner;
        let link = link_name(self.qualifier);
        let _lock = inner.lock()?;
        if inner.read_link(&link)?.as_ref() == Some(&self.socket.0) {
            inner.unlink(&link)?;
        }
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // In a child of a fork the qualifier still belongs to the parent.
        if self.owner != process::id() {
            return;
        }
        if let Err(error) = self.release() {
            log::debug!("shm: qualifier {} stays in {}: {error}", self.qualifier, self.directory.path().display());
        }
    }
}

/// A number that is unlikely to occur in any other process.
fn random() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0_u8; 8];
    if getrandom(&mut bytes, GetRandomFlags::NONBLOCK) == Ok(bytes.len()) {
        return u64::from_ne_bytes(bytes);
    }
    // Early at boot, or under a filter, the clock, the process and a counter must do.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let mixed = now ^ u64::from(process::id()).rotate_left(40) ^ CALLS.fetch_add(1, Ordering::Relaxed).rotate_left(20);
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
}

#[cfg(test)]
mod tests;
