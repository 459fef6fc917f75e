//! What a face keeps with an object: because the program was given addresses of it that stand as long as the object, or
//! because only the face knows what it means.

use std::any::Any;

use host::lock::Mutex;
use host::memory::{self, NoMemory};

/// A place for one value of a type that the face chooses.
#[derive(Default)]
pub struct AttachedData(Mutex<Option<Box<dyn Any + Send>>>);

impl AttachedData {
    /// Calls `f` with the value, one thread at a time. `make` makes it when it is asked for first; `None` if there is no
    /// memory for it, or the value is of another type.
    pub fn with<V: Any + Send, R>(
        &self,
        make: impl FnOnce() -> Result<V, NoMemory>,
        f: impl FnOnce(&mut V) -> R,
    ) -> Option<R> {
        let mut place = self.0.lock();
        let value = match &mut *place {
            Some(value) => value,
            empty => empty.insert(memory::boxed(make().ok()?).ok()?),
        };
        value.downcast_mut().map(f)
    }
}

#[cfg(test)]
mod tests;
