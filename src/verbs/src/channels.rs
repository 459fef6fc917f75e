//! The completion channels of an adapter, each with the completion queues that announce their completions there.
//!
//! A channel costs a descriptor. While descriptors are plenty every queue has a channel of its own; then queues share
//! channels, each the one with the fewest queues. A thread that sleeps on a queue is woken by the announcements of all
//! queues of its channel, so few should share one.

use std::sync::{Arc, Weak};

use host::limit;
use parking_lot::Mutex;

use crate::cq::CompletionQueue;
use crate::sys::cq::Channel;
use crate::sys::device::Context;

/// A channel and its queues.
pub struct Line {
    channel: Arc<Channel>,
    queues: Mutex<Vec<Weak<CompletionQueue>>>,
}

impl Line {
    /// The channel.
    pub fn channel(&self) -> &Arc<Channel> {
        &self.channel
    }

    /// Adds a queue that announces on the channel.
    pub fn add(&self, cq: &Arc<CompletionQueue>) {
        add(&mut self.queues.lock(), cq);
    }

    /// The queues that announce on the channel. No lock is held between them.
    pub fn queues(&self) -> impl Iterator<Item = Arc<CompletionQueue>> + '_ {
        each(&self.queues)
    }
}

/// Adds `what` to a list. Places are reused and never move, so that a thread that goes through the list with [`each`]
/// misses none.
pub fn add<T>(list: &mut Vec<Weak<T>>, what: &Arc<T>) {
    match list.iter_mut().find(|place| place.strong_count() == 0) {
        Some(place) => *place = Arc::downgrade(what),
        None => list.push(Arc::downgrade(what)),
    }
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

/// Channels of all adapters of the process.
static ALL: Mutex<Vec<Weak<Channel>>> = Mutex::new(Vec::new());

/// The channels of an adapter.
#[derive(Default)]
pub struct Channels {
    lines: Mutex<Vec<Weak<Line>>>,
}

impl Channels {
    /// A channel for one more queue: a new one, or the one with the fewest queues if the process has many channels or
    /// no descriptor is left.
    pub fn line(&self, context: &Arc<Context>) -> std::io::Result<Arc<Line>> {
        let mut all = ALL.lock();
        all.retain(|channel| channel.strong_count() > 0);
        let mut lines = self.lines.lock();
        lines.retain(|line| line.strong_count() > 0);
        let shared = lines.iter().filter_map(Weak::upgrade).min_by_key(Arc::strong_count);
        if let Some(line) = &shared
            && all.len() >= most_channels()
        {
            return Ok(line.clone());
        }
        match (Channel::new(context), shared) {
            (Ok(channel), _) => {
                all.push(Arc::downgrade(&channel));
                let line = Arc::new(Line { channel, queues: Mutex::default() });
                lines.push(Arc::downgrade(&line));
                Ok(line)
            }
            (Err(_), Some(line)) => Ok(line),
            (Err(error), None) => Err(error),
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
mod tests {
    use super::*;

    #[test]
    fn places_are_reused_and_never_move() {
        let list = Mutex::default();
        let [one, two, three] = [1, 2, 3].map(Arc::new);
        add(&mut list.lock(), &one);
        add(&mut list.lock(), &two);
        let mut going = each(&list);
        assert_eq!(going.next().as_deref(), Some(&1));
        drop(one);
        add(&mut list.lock(), &three);
        assert_eq!(going.next().as_deref(), Some(&2));
        assert_eq!(going.next(), None);
        let rest: Vec<_> = each(&list).map(|what| *what).collect();
        assert_eq!(rest, [3, 2]);
    }
}
