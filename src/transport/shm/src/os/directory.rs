//! The rendezvous directory, in which the processes of a user find each other.
//!
//! ```text
//! p-PID-RANDOM            the socket of a process
//! n-PID-RANDOM            a socket that does not listen yet
//! q-QUALIFIER/owner       a claim: symbolic link whose text is the socket name of the service point's process
//! t-PID-RANDOM-NUMBER/    a claim in preparation
//! ```
//!
//! # Why a qualifier has one owner
//! A claim is prepared as `t-...` and renamed. A rename succeeds only if the target is missing or empty, so it never
//! replaces a claim with an owner. Only two processes empty a claim: the owner, or a process that has found the owner
//! dead, which is final. That process opens the claim, reads the owner's name and removes the link in the opened
//! directory, so it cannot empty a successor's claim. There are no locks, so a stopped process blocks no other. A
//! process counts as alive while its socket listens. Each claim keeps its owner's socket open.
//!
//! The directory has mode 0700, restored with chmod under any umask. It is /tmp/dat-shm-UID, or the path in the
//! instance data in dat.conf. The last dat_ia_close removes the socket file.

#![forbid(unsafe_code)]

use std::fmt::Display;
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use dat_census::socket::Socket;
use dat_census::{is_hex16, is_socket_name, random};
use host::cancel::Shielded;
use host::memory::{self, Room};
use host::topic::Topic;
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, chmodat, flock, fstat, mkdirat, open, openat, readlinkat_raw, renameat,
    statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};

use super::task;

/// Qualifiers for [`Directory::claim_any`]: 16 bits, not reserved by convention.
pub const ANY: RangeInclusive<u64> = 1024..=65535;

/// Maximum number of entries that a [`Directory::sweep`] reads.
const SWEEP: usize = 4096;

/// Age from which a socket without its final name belongs to a dead process.
const UNFINISHED: Duration = Duration::from_secs(60);

/// Maximum difference between the clocks of files and processes.
const COARSE: Duration = Duration::from_millis(100);

const OWNER: &str = "owner";

/// Maximum number of attempts at a claim that other processes change concurrently.
const ATTEMPTS: u32 = 64;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SocketName(String);

impl SocketName {
    fn new() -> SocketName {
        SocketName(format!("p-{}-{:016x}", process::id(), random()))
    }

