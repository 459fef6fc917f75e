//! The word on which a leader (a process's only sleeping wait) sleeps, in memory that all peers share.
//!
//! The leader stores a number, new for each sleep, and sleeps while the word has that number. A thread that has
//! published data for the leader *rings*: it stores [`RUNG`] and wakes the leader ([`sleep`]). futex(2) compares the
//! word under a lock of the kernel, so a ring just before the sleep prevents the sleep. A ring wakes all threads that
//! sleep on the word. Otherwise, a malicious peer could let its own threads sleep there, and absorb the wakeup.
//!
//! A malicious peer can restore the number between a ring and the sleep, so that the leader misses the ring. Therefore
//! a leader always sleeps with a timeout, and only the published word, which peers cannot write, indicates whether a
//! leader sleeps.
//!
//! Each process stores the number of the last sleep that it has ended in its own `ended` (Release, after the ring). So
//! it rings once per sleep, unless its threads ring concurrently. The leader stores the number in the alarm's word with
//! Release, and then publishes it. A ring stores [`RUNG`] by a Release swap.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use dat_core::transport;
use host::{futex, memory};

use crate::os::memory::{Access, InShared, SharedFile, SharedMemory};
use crate::sleep::{self, RUNG, Rung};

const SIZE: usize = 4096;

pub struct AlarmWord {
    word: InShared<AtomicU32>,
    ended: AtomicU32,
}

impl AlarmWord {
    fn new(memory: SharedMemory) -> io::Result<AlarmWord> {
        Ok(AlarmWord { word: memory::arc(memory)?.place(0)?, ended: AtomicU32::new(RUNG) })
    }

    /// Maps another process's alarm. Fails with `InvalidData` if the file is no sealed memfd of the right size, or with
    /// a system error.
    pub fn open(fd: OwnedFd) -> io::Result<AlarmWord> {
        AlarmWord::new(SharedMemory::open(fd, SIZE..=SIZE, Access::ReadWrite)?.1)
    }

    #[inline]
    pub fn ring_for(&self, sleep: u32) -> Rung {
        sleep::ring_for(&*self.word, &self.ended, sleep, || futex::wake_shared(&self.word))
    }
}

pub struct Alarm {
    pub word: AlarmWord,
    pub file: SharedFile,
}

impl Alarm {
    pub fn new() -> io::Result<Alarm> {
        let (file, memory) = SharedMemory::create("dat-shm-alarm", SIZE, Access::ReadWrite)?;
        Ok(Alarm { word: AlarmWord::new(memory)?, file })
    }

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
