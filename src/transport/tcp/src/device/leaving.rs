//! Streams that this side has left, until their peers have read everything.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dat_core::transport::Poll;
use host::poll::Ready;

use super::{Device, TICK, descriptors};
use crate::stream::Stream;

/// Reads of what a peer sends after the end, in one poll.
const LATE_READS: usize = 8;
/// Maximum number of streams that wait for their peers to read everything.
const MAX_LEAVING: usize = 1024;
/// Time that a peer has to read what was sent before this side left.
const LINGER: Duration = Duration::from_secs(2);
/// The same when the adapter is closed.
const LAST: Duration = Duration::from_millis(200);

/// These streams by number, and when they are closed.
#[derive(Default)]
pub struct Leaving {
    streams: HashMap<u64, (Arc<Stream>, Instant)>,
    /// The adapter is closed.
    closed: bool,
}

impl Leaving {
    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }
}

impl Device {
    /// Keeps a stream that this side has left until its peer has read everything.
    pub fn linger(&self, number: u64, stream: Arc<Stream>) {
        let mut leaving = self.leaving.lock();
        // After the adapter was closed, no thread would let it go.
        if leaving.closed {
            return;
        }
        let mut gone = None;
        if leaving.streams.len() >= descriptors(MAX_LEAVING) {
            let oldest = leaving.streams.iter().min_by_key(|(_, (_, until))| *until).map(|(number, _)| *number);
            gone = oldest.and_then(|oldest| leaving.streams.remove(&oldest));
        }
        leaving.streams.insert(number, (stream, Instant::now() + LINGER));
        drop(leaving);
        drop(gone);
        self.wakeup.wake();
    }

    /// Closes a stream that this side has left.
    fn let_go(&self, number: u64) {
        let left = self.leaving.lock().streams.remove(&number);
        drop(left);
    }

    /// Closes the streams whose time is over. Returns the time until the next one.
    pub fn let_go_due(&self, now: Instant) -> Option<Duration> {
        let mut due = Vec::new();
        let mut leaving = self.leaving.lock();
        leaving.streams.retain(|_, (stream, until)| {
            let stays = *until > now;
            if !stays {
                due.push(stream.clone());
            }
            stays
        });
        let next = leaving.streams.values().map(|(_, until)| *until).min();
        drop(leaving);
        drop(due);
        next.map(|next| next.saturating_duration_since(now))
    }

    /// Gives the peers of all streams that this side has left up to [`LAST`] to read everything, and closes them.
    pub fn let_all_go(&self) {
        let end = Instant::now() + LAST;
        while !self.leaving.lock().is_empty() && Instant::now() < end {
            self.poll_once(Poll::Complete);
            let _ = host::poll::wait([Some(self.descriptor())], Some(TICK));
        }
        let left = std::mem::replace(&mut *self.leaving.lock(), Leaving { closed: true, ..Leaving::default() });
        drop(left);
        // The connections refer to the device.
        let mut polling = self.polling.lock();
        polling.next = None;
        polling.noted.clear();
        let noted = std::mem::take(&mut *self.noted.lock());
        drop(polling);
        drop(noted);
    }

    /// Handles the socket of a connection that this side has left.
    #[cold]
    pub(super) fn ready_late(&self, ready: Ready, buffer: &mut [u8]) {
        let stream = self.leaving.lock().streams.get(&ready.token).map(|(stream, _)| stream.clone());
        let Some(stream) = stream else { return };
        if ready.writable {
            stream.on_room(drop);
        }
        if ready.readable {
            // What a peer sends after the end goes nowhere.
            for _ in 0..LATE_READS {
                match stream.socket().recv_bytes(buffer) {
                    Ok(Some(0)) | Err(_) => {
                        self.let_go(ready.token);
                        break;
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                }
            }
        }
    }
}
