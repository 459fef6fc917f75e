//! The directory in which the processes of a user find each other.
//!
//! For every process it holds the socket at which the process can be reached, `p-PID-RANDOM`. For every service point
//! it holds a *claim*, a directory `q-QUALIFIER` with one entry, the symbolic link `owner`, whose text is the name of
//! the socket of the process that has the service point.
//!
//! # Why a qualifier has one owner
//! A claim is made ready under a name of its own (`t-PID-RANDOM-NUMBER`) and renamed to its place, which succeeds only
//! where there is no directory or an empty one. So it is never added to a claim that has an owner. The owner alone
//! empties its claim, or another process does it that has found the owner dead, which is final. That process opens the
//! directory, reads the owner's name in it, and removes the entry from that same directory, so it never empties the
//! claim of a successor. No lock is needed for any of this, so a process that is stopped, wherever it is, keeps nobody
//! waiting. A process counts as alive while its socket listens, which it does as long as there is a claim of it.
//!
//! The directory belongs to the user and has mode 0700; it is /tmp/dat-shm-UID unless the instance data of the dat.conf
//! entry name another. Rights that the umask takes from the directory and the socket are given back; the umask itself
//! stays as it is. The file of the socket is removed by the last dat_ia_close.

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
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dat_census::is_socket_name;
use dat_census::socket::Socket;
use host::cancel::Shielded;
use host::memory::{self, Room};
use host::topic::Topic;
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, chmodat, flock, fstat, mkdirat, open, openat, readlinkat_raw, renameat,
    statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};
use rustix::rand::{GetRandomFlags, getrandom};

use super::task;

/// Qualifiers for [`Directory::claim_any`]: those that fit 16 bits and are not reserved by custom.
pub const ANY: RangeInclusive<u64> = 1024..=65535;

/// Entries that one [`Directory::sweep`] looks at, so that a crowded directory does not delay a process that joins.
const SWEEP: usize = 4096;

/// After this time, a socket that never got its final name belongs to a dead process.
const UNFINISHED: Duration = Duration::from_secs(60);

/// How far the times of files and of processes may be apart.
const COARSE: Duration = Duration::from_millis(100);

/// The one entry of a claim.
const OWNER: &str = "owner";

/// Attempts at a claim. Another one is needed only if others changed the claim meanwhile, or it cannot be emptied.
const ATTEMPTS: u32 = 64;

/// File name of a process's socket: `p-PID-RANDOM`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SocketName(String);

impl SocketName {
    fn new() -> SocketName {
        SocketName(format!("p-{}-{:016x}", process::id(), random()))
    }

    /// Takes a name that came from elsewhere; `None` if it is not of the right form.
    pub fn parse(text: &str) -> Option<SocketName> {
        is_socket_name(text).then(|| SocketName(text.to_owned()))
    }

    /// The name as it appears in the directory.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The process that made it, as numbered in that process's own namespace.
    pub fn pid(&self) -> Option<libc::pid_t> {
        self.0.split('-').nth(1)?.parse().ok()
    }
}

fn is_hex16(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

fn claim_name(qualifier: u64) -> String {
    format!("q-{qualifier:016x}")
}

/// The process that prepares a claim under the name `text`; `None` if that is no such name.
fn preparer(text: &str) -> Option<SocketName> {
    let (name, number) = text.strip_prefix("t-")?.rsplit_once('-')?;
    number.parse::<u64>().ok()?;
    SocketName::parse(&format!("p-{name}"))
}

/// The directory, open.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    fd: Shielded<OwnedFd>,
}

