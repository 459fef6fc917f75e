//! Streams that this end has closed, until their peers have read everything (a *linger*).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dat_core::transport::Poll;
use host::poll::Ready;

use super::{Device, TICK, descriptors};
use crate::stream::Stream;

/// Maximum number of reads of late data in a poll.
const MAX_LATE_READS: usize = 8;
/// Maximum number of lingering streams.
const MAX_LEAVING: usize = 1024;
/// Time for the peer to read everything.
const LINGER: Duration = Duration::from_secs(2);
/// Time for the next peer to read everything when the adapter is closed.
const CLOSE_LINGER: Duration = Duration::from_millis(500);

/// Lingering streams by number, with their deadlines.
#[derive(Default)]
pub struct Leaving {
    streams: HashMap<u64, (Arc<Stream>, Instant)>,
    closed: bool,
}

impl Leaving {
    pub fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }
}

impl Device {
    /// Keeps a stream until its peer has read everything, up to [`LINGER`].
    pub fn linger(&self, number: u64, stream: Arc<Stream>) {
        let mut leaving = self.leaving.lock();
        // After the adapter was closed, no thread closes the stream.
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

    fn let_go(&self, number: u64) {
        let left = self.leaving.lock().streams.remove(&number);
        drop(left);
    }

    /// Closes streams after their deadline. Returns the time until the next deadline.
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

    /// Waits until peers have read everything, [`CLOSE_LINGER`] has passed since the last one did, or [`LINGER`] has
    /// passed, and closes all streams.
    pub fn let_all_go(&self) {
        let begun = Instant::now();
        let (mut least, mut since) = (usize::MAX, begun);
        loop {
            let left = self.leaving.lock().streams.len();
            if left < least {
                (least, since) = (left, Instant::now());
            }
            if left == 0 || since.elapsed() >= CLOSE_LINGER || begun.elapsed() >= LINGER {
                break;
            }
            self.poll_once(Poll::Complete);
            let _ = host::poll::wait([Some(self.descriptor())], Some(TICK));
        }
        let left = std::mem::replace(&mut *self.leaving.lock(), Leaving { closed: true, ..Leaving::default() });
        drop(left);
        // These connections own references to the device.
        let mut polling = self.polling.lock();
        polling.next = None;
        polling.noted.clear();
        let noted = std::mem::take(&mut *self.noted.lock());
        drop(polling);
        drop(noted);
    }

    /// Handles the socket of a closed connection.
    #[cold]
    pub(super) fn ready_late(&self, ready: Ready, buffer: &mut [u8]) {
        let stream = self.leaving.lock().streams.get(&ready.token).map(|(stream, _)| stream.clone());
        let Some(stream) = stream else { return };
        if ready.writable {
            stream.on_room(drop);
        }
        if ready.readable {
            // Discards late data of the peer.
            for _ in 0..MAX_LATE_READS {
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
