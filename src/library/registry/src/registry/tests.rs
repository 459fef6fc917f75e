use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::*;
use crate::entry::{Api, Entry, Interface};
use crate::search::Found;

type Hook = Box<dyn Fn(&'static Registry<Fake>) + Send + Sync>;

/// Providers, identified by their library: "none" cannot be loaded, "plain" has no init, and "mute" registers nothing.
/// The name of any other library is the number of the table that its init registers.
struct Fake {
    names: Vec<(&'static str, bool, &'static str)>,
    others: Vec<&'static str>,
    log: Mutex<Vec<String>>,
    published: Mutex<HashMap<u32, u32>>,
    me: Mutex<Option<&'static Registry<Fake>>>,
    forgets: AtomicBool,
    in_load: Mutex<Option<Hook>>,
    in_init: Mutex<Option<Hook>>,
    in_fini: Mutex<Option<Hook>>,
    panics: AtomicBool,
    exits: AtomicBool,
}

fn line(name: &str, major: u32, thread_safe: bool, library: &str) -> (Origin, Entry) {
    let entry = Entry {
        name: CString::new(name).unwrap(),
        api: Api { interface: Interface::User, major, minor: 2 },
        thread_safe,
        default: true,
        library: CString::new(library).unwrap(),
        instance_data: c"data".to_owned(),
    };
    (Origin::BuiltIn, entry)
}

fn listed(registry: &Registry<Fake>) -> Vec<Identity> {
    registry.visit(|_, identities| identities.cloned().collect()).expect("memory")
}

impl Backend for Fake {
    type Table = u32;
    type Library = String;

    fn configure(&self) -> Found {
        let mut found = Found {
            other_versions: self.others.iter().map(|n| CString::new(*n).unwrap()).collect(),
            ..Found::default()
        };
        for (name, thread_safe, library) in &self.names {
            let (origin, entry) = line(name, 1, *thread_safe, library);
            match found.entries.iter().position(|(_, first)| first.identity() == entry.identity()) {
                Some(first) => found.stand_ins.push((first, origin, entry)),
                None => found.entries.push((origin, entry)),
            }
        }
        found
    }

    fn load(&self, library: &CStr) -> Result<String, LoadError> {
        let library = text(library).into_owned();
        self.say(format!("load {library}"));
        assert!(!self.panics.load(SeqCst), "asked for");
        if let Some(hook) = &*self.in_load.lock().unwrap() {
            hook(self.registry());
        }
        match library.as_str() {
            "none" => Err(LoadError::Refused("no such file".to_owned())),
            _ => Ok(library),
        }
    }

    fn init(&self, library: &String, identity: &Identity, data: &CStr) -> Result<(), InitError> {
        assert_eq!(data, c"data");
        self.say(format!("init {}", text(&identity.name)));
        if let Some(hook) = &*self.in_init.lock().unwrap() {
            hook(self.registry());
        }
        if library == "plain" {
            return Err(InitError::Absent);
        }
        if let Ok(table) = library.parse() {
            let _ = self.registry().add(identity.clone(), table);
        }
        if self.exits.load(SeqCst) { Err(InitError::Ended) } else { Ok(()) }
    }

    fn fini(&self, library: &String, identity: &Identity) {
        self.say(format!("fini {}", text(&identity.name)));
        if let Some(hook) = &*self.in_fini.lock().unwrap() {
            hook(self.registry());
        }
        if !self.forgets.load(SeqCst) {
            let table = library.parse().unwrap();
            self.registry().remove(identity, table).unwrap();
        }
    }

    fn publish(&self, table: u32) -> bool {
        *self.published.lock().unwrap().entry(table).or_default() += 1;
        table != 99
    }

    fn retire(&self, table: u32) {
        self.published.lock().unwrap().remove(&table).unwrap();
    }
}

impl Fake {
    fn say(&self, what: String) {
        self.log.lock().unwrap().push(what);
    }

    fn registry(&self) -> &'static Registry<Fake> {
        self.me.lock().unwrap().unwrap()
    }
}

