//! Streams that this end has closed, until their peers have read everything (a *linger*).

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dat_core::transport::Poll;
use host::poll::Ready;

use super::{Device, TICK, descriptors};
use crate::cm::Half;
use crate::stream::Stream;

/// Maximum number of reads of late data in a poll.
const MAX_LATE_READS: usize = 8;
/// Maximum number of lingering streams.
const MAX_LEAVING: usize = 1024;
/// Time for the peer to read everything.
const LINGER: Duration = Duration::from_secs(2);
/// Time for all peers when the adapter is closed.
const CLOSE_LINGER: Duration = Duration::from_millis(200);

/// Bit in the number of a closed stream, whose connection may still have another half.
const CLOSED: u64 = 1 << 63;

impl Device {
    /// Keeps a stream until its peer has read everything, up to [`LINGER`].
    pub fn linger(&self, number: u64, stream: Arc<Stream>) {
        self.handshakes.remove_oldest(descriptors(MAX_LEAVING), |half, _| matches!(half, Half::Leaving(_)));
        // On failure, this closes the stream.
        let _ = self.handshakes.add(number | CLOSED, Half::Leaving(stream), Some(Instant::now() + LINGER));
        self.wakeup.wake();
    }

    /// Waits up to [`CLOSE_LINGER`] until peers have read everything, and closes all streams.
    pub fn let_all_go(&self) {
        let end = Instant::now() + CLOSE_LINGER;
        while self.handshakes.has_leaving() && Instant::now() < end {
            self.poll_once(Poll::Complete);
            let _ = host::poll::wait([Some(self.sockets.as_fd())], Some(TICK));
        }
        self.handshakes.close();
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
        let Some(stream) = self.handshakes.leaving(ready.token | CLOSED) else { return };
        if ready.writable {
            stream.on_room(drop);
        }
        if ready.readable {
            // Discards late data of the peer.
            for _ in 0..MAX_LATE_READS {
                match stream.socket.recv_bytes(buffer) {
                    Ok(Some(0)) | Err(_) => {
                        self.handshakes.remove(ready.token | CLOSED);
                        break;
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                }
            }
        }
    }
}
