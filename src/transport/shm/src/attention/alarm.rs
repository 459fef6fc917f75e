//! The word on which a blocked waiter sleeps, in memory that the process shares with all its peers.
//!
//! Each sleep has a number. The waiter stores it in the word and sleeps as long as it is there; a thread with news stores
//! [`RUNG`] and wakes the sleeper. So a ring that comes before the sleep is not missed ([`sleep`]).
//!
//! A peer that breaks the rules can store anything at any time. If it puts the number back between the ring of another
//! peer and the sleep, the waiter sleeps on although it was rung. So a waiter never sleeps here without a limit,
//! whether it sleeps is read elsewhere (`control`), where peers cannot write, and the word here serves the system for the
//! comparison, and others as a hint that the waiter does not sleep.
//!
//! A peer that rings remembers the number of the sleep (`ended`, stored with Release behind the ring), so further news
//! for that sleep cost no system call: a thread that finds the number leaves the ring to the one that made it. The word
//! is set to [`RUNG`] by a swap with Release, and the number of a sleep is stored with Release before it is published;
//! the kernel compares the word under its own lock, so a ring before the sleep keeps the sleep from beginning. futex(2)
//! wakes all sleepers on the word, so a thread that a peer has put there takes no wake-up of the leader's.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use dat_core::transport;
use host::{futex, memory};

use crate::os::memory::{Access, InShared, SharedFile, SharedMemory};
use crate::sleep::{self, RUNG, Rung};

/// Bytes of the shared memory. The word is at its beginning.
const SIZE: usize = 4096;

/// The word of an alarm in a mapping of it, and what this process has done to it.
pub struct AlarmWord {
    word: InShared<AtomicU32>,
    /// The last sleep that this process has ended.
    ended: AtomicU32,
}

impl AlarmWord {
    fn new(memory: SharedMemory) -> io::Result<AlarmWord> {
        Ok(AlarmWord { word: memory::arc(memory)?.place(0)?, ended: AtomicU32::new(RUNG) })
    }

    /// Opens the alarm of another process.
    ///
    /// # Errors
    /// `InvalidData` if it is no alarm; otherwise the error of the system.
    pub fn open(fd: OwnedFd) -> io::Result<AlarmWord> {
        AlarmWord::new(SharedMemory::open(fd, SIZE..=SIZE, Access::ReadWrite)?.1)
    }

    /// Ends the sleep with this number: see [`sleep::ring_for`].
    #[inline]
    pub fn ring_for(&self, sleep: u32) -> Rung {
        sleep::ring_for(&*self.word, &self.ended, sleep, || futex::wake_shared(&self.word))
    }
}

/// The alarm of this process, and the file that peers map.
pub struct Alarm {
    /// The word, as peers have it too.
    pub word: AlarmWord,
    /// What a peer opens: see [`AlarmWord::open`].
    pub file: SharedFile,
}

impl Alarm {
    /// Makes an alarm on which nobody sleeps.
    pub fn new() -> io::Result<Alarm> {
        let (file, memory) = SharedMemory::create("dat-shm-alarm", SIZE, Access::ReadWrite)?;
        Ok(Alarm { word: AlarmWord::new(memory)?, file })
    }

    /// Keeps the waiter from the sleep for which it has prepared.
    pub fn silence(&self) {
        self.word.word.store(RUNG, Ordering::Release);
    }
}

impl transport::Alarm for Alarm {
    fn word(&self) -> &AtomicU32 {
        &self.word.word
    }

    #[cold]
    fn wake(&self) {
        self.silence();
        futex::wake_shared(&self.word.word);
    }
}