fn registry(names: &[(&'static str, bool, &'static str)]) -> &'static Registry<Fake> {
    let registry: &'static Registry<Fake> = Box::leak(Box::new(Registry::new(Fake {
        names: names.to_vec(),
        others: vec!["newer"],
        log: Mutex::default(),
        published: Mutex::default(),
        me: Mutex::default(),
        forgets: AtomicBool::new(false),
        in_load: Mutex::default(),
        in_init: Mutex::default(),
        in_fini: Mutex::default(),
        panics: AtomicBool::new(false),
        exits: AtomicBool::new(false),
    })));
    *registry.backend.me.lock().unwrap() = Some(registry);
    registry
}

impl Registry<Fake> {
    fn try_open(&self, name: &CStr) -> Result<Ticket<u32>, OpenError> {
        self.open(&Request { name, major: 1, minor: 2, thread_safe: false })
    }

    fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.backend.log.lock().unwrap())
    }

    fn published(&self) -> Vec<u32> {
        let mut tables: Vec<u32> = self.backend.published.lock().unwrap().keys().copied().collect();
        tables.sort_unstable();
        tables
    }
}

fn identity(name: &CStr, thread_safe: bool) -> Identity {
    Identity { name: name.to_owned(), major: 1, minor: 2, thread_safe }
}

