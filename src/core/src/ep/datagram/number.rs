//! Numbers of datagram endpoints, by which peers distinguish them.
//!
//! The live endpoints of a process have different numbers. The first 1,024 also differ from the numbers of all other
//! processes on the host, and further ones while process numbers leave upper bits unused.

use std::collections::VecDeque;
use std::process;

use host::lock::Mutex;
use host::memory::Room;

use crate::error::Result;

/// Low index bits that no process number occupies: the kernel has at most 2²² processes.
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
    /// Returns a number other than 0.
    pub fn new() -> Result<Self> {
        let mut indices = INDICES.lock();
        loop {
            // Peers may remember a number, so its reuse is delayed.
            let rested = indices.free.len() >= 1 << (LOW - 1) || indices.fresh >= 1 << LOW;
            let index = match if rested { indices.free.pop_front() } else { None } {
                Some(index) => index,
                None => {
                    // A free needs no memory.
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
    }

    pub fn get(&self) -> u32 {
        self.number
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        INDICES.lock().free.push_back(self.index);
    }
}

/// Returns the number of an index in a process, a bijection. The lowest [`LOW`] bits of the index precede the process
/// number; the others fill the number from the highest bit down.
fn encode(process: u32, index: u32) -> u32 {
    (process << LOW | index & ((1 << LOW) - 1)) ^ (index >> LOW).reverse_bits()
}

#[cfg(test)]
mod tests;
