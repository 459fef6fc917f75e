//! Accepted sockets of processes whose hello has not arrived.
//!
//! A process sends its hello immediately, but may wait for a CPU indefinitely, so no such socket times out. At most 64
//! can be pending, or an eighth of the descriptor limit if that is less. If there is no room, the oldest socket of the
//! process with the most gets `Message::Again`, and is closed. That process connects again within 32 ms while its
//! program wants the connection. So only the program's timeout or the end of the peer ends an attempt.

use std::collections::HashMap;

use host::limit;

/// Maximum number of pending peers, if the descriptor limit divided by [`PART`] is not lower.
const MAX_PENDING: usize = 64;
const PART: u64 = 8;

/// Pending peers (token, process id), oldest first.
#[derive(Default)]
pub struct PendingPeers(Vec<(u64, i32)>);

impl PendingPeers {
    pub fn add(&mut self, token: u64, pid: i32) {
        self.0.push((token, pid));
    }

    pub fn remove(&mut self, token: u64) {
        self.0.retain(|peer| peer.0 != token);
    }

    pub fn is_full(&self) -> bool {
        let files = limit::open_files().ok().flatten().unwrap_or(u64::MAX);
        let most = usize::try_from(files / PART).unwrap_or(MAX_PENDING).clamp(1, MAX_PENDING);
        self.0.len() >= most
    }

    /// Returns the token of the pending peer to evict: the oldest of the process that has the most. Also returns the
    /// number of that process's pending peers. Returns `None` without pending peers.
    pub fn least_welcome(&self) -> Option<(u64, usize)> {
        let mut counts: HashMap<i32, usize> = HashMap::new();
        for &(_, pid) in &self.0 {
            *counts.entry(pid).or_default() += 1;
        }
        let most = counts.values().copied().max()?;
        let (oldest, _) = self.0.iter().find(|(_, pid)| counts.get(pid) == Some(&most))?;
        Some((*oldest, most))
    }
}

#[cfg(test)]
mod tests;
