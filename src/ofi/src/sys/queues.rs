//! The completion queues of an adapter, and what a thread sleeps on until there is something to read.
//!
//! The provider tcp of libfabric 1.17 looks at each connection of a queue in each read. So a queue has no more than
//! [`CONNECTIONS`], and where there are several the kernel tells which of them are to be read. Such a queue also has no descriptor
//! to sleep on, with which reads take longer: the sockets are in a set of this library's own.
//!
//! Of the other providers, and of other versions of tcp, a queue has the descriptor of libfabric's own, and is for all
//! connections.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use arrayvec::ArrayVec;
use host::event_fd::EventFd;
use host::lock::RwLock;
use host::memory::Room;
use host::poll::Epoll;

use super::queue::BATCH;
use super::{Completion, Cq, Fabric, FiError, shared};

/// Connections of a queue.
const CONNECTIONS: usize = 16;

/// The version of the provider tcp whose sockets may be looked at without it.
const TCPX: (u32, u32) = (117, 0);

/// Room in a queue for the completions of a connection; it grows beyond it.
const COMPLETIONS: usize = 64;
/// The same in a queue for all connections.
const MANY: usize = 4096;

/// The token of what is none of a queue's.
const ROOM: u64 = u64::MAX;

/// The completion queues of an adapter.
pub struct Queues {
    /// That of the first connections, which stays.
    first: Arc<Cq>,
    /// All, each in the place that its token says. The others go with their connections.
    list: RwLock<Vec<Weak<Cq>>>,
    /// The one whose turn it is to be read first.
    turn: AtomicUsize,
    /// Connections of one.
    most: usize,
    wakes: Arc<Wakes>,
    fabric: Arc<Fabric>,
}

/// What wakes a thread that sleeps.
pub(super) struct Wakes {
    /// What has something to read: sockets, or descriptors of libfabric's, each with the token of its queue, and `room`.
    set: Epoll,
    /// Sockets that have room again for what libfabric could not send.
    room: Epoll,
    /// Wakes the adapter's thread when a queue has something to read that no socket shows.
    bell: Arc<EventFd>,
    /// The adapter's thread sleeps until something comes, or is about to.
    watching: AtomicBool,
    /// Open queues.
    pub(super) queues: AtomicUsize,
}

fn system(error: std::io::Error) -> FiError {
    FiError(error.raw_os_error().unwrap_or(libc::ENOMEM))
}

impl Wakes {
    fn new(bell: &Arc<EventFd>) -> std::io::Result<Wakes> {
        let (set, room, bell) = (Epoll::new()?, Epoll::new()?, bell.clone());
        let wakes = Wakes { set, room, bell, watching: AtomicBool::new(false), queues: AtomicUsize::new(0) };
        wakes.set.add(wakes.room.as_fd(), ROOM)?;
        Ok(wakes)
    }

    /// Has the kernel tell of a socket.
    pub(super) fn watch(&self, socket: BorrowedFd<'_>, token: u64) -> std::io::Result<()> {
        self.set.add(socket, token)?;
        self.room.add_room(socket, token)
    }

    /// Has it not tell any more.
    pub(super) fn unwatch(&self, socket: BorrowedFd<'_>) {
        let _ = self.set.delete(socket);
        let _ = self.room.delete(socket);
    }

    /// Wakes the adapter's thread, since a queue is due. Threads of the program that sleep are not woken for what another one
    /// posts, which polls as well: two that post and sleep in turn would take three times as long.
    pub(super) fn wake(&self) {
        // The store to the queue and this load come in one order with those of the thread that is about to sleep.
        if self.watching.load(Ordering::SeqCst) && self.watching.swap(false, Ordering::SeqCst) {
            self.bell.ring();
        }
    }

