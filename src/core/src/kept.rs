//! What a face keeps with an object, because the program was given addresses of it that stand as long as the object.

use std::any::Any;

use host::lock::Mutex;
use host::memory::{self, NoMemory};

/// A place for one value of a type that the face chooses.
#[derive(Default)]
pub struct Kept(Mutex<Option<Box<dyn Any + Send>>>);

impl Kept {
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
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once() {
        let kept = Kept::default();
        assert_eq!(kept.with(|| Err(NoMemory), |value: &mut u32| *value), None);
        for wanted in 1..3 {
            let counted = kept.with(
                || Ok(0u32),
                |value| {
                    *value += 1;
                    *value
                },
            );
            assert_eq!(counted, Some(wanted));
        }
        assert_eq!(kept.with(|| Ok(0u8), |value| *value), None);
    }
}
