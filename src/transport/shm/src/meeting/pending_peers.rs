//! Processes that have connected and not said yet who they are.
//!
//! A process says so at once, unless it waits for a processor just then, which may take any time. So there is no limit
//! on the time of silence, only on the number of those that are silent, for they must not use up the descriptors that
//! others need to be heard. One that has to make room for another connects once more.
//!
//! At most 64 strangers, or an eighth of the descriptors that the process may have, wait at a time. If another one
//! arrives, the oldest one of the process with the most strangers gets `Message::Again`, and
//! connects once more after a pause, which grows to 32 ms, for as long as its program wants the connection. So only the
//! program's own time limit or the end of the peer ends an attempt.

use std::collections::HashMap;

use host::limit;

/// The most strangers at a time, and the part of all descriptors that they may take.
const MOST: usize = 64;
const PART: u64 = 8;

/// The strangers, by token and process, the one that has been silent longest first.
#[derive(Default)]
pub struct PendingPeers(Vec<(u64, i32)>);

impl PendingPeers {
    /// Adds the connection `token` of the process `pid`.
    pub fn add(&mut self, token: u64, pid: i32) {
        self.0.push((token, pid));
    }

    /// Removes a connection whose peer has said who it is, or that has ended.
    pub fn remove(&mut self, token: u64) {
        self.0.retain(|stranger| stranger.0 != token);
    }

    /// True if one more would be too many.
    pub fn is_full(&self) -> bool {
        let files = limit::open_files().ok().flatten().unwrap_or(u64::MAX);
        let most = usize::try_from(files / PART).unwrap_or(MOST).clamp(1, MOST);
        self.0.len() >= most
    }

    /// The connection that has to make room for another one, the oldest of the process that has most of them, and how many
    /// that has.
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
