//! The completion channels of an adapter, each with the completion queues that announce their completions there.
//!
//! A channel costs a descriptor. While descriptors are plenty every queue has a channel of its own; then queues share
//! channels, each the one with the fewest queues. A thread that sleeps on a queue is woken by the announcements of all
//! queues of its channel, so few should share one.
//!
//! The thread that takes an announcement sees whose it is, asks that queue to announce again, and looks through it for
//! its sleepers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use host::limit;
use host::lock::Mutex;
use host::memory::{self, NoMemory, Room};

use crate::cq::CompletionQueue;
use crate::sys::cq::Channel;
use crate::sys::device::Context;

/// A channel, and the queues that announce on it.
pub struct CompletionChannel {
    pub(crate) raw: Arc<Channel>,
    _own: OwnPlace,
    pub(crate) queues: Mutex<Vec<Weak<CompletionQueue>>>,
}

/// Adds `what` to a list. Places are reused and never move, so that a thread that goes through the list with [`each`]
/// misses none.
pub fn add<T>(list: &mut Vec<Weak<T>>, what: &Arc<T>) -> Result<(), NoMemory> {
    match list.iter_mut().find(|place| place.strong_count() == 0) {
        Some(place) => *place = Arc::downgrade(what),
        None => {
            list.room(1)?;
            list.push(Arc::downgrade(what));
        }
    }
    Ok(())
}

/// What a list has that is alive. No lock is held between two of them, and the list is not copied.
pub fn each<T>(list: &Mutex<Vec<Weak<T>>>) -> impl Iterator<Item = Arc<T>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let list = list.lock();
        loop {
            let next = list.get(at)?.upgrade();
            at += 1;
            if next.is_some() {
                return next;
            }
        }
    })
}

/// The number of channels of the process, of all adapters. It is no lock, since the child of a fork could find one taken.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// A place among the channels that the process may have, or beyond them for the first one of an adapter.
struct OwnPlace;

impl OwnPlace {
    fn take(most: usize) -> Option<Self> {
        let taken =
            TAKEN.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |taken| (taken < most).then_some(taken + 1));
        // A place that is made is also given back, so none is made in vain.
        taken.is_ok().then(|| OwnPlace)
    }
}

impl Drop for OwnPlace {
    fn drop(&mut self) {
        TAKEN.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The child of a fork has no channel yet: those of its parent are never touched again.
pub fn after_fork_in_child() {
    TAKEN.store(0, Ordering::Release);
}

#[derive(Default)]
pub struct Channels(Mutex<Vec<Weak<CompletionChannel>>>);

impl Channels {
    /// A channel for one more queue: a new one, or the one with the fewest queues if the process has many channels or
    /// no descriptor is left.
    pub fn get(&self, context: &Arc<Context>) -> std::io::Result<Arc<CompletionChannel>> {
        let mut channels = self.0.lock();
        channels.retain(|channel| channel.strong_count() > 0);
        let shared = channels.iter().filter_map(Weak::upgrade).min_by_key(Arc::strong_count);
        let most = if shared.is_some() { most_channels() } else { usize::MAX };
        let made = OwnPlace::take(most).map(|own| Channel::new(context).map(|raw| (own, raw)));
        match (made, shared) {
            (Some(Ok((own, raw))), _) => {
                channels.room(1)?;
                let channel = memory::arc(CompletionChannel { raw, _own: own, queues: Mutex::default() })?;
                channels.push(Arc::downgrade(&channel));
                Ok(channel)
            }
            (_, Some(channel)) => Ok(channel),
            (Some(Err(error)), None) => Err(error),
            (None, None) => Err(std::io::Error::from_raw_os_error(libc::EMFILE)),
        }
    }
}

/// The most descriptors that the process takes for channels, beside the first one of each adapter.
fn most_channels() -> usize {
    match limit::open_files() {
        Ok(Some(files)) => usize::try_from(files / 8).unwrap_or(usize::MAX).min(256),
        Ok(None) => 256,
        Err(_) => 16,
    }
}

#[cfg(test)]
mod tests;