    /// Returns `text` as a name; `None` if it does not have the form of a socket's name.
    pub fn parse(text: &str) -> Option<SocketName> {
        is_socket_name(text).then(|| SocketName(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the process ID of the creator, in the creator's PID namespace.
    pub fn pid(&self) -> Option<libc::pid_t> {
        self.0.split('-').nth(1)?.parse().ok()
    }
}

fn claim_name(qualifier: u64) -> String {
    format!("q-{qualifier:016x}")
}

/// Returns the socket name of the process that prepares the claim `text`; `None` for other names.
fn preparer(text: &str) -> Option<SocketName> {
    let (name, number) = text.strip_prefix("t-")?.rsplit_once('-')?;
    number.parse::<u64>().ok()?;
    SocketName::parse(&format!("p-{name}"))
}

#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    fd: Shielded<OwnedFd>,
}

impl Directory {
    /// Opens the directory of a configuration entry, creates it if necessary, and sweeps it. `instance` is an absolute
    /// path; any other text means `/tmp/dat-shm-UID`. Errors name the directory, except for a lack of descriptors.
    ///
    /// # Errors
    /// `PermissionDenied` if another user owns the directory or can access it; another error for a symbolic link or
    /// file.
    pub fn open(instance: &str) -> io::Result<Arc<Directory>> {
        let me = geteuid().as_raw();
        let path = dat_census::directory(instance, me);
        let refuse = |kind, why: &dyn Display| io::Error::new(kind, format!("{}: {why}", path.display()));
        let system = |error: Errno| match error {
            // The error keeps its code, on which the log topic depends.
            Errno::MFILE | Errno::NFILE => error.into(),
            _ => refuse(error.kind(), &format_args!("{error}{}", remedy(error.kind()))),
        };
        unless(mkdirat(CWD, &path, Mode::RWXU), &[Errno::EXIST]).map_err(system)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let place = open(&path, flags, Mode::empty()).map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => refuse(error.kind(), &"not a directory, or a symbolic link to one"),
            _ => system(error),
        })?;
        let stat = fstat(&place)?;
        if stat.st_uid != me {
            let why = format!("belongs to user {}, not to user {me}", stat.st_uid);
            return Err(refuse(io::ErrorKind::PermissionDenied, &why));
        }
        if stat.st_mode & 0o077 != 0 {
            let why = format!("open to other users (mode {:o}); it has to be 700", stat.st_mode & 0o777);
            return Err(refuse(io::ErrorKind::PermissionDenied, &why));
        }
        if stat.st_mode & 0o700 != 0o700 {
            // The creator's umask removed rights. fchmod(2) fails for a descriptor with `O_PATH`.
            let link = format!("/proc/thread-self/fd/{}", place.as_raw_fd());
            chmodat(CWD, link, Mode::RWXU, AtFlags::empty()).map_err(system)?;
        }
        let fd = openat(&place, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let fd = fd.map_err(system)?;
        // Programs that clean up /tmp skip locked directories.
        let _ = flock(&fd, FlockOperation::NonBlockingLockShared);
        let directory = memory::arc(Directory { path, fd: Shielded::new(fd) })?;
        if let Err(error) = directory.sweep() {
            log::debug!("shm: cannot sweep {}: {error}", directory.path.display());
        }
        Ok(directory)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Logs the error of a failed change of the directory, with advice.
    pub fn log_failure(&self, error: &io::Error) {
        let text = format!("{}: {error}{}", self.path.display(), remedy(error.kind()));
        Topic::RendezvousDirectory.error(error, text).log("shm");
    }

    pub fn socket_path(&self, name: &SocketName) -> PathBuf {
        self.path.join(&name.0)
    }

    pub fn listen(self: &Arc<Self>) -> io::Result<Arc<Reachable>> {
        let name = SocketName::new();
        // A socket that does not listen looks dead, so it is bound under another name first.
        let unfinished = self.path.join(format!("n{}", &name.0[1..]));
        let listener = Socket::listen(&unfinished)?;
        if let Err(error) = fs::rename(&unfinished, self.socket_path(&name)) {
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        Ok(memory::arc(Reachable { listener, directory: self.clone(), name, owner: process::id() })?)
    }

    pub fn connect(&self, name: &SocketName) -> rustix::io::Result<Socket> {
        Socket::connect(&self.socket_path(name))
    }

    /// Returns the socket name of the process that claims `qualifier`, which may be dead; `None` without a claim.
    pub fn lookup(&self, qualifier: u64) -> io::Result<Option<SocketName>> {
        Ok(self.owner(&claim_name(qualifier))?.and_then(|text| SocketName::parse(&text)))
    }

    /// Claims `qualifier` for this process until the claim is dropped. Does not wait for other processes.
    ///
    /// # Errors
    /// `AddrInUse` if a living process has the qualifier, even this process.
    pub fn claim(&self, qualifier: u64, reachable: &Arc<Reachable>) -> io::Result<Claim> {
        let mut claim = self.prepare(reachable)?;
        self.take(qualifier, &mut claim)?;
        Ok(claim)
    }

    /// Claims a free qualifier of `range`, from a random start. Returns `AddrInUse` if there is none.
    pub fn claim_any(&self, range: RangeInclusive<u64>, reachable: &Arc<Reachable>) -> io::Result<Claim> {
        let (low, high) = range.into_inner();
        let Some(last) = high.checked_sub(low) else { return Err(io::ErrorKind::AddrInUse.into()) };
        let start = random() % last.saturating_add(1);
        let all = || (start..=last).chain(0..start).map(|offset| low + offset);
        let mut claim = self.prepare(reachable)?;
        for qualifier in all() {
            if claim.put(qualifier)? {
                return Ok(claim);
            }
        }
        // No qualifier is free, but some owners may be dead.
        for qualifier in all() {
            match self.take(qualifier, &mut claim) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                taken => return taken.map(|()| claim),
            }
        }
        Err(io::ErrorKind::AddrInUse.into())
    }

    fn prepare(&self, reachable: &Arc<Reachable>) -> io::Result<Claim> {
        static CLAIMS: AtomicU64 = AtomicU64::new(0);
        let owner = &reachable.name.0;
        let name = format!("t{}-{}", &owner[1..], CLAIMS.fetch_add(1, Ordering::Relaxed));
        mkdirat(&self.fd, &name, Mode::RWXU)?;
        let claim = Claim { qualifier: 0, name, reachable: reachable.clone() };
        // The umask may have removed rights.
        chmodat(&self.fd, &claim.name, Mode::RWXU, AtFlags::empty())?;
        symlinkat(owner, &self.fd, format!("{}/{OWNER}", claim.name))?;
        Ok(claim)
    }

    fn take(&self, qualifier: u64, claim: &mut Claim) -> io::Result<()> {
        let place = claim_name(qualifier);
        for _ in 0..ATTEMPTS {
            if claim.put(qualifier)? {
                return Ok(());
            }
            let owner = self.owner(&place)?;
            if owner.as_ref().is_some_and(|owner| self.is_alive(owner, &claim.reachable.name)) {
                break;
            }
            self.empty(&place, owner.as_deref())?;
        }
        Err(io::ErrorKind::AddrInUse.into())
    }

    /// Returns whether the process with the socket name `text` is alive. This process, whose name is `own`, always is.
    /// Returns `false` if `text` is no socket name.
    fn is_alive(&self, text: &str, own: &SocketName) -> bool {
        if text == own.0 {
            return true;
        }
        let Some(name) = SocketName::parse(text) else { return false };
        // Only ECONNREFUSED proves death.
        !matches!(self.connect(&name), Err(Errno::CONNREFUSED))
    }

    /// Removes the entries of dead processes. Tests by a connect whether a socket's process is dead. Does so only if no
    /// process has the ID in the name, or if the process with that ID started after the socket was created: in
    /// containers, IDs repeat.
    fn sweep(&self) -> io::Result<()> {
        let mut claims: Vec<String> = Vec::new();
        for entry in fs::read_dir(&self.path)?.take(SWEEP) {
            let entry = entry?;
            let file = entry.file_name();
            let Some(text) = file.to_str() else { continue };
            let made = || entry.metadata().and_then(|metadata| metadata.modified()).ok();
            if text.strip_prefix("q-").is_some_and(is_hex16) || preparer(text).is_some() {
                // Other processes determine the number of claims, so memory may be insufficient.
                claims.room(1)?;
                claims.push(memory::text(text)?);
            } else if let Some(name) = SocketName::parse(text) {
                let gone = name.pid().is_none_or(|pid| {
                    let unknown = Pid::from_raw(pid).is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH));
                    unknown || made().zip(task::beginning(pid)).is_some_and(|(made, begun)| is_before(made, begun))
                });
                if gone && matches!(self.connect(&name), Err(Errno::CONNREFUSED)) {
                    self.unlink(text)?;
                }
            } else if text.starts_with("n-")
                && made().is_some_and(|made| made.elapsed().is_ok_and(|age| age > UNFINISHED))
            {
                self.unlink(text)?;
            }
        }
        // Claims come last: the sockets of most dead owners are then removed, which shows that the owner is dead.
        let is_gone =
            |name: &SocketName| matches!(statat(&self.fd, name.as_str(), AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT));
        for claim in claims {
            let owner = self.owner(&claim)?;
            let dead = match preparer(&claim) {
                Some(name) => is_gone(&name),
                None => owner.as_ref().is_none_or(|owner| SocketName::parse(owner).is_none_or(|name| is_gone(&name))),
            };
            if dead {
                self.empty(&claim, owner.as_deref())?;
                self.remove_if_empty(&claim)?;
            }
        }
        Ok(())
    }

