use super::step::State;
use super::*;

#[test]
fn a_library_that_programs_do_not_find_is_noted() {
    let path = Path::new("/opt/my dat/lib/libdat.so.1");
    assert_eq!(own_file(Some(path), None), Step::ok("/opt/my dat/lib/libdat.so.1"));
    let step = own_file(Some(path), Some("libdat.so.1: cannot open shared object file"));
    assert_eq!(step.state, State::Note);
    assert!(step.text.contains("does not find it: libdat.so.1: cannot open"), "{}", step.text);
    assert_eq!(step.see, Some(Topic::LibraryNotFound.place()));
}

#[test]
fn what_works_is_named_once_and_serves_programs_of_this_version() {
    let adapter = |name: &CStr, minor, thread_safe| Adapter {
        name: name.to_owned(),
        demand: Demand { version: (1, minor), thread_safe },
    };
    let adapters = [adapter(c"a", 2, true), adapter(c"a", 3, false), adapter(c"old", 1, true), adapter(c"b", 2, true)];
    let opened = |_: &Adapter| super::super::probe::Opened { address: None, library: None, groups: Vec::new() };
    let probe = |adapter: &Adapter| match words(&adapter.name).as_str() {
        "b" => Probe { answer: Err("no".to_owned()), messages: Vec::new() },
        _ => Probe { answer: Ok(opened(adapter)), messages: Vec::new() },
    };
    let all: Vec<_> = adapters.iter().map(|adapter| (adapter, probe(adapter))).collect();
    assert_eq!(working(&all), [c"a"]);
}

#[test]
fn the_command_that_tries_an_adapter_takes_any_name() {
    assert_eq!(trial(c"shm"), "dat-ping shm --self --count 3");
    assert_eq!(trial(c"-x"), "dat-ping --self --count 3 -- -x");
}