fn reason(result: Result<Ticket<u32>, OpenError>) -> Option<String> {
    match result {
        Err(OpenError::Unusable(failure)) => failure.reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn first_open_loads_and_last_close_calls_fini() {
    let registry = registry(&[("a", false, "1")]);
    let first = registry.try_open(c"a").unwrap();
    let second = registry.try_open(c"a").unwrap();
    assert_eq!(first.table, 1);
    assert_eq!(registry.take_log(), ["load 1", "init a"]);
    assert_eq!(registry.published(), [1]);
    registry.release(first);
    assert!(registry.take_log().is_empty());
    registry.release(second);
    assert_eq!(registry.take_log(), ["fini a"]);
    assert!(registry.published().is_empty());
    let again = registry.try_open(c"a").unwrap();
    assert_eq!(registry.take_log(), ["init a"]);
    registry.release(again);
}

#[test]
fn initialises_each_entry_of_a_library() {
    let registry = registry(&[("a", false, "1"), ("b", false, "1")]);
    let a = registry.try_open(c"a").unwrap();
    let b = registry.try_open(c"b").unwrap();
    assert_eq!(registry.take_log(), ["load 1", "init a", "load 1", "init b"]);
    registry.release(a);
    assert_eq!(registry.take_log(), ["fini a"]);
    assert_eq!(registry.published(), [1], "b still uses the table");
    registry.release(b);
    assert!(registry.published().is_empty());
}

#[test]
fn tries_missing_library_once() {
    let registry = registry(&[("a", false, "none")]);
    let why = reason(registry.try_open(c"a"));
    assert_eq!(why.as_deref(), Some("no such file"));
    assert_eq!(reason(registry.try_open(c"a")), None);
    assert_eq!(registry.take_log(), ["load none"]);
}

#[test]
fn stand_in_replaces_unusable_library() {
    let registry = registry(&[("a", false, "none"), ("a", false, "plain"), ("a", false, "3"), ("a", false, "4")]);
    let ticket = registry.try_open(c"a").unwrap();
    assert_eq!(ticket.table, 3);
    assert_eq!(registry.take_log(), ["load none", "load plain", "init a", "load 3", "init a"]);
    assert_eq!(listed(registry).len(), 1);
    registry.release(ticket);
    registry.release(registry.try_open(c"a").unwrap());
    assert_eq!(registry.take_log(), ["fini a", "init a", "fini a"], "those before it are not tried again");
}

#[test]
fn last_stand_in_reports_the_reason() {
    let registry = registry(&[("a", false, "plain"), ("a", false, "none")]);
    assert_eq!(reason(registry.try_open(c"a")).as_deref(), Some("no such file"));
    assert_eq!(reason(registry.try_open(c"a")), None);
    assert_eq!(registry.take_log(), ["load plain", "init a", "load none"]);
}

#[test]
fn no_stand_in_for_silent_provider() {
    let registry = registry(&[("a", false, "mute"), ("a", false, "3")]);
    for _ in 0..2 {
        assert!(reason(registry.try_open(c"a")).unwrap().contains("did not register"));
    }
    assert_eq!(registry.take_log(), ["load mute", "init a", "init a"]);
}

#[test]
fn calls_init_of_silent_provider_again() {
    let registry = registry(&[("a", false, "mute")]);
    for _ in 0..2 {
        let why = reason(registry.try_open(c"a")).unwrap();
        assert!(why.contains("did not register"), "{why}");
    }
    assert_eq!(registry.take_log(), ["load mute", "init a", "init a"]);
}

#[test]
fn registration_fails_without_room() {
    let registry = registry(&[("a", false, "99")]);
    assert!(reason(registry.try_open(c"a")).is_some());
    assert_eq!(registry.add(identity(c"b", false), 99), Err(AddError::Full));
    assert_eq!(listed(registry).len(), 1);
}

#[test]
fn reports_missing_name() {
    let registry = registry(&[("a", false, "1")]);
    let missing = |name| match registry.try_open(name) {
        Err(OpenError::NotFound(missing)) => missing,
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(c"b"), Missing::Name);
    assert_eq!(missing(c"newer"), Missing::Major);
    assert_eq!(listed(registry).len(), 1, "other versions are not listed");
    assert_eq!(registry.snapshot(c"b").names, ["a"]);
}

#[test]
fn suggests_similar_name() {
    let names =
        |names: &[&str]| Snapshot { names: names.iter().map(ToString::to_string).collect(), ..Snapshot::default() };
    let snapshot = names(&["shm", "verbs-eth0", "verbs-eth1", "OpenIB-cma"]);
    assert_eq!(snapshot.nearest("shn"), Some("shm"));
    assert_eq!(snapshot.nearest("SHM"), Some("shm"));
    assert_eq!(snapshot.nearest("verb-eth1"), Some("verbs-eth1"));
    assert_eq!(snapshot.nearest("openib_cma"), Some("OpenIB-cma"));
    assert_eq!(snapshot.nearest("ib7"), None);
    assert_eq!(names(&[]).nearest("shm"), None);
    assert_eq!(snapshot.shown(), "shm verbs-eth0 verbs-eth1 OpenIB-cma");
    assert_eq!(names(&[]).shown(), "none");
    assert_eq!(names(&["a"; MAX_SHOWN + 3]).shown().split_off(2 * MAX_SHOWN), "and 3 more");
}

#[test]
fn provider_can_register_without_entry() {
    let registry = registry(&[("a", false, "1")]);
    registry.add(identity(c"mine", false), 7).unwrap();
    let twice = registry.add(identity(c"mine", false), 8);
    assert_eq!(twice, Err(AddError::AlreadyRegistered));
    assert_eq!(registry.published(), [7]);
    let names: Vec<_> = listed(registry).into_iter().map(|i| i.name).collect();
    assert_eq!(names, [c"a".to_owned(), c"mine".to_owned()]);

    let ticket = registry.try_open(c"mine").unwrap();
    assert_eq!(ticket.table, 7);
    let busy = registry.remove(&identity(c"mine", false), 7);
    assert_eq!(busy, Err(RemoveError::InUse));
    registry.release(ticket);
    let wrong = registry.remove(&identity(c"mine", false), 8);
    assert_eq!(wrong, Err(RemoveError::NotRegistered));
    registry.remove(&identity(c"mine", false), 7).unwrap();
    let gone = registry.remove(&identity(c"mine", false), 7);
    assert_eq!(gone, Err(RemoveError::NotRegistered));
    assert!(registry.take_log().is_empty(), "nothing was loaded");
}

#[test]
fn does_not_load_registered_provider() {
    let registry = registry(&[("a", false, "none")]);
    assert!(reason(registry.try_open(c"a")).is_some());
    registry.add(identity(c"a", false), 7).unwrap();
    let ticket = registry.try_open(c"a").unwrap();
    registry.release(ticket);
    assert_eq!(registry.take_log(), ["load none"]);
    assert_eq!(listed(registry).len(), 1);
    registry.remove(&identity(c"a", false), 7).unwrap();
}

#[test]
fn keeps_table_without_init() {
    let registry = registry(&[("a", false, "plain"), ("b", false, "1")]);
    let constructor = |registry: &'static Registry<Fake>| registry.add(identity(c"a", false), 7).unwrap();
    *registry.backend.in_load.lock().unwrap() = Some(Box::new(constructor));
    let ticket = registry.try_open(c"a").unwrap();
    registry.release(ticket);
    let ticket = registry.try_open(c"a").unwrap();
    assert_eq!(ticket.table, 7);
    registry.release(ticket);
    assert_eq!(registry.take_log(), ["load plain", "init a"]);
    assert_eq!(registry.published(), [7]);

    *registry.backend.in_load.lock().unwrap() = None;
    let ticket = registry.try_open(c"b").unwrap();
    registry.release(ticket);
    registry.take_log();
    registry.add(identity(c"b", false), 8).unwrap();
    let ticket = registry.try_open(c"b").unwrap();
    registry.release(ticket);
    registry.remove(&identity(c"b", false), 8).unwrap();
    assert!(registry.take_log().is_empty(), "the program added this table itself");
    let ticket = registry.try_open(c"b").unwrap();
    assert_eq!((ticket.table, registry.take_log()), (1, vec!["load 1".to_owned(), "init b".to_owned()]));
    registry.release(ticket);
}

#[test]
fn removes_table_that_fini_left() {
    let registry = registry(&[("a", false, "1")]);
    registry.backend.forgets.store(true, SeqCst);
    let ticket = registry.try_open(c"a").unwrap();
    registry.release(ticket);
    assert!(registry.published().is_empty());
    let ticket = registry.try_open(c"a").unwrap();
    assert_eq!(registry.take_log(), ["load 1", "init a", "fini a", "init a"]);
    registry.release(ticket);
}

#[test]
fn rejects_open_from_init() {
    let registry = registry(&[("a", false, "1")]);
    let hook: Hook = Box::new(|registry| {
        assert!(reason(registry.try_open(c"a")).is_some());
        assert_eq!(listed(registry).len(), 1);
    });
    *registry.backend.in_init.lock().unwrap() = Some(hook);
    let ticket = registry.try_open(c"a").unwrap();
    *registry.backend.in_init.lock().unwrap() = None;
    registry.release(ticket);
}

#[test]
fn concurrent_opens_initialise_once() {
    let registry = registry(&[("a", false, "1")]);
    let tickets: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| registry.try_open(c"a").unwrap())).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(registry.take_log(), ["load 1", "init a"]);
    std::thread::scope(|scope| {
        for ticket in tickets {
            scope.spawn(|| registry.release(ticket));
        }
    });
    assert_eq!(registry.take_log(), ["fini a"]);
}

