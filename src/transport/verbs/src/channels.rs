//! The completion channels of an adapter, each with its completion queues.
//!
//! A channel costs a descriptor, and its events wake the sleepers of all its queues. So each queue gets its own
//! channel, up to a limit; further queues share the channel with the fewest queues.
//!
//! A thread may read the event of a queue on which other threads sleep. It then rearms and polls that queue for them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use host::limit;
use host::lock::Mutex;
use host::memory::{self, NoMemory, Room};

use crate::cq::CompletionQueue;
use crate::sys::cq::Channel;
use crate::sys::device::Context;

pub struct CompletionChannel {
    pub(crate) raw: Arc<Channel>,
    _own: OwnPlace,
    pub(crate) queues: Mutex<Vec<Weak<CompletionQueue>>>,
}

/// Adds `what` to a list. Live entries never move, so a concurrent [`each`] misses none of them.
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

/// Iterates over the live entries of a list, which is unlocked in between.
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

/// Number of channels in the process. Atomic, because a forked child could inherit a locked lock.
static CHANNELS: AtomicUsize = AtomicUsize::new(0);

/// A channel counted in [`CHANNELS`].
struct OwnPlace;

impl OwnPlace {
    fn take(most: usize) -> Option<Self> {
        let taken =
            CHANNELS.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |taken| (taken < most).then_some(taken + 1));
        // Not `then_some`, whose unused value would decrement the count when dropped.
        taken.is_ok().then(|| OwnPlace)
    }
}

impl Drop for OwnPlace {
    fn drop(&mut self) {
        CHANNELS.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Resets the count in a forked child, which does not use its parent's channels.
pub fn after_fork_in_child() {
    CHANNELS.store(0, Ordering::Release);
}

#[derive(Default)]
pub struct Channels(Mutex<Vec<Weak<CompletionChannel>>>);

impl Channels {
    /// Returns a new channel. At the limit, or if the creation fails, returns the adapter's channel with the fewest
    /// queues, or an error if it has none.
    pub fn get(&self, context: &Arc<Context>) -> std::io::Result<Arc<CompletionChannel>> {
        let mut channels = self.0.lock();
        channels.retain(|channel| channel.strong_count() > 0);
        let shared = channels.iter().filter_map(Weak::upgrade).min_by_key(Arc::strong_count);
        let most = if shared.is_some() { max_channels() } else { usize::MAX };
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

/// Returns the maximum number of channels in the process. An adapter's first channel may exceed it.
fn max_channels() -> usize {
    match limit::open_files() {
        Ok(Some(files)) => usize::try_from(files / 8).unwrap_or(usize::MAX).min(256),
        Ok(None) => 256,
        Err(_) => 16,
    }
}

#[cfg(test)]
mod tests;
