use super::*;

fn id(name: &CStr, major: u32, minor: u32, thread_safe: bool) -> Identity {
    Identity { name: name.to_owned(), major, minor, thread_safe }
}

fn ask(minor: u32, thread_safe: bool) -> Request<'static> {
    Request { name: c"a", major: 1, minor, thread_safe }
}

#[test]
fn prefers_equal_thread_safety() {
    let list = [id(c"a", 1, 2, true), id(c"a", 1, 2, false)];
    assert_eq!(select(&ask(2, false), list.iter()), Ok(&list[1]));
    assert_eq!(select(&ask(2, true), list.iter()), Ok(&list[0]));
}

#[test]
fn threadsafe_entry_serves_all_requests() {
    let safe = [id(c"a", 1, 2, true)];
    assert_eq!(select(&ask(2, false), safe.iter()), Ok(&safe[0]));
    let unsafe_ = [id(c"a", 1, 2, false)];
    assert_eq!(select(&ask(2, true), unsafe_.iter()), Err(Missing::ThreadSafety));
}

#[test]
fn prefers_lowest_sufficient_minor() {
    let list = [id(c"a", 1, 4, false), id(c"a", 1, 1, false), id(c"a", 1, 3, true)];
    assert_eq!(select(&ask(2, false), list.iter()), Ok(&list[2]));
    assert_eq!(select(&ask(1, false), list.iter()), Ok(&list[1]));
    assert_eq!(select(&ask(0, true), list.iter()), Ok(&list[2]));
    assert_eq!(select(&ask(5, false), list.iter()), Err(Missing::Minor));
}

#[test]
fn prefers_first_of_equals() {
    let list = [id(c"a", 1, 2, false), id(c"a", 1, 2, false)];
    let found = select(&ask(2, false), list.iter()).unwrap();
    assert!(std::ptr::eq(found, &list[0]));
}

#[test]
fn reports_missing_criterion() {
    let list = [id(c"a", 2, 0, true), id(c"b", 1, 2, true)];
    assert_eq!(select(&ask(2, false), list.iter()), Err(Missing::Major));
    assert_eq!(select(&ask(2, false), list[1..].iter()), Err(Missing::Name));
    assert_eq!(select(&ask(2, false), [].iter()), Err(Missing::Name));
    let request = Request { name: c"A", ..ask(2, false) };
    assert_eq!(select(&request, list.iter()), Err(Missing::Name));
}
