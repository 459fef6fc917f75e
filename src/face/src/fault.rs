//! Why a call fails, before it becomes a return code.
//!
//! The core says what is wrong; which argument of the C function that is, the call says with a list
//! of positions. Faults stay typed until the call returns, where [`crate::Version::code`] gives
//! them their numbers.

use dat_core::error::{Arg, Error, Role};

use crate::Code;

/// Why a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The handle in this part is not that of a live object of its kind.
    Handle(Role),
    /// The argument at this position, counted from 1, is invalid; 0 for one that no position names.
    Argument(u32),
    /// What the core answered, other than an argument or a handle.
    Core(Error),
    /// A code that only the version knows.
    Code(Code),
}

impl Fault {
    /// What `error` of the core means in a call whose arguments stand at `positions`.
    #[cold]
    pub fn new(error: Error, positions: &[(Arg, u32)]) -> Self {
        match error {
            Error::InvalidHandle(role) => Fault::Handle(role),
            Error::InvalidParameter(arg) => {
                Fault::Argument(positions.iter().find(|(known, _)| *known == arg).map_or(0, |(_, position)| *position))
            }
            other => Fault::Core(other),
        }
    }
}

/// Result of a part of a call.
pub type Answer<T> = Result<T, Fault>;

/// Positions of arguments, counted from 1, by their part in a call.
pub type Positions = &'static [(Arg, u32)];

/// Gives the errors of the core their place among the arguments.
pub trait At<T> {
    /// The value, or the fault of a call whose arguments stand at `positions`.
    ///
    /// # Errors
    /// As [`Fault::new`] says.
    fn at(self, positions: Positions) -> Answer<T>;
}

impl<T> At<T> for dat_core::Result<T> {
    #[inline]
    fn at(self, positions: Positions) -> Answer<T> {
        self.map_err(|error| Fault::new(error, positions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_named_by_its_position() {
        let positions: Positions = &[(Arg::Attributes, 6), (Arg::Flags, 10)];
        let at = |arg| Fault::new(Error::InvalidParameter(arg), positions);
        assert_eq!(at(Arg::Attributes), Fault::Argument(6));
        assert_eq!(at(Arg::Flags), Fault::Argument(10));
        assert_eq!(at(Arg::Length), Fault::Argument(0));
    }

    #[test]
    fn a_fault_fits_into_a_register() {
        assert!(size_of::<Answer<()>>() <= size_of::<usize>());
    }
}