#[test]
fn open_waits_for_fini() {
    let registry = registry(&[("a", false, "1")]);
    let ticket = registry.try_open(c"a").unwrap();
    let (entered, in_fini) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let hook: Hook = Box::new(move |_| {
        entered.send(()).unwrap();
        wait.lock().unwrap().recv().unwrap();
    });
    *registry.backend.in_fini.lock().unwrap() = Some(hook);
    std::thread::scope(|scope| {
        scope.spawn(|| registry.release(ticket));
        in_fini.recv_timeout(Duration::from_secs(20)).unwrap();
        let opener = scope.spawn(|| registry.try_open(c"a").unwrap());
        go.send(()).unwrap();
        let ticket = opener.join().unwrap();
        assert_eq!(registry.take_log(), ["load 1", "init a", "fini a", "init a"]);
        go.send(()).unwrap();
        registry.release(ticket);
    });
}

#[test]
fn panic_during_load_leaves_entry_idle() {
    let registry = registry(&[("a", false, "1")]);
    registry.backend.panics.store(true, SeqCst);
    let caught = std::panic::catch_unwind(|| registry.try_open(c"a").is_ok());
    assert!(caught.is_err());
    registry.backend.panics.store(false, SeqCst);
    let ticket = registry.try_open(c"a").unwrap();
    registry.release(ticket);
}

