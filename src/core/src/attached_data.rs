//! Data that the API layer attaches to an object, such as memory whose address must stay valid while the object lives.

use std::any::Any;

use host::lock::Mutex;
use host::memory::{self, NoMemory};

/// One value of a type that the API layer chooses.
#[derive(Default)]
pub struct AttachedData(Mutex<Option<Box<dyn Any + Send>>>);

impl AttachedData {
    /// Calls `f` with the value, under a lock. If there is no value yet, `make` creates it. Returns `None` if memory is
    /// exhausted, or if the value has another type than `V`.
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
