//! The numbers by which peers distinguish endpoints for datagrams.
//!
//! The living endpoints of a process have different numbers. The first 1,024 of them also differ from the numbers of all other processes
//! of the host, and further ones as long as process numbers leave upper bits unused.

use std::collections::VecDeque;
use std::process;

use host::lock::Mutex;
use host::memory::Room;

use crate::error::Result;

/// Bits of an index that no process number occupies: the kernel has at most 2²² of these.
const LOW: u32 = 10;

/// The indices of this process.
static INDICES: Mutex<Indices> = Mutex::new(Indices { fresh: 0, free: VecDeque::new() });

struct Indices {
    /// All from this one on were never used.
    fresh: u32,
    /// Those that are unused again, the longest unused one first.
    free: VecDeque<u32>,
}

/// The number of a living endpoint.
pub struct Number {
    index: u32,
    number: u32,
}

impl Number {
    /// Allocates a number, which is not 0.
    ///
    /// # Errors
    /// [`crate::error::Resource::Memory`].
    pub fn new() -> Result<Self> {
        let mut indices = INDICES.lock();
        loop {
            // Peers may remember a number, so it rests before it is used again.
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

    /// The number.
    pub fn get(&self) -> u32 {
        self.number
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        INDICES.lock().free.push_back(self.index);
    }
}

/// Returns the number of an index of a process: a bijection of the index. Its upper bits are filled from the highest one down,
/// and process numbers from the lowest one up.
fn encode(process: u32, index: u32) -> u32 {
    (process << LOW | index & ((1 << LOW) - 1)) ^ (index >> LOW).reverse_bits()
}

#[cfg(test)]
mod tests;