    /// Returns the text of a claim's link; `None` if the claim is missing or empty.
    fn owner(&self, claim: &str) -> io::Result<Option<String>> {
        link_text(&self.fd, &format!("{claim}/{OWNER}"))
    }

    /// Empties a claim if it still belongs to `owner`, which is dead. If `claim` is the name of a file that is not a
    /// directory, removes that file.
    fn empty(&self, claim: &str, owner: Option<&str>) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = match openat(&self.fd, claim, flags, Mode::empty()) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(()),
            // A claim is a directory, which `unlink` does not remove. So if another process has replaced the name by
            // its claim, this call fails and the claim stays.
            Err(Errno::NOTDIR | Errno::LOOP) => return self.unlink(claim),
            Err(error) => return Err(error.into()),
        };
        // The name may by now refer to a successor's claim, which must stay.
        if owner.is_none() || link_text(&found, OWNER)?.as_deref() != owner {
            return Ok(());
        }
        Ok(unless(unlinkat(&found, OWNER, AtFlags::empty()), &[Errno::NOENT])?)
    }

    fn remove_if_empty(&self, claim: &str) -> io::Result<()> {
        let others = [Errno::NOENT, Errno::NOTEMPTY, Errno::EXIST, Errno::NOTDIR];
        Ok(unless(unlinkat(&self.fd, claim, AtFlags::REMOVEDIR), &others)?)
    }

    fn unlink(&self, name: &str) -> io::Result<()> {
        Ok(unless(unlinkat(&self.fd, name, AtFlags::empty()), &[Errno::NOENT, Errno::ISDIR])?)
    }
}

