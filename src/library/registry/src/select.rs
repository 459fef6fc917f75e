//! The choice of the entry that serves a request (uDAPL, dat_ia_open(3DAT)).

#![forbid(unsafe_code)]

use std::ffi::CStr;

use crate::entry::Identity;

/// The adapter and the version that a program asks for when it opens an interface adapter.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Name of the adapter.
    pub name: &'a CStr,
    /// Major number of the API the program was compiled for.
    pub major: u32,
    /// Minor number of the API the program was compiled for.
    pub minor: u32,
    /// Whether the program needs a provider that several threads may call at once.
    pub thread_safe: bool,
}

/// The first criterion, in this order, that no entry meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// No entry of that name.
    Name,
    /// No entry of that name has that major number.
    Major,
    /// None of those has that minor number or a higher one.
    Minor,
    /// None of those is thread-safe, and the program needs it.
    ThreadSafety,
}

/// Finds the best of `candidates`; of equal ones the first.
///
/// Name and major number must be equal. The minor number must be high enough; the lowest such number wins. A
/// thread-safe entry also serves a program that does not ask for thread safety, but an entry with exactly the requested
/// thread safety takes precedence.
///
/// # Errors
/// The first criterion at which no entry remained.
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