#[test]
fn child_of_fork_does_not_wait_for_other_threads() {
    let registry = registry(&[("a", false, "1")]);
    let (entered, in_init) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let hook: Hook = Box::new(move |_| {
        entered.send(()).unwrap();
        wait.lock().unwrap().recv().unwrap();
    });
    *registry.backend.in_init.lock().unwrap() = Some(hook);
    std::thread::scope(|scope| {
        let opener = scope.spawn(|| registry.try_open(c"a").unwrap());
        in_init.recv_timeout(Duration::from_secs(20)).unwrap();
        registry.hold_for_fork(Duration::ZERO).abandon_other_threads();
        assert!(registry.lock().get().adapters[c"a"][0].phase == Phase::Idle);
        go.send(()).unwrap();
        registry.release(opener.join().unwrap());
    });
}

#[test]
fn fork_waits_for_loading_thread() {
    let registry = registry(&[("a", false, "1")]);
    let (entered, in_load) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let hook: Hook = Box::new(move |registry| {
        // The loading thread may fork.
        drop(registry.hold_for_fork(Duration::from_secs(60)));
        entered.send(()).unwrap();
        wait.lock().unwrap().recv().unwrap();
    });
    *registry.backend.in_load.lock().unwrap() = Some(hook);
    std::thread::scope(|scope| {
        let opener = scope.spawn(|| registry.try_open(c"a").unwrap());
        in_load.recv_timeout(Duration::from_secs(20)).unwrap();
        let mut held = registry.hold_for_fork(Duration::from_millis(5));
        assert!(held.0.as_mut().unwrap().adapters[c"a"][0].loading, "the limit passed");
        drop(held);
        let forker = scope.spawn(|| {
            let mut held = registry.hold_for_fork(Duration::from_secs(20));
            assert!(!held.0.as_mut().unwrap().adapters[c"a"][0].loading);
        });
        go.send(()).unwrap();
        forker.join().unwrap();
        registry.release(opener.join().unwrap());
    });
}

#[test]
fn drops_table_of_init_that_ends_its_thread() {
    let registry = registry(&[("a", true, "1")]);
    registry.backend.exits.store(true, SeqCst);
    for _ in 0..2 {
        let OpenError::Unusable(failure) = registry.try_open(c"a").unwrap_err() else { panic!("it has an entry") };
        assert_eq!(failure.reason.as_deref(), Some("its dat_provider_init ended the thread"));
        assert!(registry.backend.published.lock().unwrap().is_empty(), "the table is retired");
    }
    registry.backend.exits.store(false, SeqCst);
    registry.release(registry.try_open(c"a").unwrap());
}

#[test]
fn binds_instances_until_close() {
    let registry = registry(&[("a", false, "1")]);
    registry.bind(0x1000, Purpose::Use, registry.try_open(c"a").unwrap());
    let at = |address| registry.instance(Purpose::Use, move |its_address, _| its_address == address);
    assert!(at(0x2000).is_none() && registry.instance(Purpose::Query, |_, _| true).is_none());
    let (first, _, provider) = at(0x1000).unwrap();
    assert!(registry.is_bound(0x1000, Purpose::Use) && !registry.is_bound(0x1000, Purpose::Query));
    // The provider closes the instance, and reuses the address before the registry removes the instance.
    registry.bind(0x1000, Purpose::Use, registry.try_open(c"a").unwrap());
    registry.release(registry.unbind(first).unwrap());
    assert!(registry.unbind(first).is_none() && registry.is_bound(0x1000, Purpose::Use));
    registry.release(provider);
    let (second, _, provider) = at(0x1000).unwrap();
    registry.release(registry.unbind(second).unwrap());
    assert!(!registry.is_bound(0x1000, Purpose::Use) && !registry.backend.published.lock().unwrap().is_empty());
    registry.release(provider);
    assert!(registry.backend.published.lock().unwrap().is_empty());
}

