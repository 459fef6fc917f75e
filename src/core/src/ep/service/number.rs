//! Numbers of datagram endpoints, by which peers distinguish them.
//!
//! The live endpoints of a process have different numbers. The first 1,024 numbers of a process also differ from the
//! first 1,024 numbers of any other process on the host. Further numbers also differ from other processes' numbers, if
//! process IDs leave the upper bits unused.

use std::collections::VecDeque;
use std::process;

use host::fork::with_fork_lock;
use host::lock::Mutex;
use host::memory::Room;

use crate::error::Result;

/// Number of low bits that contain only the index. The other bits have room for any process ID, which is below 2²².
const LOW: u32 = 10;

static INDICES: Mutex<Indices> = Mutex::new(Indices { fresh: 0, free: VecDeque::new() });

struct Indices {
    fresh: u32,
    free: VecDeque<u32>,
}

/// The number of a live endpoint.
pub struct Number {
    index: u32,
    number: u32,
}

impl Number {
    /// Reserves a number other than 0 until the drop.
    pub fn new() -> Result<Self> {
        // Excludes forks: a child of a fork could never unlock a list that a thread of its parent had locked.
        with_fork_lock(|| {
            let mut indices = INDICES.lock();
            loop {
                // Peers may remember a number, so its reuse is delayed.
                let rested = indices.free.len() >= 1 << (LOW - 1) || indices.fresh >= 1 << LOW;
                let index = match if rested { indices.free.pop_front() } else { None } {
                    Some(index) => index,
                    None => {
                        // Reserves the entry of `free` that the drop of this number needs.
                        let more = indices.fresh as usize + 1 - indices.free.len();
                        indices.free.room(more)?;
                        indices.fresh += 1;
                        indices.fresh - 1
                    }
                };
                let number = encode(process::id(), index);
                if number != 0 {
                    return Ok(Number { index, number });
                }
            }
        })
    }

    pub fn get(&self) -> u32 {
        self.number
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        with_fork_lock(|| INDICES.lock().free.push_back(self.index));
    }
}

/// Returns a different number for each `index`. The lowest [`LOW`] bits of the number are those bits of the index, and
/// the process ID is above them. The other bits of the index are XORed into the number in reverse order, from the
/// highest bit down.
fn encode(process: u32, index: u32) -> u32 {
    (process << LOW | index & ((1 << LOW) - 1)) ^ (index >> LOW).reverse_bits()
}

#[cfg(test)]
mod tests;