    /// Notes which queues are due by what the kernel has.
    fn look(&self, list: &[Weak<Cq>]) {
        let mut room = false;
        let queue = |token: u64| list.get(usize::try_from(token).ok()?)?.upgrade();
        self.set.look(|ready| match queue(ready.token) {
            Some(cq) => cq.note_ready(false),
            None => room |= ready.token == ROOM,
        });
        if room {
            self.room.look(|ready| queue(ready.token).iter().for_each(|cq| cq.note_ready(true)));
        }
    }
}

impl Queues {
    /// Makes the first queue.
    ///
    /// # Errors
    /// What libfabric or the system says, here and in all other methods.
    pub fn open(fabric: &Arc<Fabric>, bell: &Arc<EventFd>) -> Result<Queues, FiError> {
        let apart = fabric.name() == "tcp" && fabric.provider_version() == TCPX;
        let most = if apart { CONNECTIONS } else { usize::MAX };
        let wakes = shared(Wakes::new(bell).map_err(system)?)?;
        let first = Cq::open(fabric, &wakes, if apart { COMPLETIONS * most } else { MANY }, 0, !apart)?;
        if let Some(fd) = first.fd {
            // SAFETY: it is open as long as the queue, which is not closed before the set.
            wakes.set.add(unsafe { BorrowedFd::borrow_raw(fd) }, first.token).map_err(system)?;
        }
        let list = RwLock::<Vec<Weak<Cq>>>::default();
        list.write().room(1).map_err(|_| FiError(libc::ENOMEM))?;
        list.write().push(Arc::downgrade(&first));
        Ok(Queues { first, list, turn: AtomicUsize::new(0), most, wakes, fabric: fabric.clone() })
    }

    /// The queue of another endpoint, of which it has one more now.
    pub(super) fn join(&self) -> Result<Arc<Cq>, FiError> {
        let mut list = self.list.write();
        let room = |cq: &Arc<Cq>| cq.endpoints.load(Ordering::Relaxed) < self.most;
        let cq = match list.iter().filter_map(Weak::upgrade).find(room) {
            Some(cq) => cq,
            None => {
                let place = list.iter().position(|cq| cq.strong_count() == 0).unwrap_or(list.len());
                list.room(1).map_err(|_| FiError(libc::ENOMEM))?;
                let cq = Cq::open(&self.fabric, &self.wakes, COMPLETIONS * self.most, place as u64, false)?;
                match list.get_mut(place) {
                    Some(old) => *old = Arc::downgrade(&cq),
                    None => list.push(Arc::downgrade(&cq)),
                }
                cq
            }
        };
        cq.endpoints.fetch_add(1, Ordering::Relaxed);
        Ok(cq)
    }

    /// Lets libfabric move bytes, and reads what is complete.
    pub fn read(&self, into: &mut ArrayVec<Completion, BATCH>) {
        if self.wakes.queues.load(Ordering::Acquire) == 1 {
            return self.first.read(into);
        }
        let list = self.list.read();
        self.wakes.look(&list);
        // Each is the first in its turn, so that none waits for ever.
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % list.len();
        let (before, behind) = list.split_at(turn);
        for cq in behind.iter().chain(before).filter_map(Weak::upgrade).filter(|cq| cq.is_due.load(Ordering::SeqCst)) {
            cq.read(into);
            if into.is_full() {
                return;
            }
        }
    }

    /// What is readable when there is something to read, after [`Queues::try_wait`].
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.wakes.set.as_fd()
    }

    /// Whether a thread can sleep on the descriptor now: there is nothing to read. The adapter's thread, which is `watching`, also
    /// wakes when something is posted.
    pub fn try_wait(&self, watching: bool) -> bool {
        let list = self.list.read();
        if watching {
            self.wakes.watching.store(true, Ordering::SeqCst);
        }
        // Beside a thread that reads, this one would not sleep, but ask again and again.
        self.wakes.look(&list);
        list.iter().filter_map(Weak::upgrade).all(|cq| !cq.is_due.load(Ordering::SeqCst) && cq.try_wait())
    }
}
