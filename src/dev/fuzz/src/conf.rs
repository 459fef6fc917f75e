//! dat.conf: the parser, the file search, and the registry with the entries.

use std::ffi::{CStr, CString};
use std::fs;
use std::sync::{LazyLock, Mutex};

use dat_registry::conf::{Line, parse};
use dat_registry::loader::LoadError;
use dat_registry::search::{Found, Places, find};
use dat_registry::{
    AddError, Backend, Entry, Identity, InitError, Interface, Origin, Registry, RemoveError, Request, Version,
};
use tempfile::TempDir;

const VERSION: Version = Version { major: 1, minor: 2 };

fn quoted(text: &CStr) -> Vec<u8> {
    let mut field = vec![b'"'];
    for &byte in text.to_bytes() {
        if byte == b'"' || byte == b'\\' {
            field.push(b'\\');
        }
        field.push(byte);
    }
    field.push(b'"');
    field
}

fn line_of(entry: &Entry) -> Vec<u8> {
    let api = if entry.api.interface == Interface::User { 'u' } else { 'k' };
    [
        quoted(&entry.name),
        format!("{api}{}.{}", entry.api.major, entry.api.minor).into_bytes(),
        if entry.thread_safe { b"threadsafe".to_vec() } else { b"nonthreadsafe".to_vec() },
        if entry.default { b"default".to_vec() } else { b"nondefault".to_vec() },
        quoted(&entry.library),
        b"ACME.1.0".to_vec(),
        quoted(&entry.instance_data),
        quoted(c""),
    ]
    .join(&b' ')
}

/// Mock provider libraries. None registers a provider, and some names fail to load.
struct Loader(Mutex<Option<Found>>);

impl Backend for Loader {
    type Table = u8;
    type Library = CString;

    fn configure(&self) -> Found {
        self.0.lock().expect("one thread").take().expect("it is read once")
    }

    fn load(&self, library: &CStr) -> Result<CString, LoadError> {
        match library.to_bytes().first() {
            Some(b'x') => Err(LoadError::Refused("not there".into())),
            Some(b'z') => Err(LoadError::NoMemory),
            _ => Ok(library.to_owned()),
        }
    }

    fn init(&self, library: &CString, _: &Identity, _: &CStr) -> Result<(), InitError> {
        match library.to_bytes().first() {
            Some(b'y') => Err(InitError::Absent),
            Some(b'w') => Err(InitError::Ended),
            _ => Ok(()),
        }
    }

    fn fini(&self, _: &CString, _: &Identity) {}

    fn publish(&self, _: u8) -> bool {
        true
    }

    fn retire(&self, _: u8) {}
}

/// Temporary directory for the dat.conf of each input, in memory if possible, because disks are slow.
static DIRECTORY: LazyLock<TempDir> =
    LazyLock::new(|| tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory"));

/// Runs an input: a byte that selects how the file is found, and the file's text.
///
/// Checks that line numbers increase, and that a formatted entry parses to the same entry. The search must list each
/// identity once, and only identities that can be opened. Each listed adapter must open and close.
pub fn run(data: &[u8]) {
    let Some((&how, text)) = data.split_first() else { return };
    let mut last = 0;
    let mut own = 0;
    for line in parse(text) {
        let number = match &line {
            Line::Entry(number, entry) => {
                let again: Vec<Line> = parse(&line_of(entry)).collect();
                assert_eq!(again, [Line::Entry(1, entry.clone())], "an entry is not read as it is written");
                own += usize::from(entry.default);
                *number
            }
            Line::Bad(bad) => bad.line,
        };
        assert!(number > last, "lines are numbered upwards");
        last = number;
    }
    assert!(last as usize <= text.iter().filter(|&&byte| byte == b'\n').count() + 1);

    let file = DIRECTORY.path().join("dat.conf");
    fs::write(&file, text).expect("a file");
    let absent = DIRECTORY.path().join("none");
    let places = Places {
        override_file: (how & 1 != 0).then(|| file.clone()),
        files: vec![if how & 2 != 0 { absent.clone() } else { file.clone() }, file],
        sysfs: absent.clone(),
        proc: absent,
        own: None,
    };
    let found = find(&places, VERSION, &mut |step| drop(step.to_string()));
    let identities: Vec<Identity> = found.entries.iter().map(|(_, entry)| entry.identity()).collect();
    for (at, identity) in identities.iter().enumerate() {
        assert!(identity.major == VERSION.major && !identities[..at].contains(identity), "{identity:?}");
    }
    let of_file = found.entries.iter().take_while(|(origin, _)| *origin != Origin::BuiltIn).count();
    assert!(of_file + found.listed_only.len() <= own, "entries come from nowhere");
    assert!(found.entries.len() <= of_file + 1, "there is one built-in entry");
    let (first, last) = identities.split_at(of_file);
    let listed = [first, &found.listed_only, last].concat();
    for (at, identity) in found.listed_only.iter().enumerate() {
        assert!(identity.major != VERSION.major && !found.listed_only[..at].contains(identity), "{identity:?}");
    }
    registry(found, &identities, &listed);
}

fn registry(found: Found, identities: &[Identity], listed: &[Identity]) {
    let libraries: Vec<CString> = found.entries.iter().map(|(_, entry)| entry.library.clone()).collect();
    let registry = Registry::new(Loader(Mutex::new(Some(found))));
    let list = || {
        let (count, all) = registry.visit(|count, all| (count, all.cloned().collect::<Vec<_>>())).expect("memory");
        assert_eq!(count, all.len());
        all
    };
    assert_eq!(list(), listed);
    for (identity, library) in identities.iter().zip(&libraries).take(8) {
        let request = Request {
            name: &identity.name,
            major: identity.major,
            minor: identity.minor,
            thread_safe: identity.thread_safe,
        };
        assert_eq!(registry.add(identity.clone(), 7), Ok(()));
        assert_eq!(registry.add(identity.clone(), 7), Err(AddError::AlreadyRegistered));
        let ticket = registry.open(&request).unwrap_or_else(|error| panic!("{identity:?} {library:?}: {error:?}"));
        assert_eq!(registry.remove(identity, 7), Err(RemoveError::InUse));
        registry.release(ticket);
        assert_eq!(registry.remove(identity, 7), Ok(()));
        // No provider is registered for the entry now.
        assert!(registry.open(&request).is_err());
        let snapshot = registry.snapshot(&identity.name);
        assert!(snapshot.names.iter().any(|name| *name == identity.name.to_string_lossy()));
    }
    assert_eq!(list(), listed);
}
