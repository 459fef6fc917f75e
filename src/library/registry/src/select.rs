//! The choice of the entry for a request (uDAPL, dat_ia_open(3DAT)).

#![forbid(unsafe_code)]

use std::ffi::CStr;

use crate::entry::Identity;

/// A program's request to open an adapter.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Name of the adapter.
    pub name: &'a CStr,
    /// Major number of the API version of the program.
    pub major: u32,
    /// Minor number of the API version of the program.
    pub minor: u32,
    /// `true` if the program requires a thread-safe provider.
    pub thread_safe: bool,
}

/// The first criterion that no entry meets, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// No entry has the name.
    Name,
    /// No entry of this name has the major number.
    Major,
    /// No entry of this name and major number has the minor number or a higher one.
    Minor,
    /// No entry with these numbers is thread-safe, as the request requires.
    ThreadSafety,
}

/// Returns the best candidate, the first among equals.
///
/// Name and major number must be equal. The lowest minor number that is at least the requested one wins, then equal
/// thread safety. A thread-safe entry also serves requests without thread safety.
///
/// # Errors
/// The first criterion that no candidate meets.
pub fn select<'a>(
    request: &Request<'_>,
    candidates: impl Iterator<Item = &'a Identity>,
) -> Result<&'a Identity, Missing> {
    let mut best: Option<&Identity> = None;
    let mut missing = Missing::Name;
    for candidate in candidates {
        match fault(request, candidate) {
            Some(fault) => missing = missing.max(fault),
            None => {
                let rank = |identity: &Identity| (identity.minor, identity.thread_safe != request.thread_safe);
                if best.is_none_or(|best| rank(candidate) < rank(best)) {
                    best = Some(candidate);
                }
            }
        }
    }
    best.ok_or(missing)
}

fn fault(request: &Request<'_>, candidate: &Identity) -> Option<Missing> {
    if *candidate.name != *request.name {
        Some(Missing::Name)
    } else if candidate.major != request.major {
        Some(Missing::Major)
    } else if candidate.minor < request.minor {
        Some(Missing::Minor)
    } else if request.thread_safe && !candidate.thread_safe {
        Some(Missing::ThreadSafety)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