/// Returns advice to append to an error's text.
fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ": make room (df, df -i and quota show what is full), or have dat.conf name another directory"
        }
        _ => "",
    }
}

/// Returns whether a file is certainly older than a process. File times come from a coarse clock, so they may be up to
/// [`COARSE`] too early.
fn is_before(made: SystemTime, beginning: SystemTime) -> bool {
    made.checked_add(COARSE).is_some_and(|latest| latest < beginning)
}

/// Ignores the errors `others`, which another process can cause.
fn unless(result: rustix::io::Result<()>, others: &[Errno]) -> rustix::io::Result<()> {
    result.or_else(|error| if others.contains(&error) { Ok(()) } else { Err(error) })
}

/// Returns the text of a symbolic link; `None` if there is no such file; an empty text if the file is not a link, or
/// its text is not UTF-8.
fn link_text(directory: impl AsFd, link: &str) -> io::Result<Option<String>> {
    let mut text = [0_u8; 64];
    match readlinkat_raw(directory, link, &mut text) {
        Ok(len) => Ok(Some(text.get(..len).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or("").to_owned())),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(Errno::INVAL) => Ok(Some(String::new())),
        Err(error) => Err(error.into()),
    }
}

/// A listening socket, whose file is removed on drop.
#[derive(Debug)]
pub struct Reachable {
    pub listener: Socket,
    pub name: SocketName,
    pub directory: Arc<Directory>,
    owner: u32,
}

impl Drop for Reachable {
    fn drop(&mut self) {
        // In a child of a fork the file still belongs to the parent.
        if self.owner == process::id() {
            // A child that was forked earlier still has the socket open, so a close alone would not end the listening.
            self.listener.end();
            let _ = self.directory.unlink(&self.name.0);
        }
    }
}

/// A qualifier that this process has until the claim is dropped. The claim keeps the process's socket open, which shows
/// other processes that the owner lives.
#[derive(Debug)]
#[must_use]
pub struct Claim {
    pub qualifier: u64,
    name: String,
    reachable: Arc<Reachable>,
}

impl Claim {
    /// Renames the prepared claim to `q-QUALIFIER`. Returns `false` if a file with that name exists, except for an
    /// empty directory.
    fn put(&mut self, qualifier: u64) -> io::Result<bool> {
        let (fd, place) = (&self.reachable.directory.fd, claim_name(qualifier));
        match renameat(fd, &self.name, fd, &place) {
            Ok(()) => (self.qualifier, self.name) = (qualifier, place),
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let Reachable { directory, owner, .. } = &*self.reachable;
        if *owner != process::id() {
            return;
        }
        // This process is alive, so no other has replaced its claim.
        let owner = directory.unlink(&format!("{}/{OWNER}", self.name));
        if let Err(error) = owner.and_then(|()| directory.remove_if_empty(&self.name)) {
            log::debug!("shm: the claim {} stays in {}: {error}", self.name, directory.path.display());
        }
    }
}

#[cfg(test)]
mod tests;
