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

/// Finds the best of `candidates`, which are given in order of preference among equals.
///
/// Name and major number must be equal. The minor number must be high enough; the lowest such number wins. A
/// thread-safe entry also serves a program that does not ask for thread safety, but an entry with exactly the requested
/// thread safety takes precedence.
///
/// # Errors
/// [`Missing`] tells the first criterion at which no entry remained.
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
mod tests {
    use super::*;

    fn id(name: &CStr, major: u32, minor: u32, thread_safe: bool) -> Identity {
        Identity { name: name.to_owned(), major, minor, thread_safe }
    }

    fn ask(minor: u32, thread_safe: bool) -> Request<'static> {
        Request { name: c"a", major: 1, minor, thread_safe }
    }

    #[test]
    fn exact_thread_safety_comes_first() {
        let list = [id(c"a", 1, 2, true), id(c"a", 1, 2, false)];
        assert_eq!(select(&ask(2, false), list.iter()), Ok(&list[1]));
        assert_eq!(select(&ask(2, true), list.iter()), Ok(&list[0]));
    }

    #[test]
    fn a_threadsafe_entry_serves_both_never_the_reverse() {
        let safe = [id(c"a", 1, 2, true)];
        assert_eq!(select(&ask(2, false), safe.iter()), Ok(&safe[0]));
        let unsafe_ = [id(c"a", 1, 2, false)];
        assert_eq!(select(&ask(2, true), unsafe_.iter()), Err(Missing::ThreadSafety));
    }

    #[test]
    fn the_lowest_sufficient_minor_wins() {
        let list = [id(c"a", 1, 4, false), id(c"a", 1, 1, false), id(c"a", 1, 3, true)];
        assert_eq!(select(&ask(2, false), list.iter()), Ok(&list[2]));
        assert_eq!(select(&ask(1, false), list.iter()), Ok(&list[1]));
        assert_eq!(select(&ask(0, true), list.iter()), Ok(&list[2]));
        assert_eq!(select(&ask(5, false), list.iter()), Err(Missing::Minor));
    }

    #[test]
    fn the_first_of_equals_stands() {
        let list = [id(c"a", 1, 2, false), id(c"a", 1, 2, false)];
        let found = select(&ask(2, false), list.iter()).unwrap();
        assert!(std::ptr::eq(found, &list[0]));
    }

    #[test]
    fn each_criterion_has_its_answer() {
        let list = [id(c"a", 2, 0, true), id(c"b", 1, 2, true)];
        assert_eq!(select(&ask(2, false), list.iter()), Err(Missing::Major));
        assert_eq!(select(&ask(2, false), list[1..].iter()), Err(Missing::Name));
        assert_eq!(select(&ask(2, false), [].iter()), Err(Missing::Name));
        let request = Request { name: c"A", ..ask(2, false) };
        assert_eq!(select(&request, list.iter()), Err(Missing::Name));
    }
}