impl Directory {
    /// Opens the directory that the instance data of a configuration entry names: an absolute path, or nothing for
    /// `/tmp/dat-shm-UID`. Makes the directory if it does not exist. Sweeps it.
    ///
    /// # Errors
    /// The error's text names the directory. It occurs if the path is not absolute, or leads to a symbolic link, to
    /// something other than a directory, to a directory of another user, or to one that others can look into; other
    /// errors are those of the system.
    pub fn open(instance: &str) -> io::Result<Arc<Directory>> {
        let me = geteuid().as_raw();
        let path = dat_census::directory(instance, me);
        let refuse = |kind, why: &dyn Display| io::Error::new(kind, format!("{}: {why}", path.display()));
        let system = |error: Errno| match error {
            // The topic of the message depends on the code.
            Errno::MFILE | Errno::NFILE => error.into(),
            _ => refuse(error.kind(), &format_args!("{error}{}", mend(error.kind()))),
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
            // The umask of this process, or of the one that made the directory, took rights from its owner.
            own(&place, Mode::RWXU).map_err(system)?;
        }
        let fd = openat(&place, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let fd = fd.map_err(system)?;
        // Programs that clean up /tmp leave a locked directory alone. If the lock fails, only that protection is lost.
        let _ = flock(&fd, FlockOperation::NonBlockingLockShared);
        let directory = memory::arc(Directory { path, fd: Shielded::new(fd) })?;
        directory.sweep();
        Ok(directory)
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells the user why something cannot be made in the directory.
    pub fn lament(&self, error: &io::Error) {
        let text = format!("{}: {error}{}", self.path.display(), mend(error.kind()));
        Topic::RendezvousDirectory.error(error, text).log("shm");
    }

    /// The path of a process's socket.
    pub fn socket_path(&self, name: &SocketName) -> PathBuf {
        self.path.join(&name.0)
    }

    /// Makes a socket at which this process can be reached.
    pub fn listen(self: &Arc<Self>) -> io::Result<Arc<Reachable>> {
        let name = SocketName::new();
        // The socket is bound under another name first, because a socket that does not listen yet looks dead.
        let unfinished = self.path.join(format!("n{}", &name.0[1..]));
        let listener = Socket::listen(&unfinished)?;
        if let Err(error) = fs::rename(&unfinished, self.socket_path(&name)) {
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        Ok(memory::arc(Reachable { listener, directory: self.clone(), name, owner: process::id() })?)
    }

    /// Connects to the process that owns the socket `name`: see [`Socket::connect`].
    pub fn connect(&self, name: &SocketName) -> rustix::io::Result<Socket> {
        Socket::connect(&self.socket_path(name))
    }

    /// The socket of the process that has `qualifier`, if any has it. That process may be dead.
    pub fn lookup(&self, qualifier: u64) -> io::Result<Option<SocketName>> {
        Ok(self.owner(&claim_name(qualifier))?.and_then(|text| SocketName::parse(&text)))
    }

    /// Takes `qualifier` for the process that `reachable` reaches, until the claim is dropped. Waits for nobody.
    ///
    /// # Errors
    /// `AddrInUse` if a living process has it, this one included.
    pub fn claim(&self, qualifier: u64, reachable: &Arc<Reachable>) -> io::Result<Claim> {
        let mut claim = self.prepare(reachable)?;
        self.take(qualifier, &mut claim)?;
        Ok(claim)
    }

    /// Takes a free qualifier of `range`, starting the search at a random place.
    ///
    /// # Errors
    /// `AddrInUse` if none is free.
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
        // All have owners, but some of these may be dead.
        for qualifier in all() {
            match self.take(qualifier, &mut claim) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                taken => return taken.map(|()| claim),
            }
        }
        Err(io::ErrorKind::AddrInUse.into())
    }

    /// Makes a claim ready, under a name of its own.
    fn prepare(&self, reachable: &Arc<Reachable>) -> io::Result<Claim> {
        static CLAIMS: AtomicU64 = AtomicU64::new(0);
        let owner = &reachable.name.0;
        let name = format!("t{}-{}", &owner[1..], CLAIMS.fetch_add(1, Ordering::Relaxed));
        mkdirat(&self.fd, &name, Mode::RWXU)?;
        let claim = Claim { qualifier: 0, name, reachable: reachable.clone() };
        // The umask may have taken rights from the owner.
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

    /// Whether the process that a claim names is alive; `own` is.
    fn is_alive(&self, text: &str, own: &SocketName) -> bool {
        if text == own.0 {
            return true;
        }
        let Some(name) = SocketName::parse(text) else { return false };
        // A failure for any other reason is no proof of death.
        !matches!(self.connect(&name), Err(Errno::CONNREFUSED))
    }

    /// Removes the entries of dead processes. Living processes do not notice: a socket is tried only if there is no
    /// process of its number, or it is older than that process. In a container the numbers are mostly the same few.
    pub fn sweep(&self) {
        if let Err(error) = self.try_sweep() {
            log::debug!("shm: cannot sweep {}: {error}", self.path.display());
        }
    }

    fn try_sweep(&self) -> io::Result<()> {
        let mut claims: Vec<String> = Vec::new();
        for entry in fs::read_dir(&self.path)?.take(SWEEP) {
            let entry = entry?;
            let file = entry.file_name();
            let Some(text) = file.to_str() else { continue };
            let made = || entry.metadata().and_then(|metadata| metadata.modified()).ok();
            if text.strip_prefix("q-").is_some_and(is_hex16) || preparer(text).is_some() {
                // Others decide how many there are.
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
        // Claims come last, when the sockets of the dead are gone; most claims then need only one look.
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

    /// The text of the link to the owner in a claim; `None` if there is no claim, or it is empty.
    fn owner(&self, claim: &str) -> io::Result<Option<String>> {
        link_text(&self.fd, &format!("{claim}/{OWNER}"))
    }

    /// Empties a claim if it is still the one of `owner`, who is dead. What is no directory is removed.
    fn empty(&self, claim: &str, owner: Option<&str>) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = match openat(&self.fd, claim, flags, Mode::empty()) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(()),
            // This removes no directory, so no claim that was put there meanwhile.
            Err(Errno::NOTDIR | Errno::LOOP) => return self.unlink(claim),
            Err(error) => return Err(error.into()),
        };
        // The name may lead to another claim by now, but the descriptor does not.
        if owner.is_none() || link_text(&found, OWNER)?.as_deref() != owner {
            return Ok(());
        }
        Ok(unless(unlinkat(&found, OWNER, AtFlags::empty()), &[Errno::NOENT])?)
    }

    /// Removes a claim without an owner.
    fn remove_if_empty(&self, claim: &str) -> io::Result<()> {
        let others = [Errno::NOENT, Errno::NOTEMPTY, Errno::EXIST, Errno::NOTDIR];
        Ok(unless(unlinkat(&self.fd, claim, AtFlags::REMOVEDIR), &others)?)
    }

    /// Removes an entry that is no directory, and may be gone already.
    fn unlink(&self, name: &str) -> io::Result<()> {
        Ok(unless(unlinkat(&self.fd, name, AtFlags::empty()), &[Errno::NOENT, Errno::ISDIR])?)
    }
}

/// What to do about an error, where its text does not say it.
fn mend(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ": make room (df, df -i and quota show what is full), or have dat.conf name another directory"
        }
        _ => "",
    }
}

/// Gives the owner of the file behind `fd`, which may be open for nothing but its path, the rights of `mode`.
fn own(fd: impl AsFd, mode: Mode) -> rustix::io::Result<()> {
    chmodat(CWD, format!("/proc/thread-self/fd/{}", fd.as_fd().as_raw_fd()), mode, AtFlags::empty())
}

/// Whether the time of a file, which may be any, is surely before that of a process: files have the time of a coarse clock.
fn is_before(made: SystemTime, beginning: SystemTime) -> bool {
    made.checked_add(COARSE).is_some_and(|latest| latest < beginning)
}

/// What a call has given, but for errors of which another process may be the reason.
fn unless(result: rustix::io::Result<()>, others: &[Errno]) -> rustix::io::Result<()> {
    result.or_else(|error| if others.contains(&error) { Ok(()) } else { Err(error) })
}

/// The text of a link; `None` if there is no such link. An entry that is not a link, or has no sensible text, counts
/// as an empty text.
fn link_text(directory: impl AsFd, link: &str) -> io::Result<Option<String>> {
    let mut text = [0_u8; 64];
    match readlinkat_raw(directory, link, &mut text) {
        Ok(len) => Ok(Some(text.get(..len).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or("").to_owned())),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(Errno::INVAL) => Ok(Some(String::new())),
        Err(error) => Err(error.into()),
    }
}

/// A socket at which this process can be reached. Its file is removed with it.
#[derive(Debug)]
pub struct Reachable {
    /// The socket at which connections arrive.
    pub listener: Socket,
    /// Its name in the directory.
    pub name: SocketName,
    /// The directory where processes meet.
    pub directory: Arc<Directory>,
    owner: u32,
}

impl Drop for Reachable {
    fn drop(&mut self) {
        // In a child of a fork the file still belongs to the parent.
        if self.owner == process::id() {
            let _ = self.directory.unlink(&self.name.0);
        }
    }
}

/// A qualifier that belongs to this process until the claim is dropped. The process can be reached as long, so that
/// nobody takes it for dead.
#[derive(Debug)]
#[must_use]
pub struct Claim {
    /// The qualifier.
    pub qualifier: u64,
    /// Where the claim is in the directory.
    name: String,
    reachable: Arc<Reachable>,
}

impl Claim {
    /// Puts the claim into its place; false if there is one with an owner, or something that is no claim.
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
        // In a child of a fork the qualifier still belongs to the parent.
        if *owner != process::id() {
            return;
        }
        // The process is alive, so this is still its own claim.
        let owner = directory.unlink(&format!("{}/{OWNER}", self.name));
        if let Err(error) = owner.and_then(|()| directory.remove_if_empty(&self.name)) {
            log::debug!("shm: the claim {} stays in {}: {error}", self.name, directory.path.display());
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
