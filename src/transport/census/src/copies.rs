//! Whether a process copies directly from and to the memory of its peers, and the reasons against it.

use std::{fs, process};

use host::environment;

use crate::Field;

/// The bit of CAP_SYS_PTRACE in a set of capabilities.
const SYS_PTRACE: u32 = 19;

/// The reason why a process does not copy directly from and to the memory of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// `DAT_SHM_VM=0` in this process.
    Variable = 1,
    /// `DAT_SHM_VM=0` in the peer.
    PeerVariable,
    /// The processes are in different PID namespaces, /proc is not mounted, or it shows another namespace.
    Namespace,
    /// A filter of system calls.
    Filter,
    /// The security module Yama.
    Yama,
    /// The kernel forbids access to this peer, for example because it is not dumpable.
    Permission,
}

impl Obstacle {
    const ALL: [Obstacle; 6] = [
        Obstacle::Variable,
        Obstacle::PeerVariable,
        Obstacle::Namespace,
        Obstacle::Filter,
        Obstacle::Yama,
        Obstacle::Permission,
    ];

    /// Returns one word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Obstacle::Variable => "DAT_SHM_VM",
            Obstacle::PeerVariable => "peer",
            Obstacle::Namespace => "namespace",
            Obstacle::Filter => "seccomp",
            Obstacle::Yama => "yama",
            Obstacle::Permission => "refused",
        }
    }

    /// Returns the reason as a part of a sentence.
    pub fn reason(self) -> &'static str {
        match self {
            Obstacle::Variable => "DAT_SHM_VM=0 in the environment forbids it",
            Obstacle::PeerVariable => "DAT_SHM_VM=0 in the environment of the peer forbids it",
            Obstacle::Namespace => "/proc is not mounted, or the processes or /proc are in different PID namespaces",
            Obstacle::Filter => "a filter of system calls (seccomp) refuses process_vm_readv",
            Obstacle::Yama => "Yama forbids it (sysctl kernel.yama.ptrace_scope)",
            Obstacle::Permission => "the kernel refuses access to the peer",
        }
    }
}

impl Field for Option<Obstacle> {
    fn put(&self, packet: &mut Vec<u8>) {
        self.map_or(0, |obstacle| obstacle as u8).put(packet);
    }

    fn take(packet: &mut &[u8]) -> Option<Self> {
        match u8::take(packet)? {
            0 => Some(None),
            number => Obstacle::ALL.into_iter().find(|obstacle| *obstacle as u8 == number).map(Some),
        }
    }
}

/// Returns whether this process permits direct copies, in both directions. Reads the environment, which the program may
/// change.
pub fn is_wanted() -> bool {
    environment::secure("DAT_SHM_VM").is_none_or(|value| value != "0")
}

/// Returns the obstacle that applies to every peer of this process; `None` if there is none.
pub fn own_obstacle() -> Option<Obstacle> {
    obstacle(is_wanted()).or_else(|| (!can_read_itself()).then_some(Obstacle::Filter))
}

/// Returns the obstacle that applies to every peer of this process, except [`Obstacle::Filter`]: a filter may end a
/// process that tries a copy. `wanted` is the result of [`is_wanted`].
pub fn obstacle(wanted: bool) -> Option<Obstacle> {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let is_tracer = || field(&status, "CapEff:").is_some_and(may_trace);
    match () {
        () if !wanted => Some(Obstacle::Variable),
        () if namespace_ids(&status).count() != 1 => Some(Obstacle::Namespace),
        () => match yama_scope() {
            Some(3) => Some(Obstacle::Yama),
            Some(2) if !is_tracer() => Some(Obstacle::Yama),
            _ => None,
        },
    }
}

/// Returns `kernel.yama.ptrace_scope`; `None` without Yama.
pub fn yama_scope() -> Option<u32> {
    fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok()?.trim().parse().ok()
}

/// Returns the IDs of a thread from its status file, from the PID namespace of /proc down to the thread's own.
pub fn namespace_ids(status: &str) -> impl DoubleEndedIterator<Item = &str> {
    field(status, "NSpid:").unwrap_or_default().split_ascii_whitespace()
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name))
}

fn may_trace(capabilities: &str) -> bool {
    u64::from_str_radix(capabilities.trim(), 16).is_ok_and(|set| set >> SYS_PTRACE & 1 == 1)
}

/// Returns whether process_vm_readv can read this process's own memory, which only a filter of system calls forbids.
/// The filter may end the process, unless an earlier copy has failed without that.
pub fn can_read_itself() -> bool {
    let (byte, mut copy) = (1_u8, 0_u8);
    let vec = |byte: *mut u8| libc::iovec { iov_base: byte.cast(), iov_len: 1 };
    let (local, remote) = (vec(&raw mut copy), vec((&raw const byte).cast_mut()));
    let own = process::id() as libc::pid_t;
    // SAFETY: each entry is one byte on the stack, of which the call writes only the local one.
    let copied = unsafe { libc::process_vm_readv(own, &raw const local, 1, &raw const remote, 1, 0) };
    copied == 1
}

#[cfg(test)]
mod tests;