#[test]
fn instance_keeps_the_provider() {
    let registry = registry(&[("a", false, "1")]);
    let of_a = || registry.instance(Purpose::Use, |_, name| name == c"a");
    assert!(of_a().is_none());
    registry.bind(0x1000, Purpose::Query, registry.try_open(c"a").unwrap());
    assert!(of_a().is_none(), "it is not open for use");
    registry.bind(0x2000, Purpose::Use, registry.try_open(c"a").unwrap());
    let (_, address, seen) = of_a().unwrap();
    assert_eq!((address, seen.table), (0x2000, 1));
    for (address, purpose) in [(0x1000, Purpose::Query), (0x2000, Purpose::Use)] {
        let (serial, at, provider) = registry.instance(purpose, |_, _| true).unwrap();
        assert_eq!(at, address);
        registry.release(provider);
        registry.release(registry.unbind(serial).unwrap());
    }
    assert!(!registry.backend.published.lock().unwrap().is_empty(), "the reference keeps it");
    registry.release(seen);
    assert!(registry.backend.published.lock().unwrap().is_empty());
    assert!(registry.has_name(c"a").unwrap() && !registry.has_name(c"b").unwrap());
}

#[test]
fn is_opening_only_in_the_opening_thread() {
    let registry = registry(&[]);
    let note = registry.opening();
    let nested = registry.opening();
    assert!(registry.is_opening());
    std::thread::scope(|scope| assert!(!scope.spawn(|| registry.is_opening()).join().unwrap()));
    drop(note);
    assert!(registry.is_opening());
    drop(nested);
    assert!(!registry.is_opening());
}

#[test]
fn lists_other_versions_after_entries_of_file() {
    let other = |name: &str| Identity { name: CString::new(name).unwrap(), major: 2, minor: 0, thread_safe: true };
    let of_file = |name| (Origin::Line(Arc::default(), 1), line(name, 1, true, "1").1);
    let found = Found {
        entries: vec![of_file("a"), of_file("b"), line("c", 1, true, "1")],
        listed_only: vec![other("v"), other("w")],
        ..Found::default()
    };
    let entries = Entries::<Fake>::new(found);
    let names: Vec<_> = entries.listed().iter().map(|identity| text(&identity.name).into_owned()).collect();
    assert_eq!(names, ["a", "b", "v", "w", "c"]);
}

#[test]
fn unlisted_entry_can_be_opened() {
    let found = Found {
        entries: vec![line("shm", 1, true, "1")],
        unlisted: vec![line("tcp-lo", 1, true, "2").1],
        ..Found::default()
    };
    let mut entries = Entries::<Fake>::new(found);
    let names = |entries: &Entries<Fake>| {
        entries.listed().iter().map(|identity| text(&identity.name).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&entries), ["shm"]);
    let request = Request { name: c"tcp-lo", major: 1, minor: 1, thread_safe: true };
    let Ok(chosen) = entries.select(&request) else { panic!("it is not found") };
    entries.add(chosen.clone(), 7);
    assert_eq!(names(&entries), ["shm", "tcp-lo"], "its provider has registered");
    entries.remove(&chosen);
    assert_eq!(names(&entries), ["shm"]);
    assert!(entries.select(&request).is_ok());
    let registry = registry(&[]);
    *registry.state.lock().unwrap() = Some(entries);
    let snapshot = registry.snapshot(c"shm");
    assert_eq!(snapshot.names, ["shm", "tcp-lo"], "the names that can be opened");
    assert_eq!(snapshot.entry.unwrap().1.minor, 2);
}
